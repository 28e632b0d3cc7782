//! The journal of an earlier version, one file for everything, as it is taken over.

use std::fs;

use serde_json::{Value, json};
use void_act::{Outcome, Reason};

use crate::journals::{all_refused, end, mark, start};
use crate::lab::{BINARY, Called, DAY_MS, Lab, command, now_ms, run, safe, ticket, ticket_with};

/// What an earlier version remembered is remembered, and said in the same words.
#[test]
fn an_old_journal_is_taken_over() {
    let lab = Lab::new(&[]);
    let (ran, now) = (ticket(1), now_ms());
    let fingerprint = {
        let other = Lab::new(&[]);
        other.ask("effect", &ran).is(Outcome::Done, false);
        let line = other.journal().lines().next().unwrap().to_owned();
        let line: Value = serde_json::from_str(&line).unwrap();
        line["start"]["ticket"].clone()
    };
    let torn = "{\"start\":{\"run\":9";
    let text = format!(
        "{}\n{}{}{}{}\n{torn}",
        json!({"head": {"forgotten_ms": now - 50 * DAY_MS, "next_run": 1}}),
        start(1, "effect", &fingerprint, now),
        end(1, "said\n"),
        start(2, "effect", &mark(2, now), now),
        json!({"void": {"ticket": mark(3, now), "at": {"wall_ms": now, "boot": "b", "up_ms": 0}}}),
    );
    lab.write_old_journal(&text);
    // Also by somebody who only asks.
    let known = lab.ask("void-ticket", &ran);
    known.is(Outcome::Done, true);
    assert_eq!(known.answer.stdout.as_deref(), Some("said\n"));
    lab.ask("effect", &ran).is(Outcome::Done, true);
    for n in [2, 3] {
        lab.ask("effect", &ticket(n))
            .refused(Reason::TicketMismatch);
    }
    lab.ask(
        "void-ticket",
        &ticket_with(7, &json!({}), now - 50 * DAY_MS),
    )
    .refused(Reason::Forgotten);
    assert_eq!(lab.effects(), 0);
    lab.ask("effect", &ticket(4)).is(Outcome::Done, false);
    assert_eq!(
        fs::read_to_string(lab.path("state/journal.old")).unwrap(),
        text
    );
    assert!(!lab.path("state/journal.new").exists());
    // With its mode and its owner it is as trusted as ever.
    assert_eq!(lab.ticket_files().len(), 4);
}

#[test]
fn a_damaged_old_journal_runs_nothing() {
    let lab = Lab::new(&[safe("ok", &["/bin/true"])]);
    let now = now_ms();
    let whole = start(1, "effect", &mark(1, now), now) + &end(1, "");
    let first = whole.lines().next().unwrap().to_owned() + "\n";
    let mut path = mark(1, now);
    path["proposal"] = json!("../../../etc/cron.d/x");
    for bad in [
        whole.replacen('{', "#", 1),
        format!("\n{whole}"),
        format!("{whole}\n"),
        format!("{whole}{first}"),
        format!("{whole}{{}}\n"),
        format!("{whole}\u{0}\u{0}\u{0}\n"),
        whole.replace("\"exit\":0", "\"exit\":\"0\""),
        whole.replace("\"run\"", "\"ran\""),
        whole[first.len()..].to_owned(),
        start(1, "effect", &path, now),
    ] {
        lab.write_old_journal(&bad);
        all_refused(&lab, 2, Reason::JournalDamaged);
        lab.call("ok").refused(Reason::JournalDamaged);
        assert_eq!(fs::read_to_string(lab.path("state/journal")).unwrap(), bad);
    }
    lab.call("void-list").is(Outcome::Done, false);
    for mode in [0o640, 0o604, 0o666] {
        lab.write_old_journal(&whole);
        lab.set_mode("state/journal", mode);
        all_refused(&lab, 2, Reason::JournalUnavailable);
    }
    assert_eq!(lab.effects(), 0);
}

/// An earlier version wrote its smaller journal beside the whole one, and was killed before it had its name.
#[test]
fn a_compaction_that_was_killed_is_in_nobodys_way() {
    let lab = Lab::new(&[]);
    let now = now_ms();
    let text = start(1, "effect", &mark(1, now), now) + &end(1, "");
    for left in ["", "{\"head\":", &start(1, "effect", &mark(2, now), now)] {
        lab.write_old_journal(&text);
        fs::write(lab.path("state/journal.new"), left).unwrap();
        lab.set_mode("state/journal.new", 0o600);
        lab.ask("effect", &ticket(1))
            .refused(Reason::TicketMismatch);
        assert!(lab.path("state/journal").is_dir());
        assert!(!lab.path("state/journal.new").exists());
        let old = fs::read_to_string(lab.path("state/journal.old")).unwrap();
        assert_eq!(old, text);
        lab.ask("void-ticket", &ticket(2))
            .is(Outcome::Unseen, false);
    }
    assert_eq!(lab.effects(), 0);
}

/// What the process may have of memory; it needs some 15 MB of it for itself.
const MEMORY_KB: u64 = 40 << 10;

/// A journal that is larger than the memory there is: outputs that are too old to be asked for are not kept.
#[test]
fn a_large_old_journal_is_taken_over_in_little_memory() {
    let lab = Lab::new(&[]);
    let now = now_ms();
    let output = "x".repeat(60_000);
    let run_of =
        |run: u64, at_ms: u64| start(run, "effect", &mark(run, now), at_ms) + &end(run, &output);
    let three_days_ago = now - 3 * DAY_MS;
    let mut text: String = (1..=999).map(|run| run_of(run, three_days_ago)).collect();
    text += &run_of(1000, now);
    assert!(text.len() as u64 > MEMORY_KB << 10);
    lab.write_old_journal(&text);
    let mut limited = command("/bin/sh");
    let script = format!("ulimit -v {MEMORY_KB}; exec \"$0\" \"$@\"");
    limited.args(["-c", &script, BINARY]).args(lab.arguments());
    let asked = format!("void-ticket {}", ticket(1).encode());
    let output = run(limited.env("SSH_ORIGINAL_COMMAND", asked));
    Called::from(&output).refused(Reason::TicketMismatch);
    assert_eq!(lab.ticket_files().len(), 1000);
    for (n, kept) in [(1, false), (999, false), (1000, true)] {
        let text = fs::read_to_string(lab.ticket_file(n)).unwrap();
        assert!(text.contains("\"exit\":0"), "{n}: {text}");
        assert_eq!(text.len() > 60_000, kept, "{n}");
    }
    let starts = fs::read_to_string(lab.path("state/journal/actions/effect")).unwrap();
    assert_eq!(starts.lines().count(), 1000);
}

/// Where names cannot be swapped, and power fails between the two that are changed instead.
#[test]
fn a_take_over_that_was_cut_off_is_begun_again() {
    let lab = Lab::new(&[]);
    let now = now_ms();
    let text = start(1, "effect", &mark(1, now), now);
    let refused = || {
        lab.ask("effect", &ticket(1))
            .refused(Reason::TicketMismatch);
        assert!(lab.path("state/journal").is_dir());
    };
    for name in ["journal.old", "journal.new"] {
        lab.write_old_journal(&text);
        fs::rename(lab.path("state/journal"), lab.path("state").join(name)).unwrap();
        refused();
    }
    // Half of a folder that nobody finished.
    lab.write_old_journal(&text);
    fs::create_dir_all(lab.path("state/journal.new/0")).unwrap();
    fs::write(lab.path("state/journal.new/0/x"), "").unwrap();
    refused();
    // An older void-act that comes back finds no journal that it could write to, and starts nothing.
    assert!(
        fs::OpenOptions::new()
            .append(true)
            .open(lab.path("state/journal"))
            .is_err()
    );
    assert_eq!(lab.effects(), 0);
}
