//! `void demo`: the whole of Void in front of a lab that exists on this machine only.

mod knowledge;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use serde_json::json;
use void_api::actions::{RunRequest, RunResponse};
use void_api::notifications::{InvitationResponse, PairRequest};
use void_api::proposals::RowResponse;
use void_api::setup_links::SetupLinkResponse;
use void_api::tokens::{NewTokenResponse, TokenRequest};
use void_domain::failures::FailureCode;
use void_domain::text;
use void_server::Bound;

use super::serve::{self, Serving};
use super::{program, quoted, setup_link};
use crate::agents;
use crate::cli::{DemoArgs, LogFormat, QrArgs};
use crate::client::{Client, read};
use crate::compose::{self, Label};
use crate::exit::{CommandError, Exit};
use crate::output::{Output, Tone};
use crate::processes;
use crate::rehearsal::Rehearsal;
use crate::settings::{Environment, Flags, Settings, listen_address};

const PORT: u16 = 3000;
const AGENT: &str = "little-blue";
/// Of a time as the API writes it.
const DAY_CHARACTERS: usize = "2026-11-19".len();

pub(super) async fn run(
    args: &DemoArgs,
    environment: &Environment,
    output: &Output,
) -> Result<Exit, CommandError> {
    serve::start_log(environment, LogFormat::Text, "warn");
    let bound = listen(args).await?;
    let address = bound.address;
    let base = base_folder(environment);
    let lab = tokio::task::spawn_blocking(move || Rehearsal::start(&base, address))
        .await
        .map_err(|error| CommandError::failed(FailureCode::Rehearsal, error.to_string()))??;
    if let Some(url) = &args.telegram_base {
        lab.set_up_telegram(url, environment.get("TELEGRAM_BOT_TOKEN"))?;
    }
    // The owner's own settings have no say in a rehearsal.
    let nothing = Environment::empty();
    let flags = Flags {
        config: Some(lab.settings_file()),
        data: Some(lab.data()),
        ..Flags::default()
    };
    let settings = Settings::load(&flags, &nothing)?;
    let plane = compose::plane(&settings, &nothing, Label::Rehearsal).await?;
    let agents = agents::load(&settings, &nothing, bound.address)?;
    let minds = agents::of_processes(&settings, &nothing, bound.address)?;
    agents::open_tree(plane.control(), &settings, &agents);
    let captures = compose::captures(&settings)?;
    let api = agents::reached_at(bound.address);
    let processes = processes::of(&settings, plane.control(), api)?;
    let serves = (plane, captures, (agents, minds), processes);
    let serving = Serving::start(bound, serves, &settings, &nothing);
    let waiting = ask_for_something(&settings, &nothing).await?;
    let today = waiting.created_at.get(..DAY_CHARACTERS).unwrap_or_default();
    knowledge::fill(&Client::new(None, &settings, &nothing)?, today).await?;
    let phone = match &args.telegram_base {
        None => None,
        Some(_) => Some(invite(&settings, &nothing).await?),
    };
    let link = new_link(&settings, &nothing).await?;
    let program = program(environment);
    greet(
        output,
        &program,
        &lab,
        &link,
        &waiting,
        phone.as_deref(),
        args.qr,
    );
    serving.until_told_to_stop().await?;
    drop(lab);
    if !output.json {
        output.line("The rehearsal is over; its processes and files are gone.");
    }
    Ok(Exit::Done)
}

/// The port that everybody tries first, or the one that was asked for, or any. Another address only by request.
async fn listen(args: &DemoArgs) -> Result<Bound, CommandError> {
    let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let wanted = match &args.listen {
        None => args.port.map(at),
        Some(text) => Some(listen_address(text).ok_or_else(|| {
            CommandError::usage(format!(
                "\"{}\" is not an address, such as 0.0.0.0",
                text::escaped(text)
            ))
        })?),
    };
    match (Bound::to(wanted.unwrap_or_else(|| at(PORT))).await, wanted) {
        (Ok(bound), _) => Ok(bound),
        (Err(error), Some(address)) => {
            let message = format!("{address} cannot be listened on: {error}");
            let next = match &args.listen {
                Some(_) => format!(
                    "void demo --listen {}:0 takes any free port",
                    bracketed(address.ip())
                ),
                None => "void demo without --port takes any free one".to_owned(),
            };
            Err(CommandError::failed(FailureCode::Listen, message).next(next))
        }
        (Err(_), None) => Bound::to(at(0)).await.map_err(|error| {
            CommandError::failed(FailureCode::Listen, format!("no port is free: {error}"))
        }),
    }
}

/// As an address with a port has it.
fn bracketed(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// One folder per account: nobody else's lab is swept, and nobody else can be in the way.
fn base_folder(environment: &Environment) -> PathBuf {
    let base = match environment.get("XDG_RUNTIME_DIR") {
        Some(folder) if Path::new(folder).is_dir() => PathBuf::from(folder),
        _ => std::env::temp_dir(),
    };
    base.join(format!("void-demo-{}", rustix::process::getuid().as_raw()))
}

/// An agent names something risky, by the API and with a token of its own, as any agent would.
async fn ask_for_something(
    settings: &Settings,
    environment: &Environment,
) -> Result<RowResponse, CommandError> {
    let owner = Client::new(None, settings, environment)?;
    let new = TokenRequest {
        kind: "agent".to_owned(),
        name: AGENT.to_owned(),
        capabilities: json!(["read", "act"]),
        restore: false,
    };
    let made: NewTokenResponse = read(owner.post("/api/tokens", &new).await?)?;
    let agent = owner.with_token(&made.token);
    let wish = RunRequest {
        reason: Some("Nobody has booted anything from it for twelve days.".to_owned()),
        ..RunRequest::default()
    };
    let asked = agent.post("/api/actions/stop-ct107/run", &wish).await?;
    let asked: RunResponse = read(asked)?;
    let path = format!("/api/proposals/{}", asked.row_id());
    owner.get_as(&path).await
}

/// The link that makes a phone the owner's.
async fn invite(settings: &Settings, environment: &Environment) -> Result<String, CommandError> {
    let owner = Client::new(None, settings, environment)?;
    let body = PairRequest {
        channel: "telegram".to_owned(),
    };
    let made = owner.post("/api/notifications/pair", &body).await?;
    let InvitationResponse { link, .. } = read(made)?;
    Ok(link)
}

/// The link that signs a browser in.
async fn new_link(
    settings: &Settings,
    environment: &Environment,
) -> Result<SetupLinkResponse, CommandError> {
    let owner = Client::new(None, settings, environment)?;
    read(owner.post("/api/setup-links", &json!({})).await?)
}

fn greet(
    output: &Output,
    program: &str,
    lab: &Rehearsal,
    link: &SetupLinkResponse,
    waiting: &RowResponse,
    phone: Option<&str>,
    qr: QrArgs,
) {
    let data = lab.data();
    let (url, elsewhere) = (&link.url, &link.elsewhere);
    let code = &waiting.code;
    let commands = [
        "services".to_owned(),
        "chat -m \"what is wrong?\"".to_owned(),
        format!("inbox approve {code}"),
    ];
    let called = format!("{program} --data {}", quoted(&data.display().to_string()));
    let commands = commands.map(|rest| format!("{called} {rest}"));
    if output.json {
        output.value(json!({
            "rehearsal": true, "url": url, "elsewhere": elsewhere, "data": data, "waiting": code, "commands": commands, "telegram": phone,
        }));
        return;
    }
    output.line(format!(
        "{}  two nodes, five guests, four services; nothing outside this machine is touched.",
        output.tone(Tone::Waiting, "REHEARSAL")
    ));
    output.line(format!("\n  {url}"));
    for other in elsewhere.iter().filter(|other| *other != url) {
        output.line(format!("  {other}"));
    }
    let again = format!("{called} setup-link");
    output.line(format!(
        "  It signs one browser in, once, by whichever address; for another one: {again}"
    ));
    let way_out = format!("For a phone in the same network: {program} demo --listen 0.0.0.0");
    setup_link::show_code(output, qr, url, elsewhere, &way_out);
    output.line("");
    output.line(format!(
        "Caddy is down, and {AGENT} asks to stop iVentoy ({code}). In a second terminal:\n"
    ));
    for (command, meaning) in commands.iter().zip([
        "what is up, what is down",
        "ask Little Blue: she looks and offers, and your yes does it",
        "risky: needs your yes",
    ]) {
        output.line(format!(
            "  {}",
            output.tone(Tone::Dim, &format!("# {meaning}"))
        ));
        output.line(format!("  {command}"));
    }
    if let Some(link) = phone {
        output.line(format!("\nOn the phone: {link}"));
    }
    output.line(format!(
        "\nIf the page asks whether it is you: cat {}",
        quoted(&data.join("owner.token").display().to_string())
    ));
    output.line("\nCtrl-C ends the rehearsal and removes everything.");
}
