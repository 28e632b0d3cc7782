//! Secrets that a program prints: a real one, started by its words.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::*;
use crate::settings::Reference;

fn program(folder: &Path, name: &str, script: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path
}

fn ask(reference: &str, environment: &Environment) -> Result<String, String> {
    let parsed = Reference::parse(reference, "owner_token")?;
    assert_eq!(parsed.to_string(), reference);
    let secret = parsed.resolve(environment, "owner_token");
    secret
        .map(|secret| secret.expose().to_owned())
        .map_err(|problem| problem.message)
}

#[test]
fn a_program_prints_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    let words = program(folder.path(), "words", "printf ' %s|%s|%s \\n' \"$@\"");
    let reference = format!("exec:{} a $HOME ;x", words.display());
    let environment = Environment::of(&[]);
    // No shell reads the words.
    assert_eq!(ask(&reference, &environment).unwrap(), "a|$HOME|;x");
    let home = program(
        folder.path(),
        "home",
        "echo \"$HOME:$OWNER_TOKEN:$BW_SESSION\"",
    );
    let environment = Environment::of(&[
        ("HOME", "/home/ann"),
        ("OWNER_TOKEN", "not for others"),
        ("BW_SESSION", "open"),
    ]);
    let reference = format!("exec:{}", home.display());
    assert_eq!(ask(&reference, &environment).unwrap(), "/home/ann::open");
}

#[test]
fn a_program_that_prints_no_secret_is_a_clear_error_without_its_words() {
    let folder = tempfile::tempdir().unwrap();
    let environment = Environment::of(&[("PATH", "/usr/bin:/bin")]);
    for (name, script, said) in [
        (
            "fails",
            "echo hunter2; echo hunter2 >&2; exit 3",
            "it failed: exit status: 3",
        ),
        ("nothing", "echo", "it prints nothing"),
        ("flood", "yes hunter2", "too large"),
        ("bytes", "printf '\\377\\376'", "no text"),
    ] {
        let program = program(folder.path(), name, script);
        let problem = ask(&format!("exec:{}", program.display()), &environment).unwrap_err();
        assert!(problem.contains(said), "{name}: {problem}");
        assert!(!problem.contains("hunter2"), "{name}: {problem}");
    }
    let missing = format!("exec:{}", folder.path().join("none").display());
    assert!(
        ask(&missing, &environment)
            .unwrap_err()
            .contains("cannot be started")
    );
}

#[test]
fn what_is_no_program_by_its_whole_path_is_refused_and_not_repeated() {
    let many = format!("exec:/bin/echo {}", "x ".repeat(33));
    for bad in [
        "exec:",
        "exec: ",
        "exec:pass show hunter2",
        "exec:./hunter2",
        "exec:/bin/echo hunter2\n",
        many.as_str(),
    ] {
        let problem = Reference::parse(bad, "owner_token").unwrap_err();
        assert!(!problem.contains("hunter2"), "{problem}");
        assert!(problem.contains("owner_token"), "{problem}");
    }
}
