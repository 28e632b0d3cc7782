//! The ways to the owner: who is paired, what arrived last, what is wrong now, and what was put aside.

use serde_json::Value;

use super::findings::Findings;
use crate::client::Client;
use crate::commands::Session;
use crate::commands::rows::{given, word};

const CHECK: &str = "channel";

pub(super) async fn check(session: &Session<'_>, client: &Client, findings: &mut Findings) {
    // Whether the owner may ask was said where the hosts were asked.
    let Ok(answer) = client.get("/api/notifications").await else {
        return;
    };
    let list = |name: &str| answer.get(name).and_then(Value::as_array);
    for place in list("places").into_iter().flatten() {
        check_place(session, place, findings);
    }
    // The newest comes first; what no longer has a place was still not delivered.
    let failed = list("failed").map(Vec::as_slice).unwrap_or_default();
    if let [newest, ..] = failed {
        let message = format!(
            "{} not delivered and put aside, the last to {}: {}",
            failed.len(),
            word(newest, "target"),
            word(newest, "error")
        );
        let next = format!("void notify retry {}", word(newest, "id"));
        findings.warn(CHECK, message, next);
    }
}

fn check_place(session: &Session<'_>, place: &Value, findings: &mut Findings) {
    let given = |name: &str| given(place, name);
    let (channel, name) = (word(place, "channel"), word(place, "name"));
    let last = match given("last_sent_at") {
        None => "nothing was sent yet".to_owned(),
        Some(at) => format!("last message {}", session.output.times.short(at)),
    };
    let is_known = given("paired_at").is_some() || given("last_sent_at").is_some();
    match (given("problem"), given("target")) {
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
