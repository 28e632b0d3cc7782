//! `void actions propose`: a whole file, a diff, or either of them on standard input, and all are the same draft.

use std::fs;
use std::io::Write as _;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use void_domain::diffs;

use crate::lab::{Lab, word};

/// The catalogue with an action more.
fn wider(loaded: &str) -> String {
    let mut catalogue: Value = serde_json::from_str(loaded).unwrap();
    let actions = catalogue["actions"].as_array_mut().unwrap();
    let mut added = actions[0].clone();
    added["id"] = json!("added");
    actions.push(added);
    format!("{catalogue:#}\n")
}

fn by_stdin(lab: &Lab, text: &str) -> Output {
    let mut child = lab
        .command()
        .args(["--json", "actions", "propose", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_patch_and_standard_input_are_the_same_draft_as_the_file() {
    let lab = Lab::new();
    let server = lab.serve(&[]);
    let loaded = fs::read_to_string(lab.path("actions.json")).unwrap();
    let new = wider(&loaded);
    let patch = diffs::unified(&loaded, &new).unwrap();
    let with_head = format!(
        "diff --git a/actions.json b/actions.json\n--- a/actions.json\n+++ b/actions.json\n{patch}"
    );
    let write = |name: &str, text: &str| {
        let path = lab.path(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let row = lab.json(&["actions", "propose", &write("new.json", &new)], 7);
    let (id, digest) = (word(&row, "id"), word(&row, "digest"));
    let mut count = 1;
    let mut is_same = |drafted: &Value| {
        count += 1;
        assert_eq!((word(drafted, "id"), word(drafted, "digest")), (id, digest));
        assert_eq!(drafted["count"], json!(count), "{drafted}");
    };
    for text in [&patch, &with_head] {
        is_same(&lab.json(&["actions", "propose", &write("a.patch", text)], 7));
    }
    for text in [&new, &patch, &with_head] {
        let said = by_stdin(&lab, text);
        assert_eq!(said.status.code(), Some(7), "{said:?}");
        is_same(&serde_json::from_slice(&said.stdout).unwrap());
    }
    // What fits nowhere, and what is neither, waits for nobody.
    for text in ["@@ -1 +1 @@\n-no\n+yes\n", "", "neither\n", "{}"] {
        let said = by_stdin(&lab, text);
        assert!(
            !said.status.success() && said.status.code() != Some(7),
            "{text}: {said:?}"
        );
    }
    let (status, found) = server.call("GET", &format!("/api/proposals/{id}"), None);
    assert_eq!((status, &found["count"]), (200, &json!(count)), "{found}");
}
