//! The server: whether it answers, is frozen, and knows what time it is.

use std::time::Duration;

use void_api::freeze::FreezeResponse;
use void_api::services::ServicesResponse;
use void_api::status::StatusResponse;
use void_control::Clock;
use void_domain::failures::FailureCode;
use void_domain::time::Timestamp;

use super::clocks;
use super::findings::Findings;
use crate::client::Client;
use crate::commands::rows::or_dash;
use crate::commands::{Session, freeze, storage};
use crate::exit::CommandError;

/// Services that are down and named one by one.
const NAMED_MAX: usize = 8;

/// A server that takes longer for one look is not well.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// A server that answers, and what it said.
pub(super) struct ServerCheck {
    pub client: Client,
    pub status: StatusResponse,
}

pub(super) async fn check(session: &Session<'_>, findings: &mut Findings) -> Option<ServerCheck> {
    let asked = async {
        let client = session.client()?;
        let clock = Clock::system();
        let before = clock.now();
        let asking = tokio::time::timeout(ANSWER_WITHIN, client.get_as("/api/status"));
        let status: StatusResponse = asking
            .await
            .unwrap_or_else(|_late| Err(late(client.base())))?;
        Ok::<_, CommandError>((client, status, [before, clock.now()]))
    };
    match asked.await {
        Err(problem) => {
            let next = problem.next.unwrap_or_else(|| "void serve".to_owned());
            findings.wrong("server", problem.message, next);
            None
        }
        Ok((client, status, asked_at)) => {
            let message = format!("{} answers at {}", status.version, client.base());
            findings.fine("server", message);
            if status.frozen {
                match rolled_back(&client).await {
                    Some(reason) => findings.wrong(
                        "database",
                        format!("everything is frozen: {reason}"),
                        "look at tokens, catalogue and machines, then void thaw",
                    ),
                    None => {
                        let told = freeze::told(
                            &session.output.times,
                            status.frozen_by.as_deref(),
                            status.frozen_reason.as_deref(),
                            status.frozen_until.as_deref(),
                        );
                        let message = format!("everything is frozen, {told}; nothing new starts");
                        findings.warn("freeze", message, "void thaw");
                    }
                }
            }
            let quarantined = status.quarantined;
            if quarantined > 0 {
                let message = format!(
                    "{quarantined} credentials came back with an older copy and open nothing until you confirm them"
                );
                findings.warn("quarantine", message, "void quarantine ls");
            }
            check_displaced(&status, findings);
            check_storage(&status, findings);
            check_embeddings(&status, findings);
            check_clock(&status, asked_at, findings);
            check_services(&client, findings).await;
            Some(ServerCheck { client, status })
        }
    }
}

fn check_displaced(status: &StatusResponse, findings: &mut Findings) {
    if status.displaced {
        let name = &status.instance;
        findings.wrong(
            "instance",
            format!("another process works under the id of {name}; this one starts and settles nothing"),
            "stop one of the two, delete instance.json in the data folder that is the copy, and start them again",
        );
    }
}

/// Says how large what grows is; whether the disk has room is the check `disk`.
fn check_storage(status: &StatusResponse, findings: &mut Findings) {
    let storage = &status.storage;
    let (bytes, rows) = (storage::bytes(storage), storage::rows(storage));
    let message = format!("{bytes}; rows: {rows}; kept: {}", storage::kept(storage));
    findings.fine("storage", message);
}

/// Where they are off there is nothing to say.
fn check_embeddings(status: &StatusResponse, findings: &mut Findings) {
    let Some(embeddings) = &status.embeddings else {
        return;
    };
    let mut message = format!(
        "{} of {} texts can be found by meaning, {} chunks",
        embeddings.done, embeddings.total, embeddings.chunks
    );
    if embeddings.skipped > 0 {
        message.push_str(&format!("; of {} no vector was made", embeddings.skipped));
    }
    match &embeddings.message {
        None => findings.fine("embeddings", message),
        Some(trouble) => findings.warn(
            "embeddings",
            format!("{trouble}; {message}"),
            "look at embeddings, embeddings_url and embeddings_key in void.toml; searches go by words until then",
        ),
    }
}

/// Why the server itself froze everything: its database went back.
async fn rolled_back(client: &Client) -> Option<String> {
    let freeze: FreezeResponse = client.get_as("/api/freeze").await.ok()?;
    (freeze.by.as_deref() == Some("system")).then(|| or_dash(&freeze.reason).to_owned())
}

fn late(base: &str) -> CommandError {
    let message = format!("{base} does not answer within {ANSWER_WITHIN:?}");
    CommandError::new(FailureCode::Timeout, message)
        .next("look at its log, such as journalctl -u void; then start it again")
}

/// It said its time between these two moments.
fn check_clock(status: &StatusResponse, asked_at: [Timestamp; 2], findings: &mut Findings) {
    if let Some(ahead_s) = status.clock_ahead_s {
        return clocks::in_doubt(ahead_s, &status.at, findings);
    }
    let Some(theirs) = Timestamp::parse_rfc3339(&status.at) else {
        return;
    };
    let [before, after] = asked_at.map(Timestamp::as_ms);
    let ours = theirs.as_ms().clamp(before, after);
    let ahead_ms = theirs.as_ms().saturating_sub(ours);
    clocks::compare("the server's clock", ahead_ms, findings);
}

/// What is watched and down now: nothing is wrong with Void, and something is wrong.
async fn check_services(client: &Client, findings: &mut Findings) {
    let listed = client.get_as("/api/services").await;
    let Ok(ServicesResponse { services, .. }) = listed else {
        return;
    };
    let down: Vec<&str> = (services.iter())
        .filter(|service| service.status == "down")
        .map(|service| service.id.as_str())
        .collect();
    let named = down.get(..NAMED_MAX.min(down.len())).unwrap_or(&down);
    let others = match down.len() - named.len() {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    match down.as_slice() {
        [] => {}
        [one] => findings.warn(
            "service",
            format!("{one} is down"),
            format!("void services {one}"),
        ),
        _ => findings.warn(
            "service",
            format!("{}{others} are down", named.join(", ")),
            "void services",
        ),
    }
}
