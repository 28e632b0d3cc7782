//! Catalogues that somebody sent to keep the server busy: what is told of them is bounded, and what a large house
//! writes is read all the same.

use serde_json::{Map, Value, json};

use super::{Catalogue, Lockout, Problem};
use crate::limits::{CATALOGUE_ACTIONS_MAX, CATALOGUE_BYTES_MAX};
use crate::written::{MEMBERS_MAX, PROBLEMS_MAX};

/// What all problems of a file may take together, as an answer tells them.
const TOLD_BYTES_MAX: usize = 64 * 1024;

fn action(id: &str, inverse: Option<&str>) -> Value {
    let mut action = json!({"id": id, "kind": "service_restart", "host": "local", "service": "s", "tier": "safe"});
    if let Some(inverse) = inverse {
        action["inverse"] = json!(inverse);
    }
    action
}

fn refused(text: &str) -> Vec<Problem> {
    assert!(text.len() <= CATALOGUE_BYTES_MAX);
    let problems = Catalogue::parse(text, &Lockout::default()).unwrap_err();
    let told: usize = problems
        .iter()
        .map(|problem| problem.to_string().len())
        .sum();
    assert!(told <= TOLD_BYTES_MAX, "{told} bytes are told");
    assert!(
        problems.len() <= PROBLEMS_MAX + 1,
        "{} are told",
        problems.len()
    );
    problems
}

fn of_actions(actions: &[Value]) -> String {
    json!({ "actions": actions }).to_string()
}

#[test]
fn the_first_of_many_unknown_inverses_are_told_and_the_rest_counted() {
    let many: Vec<Value> = (0..3_000)
        .map(|n| action(&format!("action-{n}"), Some(&format!("nothing-{n}"))))
        .collect();
    let problems = refused(&of_actions(&many));
    let last = problems.last().unwrap();
    assert_eq!(
        last.message,
        format!("and {} more errors", 3_000 - PROBLEMS_MAX)
    );
    assert!(
        problems[0]
            .message
            .starts_with("unknown action \"nothing-0\"")
    );
}

#[test]
fn no_error_lists_all_ids() {
    let many: Vec<Value> = (0..800)
        .map(|n| {
            let id = format!("{n:0>50}");
            action(&id, Some(&format!("{}{n}", "z".repeat(40))))
        })
        .collect();
    let problems = refused(&of_actions(&many));
    let hints: Vec<&str> = problems.iter().filter_map(|p| p.hint.as_deref()).collect();
    assert!(
        hints.iter().all(|hint| *hint == "none of 800 is near"),
        "{hints:?}"
    );
    assert!(hints.len() < 10, "only the first few are compared");
}

#[test]
fn names_are_bounded_and_none_is_repeated_whole() {
    let unknown = |count: usize| -> Map<String, Value> {
        (0..count).map(|n| (format!("k{n}"), json!(1))).collect()
    };
    let problems = refused(&json!({"actions": [unknown(40_000)]}).to_string());
    assert_eq!(
        problems[0].message,
        format!("more than {MEMBERS_MAX} names in one object")
    );
    refused(&json!({"actions": [unknown(MEMBERS_MAX)]}).to_string());
    let long = "k".repeat(CATALOGUE_BYTES_MAX / 4);
    refused(&format!("{{\"{long}\": 1, \"{long}\": 2}}"));
    refused(&format!("[{}]", "9".repeat(CATALOGUE_BYTES_MAX / 4)));
    refused(&json!({"actions": [{long.as_str(): 1, "inverse": long}]}).to_string());
}

#[test]
fn a_large_house_is_read_and_a_larger_list_is_not() {
    let list = |count: usize| {
        let all: Vec<Value> = (0..count).map(|n| action(&format!("a{n}"), None)).collect();
        of_actions(&all)
    };
    let read = Catalogue::parse(&list(CATALOGUE_ACTIONS_MAX), &Lockout::default()).unwrap();
    assert_eq!(read.actions().len(), CATALOGUE_ACTIONS_MAX);
    let problems = refused(&list(CATALOGUE_ACTIONS_MAX + 1));
    assert_eq!(
        problems[0].message,
        format!("more than {CATALOGUE_ACTIONS_MAX} actions")
    );
}

#[test]
fn many_warnings_hide_no_error() {
    let mut many: Vec<Value> = (0..PROBLEMS_MAX + 5)
        .map(|n| {
            json!({"id": format!("stop-{n}"), "kind": "guest_power", "node": "z", "vmid": 100 + n,
                "op": "stop", "tier": "safe"})
        })
        .collect();
    let read = Catalogue::parse(&of_actions(&many), &Lockout::default()).unwrap();
    let last = read.warnings().last().unwrap();
    assert_eq!(last.message, "and 5 more warnings");
    many.push(action("last", Some("nothing")));
    let problems = Catalogue::parse(&of_actions(&many), &Lockout::default()).unwrap_err();
    assert!(problems.iter().any(|p| p.path.ends_with(".inverse")));
}
