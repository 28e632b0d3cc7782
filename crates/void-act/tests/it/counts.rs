//! How many copies run after a command that was to change their number: counted by the host's own command, told
//! with the answer, and never guessed.

use serde_json::{Value, json};
use void_act::Outcome;

use crate::lab::{Called, Lab, def, now_ms, ticket_with};

const HOUR_MS: u64 = 3_600_000;

fn scale(lab: &Lab, count: &str) -> Value {
    let argv = [lab.script("count", count)];
    json!({
        "id": "scale", "argv": ["/bin/true", {"param": "n"}], "tier": "risky", "def": def(),
        "params": {"n": {"type": "integer", "min": 0, "max": 9}},
        "count": {"argv": argv, "param": "n"},
    })
}

fn run(lab: &Lab, wanted: u32, number: u64) -> Called {
    let ticket = ticket_with(number, &json!({"n": wanted}), now_ms() + HOUR_MS);
    let called = lab.ask("scale", &ticket);
    called.is(Outcome::Done, false);
    // The journal knows that it was done, and not what ran then.
    let again = lab.ask("scale", &ticket);
    again.is(Outcome::Done, true);
    assert_eq!(again.answer.running, None);
    called
}

#[test]
fn what_runs_is_counted_and_not_what_was_wanted() {
    let lab = Lab::new(&[]);
    let cases = [
        ("echo 3", 3, Some(3)),
        ("echo 2", 3, Some(2)),
        ("echo 0", 3, Some(0)),
        ("echo 4", 3, Some(4)),
        ("echo 0", 0, Some(0)),
        ("echo 1", 0, Some(1)),
        // As wc prints it.
        ("echo '  3'", 3, Some(3)),
    ];
    for (number, (count, wanted, counted)) in (1..).zip(cases) {
        lab.list(&[scale(&lab, count)]);
        assert_eq!(run(&lab, wanted, number).answer.running, counted, "{count}");
    }
}

#[test]
fn a_copy_that_is_just_starting_is_waited_for_and_one_that_falls_over_is_not_counted() {
    let lab = Lab::new(&[]);
    let looks = lab.text("looks");
    let starting = format!("echo >> {looks}; [ $(wc -l < {looks}) -gt 2 ] && echo 3 || echo 1");
    lab.list(&[scale(&lab, &starting)]);
    assert_eq!(run(&lab, 3, 1).answer.running, Some(3));
    // Seen once, and never twice in a row.
    let looks = lab.text("other");
    let falling = format!("echo >> {looks}; echo $((2 + $(wc -l < {looks}) % 2))");
    lab.list(&[scale(&lab, &falling)]);
    assert_ne!(run(&lab, 3, 2).answer.running, Some(3));
}

#[test]
fn what_is_no_number_is_not_counted() {
    let lab = Lab::new(&[]);
    let answers = [
        "true",
        "echo three",
        "echo -1",
        "echo +3",
        "echo 3.0",
        "echo 0x3",
        "echo '3 3'",
        "echo 3; echo 3",
        "echo 99999999999",
        "echo 3; exit 1",
    ];
    // All at once: each is asked until its time is over.
    std::thread::scope(|scope| {
        for answer in answers {
            scope.spawn(move || {
                let lab = Lab::new(&[]);
                lab.list(&[scale(&lab, answer)]);
                assert_eq!(run(&lab, 3, 1).answer.running, None, "{answer}");
            });
        }
    });
    drop(lab);
}

#[test]
fn nothing_is_counted_after_a_failure_and_a_bad_count_refuses_the_list() {
    let lab = Lab::new(&[]);
    let mut failing = scale(&lab, &format!("echo >> {}; echo 3", lab.text("effects")));
    failing["argv"] = json!(["/bin/false", {"param": "n"}]);
    lab.list(&[failing]);
    let ticket = ticket_with(1, &json!({"n": 3}), now_ms() + HOUR_MS);
    let called = lab.ask("scale", &ticket);
    called.is(Outcome::Failed, false);
    assert_eq!((called.answer.running, lab.effects()), (None, 0));
    for (count, word) in [
        (json!({"argv": ["count"], "param": "n"}), "absolute"),
        (json!({"argv": [], "param": "n"}), "absolute"),
        (json!({"argv": ["/bin/true"], "param": "m"}), "param"),
        (json!({"argv": ["/bin/true"]}), "param"),
        (
            json!({"argv": ["/bin/true"], "param": "n", "shell": true}),
            "shell",
        ),
        (
            json!({"argv": ["/bin/true", {"param": "n"}], "param": "n"}),
            "string",
        ),
    ] {
        let mut entry = scale(&lab, "echo 3");
        entry["count"] = count.clone();
        lab.list(&[entry]);
        let called = lab.ask("scale", &ticket);
        called.is(Outcome::Refused, false);
        let said = called.answer.stderr.unwrap();
        assert!(said.contains(word), "{count}: {said}");
    }
    let mut text = scale(&lab, "echo 3");
    text["params"]["n"] = json!({"type": "enum", "values": ["3"]});
    lab.list(&[text]);
    lab.ask("scale", &ticket).is(Outcome::Refused, false);
}
