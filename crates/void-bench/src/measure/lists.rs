//! Lists of machines: what `void provision` would print for a catalogue, with a command that is measured.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use void_domain::catalogue::{Catalogue, Lockout};

use crate::Outcome;

/// `list.json` in `folder`, in which everything that the catalogue names is done by this `argv`.
pub(super) fn write_list(
    folder: &Path,
    host: &str,
    catalogue: &str,
    argv: &Value,
) -> Outcome<PathBuf> {
    let parsed = Catalogue::parse(catalogue, &Lockout::default())
        .map_err(|problems| format!("the catalogue of this measurement: {problems:?}"))?;
    let entries: Vec<Value> = parsed
        .actions()
        .map(|action| {
            json!({"id": action.id, "tier": action.tier, "def": action.exec_digest(), "argv": argv})
        })
        .collect();
    let stop = folder.join("stop");
    let list = json!({"version": 1, "host": host, "stop_file": stop, "entries": entries});
    let path = folder.join("list.json");
    fs::write(&path, list.to_string())?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644))?;
    Ok(path)
}
