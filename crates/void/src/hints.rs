//! Commands in what is said, so that they can be copied: a `void …` in a hint is this very program, by its path where
//! the shell would find another one or none by that name, and it is told which server is meant where this one was told
//! by a flag. Without that the hint would be for another Void, or for none.

use std::path::{Path, PathBuf};

use crate::settings::Environment;

/// The name under which the shell finds it where it is installed.
pub(crate) const NAME: &str = "void";
const PROGRAM: &str = "void ";
/// The first word of each command; a test compares them with what the program takes.
const COMMANDS: &str = "demo serve reload status actions run inbox freeze thaw services chat conversations agents kb hosts node audit \
    setup-link token mcp notify backup quarantine bridge clock config provision service doctor \
    completions version help-exit-codes help-codes";

/// How this program is typed in the shell that called it, as one word.
pub(crate) fn program(environment: &Environment) -> String {
    let here = std::env::current_dir().ok();
    typed_program(environment, here.as_deref())
}

/// How it is typed in any folder.
pub(crate) fn program_anywhere(environment: &Environment) -> String {
    typed_program(environment, None)
}

fn typed_program(environment: &Environment, here: Option<&Path>) -> String {
    let Ok(path) = std::env::current_exe() else {
        return NAME.to_owned();
    };
    let folders = environment.get("PATH").unwrap_or_default();
    shortest(&path, folders, here)
}

/// Its name where the folders of the shell have it first, else its path, from here where it is below.
fn shortest(program: &Path, folders: &str, here: Option<&Path>) -> String {
    let mut named = std::env::split_paths(folders).map(|folder| folder.join(NAME));
    let found = named.find(|file| file.is_file());
    if found.and_then(|file| file.canonicalize().ok()).as_deref() == Some(program) {
        return NAME.to_owned();
    }
    // Below the root everything is, and its path is as short.
    let here = here.filter(|here| here.parent().is_some());
    let below = here.and_then(|here| program.strip_prefix(here).ok());
    let path = match below {
        // Without a slash the shell would look for it in its folders.
        Some(name) if name.components().count() == 1 => PathBuf::from(".").join(name),
        Some(below) => below.to_owned(),
        None => program.to_owned(),
    };
    quoted(&path.display().to_string())
}

/// As a shell takes it for one word.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-:=+@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The hint with every command of Void's called so.
pub(crate) fn called(hint: &str, as_typed: &str) -> String {
    let is_command = |rest: &str| {
        let word = rest.split(|letter: char| !letter.is_ascii_lowercase() && letter != '-');
        let word = word.into_iter().next().unwrap_or_default();
        word == "--help" || COMMANDS.split(' ').any(|one| one == word)
    };
    let mut said = String::new();
    let mut rest = hint;
    while let Some((before, after)) = rest.split_once(PROGRAM) {
        said.push_str(before);
        let is_word = said
            .chars()
            .last()
            .is_none_or(|letter| !letter.is_alphanumeric() && !"/.-_".contains(letter));
        if is_word && is_command(after) {
            said.push_str(as_typed);
            said.push(' ');
        } else {
            said.push_str(PROGRAM);
        }
        rest = after;
    }
    said.push_str(rest);
    said
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_is_known() {
        let taken = Cli::command();
        let shown = taken.get_subcommands().filter(|one| !one.is_hide_set());
        let taken: Vec<&str> = shown.map(clap::Command::get_name).collect();
        assert_eq!(COMMANDS.split(' ').collect::<Vec<_>>(), taken);
    }

    #[test]
    fn this_program_is_named_as_the_shell_finds_it() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let at = |name: &str| folder.join(name);
        for name in ["bin", "other", "a b"] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("void"), "").unwrap();
        }
        fs::create_dir(at("links")).unwrap();
        std::os::unix::fs::symlink(at("bin/void"), at("links/void")).unwrap();
        let path = |name: &str| at(name).display().to_string();
        let both = format!("{}:{}", path("other"), path("bin"));
        let bin = path("bin/void");
        for (folders, here, expected) in [
            (path("bin"), "", "void"),
            (path("links"), "bin", "void"),
            // Another one of that name comes first, or none is found.
            (both, "", &bin),
            (String::new(), "", &bin),
            (String::new(), "bin", "./void"),
            (String::new(), ".", "bin/void"),
            (String::new(), "other", &bin),
        ] {
            let here = (!here.is_empty()).then(|| at(here).canonicalize().unwrap());
            let typed = shortest(&at("bin/void"), &folders, here.as_deref());
            assert_eq!(typed, expected, "{folders} {here:?}");
        }
        let typed = shortest(&at("a b/void"), "", Some(&folder));
        assert_eq!(typed, "'a b/void'");
        assert_eq!(
            shortest(Path::new("/void"), "", Some(Path::new("/"))),
            "/void"
        );
    }

    #[test]
    fn a_hint_is_for_the_server_that_was_meant() {
        let typed = |hint| called(hint, "void --data /tmp/a");
        for (hint, expected) in [
            ("void status", "void --data /tmp/a status"),
            (
                "void serve, then void quarantine ls",
                "void --data /tmp/a serve, then void --data /tmp/a quarantine ls",
            ),
            (
                "`void setup-link` prints",
                "`void --data /tmp/a setup-link` prints",
            ),
            // Not commands of Void's.
            ("/usr/bin/void status", "/usr/bin/void status"),
            ("an approval is void then", "an approval is void then"),
            ("systemctl restart void", "systemctl restart void"),
            ("avoid status", "avoid status"),
            ("void --help", "void --data /tmp/a --help"),
        ] {
            assert_eq!(typed(hint), expected);
        }
    }
}
