//! A request that is refused over and over (I36): the first refusal is a row, the others are counted and
//! answered with that row. As long as a caller is refused the same again, the writer is not asked.

use void_domain::actors::Actor;
use void_domain::failures::FailureCode;
use void_domain::policy::{Refusal, Verdict};
use void_domain::proposals::{Proposal, Subject};
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, proposals};

use super::propose::{Proposed, RequestInput};
use super::queue::NewProposal;
use super::start;
use crate::context::Ctx;
use crate::control::Control;
use crate::refusal_counts::{self, Recorded, RefusalKind};
use crate::token_taints;

const REFUSED: &str = "proposal.refused";
const INVALID: &str = "proposal.invalid";

pub(super) enum RepeatNote<T> {
    /// To be written.
    First(RefusalKind),
    /// Counted with the first one.
    Again(T),
    /// Each refusal of this caller is written.
    Uncounted,
}

fn kind(actor: &Actor, verb: &'static str, what: String, code: FailureCode) -> RefusalKind {
    RefusalKind {
        actor: actor.to_string(),
        verb,
        what,
        code: code.to_string(),
    }
}

/// The answer to a request whose refusal is being counted, if it would be refused so again.
pub(super) async fn refused_again(
    control: &Control,
    ctx: &Ctx,
    asked: RequestInput<'_>,
) -> Result<Option<Proposed>, StoreError> {
    if !refusal_counts::is_counted(ctx) {
        return Ok(None);
    }
    let counts = &control.bounds.refusal_counts;
    let action_id = asked.action.id.as_str();
    let before = counts.last_of(&ctx.actor.to_string(), REFUSED, action_id);
    if before.is_empty() {
        return Ok(None);
    }
    let now = control.clock.now();
    let (this, asking, taint) = (control.clone(), ctx.clone(), asked.taint.clone());
    let (action, subject) = (asked.action.clone(), asked.subject.clone());
    let (taint, brakes, budget, busy) = control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let actor = &asking.actor;
                let taint = token_taints::united(tx, &asking, &taint).await?;
                let brakes = start::brakes_to_come(tx, &this, &action, actor.kind(), now).await?;
                let budget = start::budget_of(tx, &this, actor, now).await?;
                let busy = start::is_taken(tx, &this, &subject).await?;
                Ok::<_, StoreError>((taint, brakes, budget, busy))
            })
        })
        .await?;
    let asked = RequestInput {
        taint: &taint,
        ..asked
    };
    let refusal = match asked.judge(ctx, brakes, budget) {
        Verdict::Refused(refusal) => refusal,
        Verdict::RunNow if busy => Refusal::Busy,
        Verdict::RunNow | Verdict::NeedsApproval(_) => return Ok(None),
    };
    let first = before
        .into_iter()
        .find(|(code, _)| code == refusal.code().as_str());
    let Some((_, id)) = first else {
        return Ok(None);
    };
    let found = control
        .store
        .read(move |tx| Box::pin(proposals::find(tx, id)))
        .await?;
    let Some(found) = found else {
        return Ok(None);
    };
    let kind = kind(&ctx.actor, REFUSED, action_id.to_owned(), refusal.code());
    match counts.note(kind, now) {
        (_, Recorded::Again(_)) => Ok(Some(Proposed::Refused(refusal, found.proposal))),
        // The window ended in between: this one is the first of the next.
        (kind, Recorded::First) => {
            counts.forget(&kind);
            Ok(None)
        }
    }
}

/// What was asked for: the action, or what would be changed.
fn what(subject: &Subject) -> String {
    let action = subject.action_id().map(ToString::to_string);
    action.unwrap_or_else(|| subject.target.clone())
}

/// Counts a refusal where it is made, in the writer: one after the other, so there is one first one. Once, however
/// often that runs.
pub(super) async fn note_refused(
    tx: &mut Tx,
    new: &NewProposal,
    refusal: &Refusal,
) -> Result<RepeatNote<Proposal>, StoreError> {
    let NewProposal { control, ctx, .. } = new;
    let kind = kind(&ctx.actor, REFUSED, what(&new.subject), refusal.code());
    let (counts, now) = (&control.bounds.refusal_counts, control.clock.now());
    match counts.note_once(&new.refusal, kind, now) {
        // Without a row, the use case that was to write the first one has failed.
        (kind, Recorded::First | Recorded::Again(None)) => Ok(RepeatNote::First(kind)),
        (kind, Recorded::Again(Some(id))) => Ok(match proposals::find(tx, id).await? {
            Some(first) => RepeatNote::Again(first.proposal),
            // It was rolled back, or is no longer kept.
            None => RepeatNote::First(kind),
        }),
    }
}

/// Counts a request that cannot become a proposal.
pub(super) fn note_invalid(
    control: &Control,
    ctx: &Ctx,
    what: String,
    code: FailureCode,
    at: Timestamp,
) -> RepeatNote<()> {
    if !refusal_counts::is_counted(ctx) {
        return RepeatNote::Uncounted;
    }
    let kind = kind(&ctx.actor, INVALID, what, code);
    match control.bounds.refusal_counts.note(kind, at) {
        (kind, Recorded::First) => RepeatNote::First(kind),
        (_, Recorded::Again(_)) => RepeatNote::Again(()),
    }
}
