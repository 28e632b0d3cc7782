//! Files that hold secrets: there, and readable by nobody else.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use void_domain::catalogue::Catalogue;
use void_domain::hosts::Reach;

use super::findings::Findings;
use crate::commands::Session;
use crate::settings::Reference;
use crate::{compose, proxmox};

const FOR_OTHERS: u32 = 0o077;

pub(super) fn check(session: &Session<'_>, catalogue: Option<&Catalogue>, findings: &mut Findings) {
    check_ssh_key(session, catalogue, findings);
    if let Some(catalogue) = catalogue {
        check_paths(session, catalogue, findings);
    }
    for path in secret_files(session) {
        let shown = path.display();
        // One that is missing is said by whoever needs it.
        if std::fs::metadata(&path).is_ok_and(|file| file.permissions().mode() & FOR_OTHERS != 0) {
            let message = format!("others can read the secret in {shown}");
            findings.wrong("secret file", message, format!("chmod 600 {shown}"));
        }
    }
}

fn check_ssh_key(session: &Session<'_>, catalogue: Option<&Catalogue>, findings: &mut Findings) {
    let Some(key) = &session.settings.ssh_key.value else {
        if catalogue.is_some_and(needs_key) {
            findings.wrong(
                "ssh key",
                "none is set, and the catalogue names machines to reach",
                "ssh-keygen -t ed25519 -N '' -f FILE, then key = \"FILE\" under [ssh] in void.toml, and void reload",
            );
        }
        return;
    };
    let shown = key.display();
    match std::fs::metadata(key) {
        Err(error) => {
            let next = format!("ssh-keygen -t ed25519 -N '' -f {shown}");
            findings.wrong("ssh key", format!("{shown}: {error}"), next);
        }
        Ok(file) if !file.is_file() => {
            let next = "set ssh.key to the file of the private key";
            findings.wrong("ssh key", format!("{shown} is not a file"), next);
        }
        Ok(file) if file.permissions().mode() & FOR_OTHERS != 0 => {
            let message = format!("others can read {shown}; ssh will refuse it");
            findings.wrong("ssh key", message, format!("chmod 600 {shown}"));
        }
        Ok(_) => findings.fine("ssh key", format!("{shown} is there and private")),
    }
}

/// `ssh` takes some paths for something else; what Proxmox lacks is said elsewhere.
fn check_paths(session: &Session<'_>, catalogue: &Catalogue, findings: &mut Findings) {
    let (settings, environment) = (&session.settings, session.environment);
    if proxmox::config(settings, environment).is_ok()
        && let Err(problem) = compose::channels(settings, environment, catalogue)
    {
        findings.wrong("settings", problem.message, "void config show");
    }
}

fn needs_key(catalogue: &Catalogue) -> bool {
    catalogue.hosts().any(|host| {
        matches!(host.reach, Reach::Ssh(_)) && catalogue.actions_on(&host.name).next().is_some()
    })
}

/// Where the settings say that secrets are, and where the server keeps its own.
fn secret_files(session: &Session<'_>) -> Vec<PathBuf> {
    let settings = &session.settings;
    let references = [
        &settings.owner_token.value,
        &settings.proxmox.token.value,
        &settings.database_url.value,
    ];
    let named = references
        .into_iter()
        .filter_map(|reference| match reference {
            Some(Reference::File(path)) => Some(path.clone()),
            Some(
                Reference::Environment(_)
                | Reference::Credential(_)
                | Reference::Program(_)
                | Reference::PlainAddress(_),
            )
            | None => None,
        });
    named.chain([settings.owner_token_file()]).collect()
}
