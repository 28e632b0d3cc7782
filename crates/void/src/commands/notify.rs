//! `void notify`

use std::time::Duration;

use serde_json::{Value, json};
use void_api::mutes::MutesResponse;
use void_api::notifications::{
    InvitationResponse, NotificationsResponse, PairRequest, PlaceResponse, TestRequest,
    TestResponse,
};
use void_domain::failures::FailureCode;
use void_domain::text;

use super::Session;
use super::mutes;
use super::rows::or_dash;
use super::run::segment;
use crate::cli::{NotifyCommand, PairChannel};
use crate::client::{Client, read};
use crate::exit::{CommandError, Exit};
use crate::output::Tone;

const LOOK_EVERY: Duration = Duration::from_secs(1);

pub(super) async fn run(
    session: &Session<'_>,
    command: NotifyCommand,
) -> Result<Exit, CommandError> {
    match command {
        NotifyCommand::Pair { channel, wait } => match channel {
            PairChannel::Telegram => pair_telegram(session, wait).await,
            PairChannel::Ntfy => pair_ntfy(session).await,
        },
        NotifyCommand::Test { target } => test(session, target).await,
        NotifyCommand::Ls => list(session).await,
        NotifyCommand::Rm { target } => {
            let path = format!("/api/notifications/pairs/{}", segment(&target));
            let ended = session.client()?.delete(&path).await?;
            if session.output.json {
                session.output.value(ended);
            } else {
                session
                    .output
                    .line("Nothing more is sent there, and nothing from there is heard.");
            }
            Ok(Exit::Done)
        }
        NotifyCommand::Mute(args) => mutes::mute(session, args).await,
        NotifyCommand::Unmute(args) => mutes::unmute(session, args).await,
        NotifyCommand::Retry { id } => {
            let path = format!("/api/notifications/failed/{}/retry", segment(&id));
            let retried = session.client()?.post(&path, &json!({})).await?;
            if session.output.json {
                session.output.value(retried);
            } else {
                session.output.line("It is tried again now.");
            }
            Ok(Exit::Done)
        }
    }
}

/// Shows the link, then waits until somebody has opened it.
async fn pair_telegram(session: &Session<'_>, wait_s: u64) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let before = pairs(&client).await?;
    let body = PairRequest {
        channel: "telegram".to_owned(),
    };
    let made = client.post("/api/notifications/pair", &body).await?;
    let output = session.output;
    if output.json {
        output.value(made);
        return Ok(Exit::Done);
    }
    let made: InvitationResponse = read(made)?;
    output.line(format!(
        "Open this on your phone and tap Start:\n\n  {}\n",
        made.link
    ));
    output.note(format!(
        "It works once, until {}.",
        output.times.clock(&made.expires_at)
    ));
    let end = tokio::time::Instant::now() + Duration::from_secs(wait_s);
    while tokio::time::Instant::now() < end {
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            _ = tokio::signal::ctrl_c() => return Ok(Exit::Interrupted),
        }
        let now = pairs(&client).await?;
        if let Some(new) = now.iter().find(|pair| !before.contains(pair)) {
            let name = text::escaped(&new.1);
            output.line(format!("Paired with {name} ({}).", new.0));
            output.next("void notify test");
            return Ok(Exit::Done);
        }
    }
    let who = output.typed("void notify ls shows who is paired");
    output.note(format!(
        "Nobody has opened it yet; the link goes on working. {who}."
    ));
    Ok(Exit::Done)
}

/// Who is paired now: the place, the name, and when.
async fn pairs(client: &Client) -> Result<Vec<(String, String, String)>, CommandError> {
    let listed: NotificationsResponse = client.get_as("/api/notifications").await?;
    let pair = |place: PlaceResponse| {
        let target = or_dash(&place.target).to_owned();
        Some((target, place.name, place.paired_at?))
    };
    Ok(listed.places.into_iter().filter_map(pair).collect())
}

/// ntfy has no accounts of ours: whoever subscribes to the topic reads it.
async fn pair_ntfy(session: &Session<'_>) -> Result<Exit, CommandError> {
    let sent = session.client()?.get("/api/notifications").await?;
    let listed: NotificationsResponse = read(sent.clone())?;
    let is_ntfy = |place: &PlaceResponse| place.channel == "ntfy";
    let Some(index) = listed.places.iter().position(is_ntfy) else {
        return Err(CommandError::config("ntfy is not set up").next(
            "set NTFY_URL=https://ntfy.sh/a-topic-nobody-guesses (and NTFY_TOKEN), then start void again",
        ));
    };
    if session.output.json {
        let ntfy = sent.pointer(&format!("/places/{index}"));
        session.output.value(ntfy.cloned().unwrap_or_default());
        return Ok(Exit::Done);
    }
    let name = listed.places.get(index).map_or("-", |ntfy| &ntfy.name);
    session.output.line(format!(
        "Subscribe to this topic in the ntfy app:\n\n  {name}\n"
    ));
    session.output.next("void notify test");
    Ok(Exit::Done)
}

async fn test(session: &Session<'_>, target: Option<String>) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let sent = client
        .post("/api/notifications/test", &TestRequest { target })
        .await?;
    let TestResponse { results } = read(sent.clone())?;
    if session.output.json {
        session.output.value(sent);
    } else {
        for result in &results {
            let line = if result.sent {
                session.output.tone(Tone::Good, "sent")
            } else {
                let problem = text::escaped(or_dash(&result.problem));
                session
                    .output
                    .tone(Tone::Bad, &format!("not sent: {problem}"))
            };
            session.output.line(format!("{}  {line}", result.target));
        }
    }
    if results.is_empty() {
        return Err(
            CommandError::failed(FailureCode::Nowhere, "there is nowhere to send to")
                .next("void notify pair telegram"),
        );
    }
    let all = results.iter().all(|result| result.sent);
    Ok(if all { Exit::Done } else { Exit::Unreachable })
}

async fn list(session: &Session<'_>) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let mut listed = client.get("/api/notifications").await?;
    let muted = client.get("/api/mutes").await?;
    if session.output.json {
        if let Value::Object(members) = &mut listed {
            let mutes = muted.get("mutes").cloned().unwrap_or_default();
            members.insert("mutes".to_owned(), mutes);
        }
        session.output.value(listed);
        return Ok(Exit::Done);
    }
    let MutesResponse { mutes } = read(muted)?;
    mutes::list(session.output, &mutes);
    let NotificationsResponse { places, failed, .. } = read(listed)?;
    if places.is_empty() {
        session
            .output
            .line("Nobody is told anything: no channel is set up.");
        session
            .output
            .line("  next: set TELEGRAM_BOT_TOKEN or NTFY_URL, see docs/notifications.md");
        return Ok(Exit::Done);
    }
    let row = |place: &PlaceResponse| {
        let problem = place.problem.as_deref();
        vec![
            place.channel.clone().into_owned(),
            or_dash(&place.target).to_owned(),
            text::escaped(&place.name),
            place.waiting.to_string(),
            place.failed.to_string(),
            session.output.times.short(or_dash(&place.last_sent_at)),
            problem.map_or_else(|| "fine".to_owned(), text::escaped),
        ]
    };
    let rows: Vec<Vec<String>> = places.iter().map(row).collect();
    let heads = [
        "CHANNEL",
        "PLACE",
        "NAME",
        "WAIT",
        "FAILED",
        "LAST SENT",
        "STATE",
    ];
    session.output.table(&heads, &rows);
    for one in &failed {
        let retry = format!("void notify retry {}", one.id);
        session.output.line(format!(
            "not delivered  {}  {}  {}   {}",
            session.output.times.short(&one.created_at),
            one.target,
            text::escaped(or_dash(&one.error)),
            session.output.typed(&retry)
        ));
    }
    Ok(Exit::Done)
}
