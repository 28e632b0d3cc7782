//! An app whose owner has a phone: a Bot API of the test's own, a paired account, and what it shows.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use void_control::Clock;
use void_domain::notifications::Zone;
use void_domain::secrets::Secret;
use void_notify::notifiers::{NotificationsConfig, TelegramConfig};
use void_testkit::eventually;
use void_testkit::telegram::{self, BotApi, Message, Phone};

use crate::apps::{App, Setup};

pub const OWNER: i64 = 4_711;
pub const STRANGER: i64 = 666;

pub fn nothing() -> NotificationsConfig {
    NotificationsConfig {
        telegram: None,
        ntfy: None,
        webhooks: Vec::new(),
        quiet: None,
        zone: Zone::UTC,
        public_url: None,
    }
}

pub fn bot(api_url: String) -> TelegramConfig {
    let _ = rustls::crypto::ring::default_provider().install_default();
    TelegramConfig {
        token: Secret::new(telegram::TOKEN),
        api_url,
        proxy: None,
        allowed_users: Vec::new(),
        may_approve: true,
        approvals_per_day: void_domain::limits::TELEGRAM_APPROVALS_PER_DAY,
        poll_for: Duration::from_secs(2),
    }
}

pub fn telegram(api: &BotApi) -> NotificationsConfig {
    NotificationsConfig {
        telegram: Some(bot(api.url())),
        public_url: Some("https://void.example.org".to_owned()),
        ..nothing()
    }
}

/// A paired phone in front of an app.
pub struct Rig {
    pub app: App,
    pub api: Arc<BotApi>,
    pub phone: Phone,
}

impl Rig {
    pub async fn up() -> Self {
        Self::with(Setup::default(), |config| config).await
    }

    /// One whose time stands still until the test moves it.
    pub async fn with_clock() -> Self {
        let setup = Setup {
            clock: Clock::manual(Clock::system().now()),
            ..Setup::default()
        };
        Self::with(setup, |config| config).await
    }

    pub async fn with(
        setup: Setup,
        change: impl FnOnce(NotificationsConfig) -> NotificationsConfig,
    ) -> Self {
        let api = Arc::new(BotApi::start());
        let notifications = change(telegram(&api));
        Self::on(api, setup, notifications).await
    }

    pub async fn on(api: Arc<BotApi>, setup: Setup, notifications: NotificationsConfig) -> Self {
        let app = Setup {
            notifications: Some(notifications),
            ..setup
        };
        let app = app.start().await;
        app.secrets.add(telegram::TOKEN);
        let phone = api.phone(OWNER);
        let rig = Self { app, api, phone };
        rig.pair(&rig.phone).await;
        rig
    }

    pub async fn pair(&self, phone: &Phone) {
        let body = json!({"channel": "telegram"});
        let made = self.app.owner().post("/api/notifications/pair", body).await;
        phone.open(made.ok()["link"].as_str().unwrap());
        phone.sees("Paired").await;
    }

    /// Queues a risky action and waits until the phone shows it with buttons that work.
    pub async fn ask(&self, action: &str) -> (Value, Message) {
        let row = self.app.queue(action).await;
        (row.clone(), self.shown(&row).await)
    }

    pub async fn shown(&self, row: &Value) -> Message {
        let id = row["id"].as_str().unwrap();
        eventually("the row to say that somebody was told", || async {
            (self.app.row(id).await["told"] == "somebody").then_some(())
        })
        .await;
        self.phone.sees(row["code"].as_str().unwrap()).await
    }

    /// The two taps of an approval.
    pub async fn approve(&self, message: &Message) -> String {
        self.phone.tap(message.id, "Approve…").answer().await;
        self.phone.sees_button(message.id, "Yes: ").await;
        self.phone.tap(message.id, "Yes: ").answer().await
    }

    pub async fn status(&self, row: &Value) -> String {
        let row = self.app.row(row["id"].as_str().unwrap()).await;
        row["status"].as_str().unwrap().to_owned()
    }
}
