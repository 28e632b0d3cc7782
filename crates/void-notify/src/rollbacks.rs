//! Tells the owner that the database went back (I38): on every channel, at once, also in quiet hours.
//!
//! The outbox cannot carry this: its tables are what went back. What is to be told is the entry
//! `store.rolled_back` of the record, and `notification.alerted` says that it was told; so a restart in
//! between tells it again rather than never. One instance alone tells, as with every message (`worker`).

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use void_control::{ROLLBACK_SUBJECT, ROLLED_BACK, facts, random};
use void_domain::audit::AuditEntry;
use void_domain::notifications::{RolledBack, TRIES_MAX, Target, messages, pause_after};
use void_domain::text;
use void_domain::time::Timestamp;
use void_store::audit::{self, AuditFilter};
use void_store::notifications::pairs;
use void_store::{StoreError, Tx};

use crate::contents::ERROR_BYTES_MAX;
use crate::notifications::{Notifications, frame};
use crate::notifiers::SendError;
use crate::notifiers::Way;
use crate::{ntfy, telegram};

const ALERTED: &str = "notification.alerted";

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// More rollbacks than this at once are told as the newest of them.
const LOOKED_BACK: u32 = 20;

/// What is being told, and to whom it still has to be.
struct Alert {
    entry: u64,
    rolled_back: RolledBack,
    /// The same for every try at a webhook.
    delivery: String,
    left: Vec<Waiting>,
    told: Vec<String>,
    failed: Vec<String>,
}

struct Waiting {
    target: Target,
    tries: u32,
    next_at: Timestamp,
}

pub(super) async fn tell_all(notify: Notifications, holds: watch::Receiver<bool>) {
    let mut stopping = notify.control().stopping();
    let mut open: Option<Alert> = None;
    loop {
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            _ = stopping.wait_for(|stop| *stop) => return,
        }
        if !*holds.borrow() {
            // Whoever sends now finds the same on the record.
            open = None;
            continue;
        }
        if let Err(error) = step(&notify, &mut open).await {
            tracing::warn!(%error, "the owner could not be told of a rollback; it is tried again");
        }
    }
}

async fn step(notify: &Notifications, open: &mut Option<Alert>) -> Result<(), StoreError> {
    if let Some((entry, rolled_back)) = find_untold(notify).await?
        && open.as_ref().is_none_or(|alert| alert.entry < entry)
    {
        *open = Some(begin(notify, entry, rolled_back).await?);
    }
    let Some(alert) = open else {
        return Ok(());
    };
    let now = notify.now();
    for mut waiting in std::mem::take(&mut alert.left) {
        if waiting.next_at > now || !notify.notifiers.may_send(&waiting.target) {
            alert.left.push(waiting);
            continue;
        }
        match send(notify, &waiting.target, alert.rolled_back, &alert.delivery).await {
            Ok(()) => alert.told.push(waiting.target.to_string()),
            Err(SendError::Store(error)) => {
                alert.left.push(waiting);
                return Err(error);
            }
            Err(SendError::Pause(pause)) => {
                notify.notifiers.pause(waiting.target.channel(), pause);
                alert.left.push(waiting);
            }
            Err(SendError::Later(why)) if waiting.tries + 1 < TRIES_MAX => {
                note_broken(notify, &waiting.target, &why);
                waiting.tries += 1;
                waiting.next_at = now.plus(pause_after(waiting.tries, None));
                alert.left.push(waiting);
            }
            Err(SendError::Later(why) | SendError::Never(why)) => {
                note_broken(notify, &waiting.target, &why);
                alert.failed.push(waiting.target.to_string());
            }
            Err(SendError::Nothing) => {}
        }
    }
    if alert.left.is_empty() {
        record(notify, alert).await?;
        *open = None;
    }
    Ok(())
}

async fn begin(
    notify: &Notifications,
    entry: u64,
    rolled_back: RolledBack,
) -> Result<Alert, StoreError> {
    let (this, now) = (notify.clone(), notify.now());
    let targets = notify
        .store()
        .read(move |tx| Box::pin(async move { targets(tx, &this).await }))
        .await?;
    let waiting = |target| Waiting {
        target,
        tries: 0,
        next_at: now,
    };
    Ok(Alert {
        entry,
        rolled_back,
        delivery: random::notification_id(now)?.to_string(),
        left: targets.into_iter().map(waiting).collect(),
        told: Vec::new(),
        failed: Vec::new(),
    })
}

/// Everywhere. Accounts that are in quarantine because of this very rollback are told as well: an owner who
/// has only a paired phone would hear of it nowhere else, and a message without buttons gives no authority.
async fn targets(tx: &mut Tx, notify: &Notifications) -> Result<Vec<Target>, StoreError> {
    let mut targets = Vec::new();
    if let Some(bot) = notify.notifiers.telegram() {
        targets = bot.allowed_targets();
        if targets.is_empty() {
            let paired = pairs::list_with_quarantined(tx).await?;
            targets.extend(paired.into_iter().map(|pair| pair.target));
        }
    }
    if notify.notifiers.ntfy().is_some() {
        targets.push(Target::Ntfy);
    }
    let webhooks = notify.notifiers.ways().map(|ways| &ways.webhooks);
    targets.extend(
        webhooks
            .into_iter()
            .flatten()
            .map(|webhook| Target::Webhook {
                name: webhook.name().to_owned(),
            }),
    );
    Ok(targets)
}

/// The newest rollback on the record that nobody was told of.
async fn find_untold(notify: &Notifications) -> Result<Option<(u64, RolledBack)>, StoreError> {
    let filter = AuditFilter {
        subject: Some(ROLLBACK_SUBJECT.to_owned()),
        ..AuditFilter::default()
    };
    let newest = notify
        .store()
        .read(move |tx| Box::pin(async move { audit::list(tx, &filter, None, LOOKED_BACK).await }))
        .await?
        .items;
    let told = newest
        .iter()
        .find(|entry| entry.verb == ALERTED)
        .and_then(told_by);
    let mut untold = newest
        .iter()
        .take_while(|entry| entry.verb != ALERTED)
        .filter(|entry| entry.verb == ROLLED_BACK);
    let Some((entry, rolled_back)) = untold.find_map(|entry| Some((entry.seq, read(entry)?)))
    else {
        return Ok(None);
    };
    let is_told = told.is_some_and(|told| rolled_back.is_same_as(&told));
    Ok((!is_told).then_some((entry, rolled_back)))
}

fn read(entry: &AuditEntry) -> Option<RolledBack> {
    let detail: Value = serde_json::from_str(&entry.detail).ok()?;
    Some(RolledBack {
        noted_seq: detail.get("noted_seq").and_then(Value::as_u64),
        found_seq: detail.get("found_seq")?.as_u64()?,
        at: entry.at,
    })
}

/// What an entry says that the owner was told.
fn told_by(entry: &AuditEntry) -> Option<RolledBack> {
    let detail: Value = serde_json::from_str(&entry.detail).ok()?;
    let rolled_back_at = detail.get("rolled_back_at")?.as_str()?;
    Some(RolledBack {
        noted_seq: detail.get("noted_seq").and_then(Value::as_u64),
        found_seq: detail.get("found_seq")?.as_u64()?,
        at: Timestamp::parse_rfc3339(rolled_back_at)?,
    })
}

async fn send(
    notify: &Notifications,
    target: &Target,
    rolled_back: RolledBack,
    delivery: &str,
) -> Result<(), SendError> {
    let message = messages::rolled_back(&rolled_back, &frame(notify).await?);
    match target {
        Target::Telegram { user } => {
            telegram::send_text(notify, *user, &message.text()).await?;
        }
        Target::Ntfy => ntfy::alert(notify, &message).await?,
        Target::Webhook { name } => {
            let Some(webhook) = notify.notifiers.webhook(name) else {
                return Err(SendError::Nothing);
            };
            let now = notify.now();
            let body = json!({
                "type": ROLLED_BACK,
                "id": delivery,
                "at": rolled_back.at,
                "noted_seq": rolled_back.noted_seq,
                "found_seq": rolled_back.found_seq,
            });
            webhook.post(now, delivery, body.to_string()).await?;
        }
    }
    if let Some(standings) = notify.notifiers.standings() {
        standings.works(Way::To(target.clone()), notify.now());
    }
    Ok(())
}

fn note_broken(notify: &Notifications, target: &Target, why: &str) {
    if let Some(standings) = notify.notifiers.standings() {
        let why = text::escaped(text::cut(why, ERROR_BYTES_MAX));
        standings.is_broken(Way::To(target.clone()), notify.now(), &why);
    }
}

async fn record(notify: &Notifications, alert: &Alert) -> Result<(), StoreError> {
    let detail = json!({
        "entry": alert.entry,
        "noted_seq": alert.rolled_back.noted_seq,
        "found_seq": alert.rolled_back.found_seq,
        "rolled_back_at": alert.rolled_back.at,
        "targets": alert.told,
        "failed": alert.failed,
    });
    let (context, at) = (
        notify.control().context(&notify.control().system_ctx()?),
        notify.now(),
    );
    notify
        .store()
        .write_closing(move |tx| {
            Box::pin(async move {
                facts::audit(
                    tx,
                    &context,
                    at,
                    ALERTED,
                    Some(ROLLBACK_SUBJECT.to_owned()),
                    detail,
                )
                .await
            })
        })
        .await
}
