//! The personas of this Void: those that come with it, and the files that the owner put beside the data.

use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use void_agent::personas::{PERSONA_BYTES_MAX, PERSONAS_MAX, Personas};

use crate::exit::CommandError;

/// Where the owner's are: `NAME.toml` each.
pub(crate) fn folder(data: &Path) -> PathBuf {
    data.join("personas")
}

/// A file that is no persona is an error that names it: whoever put it there meant something by it.
pub(crate) fn load(data: &Path) -> Result<Personas, CommandError> {
    let mut personas =
        Personas::builtin().map_err(|error| CommandError::config(error.to_string()))?;
    let folder = folder(data);
    for file in files(&folder)? {
        let path = folder.join(&file);
        let unread = |error| {
            CommandError::config(format!(
                "the persona {} cannot be read: {error}",
                path.display()
            ))
        };
        let mut text = String::new();
        // One byte more than fits shows that it is too long.
        let most = u64::try_from(PERSONA_BYTES_MAX).unwrap_or(u64::MAX);
        open(&path)
            .and_then(|file| file.take(most.saturating_add(1)).read_to_string(&mut text))
            .map_err(unread)?;
        personas
            .add(&file, &text)
            .map_err(|error| CommandError::config(format!("{}: {error}", folder.display())))?;
    }
    Ok(personas)
}

/// A file itself, not what a link of its name leads to, and nothing that could keep whoever reads it waiting.
fn open(path: &Path) -> io::Result<fs::File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no regular file")),
    }
}

/// The names of the owner's; `None` if whoever asks may not look.
pub(crate) fn names(data: &Path) -> Option<Vec<String>> {
    let files = files(&folder(data)).ok()?.into_iter();
    Some(
        files
            .filter_map(|file| file.strip_suffix(".toml").map(str::to_owned))
            .collect(),
    )
}

/// In the order of their names. What an editor or a system leaves behind is passed over.
fn files(folder: &Path) -> Result<Vec<String>, CommandError> {
    let unread = |error: io::Error| {
        CommandError::config(format!("{} cannot be read: {error}", folder.display()))
    };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unread(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(unread)?.file_name();
        let name = name.to_string_lossy().into_owned();
        if !name.starts_with('.') && !name.ends_with('~') {
            names.push(name);
        }
        if names.len() > PERSONAS_MAX {
            let message = format!("{} has more than {PERSONAS_MAX} files", folder.display());
            return Err(CommandError::config(message));
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NIGHT: &str =
        "name = \"Night watch\"\nabout = \"a\"\ncapabilities = [\"read\"]\ntext = \"t\"\n";

    #[test]
    fn the_owners_files_stand_beside_ours_and_a_bad_one_is_named() {
        let data = tempfile::tempdir().unwrap();
        let names = || {
            let personas = load(data.path()).map_err(|problem| problem.message)?;
            let names = personas.iter().map(|one| one.slug.to_string());
            Ok::<Vec<String>, String>(names.collect())
        };
        assert_eq!(names().unwrap(), ["companion", "little-blue", "sentinel"]);
        let folder = folder(data.path());
        fs::create_dir(&folder).unwrap();
        for (file, text) in [("night.toml", NIGHT), (".swp", "x"), ("night.toml~", "x")] {
            fs::write(folder.join(file), text).unwrap();
        }
        assert_eq!(
            names().unwrap(),
            ["companion", "little-blue", "night", "sentinel"]
        );
        for (file, text, problem) in [
            ("notes.md", "x", "called NAME.toml"),
            ("Loud.toml", NIGHT, "called NAME.toml"),
            ("odd.toml", "name = 1", "line 1"),
            (
                "long.toml",
                &"#".repeat(PERSONA_BYTES_MAX + 1),
                "longer than",
            ),
            ("sentine1.toml", NIGHT, "reads like that of \"sentinel\""),
        ] {
            fs::write(folder.join(file), text).unwrap();
            let said = names().unwrap_err();
            assert!(said.contains(file) && said.contains(problem), "{said}");
            fs::remove_file(folder.join(file)).unwrap();
        }
        fs::create_dir(folder.join("sub.toml")).unwrap();
        assert!(names().unwrap_err().contains("sub.toml cannot be read"));
        fs::remove_dir(folder.join("sub.toml")).unwrap();
        let elsewhere = data.path().join("elsewhere.toml");
        fs::write(&elsewhere, NIGHT).unwrap();
        std::os::unix::fs::symlink(&elsewhere, folder.join("link.toml")).unwrap();
        let said = names().unwrap_err();
        assert!(said.contains("link.toml cannot be read"), "{said}");
        fs::remove_file(folder.join("link.toml")).unwrap();
        let fifo = folder.join("fifo.toml");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RWXU).unwrap();
        let said = names().unwrap_err();
        assert!(said.contains("fifo.toml cannot be read"), "{said}");
    }
}
