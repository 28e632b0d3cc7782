//! `void config`: what the settings are, whether they are right, and which there are.

use serde_json::{Value, json};

use super::{Session, counted};
use crate::cli::ConfigCommand;
use crate::exit::{CommandError, Exit};
use crate::output::Output;
use crate::settings::{self, Problems, Settings};
use crate::{agents, catalogue, compose, notifiers, services};

pub(super) fn run(session: &Session<'_>, command: ConfigCommand) -> Result<Exit, CommandError> {
    match command {
        ConfigCommand::Show => show(session),
        ConfigCommand::Check => return check(session),
        ConfigCommand::Docs => docs(session.output),
    }
    Ok(Exit::Done)
}

pub(super) fn docs(output: &Output) {
    let page = settings::page();
    if output.json {
        output.value(json!({"page": page}));
    } else {
        output.put(&page);
    }
}

fn show(session: &Session<'_>) {
    let settings = session.settings.shown();
    if session.output.json {
        let values: Vec<Value> = settings
            .map(|setting| json!({"name": setting.name, "value": setting.value, "source": setting.source.to_string()}))
            .collect();
        session.output.value(json!({"settings": values}));
        return;
    }
    let rows: Vec<Vec<String>> = settings
        .map(|setting| vec![setting.name, setting.value, setting.source.to_string()])
        .collect();
    session.output.table(&["SETTING", "VALUE", "FROM"], &rows);
}

/// Loading the settings was the first check; secrets, the catalogue and what is built from both are the rest.
fn check(session: &Session<'_>) -> Result<Exit, CommandError> {
    let (settings, environment) = (&session.settings, session.environment);
    let mut problems = Problems::default();
    settings.check_secrets(environment, &mut problems);
    problems.keep(compose::check_access(settings, environment));
    problems.keep(check_ssh_key(settings));
    let catalogue = problems.keep(catalogue::load(settings));
    let services = problems.keep(services::load(settings));
    let agents = agents::load(settings, environment, settings.listen.value);
    problems.keep(agents.map(drop));
    if let Some(catalogue) = &catalogue {
        problems.keep(compose::channels(settings, environment, catalogue).map(drop));
    }
    problems.keep(notifiers::notifiers(settings, environment).map(drop));
    problems.into_result()?;
    let (Some(catalogue), Some(services)) = (catalogue, services) else {
        return Ok(Exit::Config);
    };
    let unknown = services::unknown_checks(&catalogue, &services);
    let variables = settings::warnings(environment);
    if session.output.json {
        session.output.value(json!({"valid": true, "actions": catalogue.actions().len(), "services": services.iter().len(), "warnings": catalogue.warnings(), "unknown_checks": unknown, "variables": variables}));
        return Ok(Exit::Done);
    }
    let findings = catalogue.warnings().iter();
    let findings = findings.map(|finding| catalogue::describe(&settings.actions.value, finding));
    for line in findings.chain(unknown).chain(variables) {
        session.output.line(format!("warning {}", line.trim()));
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

fn check_ssh_key(settings: &Settings) -> Result<(), CommandError> {
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
    Err(CommandError::config(format!("ssh.key: {shown}: {why}")).next(next))
}
