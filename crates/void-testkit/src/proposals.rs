//! Proposals for tests that are not about where proposals come from.

use serde_json::json;
use void_domain::actors::{Actor, Surface};
use void_domain::catalogue::{Risk, Tier};
use void_domain::digests::Digest;
use void_domain::executions::Execution;
use void_domain::failures::FailureCode;
use void_domain::ids::{ActionId, ProposalCode, ProposalId};
use void_domain::proposals::{
    Cancellation, DisplayState, Failure, Joined, Moved, Proposal, ProposedAction, Run, State,
    Subject, SubjectKind, Verification, VerificationOutcome,
};
use void_domain::taint::Taint;
use void_domain::time::Timestamp;

/// A moment that all tests share.
pub const NOW: Timestamp = Timestamp::from_ms(1_800_000_000_000);

/// The `n`-th pending proposal: own id, code, digest and target.
pub fn pending(n: u32) -> Moved {
    let [a, b, c, d] = n.to_be_bytes();
    let definition = json!({
        "action": {"kind": "guest_power", "node": "z", "vmid": 107, "op": "stop"}, "host": null,
    });
    let proposal = Proposal {
        id: ProposalId::new(NOW, [a, b, c, d, 0, 0, 0, 0, 0, 0]),
        code: ProposalCode::from_random(&[a % 32, b % 32, c / 8, c % 32, d / 8, d % 32]),
        subject: Subject {
            label: "Stop iVentoy (CT 107)".into(),
            tier: Tier::Risky,
            risk: Risk::Guarded,
            target: format!("guest:z/{n}"),
            digest: Digest::of(format!("digest {n}").as_bytes()),
            kind: SubjectKind::Action(ProposedAction {
                action_id: ActionId::parse("stop-ct107").expect("a valid id"),
                execution: Execution::from_definition(&definition),
                definition,
                params: json!({}),
                exec_digest: Digest::of(format!("exec {n}").as_bytes()),
            }),
        },
        requested_by: Actor::Owner {
            surface: Surface::Cli,
        }
        .requester(),
        reason: Some("because".into()),
        diff: None,
        taint: Taint::clean(),
        count: 1,
        joined: Joined::default(),
        revision: 0,
        created_at: NOW,
        expires_at: Timestamp::from_ms(NOW.as_ms() + 86_400_000),
        state: State::Pending,
    };
    proposal.created("owner-cli")
}

pub const fn run_at(at: Timestamp) -> Run {
    Run {
        started_at: at,
        ticket_expires_at: Timestamp::from_ms(at.as_ms() + 60_000),
        lease_until: Timestamp::from_ms(at.as_ms() + 180_000),
    }
}

/// Every step of a proposal to where it is shown like this, the first one included, and the check that follows
/// them. What holds an approved one is no step of its own.
pub fn steps_to(shown: DisplayState, created: Moved) -> (Vec<Moved>, Option<Verification>) {
    let at = created.proposal.created_at;
    let first = || created.proposal.clone();
    let approved = first().approve("owner-web", at).expect("it waits");
    let running = approved.proposal.clone().start(run_at(at));
    let running = running.expect("it is approved");
    let run = || running.proposal.clone();
    let failure = || Failure::new(FailureCode::Locked, "CT is locked (backup)");
    let ran = || run().succeed(at, "system", json!({}));
    let (ended, outcome) = match shown {
        DisplayState::Waiting => return (vec![created], None),
        DisplayState::Starting
        | DisplayState::WaitsForTarget
        | DisplayState::HeldByFreeze
        | DisplayState::HeldFromAbove => {
            return (vec![created, approved], None);
        }
        DisplayState::Running => return (vec![created, approved, running], None),
        DisplayState::Refused => return (vec![refused(created, failure())], None),
        DisplayState::Rejected => {
            return (
                vec![
                    created.clone(),
                    moved(first().reject("owner-web", at, None)),
                ],
                None,
            );
        }
        DisplayState::Expired => return (vec![created.clone(), moved(first().expire(at))], None),
        DisplayState::Withdrawn => {
            let withdrawn = first().cancel("agent-helper", at, Cancellation::Withdrawn);
            return (vec![created.clone(), moved(withdrawn)], None);
        }
        DisplayState::Lapsed => {
            let lapsed = moved(approved.proposal.clone().expire(at));
            return (vec![created, approved, lapsed], None);
        }
        DisplayState::BeingChecked => (ran(), None),
        DisplayState::Verified => (ran(), Some(VerificationOutcome::Verified)),
        DisplayState::CheckFailed => (ran(), Some(VerificationOutcome::Failed)),
        DisplayState::Unconfirmed => (ran(), Some(VerificationOutcome::Unverified)),
        DisplayState::Failed => (run().fail(at, "system", failure()), None),
        DisplayState::Unknown => (run().mark_unknown(at, failure()), None),
    };
    let seen = outcome.map(|outcome| Verification {
        outcome,
        at,
        detail: json!({}),
    });
    (vec![created, approved, running, moved(ended)], seen)
}

fn moved<E: std::fmt::Debug>(step: Result<Moved, E>) -> Moved {
    step.expect("a step that is allowed")
}

/// Refused as soon as it was asked for.
fn refused(created: Moved, failure: Failure) -> Moved {
    let state = State::Refused {
        at: created.proposal.created_at,
        failure,
    };
    let refused = Proposal {
        state,
        ..created.proposal
    };
    refused.created("policy")
}
