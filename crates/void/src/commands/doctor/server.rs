//! The server: whether it answers, is frozen, and knows what time it is.

use std::time::Duration;

use serde_json::Value;
use void_control::Clock;
use void_domain::time::Timestamp;

use super::clocks;
use super::findings::Findings;
use crate::client::Client;
use crate::commands::Session;
use crate::commands::rows::word;
use crate::exit::{Exit, Problem};

/// A server that takes longer for one look is not well.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// A server that answers, and what it said.
pub(super) struct Server {
    pub client: Client,
    pub status: Value,
}

pub(super) async fn check(session: &Session<'_>, findings: &mut Findings) -> Option<Server> {
    let asked = async {
        let client = session.client()?;
        let clock = Clock::system();
        let before = clock.now();
        let asking = tokio::time::timeout(ANSWER_WITHIN, client.get("/api/status"));
        let status = asking
            .await
            .unwrap_or_else(|_late| Err(late(client.base())))?;
        Ok::<_, Problem>((client, status, [before, clock.now()]))
    };
    match asked.await {
        Err(problem) => {
            let next = problem.next.unwrap_or_else(|| "void serve".to_owned());
            findings.wrong("server", problem.message, next);
            None
        }
        Ok((client, status, asked_at)) => {
            let message = format!("{} answers at {}", word(&status, "version"), client.base());
            findings.fine("server", message);
            if status.get("frozen") == Some(&Value::Bool(true)) {
                findings.warn("freeze", "everything is frozen; nothing runs", "void thaw");
            }
            check_clock(&status, asked_at, findings);
            Some(Server { client, status })
        }
    }
}

fn late(base: &str) -> Problem {
    let message = format!("{base} does not answer within {ANSWER_WITHIN:?}");
    Problem::new(Exit::Unreachable, "timeout", message)
        .next("look at its log, such as journalctl -u void; then start it again")
}

/// It said its time between these two moments.
fn check_clock(status: &Value, asked_at: [Timestamp; 2], findings: &mut Findings) {
    let Some(theirs) = Timestamp::parse_rfc3339(word(status, "at")) else {
        return;
    };
    let [before, after] = asked_at.map(Timestamp::as_ms);
    let ours = theirs.as_ms().clamp(before, after);
    let ahead_ms = theirs.as_ms().saturating_sub(ours);
    clocks::compare("the server's clock", ahead_ms, findings);
}
