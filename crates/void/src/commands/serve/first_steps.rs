//! What the page of an empty Void says: the files that are read, and the commands that take them over, exactly as
//! they are typed on this machine.

use std::path::Path;

use void_domain::starters::Starter;
use void_server::FirstSteps;

use crate::accounts;
use crate::commands::quoted;
use crate::settings::{Environment, Settings, Source};

/// What the examples restart and watch; most labs have one, and its name is plainly a name.
const SERVICE: &str = "caddy";
const PORT: u16 = 80;

pub(super) fn of(settings: &Settings, environment: &Environment) -> FirstSteps {
    let called = called(settings, environment);
    let actions = absolute(&settings.actions.value);
    let lint = match settings.actions.source {
        Source::Default => format!("{called} actions lint"),
        _ => format!("{called} actions lint {}", quoted(&actions)),
    };
    let starter = Starter::for_service(SERVICE);
    FirstSteps {
        actions_file: actions,
        actions_example: starter.as_ref().map(Starter::catalogue).unwrap_or_default(),
        services_file: absolute(&settings.services.value),
        services_example: starter
            .map(|starter| starter.services(PORT))
            .unwrap_or_default(),
        commands: vec![lint, format!("{called} reload")],
    }
}

/// This program for this data folder, as whoever may do so calls it from anywhere.
fn called(settings: &Settings, environment: &Environment) -> String {
    let mut called = String::new();
    // Nobody signs in as the account of a service.
    if let Some(account) = accounts::of_a_service(rustix::process::geteuid().as_raw()) {
        called = format!("sudo -u {account} ");
    }
    called.push_str(&program(environment));
    if settings.config_file.source != Source::Default {
        let file = quoted(&absolute(&settings.config_file.value));
        called.push_str(&format!(" --config {file}"));
    }
    if settings.data.source != Source::Default {
        let folder = quoted(&absolute(&settings.data.value));
        called.push_str(&format!(" --data {folder}"));
    }
    called
}

/// `void` where the shell finds this very program by that name, its path otherwise.
fn program(environment: &Environment) -> String {
    let Ok(path) = std::env::current_exe() else {
        return "void".to_owned();
    };
    let folders = environment.get("PATH").unwrap_or_default();
    let is_found = path.file_name() == Some("void".as_ref())
        && folders
            .split(':')
            .any(|folder| path.parent() == Some(Path::new(folder)));
    if is_found {
        return "void".to_owned();
    }
    quoted(&path.display().to_string())
}

fn absolute(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.display().to_string()
}
