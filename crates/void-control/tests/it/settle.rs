//! Outcomes that nobody knew: settled by the machine's own journal or by the owner's word, once, and never by
//! running it again.

use serde_json::json;
use void_control::proposals::{SettleError, Settled};
use void_domain::ids::ProposalId;
use void_domain::proposals::{Proposal, State, Status, VerificationOutcome};

use crate::callers::{agent, others, owner};
use crate::links::Network;
use crate::planes::Plane;
use crate::requests::at_once;

stories!(
    the_owner_says_that_it_was_done,
    the_owner_says_that_it_was_not,
    nobody_else_settles,
    only_what_is_unknown_is_settled,
    of_many_words_at_once_one_counts,
    the_machine_tells_what_became_of_it,
    what_still_runs_stays_unknown_until_its_end,
    evidence_after_the_owners_word_changes_nothing,
    what_was_settled_sets_its_target_free,
);

/// Sent, and nobody knows what became of it.
async fn lost(plane: &Plane, action: &str) -> Proposal {
    let row = plane.run(&owner(), action).await;
    let row = plane.ended(row.id).await;
    assert_eq!(row.status(), Status::Unknown);
    row
}

async fn the_owner_says_that_it_was_done(plane: &mut Plane) {
    plane.start().await;
    plane.link.set(Network::Deaf);
    let row = lost(plane, "touch-a").await;
    let settled = plane.settle(&owner(), row.id, Settled::Executed).await;
    let settled = settled.unwrap();
    let State::Executed {
        result,
        verification: Some(seen),
        ..
    } = &settled.state
    else {
        panic!("{settled:?}");
    };
    // The record shows whose word it is, and nothing reads as checked.
    assert_eq!(*result, json!({"settled_by": "owner-cli"}));
    assert_eq!(seen.outcome, VerificationOutcome::Unverified);
    let last = plane.steps(row.id).await.pop().unwrap();
    assert_eq!(last, (Status::Executed, "owner-cli".to_owned()));
    assert_eq!(plane.row(row.id).await, settled);
}

async fn the_owner_says_that_it_was_not(plane: &mut Plane) {
    plane.start().await;
    plane.link.set(Network::Down);
    let row = lost(plane, "touch-a").await;
    let settled = plane.settle(&owner(), row.id, Settled::Failed).await;
    let settled = settled.unwrap();
    let State::Failed {
        failure,
        settled_by,
        ..
    } = &settled.state
    else {
        panic!("{settled:?}");
    };
    let said = (failure.code.as_str(), settled_by.as_str());
    assert_eq!(said, ("settled_failed", "owner-cli"));
    assert!(plane.machine.effects().is_empty());
}

async fn nobody_else_settles(plane: &mut Plane) {
    plane.start().await;
    plane.link.set(Network::Deaf);
    let row = plane.run(&agent("blue"), "touch-a").await;
    let row = plane.ended(row.id).await;
    for ctx in others() {
        for said in [Settled::Executed, Settled::Failed] {
            let refused = plane.settle(&ctx, row.id, said).await;
            assert!(matches!(refused, Err(SettleError::OwnerOnly)), "{ctx:?}");
        }
    }
    assert_eq!(plane.row(row.id).await, row);
}

async fn only_what_is_unknown_is_settled(plane: &mut Plane) {
    plane.start().await;
    let mut rows = Vec::new();
    for action in ["touch-a", "fail-a"] {
        let row = plane.run(&owner(), action).await;
        rows.push(plane.ended(row.id).await);
    }
    let rejected = plane.queue(&agent("blue"), "stop-b").await;
    rows.push(plane.reject(&rejected).await.unwrap());
    let expired = plane.queue(&owner(), "brief-stop").await;
    plane.go_to(expired.expires_at);
    rows.push(plane.becomes(expired.id, Status::Expired).await);
    rows.push(plane.queue(&owner(), "stop-a").await);
    rows.push(plane.run(&owner(), "slow-a").await);
    rows.push(plane.refused(&owner(), "touch-slow").await.1);
    let waits = plane.queue(&owner(), "stop-slow").await;
    rows.push(plane.approve(&waits).await.unwrap());
    for row in &rows {
        for said in [Settled::Executed, Settled::Failed] {
            match plane.settle(&owner(), row.id, said).await {
                Err(SettleError::NotUnknown(stands)) => assert_eq!(*stands, *row),
                other => panic!("{row:?}: {other:?}"),
            }
        }
        assert_eq!(plane.row(row.id).await, *row);
    }
    let mut tried: Vec<Status> = rows.iter().map(Proposal::status).collect();
    tried.sort_unstable();
    let all_but = |status: &Status| !matches!(status, Status::Unknown | Status::Cancelled);
    let all: Vec<Status> = Status::ALL.into_iter().filter(all_but).collect();
    assert_eq!(tried, all);
    let nobody = ProposalId::new(plane.clock.now(), [7; 10]);
    let missing = plane.settle(&owner(), nobody, Settled::Executed).await;
    assert!(matches!(missing, Err(SettleError::NotFound)));
}

async fn of_many_words_at_once_one_counts(plane: &mut Plane) {
    plane.start().await;
    plane.link.set(Network::Deaf);
    let row = lost(plane, "touch-a").await;
    let answers = at_once(32, async |number| {
        let said = match number % 2 {
            0 => Settled::Executed,
            _ => Settled::Failed,
        };
        plane.settle(&owner(), row.id, said).await
    })
    .await;
    let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    let winner = won.into_iter().map(Result::unwrap).collect::<Vec<_>>();
    assert_eq!(winner, [plane.row(row.id).await]);
    assert_eq!(lost.len(), 31);
    for answer in lost {
        assert!(matches!(answer, Err(SettleError::NotUnknown(_))));
    }
}

async fn the_machine_tells_what_became_of_it(plane: &mut Plane) {
    plane.start().await;
    plane.link.set(Network::Deaf);
    let (done, failed) = (lost(plane, "touch-a").await, lost(plane, "fail-a").await);
    plane.link.set(Network::Down);
    let never = lost(plane, "touch-b").await;
    plane.link.set(Network::Up);
    let done = plane.settled(done.id).await;
    let State::Executed { result, .. } = &done.state else {
        panic!("{done:?}");
    };
    assert_eq!(
        (&result["exit"], &result["stdout"]),
        (&json!(0), &json!("done: touch-a\n"))
    );
    let failed = plane.settled(failed.id).await;
    assert_eq!(
        failed.failure().unwrap().result.as_ref().unwrap()["exit"],
        3
    );
    // What the machine has never seen it will not run from now on.
    let never = plane.settled(never.id).await;
    assert_eq!(never.failure().unwrap().code, "not_started");
    for row in [done, failed, never] {
        assert_eq!(plane.steps(row.id).await.last().unwrap().1, "system");
    }
    assert_eq!(plane.machine.effects(), ["touch-a", "fail-a"]);
}

async fn what_still_runs_stays_unknown_until_its_end(plane: &mut Plane) {
    plane.start().await;
    let slow = plane.run(&owner(), "slow-a").await;
    plane.begun("slow-a").await;
    plane.link.set(Network::Deaf);
    plane.becomes(slow.id, Status::Unknown).await;
    // A later one is asked about after it, in the same round.
    let other = lost(plane, "touch-a").await;
    plane.link.set(Network::Up);
    plane.crash_and_start().await;
    plane.becomes(other.id, Status::Executed).await;
    assert_eq!(plane.status(slow.id).await, Status::Unknown);
    plane.machine.release();
    plane.crash_and_start().await;
    plane.becomes(slow.id, Status::Executed).await;
    assert_eq!(plane.machine.effect_counts()["slow-a"], 1);
}

async fn evidence_after_the_owners_word_changes_nothing(plane: &mut Plane) {
    plane.start().await;
    plane.link.set(Network::Deaf);
    let (said, open) = (lost(plane, "touch-a").await, lost(plane, "touch-b").await);
    let settled = plane.settle(&owner(), said.id, Settled::Failed).await;
    let settled = settled.unwrap();
    plane.link.set(Network::Up);
    plane.crash_and_start().await;
    plane.becomes(open.id, Status::Executed).await;
    assert_eq!(plane.row(said.id).await, settled);
    assert_eq!(plane.steps(said.id).await.len(), 4);
}

async fn what_was_settled_sets_its_target_free(plane: &mut Plane) {
    plane.start().await;
    plane.link.set(Network::Down);
    let row = lost(plane, "touch-slow").await;
    let waits = plane.queue(&owner(), "stop-slow").await;
    let waits = plane.approve(&waits).await.unwrap();
    assert_eq!(waits.status(), Status::Approved);
    plane
        .settle(&owner(), row.id, Settled::Failed)
        .await
        .unwrap();
    plane.link.set(Network::Up);
    assert_eq!(plane.ended(waits.id).await.status(), Status::Executed);
    assert_eq!(plane.machine.effects(), ["stop-slow"]);
}
