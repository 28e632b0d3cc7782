//! Puts the parts together: store, catalogue, channels, use cases, HTTP.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use void_bridge::BridgeConfig;
use void_capture::{Captures, Extractor, FetchPatience, Fetcher, SystemResolver};
use void_channels::{Channels, LocalConfig, SshConfig};
use void_control::instances::{Identity, StartError};
use void_control::{Clock, ControlConfig, OWNER_TOKEN_LONG, knowledge};
use void_domain::catalogue::Catalogue;
use void_domain::failures::FailureCode;
use void_domain::secrets::Secret;
use void_server::{Plane, PlaneConfig};
use void_store::{PostgresConfig, SqliteConfig, Store, StoreError};

use crate::commands::quoted;
use crate::exit::{CommandError, Exit};
use crate::settings::{Environment, Settings};
use crate::{agents, catalogue, embeddings, notifiers, proxmox, services};

/// What everything that this control plane shows is: the real thing, or a rehearsal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label {
    Real,
    Rehearsal,
}

/// Starts the control plane of these settings, with what works beside it.
pub(crate) async fn plane(
    settings: &Settings,
    environment: &Environment,
    label: Label,
) -> Result<Plane, CommandError> {
    check_access(settings, environment)?;
    let (catalogue, catalogue_source) = catalogue::load_with_source(settings)?;
    for finding in catalogue.warnings() {
        tracing::warn!(
            "{}",
            catalogue::describe(&settings.actions.value, finding).trim()
        );
    }
    if catalogue.actions().len() == 0 {
        tracing::warn!(
            file = %settings.actions.value.display(),
            "there is no action in the catalogue: nothing can run; what waits for actions is kept until they are back or it expires"
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
    let control = ControlConfig {
        store: store(settings, environment).await?,
        catalogue_commit: catalogue::commit(&settings.actions.value),
        catalogue_source: Some(catalogue_source),
        catalogue,
        services,
        checker: services::checker(),
        channels,
        executor: None,
        rehearsal: label == Label::Rehearsal,
        clock: Clock::system(),
        owner_token,
        limits: settings.limits,
        backups_folder: settings
            .backups
            .value
            .then(|| settings.backups_folder.value.clone()),
        witness_file: Some(settings.witness_file()),
        instance: identity(settings)?,
        replace_catalogue: settings.replace_catalogue,
    };
    let config = PlaneConfig {
        control,
        bridge: bridge(settings),
        notifiers: notifiers::notifiers(settings, environment)?,
        embeddings: embeddings::config(settings, environment)?,
    };
    let plane = Plane::start(config).await.map_err(start_problem)?;
    // What the owner has is whole without it, so a start does not end with it.
    if let Err(error) = knowledge::make_first_space(plane.control()).await {
        tracing::warn!("the first space could not be made: {error}");
    }
    Ok(plane)
}

/// Who this is among the instances on the database: by the data folder, called as the settings say.
fn identity(settings: &Settings) -> Result<Identity, CommandError> {
    let folder = &settings.data.value;
    Identity::of_folder(folder, settings.instance.value.clone()).map_err(|error| {
        let file = folder.join(Identity::FILE);
        CommandError::failed(FailureCode::Corrupt, format!("{}: {error}", file.display()))
    })
}

fn start_problem(error: StartError) -> CommandError {
    match error {
        StartError::Store(error) => store_problem(error),
        StartError::OtherCatalogue(..) => CommandError::new(FailureCode::OtherCatalogue, error.to_string()).next(
            "give this instance the same catalogue, or start it with --replace-catalogue and restart the others with the new one",
        ),
        StartError::NameTaken(_) => CommandError::exiting(Exit::Failed, FailureCode::NameTaken, error.to_string())
            .next("give this one another name: instance = \"NAME\" in void.toml, or VOID_INSTANCE"),
        StartError::Twin(_) => CommandError::new(FailureCode::Twin, error.to_string()).next(
            "if this folder is a copy: delete instance.json in it, and give it another name where void.toml or VOID_INSTANCE has one; \
             otherwise stop the other process first",
        ),
    }
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
) -> Result<Channels, CommandError> {
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
    .map_err(|error| CommandError::config(error.to_string()))
}

/// The hidden subcommand that reads foreign bytes.
pub(crate) const EXTRACT: &str = "extract";

/// What fetches pages of the web and reads foreign bytes; one for the whole server, because it counts.
pub(crate) fn captures(settings: &Settings) -> Result<Captures, CommandError> {
    let fetcher = Fetcher::of_this_machine(
        settings.captures.allowed.clone(),
        Arc::new(SystemResolver),
        FetchPatience::default(),
    );
    Ok(Captures::new(fetcher, extractor(settings)?))
}

pub(crate) fn extractor(settings: &Settings) -> Result<Extractor, CommandError> {
    Ok(Extractor {
        isolation: settings.captures.isolation,
        ..Extractor::new(own_program()?, vec![EXTRACT.into()])
    })
}

fn own_program() -> Result<PathBuf, CommandError> {
    std::env::current_exe().map_err(|error| {
        CommandError::failed(
            FailureCode::Internal,
            format!("void cannot find its own program: {error}"),
        )
    })
}

async fn store(settings: &Settings, environment: &Environment) -> Result<Store, CommandError> {
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

pub(crate) fn store_problem(error: StoreError) -> CommandError {
    let problem = |exit, code: FailureCode, next: &str| {
        CommandError::exiting(exit, code, error.to_string()).next(next.to_owned())
    };
    match error {
        StoreError::InUse => problem(
            Exit::Failed,
            FailureCode::InUse,
            "void status shows the one that runs",
        ),
        StoreError::NewerSchema { .. } => problem(
            Exit::Failed,
            FailureCode::NewerSchema,
            "start the newer void, or restore a backup from before the upgrade",
        ),
        StoreError::DiskFull => problem(
            Exit::Failed,
            FailureCode::DiskFull,
            "free some space, then start again",
        ),
        StoreError::ReadOnly(_) => problem(
            Exit::Failed,
            FailureCode::ReadOnly,
            "make the data folder writable for the account that runs void",
        ),
        StoreError::Corrupt { .. } => problem(
            Exit::Failed,
            FailureCode::Corrupt,
            "void backup ls, then void backup restore FILE",
        ),
        StoreError::NotDurable(_) => problem(
            Exit::Config,
            FailureCode::NotDurable,
            "change that setting of PostgreSQL, then start again",
        ),
        StoreError::RolledBack | StoreError::Replaced => problem(
            Exit::Failed,
            FailureCode::RolledBack,
            "start again: what waited in the older copy is void",
        ),
        StoreError::Displaced => problem(
            Exit::Failed,
            FailureCode::Displaced,
            "stop the other process, then start again",
        ),
        StoreError::Unavailable(_) | StoreError::Unconfirmed => problem(
            Exit::Unreachable,
            FailureCode::Unavailable,
            "void config check",
        ),
        StoreError::Constraint(_) | StoreError::Internal(_) => problem(
            Exit::Failed,
            FailureCode::Internal,
            "if the database was changed by hand: void backup ls, then void backup restore FILE, then void audit verify; otherwise please report this",
        ),
    }
}

/// A folder that only its owner can look into.
fn private_folder(path: &Path) -> Result<(), CommandError> {
    let problem = |error: std::io::Error| {
        let next = match error.kind() {
            ErrorKind::PermissionDenied => whose_folder(path),
            _ => None,
        };
        let otherwise = || "choose a folder that can be written: VOID_DATA".to_owned();
        CommandError::failed(
            FailureCode::ReadOnly,
            format!("{}: {error}", path.display()),
        )
        .next(next.unwrap_or_else(otherwise))
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

/// The command that gives a folder of somebody else to the account that runs this.
fn whose_folder(path: &Path) -> Option<String> {
    let there = |folder: &Path| Some((folder.to_owned(), fs::metadata(folder).ok()?.uid()));
    let (folder, owner) = path.ancestors().find_map(there)?;
    let own = rustix::process::geteuid().as_raw();
    (owner != own).then(|| hand_over(&folder, owner, own))
}

fn hand_over(folder: &Path, owner: u32, own: u32) -> String {
    let folder = folder.display().to_string();
    format!(
        "it belongs to uid {owner}, and this runs as uid {own}; as root on the machine that has the folder: chown -R {own}:{own} {}",
        quoted(&folder)
    )
}

/// No token of the settings may be shorter.
const TOKEN_BYTES_MIN: usize = 8;
const TOKEN_DISTINCT_MIN: usize = 5;

/// Refuses a token that is guessed in no time, and warns of one that could be guessed.
pub(crate) fn check_token_length(which: &str, token: &Secret) -> Result<(), CommandError> {
    let length = token.expose().len();
    if length < TOKEN_BYTES_MIN {
        let message = format!("{which} is shorter than {TOKEN_BYTES_MIN} characters");
        return Err(CommandError::config(message).next("make a long one: openssl rand -hex 32"));
    }
    let text = token.expose();
    let distinct: BTreeSet<char> = text.chars().collect();
    if text.contains(char::is_whitespace) || distinct.len() < TOKEN_DISTINCT_MIN {
        let message = format!(
            "{which} has spaces in it, or fewer than {TOKEN_DISTINCT_MIN} different characters"
        );
        return Err(CommandError::config(message).next("make a long one: openssl rand -hex 32"));
    }
    if length < OWNER_TOKEN_LONG {
        tracing::warn!(
            "{which} has fewer than {OWNER_TOKEN_LONG} characters: wrong ones are slowed down \
             for everybody at the same address"
        );
    }
    Ok(())
}

/// What is refused before anything starts, for a start and for `void config check`: tokens that are guessed in no
/// time, and names that admit nobody.
pub(crate) fn check_access(
    settings: &Settings,
    environment: &Environment,
) -> Result<(), CommandError> {
    if let Some(token) = settings.stored_owner_token(environment)? {
        check_token_length("the owner's token", &token)?;
    }
    agents::little_blue_token(settings, environment)?;
    let public_url = settings.public_url.value.as_deref();
    void_server::check_names(public_url, &settings.allowed_hosts)
        .map_err(|error| CommandError::config(error.to_string()))
}

/// The owner's token: from the settings, from the file of an earlier start, or made now.
fn owner_token(settings: &Settings, environment: &Environment) -> Result<Secret, CommandError> {
    if let Some(token) = settings.stored_owner_token(environment)? {
        return Ok(token);
    }
    let path = settings.owner_token_file();
    let mut random = [0_u8; 32];
    getrandom::fill(&mut random)
        .map_err(|error| CommandError::failed(FailureCode::Internal, error.to_string()))?;
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
    written.map_err(|error| {
        CommandError::failed(
            FailureCode::ReadOnly,
            format!("{}: {error}", path.display()),
        )
    })?;
    tracing::info!(file = %path.display(), "made the owner's token");
    Ok(Secret::new(text))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::hand_over;

    #[test]
    fn a_folder_of_somebody_else_is_named_with_who_and_what_to_do() {
        assert_eq!(
            hand_over(Path::new("/data"), 0, 10001),
            "it belongs to uid 0, and this runs as uid 10001; as root on the machine that has the folder: chown -R 10001:10001 /data"
        );
    }
}
