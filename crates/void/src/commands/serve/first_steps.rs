//! What the page of an empty Void says: the files that are read, and the commands that take them over, exactly as
//! they are typed on this machine.

use std::net::SocketAddr;
use std::path::Path;

use void_domain::starters::Starter;
use void_server::FirstSteps;

use crate::commands::quoted;
use crate::settings::{Environment, Settings, Source};
use crate::{accounts, client, hints};

/// What the examples restart and watch; most labs have one, and its name is plainly a name.
const SERVICE: &str = "caddy";
const PORT: u16 = 80;

pub(super) fn of(
    settings: &Settings,
    environment: &Environment,
    address: SocketAddr,
) -> FirstSteps {
    let program = hints::program_anywhere(environment);
    let mut called = called(&program, settings, address);
    // Nobody signs in as the account of a service.
    if let Some(account) = accounts::of_a_service(rustix::process::geteuid().as_raw()) {
        called = format!("sudo -u {account} {called}");
    }
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
        called,
        program,
        owner_token_file: match settings.owner_token.value {
            Some(_) => None,
            None => Some(absolute(&settings.owner_token_file())),
        },
    }
}

/// A program with what a command in another terminal needs to find this server, whose own flags and environment it
/// does not have.
pub(super) fn called(program: &str, settings: &Settings, address: SocketAddr) -> String {
    let (config, data, listen) = (&settings.config_file, &settings.data, &settings.listen);
    let mut called = program.to_owned();
    let mut add = |flag: &str, value: String| {
        called.push_str(&format!(" {flag} {}", quoted(&value)));
    };
    // What the data folder has is found there.
    if config.value != data.value.join("void.toml") {
        add("--config", absolute(&config.value));
    }
    if data.source != Source::Default {
        add("--data", absolute(&data.value));
    }
    let is_written = matches!(listen.source, Source::Default | Source::File);
    if is_written && listen.value == address {
        return called;
    }
    // A token goes to no named address but loopback; where the server itself listens is this machine all the same.
    if address.ip().is_loopback() || address.ip().is_unspecified() {
        add("--url", client::url_on_this_machine(address));
        return called;
    }
    format!("env VOID_LISTEN={address} {called}")
}

fn absolute(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Cli;
    use crate::commands::flags;

    fn called_with(arguments: &[&str], variables: &[(&str, &str)], address: &str) -> String {
        let environment = Environment::of(&[&[("HOME", "/home/ann")], variables].concat());
        let cli = Cli::parse_from([&["void"], arguments, &["serve"]].concat());
        let settings = Settings::load(&flags(&cli), &environment).unwrap();
        called("void", &settings, address.parse().unwrap())
    }

    #[test]
    fn a_command_for_another_terminal_says_what_that_terminal_does_not_know() {
        let usual = "127.0.0.1:3000";
        assert_eq!(called_with(&[], &[], usual), "void");
        let data: &[_] = &[("VOID_DATA", "/srv/a (b)")];
        assert_eq!(called_with(&[], data, usual), "void --data '/srv/a (b)'");
        assert_eq!(
            called_with(&["--data", "/srv/a"], &[], usual),
            "void --data /srv/a"
        );
        // A settings file that is named has to be there.
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let (data, own, apart) = (path(""), path("void.toml"), path("other.toml"));
        for file in [&own, &apart] {
            std::fs::write(file, "").unwrap();
        }
        let data = data.trim_end_matches('/');
        assert_eq!(
            called_with(&["--data", data, "--config", &own], &[], usual),
            format!("void --data {data}")
        );
        assert_eq!(
            called_with(&["--data", data, "--config", &apart], &[], usual),
            format!("void --config {apart} --data {data}")
        );
        for (listen, bound, expected) in [
            (
                "0.0.0.0:4000",
                "0.0.0.0:4000",
                "void --url http://127.0.0.1:4000",
            ),
            (
                "127.0.0.1:0",
                "127.0.0.1:39",
                "void --url http://127.0.0.1:39",
            ),
            ("[::1]:4000", "[::1]:4000", "void --url 'http://[::1]:4000'"),
            (
                "192.0.2.7:4000",
                "192.0.2.7:4000",
                "env VOID_LISTEN=192.0.2.7:4000 void",
            ),
        ] {
            let listen: &[_] = &[("VOID_LISTEN", listen)];
            assert_eq!(called_with(&[], listen, bound), expected);
        }
    }
}
