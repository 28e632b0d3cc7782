//! Sends what the outbox holds, one loop per channel, on the one instance that holds the lease.
//!
//! A message may arrive twice if Void ends between sending and noting it; it is never forgotten.

use std::time::Duration;

use serde_json::json;
use tokio::sync::watch;
use void_control::outbox;
use void_control::{facts, random};
use void_domain::events::{Audience, EventKind};
use void_domain::fail_point;
use void_domain::ids::ProposalId;
use void_domain::notifications::{
    ALERTS_PER_HOUR_MAX, Channel, Content, DIGEST_FOLLOWED_FOR, DIGEST_GROWS_FOR, Delivery,
    SEPARATE_MAX, SEPARATE_PER_MINUTE_MAX, TRIES_MAX, Target, pause_after,
};
use void_domain::text;
use void_domain::time::Timestamp;
use void_store::notifications::{self, Kinds, New};
use void_store::{StoreError, Tx};

use crate::contents::ERROR_BYTES_MAX;
use crate::notifications::{Notifications, is_known};
use crate::notifiers::Way;
use crate::notifiers::{Receipt, SendError};
use crate::{ntfy, rollbacks, telegram, webhooks};

/// How many are looked at in one round.
const ROUND: u32 = 100;
/// Whatever else is committed while one waits this long is sent in the same round.
const GATHER: Duration = Duration::from_millis(50);
/// Retries and ends of quiet hours come due without anybody committing anything.
const LOOK_EVERY: Duration = Duration::from_millis(250);
const LEASE_LASTS: Duration = Duration::from_secs(15);
const LEASE_EVERY: Duration = Duration::from_secs(5);

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

pub(super) fn start(notify: &Notifications) -> Result<(), StoreError> {
    let holds = watch::Sender::new(false);
    for channel in notify.notifiers.channels() {
        tokio::spawn(send_all(notify.clone(), channel, holds.subscribe()));
    }
    if notify.notifiers.telegram().is_some() {
        tokio::spawn(telegram::listen(notify.clone(), holds.subscribe()));
    }
    tokio::spawn(rollbacks::tell_all(notify.clone(), holds.subscribe()));
    let holder = random::request_id(notify.now())?.to_string();
    tokio::spawn(keep_lease(notify.clone(), holder, holds));
    Ok(())
}

/// Asks for the lease again and again; whoever stops gives it back. A SQLite file has one process, which
/// need not ask.
async fn keep_lease(notify: Notifications, holder: String, holds: watch::Sender<bool>) {
    let mut stopping = notify.control().stopping();
    loop {
        let held = notify.store().is_sqlite() || ask_for_lease(&notify, &holder).await;
        let is_new = held && !*holds.borrow();
        if is_new && let Err(error) = tell_waiting(&notify).await {
            tracing::warn!(%error, "what waits already could not be noted for telling");
        }
        holds.send_replace(held);
        let stopped = tokio::select! {
            () = tokio::time::sleep(LEASE_EVERY) => false,
            _ = stopping.wait_for(|stop| *stop) => true,
        };
        if stopped {
            break;
        }
    }
    holds.send_replace(false);
    let _: Result<(), StoreError> = notify
        .store()
        .write_closing(move |tx| {
            Box::pin(async move { notifications::release_lease(tx, &holder).await })
        })
        .await;
}

async fn ask_for_lease(notify: &Notifications, holder: &str) -> bool {
    let (now, holder) = (notify.now(), holder.to_owned());
    let asked: Result<bool, StoreError> = notify
        .store()
        .write_closing(move |tx| {
            Box::pin(async move {
                notifications::hold_lease(tx, &holder, now, now.plus(LEASE_LASTS)).await
            })
        })
        .await;
    asked.unwrap_or(false)
}

/// What was asked for before this way to the owner was set up is told now.
async fn tell_waiting(notify: &Notifications) -> Result<(), StoreError> {
    let (outbox, now) = (notify.notifiers.outbox(), notify.now());
    notify
        .store()
        .write(move |tx| {
            Box::pin(async move { outbox::tell_everybody_waiting(tx, &outbox, now).await })
        })
        .await
}

async fn send_all(notify: Notifications, channel: Channel, mut holds: watch::Receiver<bool>) {
    let mut committed = notify.store().committed();
    let mut stopping = notify.control().stopping();
    loop {
        let stopped = tokio::select! {
            changed = committed.changed() => changed.is_err(),
            () = tokio::time::sleep(LOOK_EVERY) => false,
            _ = stopping.wait_for(|stop| *stop) => true,
        };
        if stopped {
            return;
        }
        tokio::time::sleep(GATHER).await;
        let is_ours = *holds.borrow_and_update();
        if is_ours && let Err(error) = round(&notify, channel).await {
            tracing::warn!(%error, channel = channel.as_str(), "the outbox could not be read or written; it is tried again");
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

/// Sends what is due and may be sent now; the rest is looked at in the next round.
async fn round(notify: &Notifications, channel: Channel) -> Result<(), StoreError> {
    let now = notify.now();
    let due = notify
        .store()
        .read(move |tx| Box::pin(notifications::list_due(tx, channel, now, ROUND)))
        .await?;
    let mut gathered: Vec<Target> = Vec::new();
    for delivery in due {
        if gathered.contains(&delivery.target) && delivery.shown == 0 {
            continue;
        }
        if let Some(kinds) = kinds_of(&delivery)
            && gather(notify, &delivery.target, kinds).await?
        {
            gathered.push(delivery.target);
            continue;
        }
        if !is_known(notify, &delivery.target) {
            let error = SendError::Never("the settings no longer name this place".to_owned());
            record_failure(notify, &delivery, error).await?;
        } else if notify.notifiers.may_send(&delivery.target) {
            deliver(notify, &delivery).await?;
        }
    }
    Ok(())
}

/// What may become part of a digest, if it is new: for a person, and not said before.
fn kinds_of(delivery: &Delivery) -> Option<Kinds> {
    match delivery.content {
        _ if delivery.shown > 0 => None,
        Content::Message(_) => Some(Kinds::All),
        Content::Alert(_) => {
            let is_new = delivery.message_ref.is_none();
            (is_new && delivery.target.channel() != Channel::Webhook).then_some(Kinds::Alerts)
        }
        // Each is asked on its own; how many an agent may ask is bounded.
        Content::Event(..) | Content::Digest | Content::Question(_) => None,
    }
}

/// Many new messages for one place become one. Whether they did.
async fn gather(notify: &Notifications, target: &Target, kinds: Kinds) -> Result<bool, StoreError> {
    let (now, target) = (notify.now(), target.clone());
    let looked = target.clone();
    let many = notify
        .store()
        .read(move |tx| Box::pin(async move { many(tx, &looked, kinds, now).await }))
        .await?;
    let Some(kinds) = many else {
        return Ok(false);
    };
    let id = random::notification_id(now)?;
    notify
        .store()
        .write_closing(move |tx| {
            Box::pin(async move {
                let since = now.minus(DIGEST_GROWS_FOR);
                let open = notifications::find_open_digest(tx, &target, since, kinds).await?;
                let digest = match open {
                    Some((open, _)) => open,
                    None => {
                        let new = New {
                            id,
                            target: target.clone(),
                            content: Content::Digest,
                            seq: 0,
                            at: now,
                            not_before: now,
                        };
                        notifications::insert(tx, &new).await?;
                        id
                    }
                };
                notifications::gather(tx, &target, digest, now, kinds).await?;
                Ok::<_, StoreError>(true)
            })
        })
        .await
}

/// What of the new at a place is too much to be said one by one. What is down takes nothing with it that
/// waits for a decision; what quiet hours kept back comes together.
async fn many(
    tx: &mut Tx,
    target: &Target,
    kinds: Kinds,
    now: Timestamp,
) -> Result<Option<Kinds>, StoreError> {
    let (fresh, held) = notifications::count_fresh(tx, target, now).await?;
    if held > 1 {
        return Ok(Some(Kinds::All));
    }
    let fresh = match kinds {
        Kinds::All => fresh,
        Kinds::Alerts => notifications::alerts::count_fresh(tx, target, now).await?,
    };
    if fresh > SEPARATE_MAX as u64 {
        return Ok(Some(kinds));
    }
    let since = now.minus(DIGEST_FOLLOWED_FOR);
    let open = notifications::find_open_digest(tx, target, since, kinds).await?;
    if open.is_some() || are_too_often(tx, target, kinds, now).await? {
        return Ok(Some(kinds));
    }
    Ok(None)
}

async fn are_too_often(
    tx: &mut Tx,
    target: &Target,
    kinds: Kinds,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let (minute_ago, hour_ago) = (now.minus(MINUTE), now.minus(HOUR));
    if kinds == Kinds::All {
        let separate = notifications::count_separate(tx, target, minute_ago).await?;
        return Ok(separate >= SEPARATE_PER_MINUTE_MAX);
    }
    let minute = notifications::alerts::count_separate(tx, target, minute_ago).await?;
    let hour = notifications::alerts::count_separate(tx, target, hour_ago).await?;
    Ok(minute >= SEPARATE_PER_MINUTE_MAX || hour >= ALERTS_PER_HOUR_MAX)
}

async fn deliver(notify: &Notifications, delivery: &Delivery) -> Result<(), StoreError> {
    fail_point!("notify.send.before");
    let sent = match &delivery.target {
        Target::Telegram { user } => telegram::deliver(notify, *user, delivery).await,
        Target::Ntfy => ntfy::deliver(notify, delivery).await,
        Target::Webhook { name } => webhooks::deliver(notify, name, delivery).await,
    };
    fail_point!("notify.send.after");
    match sent {
        Ok(receipt) => record_sent(notify, delivery, receipt).await,
        Err(error) => record_failure(notify, delivery, error).await,
    }
}

async fn record_sent(
    notify: &Notifications,
    delivery: &Delivery,
    receipt: Receipt,
) -> Result<(), StoreError> {
    let (id, shown, now) = (delivery.id, delivery.wanted, notify.now());
    let again_at = now.plus(receipt.again_after);
    if let Some(standings) = notify.notifiers.standings() {
        standings.works(Way::To(delivery.target.clone()), now);
    }
    notify
        .store()
        .write_closing(move |tx| {
            Box::pin(async move {
                let message_ref = receipt.message_ref.as_deref();
                notifications::record_sent(tx, id, shown, message_ref, now, again_at).await
            })
        })
        .await
}

async fn record_failure(
    notify: &Notifications,
    delivery: &Delivery,
    error: SendError,
) -> Result<(), StoreError> {
    let (id, now) = (delivery.id, notify.now());
    let (why, next_at) = match error {
        SendError::Store(error) => return Err(error),
        SendError::Pause(pause) => {
            notify.notifiers.pause(delivery.target.channel(), pause);
            return Ok(());
        }
        SendError::Nothing => {
            return notify
                .store()
                .write_closing(move |tx| {
                    Box::pin(async move { notifications::drop_unsaid(tx, id).await.map(|_| ()) })
                })
                .await;
        }
        SendError::Later(why) if delivery.tries + 1 < TRIES_MAX => {
            (why, Some(now.plus(pause_after(delivery.tries + 1, None))))
        }
        SendError::Later(why) | SendError::Never(why) => (why, None),
    };
    let why = text::escaped(text::cut(&why, ERROR_BYTES_MAX));
    if let Some(standings) = notify.notifiers.standings() {
        standings.is_broken(Way::To(delivery.target.clone()), now, &why);
    }
    write_failure(notify, delivery, why, next_at).await
}

/// What is put aside is on the record, and whoever listens hears of it.
async fn write_failure(
    notify: &Notifications,
    delivery: &Delivery,
    why: String,
    next_at: Option<Timestamp>,
) -> Result<(), StoreError> {
    let (id, target) = (delivery.id, delivery.target.to_string());
    let about = about(delivery);
    let (now, context) = (
        notify.now(),
        notify.control().context(&notify.control().system_ctx()?),
    );
    notify
        .store()
        .write_closing(move |tx| {
            Box::pin(async move {
                notifications::record_failed(tx, id, &why, next_at).await?;
                if next_at.is_some() {
                    return Ok(());
                }
                let detail = json!({"notification": id, "target": target, "why": why});
                let subject = about.map(|id| id.to_string());
                let fact = (EventKind::NotificationFailed.as_str(), subject, detail);
                facts::tell_of(tx, &context, now, Audience::OwnerOnly, fact).await
            })
        })
        .await
}

const fn about(delivery: &Delivery) -> Option<ProposalId> {
    match delivery.content {
        Content::Message(id) | Content::Event(id, _) => Some(id),
        Content::Digest | Content::Alert(_) | Content::Question(_) => None,
    }
}
