//! The server behind the confinement that its unit asks for: what it is for works there, and what does not is said by
//! whoever is asked.

use std::fs;

use serde_json::{Value, json};

use super::confinement::{Unit, becomes_another};
use crate::agent_processes::{asleep, make_agent, plant};
use crate::captures::web;
use crate::doctor::{all, amiss, report};
use crate::lab::{Lab, Server, word};

/// The checks of what only the server's process knows.
const OF_THE_PROCESS: [&str; 2] = ["captures", "sandbox"];

/// A lab that may capture from this site, and an agent.
fn furnished(site: &str) -> Lab {
    let lab = Lab::new();
    let file = lab.data().join("void.toml");
    let own = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{own}[captures]\nallowed = [\"{site}\"]\n")).unwrap();
    plant(&lab, &json!({"root": null, "alice": "root"}));
    lab
}

fn said_by(server: &Server) -> Value {
    let (status, said) = server.call("GET", "/api/doctor", None);
    assert_eq!(status, 200, "{said}");
    said
}

fn finding<'a>(report: &'a Value, check: &str) -> &'a Value {
    let found: Vec<&Value> = all(report)
        .filter(|one| word(one, "check") == check)
        .collect();
    assert_eq!(found.len(), 1, "{check}: {report}");
    found[0]
}

#[test]
fn the_server_behind_its_unit_captures_pages_and_starts_agents() {
    let site = web();
    let lab = furnished(&site);
    // Without a service around it.
    let here = report(&lab);
    let unit = Unit::read(&["void.service"]);
    let server = unit.confined(&lab, || lab.serve(&[]));
    let said = said_by(&server);
    for check in OF_THE_PROCESS {
        if amiss(&here, check).is_empty() {
            assert_eq!(word(finding(&said, check), "level"), "ok", "{said}");
        }
    }
    if amiss(&here, "captures").is_empty() {
        lab.json(&["kb", "new", "Garage", "--kind", "space"], 0);
        let url = format!("http://{site}/a");
        lab.json(&["kb", "capture", &url, "--space", "Garage"], 0);
        let kept = lab.json(&["kb", "show", "Backups"], 0);
        assert!(word(&kept, "body").contains("Copy"), "{kept}");
    } else {
        eprintln!("this kernel confines no reader: {here}");
    }
    // Root that nothing was taken from is no account that a unit names.
    let is_an_account = becomes_another() || !rustix::process::geteuid().is_root();
    if amiss(&here, "sandbox").is_empty() && is_an_account {
        make_agent(&lab, "alice");
        lab.json(&["agents", "start", "alice"], 0);
        asleep(&lab, &server, "alice", None);
        lab.json(&["agents", "stop", "alice"], 0);
    } else {
        eprintln!("no agent process can be confined here: {here}");
    }
}

/// As the unit was: the kernel has all of it, and the service's filter refuses it.
#[test]
fn the_doctor_tells_a_refused_call_from_a_kernel_without_it_whoever_asks() {
    let lab = furnished("127.0.0.1:9");
    let here = report(&lab);
    let unit = Unit::read(&["void.service"]);
    let unit = unit.with(
        "SystemCallFilter",
        "~landlock_create_ruleset landlock_add_rule landlock_restrict_self seccomp",
    );
    let server = unit.confined(&lab, || lab.serve(&[]));
    let by_the_page = said_by(&server);
    let by_command = report(&lab);
    for said in [&by_the_page, &by_command] {
        for check in OF_THE_PROCESS {
            let found = finding(said, check);
            assert_eq!(word(found, "level"), "warning", "{found}");
            let message = word(found, "message");
            assert!(
                message.contains(
                    "a filter of system calls around Void refuses landlock_create_ruleset"
                ),
                "{message}"
            );
            assert!(
                message.contains("seccomp") && !message.contains("kernel"),
                "{message}"
            );
            assert!(
                word(found, "next").contains("void service install"),
                "{found}"
            );
        }
    }
    // Nobody to ask: the command says what it can do where it is.
    drop(server);
    let alone = report(&lab);
    for check in OF_THE_PROCESS {
        assert_eq!(finding(&alone, check), finding(&here, check));
    }
}

/// A unit that allows less than what confines a process is caught without a kernel that has all of it.
#[test]
fn what_the_unit_takes_is_not_what_a_sandbox_is_made_of() {
    let allowed = Unit::read(&["void.service"]).allowed();
    for call in [
        "landlock_create_ruleset",
        "landlock_add_rule",
        "landlock_restrict_self",
        "seccomp",
        "capset",
        "setpriority",
        "prlimit64",
        "prctl",
        "close_range",
        "execve",
    ] {
        assert!(allowed.contains(call), "{call}");
    }
    for call in [
        "mount",
        "ptrace",
        "bpf",
        "chroot",
        "setuid",
        "chown",
        "kexec_load",
        "init_module",
    ] {
        assert!(!allowed.contains(call), "{call}");
    }
}

/// A program that makes code as it runs is started under the unit with the drop-in for it, and without it the doctor says why not.
#[test]
fn the_doctor_names_the_drop_in_that_the_claude_program_needs() {
    let units = [
        (&["void.service"][..], "warning"),
        (&["void.service", "void-claude.conf"], "ok"),
    ];
    for (names, level) in units {
        let lab = furnished("127.0.0.1:9");
        let settings = [
            ("VOID_BRAIN", "claude"),
            ("CLAUDE_EXE", "/bin/true"),
            ("ANTHROPIC_API_KEY", "sk-ant-the-real-key-0123456789"),
        ];
        let unit = Unit::read(names);
        let server = unit.confined(&lab, || lab.serve(&settings));
        let said = said_by(&server);
        let found = finding(&said, "claude");
        assert_eq!(word(found, "level"), level, "{found}");
        let is_named = word(found, "next").contains("deploy/void-claude.conf");
        assert_eq!(is_named, level == "warning", "{found}");
    }
}
