//! What the holder of a token was given that a stranger could have written. The mark is in the store before the text leaves,
//! so no request that follows from the text is judged without it: not after a restart, and not by another instance.
//! Only the owner clears it.

use serde_json::json;
use void_domain::ids::{AgentId, TokenId};
use void_domain::taint::Taint;
use void_store::{StoreError, Tx, token_taints as table, tokens};

use crate::context::Ctx;
use crate::control::Control;
use crate::facts;

pub use void_store::token_taints::TokenTaint;

#[derive(Debug, thiserror::Error)]
pub enum ClearError {
    #[error("only the owner clears what a token has read")]
    OwnerOnly,
    #[error("there is no such live token")]
    NotFound,
    #[error("it has read nothing that a stranger could have written")]
    NotMarked,
    #[error("it has read something else since; look again")]
    Moved,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Marks the token that was shown, and comes back when that is in the store. Only then may the text leave. A person is not
/// marked, and a turn has a mark of its own.
pub async fn mark(control: &Control, ctx: &Ctx, given: &Taint) -> Result<(), StoreError> {
    let Some(id) = ctx.token.filter(|_| !given.is_clean()) else {
        return Ok(());
    };
    let known = control.store.read(move |tx| Box::pin(table::of(tx, id)));
    if given.is_within(&known.await?) {
        return Ok(());
    }
    let (context, at, given) = (control.context(ctx), control.clock.now(), given.clone());
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let added = table::add(tx, id, &given, at).await?;
                if added.is_clean() {
                    return Ok(());
                }
                let subject = Some(id.to_string());
                let detail = json!({"taint": added});
                facts::audit(tx, &context, at, "token.tainted", subject, detail).await
            })
        })
        .await
}

/// The taint of a request as it is judged: what came with it, and what its token was given. Asked in the transaction that
/// judges.
pub(crate) async fn united(tx: &mut Tx, ctx: &Ctx, with: &Taint) -> Result<Taint, StoreError> {
    let mut taint = with.clone();
    if let Some(id) = ctx.token {
        taint.unite(&table::of(tx, id).await?);
    }
    Ok(taint)
}

/// Whether any token of this agent is marked, withdrawn ones too.
pub(crate) async fn is_marked(control: &Control, agent: AgentId) -> Result<bool, StoreError> {
    let asking = control
        .store
        .read(move |tx| Box::pin(table::is_marked(tx, agent)));
    asking.await
}

/// The owner answers for what a token does from here on. `seen`: what the owner was shown that it has read.
pub async fn clear(
    control: &Control,
    ctx: &Ctx,
    id: TokenId,
    seen: Vec<String>,
) -> Result<(), ClearError> {
    if !ctx.actor.is_owner() {
        return Err(ClearError::OwnerOnly);
    }
    let (context, at) = (control.context(ctx), control.clock.now());
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let found = tokens::find(tx, id).await?;
                if found.is_none_or(|token| token.revoked_at.is_some()) {
                    return Err(ClearError::NotFound);
                }
                let marked = table::of(tx, id).await?;
                if marked.is_clean() {
                    return Err(ClearError::NotMarked);
                }
                if !marked.is_within(&Taint::from_sources(seen)) {
                    return Err(ClearError::Moved);
                }
                table::clear(tx, id).await?;
                let subject = Some(id.to_string());
                let detail = json!({"taint": marked});
                facts::audit(tx, &context, at, "token.cleared", subject, detail).await?;
                Ok(())
            })
        })
        .await
}
