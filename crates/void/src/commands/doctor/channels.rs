//! The ways to the owner: who is paired, what arrived last, what is wrong now, and what was put aside.

use void_api::notifications::{NotificationsResponse, PlaceResponse};

use super::findings::Findings;
use crate::client::Client;
use crate::commands::Session;
use crate::commands::rows::or_dash;

const CHECK: &str = "channel";

pub(super) async fn check(session: &Session<'_>, client: &Client, findings: &mut Findings) {
    // Whether the owner may ask was said where the hosts were asked.
    let listed = client.get_as("/api/notifications").await;
    let Ok(NotificationsResponse { places, failed, .. }) = listed else {
        return;
    };
    for place in &places {
        check_place(session, place, findings);
    }
    // The newest comes first; what no longer has a place was still not delivered.
    if let [newest, ..] = failed.as_slice() {
        let message = format!(
            "{} not delivered and put aside, the last to {}: {}",
            failed.len(),
            newest.target,
            or_dash(&newest.error)
        );
        let next = format!("void notify retry {}", newest.id);
        findings.warn(CHECK, message, next);
    }
}

fn check_place(session: &Session<'_>, place: &PlaceResponse, findings: &mut Findings) {
    let (channel, name) = (place.channel.as_ref(), &place.name);
    let last = match &place.last_sent_at {
        None => "nothing was sent yet".to_owned(),
        Some(at) => format!("last message {}", session.output.times.short(at)),
    };
    let is_known = place.paired_at.is_some() || place.last_sent_at.is_some();
    match (place.problem.as_deref(), place.target.as_deref()) {
        (Some(problem), target) => {
            let place = target.unwrap_or(channel);
            findings.wrong(CHECK, format!("{place}: {problem}; {last}"), next(problem));
        }
        (None, None) => {
            let next = format!("void notify pair {channel}");
            findings.warn(CHECK, format!("{channel}: {name}"), next);
        }
        // It may not speak to somebody who has never spoken to it.
        (None, Some(target)) if channel == "telegram" && !is_known => {
            let message = format!("{target}: {name}; {last}");
            findings.warn(CHECK, message, "void notify pair telegram");
        }
        (None, Some(target)) => findings.fine(CHECK, format!("{target} ({name}): {last}")),
    }
}

/// The words of a problem are ours; what helps depends on them.
fn next(problem: &str) -> &'static str {
    if problem.contains("(409)") {
        "stop the other one or get a bot of its own from @BotFather, then void notify test"
    } else if problem.contains("refused the") {
        "set its token again and start void, then void notify test"
    } else {
        "void notify test"
    }
}
