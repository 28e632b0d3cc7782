//! Drafts of knowledge are decided several at once, or with the owner's own words in them. Nothing else is: an action runs on a
//! machine, and a change of what is allowed is read alone.

use void_domain::knowledge::FieldsPatch;
use void_domain::limits::DRAFTS_AT_ONCE_MAX;
use void_domain::proposals::{Decision, Proposal};
use void_store::StoreError;

use super::decide::{DecideError, DecideRequest, DecisionSubject, decide_only};
use super::{ProposalKey, detached};
use crate::context::Ctx;
use crate::control::Control;

/// One of several drafts, bound to what was seen of it.
#[derive(Debug, Clone)]
pub struct DraftDecision {
    pub key: ProposalKey,
    pub request: DecideRequest,
}

#[derive(Debug, thiserror::Error)]
pub enum DecideDraftsError {
    #[error("at most {DRAFTS_AT_ONCE_MAX} drafts are decided at once")]
    TooMany,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Decides each for itself, in their order, and says what became of each: one that cannot be decided holds up none of the
/// others. Goes to its end even if its caller goes away.
pub async fn decide_drafts(
    control: &Control,
    ctx: &Ctx,
    drafts: Vec<DraftDecision>,
) -> Result<Vec<Result<Proposal, DecideError>>, DecideDraftsError> {
    if drafts.len() > DRAFTS_AT_ONCE_MAX {
        return Err(DecideDraftsError::TooMany);
    }
    let (control, ctx) = (control.clone(), ctx.clone());
    let deciding = detached(async move {
        let mut decided = Vec::with_capacity(drafts.len());
        for DraftDecision { key, request } in drafts {
            let about = DecisionSubject::Draft;
            decided.push(decide_only(&control, &ctx, key, request, about).await);
        }
        Ok::<_, StoreError>(decided)
    });
    Ok(deciding.await?)
}

/// Stores a draft with the owner's edit in it, against what the draft was made of, or not at all.
pub async fn approve_edited(
    control: &Control,
    ctx: &Ctx,
    key: ProposalKey,
    request: DecideRequest,
    fields: FieldsPatch,
) -> Result<Proposal, DecideError> {
    let request = DecideRequest {
        decision: Decision::Approve,
        ..request
    };
    let about = DecisionSubject::EditedDraft(fields);
    decide_only(control, ctx, key, request, about).await
}
