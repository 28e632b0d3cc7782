use super::*;
use crate::params::Params;
use serde_json::{Value, json};

const T0: u64 = 1_800_000_000_000;

fn ticket(n: u64, expires_ms: u64) -> Ticket {
    let digest = "d".repeat(64);
    Ticket::new(
        &format!("00000000-0000-7000-8000-{n:012x}"),
        &digest,
        &digest,
        Params::new(),
        expires_ms,
    )
    .unwrap()
}

fn moment(wall_ms: u64) -> Moment {
    Moment {
        wall_ms,
        boot: "b".to_owned(),
        up_ms: wall_ms,
    }
}

fn start(run: u64, id: &str, ticket: Option<&Ticket>, wall_ms: u64) -> Vec<u8> {
    let (id, ticket, at) = (
        ActionId::parse(id).unwrap(),
        ticket.map(Mark::of),
        moment(wall_ms),
    );
    line_of(&Record::Start(Start {
        run,
        id,
        ticket,
        at,
        recorded: None,
    }))
}

fn end(run: u64) -> Vec<u8> {
    let ending = Ending {
        done: true,
        exit: Some(0),
        stdout: Some("out".into()),
        stderr: Some(String::new()),
    };
    line_of(&Record::End(End { run, ending }))
}

fn void(ticket: &Ticket) -> Vec<u8> {
    line_of(&Record::Void(Tombstone {
        ticket: Mark::of(ticket),
        at: moment(T0),
    }))
}

fn parse(lines: &[Vec<u8>]) -> History {
    History::parse(&lines.concat()).unwrap()
}

#[test]
fn a_journal_that_contradicts_itself_is_damaged() {
    let (one, two) = (ticket(1, T0), ticket(2, T0));
    let head = line_of(&Record::Head(Head::default()));
    let good: [&[Vec<u8>]; 4] = [
        &[],
        &[head.clone(), start(7, "a", Some(&one), T0), end(7)],
        &[
            start(1, "a", None, T0),
            start(2, "a", None, T0),
            end(2),
            end(1),
        ],
        &[start(1, "a", Some(&one), T0), void(&two)],
    ];
    for lines in good {
        assert!(History::parse(&lines.concat()).is_ok(), "{lines:?}");
    }
    let bad: [&[Vec<u8>]; 9] = [
        &[start(1, "a", Some(&one), T0), start(2, "a", Some(&one), T0)],
        &[start(1, "a", Some(&one), T0), void(&one)],
        &[void(&one), start(1, "a", Some(&one), T0)],
        &[start(2, "a", None, T0), start(1, "a", None, T0)],
        &[start(1, "a", None, T0), start(1, "a", None, T0)],
        &[end(1)],
        &[start(1, "a", None, T0), end(1), end(1)],
        &[start(1, "a", None, T0), head],
        &[b"\n".to_vec()],
    ];
    for lines in bad {
        assert!(History::parse(&lines.concat()).is_err(), "{lines:?}");
    }
}

#[test]
fn only_a_last_line_may_be_torn() {
    let whole = [start(1, "a", None, T0), end(1), start(2, "a", None, T0)];
    let text = whole.concat();
    for cut in 0..=text.len() {
        let history = History::parse(&text[..cut]).unwrap();
        let lines = text[..cut].iter().filter(|byte| **byte == b'\n').count();
        let bytes: usize = whole.iter().take(lines).map(Vec::len).sum();
        assert_eq!(history.bytes(), bytes as u64);
    }
    for at in [0, whole[0].len() - 1, whole[0].len() + 5] {
        let mut text = text.clone();
        text[at] = b'#';
        assert!(History::parse(&text).is_err(), "{at}");
    }
}

#[test]
fn a_ticket_is_known_by_all_of_its_content() {
    let (ran, gone) = (ticket(1, T0), ticket(2, T0));
    let history = parse(&[start(1, "a", Some(&ran), T0), void(&gone)]);
    assert!(matches!(history.seen(&ran), Seen::Ran(_)));
    assert!(matches!(history.seen(&gone), Seen::Settled));
    assert!(matches!(history.seen(&ticket(1, T0 + 1)), Seen::Mismatch));
    assert!(matches!(history.seen(&ticket(2, T0 + 1)), Seen::Mismatch));
    assert!(matches!(history.seen(&ticket(3, 0)), Seen::Never));
}

#[test]
fn pruning_forgets_only_what_cannot_matter() {
    let long_ago = T0 - 40 * DAY_MS;
    let old = ticket(1, long_ago);
    let at_limit = ticket(2, T0 - TICKET_KEPT_MS + 1);
    let past_limit = ticket(3, T0 - TICKET_KEPT_MS);
    let old_stone = ticket(4, long_ago);
    let recent = ticket(5, long_ago);
    let endless = ticket(6, u64::MAX);
    let history = parse(&[
        start(1, "a", Some(&old), long_ago),
        end(1),
        start(2, "a", Some(&at_limit), long_ago),
        end(2),
        start(3, "a", Some(&past_limit), long_ago),
        void(&old_stone),
        start(4, "a", Some(&recent), T0 - RUN_KEPT_MS + 1),
        end(4),
        start(5, "a", Some(&endless), long_ago),
        start(6, "rare", None, long_ago),
        start(7, "a", None, T0 - DAY_MS),
        start(8, "a", None, T0),
    ]);
    let kept = History::parse(&history.pruned(&moment(T0))).unwrap();
    let numbers: Vec<_> = kept.runs.iter().map(|run| run.start.run).collect();
    assert_eq!(numbers, [2, 4, 5, 6, 7, 8]);
    assert_eq!(kept.next_run(), 9);
    let output = |index: usize| kept.runs[index].ending.as_ref().unwrap().stdout.as_deref();
    assert_eq!((output(0), output(1)), (None, Some("out")));
    // What was forgotten is refused by its expiry for good, whatever the clock says later.
    for gone in [
        &old,
        &past_limit,
        &old_stone,
        &ticket(9, T0 - TICKET_KEPT_MS),
    ] {
        assert!(matches!(kept.seen(gone), Seen::Forgotten));
    }
    assert!(matches!(
        kept.seen(&ticket(9, T0 - TICKET_KEPT_MS + 1)),
        Seen::Never
    ));
    assert!(matches!(kept.seen(&at_limit), Seen::Ran(_)));
    let again = History::parse(&kept.pruned(&moment(0))).unwrap();
    assert!(matches!(again.seen(&old), Seen::Forgotten));
}

#[test]
fn fifty_thousand_tickets_are_full() {
    let mut history = History::default();
    for n in 0..TICKETS_MAX as u64 {
        assert!(!history.is_full());
        history.add(&void(&ticket(n, T0))).unwrap();
    }
    assert!(history.is_full());
    assert!(
        History::parse(&history.pruned(&moment(T0)))
            .unwrap()
            .is_full()
    );
    assert!(
        !History::parse(&history.pruned(&moment(T0 + TICKET_KEPT_MS)))
            .unwrap()
            .is_full()
    );
}

#[test]
fn unknown_keys_in_a_record_are_damage() {
    let line: Value = serde_json::from_slice(&start(1, "a", None, T0)).unwrap();
    for pointer in ["", "/start", "/start/at"] {
        let mut line = line.clone();
        line.pointer_mut(pointer).unwrap()["extra"] = json!(1);
        assert!(
            History::parse(format!("{line}\n").as_bytes()).is_err(),
            "{pointer}"
        );
    }
}
