//! `void node`: on the server's side by its API, on a machine of its own by the executor.

use serde_json::{Value, json};

use super::Session;
use super::rows::{given, word};
use super::run::segment;
use super::serve::start_log;
use crate::cli::{NodeCommand, NodeJoinArgs, NodeRunArgs};
use crate::exit::{Exit, Problem};
use crate::node::folder::{Folder, JoinedServer, fingerprint};
use crate::node::link::{Link, NoAnswer, checked_url};
use crate::output::{Output, Tone};
use crate::settings::Environment;
use crate::times::Times;
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

pub(super) async fn on_a_node(command: NodeCommand, output: &Output) -> Result<Exit, Problem> {
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

pub(super) async fn run(session: &Session<'_>, command: NodeCommand) -> Result<Exit, Problem> {
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

async fn invite(session: &Session<'_>, name: &str) -> Result<Exit, Problem> {
    let (client, output) = (session.client()?, session.output);
    let invited = client.post("/api/nodes", json!({ "name": name })).await?;
    if output.json {
        output.value(invited);
        return Ok(Exit::Done);
    }
    output.line(word(&invited, "token"));
    let public_url = session.settings.public_url.value.as_deref();
    let server = match (&session.url, public_url) {
        (None, Some(public_url)) => public_url.trim_end_matches('/'),
        _ => client.base(),
    };
    output.note(format!(
        "This is shown once and good until {}. On the machine:\n  sudo -u voidnode void node join {server} --token {}\nThen compare the fingerprint that it shows with the one here: {}",
        output.times.clock(word(&invited, "expires_at")),
        word(&invited, "token"),
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

async fn list(session: &Session<'_>) -> Result<Exit, Problem> {
    let output = session.output;
    let answer = session.client()?.get("/api/nodes").await?;
    if output.json {
        output.value(answer);
        return Ok(Exit::Done);
    }
    let nodes = answer.get("nodes").and_then(Value::as_array);
    let nodes = nodes.cloned().unwrap_or_default();
    if nodes.is_empty() {
        output.line("There are no nodes. Invite one: void node invite NAME");
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = nodes.iter().map(|node| row(node, &output.times)).collect();
    output.table(&["NAME", "STATE", "SEEN", "VERSION", "WORRY"], &rows);
    for node in &nodes {
        if word(node, "state") == "waiting" {
            let text = format!("{} asks to join", word(node, "name"));
            let asks = output.tone(Tone::Waiting, &text);
            let told = format!("{asks}, fingerprint {}", word(node, "fingerprint"));
            output.hanging("", &told);
        }
    }
    Ok(Exit::Done)
}

fn row(node: &Value, times: &Times) -> Vec<String> {
    let here = node.get("here") == Some(&Value::Bool(true));
    let seen = match (here, given(node, "seen_at")) {
        (true, _) => "now".to_owned(),
        (false, None) => "never".to_owned(),
        (false, Some(at)) => times.short(at),
    };
    vec![
        word(node, "name").to_owned(),
        word(node, "state").to_owned(),
        seen,
        word(node, "version").to_owned(),
        worries(node, times).join("; "),
    ]
}

/// What is wrong with a node, in words; `void doctor` says the same.
pub(super) fn worries(node: &Value, times: &Times) -> Vec<String> {
    let mut worries = Vec::new();
    match word(node, "skew") {
        "older" => worries.push("older than the server".to_owned()),
        "newer" => worries.push("newer than the server".to_owned()),
        _ => {}
    }
    if let Some(drift) = given(node, "drift") {
        worries.push(format!("list: {drift}"));
    }
    if let Some(at) = given(node, "twin_at") {
        worries.push(format!(
            "its secret was on two machines at {}",
            times.clock(at)
        ));
    }
    let joined = word(node, "state") == "joined";
    if joined && node.get("here") == Some(&Value::Bool(false)) {
        worries.push("away".to_owned());
    }
    worries
}

async fn approve(session: &Session<'_>, name: &str, shown: &str) -> Result<Exit, Problem> {
    let path = format!("/api/nodes/{}/approve", segment(name));
    let body = json!({ "fingerprint": shown });
    let joined = session.client()?.post(&path, body).await?;
    if session.output.json {
        session.output.value(joined);
    } else {
        session.output.line(format!("{name} is in."));
    }
    Ok(Exit::Done)
}

async fn revoke(session: &Session<'_>, name: &str) -> Result<Exit, Problem> {
    let path = format!("/api/nodes/{}", segment(name));
    let removed = session.client()?.delete(&path).await?;
    if session.output.json {
        session.output.value(removed);
    } else {
        let was = word(&removed, "was");
        session.output.line(format!(
            "Removed; it was {was}. Its secret opens nothing any more."
        ));
    }
    Ok(Exit::Done)
}

async fn join(args: NodeJoinArgs, output: &Output) -> Result<Exit, Problem> {
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
    let body = json!({
        "token": args.token, "fingerprint": shown, "version": env!("CARGO_PKG_VERSION"),
    });
    let mut told = false;
    loop {
        let answer = link.post("/api/node/join", None, &body, ASK_TIMEOUT).await;
        let answer = match answer {
            Ok(answer) => answer,
            Err(NoAnswer::Unreachable(_)) if told => Value::Null,
            Err(error) => return Err(not_joined(&server.url, error)),
        };
        let state = word(&answer, "state").to_owned();
        if state == "joined" || args.no_wait {
            if output.json {
                output.value(answer);
            } else if state == "joined" {
                output.line(format!(
                    "Joined as {}. Next: void node run",
                    word(&answer, "name")
                ));
            } else {
                output.line("It waits in the owner's inbox.");
            }
            return Ok(if state == "joined" {
                Exit::Done
            } else {
                Exit::Queued
            });
        }
        if !told {
            told = true;
            output.note(format!(
                "Waiting for the owner, who compares it:\n  void node approve {} --fingerprint {shown}",
                word(&answer, "name")
            ));
        }
        tokio::time::sleep(ASK_AGAIN).await;
    }
}

fn not_joined(url: &str, error: NoAnswer) -> Problem {
    match error {
        NoAnswer::Unreachable(reason) => Problem::new(
            Exit::Unreachable,
            "unreachable",
            format!("no answer from {url}: {reason}"),
        ),
        NoAnswer::Refused { code, message, .. } => Problem::new(Exit::NotAllowed, code, message)
            .next("void node invite NAME, where the server is"),
    }
}

async fn run_executor(args: NodeRunArgs) -> Result<Exit, Problem> {
    start_log(&Environment::empty(), args.log_format, "info");
    crate::node::run(crate::node::Options {
        state: args.state,
        list: args.list,
        trust_own_list: args.trust_own_list,
    })
    .await
}
