//! Tickets against the binary: once and never again, and what became of them.

use std::process::Stdio;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use void_act::{Outcome, Params, Reason, Ticket};

use crate::lab::{
    BINARY, Called, HOUR_MS, Lab, command, def, now_ms, proposal, safe, ticket, ticket_with,
    wait_for,
};

#[test]
fn the_same_ticket_again_answers_from_the_journal() {
    let lab = Lab::new(&[safe("fail", &["/bin/sh", "-c", "echo why >&2; exit 3"])]);
    let (one, two) = (ticket(1), ticket(2));
    lab.ask("effect", &one).is(Outcome::Done, false);
    for _ in 0..3 {
        lab.ask("effect", &one).is(Outcome::Done, true);
    }
    assert_eq!(lab.effects(), 1);
    lab.ask("fail", &two).is(Outcome::Failed, false);
    let again = lab.ask("fail", &two);
    again.is(Outcome::Failed, true);
    assert_eq!(
        (again.answer.exit, again.answer.stderr.as_deref()),
        (Some(3), Some("why\n"))
    );
    assert_eq!(lab.journal().lines().count(), 4);
}

#[test]
fn a_known_ticket_is_answered_whatever_changed_since() {
    let lab = Lab::new(&[]);
    let brief = ticket_with(1, &json!({}), now_ms() + 4000);
    lab.ask("effect", &brief).is(Outcome::Done, false);
    wait_for("the ticket to expire", || now_ms() > brief.expires_ms());
    lab.ask("effect", &brief).is(Outcome::Done, true);
    std::fs::write(lab.path("stop"), "").unwrap();
    lab.ask("effect", &brief).is(Outcome::Done, true);
    lab.ask("void-ticket", &brief).is(Outcome::Done, true);
}

#[test]
fn the_same_proposal_with_other_content_is_refused() {
    let lab = Lab::new(&[safe("other", &["/bin/true"])]);
    let expires_ms = now_ms() + HOUR_MS;
    let digest = "d".repeat(64);
    let with = |digest: &str, exec: &str, params: serde_json::Value, expires_ms: u64| {
        let params: Params = serde_json::from_value(params).unwrap();
        Ticket::new(&proposal(1), digest, exec, params, expires_ms).unwrap()
    };
    let original = with(&digest, &def(), json!({}), expires_ms);
    lab.ask("effect", &original).is(Outcome::Done, false);
    for forged in [
        with(&"c".repeat(64), &def(), json!({}), expires_ms),
        with(&digest, &"c".repeat(64), json!({}), expires_ms),
        with(&digest, &def(), json!({"n": 1}), expires_ms),
        with(&digest, &def(), json!({}), expires_ms + 1),
    ] {
        for id in ["effect", "void-ticket", "void-settle"] {
            lab.ask(id, &forged).refused(Reason::TicketMismatch);
        }
    }
    lab.ask("other", &original).refused(Reason::TicketMismatch);
    lab.ask("void-ticket", &original).is(Outcome::Done, true);
    assert_eq!(lab.effects(), 1);
}

#[test]
fn an_unseen_ticket_must_be_in_time_and_for_this_definition() {
    let lab = Lab::new(&[json!({"id": "nodef", "argv": ["/bin/true"], "tier": "safe"})]);
    lab.ask("effect", &ticket_with(1, &json!({}), now_ms() - 1))
        .refused(Reason::Expired);
    lab.ask("effect", &ticket_with(2, &json!({}), 0))
        .refused(Reason::Expired);
    let other = Ticket::new(
        &proposal(3),
        &def(),
        &"f".repeat(64),
        Params::new(),
        now_ms() + HOUR_MS,
    )
    .unwrap();
    lab.ask("effect", &other).refused(Reason::Drift);
    lab.ask("nodef", &ticket(4)).refused(Reason::Drift);
    lab.ask("nothing", &ticket(5))
        .refused(Reason::UnknownAction);
    lab.ask(
        "effect",
        &ticket_with(6, &json!({"n": 1}), now_ms() + HOUR_MS),
    )
    .refused(Reason::BadParams);
    assert_eq!((lab.effects(), lab.journal().as_str()), (0, ""));
}

#[test]
fn tickets_that_are_good_for_years_run_nothing_and_take_no_room() {
    let lab = Lab::new(&[]);
    for (n, expires_ms) in [
        (1, now_ms() + 2 * HOUR_MS),
        (2, now_ms() + 3_650 * 24 * HOUR_MS),
        (3, u64::MAX),
    ] {
        let far = ticket_with(n, &json!({}), expires_ms);
        lab.ask("effect", &far).refused(Reason::BadTicket);
        lab.ask("void-settle", &far).refused(Reason::BadTicket);
    }
    assert_eq!((lab.effects(), lab.journal().as_str()), (0, ""));
    lab.ask("effect", &ticket(4)).is(Outcome::Done, false);
}

#[test]
fn parameters_become_whole_elements() {
    let lab = Lab::new(&[]);
    let params = json!({
        "n": {"type": "integer", "min": -5, "max": 5},
        "m": {"type": "enum", "values": ["a b", "$(id)"]},
        "i": {"type": "pattern", "pattern": "^.*$", "max_len": 32},
    });
    let argv = json!([lab.text("effect"), {"param": "n"}, "--", {"param": "m"}, {"param": "i"}, {"param": "n"}]);
    lab.list(&[json!({"id": "p", "argv": argv, "tier": "risky", "def": def(), "params": params})]);
    let ask = |n: u64, params| lab.ask("p", &ticket_with(n, &params, now_ms() + HOUR_MS));
    ask(1, json!({"n": -5, "m": "$(id)", "i": "x;y `z` é"})).is(Outcome::Done, false);
    let effects = std::fs::read_to_string(lab.path("effects")).unwrap();
    assert_eq!(effects, "5:-5 -- $(id) x;y `z` é -5\n");
    for (n, bad) in [
        json!({"n": -6, "m": "a b", "i": "x"}),
        json!({"n": "1", "m": "a b", "i": "x"}),
        json!({"n": 1, "m": "a", "i": "x"}),
        json!({"n": 1, "m": "a b", "i": "-x"}),
        json!({"n": 1, "m": "a b", "i": "x".repeat(33)}),
        json!({"n": 1, "m": "a b", "i": "x\ny"}),
        json!({"n": 1, "m": "a b", "i": "x\u{0}"}),
        json!({"n": 1, "m": "a b", "i": ""}),
        json!({"n": 1, "m": "a b"}),
        json!({"n": 1, "m": "a b", "i": "x", "j": "y"}),
    ]
    .into_iter()
    .enumerate()
    {
        ask(10 + n as u64, bad).refused(Reason::BadParams);
    }
    assert_eq!(lab.effects(), 1);
}

#[test]
fn signatures_are_refused_until_they_are_checked() {
    let signed = json!({"id": "signed", "argv": ["/bin/true"], "tier": "safe", "def": def(), "cooldown_s": 1, "signed": true});
    let lab = Lab::new(&[signed]);
    lab.call("signed").refused(Reason::SignatureUnsupported);
    lab.ask("signed", &ticket(1))
        .refused(Reason::SignatureUnsupported);
    let body =
        json!({"p": proposal(2), "d": def(), "e": def(), "a": {}, "x": u64::MAX, "s": "AAAA"});
    let word = URL_SAFE_NO_PAD.encode(body.to_string());
    lab.call(format!("effect v1.{word}"))
        .refused(Reason::SignatureUnsupported);
    assert_eq!(lab.effects(), 0);
}

#[test]
fn asking_about_a_ticket_changes_nothing() {
    let lab = Lab::new(&[]);
    let one = ticket(1);
    lab.ask("void-ticket", &one).is(Outcome::Unseen, false);
    assert!(!lab.path("state/journal").exists());
    lab.ask("effect", &one).is(Outcome::Done, false);
    let journal = lab.journal();
    let asked = lab.ask("void-ticket", &one);
    asked.is(Outcome::Done, true);
    assert_eq!(
        (asked.answer.id.as_str(), asked.answer.exit),
        ("void-ticket", Some(0))
    );
    std::fs::write(lab.ticket_file(1), format!("{journal}{{\"start\":")).unwrap();
    lab.ask("void-ticket", &one).is(Outcome::Done, true);
    assert_eq!(lab.journal(), format!("{journal}{{\"start\":"));
    lab.ask("void-ticket", &ticket(2))
        .is(Outcome::Unseen, false);
    assert_eq!(lab.ticket_files().len(), 1);
}

#[test]
fn a_settled_ticket_never_starts_afterwards() {
    let lab = Lab::new(&[]);
    let one = ticket(1);
    lab.ask("void-settle", &one).is(Outcome::Unseen, false);
    lab.ask("effect", &one).refused(Reason::Settled);
    lab.ask("void-settle", &one).is(Outcome::Unseen, false);
    lab.ask("void-ticket", &one).is(Outcome::Unseen, false);
    assert_eq!((lab.effects(), lab.journal().lines().count()), (0, 1));
    let ran = ticket(2);
    lab.ask("effect", &ran).is(Outcome::Done, false);
    lab.ask("void-settle", &ran).is(Outcome::Done, true);
    // Also one that has expired here: the clock may yet be set back.
    let late = ticket_with(3, &json!({}), now_ms() - 1);
    lab.ask("void-settle", &late).is(Outcome::Unseen, false);
    lab.ask("effect", &late).refused(Reason::Settled);
    std::fs::write(lab.path("stop"), "").unwrap();
    lab.ask("void-settle", &ticket(4))
        .is(Outcome::Unseen, false);
}

#[test]
fn a_run_under_way_is_started_for_everyone_who_asks() {
    let lab = Lab::new(&[]);
    let body = format!(
        "echo >> {0}/effects; while [ -d {0} -a ! -e {0}/go ]; do sleep 0.02; done",
        lab.text("")
    );
    let slow = lab.script("slow", &body);
    lab.list(&[safe("slow", &[&slow])]);
    let one = ticket(1);
    let mut first = lab.command(format!("slow {}", one.encode()));
    let first = first.stdout(Stdio::piped()).spawn().unwrap();
    wait_for("the command to run", || lab.effects() == 1);
    for id in ["slow", "void-ticket", "void-settle"] {
        let asked = lab.ask(id, &one);
        asked.is(Outcome::Started, true);
        assert_eq!((asked.code, asked.answer.exit), (Some(0), None));
    }
    std::fs::write(lab.path("go"), "").unwrap();
    Called::from(&first.wait_with_output().unwrap()).is(Outcome::Done, false);
    lab.ask("void-ticket", &one).is(Outcome::Done, true);
    assert_eq!(lab.effects(), 1);
}

#[test]
fn a_failed_ticket_is_asked_for_with_exit_1() {
    let lab = Lab::new(&[safe("fail", &["/bin/false"])]);
    let one = ticket(1);
    lab.ask("fail", &one).is(Outcome::Failed, false);
    assert_eq!(lab.ask("void-ticket", &one).code, Some(1));
    assert_eq!(lab.ask("void-settle", &one).code, Some(1));
}

#[test]
fn of_32_at_once_exactly_one_runs() {
    let lab = Lab::new(&[]);
    for round in 0..3 {
        let original = format!("effect {}", ticket(round).encode());
        let spawn = |_| {
            lab.command(&original)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let children: Vec<_> = (0..32).map(spawn).collect();
        let outputs = children
            .into_iter()
            .map(|child| child.wait_with_output().unwrap());
        let called: Vec<_> = outputs.map(|output| Called::from(&output)).collect();
        let first = |one: &&Called| !one.answer.replayed;
        assert_eq!(called.iter().filter(first).count(), 1);
        for one in &called {
            assert!(
                matches!(one.answer.outcome, Outcome::Done | Outcome::Started),
                "{}",
                one.line
            );
        }
        assert_eq!(lab.effects() as u64, round + 1);
    }
}

#[test]
fn of_64_at_once_exactly_one_runs_and_the_rest_answer() {
    let lab = Lab::new(&[]);
    // The journal is not there yet: who makes it is decided in the same moment.
    let original = format!("effect {}", ticket(1).encode());
    let spawn = |_| {
        lab.command(&original)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..64).map(spawn).collect();
    let mut first = 0;
    for child in children {
        let called = Called::from(&child.wait_with_output().unwrap());
        first += usize::from(!called.answer.replayed);
        assert!(
            matches!(called.answer.outcome, Outcome::Done | Outcome::Started),
            "{}",
            called.line
        );
    }
    assert_eq!((first, lab.effects()), (1, 1));
}

/// Runs of different actions wait for nothing of each other, and nobody is told to come back.
#[test]
fn of_60_targets_at_once_none_is_refused() {
    let lab = Lab::new(&[]);
    let entry = |n: u64| {
        let mut entry = json!({"id": format!("target-{n}"), "argv": [lab.text("effect")], "tier": "risky", "def": def()});
        if n.is_multiple_of(2) {
            entry["max_per_hour"] = json!(1);
        }
        entry
    };
    lab.list(&(0..60).map(entry).collect::<Vec<_>>());
    let children: Vec<_> = (0..60)
        .map(|n| {
            let original = format!("target-{n} {}", ticket(n).encode());
            let mut command = lab.command(original);
            command.stdout(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in children {
        Called::from(&child.wait_with_output().unwrap()).is(Outcome::Done, false);
    }
    assert_eq!(lab.effects(), 60);
}

/// A tombstone and a start of one ticket: one of them is there, and whoever asks again hears of that one.
#[test]
fn a_tombstone_that_races_with_a_start_agrees_with_it() {
    let lab = Lab::new(&[]);
    let mut ran = 0;
    for n in 0..40 {
        let one = ticket(n);
        let word = one.encode();
        let spawn = |id: &str| {
            let mut command = lab.command(format!("{id} {word}"));
            command.stdout(Stdio::piped()).spawn().unwrap()
        };
        let children = match n % 2 {
            0 => ["effect", "void-settle"].map(spawn),
            _ => ["void-settle", "effect"].map(spawn),
        };
        let mut called: Vec<_> = children
            .into_iter()
            .map(|child| Called::from(&child.wait_with_output().unwrap()))
            .collect();
        called.sort_by_key(|called| called.answer.id.clone());
        match (called[0].answer.outcome, called[1].answer.outcome) {
            (Outcome::Done, Outcome::Done | Outcome::Started) => ran += 1,
            (Outcome::Refused, Outcome::Unseen) => called[0].refused(Reason::Settled),
            // It saw the tombstone while that was being written, and said what is safe to say.
            (Outcome::Started, Outcome::Unseen) => assert!(called[0].answer.replayed),
            other => panic!("{other:?}"),
        }
        match called[1].answer.outcome {
            Outcome::Unseen => lab.ask("effect", &one).refused(Reason::Settled),
            _ => lab.ask("void-settle", &one).is(Outcome::Done, true),
        }
        assert_eq!(lab.effects(), ran, "{n}");
    }
}

/// The ticket names the list that its server looked at: any other one waits, and leaves no trace.
#[test]
fn a_ticket_for_another_list_is_refused_until_it_names_this_one() {
    let lab = Lab::new(&[]);
    let listed = lab.call("void-list").answer;
    assert_eq!(listed.names_list, Some(true));
    let (here, elsewhere) = (listed.list.unwrap(), "0".repeat(64));
    let expires_ms = now_ms() + HOUR_MS;
    let of = |n: u64, list: &str| {
        let ticket = ticket_with(n, &json!({}), expires_ms);
        ticket.for_list(list).unwrap()
    };
    let one = ticket(1);
    let refused = lab.ask("effect", &one.clone().for_list(&elsewhere).unwrap());
    refused.refused(Reason::ListChanged);
    assert_eq!(refused.answer.list.as_ref(), Some(&here));
    assert_eq!((lab.effects(), lab.journal().as_str()), (0, ""));
    let named = one.clone().for_list(&here).unwrap();
    lab.ask("effect", &named).is(Outcome::Done, false);
    // It is the same ticket whatever list it names, and a known one is answered whatever the list is.
    for again in [&one, &named, &one.clone().for_list(&elsewhere).unwrap()] {
        for id in ["effect", "void-ticket", "void-settle"] {
            lab.ask(id, again).is(Outcome::Done, true);
        }
    }
    lab.ask("void-settle", &of(2, &elsewhere))
        .is(Outcome::Unseen, false);
    lab.ask("effect", &of(2, &here)).refused(Reason::Settled);
    lab.list(&[safe("more", &["/bin/true"])]);
    lab.ask("effect", &of(3, &here))
        .refused(Reason::ListChanged);
    let drifted = Ticket::new(
        &proposal(4),
        &def(),
        &"f".repeat(64),
        Params::new(),
        one.expires_ms(),
    );
    lab.ask("effect", &drifted.unwrap().for_list(&here).unwrap())
        .refused(Reason::Drift);
    assert_eq!(lab.effects(), 1);
}

#[test]
fn however_slow_the_judging_exactly_one_runs() {
    let lab = Lab::new(&[]);
    let original = format!("effect {}", ticket(1).encode());
    // Each looks for the stop file between reading the journal and writing to it, and is held up there.
    let spawn = |_| {
        let mut strace = command("/usr/bin/strace");
        strace.arg("-P").arg(lab.path("stop"));
        strace.args([
            "-o",
            "/dev/null",
            "-e",
            "inject=statx:delay_enter=300000",
            BINARY,
        ]);
        strace
            .args(lab.arguments())
            .env("SSH_ORIGINAL_COMMAND", &original);
        strace.stdout(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..6).map(spawn).collect();
    for child in children {
        let called = Called::from(&child.wait_with_output().unwrap());
        assert!(
            matches!(called.answer.outcome, Outcome::Done | Outcome::Started),
            "{}",
            called.line
        );
    }
    assert_eq!(lab.effects(), 1);
}

#[test]
fn of_32_bare_ids_at_once_exactly_one_runs() {
    let lab = Lab::new(&[]);
    lab.list(&[safe("bare", &[&lab.text("effect")])]);
    let spawn = |_| lab.command("bare").stdout(Stdio::piped()).spawn().unwrap();
    let children: Vec<_> = (0..32).map(spawn).collect();
    for child in children {
        let called = Called::from(&child.wait_with_output().unwrap());
        if called.answer.outcome != Outcome::Done {
            called.refused(Reason::CoolingDown);
        }
    }
    assert_eq!(lab.effects(), 1);
}
