//! A machine is let in by the owner who compared its fingerprint, and by nothing else.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use void_testkit::eventually_blocking;

use super::stand::{Stand, nodes, run_to_end, wait_until_here};
use crate::lab::{VOID, call, word};

fn joins(server: &crate::lab::Server) -> Vec<Value> {
    let (_, inbox) = server.call("GET", "/api/inbox", None);
    let items = inbox["items"].as_array().unwrap().iter();
    items
        .filter(|item| word(item, "kind") == "join")
        .cloned()
        .collect()
}

#[test]
fn a_machine_joins_by_the_owners_nod_and_leaves_by_it() {
    let stand = Stand::new();
    let server = stand.lab.serve(&[]);
    let invited = stand.lab.json(&["node", "invite", "n1"], 0);
    let address = format!("http://{}", stand.lab.address);
    let join = || {
        let mut command = Command::new(VOID);
        command
            .args(["node", "join", &address, "--state"])
            .arg(stand.state("n1"))
            .env_clear()
            .env("VOID_JOIN_TOKEN", word(&invited, "token"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    };
    let mut joining = join().spawn().unwrap();
    let asked = eventually_blocking("the machine to ask", || joins(&server).pop());
    let shown = word(&asked, "fingerprint").to_owned();
    // Its program waits too: nothing opens before the nod.
    let mut node = stand.run("n1");
    assert_eq!(nodes(&server)[0]["here"], json!(false));
    let wrong = "00".repeat(32);
    let refused = stand
        .lab
        .json(&["node", "approve", "n1", "--fingerprint", &wrong], 6);
    assert_eq!(refused["error"]["code"], json!("changed"));
    stand
        .lab
        .json(&["node", "approve", "n1", "--fingerprint", &shown], 0);
    let joined = joining.wait_with_output_in_time();
    let said = String::from_utf8_lossy(&joined.stdout).into_owned();
    assert!(joined.status.success() && said.contains(&shown), "{said}");
    assert!(joins(&server).is_empty());
    wait_until_here(&server, "n1");
    let row = run_to_end(&server, "restart-web", &json!({}));
    assert_eq!(
        (word(&row, "status"), stand.count("restart-web")),
        ("executed", 1),
        "{row:#}"
    );
    // The join token opens nothing a second time, for nobody else.
    fs::remove_dir_all(stand.state("n1").join("journal")).unwrap();
    let body = json!({"token": invited["token"], "fingerprint": wrong});
    let taken = call(stand.lab.address, "POST", "/api/node/join", "", Some(&body)).unwrap();
    assert_eq!(
        (taken.0, &taken.1["error"]["code"]),
        (409, &json!("already_decided"))
    );
    let secret = fs::read_to_string(stand.state("n1").join("secret")).unwrap();
    stand.lab.json(&["node", "revoke", "n1"], 0);
    let poll = || {
        let body = json!({"session": {"generation": 99, "nonce": "x"}});
        call(
            stand.lab.address,
            "POST",
            "/api/node/poll",
            secret.trim(),
            Some(&body),
        )
        .unwrap()
    };
    assert_eq!(poll().0, 401);
    assert!(nodes(&server).is_empty());
    let (_, run) = server.call("POST", "/api/actions/restart-web/run?wait=60", None);
    assert_eq!(run["status"], json!("failed"), "{run}");
    assert_eq!(stand.count("restart-web"), 1);
    assert!(node.has_ended().is_none(), "it waits to be let in again");
    // The owner's story is on the record.
    let (_, audit) = server.call("GET", "/api/audit?limit=100&subject=node:n1", None);
    let verbs: Vec<&str> = audit["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| word(entry, "verb"))
        .collect();
    for verb in [
        "node.removed",
        "node.changed",
        "node.joined",
        "node.asked",
        "node.invited",
    ] {
        assert!(verbs.contains(&verb), "{verb}: {verbs:?}");
    }
}

trait InTime {
    fn wait_with_output_in_time(&mut self) -> std::process::Output;
}

impl InTime for std::process::Child {
    fn wait_with_output_in_time(&mut self) -> std::process::Output {
        use std::io::Read as _;
        let status = eventually_blocking("it to end", || self.try_wait().unwrap());
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        self.stdout
            .take()
            .unwrap()
            .read_to_end(&mut stdout)
            .unwrap();
        self.stderr
            .take()
            .unwrap()
            .read_to_end(&mut stderr)
            .unwrap();
        std::process::Output {
            status,
            stdout,
            stderr,
        }
    }
}

#[test]
fn guessing_join_tokens_is_slowed_down_and_gets_nothing() {
    let stand = Stand::new();
    let server = stand.lab.serve(&[]);
    stand.lab.json(&["node", "invite", "n1"], 0);
    let mut codes = Vec::new();
    for number in 0..15 {
        let body = json!({"token": format!("void_join_{number}"), "fingerprint": "00".repeat(32)});
        let (status, _) =
            call(stand.lab.address, "POST", "/api/node/join", "", Some(&body)).unwrap();
        codes.push(status);
    }
    assert_eq!(codes[..10], [403; 10]);
    assert_eq!(codes[10..], [429; 5]);
    assert_eq!(nodes(&server)[0]["state"], json!("invited"));
}

/// The secret on two machines: the one that started later works, the other one ends, and the owner is told.
#[test]
fn a_cloned_machine_is_noticed_and_only_one_works() {
    let stand = Stand::new();
    let server = stand.lab.serve(&[]);
    stand.admit(&server, "n1", stand.lab.address);
    let mut first = stand.run("n1");
    wait_until_here(&server, "n1");
    let copied = Command::new("cp")
        .arg("-a")
        .args([stand.state("n1"), stand.state("clone")])
        .status()
        .unwrap();
    assert!(copied.success());
    fs::copy(stand.list("n1"), stand.list("clone")).unwrap();
    let mut clone = stand.run("clone");
    let ended = eventually_blocking("the first to give way", || first.has_ended());
    assert_eq!(ended.code(), Some(6));
    assert!(nodes(&server)[0]["twin_at"].is_string());
    wait_until_here(&server, "n1");
    let row = run_to_end(&server, "restart-web", &json!({}));
    assert_eq!(
        (word(&row, "status"), stand.count("restart-web")),
        ("executed", 1)
    );
    assert!(clone.has_ended().is_none());
    // The old one cannot come back as it was, not even after a restart of the server.
    drop(server);
    let server = stand.lab.serve(&[]);
    let secret = fs::read_to_string(stand.state("n1").join("secret")).unwrap();
    let body = json!({"session": {"generation": 1, "nonce": "old"}});
    let stale = call(
        stand.lab.address,
        "POST",
        "/api/node/poll",
        secret.trim(),
        Some(&body),
    )
    .unwrap();
    assert_eq!(
        (stale.0, &stale.1["error"]["code"]),
        (409, &json!("superseded"))
    );
    drop(server);
}

#[test]
fn a_version_next_to_ours_works_and_is_shown() {
    let stand = Stand::new();
    let server = stand.lab.serve(&[]);
    stand.admit(&server, "n1", stand.lab.address);
    let secret = fs::read_to_string(stand.state("n1").join("secret")).unwrap();
    let poll = |extra: Value| {
        let mut body = json!({
            "session": {"generation": 1, "nonce": "a", "later": true}, "version": "0.0.9",
            "list": null, "holding": [], "wait_s": 0, "invented_later": {"x": 1},
        });
        body.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        call(
            stand.lab.address,
            "POST",
            "/api/node/poll",
            secret.trim(),
            Some(&body),
        )
        .unwrap()
    };
    let (status, answer) = poll(json!({}));
    assert_eq!((status, &answer["errands"]), (200, &json!([])), "{answer}");
    assert!(
        answer["now_ms"]
            .as_i64()
            .is_some_and(|now| now > 1_700_000_000_000)
    );
    let node = &nodes(&server)[0];
    assert_eq!(
        (word(node, "version"), word(node, "skew")),
        ("0.0.9", "older")
    );
    let table = String::from_utf8(stand.lab.void(&["node", "ls"]).stdout).unwrap();
    assert!(table.contains("older than the server"), "{table}");
}
