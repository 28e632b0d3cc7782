//! `void config`

use std::borrow::Cow;

use serde_json::{Value, json};

use void_domain::retention::{Kept, Retention};

use super::{Session, counted};
use crate::cli::ConfigCommand;
use crate::exit::{Exit, Problem};
use crate::settings::{AgentSettings, NotifySettings, Settings, Source, Wrong};
use crate::{catalogue, services};

pub(super) fn run(session: &Session<'_>, command: ConfigCommand) -> Result<Exit, Problem> {
    match command {
        ConfigCommand::Show => show(session),
        ConfigCommand::Check => check(session),
    }
}

struct Line {
    name: Cow<'static, str>,
    value: String,
    source: Source,
}

fn show(session: &Session<'_>) -> Result<Exit, Problem> {
    let lines = lines(&session.settings);
    if session.output.json {
        let values: Vec<Value> = lines
            .iter()
            .map(|line| json!({"name": line.name, "value": line.value, "source": line.source.to_string()}))
            .collect();
        session.output.value(json!({"settings": values}));
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = lines
        .into_iter()
        .map(|line| vec![line.name.into_owned(), line.value, line.source.to_string()])
        .collect();
    session.output.table(&["SETTING", "VALUE", "FROM"], &rows);
    Ok(Exit::Done)
}

/// Secrets show where they are, never what they are.
fn lines(settings: &Settings) -> Vec<Line> {
    let line = |name: &'static str, value: String, source: &Source| Line {
        name: Cow::Borrowed(name),
        value,
        source: source.clone(),
    };
    let path = |name, setting: &crate::settings::Sourced<std::path::PathBuf>| {
        line(name, setting.value.display().to_string(), &setting.source)
    };
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let mut lines = vec![
        path("config file", &settings.config_file),
        path("data", &settings.data),
        line(
            "listen",
            settings.listen.value.to_string(),
            &settings.listen.source,
        ),
        line(
            "public_url",
            or_dash(settings.public_url.value.clone()),
            &settings.public_url.source,
        ),
        line(
            "allowed_hosts",
            settings.allowed_hosts.value.join(" "),
            &settings.allowed_hosts.source,
        ),
        path("actions", &settings.actions),
        path("services", &settings.services),
        line(
            "proxmox.url",
            or_dash(settings.proxmox.url.value.clone()),
            &settings.proxmox.url.source,
        ),
        line(
            "proxmox.token",
            or_dash(
                settings
                    .proxmox
                    .token
                    .value
                    .as_ref()
                    .map(ToString::to_string),
            ),
            &settings.proxmox.token.source,
        ),
        line(
            "proxmox.fingerprint",
            or_dash(settings.proxmox.fingerprint.value.clone()),
            &settings.proxmox.fingerprint.source,
        ),
        line(
            "proxmox.ca_file",
            or_dash(
                settings
                    .proxmox
                    .ca_file
                    .value
                    .as_ref()
                    .map(|path| path.display().to_string()),
            ),
            &settings.proxmox.ca_file.source,
        ),
        line(
            "database.url",
            settings.database_url.value.as_ref().map_or_else(
                || "SQLite in the data folder".to_owned(),
                ToString::to_string,
            ),
            &settings.database_url.source,
        ),
        line(
            "database.ca_file",
            or_dash(
                settings
                    .database_ca_file
                    .value
                    .as_ref()
                    .map(|path| path.display().to_string()),
            ),
            &settings.database_ca_file.source,
        ),
        line(
            "owner_token",
            settings.owner_token.value.as_ref().map_or_else(
                || format!("file:{}", settings.owner_token_file().display()),
                ToString::to_string,
            ),
            &settings.owner_token.source,
        ),
        line(
            "ssh.key",
            or_dash(
                settings
                    .ssh_key
                    .value
                    .as_ref()
                    .map(|path| path.display().to_string()),
            ),
            &settings.ssh_key.source,
        ),
        path("ssh.program", &settings.ssh_program),
        path("ssh.run_folder", &settings.ssh_run_folder),
        path("ssh.known_hosts", &settings.known_hosts),
        line(
            "instance",
            settings
                .instance
                .value
                .as_ref()
                .map_or_else(|| "as its data folder says".to_owned(), ToString::to_string),
            &settings.instance.source,
        ),
        line(
            "local.program",
            settings
                .local_program
                .value
                .as_ref()
                .map_or_else(|| "void act".to_owned(), |path| path.display().to_string()),
            &settings.local_program.source,
        ),
        path("local.list", &settings.local_list),
        path("local.state", &settings.local_state),
        line(
            "local.trust_own_list",
            settings.local_trust_own_list.value.to_string(),
            &settings.local_trust_own_list.source,
        ),
        line(
            "backups.enabled",
            settings.backups.value.to_string(),
            &settings.backups.source,
        ),
        path("backups.folder", &settings.backups_folder),
        line(
            "bridge.dir",
            or_dash(
                settings
                    .bridge_folder
                    .value
                    .as_ref()
                    .map(|path| path.display().to_string()),
            ),
            &settings.bridge_folder.source,
        ),
        line(
            "bridge.decisions",
            settings.bridge_decisions.value.to_string(),
            &settings.bridge_decisions.source,
        ),
        line(
            "limits.open_proposals",
            settings.limits.value.open_proposals.to_string(),
            &settings.limits.source,
        ),
        line(
            "limits.open_proposals_per_agent",
            settings.limits.value.open_proposals_per_agent.to_string(),
            &settings.limits.source,
        ),
        line(
            "limits.safe_runs_per_agent_hour",
            settings.limits.value.safe_runs_per_agent_hour.to_string(),
            &settings.limits.source,
        ),
        line(
            "limits.token_requests_per_s",
            (settings.limits.value.token_budgets.requests.per_minute / 60).to_string(),
            &settings.limits.source,
        ),
        line(
            "limits.token_rows_per_minute",
            settings
                .limits
                .value
                .token_budgets
                .rows
                .per_minute
                .to_string(),
            &settings.limits.source,
        ),
        line(
            "limits.token_streams",
            settings.limits.value.token_budgets.streams.to_string(),
            &settings.limits.source,
        ),
        line(
            "limits.lease_s",
            settings.limits.value.lease.as_secs().to_string(),
            &settings.limits.source,
        ),
        line(
            "limits.verify_within_s",
            settings.limits.value.verify_within.as_secs().to_string(),
            &settings.limits.source,
        ),
        line(
            "retention",
            Kept::ALL
                .map(|kept| {
                    let days = settings.limits.value.retention.days(kept);
                    format!("{} {days} d", kept.as_str())
                })
                .join(", "),
            if settings.limits.value.retention == Retention::default() {
                &Source::Default
            } else {
                &Source::File
            },
        ),
        line(
            "self",
            settings.lockout_entries.join(" "),
            &settings.lockout.source,
        ),
        path("claude.program", &settings.claude.program),
        line(
            "claude.home",
            or_dash(
                settings
                    .claude
                    .home
                    .value
                    .as_ref()
                    .map(|path| path.display().to_string()),
            ),
            &settings.claude.home.source,
        ),
    ];
    lines.extend(notify_lines(&settings.notify));
    for (slug, agent) in &settings.agents {
        lines.extend(agent_lines(slug, agent));
    }
    lines
}

fn notify_lines(notify: &NotifySettings) -> Vec<Line> {
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let line = |name: &'static str, value: String, source: &Source| Line {
        name: Cow::Borrowed(name),
        value,
        source: source.clone(),
    };
    let token = notify
        .telegram_token
        .value
        .as_ref()
        .map(ToString::to_string);
    let users: Vec<String> = notify
        .telegram_users
        .value
        .iter()
        .map(ToString::to_string)
        .collect();
    let users = if users.is_empty() {
        "whoever is paired".to_owned()
    } else {
        users.join(" ")
    };
    let ntfy_token = notify.ntfy_token.value.as_ref().map(ToString::to_string);
    let hooks: Vec<&str> = notify
        .webhooks
        .iter()
        .map(|hook| hook.name.as_str())
        .collect();
    let hooks_from = if hooks.is_empty() {
        Source::Default
    } else {
        Source::File
    };
    vec![
        line(
            "notify.telegram.token",
            or_dash(token),
            &notify.telegram_token.source,
        ),
        line(
            "notify.telegram.api_url",
            notify.telegram_api_url.value.clone(),
            &notify.telegram_api_url.source,
        ),
        line(
            "notify.telegram.proxy",
            or_dash(notify.telegram_proxy.value.clone()),
            &notify.telegram_proxy.source,
        ),
        line(
            "notify.telegram.allowed_users",
            users,
            &notify.telegram_users.source,
        ),
        line(
            "notify.telegram.approve",
            notify.telegram_approve.value.to_string(),
            &notify.telegram_approve.source,
        ),
        line(
            "notify.telegram.approvals_per_day",
            notify.telegram_approvals_per_day.value.to_string(),
            &notify.telegram_approvals_per_day.source,
        ),
        line(
            "notify.ntfy.url",
            or_dash(notify.ntfy_url.value.clone()),
            &notify.ntfy_url.source,
        ),
        line(
            "notify.ntfy.token",
            or_dash(ntfy_token),
            &notify.ntfy_token.source,
        ),
        line(
            "notify.ntfy.approve",
            notify.ntfy_approve.value.to_string(),
            &notify.ntfy_approve.source,
        ),
        line(
            "notify.quiet",
            notify.quiet_words.clone(),
            &notify.quiet.source,
        ),
        line(
            "notify.timezone",
            notify.zone.value.iana_name().unwrap_or("UTC").to_owned(),
            &notify.zone.source,
        ),
        line(
            "notify.webhooks",
            or_dash(Some(hooks.join(" ")).filter(|all| !all.is_empty())),
            &hooks_from,
        ),
    ]
}

fn agent_lines(slug: &str, agent: &AgentSettings) -> Vec<Line> {
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let line = |key: &str, value: String, source: &Source| Line {
        name: Cow::Owned(format!("agents.{slug}.{key}")),
        value,
        source: source.clone(),
    };
    let brain = agent.brain.value.as_str().to_owned();
    let key = agent.key.value.as_ref().map(ToString::to_string);
    let tokens = agent.daily_tokens.value.map(|tokens| tokens.to_string());
    vec![
        line("brain", brain, &agent.brain.source),
        line(
            "model",
            or_dash(agent.model.value.clone()),
            &agent.model.source,
        ),
        line("key", or_dash(key), &agent.key.source),
        line(
            "base_url",
            or_dash(agent.base_url.value.clone()),
            &agent.base_url.source,
        ),
        line("daily_tokens", or_dash(tokens), &agent.daily_tokens.source),
    ]
}

/// Loading the settings was the first check; references and the catalogue are the rest.
fn check(session: &Session<'_>) -> Result<Exit, Problem> {
    let settings = &session.settings;
    let mut wrong = Wrong::default();
    for (reference, name) in [
        (&settings.database_url.value, "database.url"),
        (&settings.owner_token.value, "owner_token"),
    ] {
        if let Some(reference) = reference {
            wrong.keep(reference.resolve(session.environment, name));
        }
    }
    wrong.keep(check_ssh_key(settings));
    let catalogue = wrong.keep(catalogue::load(settings));
    let services = wrong.keep(services::load(settings));
    let agents = crate::agents::load(settings, session.environment, settings.listen.value);
    wrong.keep(agents.map(drop));
    if let Some(catalogue) = &catalogue {
        let channels = crate::compose::channels(settings, session.environment, catalogue);
        wrong.keep(channels.map(drop));
    }
    wrong.keep(crate::notifiers::notifiers(settings, session.environment).map(drop));
    let (Some(catalogue), Some(services), None) = (catalogue, services, wrong.first()) else {
        return Err(wrong.into_problem());
    };
    let unknown = services::unknown_checks(&catalogue, &services);
    if session.output.json {
        session.output.value(json!({"valid": true, "actions": catalogue.actions().len(), "services": services.iter().len(), "warnings": catalogue.warnings(), "unknown_checks": unknown}));
        return Ok(Exit::Done);
    }
    for finding in catalogue.warnings() {
        session.output.line(format!(
            "warning {}",
            catalogue::describe(&settings.actions.value, finding).trim()
        ));
    }
    for line in unknown {
        session.output.line(format!("warning {line}"));
    }
    session.output.line(format!(
        "The settings are valid; the catalogue has {}, and {} watched.",
        counted(catalogue.actions().len(), "action"),
        match services.iter().len() {
            1 => "1 service is".to_owned(),
            several => format!("{several} services are"),
        }
    ));
    Ok(Exit::Done)
}

fn check_ssh_key(settings: &Settings) -> Result<(), Problem> {
    let Some(key) = &settings.ssh_key.value else {
        return Ok(());
    };
    if key.is_file() {
        return Ok(());
    }
    let shown = key.display();
    // No shell has seen the settings file.
    let why = if key.components().any(|part| part.as_os_str() == "~") {
        "there is no such file; write the whole path, ~ means nothing here"
    } else {
        "there is no such file"
    };
    let next = format!("ssh-keygen -t ed25519 -N '' -f {shown}, or another path");
    Err(Problem::config(format!("ssh.key: {shown}: {why}")).next(next))
}
