//! Puts the parts together: store, catalogue, channels, use cases, HTTP.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use void_channels::{Channels, LocalConfig, SshConfig};
use void_control::bridge::BridgeConfig;
use void_control::{Clock, Control, ControlConfig, OWNER_TOKEN_LONG};
use void_domain::catalogue::Catalogue;
use void_domain::secrets::Secret;
use void_store::{PostgresConfig, SqliteConfig, Store, StoreError};

use crate::exit::{Exit, Problem};
use crate::settings::{Environment, Settings};
use crate::{catalogue, notifiers, proxmox, services};

/// What everything that this control plane shows is: the real thing, or a rehearsal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label {
    Real,
    Rehearsal,
}

/// Starts the control plane of these settings.
pub(crate) async fn control(
    settings: &Settings,
    environment: &Environment,
    label: Label,
) -> Result<Control, Problem> {
    let catalogue = catalogue::load(settings)?;
    for finding in catalogue.warnings() {
        tracing::warn!(
            "{}",
            catalogue::describe(&settings.actions.value, finding).trim()
        );
    }
    private_folder(&settings.data.value)?;
    private_folder(&settings.ssh_run_folder.value)?;
    private_folder(&settings.local_state.value)?;
    let services = services::load(settings)?;
    for unknown in services::unknown_checks(&catalogue, &services) {
        tracing::warn!("{unknown}");
    }
    let channels = Arc::new(channels(settings, environment, &catalogue)?);
    let owner_token = owner_token(settings, environment)?;
    let config = ControlConfig {
        store: store(settings, environment).await?,
        catalogue_commit: catalogue::commit(&settings.actions.value),
        catalogue,
        services,
        checker: services::checker(),
        channels,
        executor: None,
        rehearsal: label == Label::Rehearsal,
        clock: Clock::system(),
        owner_token,
        limits: settings.limits.value,
        backups_folder: settings
            .backups
            .value
            .then(|| settings.backups_folder.value.clone()),
        witness_file: Some(settings.data.value.join("witness.json")),
        bridge: bridge(settings),
        notifiers: notifiers::notifiers(settings, environment)?,
    };
    Control::start(config).await.map_err(store_problem)
}

fn bridge(settings: &Settings) -> Option<BridgeConfig> {
    let folder = settings.bridge_folder.value.clone()?;
    Some(BridgeConfig {
        folder,
        decisions: settings.bridge_decisions.value,
    })
}

pub(crate) fn channels(
    settings: &Settings,
    environment: &Environment,
    catalogue: &Catalogue,
) -> Result<Channels, Problem> {
    let ssh = SshConfig {
        program: settings.ssh_program.value.clone(),
        keyscan: settings.ssh_program.value.with_file_name("ssh-keyscan"),
        key: settings.ssh_key.value.clone(),
        known_hosts: settings.known_hosts.value.clone(),
        run_folder: settings.ssh_run_folder.value.clone(),
    };
    // The host side is part of this very binary; an installed `void-act` can take its place.
    let (program, args) = match &settings.local_program.value {
        Some(program) => (program.clone(), Vec::new()),
        None => (own_program()?, vec!["act".into()]),
    };
    let local = LocalConfig {
        program,
        args,
        list: settings.local_list.value.clone(),
        state: settings.local_state.value.clone(),
        trust_own_list: settings.local_trust_own_list.value,
    };
    Channels::new(
        catalogue,
        ssh,
        local,
        proxmox::config(settings, environment)?,
    )
    .map_err(|error| Problem::config(error.to_string()))
}

fn own_program() -> Result<PathBuf, Problem> {
    std::env::current_exe().map_err(|error| {
        Problem::failed(
            "internal",
            format!("void cannot find its own program: {error}"),
        )
    })
}

async fn store(settings: &Settings, environment: &Environment) -> Result<Store, Problem> {
    let opened = match &settings.database_url.value {
        Some(reference) => {
            let url = reference.resolve(environment, "database.url")?;
            Store::open_postgres(PostgresConfig {
                url,
                ca_file: settings.database_ca_file.value.clone(),
            })
            .await
        }
        None => Store::open_sqlite(SqliteConfig::new(settings.database_file())).await,
    };
    opened.map_err(store_problem)
}

pub(crate) fn store_problem(error: StoreError) -> Problem {
    let problem = |exit, code: &str, next: &str| {
        Problem::new(exit, code, error.to_string()).next(next.to_owned())
    };
    match error {
        StoreError::InUse => problem(
            Exit::Failed,
            "in_use",
            "void status shows the one that runs",
        ),
        StoreError::NewerSchema { .. } => problem(
            Exit::Failed,
            "newer_schema",
            "start the newer void, or restore a backup from before the upgrade",
        ),
        StoreError::DiskFull => problem(
            Exit::Failed,
            "disk_full",
            "free some space, then start again",
        ),
        StoreError::ReadOnly(_) => problem(
            Exit::Failed,
            "read_only",
            "make the data folder writable for the account that runs void",
        ),
        StoreError::Corrupt { .. } => problem(
            Exit::Failed,
            "corrupt",
            "void backup ls, then void backup restore FILE",
        ),
        StoreError::Unavailable(_) => {
            problem(Exit::Unreachable, "unavailable", "void config check")
        }
        StoreError::Constraint(_) | StoreError::Internal(_) => {
            problem(Exit::Failed, "internal", "please report this")
        }
    }
}

/// A folder that only its owner can look into.
fn private_folder(path: &Path) -> Result<(), Problem> {
    let problem = |error: std::io::Error| {
        Problem::failed("read_only", format!("{}: {error}", path.display()))
            .next("choose a folder that can be written: VOID_DATA")
    };
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(problem)?;
    let mode = fs::metadata(path).map_err(problem)?.permissions().mode();
    if mode & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o700)).map_err(problem)?;
    }
    Ok(())
}

/// The owner's token: from the settings, from the file of an earlier start, or made now.
fn owner_token(settings: &Settings, environment: &Environment) -> Result<Secret, Problem> {
    const TOKEN_BYTES_MIN: usize = 8;
    if let Some(token) = settings.stored_owner_token(environment)? {
        if token.expose().len() < TOKEN_BYTES_MIN {
            return Err(Problem::config(format!(
                "the owner's token is shorter than {TOKEN_BYTES_MIN} characters"
            )));
        }
        if token.expose().len() < OWNER_TOKEN_LONG {
            tracing::warn!(
                "the owner's token has fewer than {OWNER_TOKEN_LONG} characters: wrong ones are slowed down \
                 for everybody at the same address"
            );
        }
        return Ok(token);
    }
    let path = settings.owner_token_file();
    let mut random = [0_u8; 32];
    getrandom::fill(&mut random).map_err(|error| Problem::failed("internal", error.to_string()))?;
    let text: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let written = OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(&path)
        .and_then(|mut file| {
            file.write_all(format!("{text}\n").as_bytes())
                .and_then(|()| file.sync_all())
        });
    written
        .map_err(|error| Problem::failed("read_only", format!("{}: {error}", path.display())))?;
    tracing::info!(file = %path.display(), "made the owner's token");
    Ok(Secret::new(text))
}
