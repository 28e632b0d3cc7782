//! The same for the tree of agents: killed between any two steps of its beginning and of a move. Afterwards it is the old
//! tree or the new one, the file, the branch and what is in force agree, and each commit is on the record once.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;

use serde_json::{Value, json};
use void_testkit::{eventually_blocking, postgres_database};

use super::{Engine, check_record, points};
use crate::lab::{Lab, Server, word};

fn git(lab: &Lab, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "safe.directory=*", "-C"])
        .arg(lab.data().join("meta"))
        .args(args)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "git {args:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// Under whom sentinel stands, and the commit in force.
fn in_force(server: &Server, chosen: &str) -> (String, String) {
    let (status, tree) = server.call("GET", "/api/agents/topology", None);
    assert_eq!(
        (status, &tree["problems"]),
        (200, &json!([])),
        "{chosen}: {tree}"
    );
    let agents = tree["agents"].as_array().unwrap();
    assert_eq!(agents.len(), 4, "{chosen}: {tree}");
    let sentinel = agents.iter().find(|one| one["name"] == "sentinel").unwrap();
    (
        word(sentinel, "parent").to_owned(),
        word(&tree, "commit").to_owned(),
    )
}

fn check_after_restart(lab: &Lab, chosen: &str, told: Option<&Value>) {
    let mut server = lab.serve(&[]);
    assert!(server.has_ended().is_none(), "{chosen}: {}", lab.log());
    let (parent, commit) = in_force(&server, chosen);
    assert!(
        ["root", "little-blue"].contains(&parent.as_str()),
        "{chosen}: {parent}"
    );
    if let Some(told) = told {
        assert_eq!(
            (parent.as_str(), commit.as_str()),
            ("little-blue", word(told, "commit")),
            "{chosen}"
        );
    }
    // The file, the index and the branch agree, and nothing is left over.
    assert_eq!(git(lab, &["rev-parse", "HEAD"]).trim(), commit, "{chosen}");
    assert_eq!(git(lab, &["status", "--porcelain"]), "", "{chosen}");
    let file = fs::read_to_string(lab.data().join("meta/topology.json")).unwrap();
    let written: Value = serde_json::from_str(&file).unwrap();
    assert_eq!(written["sentinel"], json!(parent), "{chosen}");
    // Each commit of the branch is on the record, once, and no other is.
    let (_, entries) = server.call("GET", "/api/audit?verb=topology.&limit=100", None);
    let recorded: Vec<String> = entries["entries"]
        .as_array()
        .unwrap_or_else(|| panic!("{entries}"))
        .iter()
        .map(|entry| word(&entry["detail"], "commit").to_owned())
        .collect();
    let log = git(lab, &["log", "--format=%H"]);
    let commits: Vec<&str> = log.lines().collect();
    assert_eq!(recorded, commits, "{chosen}");
    let distinct: BTreeSet<&String> = recorded.iter().collect();
    assert_eq!(distinct.len(), recorded.len(), "{chosen}");
    // It goes on from there.
    let to = if parent == "root" {
        "little-blue"
    } else {
        "root"
    };
    let (status, moved) = server.call(
        "POST",
        "/api/agents/sentinel/move",
        Some(&json!({"parent": to})),
    );
    assert_eq!(status, 200, "{chosen}: {moved}");
    assert_eq!(in_force(&server, chosen).0, to, "{chosen}");
    check_record(lab, chosen, &[]);
}

fn lab(engine: Engine) -> Lab {
    let mut lab = Lab::new();
    lab.database_url = (engine == Engine::Postgres).then(postgres_database);
    lab
}

/// Whether the process was killed at the point; the checks have passed if this returns.
fn killed_at_the_beginning(engine: Engine, point: &str, occurrence: u32) -> bool {
    let lab = lab(engine);
    let chosen = format!("{point}#{occurrence}");
    let mut server = lab.serve(&[("VOID_FAILPOINT", &chosen)]);
    // It is opened beside everything else; whoever looks waits for it.
    let looked = server.try_call("GET", "/api/agents/topology", None);
    if looked.is_none() {
        eventually_blocking("the killed server to be gone", || server.has_ended());
    }
    let killed = was_killed(&mut server, &lab, &chosen);
    drop(server);
    check_after_restart(&lab, &format!("{chosen} at the beginning"), None);
    killed
}

fn killed_at_a_move(engine: Engine, point: &str, occurrence: u32) -> bool {
    let lab = lab(engine);
    let mut server = lab.serve(&[]);
    // It is begun beside the start.
    assert_eq!(server.call("GET", "/api/agents/topology", None).0, 200);
    assert!(server.terminate().success());
    let chosen = format!("{point}#{occurrence}");
    let mut server = lab.serve(&[("VOID_FAILPOINT", &chosen)]);
    let body = json!({"parent": "little-blue"});
    let told = server.try_call("POST", "/api/agents/sentinel/move", Some(&body));
    if told.is_none() {
        eventually_blocking("the killed server to be gone", || server.has_ended());
    }
    let killed = was_killed(&mut server, &lab, &chosen);
    drop(server);
    let done = told
        .filter(|(status, _)| *status == 200)
        .map(|(_, moved)| moved);
    check_after_restart(&lab, &format!("{chosen} at a move"), done.as_ref());
    killed
}

fn was_killed(server: &mut Server, lab: &Lab, chosen: &str) -> bool {
    match server.has_ended() {
        Some(status) => {
            assert_eq!(status.signal(), Some(9), "{chosen}: {}", lab.log());
            true
        }
        None => {
            server.kill();
            false
        }
    }
}

type Play = fn(Engine, &str, u32) -> bool;

fn every_point(engine: Engine) {
    let of_tree = points()
        .into_iter()
        .filter(|point| point.starts_with("tree."));
    let mut all = 0;
    for point in of_tree {
        all += 1;
        for (name, play) in [
            ("beginning", killed_at_the_beginning as Play),
            ("move", killed_at_a_move),
        ] {
            assert!(play(engine, &point, 1), "{point} is never reached");
            assert!(
                !play(engine, &point, 2),
                "{point} is reached twice ({name})"
            );
        }
    }
    assert!(all >= 8, "{all}");
}

#[test]
fn killed_between_two_steps_the_tree_is_the_old_or_the_new_one_on_sqlite() {
    every_point(Engine::Sqlite);
}

#[test]
fn killed_between_two_steps_the_tree_is_the_old_or_the_new_one_on_postgres() {
    every_point(Engine::Postgres);
}
