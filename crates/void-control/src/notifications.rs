//! Telling the owner, and hearing back.
//!
//! What is to be told is written by the transaction that causes it (`outbox`) and sent afterwards by
//! the one instance that holds the lease (`worker`). What comes back carries a random key and nothing
//! else; what it stands for is looked up here (`keys`), who sent it is checked by one gate per
//! channel, and the decision goes through the same use case as every other.

mod acts;
mod allowances;
mod http;
pub(crate) mod keys;
mod lists;
mod ntfy;
pub(crate) mod outbox;
mod pairs;
pub(crate) mod rollbacks;
mod send_limits;
mod standing;
mod telegram;
mod trials;
mod webhooks;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use void_domain::alerts::Alert;
use void_domain::notifications::messages::Frame;
use void_domain::notifications::{Channel, QuietHours, Target, Zone};
use void_domain::secrets::Secret;
use void_domain::time::Timestamp;
use void_store::{StoreError, audit};

use crate::control::Control;

pub use acts::{ActError, Acted, act_by_token};
pub(crate) use allowances::allowance;
pub use lists::{Listing, NotificationPlace, Problem, Reach, list, reach, retry};
pub use ntfy::NtfyConfig;
use outbox::Outbox;
pub use pairs::{Invitation, PairError, invite, unpair};
use send_limits::SendLimits;
use standing::Standings;
pub use telegram::{API_URL as TELEGRAM_API_URL, TelegramConfig};
pub use trials::{Tried, try_out};
pub use webhooks::WebhookConfig;

/// Everything that the settings say about telling the owner.
#[derive(Clone)]
pub struct NotificationsConfig {
    pub telegram: Option<TelegramConfig>,
    pub ntfy: Option<NtfyConfig>,
    pub webhooks: Vec<WebhookConfig>,
    pub quiet: Option<QuietHours>,
    /// In which times of day are written.
    pub zone: Zone,
    /// Where the owner's browser and phone reach Void; without it messages have no links.
    pub public_url: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidNotifier {
    #[error("{0} begins with http:// or https://, names a host, and has no user name, ? or #")]
    Address(&'static str),
    #[error("the ntfy address ends with a topic: https://ntfy.sh/my-topic")]
    Topic,
    #[error("ntfy may only approve on a topic that needs a token to read; set ntfy.token")]
    OpenTopic,
    #[error("a webhook's name is 1 to 64 of a-z, 0-9 and -, and no two have the same")]
    WebhookName,
    #[error("{0} has characters that no header can carry")]
    Token(&'static str),
    #[error("a bot's token looks like 123456:ABC-DEF")]
    BotToken,
    #[error("the HTTP client cannot start; is the proxy's address right?")]
    Client,
}

/// The ways to the owner, ready to be used. None of them by default.
#[derive(Clone)]
pub struct Notifiers {
    ways: Option<Arc<Ways>>,
    /// The owner's clock, for whatever the server writes itself.
    zone: Zone,
}

impl Default for Notifiers {
    fn default() -> Self {
        Self {
            ways: None,
            zone: Zone::UTC,
        }
    }
}

struct Ways {
    telegram: Option<telegram::Bot>,
    ntfy: Option<ntfy::Ntfy>,
    webhooks: Vec<webhooks::Webhook>,
    public_url: Option<String>,
    outbox: Outbox,
    standings: Standings,
    send_limits: [(Channel, SendLimits); 3],
}

impl Notifiers {
    pub fn new(config: NotificationsConfig) -> Result<Self, InvalidNotifier> {
        if config.telegram.is_none() && config.ntfy.is_none() && config.webhooks.is_empty() {
            return Ok(Self {
                ways: None,
                zone: config.zone,
            });
        }
        let telegram = config.telegram.map(telegram::Bot::new).transpose()?;
        let ntfy = config.ntfy.map(ntfy::Ntfy::new).transpose()?;
        let webhooks = webhooks::all(config.webhooks)?;
        let outbox = Outbox::new(
            telegram.as_ref().map(|bot| bot.allowed_users().to_vec()),
            ntfy.is_some(),
            webhooks.iter().map(|hook| hook.name().to_owned()).collect(),
            config.quiet,
        );
        let public_url = config
            .public_url
            .map(|url| url.trim_end_matches('/').to_owned());
        let ways = Ways {
            telegram,
            ntfy,
            webhooks,
            public_url,
            outbox,
            standings: Standings::default(),
            send_limits: Channel::ALL.map(|channel| (channel, SendLimits::of(channel))),
        };
        Ok(Self {
            ways: Some(Arc::new(ways)),
            zone: config.zone,
        })
    }

    pub(crate) fn outbox(&self) -> Outbox {
        self.ways
            .as_ref()
            .map(|ways| ways.outbox.clone())
            .unwrap_or_default()
    }

    /// Whether there is any way to tell.
    pub(crate) fn tells(&self) -> bool {
        self.ways.is_some()
    }

    fn ways(&self) -> Option<&Ways> {
        self.ways.as_deref()
    }

    fn telegram(&self) -> Option<&telegram::Bot> {
        self.ways()?.telegram.as_ref()
    }

    fn ntfy(&self) -> Option<&ntfy::Ntfy> {
        self.ways()?.ntfy.as_ref()
    }

    fn webhook(&self, name: &str) -> Option<&webhooks::Webhook> {
        let mut webhooks = self.ways()?.webhooks.iter();
        webhooks.find(|webhook| webhook.name() == name)
    }

    /// The address of a proposal on the web, if the owner has one.
    fn link(&self, code: &str) -> Option<String> {
        let base = self.ways()?.public_url.as_ref()?;
        Some(format!("{base}/inbox/{code}"))
    }

    /// Where an alert is looked at on the web.
    fn alert_link(&self, alert: &Alert) -> Option<String> {
        let base = self.ways()?.public_url.as_ref()?;
        Some(match alert.named.as_slice() {
            [only] if alert.total == 1 => format!("{base}/#/lab/services/{}", only.service),
            _ => format!("{base}/#/home"),
        })
    }

    fn public_url(&self) -> Option<&str> {
        self.ways()?.public_url.as_deref()
    }

    fn standings(&self) -> Option<&Standings> {
        self.ways().map(|ways| &ways.standings)
    }

    fn send_limits(&self, channel: Channel) -> Option<&SendLimits> {
        let mut send_limits = self.ways()?.send_limits.iter();
        send_limits
            .find(|(known, _)| *known == channel)
            .map(|(_, send_limits)| send_limits)
    }

    /// Whether one message may be sent there now; if so, it counts.
    fn may_send(&self, target: &Target) -> bool {
        self.send_limits(target.channel())
            .is_none_or(|send_limits| send_limits.take(target))
    }

    /// The other side asked for it.
    fn pause(&self, channel: Channel, pause: Duration) {
        if let Some(send_limits) = self.send_limits(channel) {
            send_limits.pause(pause);
        }
    }

    fn channels(&self) -> Vec<Channel> {
        let Some(ways) = self.ways() else {
            return Vec::new();
        };
        let has = |channel: &Channel| match channel {
            Channel::Telegram => ways.telegram.is_some(),
            Channel::Ntfy => ways.ntfy.is_some(),
            Channel::Webhook => !ways.webhooks.is_empty(),
        };
        Channel::ALL.into_iter().filter(has).collect()
    }
}

/// Begins to send and to listen, if there is anything to send to.
pub(crate) fn start(control: &Control) -> Result<(), StoreError> {
    if let Some(bot) = control.notifiers.telegram() {
        // The policy in force, said once where somebody can compare it with what they meant.
        tracing::info!(
            users = %bot.policy_words(),
            "telegram: private chats only; critical is never approved there"
        );
    }
    if !control.notifiers.channels().is_empty() {
        worker::start(control)?;
    }
    Ok(())
}

/// Drops what nobody can use any more.
pub(crate) async fn forget_old(control: &Control) -> Result<(), StoreError> {
    if !control.notifiers.tells() {
        return Ok(());
    }
    keys::forget_old(control).await
}

/// A moment by the owner's clock, with its zone, as a page shows it that has no clock of its own.
pub fn moment(control: &Control, at: Timestamp) -> String {
    void_domain::notifications::moment(at, &control.notifiers.zone)
}

/// What every message needs beside its proposal.
async fn frame(control: &Control) -> Result<Frame, StoreError> {
    let head = control.store.read(|tx| Box::pin(audit::head(tx))).await?;
    Ok(Frame {
        zone: control.notifiers.zone.clone(),
        rehearsal: control.rehearsal,
        head: Some(head),
    })
}

/// A secret that may stand in an address or a header.
fn is_plain_token(secret: &Secret) -> bool {
    let text = secret.expose();
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// A target of this installation, or `None` for one that the settings no longer know.
fn is_known(control: &Control, target: &Target) -> bool {
    match target {
        Target::Telegram { .. } => control.notifiers.telegram().is_some(),
        Target::Ntfy => control.notifiers.ntfy().is_some(),
        Target::Webhook { name } => control.notifiers.webhook(name).is_some(),
    }
}
