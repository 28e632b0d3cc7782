//! Old tickets for the journal of `void-act`. All that knows the journal's format is here.

use std::fs::{self, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use void_domain::digests::Digest;

use crate::Outcome;

/// A file of lines, or a folder with one file a ticket.
const JOURNAL: &str = "journal";

/// Copies what the product wrote for a run, as often as there are to be tickets, each with a proposal of its own.
pub(super) fn fill(state: &Path, tickets: u64) -> Outcome<()> {
    let journal = state.join(JOURNAL);
    if journal.is_file() {
        fill_lines(&journal, tickets)?;
    } else {
        fill_folders(&journal, tickets)?;
    }
    rustix::fs::sync();
    Ok(())
}

/// A file a ticket, named as its proposal, in a folder named by the first digits of the hash of that name.
fn fill_folders(journal: &Path, tickets: u64) -> Outcome<()> {
    let sample = a_ticket(journal)?.ok_or("the journal holds no ticket")?;
    let (folder, name) = (name_of(sample.parent()), name_of(Some(&sample)));
    let text = fs::read_to_string(&sample)?;
    let folder_of = |name: &str| -> String {
        let hash = Digest::of(name.as_bytes()).to_string();
        hash.chars().take(folder.len()).collect()
    };
    if folder_of(&name) != folder || !text.contains(&name) || text.lines().count() != 2 {
        return Err(format!("{} is not what a run leaves", sample.display()).into());
    }
    for number in 0..tickets {
        let own = proposal(number);
        let path = journal.join(folder_of(&own)).join(&own);
        let mut options = OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        file.write_all(text.replace(&name, &own).as_bytes())?;
    }
    Ok(())
}

/// Any: the ones in folders whose names are no digits are something else.
fn a_ticket(journal: &Path) -> Outcome<Option<PathBuf>> {
    for folder in fs::read_dir(journal)? {
        let folder = folder?.path();
        let is_digits = name_of(Some(&folder))
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit());
        if !is_digits || !folder.is_dir() {
            continue;
        }
        if let Some(file) = fs::read_dir(folder)?.next() {
            return Ok(Some(file?.path()));
        }
    }
    Ok(None)
}

fn name_of(path: Option<&Path>) -> String {
    let name = path.and_then(Path::file_name).unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// All in one file of lines, each run with a number of its own.
fn fill_lines(path: &Path, tickets: u64) -> Outcome<()> {
    let text = fs::read_to_string(path)?;
    let last = |kind: &str| {
        let found = text.lines().rev().find(|line| line.starts_with(kind));
        found.ok_or_else(|| format!("the journal holds no line {kind}"))
    };
    let (start, end) = (last("{\"start\"")?, last("{\"end\"")?);
    let parsed: Value = serde_json::from_str(start)?;
    let run = parsed.pointer("/start/run").and_then(Value::as_u64);
    let run = run.ok_or("a run without a number")?;
    let name = parsed.pointer("/start/ticket/proposal");
    let name = name
        .and_then(Value::as_str)
        .ok_or("a run without a ticket")?;
    let mut file = BufWriter::new(OpenOptions::new().append(true).open(path)?);
    for number in run + 1..=run + tickets {
        for line in [start, end] {
            let line = line.replace(name, &proposal(number));
            let from = format!("\"run\":{run},");
            writeln!(
                file,
                "{}",
                line.replace(&from, &format!("\"run\":{number},"))
            )?;
        }
    }
    file.into_inner()?.sync_all()?;
    Ok(())
}

fn proposal(number: u64) -> String {
    format!("0190d8a5-8c5e-7c3a-9a55-{number:012x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_of_its_own_lies_where_it_is_looked_for() {
        let state = tempfile::tempdir().unwrap();
        let journal = state.path().join(JOURNAL);
        let name = "0190d8a5-8c5e-7c3a-9a55-8f6d2c1b0a99";
        let hash = Digest::of(name.as_bytes()).to_string();
        for digit in "0123456789abcdef".chars() {
            fs::create_dir_all(journal.join(digit.to_string())).unwrap();
        }
        fs::create_dir(journal.join("marks")).unwrap();
        fs::write(journal.join("marks").join("clock"), "{}\n").unwrap();
        let text = format!("{{\"start\":\"{name}\"}}\n{{\"end\":1}}\n");
        fs::write(journal.join(&hash[..1]).join(name), text).unwrap();
        fill(state.path(), 40).unwrap();
        for number in 0..40 {
            let own = proposal(number);
            let folder = Digest::of(own.as_bytes()).to_string();
            let text = fs::read_to_string(journal.join(&folder[..1]).join(&own)).unwrap();
            assert_eq!(text, format!("{{\"start\":\"{own}\"}}\n{{\"end\":1}}\n"));
        }
        // A run that has not ended is no sample.
        let unended = tempfile::tempdir().unwrap();
        let folder = unended.path().join(JOURNAL).join(&hash[..1]);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), format!("{{\"start\":\"{name}\"}}\n")).unwrap();
        assert!(fill(unended.path(), 1).is_err());
    }
}
