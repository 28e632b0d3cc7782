//! A permit's ticket on its way to one machine.
//!
//! The machine's list is asked for first, unless nothing can be between us and the machine and a list that fits is
//! known: then the ticket goes at once. It names that list, and the machine refuses it if it has another; where
//! a risky ticket has no room for the name, the list is asked for after all. What the machine refuses because it is busy, or because of its list, it did not start and will not: the same ticket may be
//! sent again, for as long as it is good. Nothing else is ever sent twice (I1, I13).

use std::time::Duration;

use tokio::time::Instant;
use void_act::{Answer, Outcome as Said, Reason};
use void_domain::catalogue::Tier;
use void_domain::fail_point;
use void_domain::failures::FailureCode;
use void_domain::limits::CLAIM_LEASE;
use void_domain::permits::Permit;
use void_domain::proposals::Failure;

use super::answers::read_run;
use super::expected::ExpectedList;
use super::{
    Carrier, HostList, LIST, NoAnswer, RUN_MARGIN, ask_again_if_broken, drift, mended, read_list,
    settled, ticket_of,
};
use crate::outcomes::Outcome;

/// A list that is another one each time is being written by somebody.
const LISTS_MAX: u32 = 3;
const BUSY_PAUSE: Duration = Duration::from_millis(100);
const BUSY_PAUSE_MAX: Duration = Duration::from_secs(5);
/// The last sending leaves this long before the ticket ends.
const SEND_BEFORE_END: Duration = Duration::from_secs(10);

/// Why the same ticket may be sent once more: the machine said that it did not start it, or it never left.
enum Again {
    Busy(Failure),
    OtherList(Failure),
}

/// Sends the permit's ticket. `expected` is what the catalogue says about this machine's entries.
pub(crate) async fn execute(
    carrier: &impl Carrier,
    permit: Permit,
    expected: &ExpectedList,
) -> Outcome {
    let give_up = Instant::now() + sent_within(&permit);
    let (mut pause, mut lists) = (BUSY_PAUSE, 0);
    loop {
        match attempt(carrier, &permit, expected).await {
            Ok(outcome) => return outcome,
            Err(Again::OtherList(failure)) => {
                expected.set_fitting(None);
                lists += 1;
                if lists >= LISTS_MAX || !carrier.may_send_again() {
                    return Outcome::Failed(failure);
                }
            }
            Err(Again::Busy(failure)) => {
                // A way on which a ticket goes once may still bring the old answer to a new one.
                if !carrier.may_send_again() {
                    return Outcome::Failed(failure);
                }
                if Instant::now() + pause >= give_up {
                    return Outcome::Busy(failure);
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(BUSY_PAUSE_MAX);
            }
        }
    }
}

/// A ticket that comes later than it is good for is refused; so much is left to say so.
fn sent_within(permit: &Permit) -> Duration {
    let ticket = permit.ticket();
    let lasts_ms = ticket.expires_at.as_ms() - ticket.claimed_at.as_ms();
    let lasts = Duration::from_millis(u64::try_from(lasts_ms).unwrap_or(0));
    // Later than its lease, another instance may ask what became of the run.
    lasts.min(CLAIM_LEASE).saturating_sub(SEND_BEFORE_END)
}

async fn attempt<C: Carrier>(
    carrier: &C,
    permit: &Permit,
    expected: &ExpectedList,
) -> Result<Outcome, Again> {
    fail_point!("channels.list.before");
    let opened = match carrier.open().await {
        Ok(line) => line,
        Err(failure) => return before_sending(failure),
    };
    let known = expected.fitting().filter(|_| carrier.is_fresh(&opened));
    let ready = known.and_then(|digest| unasked_word(carrier, permit, digest));
    let is_asked = ready.is_none();
    let (line, word) = match ready {
        Some(word) => (opened, word),
        None => {
            let (line, answer) = match ask_again_if_broken(carrier, opened, &[LIST]).await {
                Ok(asked) => asked,
                Err(failure) => return before_sending(failure),
            };
            let list = judged(carrier, permit, expected, answer);
            match list.and_then(|list| word(carrier, permit, list)) {
                Ok(word) => (line, word),
                Err(failure) => return Ok(Outcome::Failed(failure)),
            }
        }
    };
    fail_point!("channels.list.after");
    send(carrier, permit, line, &word, is_asked).await
}

/// A failure before anything was sent: too many commands under way is over soon.
fn before_sending(failure: Failure) -> Result<Outcome, Again> {
    if failure.code == FailureCode::Busy {
        return Err(Again::Busy(failure));
    }
    Ok(Outcome::Failed(failure))
}

/// What the list says against sending anything; or the list that a ticket may name, if the machine knows of that.
fn judged(
    carrier: &impl Carrier,
    permit: &Permit,
    expected: &ExpectedList,
    answer: Answer,
) -> Result<Option<String>, Failure> {
    let list = read_list(carrier, answer)?;
    if let Some(failure) = held_back(carrier.host(), permit, &list, expected) {
        return Err(mended(carrier, failure, None));
    }
    let fits = list.names_list && drift(&list, &expected.entries).is_none();
    let fitting = fits.then_some(list.digest);
    expected.set_fitting(fitting.clone());
    Ok(fitting)
}

/// What the host's list says against sending anything.
fn held_back(
    host: &str,
    permit: &Permit,
    list: &HostList,
    expected: &ExpectedList,
) -> Option<Failure> {
    if list.stopped {
        let message = format!("{host} has its stop file set; nothing was sent");
        return Some(Failure::new(FailureCode::StoppedOnHost, message));
    }
    if permit.action().tier == Tier::Safe {
        return None;
    }
    drift(list, &expected.entries).map(|difference| {
        let message =
            format!("{host}: {difference}; risky actions wait until the list is installed again");
        Failure::new(FailureCode::Drift, message)
    })
}

/// The word that may go out by a list that fitted, without a question before it: whether the list is still that one, the
/// machine can only judge by a risky ticket that names it.
fn unasked_word(carrier: &impl Carrier, permit: &Permit, digest: String) -> Option<Word> {
    let word = word(carrier, permit, Some(digest)).ok()?;
    (word.names_list || permit.action().tier == Tier::Safe).then_some(word)
}

/// A risky ticket names the list that it was judged by, where it has room for that and can be sent again; a safe one runs
/// by its own entry, whatever else changed.
fn word(carrier: &impl Carrier, permit: &Permit, list: Option<String>) -> Result<Word, Failure> {
    let ticket = ticket_of(permit.ticket())?;
    let is_named = permit.action().tier != Tier::Safe && carrier.may_send_again();
    let list = list.filter(|_| is_named);
    let named = list.and_then(|digest| ticket.clone().for_list(&digest).ok());
    Ok(Word {
        names_list: named.is_some(),
        text: named.unwrap_or(ticket).encode(),
    })
}

struct Word {
    text: String,
    names_list: bool,
}

async fn send<C: Carrier>(
    carrier: &C,
    permit: &Permit,
    line: C::Line,
    word: &Word,
    is_asked: bool,
) -> Result<Outcome, Again> {
    let limit = permit.execution().timeout + RUN_MARGIN;
    let ends_by = Instant::now() + limit;
    let id = permit.action().id.as_str();
    fail_point!("channels.send.before");
    if permit.is_stopped() {
        let message = "frozen before it was sent; nothing ran";
        let failure = Failure::new(FailureCode::Frozen, message);
        return Ok(Outcome::Failed(failure));
    }
    let answer = carrier.ask(&line, &[id, &word.text], limit).await;
    fail_point!("channels.send.after");
    // What asks below needs a place of its own among the host's connections.
    drop(line);
    let lost = match answer {
        Err(NoAnswer::NotSent(failure)) => return before_sending(failure),
        Err(NoAnswer::Broken(failure) | NoAnswer::Lost(failure)) => failure,
        Ok(answer) => {
            let reason = answer.reason.filter(|_| answer.outcome == Said::Refused);
            match read_run(carrier.host(), permit.ticket(), id, answer) {
                Ok(Outcome::Failed(failure)) => {
                    let failure = mended(carrier, failure, reason);
                    return match reason {
                        Some(Reason::Busy) => Err(Again::Busy(failure)),
                        Some(Reason::ListChanged) => Err(Again::OtherList(failure)),
                        // A host that was put back to a version which knows no lists in tickets.
                        Some(Reason::BadTicket) if word.names_list && !is_asked => {
                            Err(Again::OtherList(failure))
                        }
                        _ => Ok(Outcome::Failed(failure)),
                    };
                }
                Ok(outcome) => return Ok(outcome),
                Err(failure) => failure,
            }
        }
    };
    tracing::warn!(host = %carrier.host(), proposal = %permit.ticket().proposal_id, reason = lost.message, "an answer was lost; asking the host");
    Ok(settled(carrier, permit.ticket(), lost, ends_by).await)
}
