//! `void doctor` in front of each thing that can be wrong: it names it under a stable check, with the
//! next command, ends with 1, changes nothing and shows no secret.

mod audit;
mod channels;
mod clocks;
mod files;
mod fuse;
mod hosts;
mod proxmox;
pub mod pve;

use serde_json::{Value, json};

use crate::lab::{Lab, OWNER, word};

/// What `void doctor --json` finds, whatever its exit; no secret of a test is in it.
pub fn report(lab: &Lab) -> Value {
    let output = lab.void(&["doctor", "--json"]);
    let said = String::from_utf8(output.stdout).unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    for secret in [OWNER, pve::SECRET] {
        assert!(!said.contains(secret) && !error.contains(secret), "{said}");
    }
    let report: Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}{error}"));
    let levels: Vec<&str> = all(&report).map(|finding| word(finding, "level")).collect();
    let wrong = levels.contains(&"problem");
    assert_eq!(output.status.code(), Some(i32::from(wrong)), "{report}");
    assert_eq!(report["ok"], json!(!wrong));
    for finding in all(&report) {
        let has_next = !word(finding, "next").is_empty();
        assert_eq!(has_next, word(finding, "level") != "ok", "{finding}");
    }
    report
}

pub fn all(report: &Value) -> impl Iterator<Item = &Value> {
    report["findings"].as_array().unwrap().iter()
}

/// The findings of one check that are not fine.
pub fn amiss(report: &Value, check: &str) -> Vec<Value> {
    let of_check = all(report).filter(|finding| word(finding, "check") == check);
    let amiss = of_check.filter(|finding| word(finding, "level") != "ok");
    amiss.cloned().collect()
}

/// The one problem of this check: what it says, and what comes next.
pub fn problem(report: &Value, check: &str) -> (String, String) {
    let found = amiss(report, check);
    let [finding] = &found[..] else {
        panic!("not one finding of {check}: {report}");
    };
    assert_eq!(word(finding, "level"), "problem", "{finding}");
    (
        word(finding, "message").to_owned(),
        word(finding, "next").to_owned(),
    )
}

/// That this check was made, and had nothing to say.
pub fn fine(report: &Value, check: &str) {
    let made = all(report).any(|finding| word(finding, "check") == check);
    assert!(made && amiss(report, check).is_empty(), "{check}: {report}");
}
