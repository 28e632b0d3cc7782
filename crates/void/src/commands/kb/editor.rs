//! A text in the owner's own editor: a file of this account alone, opened with `$VISUAL` or `$EDITOR`. Whatever becomes of
//! the save, the text that was written is not lost: the file is removed only after the server has it.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use void_domain::limits::PAGE_BYTES_MAX;

use crate::exit::CommandError;
use crate::settings::Environment;

/// What is tried if nobody said which editor.
const EDITOR: &str = "vi";

/// A text that is being written.
pub(in crate::commands) struct EditedFile {
    path: PathBuf,
}

impl EditedFile {
    /// `title` is how the file begins to be called.
    pub(in crate::commands) fn new(title: &str, text: &str) -> Result<Self, CommandError> {
        let mut random = [0_u8; 6];
        getrandom::fill(&mut random)
            .map_err(|error| CommandError::usage(format!("no random bytes: {error}")))?;
        let random: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let name = format!("void-{}-{random}.md", file_name(title));
        let path = std::env::temp_dir().join(name);
        // Not one that somebody else put there, and nobody else's to read.
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| unusable(&path, &error))?;
        Ok(Self { path })
    }

    /// Opens the editor and waits until it is closed; the text as it is then.
    pub(in crate::commands) fn edit(
        &self,
        environment: &Environment,
    ) -> Result<String, CommandError> {
        let named = ["VISUAL", "EDITOR"]
            .into_iter()
            .filter_map(|name| environment.get(name))
            .find(|editor| !editor.trim().is_empty());
        let mut words = named.unwrap_or(EDITOR).split_whitespace();
        let program = words.next().unwrap_or(EDITOR);
        #[expect(
            clippy::disallowed_methods,
            reason = "the owner's own editor, by argv; no shell reads the file's name"
        )]
        let mut command = Command::new(program);
        let ended = command.args(words).arg(&self.path).status();
        let kept = format!("your text is in {}", self.path.display());
        match ended {
            Ok(status) if status.success() => self.read(),
            Ok(status) => Err(CommandError::usage(format!(
                "the editor {program} ended with {status}; nothing was saved, and {kept}"
            ))),
            Err(error) => {
                self.forget();
                let message = format!("the editor {program} cannot be started: {error}");
                Err(CommandError::usage(message).next("set EDITOR, or use --text or --file"))
            }
        }
    }

    fn read(&self) -> Result<String, CommandError> {
        let text = fs::read(&self.path).map_err(|error| unusable(&self.path, &error))?;
        let text = String::from_utf8(text);
        text.map_err(|_| self.kept(CommandError::usage("the text is not UTF-8")))
    }

    /// The same error, which says where the text is.
    pub(in crate::commands) fn kept(&self, mut error: CommandError) -> CommandError {
        error.message = format!("{}; your text is in {}", error.message, self.path.display());
        error
    }

    /// The server has the text, or there was none.
    pub(in crate::commands) fn forget(&self) {
        // Who cannot remove it here finds it there.
        let _ = fs::remove_file(&self.path);
    }
}

fn unusable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::usage(format!("{} cannot be used: {error}", path.display()))
}

/// A few letters of a title, so that whoever sees the file knows what it is.
fn file_name(title: &str) -> String {
    let letters = title.chars().filter_map(|letter| match letter {
        letter if letter.is_ascii_alphanumeric() => Some(letter.to_ascii_lowercase()),
        ' ' | '-' | '_' => Some('-'),
        _ => None,
    });
    let name: String = letters.take(24).collect();
    let name = name.trim_matches('-');
    match name {
        "" => "text".to_owned(),
        name => name.to_owned(),
    }
}

/// The text of a file, or of standard input.
pub(in crate::commands) fn read_file(path: &Path) -> Result<String, CommandError> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    // One more than fits, so that too much is seen.
    let most = PAGE_BYTES_MAX as u64 + 1;
    let read = match path.as_os_str() == "-" {
        true => std::io::stdin().lock().take(most).read_to_end(&mut bytes),
        false => fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)),
    };
    read.map_err(|error| unusable(path, &error))?;
    if bytes.len() > PAGE_BYTES_MAX {
        let kib = PAGE_BYTES_MAX / 1024;
        return Err(CommandError::usage(format!(
            "{} is longer than the {kib} KiB of a page",
            path.display()
        )));
    }
    String::from_utf8(bytes)
        .map_err(|_| CommandError::usage(format!("{} is not UTF-8", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_as_its_title_and_leads_nowhere() {
        for (title, name) in [
            ("Restart caddy", "restart-caddy"),
            ("../../etc/passwd", "etcpasswd"),
            ("größe", "gre"),
            ("東京", "text"),
            ("--", "text"),
            ("a\u{202e}\nb", "ab"),
        ] {
            assert_eq!(file_name(title), name, "{title:?}");
        }
        assert_eq!(file_name(&"x".repeat(300)).len(), 24);
    }
}
