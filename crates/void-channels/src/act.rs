//! The conversation with `void-act`, the same whether it is reached by SSH or as a child process.
//!
//! First its list is asked for: that proves that the machine is there, is the right one, and holds
//! what the catalogue says, before anything is sent. Then the ticket goes out, once. If the answer is
//! lost the host is asked to settle the ticket, and what it says is evidence.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use void_act::{Answer, Outcome as Said, ParamValue, Params, Reason};
use void_domain::catalogue::Tier;
use void_domain::fail_point;
use void_domain::hosts::Host;
use void_domain::permits::{Permit, Ticket};
use void_domain::proposals::Failure;
use void_domain::text;

use crate::outcomes::{Evidence, Outcome};

/// A question is answered at once or not at all.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(20);
/// Beyond the action's own limit, which `void-act` keeps itself.
const RUN_MARGIN: Duration = Duration::from_secs(15);
/// How long a lost answer is looked for before the outcome is called unknown.
const SETTLE_FOR: Duration = Duration::from_secs(20);
const SETTLE_PAUSE: Duration = Duration::from_millis(250);

const LIST: &str = "void-list";
const TICKET: &str = "void-ticket";
const SETTLE: &str = "void-settle";

/// How one command reaches the host, and its answer us.
pub(crate) trait Carrier: Sync {
    fn host(&self) -> &Host;
    fn ask(
        &self,
        command: &[&str],
        limit: Duration,
    ) -> impl Future<Output = Result<Answer, NoAnswer>> + Send;
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NoAnswer {
    /// The command certainly did not leave.
    NotSent(Failure),
    /// The command may have arrived.
    Lost(Failure),
}

/// A host's own list, as it reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostList {
    /// SHA-256 of the list file.
    pub digest: String,
    /// The digest that each entry was made for.
    pub entries: BTreeMap<String, Option<String>>,
    pub stopped: bool,
    pub version: String,
}

pub(crate) async fn list(carrier: &impl Carrier) -> Result<HostList, Failure> {
    let answer = match carrier.ask(&[LIST], QUESTION_TIMEOUT).await {
        Ok(answer) => answer,
        Err(NoAnswer::NotSent(failure) | NoAnswer::Lost(failure)) => return Err(failure),
    };
    match answer {
        Answer {
            outcome: Said::Done,
            list: Some(digest),
            defs: Some(entries),
            stopped,
            version,
            ..
        } => Ok(HostList {
            digest,
            entries,
            stopped: stopped.unwrap_or(false),
            version: version.unwrap_or_default(),
        }),
        refused => Err(refusal(carrier.host(), &refused)),
    }
}

/// Sends the permit's ticket, once. `expected` is what the catalogue says about this host's entries.
pub(crate) async fn execute(
    carrier: &impl Carrier,
    permit: Permit,
    expected: &BTreeMap<String, String>,
) -> Outcome {
    let host = carrier.host().name.clone();
    fail_point!("channels.list.before");
    let list = match list(carrier).await {
        Ok(list) => list,
        Err(failure) => return Outcome::Failed(failure),
    };
    fail_point!("channels.list.after");
    if list.stopped {
        let message = format!("{host} has its stop file set; nothing was sent");
        return Outcome::Failed(Failure::new("stopped_on_host", message));
    }
    if permit.action().tier == Tier::Risky
        && let Some(message) = drift(&list, expected)
    {
        let message =
            format!("{host}: {message}; risky actions wait until the list is installed again");
        return Outcome::Failed(Failure::new("drift", message));
    }
    let word = match ticket_word(permit.ticket()) {
        Ok(word) => word,
        Err(failure) => return Outcome::Failed(failure),
    };
    if permit.is_stopped() {
        return Outcome::Failed(Failure::new(
            "frozen",
            "frozen before it was sent; nothing ran",
        ));
    }
    let limit = permit.action().timeout + RUN_MARGIN;
    fail_point!("channels.send.before");
    let answer = carrier
        .ask(&[permit.action().id.as_str(), &word], limit)
        .await;
    fail_point!("channels.send.after");
    match answer {
        Ok(answer) => match read(carrier.host(), permit.ticket(), answer) {
            Ok(Evidence::Done { result }) => Outcome::Done { result },
            Ok(Evidence::Failed(failure)) => Outcome::Failed(failure),
            Ok(Evidence::Started | Evidence::None(_)) => {
                settle_for_a_while(carrier, permit.ticket()).await
            }
            Err(failure) => settle_or(carrier, permit.ticket(), failure).await,
        },
        Err(NoAnswer::NotSent(failure)) => Outcome::Failed(failure),
        Err(NoAnswer::Lost(failure)) => settle_or(carrier, permit.ticket(), failure).await,
    }
}

async fn settle_or(carrier: &impl Carrier, ticket: &Ticket, lost: Failure) -> Outcome {
    tracing::warn!(host = %carrier.host().name, proposal = %ticket.proposal_id, reason = lost.message, "an answer was lost; asking the host");
    match settle_for_a_while(carrier, ticket).await {
        Outcome::Unknown(_) => Outcome::Unknown(lost),
        settled => settled,
    }
}

async fn settle_for_a_while(carrier: &impl Carrier, ticket: &Ticket) -> Outcome {
    let end = Instant::now() + SETTLE_FOR;
    loop {
        let evidence = settle(carrier, ticket).await;
        let late = Instant::now() >= end;
        match evidence {
            Evidence::Done { result } => return Outcome::Done { result },
            Evidence::Failed(failure) => return Outcome::Failed(failure),
            Evidence::Started if late => {
                let message = format!(
                    "it began on {}, and no end was recorded",
                    carrier.host().name
                );
                return Outcome::Unknown(Failure::new("no_end", message));
            }
            Evidence::None(failure) if late => return Outcome::Unknown(failure),
            Evidence::Started | Evidence::None(_) => tokio::time::sleep(SETTLE_PAUSE).await,
        }
    }
}

/// Asks what became of a ticket. A host that never saw it makes sure that it never will run: the
/// network may still deliver the first sending after this question.
pub(crate) async fn settle(carrier: &impl Carrier, ticket: &Ticket) -> Evidence {
    question(carrier, SETTLE, ticket).await
}

/// Asks what became of a ticket and changes nothing.
pub(crate) async fn look_at(carrier: &impl Carrier, ticket: &Ticket) -> Evidence {
    question(carrier, TICKET, ticket).await
}

async fn question(carrier: &impl Carrier, question: &str, ticket: &Ticket) -> Evidence {
    let word = match ticket_word(ticket) {
        Ok(word) => word,
        Err(failure) => return Evidence::None(failure),
    };
    let host = carrier.host();
    match carrier.ask(&[question, &word], QUESTION_TIMEOUT).await {
        Err(NoAnswer::NotSent(failure) | NoAnswer::Lost(failure)) => Evidence::None(failure),
        // A refused question says nothing about the run it asks about.
        Ok(answer) if answer.outcome == Said::Refused => Evidence::None(refusal(host, &answer)),
        Ok(answer) if answer.outcome == Said::Unseen && question == TICKET => Evidence::None(
            Failure::new("unseen", format!("{} has not seen it so far", host.name)),
        ),
        Ok(answer) => read(host, ticket, answer).unwrap_or_else(Evidence::None),
    }
}

/// Reads an answer about this ticket; an answer about anything else is no answer.
fn read(host: &Host, ticket: &Ticket, answer: Answer) -> Result<Evidence, Failure> {
    if answer.v != 1 || answer.ticket.as_deref() != Some(ticket.proposal_id.to_string().as_str()) {
        let about_us = answer.outcome == Said::Refused && answer.ticket.is_none();
        if !about_us {
            let message = format!("{} answered about something else", host.name);
            return Err(Failure::new("bad_answer", message));
        }
    }
    let result = result(host, &answer);
    Ok(match answer.outcome {
        Said::Done => Evidence::Done { result },
        Said::Failed => {
            let message = match answer.exit {
                Some(code) => format!("the command on {} ended with {code}", host.name),
                None => format!("the command on {} did not end by itself", host.name),
            };
            Evidence::Failed(Failure {
                code: "command_failed".to_owned(),
                message,
                result: Some(result),
            })
        }
        Said::Started => Evidence::Started,
        Said::Unseen => {
            let message = format!(
                "{} never saw it, and now never will run it; nothing was done",
                host.name
            );
            Evidence::Failed(Failure::new("not_started", message))
        }
        Said::Refused => Evidence::Failed(refusal(host, &answer)),
    })
}

fn result(host: &Host, answer: &Answer) -> Value {
    json!({
        "host": host.name,
        "exit": answer.exit,
        "stdout": answer.stdout.as_deref().unwrap_or_default(),
        "stderr": answer.stderr.as_deref().unwrap_or_default(),
        "replayed": answer.replayed,
        "list": answer.list,
    })
}

fn refusal(host: &Host, answer: &Answer) -> Failure {
    let sentence = text::escaped(text::cut(
        answer.stderr.as_deref().unwrap_or("no reason given"),
        500,
    ));
    let code = match answer.reason {
        Some(Reason::Drift | Reason::UnknownAction) => "drift",
        Some(Reason::Stopped) => "stopped_on_host",
        _ => "refused_by_host",
    };
    Failure::new(code, format!("{} refused: {sentence}", host.name))
}

/// The first difference between what the host holds and what the catalogue says.
pub(crate) fn drift(list: &HostList, expected: &BTreeMap<String, String>) -> Option<String> {
    expected
        .iter()
        .find_map(|(id, digest)| match list.entries.get(id) {
            None => Some(format!("its list has no entry {id}")),
            Some(Some(def)) if def == digest => None,
            Some(_) => Some(format!("its entry {id} was made for another definition")),
        })
}

fn ticket_word(ticket: &Ticket) -> Result<String, Failure> {
    let internal = |message: String| Failure::new("bad_ticket", message);
    let mut params = Params::new();
    for (name, value) in ticket.params.as_object().into_iter().flatten() {
        let value = match value {
            Value::String(text) => ParamValue::Text(text.clone()),
            other => match other.as_i64() {
                Some(number) => ParamValue::Integer(number),
                None => {
                    return Err(internal(format!(
                        "the parameter {name} has no place in a ticket"
                    )));
                }
            },
        };
        params.insert(name.clone(), value);
    }
    let expires_ms = u64::try_from(ticket.expires_at.as_ms()).unwrap_or(0);
    void_act::Ticket::new(
        &ticket.proposal_id.to_string(),
        &ticket.digest.to_string(),
        &ticket.exec_digest.to_string(),
        params,
        expires_ms,
    )
    .map(|ticket| ticket.encode())
    .map_err(|refusal| internal(refusal.text))
}

/// The one line of `void-act` in what a carrier received.
pub(crate) fn parse(stdout: &[u8]) -> Option<Answer> {
    let text = std::str::from_utf8(stdout).ok()?;
    let line = text.strip_suffix('\n').unwrap_or(text);
    if line.contains('\n') {
        return None;
    }
    serde_json::from_str(line).ok()
}
