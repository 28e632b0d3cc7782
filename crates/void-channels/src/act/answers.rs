//! Reading what `void-act` says: which answers count, and what each one proves.

use serde_json::{Value, json};
use void_act::{Answer, Outcome as Said, Reason};
use void_domain::failures::FailureCode;
use void_domain::limits::CHANNEL_OUTPUT_BYTES_MAX;
use void_domain::permits::Ticket;
use void_domain::proposals::Failure;
use void_domain::text;

use crate::outcomes::{Evidence, Outcome};

/// As many as `void-act` tells.
pub(crate) const PROGRESS_LINES_MAX: usize = 200;
pub(crate) const PROGRESS_LINE_BYTES_MAX: usize = 500;
const REFUSAL_BYTES_MAX: usize = 500;

/// The one line of `void-act` in what a carrier received.
pub(crate) fn parse(stdout: &[u8]) -> Option<Answer> {
    let text = std::str::from_utf8(stdout).ok()?;
    let line = text.strip_suffix('\n').unwrap_or(text);
    if line.contains('\n') {
        return None;
    }
    serde_json::from_str(line).ok()
}

/// Reads the answer to a run, or says why the host has to be asked.
pub(super) fn read_run(
    host: &str,
    ticket: &Ticket,
    id: &str,
    answer: Answer,
) -> Result<Outcome, Failure> {
    // What this ticket's proposal did under other content, or long ago, this host cannot or need not
    // tell. Asking again would not change that.
    if let (Said::Refused, Some(Reason::TicketMismatch | Reason::Forgotten)) =
        (answer.outcome, answer.reason)
    {
        return Ok(Outcome::Unknown(refusal(host, &answer)));
    }
    if answer.outcome == Said::Unseen {
        return Err(about_something_else(host));
    }
    match read(host, ticket, id, answer)? {
        Evidence::Done { result } => Ok(Outcome::Done { result }),
        Evidence::Failed(failure) => Ok(Outcome::Failed(failure)),
        Evidence::Started => Err(no_end(host)),
        Evidence::None(failure) => Err(failure),
    }
}

/// Reads an answer to this question about this ticket; an answer about anything else is no answer.
pub(super) fn read(
    host: &str,
    ticket: &Ticket,
    asked: &str,
    answer: Answer,
) -> Result<Evidence, Failure> {
    let ours = answer.ticket.as_deref() == Some(ticket.proposal_id.to_string().as_str())
        && answer.id == asked;
    // A host that cannot even read the question names no ticket when it refuses.
    let refused = answer.outcome == Said::Refused && answer.ticket.is_none();
    if answer.v != 1 || !(ours || refused) {
        return Err(about_something_else(host));
    }
    let result = result(host, &answer);
    Ok(match answer.outcome {
        Said::Done => Evidence::Done { result },
        Said::Failed => {
            let message = match answer.exit {
                Some(code) => format!("the command on {host} ended with {code}"),
                None => format!("the command on {host} did not end by itself"),
            };
            Evidence::Failed(Failure {
                code: FailureCode::CommandFailed.into(),
                message,
                result: Some(result),
            })
        }
        Said::Started => Evidence::Started,
        Said::Unseen => {
            let message =
                format!("{host} never saw it, and now never will run it; nothing was done");
            Evidence::Failed(Failure::new(FailureCode::NotStarted, message))
        }
        Said::Refused => Evidence::Failed(refusal(host, &answer)),
    })
}

pub(super) fn about_something_else(host: &str) -> Failure {
    let message = format!("{host} answered about something else");
    Failure::new(FailureCode::BadAnswer, message)
}

/// It began, and that is all there is.
pub(super) fn no_end(host: &str) -> Failure {
    let message = format!("it began on {host}, and no end was recorded");
    Failure::new(FailureCode::NoEnd, message)
}

fn result(host: &str, answer: &Answer) -> Value {
    let mut result = json!({
        "host": host,
        "exit": answer.exit,
        "stdout": output(answer.stdout.as_deref()),
        "stderr": output(answer.stderr.as_deref()),
        "replayed": answer.replayed,
        "list": answer.list,
    });
    if let (Some(members), Some(running)) = (result.as_object_mut(), answer.running) {
        members.insert("running".to_owned(), json!(running));
    }
    if let Some(members) = result
        .as_object_mut()
        .filter(|_| !answer.progress.is_empty())
    {
        members.insert("progress".to_owned(), json!(progress(answer)));
    }
    result
}

/// What it said while it ran; only a node passes that on.
fn progress(answer: &Answer) -> Vec<&str> {
    let lines = answer.progress.iter().take(PROGRESS_LINES_MAX);
    lines
        .map(|line| text::cut(line, PROGRESS_LINE_BYTES_MAX))
        .collect()
}

/// `void-act` keeps to this bound; what answers in its place may not.
fn output(said: Option<&str>) -> &str {
    text::cut(said.unwrap_or_default(), CHANNEL_OUTPUT_BYTES_MAX)
}

pub(super) fn refusal(host: &str, answer: &Answer) -> Failure {
    let sentence = text::escaped(text::cut(
        answer.stderr.as_deref().unwrap_or("no reason given"),
        REFUSAL_BYTES_MAX,
    ));
    let code = match answer.reason {
        Some(Reason::Drift | Reason::UnknownAction | Reason::ListChanged) => FailureCode::Drift,
        Some(Reason::Busy) => FailureCode::Busy,
        Some(Reason::Stopped) => FailureCode::StoppedOnHost,
        Some(Reason::NothingToReturnTo) => FailureCode::NothingToReturnTo,
        Some(
            Reason::BadArguments
            | Reason::BadCommand
            | Reason::BadTicket
            | Reason::ListUnusable
            | Reason::JournalDamaged
            | Reason::JournalUnavailable
            | Reason::ClockUnreadable
            | Reason::SignatureUnsupported
            | Reason::NeedsTicket
            | Reason::NeedsCooldown
            | Reason::BadParams
            | Reason::RecordFailed
            | Reason::Expired
            | Reason::TicketMismatch
            | Reason::Settled
            | Reason::Forgotten
            | Reason::JournalFull
            | Reason::CoolingDown
            | Reason::CapReached
            | Reason::Other,
        )
        | None => FailureCode::RefusedByHost,
    };
    Failure::new(code, format!("{host} refused: {sentence}"))
}
