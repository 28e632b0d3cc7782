//! The stop switch: anyone who may act pulls it, only the owner lets go. What a freeze does to one that
//! holds already is judged in the domain; see [`void_domain::freezes::judge`].

use std::time::Duration;

use serde_json::json;
use void_domain::actors::{Actor, ActorKind};
use void_domain::capabilities::Capability;
use void_domain::events::Audience;
use void_domain::freezes::{self as domain, Authority, Freeze, FreezeVerdict, Frozen};
use void_domain::limits;
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, freezes};

use crate::context::Ctx;
use crate::control::Control;
use crate::detached::detached;
use crate::facts::{self, AuditContext};
use crate::token_taints;

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

/// How an unrecorded freeze says so, in front of its reason.
const UNRECORDED: &str =
    "it could not be recorded, and holds until the owner thaws or this process ends";

/// The freeze in force, also one that could not be recorded.
pub async fn current(control: &Control) -> Result<Freeze, StoreError> {
    if let Some(frozen) = control.freeze.halted.unrecorded_freeze() {
        return Ok(Freeze::Frozen(frozen));
    }
    let reading = async { stored(control).await.map(Some) };
    let freeze = &control.remembered.freeze;
    let found = freeze.find(&control.store, (), reading).await?;
    found.ok_or_else(|| StoreError::corrupt("freezes", 1, "the row is missing"))
}

/// The same as this reader may see it: what an agent said in it is not handed to the agent's tokens while one of them is
/// marked, because another could then say it clean.
pub async fn shown_to(control: &Control, ctx: &Ctx) -> Result<Freeze, StoreError> {
    as_seen_by(control, ctx, current(control).await?).await
}

pub async fn as_seen_by(
    control: &Control,
    ctx: &Ctx,
    freeze: Freeze,
) -> Result<Freeze, StoreError> {
    let Freeze::Frozen(frozen) = freeze else {
        return Ok(freeze);
    };
    let is_withheld = match &ctx.actor {
        Actor::Agent { id, .. } if frozen.by == ctx.actor.to_string() => {
            token_taints::is_marked(control, *id).await?
        }
        _ => false,
    };
    let reason = frozen.reason.filter(|_| !is_withheld);
    Ok(Freeze::Frozen(Frozen { reason, ..frozen }))
}

async fn stored(control: &Control) -> Result<Freeze, StoreError> {
    control.store.read(|tx| Box::pin(freezes::load(tx))).await
}

/// Whether nothing may start now, whatever the record says of it.
pub(crate) async fn holds(
    tx: &mut Tx,
    control: &Control,
    now: Timestamp,
) -> Result<bool, StoreError> {
    Ok(control.freeze.halted.is_set() || freezes::load(tx).await?.holds_at(now))
}

/// What the owner wanted, as it holds where it could not be recorded.
fn unrecorded(wanted: Frozen) -> Frozen {
    let reason = match &wanted.reason {
        Some(reason) => format!("{UNRECORDED}: {reason}"),
        None => UNRECORDED.to_owned(),
    };
    Frozen {
        reason: Some(reason),
        until: None,
        ..wanted
    }
}

/// Goes to its end even if its caller goes away: what could not be recorded has to hold.
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
    detached(pull(control.clone(), ctx.clone(), reason, lasts)).await
}

async fn pull(
    control: Control,
    ctx: Ctx,
    reason: Option<String>,
    lasts: Option<Duration>,
) -> Result<Freeze, FreezeError> {
    // First the freeze switch, then the record: nothing starts while the record is on its way.
    let recording = control.freeze.begin_recording();
    let halted = &control.freeze.halted;
    let known = halted.newest_unrecorded();
    let at = control.clock.now();
    let authority = Authority::of(&ctx.actor, ctx.authenticated_ago);
    let wanted = Frozen {
        by: ctx.actor.to_string(),
        at,
        reason,
        until: lasts.map(|lasts| at.plus(lasts)),
    };
    let held = unrecorded(wanted.clone());
    let recorded = record(&control, &ctx, wanted, authority).await;
    match &recorded {
        Err(FreezeError::Store(_)) if ctx.actor.is_owner() => {
            halted.hold_unrecorded(held);
            control.freeze.switch.hold();
        }
        Ok(frozen) if replaces_unrecorded(frozen, authority) => halted.lift_unrecorded(known),
        Ok(_) | Err(_) => {}
    }
    drop(recording);
    match recorded {
        Ok(frozen) => Ok(Freeze::Frozen(halted.unrecorded_freeze().unwrap_or(frozen))),
        // It holds all the same, until the owner thaws or this process ends.
        Err(FreezeError::Store(error)) if ctx.actor.is_owner() => {
            Err(FreezeError::Unrecorded(error))
        }
        Err(error) => {
            // What is not recorded does not hold: the freeze switch follows the record again.
            let _ = apply_stored(&control).await;
            Err(error)
        }
    }
}

/// Whether a recorded freeze stands for one of the owner's that could not be recorded, which has no end: it has none
/// either, or the owner has just proved to be there and wants it so.
fn replaces_unrecorded(recorded: &Frozen, authority: Authority) -> bool {
    recorded.until.is_none() || authority == Authority::Replace
}

/// The freeze that is on the record then.
async fn record(
    control: &Control,
    ctx: &Ctx,
    wanted: Frozen,
    authority: Authority,
) -> Result<Frozen, FreezeError> {
    let (context, at) = (control.context(ctx), wanted.at);
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                let current = freezes::load(tx).await?;
                let (verb, frozen) = match domain::judge(&current, wanted, authority, at) {
                    FreezeVerdict::Set(frozen) => ("freeze.set", frozen),
                    FreezeVerdict::Lengthened(frozen) => ("freeze.lengthened", frozen),
                    FreezeVerdict::Stays(frozen) => return Ok(frozen),
                    FreezeVerdict::ProofNeeded => return Err(FreezeError::FreshLoginNeeded),
                };
                let freeze = Freeze::Frozen(frozen.clone());
                save(tx, &context, at, verb, &freeze).await?;
                // A trigger could have undone it.
                if freezes::load(tx).await? != freeze {
                    let what = "it is not what was written";
                    return Err(StoreError::corrupt("freezes", 1, what).into());
                }
                Ok(frozen)
            })
        })
        .await
}

pub async fn thaw(control: &Control, ctx: &Ctx) -> Result<Freeze, FreezeError> {
    if !ctx.actor.is_owner() {
        return Err(FreezeError::OwnerOnly);
    }
    let halted = &control.freeze.halted;
    let known = halted.newest_unrecorded();
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
    halted.lift_unrecorded(known);
    apply_stored(control).await?;
    // One that came meanwhile and could not be recorded holds.
    Ok(halted
        .unrecorded_freeze()
        .map_or(Freeze::Thawed, Freeze::Frozen))
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
    let fact = (verb, None, detail);
    facts::tell_of(tx, context, at, Audience::Everyone, fact).await
}

/// Sets the freeze switch as the record says; also how other instances' freezes reach this one. A freeze that
/// begins while the record is read stays.
pub(crate) async fn apply_stored(control: &Control) -> Result<(), StoreError> {
    let Some(before) = control.freeze.before_reading() else {
        return Ok(());
    };
    let freeze = stored(control).await?;
    let is_frozen = freeze.holds_at(control.clock.now());
    control.freeze.follow(before, is_frozen);
    Ok(())
}
