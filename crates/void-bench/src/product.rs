//! The product's binary, built as it is shipped, and the machine it runs on.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Outcome;
use crate::subject::OWNER_TOKEN;

/// Builds `void` beside this program, in the same profile. Nothing happens if it is up to date.
pub(crate) fn build() -> Outcome<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own.parent().ok_or("this program lies nowhere")?;
    let (target, profile) = (folder.parent(), folder.file_name());
    let target = target.ok_or("cargo puts programs below a target folder")?;
    // The one profile whose folder is called otherwise.
    let profile = match profile.and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "the benchmark builds what it measures"
    )]
    let status = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--package",
            "void",
            "--profile",
            profile,
        ])
        .arg("--manifest-path")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"))
        .arg("--target-dir")
        .arg(target)
        .status()?;
    if !status.success() {
        return Err("cargo build --package void failed".into());
    }
    Ok(folder.join("void"))
}

/// The product's command line, for one server.
pub(crate) struct Commands {
    program: PathBuf,
    address: SocketAddr,
    folder: PathBuf,
}

impl Commands {
    pub(crate) fn new(program: &Path, address: SocketAddr, folder: &Path) -> Self {
        Self {
            program: program.to_owned(),
            address,
            folder: folder.to_owned(),
        }
    }

    /// How long it took, from before the process was made to its end.
    #[expect(
        clippy::disallowed_methods,
        reason = "what is measured here is the product's command line"
    )]
    pub(crate) async fn run(&self, args: &[&str]) -> Outcome<Duration> {
        let begun = Instant::now();
        let ended = tokio::process::Command::new(&self.program)
            .args(args)
            .env_clear()
            .env("OWNER_TOKEN", OWNER_TOKEN)
            .env("VOID_API_URL", format!("http://{}", self.address))
            .env("VOID_DATA", &self.folder)
            .kill_on_drop(true)
            .output()
            .await?;
        let took = begun.elapsed();
        if ended.status.success() {
            return Ok(took);
        }
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        Err(format!("void {}: {said}", args.join(" ")).into())
    }
}

/// Without this the numbers of two runs cannot be compared.
pub(crate) fn machine() -> Value {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let after = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_once(':'))
            .map(|(_, value)| value.trim().to_owned())
    };
    json!({
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "processor": after(&text("/proc/cpuinfo"), "model name"),
        "memory": after(&text("/proc/meminfo"), "MemTotal"),
        "kernel": text("/proc/sys/kernel/osrelease").trim(),
    })
}
