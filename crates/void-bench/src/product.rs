//! The product's binary, built as it is shipped, and the machine it runs on.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::Outcome;

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
