use super::records::{Head, OldEnd, OldRecord, OldStart};
use super::*;
use crate::commands::ActionId;
use crate::journals::records::{Mark, line_of};
use crate::params::Params;
use crate::tickets::Ticket;
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
    line_of(&OldRecord::Start(OldStart {
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
    line_of(&OldRecord::End(OldEnd { run, ending }))
}

fn read(text: &[u8]) -> Result<History, Fault> {
    History::read(text, &moment(T0))
}

fn void(ticket: &Ticket) -> Vec<u8> {
    line_of(&OldRecord::Void(Tombstone {
        ticket: Mark::of(ticket),
        at: moment(T0),
    }))
}

#[test]
fn a_journal_that_contradicts_itself_is_damaged() {
    let (one, two) = (ticket(1, T0), ticket(2, T0));
    let head = line_of(&OldRecord::Head(Head::default()));
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
        assert!(read(&lines.concat()).is_ok(), "{lines:?}");
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
        assert!(read(&lines.concat()).is_err(), "{lines:?}");
    }
}

#[test]
fn only_a_last_line_may_be_torn() {
    let whole = [start(1, "a", None, T0), end(1), start(2, "a", None, T0)];
    let text = whole.concat();
    for cut in 0..=text.len() {
        let history = read(&text[..cut]).unwrap();
        let lines = text[..cut].iter().filter(|byte| **byte == b'\n').count();
        let ended = history.runs.iter().filter(|run| run.ending.is_some());
        assert_eq!(history.runs.len() + ended.count(), lines);
    }
    for at in [0, whole[0].len() - 1, whole[0].len() + 5] {
        let mut text = text.clone();
        text[at] = b'#';
        assert!(read(&text).is_err(), "{at}");
    }
}

#[test]
fn a_name_that_is_no_proposals_id_is_damage() {
    for name in ["../../etc/x", "", "00000000-0000-7000-8000-00000000000G"] {
        let mut stone: Value = serde_json::from_slice(&void(&ticket(1, T0))).unwrap();
        stone["void"]["ticket"]["proposal"] = json!(name);
        assert!(read(format!("{stone}\n").as_bytes()).is_err());
        let mut begun: Value =
            serde_json::from_slice(&start(1, "a", Some(&ticket(1, T0)), T0)).unwrap();
        begun["start"]["ticket"]["proposal"] = json!(name);
        assert!(read(format!("{begun}\n").as_bytes()).is_err());
    }
}

#[test]
fn unknown_keys_in_a_record_are_damage() {
    let line: Value = serde_json::from_slice(&start(1, "a", None, T0)).unwrap();
    for pointer in ["", "/start", "/start/at"] {
        let mut line = line.clone();
        line.pointer_mut(pointer).unwrap()["extra"] = json!(1);
        assert!(read(format!("{line}\n").as_bytes()).is_err(), "{pointer}");
    }
}

#[test]
fn an_output_that_is_asked_for_no_more_is_not_kept() {
    for (ago_ms, kept) in [
        (0, true),
        (OUTPUT_KEPT_MS - 1, true),
        (OUTPUT_KEPT_MS, false),
        (OUTPUT_KEPT_MS + 1, false),
    ] {
        let text = [start(1, "a", Some(&ticket(1, T0)), T0 - ago_ms), end(1)].concat();
        let history = read(&text).unwrap();
        let (mut runs, mut stones) = history.into_records();
        let ending = runs.next().unwrap().ending.unwrap();
        assert_eq!((ending.done, ending.exit), (true, Some(0)));
        assert_eq!(ending.stdout.is_some(), kept, "{ago_ms}");
        assert!(runs.next().is_none() && stones.next().is_none());
    }
}
