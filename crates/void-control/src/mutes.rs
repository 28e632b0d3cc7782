//! Muting: the owner says what is not to be told for a time, and why. It hides trouble and outlives a session,
//! so it is on the record, has a bound, and ends by itself.

use std::time::Duration;

use serde_json::{Map, Value, json};
use void_domain::digests::Digest;
use void_domain::events::{Audience, EventKind, NewEvent};
use void_domain::ids::MuteId;
use void_domain::limits;
use void_domain::mutes::{InvalidEnd, Mute, Muted, RUNNING_MAX, check_end, host_of};
use void_domain::text;
use void_domain::time::Timestamp;
use void_store::notifications::keys;
use void_store::{StoreError, Tx, events, mutes};

use crate::context::Ctx;
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::{alerts, random};

#[derive(Debug, thiserror::Error)]
pub enum MuteError {
    #[error("only the owner mutes")]
    OwnerOnly,
    #[error("no service of that name is watched")]
    UnknownService,
    #[error("no watched service is on a host or node of that name")]
    UnknownHost,
    #[error("say why: a reason is 1 to {} bytes", limits::REASON_BYTES_MAX)]
    Reason,
    #[error(transparent)]
    End(#[from] InvalidEnd),
    #[error("{RUNNING_MAX} mutes hold already; lift one first")]
    TooMany,
    #[error("this button was used")]
    KeyUsed,
    #[error("there is no such mute, or it is over")]
    NotFound,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// When a mute is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    After(Duration),
    At(Timestamp),
}

#[derive(Debug, Clone)]
pub struct NewMute {
    pub subject: Muted,
    pub until: Until,
    pub reason: String,
    /// The key of the button that says so; it is used up with it.
    pub key: Option<Digest>,
}

/// What is muted now, the newest first.
pub async fn list(control: &Control) -> Result<Vec<Mute>, StoreError> {
    let now = control.clock.now();
    let mut all = control.store.read(|tx| Box::pin(mutes::list(tx))).await?;
    all.retain(|mute| mute.holds_at(now));
    Ok(all)
}

/// Sets a mute. One that holds for the same subject gives way to it.
pub async fn set(control: &Control, ctx: &Ctx, wanted: NewMute) -> Result<Mute, MuteError> {
    if !ctx.actor.is_owner() {
        return Err(MuteError::OwnerOnly);
    }
    check_subject(control, &wanted.subject)?;
    let reason = wanted.reason.trim().to_owned();
    if reason.is_empty() || reason.len() > limits::REASON_BYTES_MAX {
        return Err(MuteError::Reason);
    }
    let at = control.clock.now();
    let until = match wanted.until {
        Until::After(lasts) => at.plus(lasts),
        Until::At(until) => until,
    };
    check_end(at, until)?;
    let mute = Mute {
        id: random::mute_id(at)?,
        subject: wanted.subject,
        reason,
        by: ctx.actor.to_string(),
        at,
        until,
    };
    let (context, saved, key) = (control.context(ctx), mute.clone(), wanted.key);
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                if let Some(key) = key
                    && !keys::use_up(tx, key, at).await?
                {
                    return Err(MuteError::KeyUsed);
                }
                save(tx, &context, &saved).await
            })
        })
        .await?;
    Ok(mute)
}

fn check_subject(control: &Control, subject: &Muted) -> Result<(), MuteError> {
    match subject {
        Muted::Service(id) => match control.lab.watch.is_watched(id) {
            true => Ok(()),
            false => Err(MuteError::UnknownService),
        },
        Muted::Host(name) => {
            let mut services = control.lab.watch.services().into_iter();
            match services.any(|service| host_of(&service) == Some(name)) {
                true => Ok(()),
                false => Err(MuteError::UnknownHost),
            }
        }
    }
}

async fn save(tx: &mut Tx, context: &AuditContext, mute: &Mute) -> Result<(), MuteError> {
    let before = mutes::list(tx).await?.into_iter();
    for old in before.filter(|old| old.subject == mute.subject) {
        mutes::end(tx, old.id, mute.at, &mute.by).await?;
    }
    if mutes::count(tx).await? >= RUNNING_MAX {
        return Err(MuteError::TooMany);
    }
    mutes::insert(tx, mute).await?;
    record(tx, context, mute, "mute.set", mute.at).await?;
    alerts::under_mute(tx, mute, mute.at).await?;
    Ok(())
}

/// Lifts mutes before their end. What is down under them is told from now on.
pub async fn lift(
    control: &Control,
    ctx: &Ctx,
    ids: &[MuteId],
    key: Option<Digest>,
) -> Result<(), MuteError> {
    if !ctx.actor.is_owner() {
        return Err(MuteError::OwnerOnly);
    }
    let (context, at, ids) = (control.context(ctx), control.clock.now(), ids.to_vec());
    let this = control.clone();
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                if let Some(key) = key
                    && !keys::use_up(tx, key, at).await?
                {
                    return Err(MuteError::KeyUsed);
                }
                let mut all = mutes::list(tx).await?;
                all.retain(|mute| ids.contains(&mute.id) && mute.holds_at(at));
                if all.is_empty() {
                    return Err(MuteError::NotFound);
                }
                for mute in all {
                    mutes::end(tx, mute.id, at, &context.actor).await?;
                    record(tx, &context, &mute, "mute.lifted", at).await?;
                    alerts::without_mute(tx, &this, &mute, at).await?;
                }
                Ok(())
            })
        })
        .await
}

/// Ends the mutes whose time is over.
pub(crate) async fn end_over(
    tx: &mut Tx,
    control: &Control,
    context: &AuditContext,
    now: Timestamp,
) -> Result<(), StoreError> {
    let all = mutes::list(tx).await?.into_iter();
    for mute in all.filter(|mute| !mute.holds_at(now)) {
        if mutes::end(tx, mute.id, mute.until, &context.actor).await? {
            record(tx, context, &mute, "mute.ended", now).await?;
            alerts::after_mute(tx, control, &mute, now).await?;
        }
    }
    Ok(())
}

/// Nothing that an older copy of the database says is muted: it may have been lifted since.
pub(crate) async fn lift_all(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
) -> Result<(), StoreError> {
    for mute in mutes::list(tx).await? {
        if mutes::end(tx, mute.id, at, &context.actor).await? {
            record(tx, context, &mute, "mute.lifted", at).await?;
        }
    }
    Ok(())
}

/// On the record, and to whoever listens.
async fn record(
    tx: &mut Tx,
    context: &AuditContext,
    mute: &Mute,
    verb: &'static str,
    at: Timestamp,
) -> Result<(), StoreError> {
    let subject = mute.subject.to_string();
    let mut detail = Map::new();
    detail.insert("mute".to_owned(), json!(mute.id));
    detail.insert("subject".to_owned(), json!(subject));
    detail.insert("until".to_owned(), json!(mute.until));
    facts::tell(&mut detail, "reason", &text::escaped(&mute.reason));
    let detail = Value::Object(detail);
    facts::audit(tx, context, at, verb, Some(subject.clone()), detail).await?;
    let event = NewEvent {
        kind: EventKind::MuteChanged,
        audience: Audience::OwnerOnly,
        payload: json!({
            "mute": mute.id, "subject": subject, "what": verb, "until": mute.until, "at": at,
        }),
    };
    events::append(tx, at, &event).await?;
    Ok(())
}
