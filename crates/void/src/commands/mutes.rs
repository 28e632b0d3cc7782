//! `void notify mute` and `void notify unmute`

use jiff::tz::TimeZone;
use serde_json::{Value, json};
use void_domain::text;

use super::Session;
use super::freeze::seconds;
use super::rows::word;
use super::run::segment;
use crate::cli::{MuteArgs, UnmuteArgs};
use crate::exit::{Exit, Problem};
use crate::output::Output;
use crate::times;

/// For whoever does not say how long.
const LASTS_DEFAULT: &str = "4h";

pub(super) async fn mute(session: &Session<'_>, args: MuteArgs) -> Result<Exit, Problem> {
    let mut body = json!({"service": args.service, "host": args.host, "reason": args.reason});
    let (name, value) = match &args.until {
        Some(text) => ("until", json!(until(text)?)),
        None => {
            let lasts = args.lasts.as_deref().unwrap_or(LASTS_DEFAULT);
            ("for_s", json!(seconds(lasts)?))
        }
    };
    if let Value::Object(members) = &mut body {
        members.insert(name.to_owned(), value);
    }
    let mute = session.client()?.post("/api/mutes", body).await?;
    if session.output.json {
        session.output.value(mute);
        return Ok(Exit::Done);
    }
    let output = session.output;
    output.line(format!(
        "Muted {} until {}. It is still shown as it is; what is down then is told.",
        subject(&mute),
        output.times.clock(word(&mute, "until"))
    ));
    output.line(format!("  unmute:   void notify unmute {}", again(&mute)));
    Ok(Exit::Done)
}

/// A time of day, the next one by the clock of this machine, or a moment.
fn until(text: &str) -> Result<String, Problem> {
    let now = void_control::Clock::system().now();
    times::moment(text, now.as_ms(), TimeZone::system()).ok_or_else(|| {
        Problem::usage(format!(
            "--until {} is not a time such as 22:00 or 2026-11-16T22:00:00Z",
            text::escaped(text)
        ))
    })
}

pub(super) async fn unmute(session: &Session<'_>, args: UnmuteArgs) -> Result<Exit, Problem> {
    let client = session.client()?;
    let listed = client.get("/api/mutes").await?;
    let (name, wanted) = match (&args.service, &args.host) {
        (Some(service), _) => ("service", service),
        (None, Some(host)) => ("host", host),
        (None, None) => return Err(Problem::usage("name a service, or --host")),
    };
    let mut mutes = all(&listed).into_iter();
    let Some(mute) = mutes.find(|mute| word(mute, name) == wanted) else {
        let message = format!("{} is not muted", text::escaped(wanted));
        return Err(Problem::new(Exit::NotFound, "not_found", message).next("void notify ls"));
    };
    let path = format!("/api/mutes/{}", segment(word(&mute, "id")));
    let lifted = client.delete(&path).await?;
    if session.output.json {
        session.output.value(lifted);
    } else {
        let subject = subject(&mute);
        session.output.line(format!("{subject} is told again."));
    }
    Ok(Exit::Done)
}

fn all(listed: &Value) -> Vec<Value> {
    let mutes = listed.get("mutes").and_then(Value::as_array);
    mutes.cloned().unwrap_or_default()
}

/// What is muted, for `void notify ls`.
pub(super) fn list(output: &Output, listed: &Value) {
    for mute in all(listed) {
        output.line(format!(
            "muted  {}  until {}  by {}: \"{}\"   void notify unmute {}",
            subject(&mute),
            output.times.clock(word(&mute, "until")),
            text::escaped(word(&mute, "by")),
            text::escaped(word(&mute, "reason")),
            again(&mute)
        ));
    }
}

/// `caddy`, or `everything on ct100`
fn subject(mute: &Value) -> String {
    match mute.get("host").and_then(Value::as_str) {
        Some(host) => format!("everything on {}", text::escaped(host)),
        None => text::escaped(word(mute, "service")),
    }
}

fn again(mute: &Value) -> String {
    match mute.get("host").and_then(Value::as_str) {
        Some(host) => format!("--host {}", text::escaped(host)),
        None => text::escaped(word(mute, "service")),
    }
}
