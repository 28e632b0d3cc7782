//! The ways to the owner, from the settings; secrets are resolved here.

use std::time::Duration;

use void_notify::notifiers::{
    NotificationsConfig, Notifiers, NtfyConfig, TelegramConfig, WebhookConfig,
};

use crate::exit::CommandError;
use crate::settings::{Environment, Settings};

/// How long one question for updates stays open.
const POLL_FOR: Duration = Duration::from_secs(25);

pub(crate) fn notifiers(
    settings: &Settings,
    environment: &Environment,
) -> Result<Notifiers, CommandError> {
    let notify = &settings.notify;
    let telegram = match &notify.telegram_token.value {
        None => None,
        Some(token) => Some(TelegramConfig {
            token: token.resolve(environment, "notify.telegram.token")?,
            api_url: notify.telegram_api_url.value.clone(),
            proxy: notify.telegram_proxy.value.clone(),
            allowed_users: notify.telegram_users.clone(),
            may_approve: notify.telegram_approve.value,
            approvals_per_day: notify.telegram_approvals_per_day.value,
            poll_for: POLL_FOR,
        }),
    };
    let ntfy_token = &notify.ntfy_token.value;
    let ntfy = match &notify.ntfy_url.value {
        None => None,
        Some(url) => Some(NtfyConfig {
            url: url.clone(),
            token: ntfy_token
                .as_ref()
                .map(|token| token.resolve(environment, "notify.ntfy.token"))
                .transpose()?,
            may_approve: notify.ntfy_approve.value,
        }),
    };
    let mut webhooks = Vec::new();
    for webhook in &notify.webhooks {
        webhooks.push(WebhookConfig {
            name: webhook.name.clone(),
            url: webhook.url.clone(),
            secret: webhook
                .secret
                .resolve(environment, "notify.webhooks.secret")?,
        });
    }
    let config = NotificationsConfig {
        telegram,
        ntfy,
        webhooks,
        quiet: notify.quiet.clone(),
        zone: notify.zone.clone(),
        public_url: settings.public_url.value.clone(),
    };
    Notifiers::new(config).map_err(|error| CommandError::config(format!("notify: {error}")))
}
