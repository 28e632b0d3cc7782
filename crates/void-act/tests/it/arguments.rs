//! The command line of the binary.

use std::fs;

use void_act::{Outcome, Reason};

use crate::lab::{BINARY, Called, Lab, command, run, safe, ticket};

#[test]
fn unknown_arguments_are_refused_without_a_look_at_the_list() {
    let lab = Lab::new(&[safe("ok", &["/bin/true"])]);
    for extra in [
        "--lists",
        "ok",
        "",
        "--list",
        "-x",
        "--trust-own-list=1",
        "-c",
    ] {
        let mut command = lab.command("ok");
        let called = Called::from(&run(command.arg(extra)));
        called.refused(Reason::BadArguments);
        assert_eq!(called.answer.list, None);
    }
}

#[test]
fn as_login_shell_it_uses_the_defaults_only() {
    let lab = Lab::new(&[]);
    let forced = format!("/usr/local/bin/void-act --list {}", lab.text("list.json"));
    let mut command = command(BINARY);
    command
        .args(["-c", &forced])
        .args(lab.arguments())
        .env("SSH_ORIGINAL_COMMAND", "void-list");
    let called = Called::from(&run(&mut command));
    // A machine that has a real list answers with it; none answers with this one.
    assert_ne!(called.answer.list, lab.call("void-list").answer.list);
    assert_ne!(called.answer.host.as_deref(), Some("lab"));
}

#[test]
fn without_a_command_nothing_runs() {
    let lab = Lab::new(&[]);
    let mut command = lab.command("");
    Called::from(&run(command.env_remove("SSH_ORIGINAL_COMMAND"))).refused(Reason::BadCommand);
    lab.call("").refused(Reason::BadCommand);
}

#[test]
fn version_and_help_are_for_people() {
    let version = run(command(BINARY).arg("--version"));
    assert_eq!(String::from_utf8_lossy(&version.stdout), "void-act 0.1.0\n");
    let help = run(command(BINARY).arg("--help"));
    assert!(help.status.success());
    for word in [
        "--list",
        "--state",
        "--trust-own-list",
        "--check",
        "authorized_keys",
    ] {
        assert!(
            String::from_utf8_lossy(&help.stdout).contains(word),
            "{word}"
        );
    }
}

#[test]
fn check_says_what_is_wrong() {
    let lab = Lab::new(&[safe("ok", &["/bin/true"])]);
    let check = || {
        let output = run(command(BINARY).arg("--check").args(lab.arguments()));
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    let (code, text) = check();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("ok: host lab, 2 entries"), "{text}");

    lab.list(&[safe("gone", &["/no/such/program"])]);
    let (code, text) = check();
    assert_eq!(code, Some(1));
    assert!(text.contains("error: gone: /no/such/program"), "{text}");

    lab.list(&[safe("void-x", &["true"]), safe("b", &[])]);
    let (code, text) = check();
    assert_eq!(code, Some(1));
    for part in [
        "void-x: ids that begin with void-",
        "void-x: argv does not",
        "b: argv does not",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }

    lab.set_mode("list.json", 0o664);
    let (code, text) = check();
    assert_eq!(code, Some(1));
    assert!(text.contains("can be written by"), "{text}");
    assert!(!lab.path("state/journal").exists());
}

#[test]
fn other_environment_variables_change_nothing() {
    let lab = Lab::new(&[]);
    let mut command = lab.command(format!("effect {}", ticket(1).encode()));
    for name in [
        "VOID_ACT_LIST",
        "HOME",
        "PATH",
        "TMPDIR",
        "XDG_DATA_HOME",
        "VOID_DATA",
    ] {
        command.env(name, "/nonexistent");
    }
    Called::from(&run(&mut command)).is(Outcome::Done, false);
    assert_eq!(
        fs::read_to_string(lab.path("effects")).unwrap(),
        "2:one t w o\n"
    );
}
