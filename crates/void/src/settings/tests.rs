mod agents;
mod embeddings;
mod pages;
mod processes;
mod secret_programs;
mod wrong;

use std::path::Path;

use super::*;

fn load(
    folder: &Path,
    toml: Option<&str>,
    variables: &[(&str, &str)],
    flags: Flags,
) -> Result<Settings, CommandError> {
    if let Some(text) = toml {
        std::fs::write(folder.join("void.toml"), text).unwrap();
    }
    let flags = Flags {
        data: Some(folder.to_owned()),
        ..flags
    };
    Settings::load(&flags, &Environment::of(variables))
}

#[test]
fn flag_wins_over_environment_over_file_over_default() {
    let folder = tempfile::tempdir().unwrap();
    let file = Some("listen = \"127.0.0.1:1\"");
    let env: &[(&str, &str)] = &[("VOID_LISTEN", "127.0.0.1:2")];
    let flag = || Flags {
        listen: Some("127.0.0.1:3".into()),
        ..Flags::default()
    };
    let port = |toml, env, flags| {
        let settings = load(folder.path(), toml, env, flags).unwrap();
        (settings.listen.value.port(), settings.listen.source)
    };
    assert_eq!(port(None, &[], Flags::default()), (3000, Source::Default));
    assert_eq!(port(file, &[], Flags::default()), (1, Source::File));
    assert_eq!(
        port(file, env, Flags::default()),
        (2, Source::Environment("VOID_LISTEN"))
    );
    assert_eq!(port(file, env, flag()), (3, Source::Flag("--listen")));
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        (
            "listn = \"x\"",
            "line 1: unknown key `listn`; did you mean `listen`?",
        ),
        (
            "\n[ssh]\nkye = \"x\"",
            "line 3: unknown key `kye`; did you mean `key`?",
        ),
        (
            "[self]\nguests = [\"z\"]",
            "[self] guests: \"z\" is not node/vmid",
        ),
        ("[limits]\nopen_proposals = \"many\"", "line 2:"),
        ("listen = \"nowhere\"", "\"nowhere\" is not an address"),
        (
            "owner_token = \"hunter2\"",
            "owner_token must say where the secret is",
        ),
        (
            "[database]\nurl = \"postgres://u:hunter2@h/d\"",
            "database.url must say where the secret is",
        ),
    ];
    for (toml, expected) in cases {
        let problem = load(folder.path(), Some(toml), &[], Flags::default())
            .err()
            .unwrap();
        assert!(
            problem.message.contains(expected),
            "{toml}: {}",
            problem.message
        );
        assert!(
            !problem.message.contains("hunter2"),
            "a secret was repeated: {}",
            problem.message
        );
        assert_eq!(problem.exit, crate::exit::Exit::Config);
    }
}

#[test]
fn secrets_come_by_reference() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "  from-file \n").unwrap();
    let environment = Environment::of(&[
        ("MY_TOKEN", "from-env"),
        ("CREDENTIALS_DIRECTORY", folder.path().to_str().unwrap()),
    ]);
    let file = format!("file:{}", secret.display());
    let cases = [
        ("env:MY_TOKEN", "from-env"),
        (file.as_str(), "from-file"),
        ("credential:secret", "from-file"),
    ];
    for (reference, expected) in cases {
        let secret = Reference::parse(reference, "owner_token")
            .unwrap()
            .resolve(&environment, "owner_token")
            .unwrap();
        assert_eq!(secret.expose(), expected);
    }
    for missing in ["env:NOT_SET", "file:/nonexistent", "credential:other"] {
        let reference = Reference::parse(missing, "owner_token").unwrap();
        assert!(
            reference.resolve(&environment, "owner_token").is_err(),
            "{missing}"
        );
    }
    for bad in ["", "hunter2", "env:", "credential:../x", "postgres://h/d"] {
        assert!(Reference::parse(bad, "owner_token").is_err(), "{bad}");
    }
    assert!(Reference::parse("postgres://u@h/d", "database.url").is_ok());
}

#[test]
fn a_named_file_must_be_there_and_the_default_one_need_not() {
    let folder = tempfile::tempdir().unwrap();
    assert!(load(folder.path(), None, &[], Flags::default()).is_ok());
    let flags = Flags {
        config: Some(folder.path().join("other.toml")),
        ..Flags::default()
    };
    assert!(load(folder.path(), None, &[], flags).is_err());
}

#[test]
fn captures_go_where_the_owner_says_and_a_slip_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let read = |toml| load(folder.path(), Some(toml), &[], Flags::default());
    let none = read("").unwrap().captures;
    assert_eq!(none.allowed, void_capture::Allowances::default());
    assert_eq!(none.isolation, void_capture::Isolation::Full);
    let some = read(
        "[captures]\nallowed = [\"nas.lan:8080\", \"10.0.0.0/8\"]\nisolation = \"without-landlock\"",
    );
    let some = some.unwrap().captures;
    assert_eq!(some.allowed.to_string(), "nas.lan:8080, 10.0.0.0/8");
    assert_eq!(some.isolation, void_capture::Isolation::WithoutLandlock);
    for (toml, said) in [
        ("[captures]\nallowed = [\"*.lan\"]", "there are no patterns"),
        ("[captures]\nallowed = [\"0.0.0.0/0\"]", "too wide"),
        ("[captures]\nisolation = \"none\"", "neither"),
    ] {
        let Err(error) = read(toml) else {
            panic!("{toml}");
        };
        assert!(error.message.contains(said), "{toml}: {}", error.message);
    }
}
