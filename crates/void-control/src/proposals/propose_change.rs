//! Somebody drafts a change. Nothing of it is in force before a person says yes, and nobody's draft runs by itself.

use std::io;

use void_channels::InGit;
use void_domain::changes::ChangeEffect;
use void_domain::changes::catalogue::{self, Base, InvalidCatalogueChange, Sent};
use void_domain::changes::drafts::DraftContext;
use void_domain::limits;
use void_domain::policy;
use void_domain::proposals::Subject;
use void_domain::taint::Taint;
use void_store::StoreError;

use super::detached;
use super::propose::Proposed;
use super::propose_knowledge::kept_bytes;
use super::queue::NewProposal;
use crate::context::Ctx;
use crate::control::Control;
use crate::parts::drafting::UnderWay;
use crate::parts::in_force::CatalogueSource;
use crate::parts::row_budgets::TooManyRows;
use crate::refusal_counts::RequestRefusal;
use crate::{row_budgets, token_taints};

/// What somebody wants to be changed, before anything of it is believed.
#[derive(Debug, Clone)]
pub struct ChangeRequest {
    pub sent: Sent,
    pub reason: Option<String>,
    pub taint: Taint,
}

#[derive(Debug, thiserror::Error)]
pub enum ProposeChangeError {
    #[error("this server has no file for its catalogue")]
    NoFile,
    #[error("the catalogue's file cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    #[error(
        "the catalogue's file has changed since it was loaded; load it first, then propose against what it says"
    )]
    NotAsLoaded,
    #[error(
        "the catalogue's file has changes that are not committed; commit them first, so that they are not committed in its name"
    )]
    NotCommitted,
    #[error(transparent)]
    Invalid(#[from] InvalidCatalogueChange),
    #[error("the reason is longer than {} bytes", limits::REASON_BYTES_MAX)]
    ReasonTooLong,
    #[error(transparent)]
    TooManyRows(#[from] TooManyRows),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Proposes another catalogue. Goes to its end even if its caller goes away.
pub async fn propose_catalogue(
    control: &Control,
    ctx: &Ctx,
    request: ChangeRequest,
) -> Result<Proposed, ProposeChangeError> {
    let reason = request.reason.as_ref();
    if reason.is_some_and(|reason| reason.len() > limits::REASON_BYTES_MAX) {
        return Err(ProposeChangeError::ReasonTooLong);
    }
    // Before any work is done for it.
    row_budgets::take(control, ctx)?;
    let source = control.in_force.catalogue_source.as_ref();
    let source = source.ok_or(ProposeChangeError::NoFile)?;
    catalogue::check_size(source.file.loaded(), &request.sent)?;
    let under_way = match row_budgets::requester(ctx) {
        Some(id) => Some(control.bounds.drafting.begin(id)?),
        None => None,
    };
    let effect = effect(source).await?;
    let subject = subject(control, request.sent, effect, under_way).await?;
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
        draft: DraftContext::default(),
        in_name_of: None,
    };
    detached(run(new)).await
}

async fn run(new: NewProposal) -> Result<Proposed, ProposeChangeError> {
    let store = new.control.store.clone();
    let proposed = store
        .write(move |tx| {
            Box::pin(async move {
                let NewProposal { control, ctx, .. } = &new;
                let context = control.context(ctx);
                let taint = token_taints::united(tx, ctx, &new.taint).await?;
                let asking = (&taint, control.clock.now());
                match policy::judge_change(ctx.actor.kind(), &ctx.capabilities) {
                    Some(refusal) => new.refuse(tx, &context, asking, refusal).await,
                    None => new.queue(tx, &context, asking).await,
                }
            })
        })
        .await?;
    Ok(proposed)
}

/// What a yes will do, if the file is as it was loaded.
async fn effect(source: &CatalogueSource) -> Result<ChangeEffect, ProposeChangeError> {
    if !source.file.is_as_loaded()? {
        return Err(ProposeChangeError::NotAsLoaded);
    }
    match source.file.in_git().await {
        InGit::Clean => Ok(ChangeEffect::Commit),
        InGit::Edited => Err(ProposeChangeError::NotCommitted),
        InGit::No => Ok(ChangeEffect::Beside),
    }
}

/// Reads what was sent, away from the threads that serve everybody, one draft after the other. Who goes away
/// meanwhile still has one under way.
async fn subject(
    control: &Control,
    sent: Sent,
    effect: ChangeEffect,
    under_way: Option<UnderWay>,
) -> Result<Subject, ProposeChangeError> {
    let turns = control.bounds.drafting.turns.clone();
    let turn = turns.acquire_owned().await;
    let turn = turn.map_err(|error| StoreError::Internal(error.to_string()))?;
    let control = control.clone();
    let reading = tokio::task::spawn_blocking(move || {
        let _until_read = (turn, under_way);
        let source = control.in_force.catalogue_source.as_ref();
        let source = source.ok_or(ProposeChangeError::NoFile)?;
        let base = Base {
            text: source.file.loaded(),
            catalogue: &control.in_force.catalogue,
            paths: &source.file.paths(),
        };
        let instance = &control.process.instance.name;
        let change = catalogue::change(base, &sent, &source.lockout, instance, effect)?;
        let bound = change.into_subject();
        Ok(bound.map_err(|error| StoreError::Internal(error.to_string()))?)
    });
    let read = reading.await;
    read.map_err(|error| StoreError::Internal(error.to_string()))?
}
