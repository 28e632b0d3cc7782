//! The verdict as a table: every refusal at its limit, and every jump of the clock (I10, I30).

use super::*;
use serde_json::{Value, json};

const P: &str = "0198c0de-0000-7000-8000-000000000001";
const T0: u64 = 1_800_000_000_000;
const UP0: u64 = 1_000_000_000;
const MINUTE_MS: u64 = 60_000;
const LIST: &str = "1111111111111111111111111111111111111111111111111111111111111111";

fn def() -> String {
    "e".repeat(64)
}

fn at(wall_ms: u64, boot: &str, up_ms: u64) -> Moment {
    let boot = boot.to_owned();
    Moment {
        wall_ms,
        boot,
        up_ms,
    }
}

fn list(changes: &Value) -> List {
    let mut entry = json!({"id": "a", "argv": ["/bin/a"], "tier": "risky", "def": def()});
    for (key, value) in changes.as_object().unwrap() {
        entry[key] = value.clone();
    }
    let list = json!({"version": 1, "host": "h", "stop_file": "/stop", "entries": [entry]});
    List::parse(list.to_string().as_bytes()).unwrap()
}

fn ticket(expires_ms: u64) -> Ticket {
    Ticket::new(P, &"d".repeat(64), &def(), Params::new(), expires_ms).unwrap()
}

/// Of an action that was started then, one after the other.
fn past(starts: &[Moment]) -> Past {
    Past {
        seen: Seen::Never,
        starts: starts.to_vec(),
        recorded: BTreeMap::new(),
        wall_ms_at_least: T0,
        is_full: false,
    }
}

/// What a journal knows whose last record is of this moment.
fn marks_of(at: &Moment) -> crate::journals::Marks {
    let folder = tempfile::tempdir().unwrap();
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(folder.path(), private).unwrap();
    crate::journals::Marks::default()
        .raise_clock(folder.path(), at)
        .unwrap();
    crate::journals::Marks::read(folder.path()).unwrap()
}

fn present(now: &Moment, stop: Stop) -> Present<'_> {
    Present {
        now,
        list_digest: LIST,
        stop,
        ticket_time_ms: None,
    }
}

fn verdict(ticket: Option<&Ticket>, list: &List, past: &Past, now: &Moment) -> Result<(), Reason> {
    let id = ActionId::parse("a").unwrap();
    let wall_ms_at_least = match past.wall_ms_at_least {
        T0 => now.wall_ms,
        seen => seen,
    };
    let past = Past {
        seen: past.seen.clone(),
        starts: past.starts.clone(),
        recorded: past.recorded.clone(),
        wall_ms_at_least,
        is_full: past.is_full,
    };
    match judge(&id, ticket, list, &past, &present(now, Stop::Absent)) {
        Ok(Verdict::Start { .. }) => Ok(()),
        Ok(Verdict::Recorded(_)) => panic!("nothing is recorded here"),
        Err(refusal) => Err(refusal.reason),
    }
}

#[test]
fn an_unseen_ticket_expires_to_the_millisecond() {
    let (list, empty) = (list(&json!({})), past(&[]));
    for (expires_ms, expected) in [
        (T0 + 1, Ok(())),
        (T0, Err(Reason::Expired)),
        (0, Err(Reason::Expired)),
    ] {
        assert_eq!(
            verdict(Some(&ticket(expires_ms)), &list, &empty, &at(T0, "b", UP0)),
            expected
        );
    }
}

#[test]
fn a_clock_set_back_does_not_revive_a_ticket() {
    let list = list(&json!({}));
    let before = past(&[at(T0, "b", UP0)]);
    let ticket = ticket(T0 + 15 * MINUTE_MS);
    let later = |wall: u64, boot: &str, up_ms: u64| {
        let now = at(wall, boot, up_ms);
        let began = marks_of(&at(T0, "b", UP0));
        let wall_ms_at_least = began.wall_ms_at_least(&now);
        let before = Past {
            wall_ms_at_least,
            ..past(&before.starts)
        };
        verdict(Some(&ticket), &list, &before, &now)
    };
    let hour = UP0 + 60 * MINUTE_MS;
    // An hour later by the time since boot, whatever the wall clock claims.
    for wall_ms in [
        0,
        T0 - 30 * DAY_MS,
        T0 - HOUR_MS,
        T0 - 1000,
        T0,
        T0 + 15 * MINUTE_MS - 1,
    ] {
        assert_eq!(later(wall_ms, "b", hour), Err(Reason::Expired), "{wall_ms}");
    }
    for wall_ms in [
        T0 + HOUR_MS,
        T0 + 30 * DAY_MS,
        2_147_483_648_000,
        4_294_967_296_000,
    ] {
        assert_eq!(later(wall_ms, "b", hour), Err(Reason::Expired), "{wall_ms}");
    }
    // A stuck or stepped clock within the ticket's life changes nothing.
    for wall_ms in [T0 - 1000, T0, T0 + 1000] {
        assert_eq!(later(wall_ms, "b", UP0 + MINUTE_MS), Ok(()), "{wall_ms}");
    }
    // After a reboot only the wall clock is left.
    assert_eq!(later(T0 + MINUTE_MS, "c", 5), Ok(()));
    assert_eq!(later(T0 + 15 * MINUTE_MS, "c", 5), Err(Reason::Expired));
}

#[test]
fn cooldown_is_the_stricter_of_two_clocks() {
    let list = list(&json!({"tier": "safe", "cooldown_s": 60}));
    let before = past(&[at(T0, "b", UP0)]);
    let cooling = Err(Reason::CoolingDown);
    let table = [
        (at(T0, "b", UP0), cooling),
        (at(T0 + MINUTE_MS - 1, "b", UP0 + MINUTE_MS - 1), cooling),
        (at(T0 + MINUTE_MS, "b", UP0 + MINUTE_MS), Ok(())),
        // Set forward: the time since boot counts.
        (at(T0 + 30 * DAY_MS, "b", UP0 + MINUTE_MS - 1), cooling),
        (at(2_147_483_648_000, "b", UP0 + 1), cooling),
        // Set back: it was just now.
        (at(T0 - HOUR_MS, "b", UP0 + DAY_MS), cooling),
        (at(0, "b", UP0 + DAY_MS), cooling),
        // Running ten times too fast, and stuck.
        (at(T0 + 10 * 50_000, "b", UP0 + 50_000), cooling),
        (at(T0, "b", UP0 + HOUR_MS), cooling),
        // Another boot: wall time, never negative.
        (at(T0 + MINUTE_MS - 1, "c", 0), cooling),
        (at(T0 + MINUTE_MS, "c", 0), Ok(())),
        (at(0, "c", UP0 + DAY_MS), cooling),
    ];
    for (now, expected) in table {
        assert_eq!(verdict(None, &list, &before, &now), expected, "{now:?}");
    }
}

#[test]
fn cooldown_follows_the_order_of_the_journal_not_of_the_clock() {
    let list = list(&json!({"tier": "safe", "cooldown_s": 60}));
    let jumped = past(&[at(T0 + DAY_MS, "b", UP0), at(T0, "b", UP0 + 1)]);
    assert_eq!(
        verdict(
            None,
            &list,
            &jumped,
            &at(T0 + MINUTE_MS, "b", UP0 + MINUTE_MS + 1)
        ),
        Ok(())
    );
}

#[test]
fn caps_count_at_their_limit_and_under_jumps() {
    let reached = Err(Reason::CapReached);
    for (key, window_ms) in [("max_per_hour", HOUR_MS), ("max_per_day", DAY_MS)] {
        let two = list(&json!({"tier": "safe", "cooldown_s": 1, key: 2}));
        let one = |n: u64| at(T0 + n * 2000, "b", UP0 + n * 2000);
        let now = |wall: u64, up: u64| at(T0 + wall, "b", UP0 + up);
        assert_eq!(
            verdict(None, &two, &past(&[one(0)]), &now(10_000, 10_000)),
            Ok(())
        );
        let both = past(&[one(0), one(1)]);
        assert_eq!(verdict(None, &two, &both, &now(10_000, 10_000)), reached);
        assert_eq!(
            verdict(None, &two, &both, &now(window_ms - 1, window_ms - 1)),
            reached
        );
        assert_eq!(
            verdict(None, &two, &both, &now(window_ms, window_ms)),
            Ok(())
        );
        assert_eq!(
            verdict(None, &two, &both, &now(90 * DAY_MS, 10_000)),
            reached
        );
        assert_eq!(
            verdict(None, &two, &both, &at(T0 + 10_000, "c", 0)),
            reached
        );
        assert_eq!(
            verdict(None, &two, &both, &at(T0 + window_ms, "c", 0)),
            Ok(())
        );
    }
    let none = list(&json!({"tier": "safe", "cooldown_s": 1, "max_per_day": 0}));
    assert_eq!(verdict(None, &none, &past(&[]), &at(T0, "b", UP0)), reached);
}

#[test]
fn tier_definition_and_brakes_decide_in_order() {
    let (now, empty, ticket) = (at(T0, "b", UP0), past(&[]), ticket(T0 + 1));
    let table = [
        (json!({}), true, Ok(())),
        (json!({}), false, Err(Reason::NeedsTicket)),
        (json!({"cooldown_s": 1}), false, Err(Reason::NeedsTicket)),
        (json!({"tier": "safe"}), false, Err(Reason::NeedsCooldown)),
        (json!({"tier": "safe"}), true, Ok(())),
        (json!({"tier": "safe", "cooldown_s": 1}), false, Ok(())),
        (json!({"def": "f".repeat(64)}), true, Err(Reason::Drift)),
        (json!({"def": null}), true, Err(Reason::Drift)),
        (
            json!({"signed": true}),
            true,
            Err(Reason::SignatureUnsupported),
        ),
        (
            json!({"signed": true, "tier": "safe", "cooldown_s": 1}),
            false,
            Err(Reason::SignatureUnsupported),
        ),
        (json!({"id": "b"}), true, Err(Reason::UnknownAction)),
        (
            json!({"params": {"n": {"type": "integer", "min": 0, "max": 1}}}),
            true,
            Err(Reason::BadParams),
        ),
    ];
    for (changes, with_ticket, expected) in table {
        let ticket = with_ticket.then_some(&ticket);
        assert_eq!(
            verdict(ticket, &list(&changes), &empty, &now),
            expected,
            "{changes}"
        );
    }
    let id = ActionId::parse("a").unwrap();
    let stopped = judge(
        &id,
        Some(&ticket),
        &list(&json!({})),
        &empty,
        &present(&now, Stop::PresentOrUnknown),
    );
    assert_eq!(
        stopped.err().map(|refusal| refusal.reason),
        Some(Reason::Stopped)
    );
}

/// A node's clock may be a day off: whoever knows the server's time says so, and only expiry listens.
#[test]
fn a_ticket_expires_by_the_servers_time_where_that_is_known() {
    let (id, day) = (ActionId::parse("a").unwrap(), 24 * HOUR_MS);
    let (ticket, list) = (ticket(T0 + 1), list(&json!({})));
    for (local, server, expected) in [
        (T0 + day, Some(T0), true),
        (T0 + day, None, false),
        (T0 - day, Some(T0 + 1), false),
        (T0 - day, Some(T0), true),
    ] {
        let now = at(local, "b", UP0);
        let present = Present {
            ticket_time_ms: server,
            ..present(&now, Stop::Absent)
        };
        let empty = Past {
            wall_ms_at_least: local,
            ..past(&[])
        };
        let verdict = judge(&id, Some(&ticket), &list, &empty, &present);
        assert_eq!(verdict.is_ok(), expected, "{local} {server:?}");
    }
}

#[test]
fn a_rollback_returns_to_what_the_last_deploy_recorded() {
    let list = json!({"version": 1, "host": "h", "stop_file": "/stop", "entries": [
        {"id": "deploy", "argv": ["/bin/d"], "tier": "risky", "def": def(),
         "record": {"argv": ["/bin/look"], "pattern": "^[a-z0-9:]+$", "max_len": 40}},
        {"id": "back", "argv": ["/bin/d", {"recorded": "deploy"}], "tier": "risky", "def": def(),
         "env": {"IMAGE": {"recorded": "deploy"}}},
    ]});
    let list = List::parse(list.to_string().as_bytes()).unwrap();
    let (id, now) = (ActionId::parse("back").unwrap(), at(T0, "b", UP0));
    let back = |recorded: Option<&str>| {
        let ticket = ticket(T0 + 1);
        let recorded = recorded.map(|text| (ActionId::parse("deploy").unwrap(), text.to_owned()));
        let past = Past {
            recorded: recorded.into_iter().collect(),
            ..past(&[])
        };
        match judge(
            &id,
            Some(&ticket),
            &list,
            &past,
            &present(&now, Stop::Absent),
        ) {
            Ok(Verdict::Start { invocation, .. }) => Ok((invocation.argv, invocation.env)),
            Ok(Verdict::Recorded(_)) => panic!("nothing is recorded here"),
            Err(refusal) => Err(refusal.reason),
        }
    };
    assert_eq!(back(None), Err(Reason::NothingToReturnTo));
    let (argv, env) = back(Some("img:2")).unwrap();
    assert_eq!(argv, ["/bin/d", "img:2"]);
    assert_eq!(env, [("IMAGE".to_owned(), "img:2".to_owned())]);
}

/// A ticket may name the list that its server looked at. A known one is answered whatever the list is now.
#[test]
fn a_ticket_for_another_list_waits() {
    let (list, now, id) = (
        list(&json!({})),
        at(T0, "b", UP0),
        ActionId::parse("a").unwrap(),
    );
    let of = |digest: &str| ticket(T0 + 1).for_list(digest).unwrap();
    let (same, other) = (of(LIST), of(&"2".repeat(64)));
    assert_eq!(verdict(Some(&same), &list, &past(&[]), &now), Ok(()));
    assert_eq!(
        verdict(Some(&other), &list, &past(&[]), &now),
        Err(Reason::ListChanged)
    );
    let ran = Past {
        seen: Seen::Ran {
            id: Some(id.clone()),
            ending: None,
        },
        ..past(&[])
    };
    let known = judge(&id, Some(&other), &list, &ran, &present(&now, Stop::Absent));
    assert!(matches!(known, Ok(Verdict::Recorded(_))));
}

/// Of a start that was not written to its end nobody knows of which action it was: it never runs.
#[test]
fn a_torn_start_is_a_start_of_whatever_is_asked_for() {
    let torn = Past {
        seen: Seen::Ran {
            id: None,
            ending: None,
        },
        ..past(&[])
    };
    let (ticket, now) = (ticket(T0 + 1), at(T0, "b", UP0));
    for id in ["a", "unlisted"] {
        let id = ActionId::parse(id).unwrap();
        let verdict = judge(
            &id,
            Some(&ticket),
            &list(&json!({})),
            &torn,
            &present(&now, Stop::Absent),
        );
        assert!(matches!(
            verdict,
            Ok(Verdict::Recorded(Reply::Started { replayed: true, .. }))
        ));
    }
}

#[test]
fn a_ticket_that_ends_too_far_ahead_is_refused_and_leaves_no_trace() {
    let (list, empty) = (list(&json!({})), past(&[]));
    let now = at(T0, "b", UP0);
    let last = T0 + TICKET_AHEAD_MAX_MS;
    for (expires_ms, is_good) in [
        (last, true),
        (last + 1, false),
        (T0 + 3_650 * DAY_MS, false),
        (u64::MAX, false),
    ] {
        let expected = if is_good {
            Ok(())
        } else {
            Err(Reason::BadTicket)
        };
        let far = ticket(expires_ms);
        assert_eq!(verdict(Some(&far), &list, &empty, &now), expected);
        let settled = judge_settle(&far, &empty, T0);
        assert_eq!(matches!(settled, Ok(Settlement::Tombstone)), is_good);
        if let Err(refusal) = settled {
            assert_eq!(refusal.reason, Reason::BadTicket);
        }
    }
}
