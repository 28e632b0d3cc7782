//! `void notify`

use std::time::Duration;

use serde_json::{Value, json};
use void_domain::text;

use super::Session;
use super::mutes;
use super::rows::word;
use super::run::segment;
use crate::cli::{NotifyCommand, PairChannel};
use crate::client::Client;
use crate::exit::{Exit, Problem};
use crate::output::Tone;

const LOOK_EVERY: Duration = Duration::from_secs(1);

pub(super) async fn run(session: &Session<'_>, command: NotifyCommand) -> Result<Exit, Problem> {
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
            let retried = session.client()?.post(&path, json!({})).await?;
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
async fn pair_telegram(session: &Session<'_>, wait_s: u64) -> Result<Exit, Problem> {
    let client = session.client()?;
    let before = pairs(&client).await?;
    let made = client
        .post("/api/notifications/pair", json!({"channel": "telegram"}))
        .await?;
    let output = session.output;
    if output.json {
        output.value(made);
        return Ok(Exit::Done);
    }
    output.line(format!(
        "Open this on your phone and tap Start:\n\n  {}\n",
        word(&made, "link")
    ));
    output.note(format!(
        "It works once, until {}.",
        output.times.clock(word(&made, "expires_at"))
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
            output.line("  next: void notify test");
            return Ok(Exit::Done);
        }
    }
    output.note(
        "Nobody has opened it yet; the link goes on working. void notify ls shows who is paired.",
    );
    Ok(Exit::Done)
}

/// Who is paired now: the place, the name, and when.
async fn pairs(client: &Client) -> Result<Vec<(String, String, String)>, Problem> {
    let listed = client.get("/api/notifications").await?;
    let places = listed
        .get("places")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let paired = places.filter(|place| place.get("paired_at").is_some_and(Value::is_string));
    let pair = |place: &Value| {
        let [target, name, at] =
            ["target", "name", "paired_at"].map(|key| word(place, key).to_owned());
        (target, name, at)
    };
    Ok(paired.map(pair).collect())
}

/// ntfy has no accounts of ours: whoever subscribes to the topic reads it.
async fn pair_ntfy(session: &Session<'_>) -> Result<Exit, Problem> {
    let listed = session.client()?.get("/api/notifications").await?;
    let mut places = listed
        .get("places")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let ntfy = places.find(|place| word(place, "channel") == "ntfy");
    let Some(ntfy) = ntfy else {
        return Err(Problem::config("ntfy is not set up").next(
            "set NTFY_URL=https://ntfy.sh/a-topic-nobody-guesses (and NTFY_TOKEN), then start void again",
        ));
    };
    if session.output.json {
        session.output.value(ntfy.clone());
        return Ok(Exit::Done);
    }
    session.output.line(format!(
        "Subscribe to this topic in the ntfy app:\n\n  {}\n",
        word(ntfy, "name")
    ));
    session.output.line("  next: void notify test");
    Ok(Exit::Done)
}

async fn test(session: &Session<'_>, target: Option<String>) -> Result<Exit, Problem> {
    let client = session.client()?;
    let tested = client
        .post("/api/notifications/test", json!({"target": target}))
        .await?;
    let results = tested
        .get("results")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    if session.output.json {
        session.output.value(tested);
    } else {
        for result in &results {
            let sent = result.get("sent") == Some(&Value::Bool(true));
            let line = if sent {
                session.output.tone(Tone::Good, "sent")
            } else {
                let problem = text::escaped(word(result, "problem"));
                session
                    .output
                    .tone(Tone::Bad, &format!("not sent: {problem}"))
            };
            session
                .output
                .line(format!("{}  {line}", word(result, "target")));
        }
    }
    if results.is_empty() {
        return Err(Problem::failed("nowhere", "there is nowhere to send to")
            .next("void notify pair telegram"));
    }
    let all = results
        .iter()
        .all(|result| result.get("sent") == Some(&Value::Bool(true)));
    Ok(if all { Exit::Done } else { Exit::Unreachable })
}

async fn list(session: &Session<'_>) -> Result<Exit, Problem> {
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
    mutes::list(session.output, &muted);
    let list = |name: &str| {
        listed
            .get(name)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    let (places, failed) = (list("places"), list("failed"));
    if places.is_empty() {
        session
            .output
            .line("Nobody is told anything: no channel is set up.");
        session
            .output
            .line("  next: set TELEGRAM_BOT_TOKEN or NTFY_URL, see docs/notifications.md");
        return Ok(Exit::Done);
    }
    let number = |place: &Value, name: &str| {
        let number = place.get(name).and_then(Value::as_u64).unwrap_or(0);
        number.to_string()
    };
    let row = |place: &Value| {
        let problem = place.get("problem").and_then(Value::as_str);
        vec![
            word(place, "channel").to_owned(),
            word(place, "target").to_owned(),
            text::escaped(word(place, "name")),
            number(place, "waiting"),
            number(place, "failed"),
            session.output.times.short(word(place, "last_sent_at")),
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
        session.output.line(format!(
            "not delivered  {}  {}  {}   void notify retry {}",
            session.output.times.short(word(one, "created_at")),
            word(one, "target"),
            text::escaped(word(one, "error")),
            word(one, "id")
        ));
    }
    Ok(Exit::Done)
}
