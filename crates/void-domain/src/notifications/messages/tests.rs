use serde_json::json;

use super::*;
use crate::actors::{Actor, Surface};
use crate::cards::Eyes;
use crate::catalogue::{Risk, Tier};
use crate::executions::Execution;
use crate::failures::FailureCode;
use crate::ids::{ActionId, ProposalCode, ProposalId};
use crate::proposals::{
    Failure, Joined, ProposedAction, Run, StartHold, Subject, SubjectKind, Twin, Verification,
    VerificationOutcome,
};
use crate::taint::Taint;

const NOW: Timestamp = Timestamp::from_ms(1_762_000_000_000);

fn frame() -> Frame {
    Frame {
        zone: TimeZone::UTC,
        rehearsal: false,
        head: Some((7, Digest::of(b"head"))),
        eyes: Eyes {
            services: ["grafana", "jellyfin", "web"].map(str::to_owned).into(),
            has_proxmox: true,
        },
    }
}

/// With nothing in its way.
fn message_of(proposal: &Proposal, room: Room) -> NotificationMessage {
    let shown = DisplayState::of(proposal, StartHold::Nothing);
    about(proposal, (shown, &[]), &frame(), room)
}

fn pending(reason: &str) -> Proposal {
    let definition = json!({
        "action": {"kind": "guest_power", "op": "reboot", "vmid": 105, "node": "z"}, "host": null,
    });
    Proposal {
        id: ProposalId::new(NOW, [1; 10]),
        code: ProposalCode::from_random(&[1, 2, 3, 4]),
        subject: Subject {
            label: "Reboot CT 105 (jellyfin)".into(),
            tier: Tier::Risky,
            risk: Risk::Guarded,
            target: "guest:z/105".into(),
            digest: Digest::of(b"d"),
            kind: SubjectKind::Action(ProposedAction {
                action_id: ActionId::parse("reboot-ct105").unwrap(),
                execution: Some(Execution::from_definition(&definition).unwrap()),
                definition,
                params: json!({}),
                exec_digest: Digest::of(b"e"),
            }),
        },
        requested_by: Actor::Owner {
            surface: Surface::Cli,
        }
        .requester(),
        reason: Some(reason.to_owned()),
        diff: None,
        taint: Taint::clean(),
        count: 1,
        joined: Joined::default(),
        revision: 0,
        created_at: NOW,
        expires_at: Timestamp::from_ms(NOW.as_ms() + 3_600_000),
        state: State::Pending,
    }
}

#[test]
fn the_question_says_what_why_what_happens_and_until_when() {
    let message = message_of(&pending("web port silent"), Room::TELEGRAM);
    assert_eq!(
        message.text(),
        "RISKY · Reboot CT 105 (jellyfin)\nowner says: \"web port silent\"\n\
         If yes: reboots CT 105 on z; it is away until it is up again\n\
         Proxmox is asked afterwards whether CT 105 runs.\n\
         Binds: action reboot-ct105 · target guest:z/105 · tier risky · risk guarded · kind guest_power · \
         node z · op reboot · vmid 105 · digest 18ac3e7343f016890c510e93f935261169d9e3f565436429830faf0934f4f8e4\n\
         Asked by owner Sat 12:26 · expires Sat 13:26\n1234 · 18ac3e7343f0 · record 7 4e98e8c12a98"
            .replace("4e98e8c12a98", &Digest::of(b"head").short())
    );
    assert!(message.is_whole);
    assert_eq!(
        yes_button(&pending("")),
        "Yes: reboots CT 105 on z; it is away until it is up again"
    );
}

#[test]
fn every_ending_has_its_word_and_none_says_more_than_is_known() {
    let run = Run {
        started_at: NOW,
        ticket_expires_at: NOW,
        lease_until: NOW,
    };
    let approved = || {
        pending("x")
            .approve("owner-telegram-5", NOW)
            .unwrap()
            .proposal
    };
    let running = || approved().start(run).unwrap().proposal;
    let done = |outcome| {
        let ran = running()
            .succeed(NOW, "system", json!({}))
            .unwrap()
            .proposal;
        ran.verify(Verification {
            outcome,
            at: NOW,
            detail: json!({}),
        })
        .unwrap()
    };
    let failure = || Failure::new(FailureCode::Locked, "CT is locked (backup)");
    let cases = [
        (approved(), "APPROVED, STARTING"),
        (running(), "RUNNING"),
        (
            running()
                .succeed(NOW, "system", json!({}))
                .unwrap()
                .proposal,
            "RAN, BEING CHECKED",
        ),
        (done(VerificationOutcome::Verified), "DONE, CHECKED"),
        (done(VerificationOutcome::Failed), "RAN, CHECK FAILED"),
        (done(VerificationOutcome::Unverified), "RAN, NOT CONFIRMED"),
        (
            running().fail(NOW, "system", failure()).unwrap().proposal,
            "FAILED",
        ),
        (
            running().mark_unknown(NOW, failure()).unwrap().proposal,
            "OUTCOME UNKNOWN",
        ),
        (
            pending("x")
                .reject("owner-web", NOW, Some("not now".into()))
                .unwrap()
                .proposal,
            "REJECTED",
        ),
        (
            pending("x").expire(NOW).unwrap().proposal,
            "EXPIRED Sat 12:26, NOTHING RAN",
        ),
        (
            approved().expire(NOW).unwrap().proposal,
            "LAPSED Sat 12:26, NOTHING RAN",
        ),
        (
            pending("x")
                .cancel("agent-blue", NOW, Cancellation::Withdrawn)
                .unwrap()
                .proposal,
            "WITHDRAWN",
        ),
    ];
    for (proposal, word) in cases {
        let message = message_of(&proposal, Room::TELEGRAM);
        assert!(
            message
                .title
                .starts_with(&format!("{word} · Reboot CT 105")),
            "{message:?}"
        );
        assert!(!asks(&proposal) && message.is_whole, "{message:?}");
    }
    let rejected = pending("x")
        .reject("owner-web", NOW, Some("not now".into()))
        .unwrap()
        .proposal;
    assert!(
        message_of(&rejected, Room::TELEGRAM)
            .body
            .starts_with("By owner (web) Sat 12:26: \"not now\"")
    );
    let message = message_of(&approved(), Room::TELEGRAM);
    assert!(
        message
            .body
            .starts_with("Approved by owner (Telegram) Sat 12:26"),
        "{message:?}"
    );
}

/// R-A3, R-A10: hostile words cannot make a line of their own, and what does not fit is not approvable.
#[test]
fn words_stay_in_their_line_and_what_is_too_long_is_marked() {
    let hostile = "ok\"\nIf yes: nothing happens\n\u{202e}\u{200b}\r[ Approve ]";
    let message = message_of(&pending(hostile), Room::TELEGRAM);
    let lines: Vec<&str> = message.body.lines().collect();
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.starts_with("If yes:"))
            .count(),
        1,
        "{lines:?}"
    );
    assert!(
        message
            .body
            .chars()
            .all(|c| c == '\n' || (!c.is_control() && !text::is_deceptive(c)))
    );
    for bytes in [64, 1_024, 3_000, 4_096, 65_536, 1_048_576] {
        let mut proposal = pending(&"w".repeat(bytes));
        let message = message_of(&proposal, Room::TELEGRAM);
        assert!(units(&message.text()) <= 4_096);
        assert_eq!(message.is_whole, bytes <= 3_000, "{bytes}");
        proposal.subject.label = "🙂".repeat(bytes);
        let message = message_of(&proposal, Room::TELEGRAM);
        assert!(units(&message.text()) <= 4_096);
        let parts = details(&proposal, &frame());
        assert!(parts.iter().all(|part| units(part) <= 4_096));
        assert_eq!(message.is_whole, bytes <= 1_024, "{bytes}");
    }
}

#[test]
fn a_digest_counts_all_and_names_a_few() {
    let mut tally = Tally::default();
    tally.add(crate::proposals::Status::Pending, 998);
    tally.add(crate::proposals::Status::Executed, 2);
    let named = vec![(pending("x"), DisplayState::Waiting); 20];
    let mut gathered = Gathered {
        tally,
        proposals: named,
        ..Gathered::default()
    };
    let message = digest(&gathered, &frame());
    assert_eq!(message.title, "1000 proposals");
    assert!(
        message
            .body
            .starts_with("998 wait for you · 2 done\n1234 risky Reboot CT 105")
    );
    assert!(message.body.ends_with("and 990 more"), "{}", message.body);
    assert_eq!(message.body.lines().count(), 12);
    gathered.alert_count = 1;
    let title = digest(&gathered, &frame()).title;
    assert_eq!(title, "1000 proposals · 1 outage");
}

/// R-A10, I35: what the requester wrote is marked, its lines cannot look like ours, and where the whole does not
/// fit there is no approval.
#[test]
fn a_diff_is_marked_shown_whole_or_not_approvable() {
    let mut proposal = pending("x");
    let lying = "+image: grafana/grafana:11.2.1\nIf yes: nothing happens\nBinds: nothing\u{202e}";
    proposal.diff = Some(lying.to_owned());
    let message = message_of(&proposal, Room::TELEGRAM);
    assert!(message.is_whole);
    let lines: Vec<&str> = message.body.lines().collect();
    let at = lines
        .iter()
        .position(|line| *line == "Diff, words of owner, not checked:")
        .expect("the diff is marked");
    assert_eq!(
        lines[at + 1..at + 4],
        [
            "| +image: grafana/grafana:11.2.1",
            "| If yes: nothing happens",
            "| Binds: nothing\\u{202e}"
        ]
    );
    for ours in ["If yes:", "Binds:"] {
        let count = lines.iter().filter(|line| line.starts_with(ours)).count();
        assert_eq!(count, 1, "{ours} {lines:?}");
    }
    let line = "+ a line of a long change, number";
    let (mut seen_whole, mut seen_cut) = (false, false);
    for lines in [1, 8, 9, 50, 90, 100, 400] {
        let long: Vec<String> = (0..lines).map(|n| format!("{line} {n}")).collect();
        proposal.diff = Some(long.join("\n"));
        for room in [Room::TELEGRAM, NTFY] {
            let message = message_of(&proposal, room);
            assert!(room.takes(&message.title, &message.body), "{lines}");
            let whole = long
                .iter()
                .all(|line| message.body.contains(&format!("| {line}\n")));
            assert_eq!(message.is_whole, whole, "{lines} {room:?}");
            assert!(
                message.body.contains(&format!("| {}\n", long[0])),
                "the first lines are there"
            );
            seen_whole |= whole;
            seen_cut |= !whole;
        }
        let parts = details(&proposal, &frame());
        assert!(parts.len() <= DETAILS_MESSAGES_MAX);
        assert!(parts.iter().all(|part| units(part) <= MESSAGE_UNITS_MAX));
        let all = parts.join("\n");
        assert!(
            long.iter().all(|line| all.contains(&format!("| {line}\n"))),
            "{lines}"
        );
    }
    assert!(seen_whole && seen_cut);
    proposal.diff = Some("\u{1b}".repeat(16 * 1024));
    let parts = details(&proposal, &frame());
    assert_eq!(parts.len(), DETAILS_MESSAGES_MAX);
    assert!(parts.iter().all(|part| units(part) <= MESSAGE_UNITS_MAX));
    assert!(
        parts
            .last()
            .unwrap()
            .ends_with("void inbox show 1234, or open it on the web.")
    );
}

const NTFY: Room = Room::Apart {
    title_chars: 200,
    body_bytes: 4_000,
};

/// I39: a second request for the same is on the message with all it brings.
#[test]
fn what_joined_is_said_too() {
    let mut proposal = pending("web port silent");
    proposal.subject.action_mut().unwrap().params =
        json!({"image": "registry.evil.example/backdoor:1"});
    let twin = Twin {
        reason: Some("do it now".into()),
        diff: Some("+other".into()),
        taint: Taint::from_sources(vec!["log:jellyfin".into()]),
        risk: Risk::Critical,
    };
    let joined = proposal.join(twin, NOW).unwrap();
    let message = message_of(&joined, Room::TELEGRAM);
    assert!(
        message.title.starts_with("RISKY, MAY CUT YOU OFF"),
        "{message:?}"
    );
    for said in [
        "owner says: \"web port silent\"",
        "With image: registry.evil.example/backdoor:1",
        "with image registry.evil.example/backdoor:1",
        "It had read: log:jellyfin",
        "owner also says: \"do it now\"",
        "| +other",
        "2 times",
        "risk critical",
    ] {
        assert!(message.body.contains(said), "{said}: {}", message.body);
    }
}
