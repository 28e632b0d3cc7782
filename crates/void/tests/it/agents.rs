//! `void agents tree`, `can` and `move`, and what `void doctor` says of the tree.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::doctor::{fine, problem, report};
use crate::lab::{Lab, word};

fn said(lab: &Lab, args: &[&str]) -> String {
    let output = lab.void(args);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "void {args:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn git(lab: &Lab, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "safe.directory=*", "-C"])
        .arg(lab.data().join("meta"))
        .args(args)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_tree_is_shown_and_an_agent_moved_with_the_difference_first() {
    let lab = Lab::new();
    let mut server = lab.serve(&[]);
    let flat = "root (lives in the server)\n  companion (lives in the server)\n  little-blue (lives in the server)\n  sentinel (lives in the server)\n";
    assert_eq!(said(&lab, &["agents", "tree"]), flat);
    let looked = said(
        &lab,
        &["agents", "move", "sentinel", "little-blue", "--dry-run"],
    );
    assert!(
        looked.starts_with("sentinel: from root to little-blue\n"),
        "{looked}"
    );
    assert!(
        looked.contains("little-blue may from then on, to sentinel: "),
        "{looked}"
    );
    assert!(
        looked.contains("companion may no longer, to sentinel: send it messages"),
        "{looked}"
    );
    // Nobody to ask, and nothing happens.
    let unasked = lab.void(&["agents", "move", "sentinel", "little-blue"]);
    assert_eq!(unasked.status.code(), Some(2));
    assert_eq!(said(&lab, &["agents", "tree"]), flat);
    let done = said(
        &lab,
        &["agents", "move", "sentinel", "little-blue", "--yes"],
    );
    assert!(
        done.contains("Moved sentinel under little-blue: commit "),
        "{done}"
    );
    let tree = said(&lab, &["agents", "tree"]);
    assert!(
        tree.contains(
            "\n  little-blue (lives in the server)\n    sentinel (lives in the server)\n"
        ),
        "{tree}"
    );
    assert_eq!(
        git(&lab, &["log", "-1", "--format=%an %s"]),
        "owner-cli tree: move sentinel under little-blue\n"
    );
    // As programs read it, and after a restart.
    assert!(server.terminate().success());
    let _server = lab.serve(&[]);
    let tree = lab.json(&["agents", "tree"], 0);
    assert_eq!(
        tree["commit"],
        json!(git(&lab, &["rev-parse", "HEAD"]).trim())
    );
    assert_eq!(
        tree["agents"][3],
        json!({"name": "sentinel", "kind": "resident", "parent": "little-blue", "depth": 2})
    );
    let back = lab.json(&["agents", "move", "sentinel", "root", "--yes"], 0);
    assert_eq!((&back["moved"], word(&back, "to")), (&json!(true), "root"));
    let refused = lab.json(&["agents", "move", "root", "sentinel", "--yes"], 2);
    assert_eq!(word(&refused["error"], "code"), "invalid");
    let refused = lab.json(&["agents", "move", "nobody", "root", "--yes"], 5);
    assert_eq!(word(&refused["error"], "code"), "not_found");
}

#[test]
fn what_an_agent_may_is_printed_for_everybody_in_the_tree() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    said(
        &lab,
        &["agents", "move", "sentinel", "little-blue", "--yes"],
    );
    let can = said(&lab, &["agents", "can", "little-blue"]);
    assert!(
        can.starts_with("little-blue (lives in the server) may read, act.\n")
            || can.starts_with("little-blue (lives in the server) may "),
        "{can}"
    );
    for part in [
        "\nlittle-blue to root, above it:\n  alone       send it messages, ask it questions\n",
        "\nlittle-blue to companion, beside it:\n  alone       send it messages, ask it questions\n  with a nod  nothing\n",
        "\nlittle-blue for itself:\n  alone       ",
        "\nlittle-blue to sentinel, below it:\n  alone       see what it asks for, hold what it asks for",
        "  with a nod  ask for actions that name it, hand down capabilities to it\n",
    ] {
        assert!(can.contains(part), "{part:?} is not in\n{can}");
    }
    let json = lab.json(&["agents", "can", "little-blue"], 0);
    let over: Vec<&Value> = json["over"].as_array().unwrap().iter().collect();
    assert_eq!(over.len(), 4);
    // What is printed and what programs read is the same.
    for one in over {
        for list in ["alone", "with_nod", "never"] {
            for operation in one[list].as_array().unwrap() {
                let known = json["operations"].as_array().unwrap();
                let known = known
                    .iter()
                    .find(|known| known["operation"] == *operation)
                    .unwrap();
                assert!(can.contains(word(known, "words")), "{operation}");
            }
        }
    }
    assert_eq!(
        lab.void(&["agents", "can", "nobody"]).status.code(),
        Some(5)
    );
}

#[test]
fn doctor_names_what_is_wrong_with_the_tree_and_what_mends_it() {
    let lab = Lab::new();
    let mut server = lab.serve(&[]);
    fine(&report(&lab), "tree");
    let file = lab.data().join("meta/topology.json");
    for (text, told) in [
        (Some("{"), "no JSON object"),
        (
            Some("{\"root\": null, \"sentinel\": \"sentinel\"}"),
            "under itself",
        ),
        (None, "is missing"),
    ] {
        match text {
            Some(text) => fs::write(&file, text).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        // Looked at without a server, then by one that started with it.
        assert!(server.terminate().success());
        let (message, next) = problem(&report(&lab), "tree");
        assert!(message.contains(told), "{message}");
        assert!(next.contains("checkout HEAD -- topology.json"), "{next}");
        server = lab.serve(&[]);
        let found = report(&lab);
        let of_tree = super::doctor::amiss(&found, "tree");
        assert!(
            of_tree
                .iter()
                .any(|one| word(one, "message").contains(told)),
            "{found}"
        );
        let tree = lab.void(&["agents", "tree"]);
        let tree = String::from_utf8_lossy(&tree.stdout).into_owned();
        assert!(
            tree.contains(told) && tree.contains("no position"),
            "{tree}"
        );
        let refused = lab.json(&["agents", "move", "sentinel", "companion", "--yes"], 6);
        assert_eq!(word(&refused["error"], "code"), "tree_broken");
        // What it names mends it.
        git(&lab, &["checkout", "HEAD", "--", "topology.json"]);
        assert!(server.terminate().success());
        server = lab.serve(&[]);
        fine(&report(&lab), "tree");
    }
}
