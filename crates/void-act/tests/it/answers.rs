//! The one line: its keys, its exit code, and the questions that void-act answers itself.

use std::fs;

use serde_json::{Value, json};
use void_act::{Outcome, Reason};

use crate::lab::{Lab, command, def, proposal, run, safe, ticket};

fn keys(line: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(line).unwrap();
    value.as_object().unwrap().keys().cloned().collect()
}

#[test]
fn done_and_failed_carry_exactly_their_keys() {
    let lab = Lab::new(&[safe(
        "fail",
        &["/bin/sh", "-c", "echo out; echo err >&2; exit 7"],
    )]);
    let done = lab.ask("effect", &ticket(1));
    done.is(Outcome::Done, false);
    assert_eq!(done.code, Some(0));
    let all = [
        "exit", "id", "list", "outcome", "replayed", "stderr", "stdout", "ticket", "v",
    ];
    assert_eq!(keys(&done.line), all);
    assert_eq!((done.answer.v, done.answer.id.as_str()), (1, "effect"));
    assert_eq!(done.answer.ticket, Some(proposal(1)));

    let failed = lab.call("fail");
    failed.is(Outcome::Failed, false);
    assert_eq!(failed.code, Some(1));
    assert_eq!(keys(&failed.line), all);
    assert_eq!((failed.answer.exit, failed.answer.ticket), (Some(7), None));
    assert_eq!(failed.answer.stdout.as_deref(), Some("out\n"));
    assert_eq!(failed.answer.stderr.as_deref(), Some("err\n"));

    let refused = lab.call("nothing");
    refused.refused(Reason::UnknownAction);
    assert_eq!(
        keys(&refused.line),
        [
            "id", "list", "outcome", "reason", "replayed", "stderr", "ticket", "v"
        ]
    );
    assert!(refused.line.contains(r#""reason":"unknown_action""#));
}

#[test]
fn the_list_digest_is_what_sha256sum_shows() {
    let lab = Lab::new(&[]);
    let sum = run(command("/usr/bin/sha256sum").arg(lab.path("list.json")));
    let sum = String::from_utf8(sum.stdout).unwrap()[..64].to_owned();
    for original in ["void-list", "nothing", "a;b", "effect v1.AAAA"] {
        assert_eq!(
            lab.call(original).answer.list.as_ref(),
            Some(&sum),
            "{original}"
        );
    }
    fs::write(lab.path("list.json"), "garbage").unwrap();
    let garbage = lab.call("void-list");
    garbage.refused(Reason::ListUnusable);
    assert!(garbage.answer.list.is_some_and(|digest| digest != sum));
    fs::remove_file(lab.path("list.json")).unwrap();
    assert_eq!(lab.call("void-list").answer.list, None);
}

#[test]
fn void_list_shows_definitions_host_and_switch() {
    let bare = json!({"id": "bare", "argv": ["/bin/true"], "tier": "safe"});
    let lab = Lab::new(&[bare]);
    let listed = lab.call("void-list");
    listed.is(Outcome::Done, false);
    let defs = listed.answer.defs.unwrap();
    assert_eq!(defs.get("effect"), Some(&Some(def())));
    assert_eq!(defs.get("bare"), Some(&None));
    assert_eq!(listed.answer.host.as_deref(), Some("lab"));
    assert_eq!(listed.answer.stopped, Some(false));
    assert_eq!(listed.answer.version.as_deref(), Some("0.1.0"));
    fs::write(lab.path("stop"), "").unwrap();
    assert_eq!(lab.call("void-list").answer.stopped, Some(true));
    // A look at the list leaves no trace in the state directory.
    assert_eq!(fs::read_dir(lab.path("state")).unwrap().count(), 0);
}

#[test]
fn the_longest_list_still_fits_the_answer() {
    let long = |n: usize| safe(&format!("{n:x<64}"), &["/bin/true"]);
    let lab = Lab::new(&(0..999).map(long).collect::<Vec<_>>());
    assert_eq!(lab.call("void-list").answer.defs.unwrap().len(), 1000);
}

#[test]
fn questions_have_one_form_each() {
    let lab = Lab::new(&[]);
    let word = ticket(1).encode();
    for original in [
        format!("void-list {word}"),
        "void-ticket".into(),
        "void-settle".into(),
    ] {
        lab.call(&original).refused(Reason::BadCommand);
    }
    for original in [
        "void-other".into(),
        "void-".into(),
        format!("void-run {word}"),
    ] {
        lab.call(&original).refused(Reason::UnknownAction);
    }
}

#[test]
fn refused_input_is_never_echoed_raw() {
    let lab = Lab::new(&[]);
    let called = lab.call("\u{1b}[31mred\u{7f}\u{202e}\n\"quoted\"".to_owned() + &"x".repeat(500));
    called.refused(Reason::BadCommand);
    assert!(called.answer.id.chars().count() <= 64);
    assert!(
        called
            .line
            .trim_end()
            .bytes()
            .all(|byte| (0x20..0x7f).contains(&byte)),
        "{:?}",
        called.line
    );
}
