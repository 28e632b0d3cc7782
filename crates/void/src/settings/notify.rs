//! `[notify]`: by which ways the owner is told, and when not.

use void_domain::notifications::{QuietHours, Zone};

use super::merge::Values;
use super::{Reference, Sourced};
use crate::exit::CommandError;

#[derive(Clone)]
pub(crate) struct NotifySettings {
    pub telegram_token: Sourced<Option<Reference>>,
    pub telegram_api_url: Sourced<String>,
    pub telegram_proxy: Sourced<Option<String>>,
    /// Nobody means whoever is paired.
    pub telegram_users: Vec<i64>,
    pub telegram_approve: Sourced<bool>,
    pub telegram_approvals_per_day: Sourced<u32>,
    pub ntfy_url: Sourced<Option<String>>,
    pub ntfy_token: Sourced<Option<Reference>>,
    pub ntfy_approve: Sourced<bool>,
    pub quiet: Option<QuietHours>,
    pub zone: Zone,
    pub webhooks: Vec<WebhookSettings>,
}

#[derive(Clone)]
pub(crate) struct WebhookSettings {
    pub name: String,
    pub url: String,
    pub secret: Reference,
}

pub(super) fn read(values: &Values) -> Result<NotifySettings, CommandError> {
    let zone: Zone = values
        .find("notify.timezone")?
        .value
        .unwrap_or_else(Zone::system);
    Ok(NotifySettings {
        telegram_token: values.find("notify.telegram.token")?,
        telegram_api_url: values.get("notify.telegram.api_url")?,
        telegram_proxy: values.find("notify.telegram.proxy")?,
        telegram_users: values.list("notify.telegram.allowed_users")?,
        telegram_approve: values.get("notify.telegram.approve")?,
        telegram_approvals_per_day: values.small("notify.telegram.approvals_per_day")?,
        ntfy_url: values.find("notify.ntfy.url")?,
        ntfy_token: values.find("notify.ntfy.token")?,
        ntfy_approve: values.get("notify.ntfy.approve")?,
        quiet: quiet(values, zone.clone())?,
        zone,
        webhooks: webhooks(values)?,
    })
}

fn quiet(values: &Values, zone: Zone) -> Result<Option<QuietHours>, CommandError> {
    let problem = |what: &str| CommandError::config(format!("notify.quiet: {what}"));
    let time = |key: &str| values.find::<String>(key).map(|time| time.value);
    let critical = values.get("notify.quiet.critical")?.value;
    match (time("notify.quiet.from")?, time("notify.quiet.until")?) {
        (Some(from), Some(until)) => QuietHours::parse(&from, &until, zone, critical)
            .map(Some)
            .map_err(|error| problem(&error.to_string())),
        (None, None) if !critical => Ok(None),
        (_, _) => Err(problem("it needs both from and until")),
    }
}

fn webhooks(values: &Values) -> Result<Vec<WebhookSettings>, CommandError> {
    let name = |number: usize, key: &str| format!("notify.webhooks.{number}.{key}");
    let read = |number: usize| {
        Ok(WebhookSettings {
            name: values.get(&name(number, "name"))?.value,
            url: values.get(&name(number, "url"))?.value,
            secret: values.get(&name(number, "secret"))?.value,
        })
    };
    (1..)
        .take_while(|number| values.has(&name(*number, "name")))
        .map(read)
        .collect()
}
