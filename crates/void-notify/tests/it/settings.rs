//! What the settings say about the ways to the owner, before anything is sent.

use std::time::Duration;

use void_domain::notifications::Zone;
use void_domain::secrets::Secret;
use void_notify::notifiers::{
    NotificationsConfig, Notifiers, NtfyConfig, TelegramConfig, WebhookConfig,
};
use void_testkit::telegram::BotApi;

const fn nothing() -> NotificationsConfig {
    NotificationsConfig {
        telegram: None,
        ntfy: None,
        webhooks: Vec::new(),
        quiet: None,
        zone: Zone::UTC,
        public_url: None,
    }
}

#[test]
fn settings_that_cannot_work_are_refused_without_repeating_a_secret() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let telegram = |token: &str, url: &str| NotificationsConfig {
        telegram: Some(TelegramConfig {
            token: Secret::new(token),
            api_url: url.to_owned(),
            proxy: None,
            allowed_users: Vec::new(),
            may_approve: true,
            approvals_per_day: 1,
            poll_for: Duration::from_secs(1),
        }),
        ..nothing()
    };
    let ntfy = |url: &str, token: Option<&str>, may_approve| NotificationsConfig {
        ntfy: Some(NtfyConfig {
            url: url.to_owned(),
            token: token.map(Secret::new),
            may_approve,
        }),
        ..nothing()
    };
    let hook = |name: &str, url: &str| WebhookConfig {
        name: name.to_owned(),
        url: url.to_owned(),
        secret: Secret::new("hunter2"),
    };
    let hooks = |hooks: Vec<WebhookConfig>| NotificationsConfig {
        webhooks: hooks,
        ..nothing()
    };
    let api = BotApi::start();
    for config in [
        telegram("hunter2", &api.url()),
        telegram("1:hunter2/../x", &api.url()),
        telegram("1:hunter2", "ftp://x"),
        telegram("1:hunter2", "http://user:hunter2@x"),
        ntfy("https://ntfy.sh", None, false),
        ntfy("https://ntfy.sh/a b", None, false),
        ntfy("https://ntfy.sh/topic", None, true),
        ntfy("https://ntfy.sh/topic", Some("hunter2\n"), false),
        hooks(vec![hook("Bad Name", "https://x")]),
        hooks(vec![hook("a", "https://x"), hook("a", "https://y")]),
        hooks(vec![hook("a", "x")]),
    ] {
        let error = Notifiers::new(config).err().unwrap().to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }
    for config in [
        telegram("1:hunter2", &api.url()),
        ntfy("http://192.168.1.5:8080/sub/topic", Some("tk_x"), true),
        hooks(vec![
            hook("a", "http://192.168.1.5/x?y=1"),
            hook("b", "https://x"),
        ]),
    ] {
        assert!(Notifiers::new(config).is_ok());
    }
}
