//! Every state has one place in the table, and what is approved is never said to have been sent.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::actors::{Actor, Surface};
use crate::catalogue::{Risk, Tier};
use crate::digests::Digest;
use crate::executions::Execution;
use crate::failures::FailureCode;
use crate::ids::{ActionId, ProposalCode, ProposalId};
use crate::proposals::{
    Cancellation, Failure, Joined, ProposedAction, Run, Status, Subject, SubjectKind, Verification,
};
use crate::taint::Taint;
use crate::time::Timestamp;

const NOW: Timestamp = Timestamp::from_ms(1_000);
const HOLDS: [StartHold; 4] = [
    StartHold::Nothing,
    StartHold::Target,
    StartHold::Freeze,
    StartHold::FromAbove,
];

fn pending(definition: Value) -> Proposal {
    Proposal {
        id: ProposalId::new(NOW, [1; 10]),
        code: ProposalCode::from_random(&[1, 2, 3, 4]),
        subject: Subject {
            label: "Stop".into(),
            tier: Tier::Risky,
            risk: Risk::Guarded,
            target: "guest:z/107".into(),
            digest: Digest::of(b"d"),
            kind: SubjectKind::Action(ProposedAction {
                action_id: ActionId::parse("stop-ct107").unwrap(),
                execution: Execution::from_definition(&definition),
                definition,
                params: json!({}),
                exec_digest: Digest::of(b"e"),
            }),
        },
        requested_by: Actor::Owner {
            surface: Surface::Cli,
        }
        .requester(),
        reason: None,
        diff: None,
        taint: Taint::clean(),
        count: 1,
        joined: Joined::default(),
        revision: 0,
        created_at: NOW,
        expires_at: Timestamp::from_ms(9_000),
        state: State::Pending,
    }
}

fn by_void() -> Proposal {
    pending(
        json!({"action": {"kind": "guest_power", "node": "z", "vmid": 107, "op": "stop"}, "host": null}),
    )
}

fn approved() -> Proposal {
    by_void().approve("owner-web", NOW).unwrap().proposal
}

fn ran(outcome: Option<VerificationOutcome>) -> Proposal {
    let ran = running()
        .succeed(NOW, "system", json!({}))
        .unwrap()
        .proposal;
    match outcome {
        None => ran,
        Some(outcome) => {
            let detail = json!({});
            let seen = Verification {
                outcome,
                at: NOW,
                detail,
            };
            ran.verify(seen).unwrap()
        }
    }
}

fn running() -> Proposal {
    let run = Run {
        started_at: NOW,
        ticket_expires_at: NOW,
        lease_until: NOW,
    };
    approved().start(run).unwrap().proposal
}

fn refused() -> Proposal {
    Proposal {
        state: State::Refused {
            at: NOW,
            failure: Failure::new(FailureCode::Frozen, "frozen"),
        },
        ..by_void()
    }
}

#[test]
fn every_state_of_a_proposal_is_shown_as_one() {
    let failure = || Failure::new(FailureCode::Locked, "CT is locked");
    let cases = [
        (by_void(), DisplayState::Waiting),
        (running(), DisplayState::Running),
        (ran(None), DisplayState::BeingChecked),
        (
            ran(Some(VerificationOutcome::Verified)),
            DisplayState::Verified,
        ),
        (
            ran(Some(VerificationOutcome::Failed)),
            DisplayState::CheckFailed,
        ),
        (
            ran(Some(VerificationOutcome::Unverified)),
            DisplayState::Unconfirmed,
        ),
        (
            running().fail(NOW, "system", failure()).unwrap().proposal,
            DisplayState::Failed,
        ),
        (
            running().mark_unknown(NOW, failure()).unwrap().proposal,
            DisplayState::Unknown,
        ),
        (
            by_void().reject("owner-web", NOW, None).unwrap().proposal,
            DisplayState::Rejected,
        ),
        (
            by_void().expire(NOW).unwrap().proposal,
            DisplayState::Expired,
        ),
        (
            approved().expire(NOW).unwrap().proposal,
            DisplayState::Lapsed,
        ),
        (
            by_void()
                .cancel("agent-blue", NOW, Cancellation::Withdrawn)
                .unwrap()
                .proposal,
            DisplayState::Withdrawn,
        ),
        (refused(), DisplayState::Refused),
    ];
    let mut seen: BTreeSet<DisplayState> = BTreeSet::new();
    let mut statuses = BTreeSet::from([Status::Approved]);
    for (proposal, shown) in cases {
        // Nothing but an approved one is held, and from above also one that waits.
        for hold in HOLDS {
            let is_open = proposal.status() == Status::Pending;
            let expected = match hold {
                StartHold::FromAbove if is_open => DisplayState::HeldFromAbove,
                _ => shown,
            };
            assert_eq!(DisplayState::of(&proposal, hold), expected, "{hold:?}");
        }
        seen.insert(shown);
        statuses.insert(proposal.status());
    }
    seen.extend(HOLDS.map(|hold| DisplayState::of(&approved(), hold)));
    assert_eq!(seen, BTreeSet::from(DisplayState::ALL));
    assert_eq!(statuses, BTreeSet::from(Status::ALL));
}

#[test]
fn what_is_approved_says_what_it_waits_for_and_never_that_it_was_sent() {
    let shown = HOLDS.map(|hold| DisplayState::of(&approved(), hold));
    let [starting, waits, held, from_above] = shown;
    assert_eq!(starting.words(), "Approved, starting");
    assert_eq!(waits.words(), "Approved, waits for its target");
    assert_eq!(held.words(), "Approved, held by the freeze");
    assert_eq!(from_above.words(), "Held, lift it first");
    for state in shown {
        let said = [state.words(), state.clause(), state.meaning()].join(" ");
        for untrue in ["sent", "Sent", "is running", "ran,", "done", "Done"] {
            assert!(!said.contains(untrue), "{said}");
        }
    }
}

/// Whatever its target does: somebody else takes it, when that one wants.
#[test]
fn what_a_foreign_executor_takes_waits_for_it() {
    let definition = json!({
        "action": {"kind": "restart_service", "node": "n1", "service": "web", "via": "file"}, "host": null,
    });
    let mut by_file = approved();
    by_file.subject.action_mut().unwrap().execution = Execution::from_definition(&definition);
    assert!(by_file.subject.is_by_file());
    for hold in HOLDS {
        let expected = match hold {
            StartHold::FromAbove => DisplayState::HeldFromAbove,
            StartHold::Nothing | StartHold::Target | StartHold::Freeze => {
                DisplayState::WaitsForTarget
            }
        };
        assert_eq!(DisplayState::of(&by_file, hold), expected);
    }
}

#[test]
fn every_state_has_words_of_its_own_and_a_code_that_reads_back() {
    let all = DisplayState::ALL;
    for column in [
        DisplayState::words,
        DisplayState::clause,
        DisplayState::meaning,
        DisplayState::as_str,
    ] {
        let texts: BTreeSet<&str> = all.into_iter().map(column).collect();
        assert_eq!(texts.len(), all.len(), "{texts:?}");
        assert!(!texts.contains(""));
    }
    for state in all {
        assert_eq!(DisplayState::parse(state.as_str()), Some(state));
    }
    assert_eq!(DisplayState::parse("paused_by_a_newer_version"), None);
}
