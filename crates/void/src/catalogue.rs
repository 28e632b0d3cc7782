//! Loads the catalogue once, and finds out which commit it is at.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use void_channels::CatalogueFile;
use void_control::CatalogueSource;
use void_domain::catalogue::{Catalogue, Problem as Finding};
use void_domain::limits::CATALOGUE_BYTES_MAX;

use crate::exit::CommandError;
use crate::hints;
use crate::settings::{Settings, Source};

/// Nothing may run: what a fresh installation has.
const EMPTY: &str = "{\"hosts\":{},\"actions\":[]}";

/// The catalogue of the settings. A file that was named must be there; without any, nothing may run.
pub(crate) fn load(settings: &Settings) -> Result<Catalogue, CommandError> {
    Ok(load_with_source(settings)?.0)
}

/// The same with the file that it was read from, for changes that are proposed.
pub(crate) fn load_with_source(
    settings: &Settings,
) -> Result<(Catalogue, CatalogueSource), CommandError> {
    let path = &settings.actions.value;
    let text = if settings.actions.source == Source::Default && !path.exists() {
        None
    } else {
        Some(read(path)?)
    };
    let catalogue = parse(path, text.as_deref().unwrap_or(EMPTY), settings)?;
    let path = std::path::absolute(path)
        .map_err(|error| CommandError::config(format!("{}: {error}", path.display())))?;
    let source = CatalogueSource {
        file: CatalogueFile::new(path, text),
        lockout: settings.lockout.clone(),
    };
    Ok((catalogue, source))
}

pub(crate) fn parse(
    path: &Path,
    text: &str,
    settings: &Settings,
) -> Result<Catalogue, CommandError> {
    Catalogue::parse(text, &settings.lockout).map_err(|findings| {
        let lines: Vec<String> = findings
            .iter()
            .map(|finding| describe(path, finding))
            .collect();
        CommandError::config(format!(
            "the catalogue is refused as a whole:\n{}",
            lines.join("\n")
        ))
        .next(format!("void actions lint {}", quoted(path)))
    })
}

/// An approved change that was put beside the catalogue and is in force for nobody.
pub(crate) struct Unmoved {
    pub file: PathBuf,
    pub message: String,
    pub next: String,
}

/// What lies beside a catalogue. While it does, no other approved change can be put there.
pub(crate) fn unmoved(catalogue: &Path) -> Option<Unmoved> {
    let catalogue = std::path::absolute(catalogue).ok()?;
    let file = CatalogueFile::beside(&catalogue);
    fs::symlink_metadata(&file).ok()?;
    let (from, to) = (quoted(&file), quoted(&catalogue));
    let is_same = matches!((read(&file), read(&catalogue)), (Ok(new), Ok(now)) if new == now);
    let (message, next) = match is_same {
        true => (
            format!("{} says what the catalogue says already", file.display()),
            format!("rm {from}"),
        ),
        false => (
            format!(
                "{} is an approved change that is not in force: diff -u {to} {from} shows it",
                file.display()
            ),
            format!("mv {from} {to} && void reload"),
        ),
    };
    Some(Unmoved {
        file,
        message,
        next,
    })
}

fn quoted(path: &Path) -> String {
    hints::quoted(&path.display().to_string())
}

pub(crate) fn describe(path: &Path, finding: &Finding) -> String {
    // Which machines Void lives on is a setting, and mistakes in it are not the catalogue's.
    if finding.path.starts_with("[self]") {
        let hint = finding.hint.as_deref().map(|hint| format!("; {hint}"));
        let hint = hint.unwrap_or_default();
        return format!("  void.toml, {}: {}{hint}", finding.path, finding.message);
    }
    format!("  {}: {finding}", path.display())
}

pub(crate) fn read(path: &Path) -> Result<String, CommandError> {
    let problem = |what: String| CommandError::config(format!("{}: {what}", path.display()));
    let metadata = fs::metadata(path).map_err(|error| problem(error.to_string()))?;
    if !metadata.is_file() {
        return Err(problem("not a file".to_owned()));
    }
    if metadata.len() > CATALOGUE_BYTES_MAX as u64 {
        return Err(problem(format!("larger than {CATALOGUE_BYTES_MAX} bytes")));
    }
    let bytes = fs::read(path).map_err(|error| problem(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| problem("not UTF-8".to_owned()))
}

/// The commit that last touched the file, with `-modified` if it has changed since.
pub(crate) fn commit(path: &Path) -> Option<String> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let name = path.file_name()?;
    let git = |args: &[&str]| {
        #[expect(
            clippy::disallowed_methods,
            reason = "git by fixed argv; the file's name comes after --"
        )]
        let mut command = Command::new("git");
        command
            .arg("-C")
            .arg(folder)
            .args(["-c", "core.fsmonitor=false"])
            .args(args)
            .arg("--")
            .arg(name)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        command.output().ok()
    };
    let log = git(&["log", "-1", "--format=%H"])?;
    let commit = String::from_utf8(log.stdout).ok()?.trim().to_owned();
    let is_commit =
        log.status.success() && commit.len() >= 40 && commit.bytes().all(|b| b.is_ascii_hexdigit());
    if !is_commit {
        return None;
    }
    let unchanged = git(&["diff", "--quiet", "HEAD"])?.status.success();
    Some(if unchanged {
        commit
    } else {
        format!("{commit}-modified")
    })
}
