//! What npm brings: servers in JavaScript that Void is measured beside, where npm and its registry can be reached.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Outcome;

/// A name and a text.
pub(crate) type PackageFile = (&'static str, &'static str);

/// Installs into `folder`. `None`: it cannot be had here, which is said.
#[expect(
    clippy::disallowed_methods,
    reason = "npm brings what is measured beside Void"
)]
pub(crate) fn install(folder: PathBuf, files: &[PackageFile]) -> Outcome<Option<PathBuf>> {
    fs::create_dir_all(&folder)?;
    for (name, text) in files {
        fs::write(folder.join(name), text)?;
    }
    let installed = std::process::Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--ignore-scripts"])
        .current_dir(&folder)
        .output();
    if has_node() && installed.is_ok_and(|output| output.status.success()) {
        return Ok(Some(folder));
    }
    let name = folder.file_name().unwrap_or_default();
    eprintln!(
        "  npm cannot install {} here; what is measured beside it is left out",
        Path::new(name).display()
    );
    Ok(None)
}

#[expect(
    clippy::disallowed_methods,
    reason = "node runs what is measured beside Void"
)]
fn has_node() -> bool {
    let asked = std::process::Command::new("node").arg("--version").output();
    asked.is_ok_and(|output| output.status.success())
}
