//! What a node keeps: where its server is and how it is known, its secret, how often it was started, and the journal.
//! Nobody but its own account can look into it, and one program at a time works with it.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use void_domain::digests::Digest;
use void_domain::failures::FailureCode;
use void_domain::secrets::Secret;

use crate::exit::CommandError;

pub(crate) const STATE: &str = "/var/lib/void-node";
pub(crate) const LIST: &str = "/etc/void-node/list.json";
const SECRET_BYTES: usize = 32;
const FILE_BYTES_MAX: u64 = 64 * 1024;

pub(crate) struct Folder(PathBuf);

/// How the server is reached, and why it is believed to be the right one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct JoinedServer {
    pub url: String,
    /// SHA-256 of the server's certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<String>,
    /// A file of authorities; without it and without a pin, the machine's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
}

impl Folder {
    /// Opens it; makes it if `make`.
    pub(crate) fn open(path: &Path, make: bool) -> Result<Self, CommandError> {
        if make {
            let made = fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(path);
            made.map_err(|error| unusable(path, &error))?;
        }
        let metadata = fs::metadata(path).map_err(|error| {
            unusable(path, &error)
                .next("void node join URL --token …, or say where it is with --state")
        })?;
        let ours = metadata.uid() == rustix::process::geteuid().as_raw();
        if !metadata.is_dir() || !ours || metadata.mode() & 0o077 != 0 {
            let message = format!(
                "{} is not a folder that only this account can look into",
                path.display()
            );
            return Err(CommandError::config(message).next("chmod 700, and run this as its owner"));
        }
        Ok(Self(path.to_owned()))
    }

    pub(crate) fn journal(&self) -> Result<PathBuf, CommandError> {
        let path = self.0.join("journal");
        let made = fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path);
        made.map_err(|error| unusable(&path, &error))?;
        Ok(path)
    }

    pub(crate) fn server(&self) -> Result<JoinedServer, CommandError> {
        let path = self.0.join("server.json");
        let text = read(&path)?.ok_or_else(|| {
            CommandError::config(format!(
                "{} is not there: this machine has not joined",
                path.display()
            ))
            .next("void node join URL --token …")
        })?;
        serde_json::from_str(&text)
            .map_err(|error| CommandError::config(format!("{}: {error}", path.display())))
    }

    pub(crate) fn write_server(&self, server: &JoinedServer) -> Result<(), CommandError> {
        let text = serde_json::to_string_pretty(server).unwrap_or_default();
        self.write("server.json", &format!("{text}\n"))
    }

    /// The secret that this machine made, if it has.
    pub(crate) fn secret(&self) -> Result<Option<Secret>, CommandError> {
        let text = read(&self.0.join("secret"))?;
        Ok(text.map(|text| Secret::new(text.trim_end())))
    }

    /// Makes a new secret; the old one is gone.
    pub(crate) fn make_secret(&self) -> Result<Secret, CommandError> {
        let mut random = [0_u8; SECRET_BYTES];
        getrandom::fill(&mut random)
            .map_err(|error| CommandError::failed(FailureCode::Internal, error.to_string()))?;
        let text = format!("void_node_{}", hex(&random));
        self.write("secret", &format!("{text}\n"))?;
        Ok(Secret::new(text))
    }

    /// Counts this start. On disk before anybody hears of it, so that no two starts have the same number.
    pub(crate) fn next_generation(&self) -> Result<u64, CommandError> {
        let path = self.0.join("generation");
        let last = match read(&path)? {
            None => 0,
            Some(text) => text.trim().parse::<u64>().map_err(|error| {
                CommandError::config(format!("{}: {error}", path.display()))
                    .next("void node revoke NAME, then join again")
            })?,
        };
        let next = last.saturating_add(1);
        self.write("generation", &format!("{next}\n"))?;
        Ok(next)
    }

    /// Held for as long as the program runs.
    pub(crate) fn lock(&self) -> Result<File, CommandError> {
        let path = self.0.join("running");
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(|error| unusable(&path, &error))?;
        file.try_lock().map_err(|_| {
            CommandError::new(
                FailureCode::InUse,
                format!("another void node run works with {}", self.0.display()),
            )
        })?;
        Ok(file)
    }

    fn write(&self, name: &str, text: &str) -> Result<(), CommandError> {
        let (path, new) = (self.0.join(name), self.0.join(format!("{name}.new")));
        let written = OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&new)
            .and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.sync_all()
            })
            .and_then(|()| fs::rename(&new, &path))
            .and_then(|()| File::open(&self.0)?.sync_all());
        written.map_err(|error| unusable(&path, &error))
    }
}

/// What both sides show of a secret.
pub(crate) fn fingerprint(secret: &Secret) -> String {
    Digest::of(secret.expose().as_bytes()).to_fingerprint()
}

pub(crate) fn nonce() -> Result<String, CommandError> {
    let mut random = [0_u8; 16];
    getrandom::fill(&mut random)
        .map_err(|error| CommandError::failed(FailureCode::Internal, error.to_string()))?;
    Ok(hex(&random))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(path: &Path) -> Result<Option<String>, CommandError> {
    let mut text = String::new();
    match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unusable(path, &error)),
        Ok(file) => match file.take(FILE_BYTES_MAX).read_to_string(&mut text) {
            Ok(_) => Ok(Some(text)),
            Err(error) => Err(unusable(path, &error)),
        },
    }
}

fn unusable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::config(format!("{}: {error}", path.display()))
}
