//! Tokens of the settings: none is guessed, none goes over the wire in the clear, none is in a core dump.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::json;
use void_testkit::eventually_blocking;

use crate::lab::{Lab, OWNER, VOID, call};

/// A short `LITTLEBLUE_TOKEN` was guessed at 2,200 a second.
#[test]
fn no_configured_token_is_guessed_at_speed() {
    let lab = Lab::new();
    let mut refused = lab.serve(&[("LITTLEBLUE_TOKEN", "1234567")]);
    assert!(refused.has_ended().is_some_and(|status| !status.success()));
    assert!(
        lab.log().contains("LITTLEBLUE_TOKEN is shorter than 8"),
        "{}",
        lab.log()
    );
    for (name, token, why) in [
        ("LITTLEBLUE_TOKEN", OWNER, "is the owner's token"),
        (
            "LITTLEBLUE_TOKEN",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "different characters",
        ),
        ("OWNER_TOKEN", "        ", "has spaces"),
        (
            "OWNER_TOKEN",
            "pass word of the owner, quite long",
            "has spaces",
        ),
    ] {
        let mut refused = lab.serve(&[(name, token)]);
        assert!(
            refused.has_ended().is_some_and(|status| !status.success()),
            "{token}"
        );
        assert!(lab.log().contains(why), "{why}: {}", lab.log());
    }
    let _server = lab.serve(&[("LITTLEBLUE_TOKEN", "12345678")]);
    let guess = |n: usize| {
        let token = format!("guess-{n}");
        call(lab.address, "GET", "/api/status", &token, None)
            .unwrap()
            .0
    };
    let answers: Vec<u16> = (0..40).map(guess).collect();
    assert_eq!(answers.iter().filter(|status| **status == 401).count(), 10);
    assert_eq!(answers.iter().filter(|status| **status == 429).count(), 30);
    // The owner's token is long: nobody's guesses keep it out.
    assert!(OWNER.len() >= 32);
    let frozen = lab.json(&["freeze", "--reason", "somebody guesses"], 0);
    assert_eq!(frozen["frozen"], true, "{frozen}");
    assert_eq!(guess(40), 429);
}

#[test]
fn a_token_goes_over_plain_http_to_this_machine_only() {
    let mut lab = Lab::new();
    let _server = lab.serve(&[]);
    lab.json(&["status", "--url", &format!("http://{}", lab.address)], 0);
    lab.json(
        &[
            "status",
            "--url",
            &format!("http://localhost:{}", lab.address.port()),
        ],
        0,
    );
    for url in [
        "http://void.example:1",
        "http://127.evil.example:1",
        "http://192.0.2.1:1",
    ] {
        let refused = lab.json(&["status", "--url", url], 2);
        assert!(
            refused.to_string().contains("plain http"),
            "{url}: {refused}"
        );
    }
    lab.environment
        .push(("VOID_AGENT_TOKEN".into(), "void_agent_x".into()));
    let output = lab.void(&["mcp", "--url", "http://127.evil.example:1"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && said.contains("plain http"),
        "{said}"
    );
    // Whoever says that the way is private is believed.
    lab.environment
        .push(("VOID_INSECURE_HTTP".into(), "1".into()));
    let allowed = lab.json(&["status", "--url", "http://127.evil.example:1"], 10);
    assert_eq!(allowed["error"]["code"], json!("unreachable"), "{allowed}");
}

#[test]
fn the_server_leaves_no_core_dump() {
    let lab = Lab::new();
    let server = lab.serve(&[]);
    let limits = fs::read_to_string(format!("/proc/{}/limits", server.pid())).unwrap();
    let core = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"));
    let words: Vec<&str> = core.unwrap().split_whitespace().collect();
    assert_eq!(words.get(4..6), Some(["0", "0"].as_slice()), "{limits}");
}

/// The host side in the same binary: `void act` of a run that is under way.
#[test]
fn the_host_side_leaves_no_core_dump() {
    let lab = Lab::new();
    let list = lab.path("dump.list.json");
    let script = format!(
        "echo >> {0}; while [ ! -e {1} ]; do sleep 0.02; done",
        lab.path("dump.began").display(),
        lab.path("dump.go").display()
    );
    let entry =
        json!({"id": "slow", "argv": ["/bin/sh", "-c", script], "tier": "safe", "cooldown_s": 60});
    let content = json!({"version": 1, "host": "here", "stop_file": lab.path("dump.stop"), "entries": [entry]});
    fs::write(&list, content.to_string()).unwrap();
    fs::set_permissions(&list, fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir(lab.path("dump.state")).unwrap();
    fs::set_permissions(lab.path("dump.state"), fs::Permissions::from_mode(0o700)).unwrap();
    let mut act = Command::new("/bin/sh")
        .args(["-c", "ulimit -c unlimited; exec \"$@\"", "sh", VOID, "act"])
        .args(["--trust-own-list", "--list"])
        .arg(&list)
        .arg("--state")
        .arg(lab.path("dump.state"))
        .env("SSH_ORIGINAL_COMMAND", "slow")
        .spawn()
        .unwrap();
    eventually_blocking("the command to run", || {
        lab.path("dump.began").exists().then_some(())
    });
    let limits = fs::read_to_string(format!("/proc/{}/limits", act.id())).unwrap();
    fs::write(lab.path("dump.go"), "").unwrap();
    assert!(act.wait().unwrap().success());
    let core = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"));
    let words: Vec<&str> = core.unwrap().split_whitespace().collect();
    assert_eq!(words.get(4..6), Some(["0", "0"].as_slice()), "{limits}");
}
