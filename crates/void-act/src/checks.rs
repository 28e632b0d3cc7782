//! `void-act --check`: says in words what is wrong with a list, before it refuses everything in silence.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::lists::{Arg, Entry, Tier, load};
use crate::options::Options;

/// Findings as lines, and whether the list can be used.
pub(crate) fn check(options: &Options) -> (Vec<String>, bool) {
    let loaded = load(&options.list, options.trust);
    let list = match loaded.list {
        Ok(list) => list,
        Err(findings) => {
            return (
                findings
                    .iter()
                    .map(|text| format!("error: {text}"))
                    .collect(),
                false,
            );
        }
    };
    let mut lines: Vec<String> = list.entries.iter().flat_map(about).collect();
    let sound = !lines.iter().any(|line| line.starts_with("error: "));
    lines.push(format!(
        "{}: host {}, {} entries, sha256 {}",
        if sound { "ok" } else { "not ok" },
        list.host,
        list.entries.len(),
        loaded.digest.unwrap_or_default(),
    ));
    (lines, sound)
}

fn about(entry: &Entry) -> Vec<String> {
    let id = &entry.id;
    let mut lines = Vec::new();
    if let Some(Arg::Fixed(program)) = entry.argv.first() {
        match fs::metadata(program) {
            Ok(metadata) if !metadata.is_file() || metadata.mode() & 0o111 == 0 => {
                lines.push(format!("error: {id}: {program} is not an executable file"));
            }
            Ok(metadata) if metadata.mode() & 0o022 != 0 => {
                lines.push(format!(
                    "error: {id}: {program} can be written by its group or by others"
                ));
            }
            Ok(_) => {}
            Err(error) => lines.push(format!("error: {id}: {program}: {error}")),
        }
    }
    if entry.def.is_none() {
        lines.push(format!(
            "note: {id}: without def every ticket is refused as drift"
        ));
    }
    if entry.tier == Tier::Safe && entry.cooldown_s.or(entry.bare_cooldown_s).is_none() {
        lines.push(format!(
            "note: {id}: without cooldown_s it runs by ticket only"
        ));
    }
    if entry.signed {
        lines.push(format!(
            "note: {id}: signed entries are refused until signatures exist"
        ));
    }
    lines
}
