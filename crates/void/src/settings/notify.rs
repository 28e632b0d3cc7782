//! `[notify]`: by which ways the owner is told, and when not.

use serde::Deserialize;
use void_control::notifiers::TELEGRAM_API_URL;
use void_domain::limits;
use void_domain::notifications::{QuietHours, Zone};

use super::{Environment, Reference, Source, Sourced, optional, reference};
use crate::exit::Problem;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct NotifyTable {
    timezone: Option<String>,
    telegram: TelegramTable,
    ntfy: NtfyTable,
    quiet: Option<QuietTable>,
    webhooks: Vec<WebhookTable>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TelegramTable {
    token: Option<String>,
    api_url: Option<String>,
    proxy: Option<String>,
    allowed_users: Vec<i64>,
    approve: Option<bool>,
    approvals_per_day: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct NtfyTable {
    url: Option<String>,
    token: Option<String>,
    approve: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct QuietTable {
    from: String,
    until: String,
    /// Whether what may cut the owner off breaks through.
    #[serde(default)]
    critical: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WebhookTable {
    name: String,
    url: String,
    secret: String,
}

#[derive(Clone)]
pub(crate) struct NotifySettings {
    pub telegram_token: Sourced<Option<Reference>>,
    pub telegram_api_url: Sourced<String>,
    pub telegram_proxy: Sourced<Option<String>>,
    pub telegram_users: Sourced<Vec<i64>>,
    pub telegram_approve: Sourced<bool>,
    pub telegram_approvals_per_day: Sourced<u32>,
    pub ntfy_url: Sourced<Option<String>>,
    pub ntfy_token: Sourced<Option<Reference>>,
    pub ntfy_approve: Sourced<bool>,
    pub quiet: Sourced<Option<QuietHours>>,
    pub quiet_words: String,
    pub zone: Sourced<Zone>,
    pub webhooks: Vec<WebhookSettings>,
}

#[derive(Clone)]
pub(crate) struct WebhookSettings {
    pub name: String,
    pub url: String,
    pub secret: Reference,
}

pub(super) fn merge(
    table: NotifyTable,
    environment: &Environment,
) -> Result<NotifySettings, Problem> {
    let file_or_default = |given: bool| if given { Source::File } else { Source::Default };
    let zone = Sourced {
        source: file_or_default(table.timezone.is_some()),
        value: zone(table.timezone.as_deref())?,
    };
    let api_url = optional(environment, "TELEGRAM_API_URL", table.telegram.api_url);
    let (quiet, quiet_words) = match table.quiet {
        None => (None, "-".to_owned()),
        Some(quiet) => {
            let (words, zone) = (quiet.words(), zone.value.clone());
            let parsed = QuietHours::parse(&quiet.from, &quiet.until, zone, quiet.critical)
                .map_err(|error| Problem::config(format!("notify.quiet: {error}")))?;
            (Some(parsed), words)
        }
    };
    let webhook = |table: WebhookTable| {
        let setting = "notify.webhooks.secret";
        Ok(WebhookSettings {
            name: table.name,
            url: table.url,
            secret: Reference::parse(&table.secret, setting)?,
        })
    };
    Ok(NotifySettings {
        telegram_token: reference(
            environment,
            "TELEGRAM_BOT_TOKEN",
            table.telegram.token,
            "notify.telegram.token",
        )?,
        telegram_api_url: Sourced {
            value: api_url.value.unwrap_or_else(|| TELEGRAM_API_URL.to_owned()),
            source: api_url.source,
        },
        telegram_proxy: Sourced {
            source: file_or_default(table.telegram.proxy.is_some()),
            value: table.telegram.proxy,
        },
        telegram_users: users(environment, table.telegram.allowed_users)?,
        telegram_approve: Sourced {
            source: file_or_default(table.telegram.approve.is_some()),
            value: table.telegram.approve.unwrap_or(true),
        },
        telegram_approvals_per_day: Sourced {
            source: file_or_default(table.telegram.approvals_per_day.is_some()),
            value: table
                .telegram
                .approvals_per_day
                .unwrap_or(limits::TELEGRAM_APPROVALS_PER_DAY),
        },
        ntfy_url: optional(environment, "NTFY_URL", table.ntfy.url),
        ntfy_token: reference(
            environment,
            "NTFY_TOKEN",
            table.ntfy.token,
            "notify.ntfy.token",
        )?,
        ntfy_approve: Sourced {
            source: file_or_default(table.ntfy.approve),
            value: table.ntfy.approve,
        },
        quiet: Sourced {
            source: file_or_default(quiet.is_some()),
            value: quiet,
        },
        quiet_words,
        zone,
        webhooks: table
            .webhooks
            .into_iter()
            .map(webhook)
            .collect::<Result<_, Problem>>()?,
    })
}

impl QuietTable {
    fn words(&self) -> String {
        let critical = if self.critical {
            ", but for critical"
        } else {
            ""
        };
        format!("{} to {}{critical}", self.from, self.until)
    }
}

/// The named zone, or the machine's own.
fn zone(name: Option<&str>) -> Result<Zone, Problem> {
    match name {
        None => Ok(Zone::system()),
        Some(name) => Zone::get(name).map_err(|_| {
            Problem::config(format!(
                "notify.timezone: \"{name}\" is no time zone of this machine, such as Europe/Berlin"
            ))
        }),
    }
}

/// `TELEGRAM_ALLOWED_USERS=12345,67890`
fn users(environment: &Environment, file: Vec<i64>) -> Result<Sourced<Vec<i64>>, Problem> {
    const NAME: &str = "TELEGRAM_ALLOWED_USERS";
    let Some(text) = environment.value(NAME) else {
        let source = if file.is_empty() {
            Source::Default
        } else {
            Source::File
        };
        return Ok(Sourced {
            value: file,
            source,
        });
    };
    let problem = || {
        Problem::config(format!("{NAME} is a list of numbers, such as 12345,67890"))
            .next("@userinfobot on Telegram tells you yours")
    };
    let numbers = text.split([',', ' ']).filter(|word| !word.is_empty());
    let value: Vec<i64> = numbers
        .map(|word| word.parse().ok().filter(|number| *number > 0))
        .collect::<Option<_>>()
        .ok_or_else(problem)?;
    // A list that was given and names nobody must not become "whoever is paired".
    if value.is_empty() {
        return Err(problem());
    }
    Ok(Sourced {
        value,
        source: Source::Environment(NAME),
    })
}
