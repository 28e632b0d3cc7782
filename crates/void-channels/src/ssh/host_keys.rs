//! Host keys: pinned in the catalogue, or trusted by the owner with a fingerprint. An unknown or
//! changed key is a refusal that shows what was seen; nothing is ever accepted silently.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use sha2::{Digest as _, Sha256};
use void_domain::digests::Digest;
use void_domain::failures::FailureCode;
use void_domain::hosts::{HostName, SshAddress, is_host_key};
use void_domain::proposals::Failure;

use super::SshConfig;
use crate::process::{self, Program};

const SCAN_SECONDS: u64 = 5;
const SCAN_TIMEOUT: Duration = Duration::from_secs(20);

/// A key that a host showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostKey {
    /// `ssh-ed25519 AAAA…`
    pub line: String,
    /// `SHA256:…`, as `ssh-keygen -lf` prints it.
    pub fingerprint: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidFingerprint;

impl HostKey {
    fn parse(line: &str) -> Option<Self> {
        if !is_host_key(line) {
            return None;
        }
        let blob = STANDARD.decode(line.split(' ').nth(1)?).ok()?;
        let fingerprint = format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(blob)));
        Some(Self {
            line: line.to_owned(),
            fingerprint,
        })
    }

    /// `type key` and perhaps a comment.
    fn of_words<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Self> {
        Self::parse(&format!("{} {}", words.next()?, words.next()?))
    }

    /// `SHA256:` and 43 characters of base64.
    pub fn parse_fingerprint(text: &str) -> Result<&str, InvalidFingerprint> {
        let body = text.strip_prefix("SHA256:").ok_or(InvalidFingerprint)?;
        match STANDARD_NO_PAD.decode(body) {
            Ok(bytes) if bytes.len() == 32 => Ok(text),
            _ => Err(InvalidFingerprint),
        }
    }
}

pub(crate) struct KnownHosts {
    keyscan: PathBuf,
    managed: PathBuf,
    run_folder: PathBuf,
    /// One change of the managed file at a time.
    changing: Mutex<()>,
}

impl KnownHosts {
    pub(super) fn new(config: &SshConfig) -> Self {
        Self {
            keyscan: config.keyscan.clone(),
            managed: config.known_hosts.clone(),
            run_folder: config.run_folder.clone(),
            changing: Mutex::default(),
        }
    }

    /// The file that `ssh` compares with: this host's keys and nothing else. The managed file itself
    /// is never shown to `ssh`, which would take a certificate authority or a pattern in it for more
    /// than the owner compared. Its content is its name, so a file once written is never changed.
    pub(super) fn file_for(
        &self,
        host: &HostName,
        address: &SshAddress,
    ) -> std::io::Result<PathBuf> {
        let lines: String = self
            .trusted(host, address)
            .iter()
            .map(|key| format!("{host} {}\n", key.line))
            .collect();
        let file = self
            .run_folder
            .join(format!("keys.{}", Digest::of(lines.as_bytes())));
        if fs::read_to_string(&file).is_ok_and(|found| found == lines) {
            return Ok(file);
        }
        replace(&file, &lines)?;
        Ok(file)
    }

    /// The keys that are trusted for this host, pinned or in the managed file.
    pub(crate) fn trusted(&self, host: &HostName, address: &SshAddress) -> Vec<HostKey> {
        let managed = Managed::read(&self.managed);
        let keys = match &address.host_key {
            Some(key) => HostKey::parse(key).into_iter().collect(),
            None => managed.keys_of(host),
        };
        keys.into_iter()
            .filter(|key| !managed.revokes(key))
            .collect()
    }

    /// What the machine at this address shows now. Asking proves nothing about who it is.
    pub(crate) async fn scan(&self, address: &SshAddress) -> Vec<HostKey> {
        let port = address.port.to_string();
        let seconds = SCAN_SECONDS.to_string();
        let args = [
            "-T",
            &seconds,
            "-p",
            &port,
            "-t",
            "ed25519,ecdsa,rsa",
            "--",
            &address.address,
        ];
        let program = Program {
            path: self.keyscan.clone(),
            args: args.iter().map(Into::into).collect(),
            env: Vec::new(),
            dies_with_us: true,
        };
        let Ok(finished) = process::run(program, SCAN_TIMEOUT).await else {
            return Vec::new();
        };
        String::from_utf8_lossy(&finished.stdout)
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once(' '))
            .filter_map(|(_, key)| HostKey::parse(key))
            .collect()
    }

    /// Adds a key for this host, on disk before this returns. Other keys of the host are replaced: a
    /// machine has the one that the owner compared last.
    pub(crate) fn trust(&self, host: &HostName, key: &HostKey) -> std::io::Result<()> {
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let text = match fs::read_to_string(&self.managed) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        if Managed(text.clone()).revokes(key) {
            let message = format!("{} is marked as revoked", key.fingerprint);
            return Err(std::io::Error::new(ErrorKind::InvalidInput, message));
        }
        let other = |line: &&str| line.split_whitespace().next() != Some(host.as_str());
        let mut lines: Vec<String> = text.lines().filter(other).map(str::to_owned).collect();
        lines.push(format!("{host} {}", key.line));
        replace(&self.managed, &(lines.join("\n") + "\n"))
    }

    pub(super) async fn why_refused(&self, host: &HostName, address: &SshAddress) -> Failure {
        let shown = self.scan(address).await;
        let seen = fingerprints(&shown);
        let managed = Managed::read(&self.managed);
        if let Some(key) = shown.iter().find(|key| managed.revokes(key)) {
            let message = format!(
                "the host key of {host} is marked as revoked: it shows {}",
                key.fingerprint
            );
            return Failure::new(FailureCode::HostKeyRevoked, message);
        }
        let trusted = self.trusted(host, address);
        if trusted.is_empty() {
            let message = format!(
                "the host key of {host} is unknown; it shows {seen}. Compare it on the machine itself, then: \
                 void hosts trust {host} --fingerprint SHA256:…"
            );
            return Failure::new(FailureCode::HostKeyUnknown, message);
        }
        let message = format!(
            "the host key of {host} has changed: it shows {seen}, trusted is {}. Either the machine was set up \
             anew, or somebody else answers at {}",
            fingerprints(&trusted),
            address.address
        );
        Failure::new(FailureCode::HostKeyChanged, message)
    }
}

fn fingerprints(keys: &[HostKey]) -> String {
    if keys.is_empty() {
        return "none".to_owned();
    }
    let all: Vec<&str> = keys.iter().map(|key| key.fingerprint.as_str()).collect();
    all.join(", ")
}

/// The managed file. Only plain lines of one name, and `@revoked`, mean anything here; whatever else
/// `ssh` would understand grants nothing.
struct Managed(String);

impl Managed {
    /// A file that is not there or cannot be read trusts nobody.
    fn read(path: &Path) -> Self {
        Self(fs::read_to_string(path).unwrap_or_default())
    }

    fn keys_of(&self, host: &HostName) -> Vec<HostKey> {
        let of_host = |line: &str| {
            let mut words = line.split_whitespace();
            let ours = words.next() == Some(host.as_str());
            ours.then(|| HostKey::of_words(words)).flatten()
        };
        self.0.lines().filter_map(of_host).collect()
    }

    /// For whichever hosts it says so, and however it is written: a key that got about is nobody's.
    fn revokes(&self, key: &HostKey) -> bool {
        let blob = key.line.split(' ').next_back();
        self.0.lines().any(|line| {
            let mut words = line.split_whitespace();
            words.next() == Some("@revoked") && words.any(|word| Some(word) == blob)
        })
    }
}

/// Puts a private file there in one step, and on disk.
fn replace(path: &Path, content: &str) -> std::io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let partial = path.with_extension(format!("{}-{count}.partial", std::process::id()));
    let written = OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(&partial)
        .and_then(|mut file| {
            file.write_all(content.as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written?;
    match path.parent() {
        Some(folder) => fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
