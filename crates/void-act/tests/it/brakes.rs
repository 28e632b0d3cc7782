//! Cooldown, caps and the stop file, counted by what really ran.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;
use void_act::{Outcome, Reason};

use crate::lab::{BINARY, Called, Lab, command, def, safe, ticket, wait_for};

#[test]
fn bare_ids_are_for_safe_entries_with_a_cooldown() {
    let lab =
        Lab::new(&[json!({"id": "free", "argv": ["/bin/true"], "tier": "safe", "def": def()})]);
    lab.call("effect").refused(Reason::NeedsTicket);
    lab.call("free").refused(Reason::NeedsCooldown);
    lab.ask("free", &ticket(1)).is(Outcome::Done, false);
    assert_eq!(lab.effects(), 0);
}

#[test]
fn cooldown_and_caps_hold_for_tickets_too() {
    let lab = Lab::new(&[]);
    let entry = |id: &str, key: &str, value: u32| {
        let mut entry =
            json!({"id": id, "argv": [lab.text("effect")], "tier": "risky", "def": def()});
        entry[key] = value.into();
        entry
    };
    lab.list(&[
        entry("cool", "cooldown_s", 3600),
        entry("hour", "max_per_hour", 2),
        entry("day", "max_per_day", 2),
    ]);
    lab.ask("cool", &ticket(1)).is(Outcome::Done, false);
    lab.ask("cool", &ticket(2)).refused(Reason::CoolingDown);
    for (id, base) in [("hour", 10), ("day", 20)] {
        let first = ticket(base);
        lab.ask(id, &first).is(Outcome::Done, false);
        lab.ask(id, &ticket(base + 1)).is(Outcome::Done, false);
        lab.ask(id, &ticket(base + 2)).refused(Reason::CapReached);
        lab.ask(id, &first).is(Outcome::Done, true);
    }
    assert_eq!(lab.effects(), 5);
}

/// The default of safe actions is no brake on the owner's runs, and the host cannot tell whose ticket it is.
#[test]
fn a_bare_cooldown_holds_back_whoever_has_no_ticket() {
    let lab = Lab::new(&[]);
    let entry = |id: &str| json!({"id": id, "argv": [lab.text("effect")], "tier": "safe", "bare_cooldown_s": 60, "def": def()});
    let mut both = entry("both");
    both["cooldown_s"] = 3600.into();
    lab.list(&[entry("first"), entry("second"), both]);
    lab.call("first").is(Outcome::Done, false);
    lab.call("first").refused(Reason::CoolingDown);
    // Tickets are not held back, and what they ran counts for those without.
    lab.ask("first", &ticket(1)).is(Outcome::Done, false);
    lab.ask("second", &ticket(2)).is(Outcome::Done, false);
    lab.ask("second", &ticket(3)).is(Outcome::Done, false);
    lab.call("second").refused(Reason::CoolingDown);
    // Of two the longer holds, and the other is everybody's.
    lab.ask("both", &ticket(4)).is(Outcome::Done, false);
    lab.ask("both", &ticket(5)).refused(Reason::CoolingDown);
    lab.call("both").refused(Reason::CoolingDown);
    assert_eq!(lab.effects(), 5);
    let risky = json!({"id": "risky", "argv": [lab.text("effect")], "tier": "risky", "bare_cooldown_s": 60, "def": def()});
    lab.list(&[risky]);
    lab.call("risky").refused(Reason::NeedsTicket);
}

#[test]
fn a_cooldown_ends() {
    let lab = Lab::new(&[]);
    lab.list(&[
        json!({"id": "cool", "argv": [lab.text("effect")], "tier": "safe", "cooldown_s": 60}),
    ]);
    lab.call("cool").is(Outcome::Done, false);
    lab.call("cool").refused(Reason::CoolingDown);
    let file = lab.path("state/journal/actions/cool");
    let mut start: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    for key in ["wall_ms", "up_ms"] {
        let at = &mut start["at"];
        at[key] = at[key].as_u64().unwrap().saturating_sub(60_000).into();
    }
    fs::write(&file, format!("{start}\n")).unwrap();
    lab.call("cool").is(Outcome::Done, false);
    assert_eq!(lab.effects(), 2);
}

#[test]
fn whatever_is_at_the_stop_file_stops() {
    let lab = Lab::new(&[safe("bare", &["/bin/true"])]);
    let stop = lab.path("stop");
    let stopped = || {
        lab.ask("effect", &ticket(1)).refused(Reason::Stopped);
        lab.call("bare").refused(Reason::Stopped);
        assert_eq!(lab.call("void-list").answer.stopped, Some(true));
    };
    fs::write(&stop, "").unwrap();
    stopped();
    fs::remove_file(&stop).unwrap();
    fs::create_dir(&stop).unwrap();
    stopped();
    fs::remove_dir(&stop).unwrap();
    symlink("/nonexistent", &stop).unwrap();
    stopped();
    fs::remove_file(&stop).unwrap();
    lab.ask("effect", &ticket(1)).is(Outcome::Done, false);
}

#[test]
fn a_stop_file_that_cannot_be_looked_for_stops() {
    let lab = Lab::new(&[]);
    let text = fs::read_to_string(lab.path("list.json")).unwrap();
    let file = lab.text("effect");
    let long = format!("/{}", "x".repeat(300));
    for path in [format!("{file}/stop"), long] {
        fs::write(
            lab.path("list.json"),
            text.replace(&lab.text("stop"), &path),
        )
        .unwrap();
        lab.ask("effect", &ticket(1)).refused(Reason::Stopped);
        assert_eq!(lab.call("void-list").answer.stopped, Some(true));
    }
    assert_eq!(lab.effects(), 0);
}

#[test]
fn a_switch_thrown_while_the_start_is_written_still_stops() {
    let lab = Lab::new(&[]);
    // The disk takes its time over the start; the switch is thrown from inside that very system call.
    let one = ticket(1);
    let mut strace = command("/usr/bin/strace");
    strace.args([
        "-o",
        "/dev/null",
        "-e",
        "inject=fdatasync:delay_enter=3s:when=1",
        BINARY,
    ]);
    strace
        .args(lab.arguments())
        .env("SSH_ORIGINAL_COMMAND", format!("effect {}", one.encode()));
    let child = strace.stdout(std::process::Stdio::piped()).spawn().unwrap();
    wait_for("the start record", || lab.journal().contains('\n'));
    fs::write(lab.path("stop"), "").unwrap();
    let called = Called::from(&child.wait_with_output().unwrap());
    called.is(Outcome::Failed, false);
    assert!(
        called
            .answer
            .stderr
            .as_ref()
            .is_some_and(|text| text.contains("stop file")),
        "{}",
        called.line
    );
    assert_eq!(lab.effects(), 0);
    lab.ask("effect", &one).is(Outcome::Failed, true);
}
