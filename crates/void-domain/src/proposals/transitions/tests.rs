//! Every (state × move) pair, allowed or refused, in one table.

use serde_json::json;

use super::*;
use crate::actors::{Actor, Surface};
use crate::catalogue::{Risk, Tier};
use crate::digests::Digest;
use crate::failures::FailureCode;
use crate::ids::{ActionId, ProposalCode, ProposalId};
use crate::proposals::{Joined, ProposedAction, Subject, SubjectKind, Twin, VerificationOutcome};
use crate::taint::Taint;

const NOW: Timestamp = Timestamp::from_ms(1_000);
const RUN: Run = Run {
    started_at: Timestamp::from_ms(1_000),
    ticket_expires_at: Timestamp::from_ms(2_000),
    lease_until: Timestamp::from_ms(3_000),
};

fn pending() -> Proposal {
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
                definition: json!({}),
                execution: None,
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

fn twin() -> Twin {
    Twin {
        reason: None,
        diff: None,
        taint: Taint::clean(),
        risk: Risk::Guarded,
    }
}

fn verification() -> Verification {
    Verification {
        outcome: VerificationOutcome::Verified,
        at: NOW,
        detail: json!({}),
    }
}

fn in_state(status: Status) -> Proposal {
    let approved = || pending().approve("owner-cli", NOW).unwrap().proposal;
    let running = || approved().start(RUN).unwrap().proposal;
    let failure = || Failure::new(FailureCode::Locked, "y");
    match status {
        Status::Pending => pending(),
        Status::Approved => approved(),
        Status::Running => running(),
        Status::Executed => {
            running()
                .succeed(NOW, "system", json!({}))
                .unwrap()
                .proposal
        }
        Status::Failed => running().fail(NOW, "system", failure()).unwrap().proposal,
        Status::Unknown => running().mark_unknown(NOW, failure()).unwrap().proposal,
        Status::Rejected => pending().reject("owner-cli", NOW, None).unwrap().proposal,
        Status::Expired => pending().expire(NOW).unwrap().proposal,
        Status::Cancelled => {
            pending()
                .cancel("owner-cli", NOW, Cancellation::Withdrawn)
                .unwrap()
                .proposal
        }
        Status::Refused => Proposal {
            state: State::Refused {
                at: NOW,
                failure: failure(),
            },
            ..pending()
        },
    }
}

/// For moves that change the proposal without changing its state.
fn in_place(proposal: Proposal) -> Moved {
    let (from, to) = (Some(proposal.status()), proposal.status());
    Moved {
        proposal,
        transition: Transition {
            from,
            to,
            at: NOW,
            by: "x".into(),
        },
    }
}

type Move = fn(Proposal) -> Outcome;

const MOVES: [(&str, Move, Status); 15] = [
    ("approve", |p| p.approve("owner-cli", NOW), Status::Approved),
    (
        "reject",
        |p| p.reject("owner-cli", NOW, None),
        Status::Rejected,
    ),
    (
        "withdraw",
        |p| p.cancel("owner-cli", NOW, Cancellation::Withdrawn),
        Status::Cancelled,
    ),
    (
        "cancel changed",
        |p| p.cancel("system", NOW, Cancellation::DefinitionChanged),
        Status::Cancelled,
    ),
    (
        "cancel restored",
        |p| p.cancel("system", NOW, Cancellation::Restored),
        Status::Cancelled,
    ),
    (
        "cancel unrecorded",
        |p| p.cancel("system", NOW, Cancellation::NotOnRecord),
        Status::Cancelled,
    ),
    (
        "refuse",
        |p| p.refuse(NOW, Failure::new(FailureCode::Frozen, "y")),
        Status::Refused,
    ),
    ("expire", |p| p.expire(NOW), Status::Expired),
    ("start", |p| p.start(RUN), Status::Running),
    ("put_back", |p| p.put_back(NOW), Status::Approved),
    (
        "succeed",
        |p| p.succeed(NOW, "system", json!({})),
        Status::Executed,
    ),
    (
        "fail",
        |p| p.fail(NOW, "system", Failure::new(FailureCode::Locked, "y")),
        Status::Failed,
    ),
    (
        "mark_unknown",
        |p| p.mark_unknown(NOW, Failure::new(FailureCode::Locked, "y")),
        Status::Unknown,
    ),
    (
        "verify",
        |p| p.verify(verification()).map(in_place),
        Status::Executed,
    ),
    (
        "join",
        |p| p.join(twin(), NOW).map(in_place),
        Status::Pending,
    ),
];

fn allowed(from: Status) -> &'static [&'static str] {
    match from {
        Status::Pending => &[
            "approve",
            "reject",
            "withdraw",
            "cancel changed",
            "cancel restored",
            "cancel unrecorded",
            "expire",
            "join",
        ],
        Status::Approved => &[
            "withdraw",
            "cancel changed",
            "cancel restored",
            "cancel unrecorded",
            "expire",
            "start",
        ],
        Status::Running => &["put_back", "succeed", "fail", "mark_unknown"],
        Status::Unknown => &["succeed", "fail"],
        Status::Executed => &["verify"],
        Status::Failed
        | Status::Rejected
        | Status::Expired
        | Status::Cancelled
        | Status::Refused => &[],
    }
}

#[test]
fn every_state_allows_exactly_its_moves() {
    for from in Status::ALL {
        for (name, step, to) in MOVES {
            let before = in_state(from);
            match step(before.clone()) {
                Ok(moved) => {
                    assert!(allowed(from).contains(&name), "{from:?} allowed {name}");
                    assert_eq!(moved.proposal.status(), to);
                    assert_eq!(moved.transition.from, Some(from));
                    assert_eq!(moved.transition.to, to);
                    assert_eq!(
                        moved.proposal.subject, before.subject,
                        "{name} changed what was proposed"
                    );
                    assert_eq!(
                        moved.proposal.expires_at, before.expires_at,
                        "{name} moved the expiry"
                    );
                }
                Err(error) => {
                    assert!(!allowed(from).contains(&name), "{from:?} refused {name}");
                    assert_eq!(error, InvalidTransition { from, to });
                }
            }
        }
    }
}

#[test]
fn a_check_is_recorded_once() {
    let executed = in_state(Status::Executed).verify(verification()).unwrap();
    assert!(executed.verify(verification()).is_err());
}

#[test]
fn policy_takes_back_its_own_yes_and_no_persons() {
    let refused = |by: &str| {
        let approved = pending().approve(by, NOW).unwrap().proposal;
        approved.refuse(NOW, Failure::new(FailureCode::Frozen, "y"))
    };
    let moved = refused(Approval::POLICY).unwrap();
    assert_eq!(moved.transition.from, Some(Status::Approved));
    assert_eq!(moved.transition.by, Approval::POLICY);
    assert_eq!(moved.proposal.approval(), None);
    for by in ["owner-cli", "owner-web", "", "Policy"] {
        assert!(refused(by).is_err(), "{by}");
    }
    let mut running = in_state(Status::Running);
    if let State::Running { approval, .. } = &mut running.state {
        approval.by = Approval::POLICY.to_owned();
    }
    let late = running.refuse(NOW, Failure::new(FailureCode::Frozen, "y"));
    assert!(late.is_err(), "it runs already");
}

#[test]
fn a_persons_yes_is_put_back_as_it_was_and_policys_is_used_up() {
    let running = in_state(Status::Running);
    let before = running.approval().cloned();
    let later = NOW.plus(std::time::Duration::from_secs(5));
    let moved = running.put_back(later).unwrap();
    assert_eq!(moved.proposal.approval().cloned(), before);
    assert_eq!(
        (moved.proposal.run(), moved.transition.by.as_str()),
        (None, "system")
    );
    let by_policy = pending().approve(Approval::POLICY, NOW).unwrap().proposal;
    let running = by_policy.start(RUN).unwrap().proposal;
    assert!(running.put_back(later).is_err());
}

#[test]
fn a_run_and_its_approval_are_never_lost_on_the_way() {
    for status in [
        Status::Running,
        Status::Executed,
        Status::Failed,
        Status::Unknown,
    ] {
        let proposal = in_state(status);
        assert_eq!(proposal.run(), Some(RUN), "{status:?}");
        assert_eq!(
            proposal.approval().map(|a| a.by.as_str()),
            Some("owner-cli"),
            "{status:?}"
        );
    }
    let lapsed = in_state(Status::Approved).expire(NOW).unwrap().proposal;
    assert!(lapsed.approval().is_some());
}
