//! Host keys: pinned in the catalogue, or trusted by the owner with a fingerprint. An unknown or
//! changed key is a refusal that shows what was seen; nothing is ever accepted silently.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use sha2::{Digest as _, Sha256};
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
}

impl KnownHosts {
    pub(super) fn new(config: &SshConfig) -> Self {
        Self {
            keyscan: config.keyscan.clone(),
            managed: config.known_hosts.clone(),
            run_folder: config.run_folder.clone(),
        }
    }

    /// The file that `ssh` compares with. A pinned key gets a file of its own, so that no other key
    /// can stand in for it.
    pub(super) fn file_for(&self, host: &HostName, address: &SshAddress) -> PathBuf {
        let Some(key) = &address.host_key else {
            return self.managed.clone();
        };
        let file = self.run_folder.join(format!("pinned.{host}"));
        let line = format!("{host} {key}\n");
        if fs::read_to_string(&file).is_ok_and(|found| found == line) {
            return file;
        }
        // If it cannot be written, `ssh` finds no key and refuses.
        let _ = fs::write(&file, line);
        file
    }

    /// The keys that are trusted for this host.
    pub(crate) fn trusted(&self, host: &HostName, address: &SshAddress) -> Vec<HostKey> {
        if let Some(key) = &address.host_key {
            return HostKey::parse(key).into_iter().collect();
        }
        let text = fs::read_to_string(&self.managed).unwrap_or_default();
        text.lines()
            .filter_map(|line| line.split_once(' '))
            .filter(|(name, _)| *name == host.as_str())
            .filter_map(|(_, key)| HostKey::parse(key))
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
        let text = match fs::read_to_string(&self.managed) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let other = |line: &&str| {
            line.split_once(' ')
                .is_none_or(|(name, _)| name != host.as_str())
        };
        let mut lines: Vec<String> = text.lines().filter(other).map(str::to_owned).collect();
        lines.push(format!("{host} {}", key.line));
        let partial = self.managed.with_extension("partial");
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&partial)?;
        file.write_all((lines.join("\n") + "\n").as_bytes())?;
        file.sync_all()?;
        fs::rename(&partial, &self.managed)
    }

    pub(super) async fn why_refused(&self, host: &HostName, address: &SshAddress) -> Failure {
        let seen: Vec<String> = self
            .scan(address)
            .await
            .into_iter()
            .map(|key| key.fingerprint)
            .collect();
        let seen = if seen.is_empty() {
            "none".to_owned()
        } else {
            seen.join(", ")
        };
        let trusted = self.trusted(host, address);
        if trusted.is_empty() {
            let message = format!(
                "the host key of {host} is unknown; it shows {seen}. Compare it on the machine itself, then: \
                 void hosts trust {host} --fingerprint SHA256:…"
            );
            return Failure::new("host_key_unknown", message);
        }
        let known: Vec<&str> = trusted.iter().map(|key| key.fingerprint.as_str()).collect();
        let message = format!(
            "the host key of {host} has changed: it shows {seen}, trusted is {}. Either the machine was set up \
             anew, or somebody else answers at {}",
            known.join(", "),
            address.address
        );
        Failure::new("host_key_changed", message)
    }
}
