//! `void notify mute` and `void notify unmute`

use jiff::tz::TimeZone;
use void_api::mutes::{MuteRequest, MuteResponse, MutesResponse};
use void_api::services::ServiceResponse;
use void_domain::actors::person;
use void_domain::failures::FailureCode;
use void_domain::text;

use super::Session;
use super::freeze::seconds;
use super::rows::or_dash;
use super::run::segment;
use crate::cli::{MuteArgs, UnmuteArgs};
use crate::client::read;
use crate::exit::{CommandError, Exit};
use crate::output::Output;
use crate::times;

/// For whoever does not say how long.
const LASTS_DEFAULT: &str = "4h";

pub(super) async fn mute(session: &Session<'_>, args: MuteArgs) -> Result<Exit, CommandError> {
    let (until, for_s) = match &args.until {
        Some(text) => (Some(until(text)?), None),
        None => {
            let lasts = args.lasts.as_deref().unwrap_or(LASTS_DEFAULT);
            (None, Some(seconds(lasts)?))
        }
    };
    let body = MuteRequest {
        service: args.service,
        host: args.host,
        for_s,
        until,
        reason: args.reason,
    };
    let mute = session.client()?.post("/api/mutes", &body).await?;
    if session.output.json {
        session.output.value(mute);
        return Ok(Exit::Done);
    }
    let mute: MuteResponse = read(mute)?;
    let output = session.output;
    output.line(format!(
        "Muted {} until {}. It is still shown as it is; what is down then is told.",
        subject(&mute),
        output.times.clock(&mute.until)
    ));
    output.line(format!("  unmute:   {}", unmute_command(output, &mute)));
    Ok(Exit::Done)
}

/// A time of day, the next one by the clock of this machine, or a moment.
fn until(text: &str) -> Result<String, CommandError> {
    let now = void_control::Clock::system().now();
    times::moment(text, now.as_ms(), TimeZone::system()).ok_or_else(|| {
        CommandError::usage(format!(
            "--until {} is not a time such as 22:00 or 2026-11-16T22:00:00Z",
            text::escaped(text)
        ))
    })
}

pub(super) async fn unmute(session: &Session<'_>, args: UnmuteArgs) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let MutesResponse { mutes } = client.get_as("/api/mutes").await?;
    let is_meant = |mute: &&MuteResponse| match (&args.service, &args.host) {
        (Some(_), _) => mute.service == args.service,
        (None, host) => mute.host == *host,
    };
    let Some(wanted) = args.service.as_ref().or(args.host.as_ref()) else {
        return Err(CommandError::usage("name a service, or --host"));
    };
    let Some(mute) = mutes.iter().find(is_meant) else {
        let message = format!("{} is not muted", text::escaped(wanted));
        return Err(CommandError::new(FailureCode::NotFound, message).next("void notify ls"));
    };
    let path = format!("/api/mutes/{}", segment(&mute.id));
    let lifted = client.delete(&path).await?;
    if session.output.json {
        session.output.value(lifted);
    } else {
        let subject = subject(mute);
        session.output.line(format!("{subject} is told again."));
    }
    Ok(Exit::Done)
}

/// What is muted, for `void notify ls`.
pub(super) fn list(output: &Output, mutes: &[MuteResponse]) {
    for mute in mutes {
        let told = format!(
            "{}  until {}  by {}: \"{}\"   {}",
            subject(mute),
            output.times.clock(&mute.until),
            person(&mute.by),
            text::escaped(&mute.reason),
            unmute_command(output, mute)
        );
        output.hanging("muted  ", &told);
    }
}

/// Of the mutes that hold for a service the one that ends last.
pub(super) fn of_service<'a>(
    mutes: &'a [MuteResponse],
    service: &ServiceResponse,
) -> Option<&'a MuteResponse> {
    let place = service.host.as_ref().or(service.node.as_ref());
    let holds = |mute: &&MuteResponse| {
        mute.service.as_ref() == Some(&service.id)
            || (mute.host.is_some() && mute.host.as_ref() == place)
    };
    // Moments of one form sort as text.
    mutes
        .iter()
        .filter(holds)
        .max_by(|one, other| one.until.cmp(&other.until))
}

/// `caddy`, or `everything on ct100`
fn subject(mute: &MuteResponse) -> String {
    match &mute.host {
        Some(host) => format!("everything on {}", text::escaped(host)),
        None => text::escaped(or_dash(&mute.service)),
    }
}

fn unmute_command(output: &Output, mute: &MuteResponse) -> String {
    let what = match &mute.host {
        Some(host) => format!("--host {}", text::escaped(host)),
        None => text::escaped(or_dash(&mute.service)),
    };
    output.typed(&format!("void notify unmute {what}"))
}
