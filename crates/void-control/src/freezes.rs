//! The stop switch: anyone who may act pulls it, only the owner lets go. What a freeze does to one that
//! holds already is judged in the domain; see [`void_domain::freezes::judge`].

use std::time::Duration;

use serde_json::json;
use void_domain::actors::ActorKind;
use void_domain::capabilities::Capability;
use void_domain::events::{Audience, EventKind, NewEvent};
use void_domain::freezes::{self as domain, Authority, Freeze, FreezeVerdict, Frozen};
use void_domain::limits;
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, events, freezes};

use crate::context::Ctx;
use crate::control::Control;
use crate::facts::{self, AuditContext};

#[derive(Debug, thiserror::Error)]
pub enum FreezeError {
    #[error("this token may not freeze")]
    Forbidden,
    #[error("only the owner thaws, and only the owner sets when a freeze ends")]
    OwnerOnly,
    #[error("a freeze that holds is shortened or replaced only after a fresh login")]
    FreshLoginNeeded,
    #[error("the reason is longer than {} bytes", limits::REASON_BYTES_MAX)]
    ReasonTooLong,
    #[error(
        "nothing new starts here until you thaw or this process ends, but the freeze could not be recorded: {0}"
    )]
    Unrecorded(StoreError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub async fn current(control: &Control) -> Result<Freeze, StoreError> {
    control.store.read(|tx| Box::pin(freezes::load(tx))).await
}

pub async fn freeze(
    control: &Control,
    ctx: &Ctx,
    reason: Option<String>,
    lasts: Option<Duration>,
) -> Result<Freeze, FreezeError> {
    let may = match ctx.actor.kind() {
        ActorKind::Owner => true,
        ActorKind::Agent => ctx.capabilities.has(Capability::Act),
        ActorKind::Viewer | ActorKind::Node | ActorKind::System => false,
    };
    if !may {
        return Err(FreezeError::Forbidden);
    }
    if lasts.is_some() && !ctx.actor.is_owner() {
        return Err(FreezeError::OwnerOnly);
    }
    if reason
        .as_ref()
        .is_some_and(|reason| reason.len() > limits::REASON_BYTES_MAX)
    {
        return Err(FreezeError::ReasonTooLong);
    }
    // First the freeze switch, then the record: nothing starts while the record is on its way.
    control.freeze.switch.pull();
    let at = control.clock.now();
    let authority = Authority::of(&ctx.actor, ctx.authenticated_ago);
    let wanted = Frozen {
        by: ctx.actor.to_string(),
        at,
        reason,
        until: lasts.map(|lasts| at.plus(lasts)),
    };
    let context = control.context(ctx);
    let saved = control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                let current = freezes::load(tx).await?;
                let (verb, frozen) = match domain::judge(&current, wanted, authority, at) {
                    FreezeVerdict::Set(frozen) => ("freeze.set", frozen),
                    FreezeVerdict::Lengthened(frozen) => ("freeze.lengthened", frozen),
                    FreezeVerdict::Stays(frozen) => return Ok(Freeze::Frozen(frozen)),
                    FreezeVerdict::ProofNeeded => return Err(FreezeError::FreshLoginNeeded),
                };
                let freeze = Freeze::Frozen(frozen);
                save(tx, &context, at, verb, &freeze).await?;
                // A trigger could have undone it.
                if freezes::load(tx).await? != freeze {
                    let what = "it is not what was written";
                    return Err(StoreError::corrupt("freezes", 1, what).into());
                }
                Ok(freeze)
            })
        })
        .await;
    let is_unrecorded = matches!(saved, Err(FreezeError::Store(_))) && ctx.actor.is_owner();
    if is_unrecorded || saved.is_ok() {
        control.freeze.halted.set_unrecorded_freeze(is_unrecorded);
    }
    match saved {
        // It holds all the same, until the owner thaws or this process ends.
        Err(FreezeError::Store(error)) if is_unrecorded => Err(FreezeError::Unrecorded(error)),
        Err(error) => {
            // What is not recorded does not hold: the freeze switch follows the record again.
            let _ = apply_stored(control).await;
            Err(error)
        }
        Ok(freeze) => Ok(freeze),
    }
}

pub async fn thaw(control: &Control, ctx: &Ctx) -> Result<Freeze, FreezeError> {
    if !ctx.actor.is_owner() {
        return Err(FreezeError::OwnerOnly);
    }
    let at = control.clock.now();
    let context = control.context(ctx);
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                if freezes::load(tx).await? != Freeze::Thawed {
                    save(tx, &context, at, "freeze.lifted", &Freeze::Thawed).await?;
                }
                Ok::<_, FreezeError>(())
            })
        })
        .await?;
    control.freeze.halted.set_unrecorded_freeze(false);
    apply_stored(control).await?;
    Ok(Freeze::Thawed)
}

pub(crate) async fn save(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    verb: &'static str,
    freeze: &Freeze,
) -> Result<(), StoreError> {
    freezes::save(tx, freeze).await?;
    let detail = match freeze {
        Freeze::Thawed => json!({"frozen": false}),
        Freeze::Frozen(frozen) => {
            json!({"frozen": true, "by": frozen.by, "reason": frozen.reason, "until": frozen.until})
        }
    };
    let mut told = detail.clone();
    if let (Freeze::Frozen(frozen), Some(reason)) = (freeze, told.get_mut("reason")) {
        *reason = json!(frozen.reason_for_everyone());
    }
    facts::audit(tx, context, at, verb, None, detail).await?;
    let event = NewEvent {
        kind: EventKind::FreezeChanged,
        audience: Audience::Everyone,
        payload: told,
    };
    events::append(tx, at, &event).await?;
    Ok(())
}

/// Sets the freeze switch as the record says; also how other instances' freezes reach this one. A freeze that
/// begins while the record is read stays.
pub(crate) async fn apply_stored(control: &Control) -> Result<(), StoreError> {
    let generation = control.freeze.switch.generation();
    let freeze = current(control).await?;
    // What is stored in a database that went back is not believed.
    if control.freeze.halted.is_set() || freeze.holds_at(control.clock.now()) {
        control.freeze.switch.hold();
    } else {
        control.freeze.switch.release_if(generation);
    }
    Ok(())
}
