//! A notification sends its key back. The key alone says what is meant; it works once, for what was
//! shown with it.

use void_control::Ctx;
use void_control::notification_keys as keys;
use void_control::proposals::{self, DecideError, DecideRequest, Decision, ProposalKey};
use void_control::random;
use void_domain::actors::Actor;
use void_domain::capabilities::Capabilities;
use void_domain::notifications::{About, Key, Meaning, Target};
use void_domain::proposals::Proposal;
use void_store::StoreError;

use crate::notifications::Notifications;

#[derive(Debug)]
pub struct Acted {
    pub decision: Decision,
    pub proposal: Proposal,
}

#[derive(Debug, thiserror::Error)]
pub enum ActError {
    /// It never was one, or its time is over; nobody is told which.
    #[error("this token is not good, or no longer")]
    NotGood,
    #[error(transparent)]
    Refused(#[from] DecideError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Decides as the token says that a pushed notification carried.
pub async fn act_by_token(notify: &Notifications, token: &str) -> Result<Acted, ActError> {
    let Some(ntfy) = notify.notifiers.ntfy() else {
        return Err(ActError::NotGood);
    };
    let key = keys::find(notify.control(), token)
        .await?
        .ok_or(ActError::NotGood)?;
    // A key that was made for a chat is no token, whoever found it.
    if key.target != Target::Ntfy || key.expires_at <= notify.now() {
        return Err(ActError::NotGood);
    }
    let decision = match key.meaning {
        Meaning::Approve => Decision::Approve,
        Meaning::RejectBecause(_) => Decision::Reject,
        Meaning::Ask
        | Meaning::Back
        | Meaning::Reject
        | Meaning::Details
        | Meaning::Show
        | Meaning::Test
        | Meaning::Mute(_)
        | Meaning::Unmute
        | Meaning::Option(_) => return Err(ActError::NotGood),
    };
    let ctx = owner_ctx(
        notify,
        Actor::Owner {
            surface: ntfy.surface(),
        },
    )?;
    let proposal = decide(notify, &ctx, &key, decision).await?;
    Ok(Acted { decision, proposal })
}

/// The owner, by a way that was checked.
pub(super) fn owner_ctx(notify: &Notifications, actor: Actor) -> Result<Ctx, StoreError> {
    Ok(Ctx {
        actor,
        capabilities: Capabilities::none(),
        request_id: random::request_id(notify.now())?,
        authenticated_ago: None,
        is_from_outside: false,
        token: None,
    })
}

pub(super) async fn decide(
    notify: &Notifications,
    ctx: &Ctx,
    key: &Key,
    decision: Decision,
) -> Result<Proposal, DecideError> {
    let About::Proposal(id, digest) = key.about else {
        return Err(DecideError::NotFound);
    };
    let reason = match key.meaning {
        Meaning::RejectBecause(because) => because.reason().map(str::to_owned),
        _ => None,
    };
    let request = DecideRequest {
        decision,
        digest: Some(digest),
        revision: Some(key.revision),
        reason,
        key: Some(key.hash),
    };
    proposals::decide(notify.control(), ctx, ProposalKey::Id(id), request).await
}
