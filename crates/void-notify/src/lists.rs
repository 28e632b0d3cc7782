//! How it stands with telling the owner: every place, and what was put aside.

use serde_json::json;
use void_control::Ctx;
use void_control::facts;
use void_control::outbox;
use void_domain::ids::NotificationId;
use void_domain::notifications::{Channel, Delivery, Target};
use void_domain::time::Timestamp;
use void_store::notifications::{self, pairs};
use void_store::{StoreError, Tx};

use crate::notifications::Notifications;
use crate::notifiers::{ChannelStanding, Way};

const FAILED_SHOWN: u32 = 100;

/// One place where the owner is told.
#[derive(Debug, Clone)]
pub struct NotificationPlace {
    pub channel: Channel,
    /// `None`: set up, but nobody is paired yet.
    pub target: Option<Target>,
    /// What the account calls itself, or the address.
    pub name: String,
    pub paired_at: Option<Timestamp>,
    pub waiting: u64,
    pub failed: u64,
    pub last_sent_at: Option<Timestamp>,
    /// What is wrong with it now.
    pub problem: Option<ChannelProblem>,
}

#[derive(Debug, Clone)]
pub struct ChannelProblem {
    pub why: String,
    pub since: Timestamp,
}

#[derive(Debug, Clone)]
pub struct Listing {
    pub places: Vec<NotificationPlace>,
    pub failed: Vec<Delivery>,
    /// Proposals that wait without anybody knowing.
    pub untold: u64,
    /// Services that are down without anybody knowing.
    pub untold_services: u64,
}

/// Whether anybody hears of anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// Places that are told: paired accounts, a topic, programs.
    pub places: u64,
    /// Services that are down and that nobody could be told of.
    pub untold_services: u64,
}

/// Read once until anybody commits: settings do not change while the server runs.
pub async fn reach(notify: &Notifications) -> Result<Reach, StoreError> {
    let outbox = notify.notifiers.outbox();
    let read = notify.store().read(move |tx| {
        Box::pin(async move {
            Ok::<_, StoreError>(Reach {
                places: outbox::count_places(tx, &outbox).await?,
                untold_services: notifications::alerts::count_untold(tx).await?,
            })
        })
    });
    Ok(*notify.control().read_once(read).await?)
}

pub async fn list(notify: &Notifications) -> Result<Listing, StoreError> {
    let this = notify.clone();
    notify
        .store()
        .read(move |tx| {
            Box::pin(async move {
                Ok(Listing {
                    places: places(tx, &this).await?,
                    failed: notifications::list_failed(tx, FAILED_SHOWN).await?,
                    untold: notifications::count_untold(tx).await?,
                    untold_services: notifications::alerts::count_untold(tx).await?,
                })
            })
        })
        .await
}

async fn places(tx: &mut Tx, notify: &Notifications) -> Result<Vec<NotificationPlace>, StoreError> {
    let mut places = Vec::new();
    if let Some(bot) = notify.notifiers.telegram() {
        let pairs = pairs::list(tx).await?;
        let mut targets: Vec<Target> = bot.allowed_targets();
        if targets.is_empty() {
            targets.extend(pairs.iter().map(|pair| pair.target.clone()));
        }
        for target in &targets {
            let pair = pairs.iter().find(|pair| pair.target == *target);
            let name = pair.map_or("not paired, allowed by the settings", |pair| &pair.name);
            let mut place = place(tx, notify, target, name.to_owned()).await?;
            place.paired_at = pair.map(|pair| pair.paired_at);
            places.push(place);
        }
        if targets.is_empty() {
            places.push(NotificationPlace {
                channel: Channel::Telegram,
                target: None,
                name: "nobody is paired yet".to_owned(),
                paired_at: None,
                waiting: 0,
                failed: 0,
                last_sent_at: None,
                problem: problem(notify, &Way::Polling),
            });
        }
    }
    if let Some(ntfy) = notify.notifiers.ntfy() {
        places.push(place(tx, notify, &Target::Ntfy, ntfy.address()).await?);
    }
    for webhook in notify
        .notifiers
        .ways()
        .into_iter()
        .flat_map(|ways| &ways.webhooks)
    {
        let name = webhook.name().to_owned();
        let target = Target::Webhook { name: name.clone() };
        places.push(place(tx, notify, &target, name).await?);
    }
    Ok(places)
}

async fn place(
    tx: &mut Tx,
    notify: &Notifications,
    target: &Target,
    name: String,
) -> Result<NotificationPlace, StoreError> {
    let (waiting, failed, last_sent_at) = notifications::standing(tx, target).await?;
    Ok(NotificationPlace {
        channel: target.channel(),
        target: Some(target.clone()),
        name,
        paired_at: None,
        waiting,
        failed,
        last_sent_at,
        // Who cannot be heard cannot answer: that comes first.
        problem: (target.channel() == Channel::Telegram)
            .then(|| problem(notify, &Way::Polling))
            .flatten()
            .or_else(|| problem(notify, &Way::To(target.clone()))),
    })
}

fn problem(notify: &Notifications, way: &Way) -> Option<ChannelProblem> {
    match notify.notifiers.standings()?.get(way)? {
        ChannelStanding::Works { .. } => None,
        ChannelStanding::Broken { since, why } => Some(ChannelProblem { why, since }),
    }
}

/// Tries something again that was put aside. `false`: it was not.
pub async fn retry(
    notify: &Notifications,
    ctx: &Ctx,
    id: NotificationId,
) -> Result<bool, StoreError> {
    let (context, at) = (notify.control().context(ctx), notify.now());
    notify
        .store()
        .write(move |tx| {
            Box::pin(async move {
                if !notifications::retry(tx, id, at).await? {
                    return Ok(false);
                }
                let detail = json!({"notification": id});
                facts::audit(tx, &context, at, "notification.retried", None, detail).await?;
                Ok(true)
            })
        })
        .await
}
