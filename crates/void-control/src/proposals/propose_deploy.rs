//! A change of the tree's repository is proposed: a config of an agent, or pinned inputs. Whether its requester may ask
//! for it, and what it is, was judged before; here it waits for a person, whoever asks.

use void_domain::changes::Change;
use void_domain::changes::drafts::{DraftContext, DraftTurn};
use void_domain::limits;
use void_domain::taint::Taint;
use void_store::StoreError;

use super::detached;
use super::propose::Proposed;
use super::propose_knowledge::kept_bytes;
use super::queue::NewProposal;
use crate::context::Ctx;
use crate::control::Control;
use crate::refusal_counts::RequestRefusal;
use crate::{row_budgets, token_taints};

pub(crate) struct DeployRequest {
    pub change: Change,
    pub reason: Option<String>,
    pub taint: Taint,
    pub turn: Option<DraftTurn>,
}

/// Goes to its end even if its caller goes away.
pub(crate) async fn propose_deploy(
    control: &Control,
    ctx: &Ctx,
    request: DeployRequest,
) -> Result<Proposed, StoreError> {
    let bound = request.change.into_subject();
    let subject = bound.map_err(|error| StoreError::Internal(error.to_string()))?;
    row_budgets::charge(
        control,
        ctx,
        kept_bytes(&subject, request.reason.as_deref()),
    );
    let new = NewProposal {
        control: control.clone(),
        ctx: ctx.clone(),
        subject,
        reason: request.reason,
        diff: None,
        taint: request.taint,
        expires_after: limits::PROPOSAL_EXPIRES_AFTER,
        dropped: None,
        refusal: RequestRefusal::default(),
        draft: DraftContext {
            turn: request.turn,
            again_of: None,
        },
        in_name_of: None,
    };
    detached(run(new)).await
}

async fn run(new: NewProposal) -> Result<Proposed, StoreError> {
    let store = new.control.store.clone();
    store
        .write(move |tx| {
            Box::pin(async move {
                let NewProposal { control, ctx, .. } = &new;
                let context = control.context(ctx);
                let taint = token_taints::united(tx, ctx, &new.taint).await?;
                new.queue(tx, &context, (&taint, control.clock.now())).await
            })
        })
        .await
}
