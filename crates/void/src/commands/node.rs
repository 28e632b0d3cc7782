//! `void node`: on the server's side by its API, on a machine of its own by the executor.

use void_api::node::JoinNodeRequest;
use void_api::nodes::{
    ApproveRequest, InviteRequest, InvitedResponse, JoinedResponse, NodeResponse, NodesResponse,
    RemovedResponse,
};
use void_domain::failures::{AnyCode, FailureCode};

use super::rows::or_dash;
use super::run::segment;
use super::serve::start_log;
use super::{Session, quoted};
use crate::cli::{NodeCommand, NodeJoinArgs, NodeRunArgs};
use crate::client::read;
use crate::exit::{CommandError, Exit};
use crate::node::folder::{Folder, JoinedServer, STATE, fingerprint};
use crate::node::link::{Link, NoAnswer, checked_url};
use crate::output::{Output, Tone};
use crate::settings::Environment;
use crate::times::Times;
use std::path::Path;
use std::time::Duration;

const INSTALL: &str = include_str!("../../../../deploy/install-node.sh");
const UNIT: &str = include_str!("../../../../deploy/void-node.service");
const UNINSTALL: &str = include_str!("../../../../deploy/uninstall-node.sh");
const ASK_TIMEOUT: Duration = Duration::from_secs(30);
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// Whether it works on a machine that has no control plane.
pub(super) const fn is_for_a_node(command: &NodeCommand) -> bool {
    match command {
        NodeCommand::Join(_)
        | NodeCommand::Run(_)
        | NodeCommand::Install
        | NodeCommand::Uninstall => true,
        NodeCommand::Invite { .. }
        | NodeCommand::Ls
        | NodeCommand::Approve { .. }
        | NodeCommand::Revoke { .. } => false,
    }
}

pub(super) async fn on_a_node(command: NodeCommand, output: &Output) -> Result<Exit, CommandError> {
    match command {
        NodeCommand::Join(args) => join(args, output).await,
        NodeCommand::Run(args) => run_executor(args).await,
        NodeCommand::Install => {
            output.line(INSTALL.replace("@UNIT@", UNIT.trim_end()).trim_end());
            Ok(Exit::Done)
        }
        NodeCommand::Uninstall => {
            output.line(UNINSTALL.trim_end());
            Ok(Exit::Done)
        }
        NodeCommand::Invite { .. }
        | NodeCommand::Ls
        | NodeCommand::Approve { .. }
        | NodeCommand::Revoke { .. } => Ok(Exit::Usage),
    }
}

pub(super) async fn run(session: &Session<'_>, command: NodeCommand) -> Result<Exit, CommandError> {
    match command {
        NodeCommand::Invite { name } => invite(session, &name).await,
        NodeCommand::Ls => list(session).await,
        NodeCommand::Approve { name, fingerprint } => approve(session, &name, &fingerprint).await,
        NodeCommand::Revoke { name } => revoke(session, &name).await,
        NodeCommand::Join(_)
        | NodeCommand::Run(_)
        | NodeCommand::Install
        | NodeCommand::Uninstall => on_a_node(command, session.output).await,
    }
}

async fn invite(session: &Session<'_>, name: &str) -> Result<Exit, CommandError> {
    let (client, output) = (session.client()?, session.output);
    let body = InviteRequest {
        name: name.to_owned(),
    };
    let invited = client.post("/api/nodes", &body).await?;
    if output.json {
        output.value(invited);
        return Ok(Exit::Done);
    }
    let invited: InvitedResponse = read(invited)?;
    output.line(&invited.token);
    let public_url = session.settings.public_url.value.as_deref();
    let server = match (&session.url, public_url) {
        (None, Some(public_url)) => public_url.trim_end_matches('/'),
        _ => client.base(),
    };
    output.note(format!(
        "This is shown once and good until {}. On the machine:\n  sudo -u voidnode void node join {server} --token {}\nThen compare the fingerprint that it shows with the one here: {}",
        output.times.clock(&invited.expires_at),
        invited.token,
        session.again("node ls"),
    ));
    if is_loopback(server) {
        output.note(format!(
            "No other machine reaches {server}: set public_url = \"https://NAME\" in void.toml (VOID_PUBLIC_URL) to the address at which it is reached, and give that address to void node join."
        ));
    }
    Ok(Exit::Done)
}

/// An address that means the machine itself, whichever machine that is.
fn is_loopback(url: &str) -> bool {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    ["127.", "localhost", "[::1]"]
        .iter()
        .any(|own| host.starts_with(own))
}

async fn list(session: &Session<'_>) -> Result<Exit, CommandError> {
    let output = session.output;
    let answer = session.client()?.get("/api/nodes").await?;
    if output.json {
        output.value(answer);
        return Ok(Exit::Done);
    }
    let NodesResponse { nodes } = read(answer)?;
    if nodes.is_empty() {
        output.line(output.typed("There are no nodes. Invite one: void node invite NAME"));
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = nodes.iter().map(|node| row(node, &output.times)).collect();
    output.table(&["NAME", "STATE", "SEEN", "VERSION", "WORRY"], &rows);
    for node in &nodes {
        if node.state == "waiting" {
            let text = format!("{} asks to join", node.name);
            let asks = output.tone(Tone::Waiting, &text);
            let told = format!("{asks}, fingerprint {}", or_dash(&node.fingerprint));
            output.hanging("", &told);
        }
    }
    Ok(Exit::Done)
}

fn row(node: &NodeResponse, times: &Times) -> Vec<String> {
    let seen = match (node.here, &node.seen_at) {
        (true, _) => "now".to_owned(),
        (false, None) => "never".to_owned(),
        (false, Some(at)) => times.short(at),
    };
    vec![
        node.name.clone(),
        node.state.clone().into_owned(),
        seen,
        or_dash(&node.version).to_owned(),
        worries(node, times).join("; "),
    ]
}

/// What is wrong with a node, in words; `void doctor` says the same.
pub(super) fn worries(node: &NodeResponse, times: &Times) -> Vec<String> {
    let mut worries = Vec::new();
    match node.skew.as_deref() {
        Some("older") => worries.push("older than the server".to_owned()),
        Some("newer") => worries.push("newer than the server".to_owned()),
        _ => {}
    }
    if let Some(drift) = &node.drift {
        worries.push(format!("list: {drift}"));
    }
    if let Some(at) = &node.twin_at {
        worries.push(format!(
            "its secret was on two machines at {}",
            times.clock(at)
        ));
    }
    if node.state == "joined" && !node.here {
        worries.push("away".to_owned());
    }
    worries
}

async fn approve(session: &Session<'_>, name: &str, shown: &str) -> Result<Exit, CommandError> {
    let path = format!("/api/nodes/{}/approve", segment(name));
    let body = ApproveRequest {
        fingerprint: shown.to_owned(),
    };
    let joined = session.client()?.post(&path, &body).await?;
    if session.output.json {
        session.output.value(joined);
    } else {
        session.output.line(format!("{name} is in."));
    }
    Ok(Exit::Done)
}

async fn revoke(session: &Session<'_>, name: &str) -> Result<Exit, CommandError> {
    let path = format!("/api/nodes/{}", segment(name));
    let removed = session.client()?.delete(&path).await?;
    if session.output.json {
        session.output.value(removed);
    } else {
        let RemovedResponse { was, .. } = read(removed)?;
        session.output.line(format!(
            "Removed; it was {was}. Its secret opens nothing any more."
        ));
    }
    Ok(Exit::Done)
}

async fn join(args: NodeJoinArgs, output: &Output) -> Result<Exit, CommandError> {
    let server = JoinedServer {
        url: checked_url(&args.server, args.plain_http)?,
        pin: args.fingerprint,
        ca_file: args.ca,
    };
    let (folder, link) = (Folder::open(&args.state, true)?, Link::new(&server)?);
    // Asking again after a lost answer shows the same fingerprint.
    let secret = match folder.secret()? {
        Some(secret) => secret,
        None => folder.make_secret()?,
    };
    folder.write_server(&server)?;
    let shown = fingerprint(&secret);
    if !output.json {
        output.line(format!("This machine's fingerprint is\n  {shown}"));
    }
    let body = JoinNodeRequest {
        token: args.token,
        fingerprint: shown.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let mut told = false;
    loop {
        let sent = link.post("/api/node/join", None, &body, ASK_TIMEOUT).await;
        let sent = match sent {
            Ok(sent) => Some(sent),
            Err(NoAnswer::Unreachable(_)) if told => None,
            Err(error) => return Err(not_joined(&server.url, error)),
        };
        let joined: Option<JoinedResponse> = sent.clone().map(read).transpose()?;
        let is_in = joined.as_ref().is_some_and(|node| node.state == "joined");
        let name = joined.as_ref().map_or("-", |node| &node.name);
        if is_in || args.no_wait {
            if output.json {
                output.value(sent.unwrap_or_default());
            } else if is_in {
                let run = run_command(&args.state);
                output.line(format!("Joined as {name}. Next: {}", output.typed(&run)));
            } else {
                output.line("It waits in the owner's inbox.");
            }
            return Ok(if is_in { Exit::Done } else { Exit::Queued });
        }
        if !told {
            told = true;
            output.note(format!(
                "Waiting for the owner, who compares it:\n  void node approve {name} --fingerprint {shown}"
            ));
        }
        tokio::time::sleep(ASK_AGAIN).await;
    }
}

/// What runs the node that was joined, with its folder where that is not the usual one.
fn run_command(state: &Path) -> String {
    match state == Path::new(STATE) {
        true => "void node run".to_owned(),
        false => format!(
            "void node run --state {}",
            quoted(&state.display().to_string())
        ),
    }
}

fn not_joined(url: &str, error: NoAnswer) -> CommandError {
    match error {
        NoAnswer::Unreachable(reason) => CommandError::new(
            FailureCode::Unreachable,
            format!("no answer from {url}: {reason}"),
        ),
        NoAnswer::Refused { code, message, .. } => {
            CommandError::exiting(Exit::NotAllowed, AnyCode::read(&code), message)
                .next("void node invite NAME, where the server is")
        }
    }
}

async fn run_executor(args: NodeRunArgs) -> Result<Exit, CommandError> {
    start_log(&Environment::empty(), args.log_format, "info");
    crate::node::run(crate::node::Options {
        state: args.state,
        list: args.list,
        trust_own_list: args.trust_own_list,
    })
    .await
}
