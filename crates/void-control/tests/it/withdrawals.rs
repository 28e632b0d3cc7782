//! Whoever is withdrawn has nothing waiting any more, and what is the owner's or another agent's waits on.

use serde_json::json;
use void_control::proposals::{ProposeRequest, Proposed, WITHDRAWN_AT_ONCE};
use void_control::tokens::{self, NewToken};
use void_control::{Ctx, Limits};
use void_domain::actors::{Actor, ActorKind};
use void_domain::agents::AgentName;
use void_domain::capabilities::{Capabilities, Capability};
use void_domain::proposals::{Cancellation, State, Status};
use void_testkit::eventually;

use crate::callers::{agent, owner};
use crate::planes::Plane;
use crate::requests::{at_once, conflict, request};

stories!(
    what_a_withdrawn_agent_has_waiting_ends_with_it,
    what_was_approved_for_a_withdrawn_agent_does_not_start_any_more,
    nobody_says_yes_to_what_a_withdrawn_agent_asked_for,
    what_is_too_much_for_the_withdrawal_is_ended_by_the_sweep,
    an_agent_comes_back_with_nothing_waiting_however_much_there_was,
);

/// More than ends with the withdrawal, and no multiple of it.
const MUCH: usize = WITHDRAWN_AT_ONCE as usize * 2 + 7;
const RAISED: fn() -> Limits = || Limits {
    open_proposals: 1_000,
    open_proposals_per_agent: 1_000,
    ..Limits::default()
};

fn rights() -> Capabilities {
    [Capability::Read, Capability::Act].into_iter().collect()
}

async fn token(plane: &Plane, name: &'static str) -> NewToken {
    let made = plane.inside(async move |control, _| {
        let kind = ActorKind::Agent;
        tokens::create(&control, &owner(), kind, name.to_owned(), rights()).await
    });
    made.await.unwrap()
}

async fn revoke(plane: &Plane, token: &NewToken) {
    let id = token.id;
    let revoked =
        plane.inside(async move |control, _| tokens::revoke(&control, &owner(), id).await);
    revoked.await.unwrap();
}

/// The agent as its token opens it.
async fn known(plane: &Plane, name: &'static str) -> Ctx {
    let found = plane.inside(async move |control, _| {
        let name: AgentName = name.parse().unwrap();
        void_control::agents::find(&control, &name).await
    });
    let found = found.await.unwrap().unwrap();
    Ctx {
        actor: Actor::Agent {
            id: found.id,
            name: found.name,
        },
        ..agent(name)
    }
}

async fn what_a_withdrawn_agent_has_waiting_ends_with_it(plane: &mut Plane) {
    plane.start().await;
    let (first, second) = (token(plane, "leaver").await, token(plane, "leaver").await);
    let _stays = token(plane, "stays").await;
    let leaver = known(plane, "leaver").await;
    let waiting = plane.queue(&leaver, "stop-a").await;
    let of_owner = plane.queue(&owner(), "stop-a").await;
    let of_other = plane.queue(&known(plane, "stays").await, "stop-a").await;
    // With one of two tokens gone it is still there.
    revoke(plane, &first).await;
    assert_eq!(plane.status(waiting.id).await, Status::Pending);
    revoke(plane, &second).await;
    let ended = plane.row(waiting.id).await;
    match &ended.state {
        State::Cancelled { by, why, .. } => {
            assert_eq!((by.as_str(), *why), ("owner-cli", Cancellation::Withdrawn));
        }
        other => panic!("{other:?}"),
    }
    let told = plane.audited("proposal.cancelled").await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["why"], "withdrawn");
    for row in [&of_owner, &of_other] {
        assert_eq!(plane.status(row.id).await, Status::Pending);
    }
    let (code, row) = conflict(plane.approve(&waiting).await);
    assert_eq!((code, row.status()), ("already_decided", Status::Cancelled));
    // The same agent again, and nothing of before.
    let restored = plane.inside(async move |control, _| {
        tokens::restore_agent(&control, &owner(), "leaver", rights()).await
    });
    restored.await.unwrap();
    assert_eq!(plane.status(waiting.id).await, Status::Cancelled);
    assert_eq!(plane.machine.effects(), [""; 0]);
}

/// The owner said yes to both; one has started.
async fn what_was_approved_for_a_withdrawn_agent_does_not_start_any_more(plane: &mut Plane) {
    plane.start().await;
    let token = token(plane, "leaver").await;
    let leaver = known(plane, "leaver").await;
    let started = plane.queue(&leaver, "slow-stop").await;
    plane.approve(&started).await.unwrap();
    plane.begun("slow-stop").await;
    let waiting = plane.queue(&leaver, "stop-slow").await;
    let of_other = plane.queue(&owner(), "stop-slow").await;
    for row in [&waiting, &of_other] {
        let approved = plane.approve(row).await.unwrap();
        assert_eq!(approved.status(), Status::Approved, "its target is busy");
    }
    revoke(plane, &token).await;
    let ended = plane.row(waiting.id).await;
    let State::Cancelled { why, .. } = ended.state else {
        panic!("{ended:?}");
    };
    assert_eq!(why, Cancellation::Withdrawn);
    plane.machine.release();
    for row in [&started, &of_other] {
        assert_eq!(plane.ended(row.id).await.status(), Status::Executed);
    }
    assert_eq!(plane.machine.effects(), ["slow-stop", "stop-slow"]);
}

/// It asked in the moment in which it was withdrawn: its request is on the way, its token is gone.
async fn nobody_says_yes_to_what_a_withdrawn_agent_asked_for(plane: &mut Plane) {
    plane.start().await;
    let token = token(plane, "leaver").await;
    let leaver = known(plane, "leaver").await;
    revoke(plane, &token).await;
    let late = plane.queue(&leaver, "stop-a").await;
    let (code, row) = conflict(plane.approve(&late).await);
    assert_eq!((code, row.status()), ("changed", Status::Cancelled));
    assert_eq!(plane.machine.effects(), [""; 0]);
}

async fn asks_for_much(plane: &Plane, who: &Ctx) {
    let asked = at_once(MUCH, |replicas| {
        let params = json!({"replicas": replicas, "zone": "north", "image": "web"});
        let wish = ProposeRequest {
            params,
            ..request("scale-a")
        };
        plane.propose(who, wish)
    });
    for answer in asked.await {
        assert!(matches!(answer, Ok(Proposed::Queued(_))), "{answer:?}");
    }
}

async fn what_is_too_much_for_the_withdrawal_is_ended_by_the_sweep(plane: &mut Plane) {
    plane.limits = RAISED();
    plane.start().await;
    let token = token(plane, "leaver").await;
    let leaver = known(plane, "leaver").await;
    let of_owner = plane.queue(&owner(), "stop-a").await;
    asks_for_much(plane, &leaver).await;
    revoke(plane, &token).await;
    eventually("the rest to end", || async {
        (plane.count(Status::Pending).await == 1).then_some(())
    })
    .await;
    assert_eq!(plane.status(of_owner.id).await, Status::Pending);
    let mut record = plane.audit().await;
    record.retain(|entry| entry.verb == "proposal.cancelled");
    let by = |who: &str| record.iter().filter(|entry| entry.actor == who).count();
    assert_eq!(by("owner-cli"), WITHDRAWN_AT_ONCE as usize);
    assert_eq!(by("system"), MUCH - WITHDRAWN_AT_ONCE as usize);
    // The oldest first, and each once.
    let ended: Vec<_> = record.iter().map(|entry| &entry.subject).collect();
    assert!(ended.is_sorted_by(|one, next| one < next), "{ended:?}");
    assert_eq!(plane.machine.effects(), [""; 0]);
}

/// The owner does not wait for the sweep.
async fn an_agent_comes_back_with_nothing_waiting_however_much_there_was(plane: &mut Plane) {
    plane.limits = RAISED();
    plane.start().await;
    let token = token(plane, "leaver").await;
    let leaver = known(plane, "leaver").await;
    asks_for_much(plane, &leaver).await;
    let id = token.id;
    let restored = plane.inside(async move |control, _| {
        tokens::revoke(&control, &owner(), id).await?;
        tokens::restore_agent(&control, &owner(), "leaver", rights()).await
    });
    restored.await.unwrap();
    assert_eq!(plane.count(Status::Pending).await, 0);
    assert_eq!(plane.count(Status::Cancelled).await, MUCH as u64);
    // What it asks for now waits on.
    let anew = plane.queue(&leaver, "stop-a").await;
    plane.approve(&anew).await.unwrap();
    plane.ended(anew.id).await;
}
