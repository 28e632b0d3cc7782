//! The conversation with `void-act`, the same whether it is reached by SSH or as a child process.
//!
//! First its list is asked for: that proves that the machine is there, is the right one, and holds
//! what the catalogue says, before anything is sent. Then the ticket goes out (`sending.rs`). Where the first has
//! just been done, the ticket says so itself. If the answer is lost the host is asked to settle the ticket, and what
//! it says is evidence.

mod answers;
mod expected;
mod sending;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use void_act::{Answer, Outcome as Said, ParamValue, Params, Reason};
use void_domain::failures::FailureCode;
use void_domain::hosts::with_mending_command;
use void_domain::permits::Ticket;
use void_domain::proposals::Failure;
use void_domain::text;

pub(crate) use self::answers::{PROGRESS_LINE_BYTES_MAX, PROGRESS_LINES_MAX, parse};
use self::answers::{about_something_else, no_end, read, refusal};
pub(crate) use self::expected::ExpectedList;
pub(crate) use self::sending::execute;
use crate::outcomes::{Evidence, Outcome};

/// A question is answered at once or not at all.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(15);
/// Beyond the action's own limit, which `void-act` keeps itself.
const RUN_MARGIN: Duration = Duration::from_secs(10);
/// How long a host that does not answer is asked about a lost run before its outcome is called unknown.
const SETTLE_FOR: Duration = Duration::from_secs(10);
const SETTLE_PAUSE: Duration = Duration::from_millis(250);
const SETTLE_PAUSE_MAX: Duration = Duration::from_secs(2);
const VERSION_BYTES_MAX: usize = 64;
/// Of what a host says that it could not start.
const CANNOT_MAX: usize = 100;
const CANNOT_BYTES_MAX: usize = 300;

pub(crate) const LIST: &str = "void-list";
const CHECK: &str = "void-check";
const TICKET: &str = "void-ticket";
const SETTLE: &str = "void-settle";

/// How one command reaches the host, and its answer us.
pub(crate) trait Carrier: Sync {
    /// An open way to the host.
    type Line: Send + Sync;

    /// What the machine is called, in words for people.
    fn host(&self) -> &str;

    /// The command of Void that prints what this machine needs.
    fn provision(&self) -> String;

    /// Opens the way. Nothing is sent but who we are.
    fn open(&self) -> impl Future<Output = Result<Self::Line, Failure>> + Send;

    /// Whether there is nothing between us and the machine that could be gone, so that it need not be asked first.
    fn is_fresh(&self, line: &Self::Line) -> bool;

    /// Whether a ticket that the machine refused can be sent to it once more.
    fn may_send_again(&self) -> bool {
        true
    }

    /// Sends one command over it, at most once.
    fn ask(
        &self,
        line: &Self::Line,
        command: &[&str],
        limit: Duration,
    ) -> impl Future<Output = Result<Answer, NoAnswer>> + Send;
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NoAnswer {
    /// The command certainly did not leave.
    NotSent(Failure),
    /// The command may have arrived, and the way is broken.
    Broken(Failure),
    /// The command may have arrived.
    Lost(Failure),
}

impl NoAnswer {
    fn into_failure(self) -> Failure {
        let (Self::NotSent(failure) | Self::Broken(failure) | Self::Lost(failure)) = self;
        failure
    }
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
    /// Entries that could not be started now, and why; empty when that was not asked.
    pub cannot: BTreeMap<String, String>,
    /// Whether a ticket for it may name this list.
    pub names_list: bool,
}

pub(crate) async fn list(carrier: &impl Carrier) -> Result<HostList, Failure> {
    let (_line, answer) = open_and_ask(carrier, &[LIST]).await?;
    read_list(carrier, answer)
}

async fn open_and_ask<C: Carrier>(
    carrier: &C,
    question: &[&str],
) -> Result<(C::Line, Answer), Failure> {
    let line = carrier.open().await?;
    ask_again_if_broken(carrier, line, question).await
}

/// Asks a question and keeps the way open. A way from earlier may have broken unnoticed; what only asks
/// can be asked twice, which a ticket whose answer was lost never is.
async fn ask_again_if_broken<C: Carrier>(
    carrier: &C,
    mut line: C::Line,
    question: &[&str],
) -> Result<(C::Line, Answer), Failure> {
    let mut answer = carrier.ask(&line, question, QUESTION_TIMEOUT).await;
    if matches!(answer, Err(NoAnswer::Broken(_))) {
        drop(line);
        line = carrier.open().await?;
        answer = carrier.ask(&line, question, QUESTION_TIMEOUT).await;
    }
    match answer {
        Ok(answer) => Ok((line, answer)),
        Err(no_answer) => Err(no_answer.into_failure()),
    }
}

/// The list, and what of it the host could not start now. An older host only has its list.
pub(crate) async fn check(carrier: &impl Carrier) -> Result<HostList, Failure> {
    let (_line, answer) = open_and_ask(carrier, &[CHECK]).await?;
    if answer.reason == Some(Reason::BadCommand) {
        return list(carrier).await;
    }
    read_list(carrier, answer)
}

fn read_list(carrier: &impl Carrier, answer: Answer) -> Result<HostList, Failure> {
    let Answer {
        v: 1,
        outcome: Said::Done,
        list: Some(digest),
        defs: Some(entries),
        stopped: Some(stopped),
        version,
        cannot,
        names_list,
        ..
    } = answer
    else {
        return Err(match answer.outcome {
            Said::Refused => {
                let failure = refusal(carrier.host(), &answer);
                mended(carrier, failure, answer.reason)
            }
            Said::Done | Said::Failed | Said::Started | Said::Unseen => {
                about_something_else(carrier.host())
            }
        });
    };
    let version = version.unwrap_or_default();
    Ok(HostList {
        digest,
        entries,
        stopped,
        version: text::cut(&version, VERSION_BYTES_MAX).to_owned(),
        cannot: shown(cannot.unwrap_or_default()),
        names_list: names_list == Some(true),
    })
}

/// What a host says of itself, cut to what can be shown.
fn shown(cannot: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let one = |(id, why): (String, String)| {
        let [id, why] = [id, why].map(|text| text::escaped(text::cut(&text, CANNOT_BYTES_MAX)));
        (id, why)
    };
    cannot.into_iter().take(CANNOT_MAX).map(one).collect()
}

/// A failure with the command that mends it, if one does: a list that is missing, cannot be used or does not fit is put
/// right by one. `reason` is what the host said, if it said anything.
fn mended(carrier: &impl Carrier, mut failure: Failure, reason: Option<Reason>) -> Failure {
    if failure.code == FailureCode::Drift || reason == Some(Reason::ListUnusable) {
        failure.message = with_mending_command(&failure.message, &carrier.provision());
    }
    failure
}

/// Asks until the end is known. Gives up when the host has not answered for a while, or when a run
/// that began should have ended long ago; then only evidence that comes later, or the owner, can tell.
async fn settled(
    carrier: &impl Carrier,
    ticket: &Ticket,
    lost: Failure,
    ends_by: Instant,
) -> Outcome {
    let mut unknown = lost;
    let mut give_up = Instant::now() + SETTLE_FOR;
    let mut pause = SETTLE_PAUSE;
    loop {
        match tokio::time::timeout_at(give_up, settle(carrier, ticket)).await {
            Ok(Evidence::Done { result }) => return Outcome::Done { result },
            Ok(Evidence::Failed(failure)) => return Outcome::Failed(failure),
            Ok(Evidence::Started) => {
                give_up = give_up.max(ends_by);
                unknown = no_end(carrier.host());
            }
            Ok(Evidence::None(_)) => {}
            Err(_late) => return Outcome::Unknown(unknown),
        }
        if Instant::now() + pause >= give_up {
            return Outcome::Unknown(unknown);
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(SETTLE_PAUSE_MAX);
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
    let answer = match open_and_ask(carrier, &[question, &word]).await {
        Ok((_line, answer)) => answer,
        Err(failure) => return Evidence::None(failure),
    };
    let host = carrier.host();
    match answer.outcome {
        // A refused question says nothing about the run it asks about.
        Said::Refused => Evidence::None(refusal(host, &answer)),
        Said::Unseen if question == TICKET => Evidence::None(Failure::new(
            FailureCode::Unseen,
            format!("{host} has not seen it so far"),
        )),
        _ => read(host, ticket, question, answer).unwrap_or_else(Evidence::None),
    }
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

/// The very command that starts a run.
pub fn run_command(action_id: &str, ticket: &Ticket) -> Option<String> {
    let word = ticket_word(ticket).ok()?;
    Some(format!("{action_id} {word}"))
}

/// Whether a command only asks, or ends what was not begun.
pub fn is_question(command: &str) -> bool {
    command.starts_with(void_act::RESERVED_PREFIX)
}

fn ticket_word(ticket: &Ticket) -> Result<String, Failure> {
    ticket_of(ticket).map(|ticket| ticket.encode())
}

fn ticket_of(ticket: &Ticket) -> Result<void_act::Ticket, Failure> {
    let internal = |message: String| Failure::new(FailureCode::BadTicket, message);
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
    .map_err(|refusal| internal(refusal.text))
}
