//! The ways to the owner: clients of Telegram, ntfy and webhooks, made from the settings. What is sent by them,
//! and what is heard, is in the modules beside this one.

mod http;
mod ntfy;
mod send_limits;
mod standing;
mod telegram;
mod webhooks;

use std::sync::Arc;
use std::time::Duration;

use void_control::outbox::{Outbox, Places, TelegramPlaces};
use void_domain::alerts::Alert;
use void_domain::notifications::{Channel, QuietHours, Target, Zone};
use void_domain::secrets::Secret;
use void_store::StoreError;

pub(crate) use ntfy::Ntfy;
pub use ntfy::NtfyConfig;
use send_limits::SendLimits;
pub(crate) use standing::{ChannelStanding, Standings, Way};
pub use telegram::{API_URL as TELEGRAM_API_URL, TelegramConfig};
pub(crate) use telegram::{Bot, CallError, PATIENCE};
pub use webhooks::WebhookConfig;

pub(crate) struct Receipt {
    /// What the other side calls the message.
    pub message_ref: Option<String>,
    /// How long nothing new is said there.
    pub again_after: Duration,
}

pub(crate) enum SendError {
    /// There is nothing to say any more.
    Nothing,
    /// The other side asks for a pause; this is no failure.
    Pause(Duration),
    Later(String),
    /// Trying again would not help.
    Never(String),
    Store(StoreError),
}

impl From<StoreError> for SendError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

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
    pub(crate) ways: Option<Arc<Ways>>,
    /// The owner's clock, for whatever the server writes itself.
    pub(crate) zone: Zone,
}

impl Default for Notifiers {
    fn default() -> Self {
        Self {
            ways: None,
            zone: Zone::UTC,
        }
    }
}

pub(crate) struct Ways {
    pub(crate) telegram: Option<Bot>,
    pub(crate) ntfy: Option<Ntfy>,
    pub(crate) webhooks: Vec<webhooks::Webhook>,
    pub(crate) public_url: Option<String>,
    pub(crate) outbox: Outbox,
    pub(crate) standings: Standings,
    pub(crate) send_limits: [(Channel, SendLimits); 3],
}

impl Notifiers {
    pub fn new(config: NotificationsConfig) -> Result<Self, InvalidNotifier> {
        if config.telegram.is_none() && config.ntfy.is_none() && config.webhooks.is_empty() {
            return Ok(Self {
                ways: None,
                zone: config.zone,
            });
        }
        let telegram = config.telegram.map(Bot::new).transpose()?;
        let ntfy = config.ntfy.map(Ntfy::new).transpose()?;
        let webhooks = webhooks::all(config.webhooks)?;
        let outbox = Outbox::new(Places {
            telegram: telegram.as_ref().map(|bot| TelegramPlaces {
                users: bot.allowed_users().to_vec(),
                approvals_per_day: bot.approvals_per_day(),
            }),
            ntfy: ntfy.is_some(),
            webhooks: webhooks.iter().map(|hook| hook.name().to_owned()).collect(),
            quiet: config.quiet,
        });
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

    /// The places, for the control plane that writes what is to be told there.
    pub fn outbox(&self) -> Outbox {
        self.ways
            .as_ref()
            .map(|ways| ways.outbox.clone())
            .unwrap_or_default()
    }

    pub(crate) fn ways(&self) -> Option<&Ways> {
        self.ways.as_deref()
    }

    pub(crate) fn telegram(&self) -> Option<&Bot> {
        self.ways()?.telegram.as_ref()
    }

    pub(crate) fn ntfy(&self) -> Option<&Ntfy> {
        self.ways()?.ntfy.as_ref()
    }

    pub(crate) fn webhook(&self, name: &str) -> Option<&webhooks::Webhook> {
        let mut webhooks = self.ways()?.webhooks.iter();
        webhooks.find(|webhook| webhook.name() == name)
    }

    /// The address of a proposal on the web, if the owner has one.
    pub(crate) fn link(&self, code: &str) -> Option<String> {
        let base = self.ways()?.public_url.as_ref()?;
        Some(format!("{base}/inbox/{code}"))
    }

    /// Where everything that waits is on the web.
    pub(crate) fn inbox_link(&self) -> Option<String> {
        self.public_url().map(|url| format!("{url}/#/inbox"))
    }

    /// Where an alert is looked at on the web.
    pub(crate) fn alert_link(&self, alert: &Alert) -> Option<String> {
        let base = self.ways()?.public_url.as_ref()?;
        Some(match alert.named.as_slice() {
            [only] if alert.total == 1 => format!("{base}/#/lab/services/{}", only.service),
            _ => format!("{base}/#/home"),
        })
    }

    pub(crate) fn public_url(&self) -> Option<&str> {
        self.ways()?.public_url.as_deref()
    }

    pub(crate) fn standings(&self) -> Option<&Standings> {
        self.ways().map(|ways| &ways.standings)
    }

    pub(crate) fn send_limits(&self, channel: Channel) -> Option<&SendLimits> {
        let mut send_limits = self.ways()?.send_limits.iter();
        send_limits
            .find(|(known, _)| *known == channel)
            .map(|(_, send_limits)| send_limits)
    }

    /// Whether one message may be sent there now; if so, it counts.
    pub(crate) fn may_send(&self, target: &Target) -> bool {
        self.send_limits(target.channel())
            .is_none_or(|send_limits| send_limits.take(target))
    }

    /// The other side asked for it.
    pub(crate) fn pause(&self, channel: Channel, pause: Duration) {
        if let Some(send_limits) = self.send_limits(channel) {
            send_limits.pause(pause);
        }
    }

    pub(crate) fn channels(&self) -> Vec<Channel> {
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

/// A secret that may stand in an address or a header.
pub(crate) fn is_plain_token(secret: &Secret) -> bool {
    let text = secret.expose();
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}
