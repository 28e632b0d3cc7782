//! What reaches nobody any more: its sender is told until it says that it knows, and the owner sees it.

use std::time::Duration;

use void_control::tree::MoveRequest;
use void_domain::agent_messages::{AgentMessageState, DELIVERIES_MAX, DeadReason, EXPIRES_AFTER};
use void_testkit::eventually;

use super::*;

stories!(
    what_was_handed_out_too_often_is_a_dead_letter,
    what_nobody_acknowledges_in_time_is_a_dead_letter,
    what_waits_for_somebody_withdrawn_is_a_dead_letter,
    a_move_ends_what_is_on_its_way,
    what_a_withdrawn_sender_wrote_is_read_by_nobody,
    a_tree_with_something_wrong_ends_nothing,
);

/// The dead letters of a mailbox, by reason.
async fn dead(plane: &Plane, of: &str) -> Vec<DeadReason> {
    let all = mailbox(plane, of, MailboxFilter::Dead).await.messages.items;
    let why = all.iter().rev().filter_map(|message| match message.state {
        AgentMessageState::Dead { why, .. } => Some(why),
        _ => None,
    });
    why.collect()
}

async fn dead_in_time(plane: &Plane, of: &str, expected: &[DeadReason]) {
    eventually("dead letters", || async {
        (dead(plane, of).await == expected).then_some(())
    })
    .await;
}

async fn moved(plane: &Plane, one: &str, parent: &str) {
    let wanted = MoveRequest {
        name: name(one),
        parent: name(parent),
        is_dry_run: false,
        seen: None,
    };
    plane
        .inside(async move |control, _| tree::move_agent(&control, &owner(), wanted).await)
        .await
        .unwrap();
}

/// The sender is told until it acknowledges, and nobody else is.
async fn is_told(plane: &Plane, sender: &str, id: AgentMessageId) {
    for _ in 0..2 {
        let told = read(plane, sender, &[]).await.dead_letters;
        assert!(told.iter().any(|one| one.id == id), "{told:?}");
    }
    for other in ["bob", "carol", "root", "erin", "dave", "alice"] {
        if other != sender {
            let got = read(plane, other, &[id]).await;
            assert!(got.dead_letters.iter().all(|one| one.id != id), "{other}");
            assert_eq!(got.acknowledged, 0, "{other}");
        }
    }
    let got = read(plane, sender, &[id]).await;
    assert_eq!((got.acknowledged, got.dead_letters.len()), (1, 0));
}

async fn what_was_handed_out_too_often_is_a_dead_letter(plane: &mut Plane) {
    begun(plane).await;
    let id = sent(plane, "alice", "bob", "x").await;
    for delivery in 1..=DELIVERIES_MAX {
        let got = read(plane, "bob", &[]).await;
        assert_eq!(got.messages[0].state.deliveries(), delivery);
    }
    assert_eq!(texts(&read(plane, "bob", &[]).await), [""; 0]);
    assert_eq!(dead(plane, "bob").await, [DeadReason::NeverAcknowledged]);
    // Too late.
    assert_eq!(read(plane, "bob", &[id]).await.acknowledged, 0);
    let entry = recorded(plane, "message.undeliverable")
        .await
        .pop()
        .unwrap();
    assert_eq!(
        (entry.audience, entry.subject),
        (None, Some(id.to_string()))
    );
    is_told(plane, "alice", id).await;
}

async fn what_nobody_acknowledges_in_time_is_a_dead_letter(plane: &mut Plane) {
    begun(plane).await;
    let id = sent(plane, "alice", "bob", "waiting").await;
    sent(plane, "root", "carol", "delivered").await;
    read(plane, "carol", &[]).await;
    plane.pass(EXPIRES_AFTER - Duration::from_secs(5));
    assert_eq!(texts(&read(plane, "bob", &[]).await), ["waiting"]);
    plane.pass(Duration::from_secs(6));
    // By whoever comes first, the reader or the sweep.
    assert_eq!(texts(&read(plane, "bob", &[]).await), [""; 0]);
    dead_in_time(plane, "bob", &[DeadReason::Expired]).await;
    dead_in_time(plane, "carol", &[DeadReason::Expired]).await;
    is_told(plane, "alice", id).await;
    assert_eq!(recorded(plane, "message.undeliverable").await.len(), 2);
}

async fn what_waits_for_somebody_withdrawn_is_a_dead_letter(plane: &mut Plane) {
    let held = begun(plane).await;
    let id = sent(plane, "alice", "bob", "x").await;
    let bob = held[1];
    plane
        .inside(async move |control, _| tokens::revoke(&control, &owner(), bob).await)
        .await
        .unwrap();
    let refused = send(plane, inside("alice"), request("bob", "y")).await;
    assert!(
        matches!(refused, Err(SendError::ReceiverGone(_))),
        "{refused:?}"
    );
    dead_in_time(plane, "bob", &[DeadReason::ReceiverGone]).await;
    let told = read(plane, "alice", &[]).await.dead_letters;
    assert_eq!(told[0].id, id);
    // Somebody who may not write to it learns nothing of it.
    let refused = send(plane, inside("dave"), request("bob", "y")).await;
    assert!(matches!(refused, Err(SendError::OutOfReach)), "{refused:?}");
}

async fn a_move_ends_what_is_on_its_way(plane: &mut Plane) {
    begun(plane).await;
    let down = sent(plane, "alice", "carol", "to a child").await;
    sent(plane, "alice", "dave", "to a grandchild").await;
    let up = sent(plane, "carol", "alice", "to the parent").await;
    for from in ["root", "dave", "carol"] {
        sent(plane, from, "carol", from).await;
    }
    sent(plane, "bob", "alice", "to a sibling").await;
    moved(plane, "carol", "bob").await;
    for of in ["carol", "dave", "alice"] {
        assert_eq!(dead(plane, of).await, [DeadReason::OutOfReach], "{of}");
    }
    let refused = send(plane, inside("alice"), request("carol", "x")).await;
    assert!(matches!(refused, Err(SendError::OutOfReach)), "{refused:?}");
    // The rest arrives, and whoever came to stand above may write.
    sent(plane, "bob", "dave", "from a new ancestor").await;
    assert_eq!(
        texts(&read(plane, "carol", &[]).await),
        ["root", "dave", "carol"]
    );
    assert_eq!(
        texts(&read(plane, "dave", &[]).await),
        ["from a new ancestor"]
    );
    assert_eq!(texts(&read(plane, "alice", &[]).await), ["to a sibling"]);
    let told = read(plane, "alice", &[]).await.dead_letters;
    assert_eq!(told.len(), 2);
    assert!(told.iter().any(|one| one.id == down), "{told:?}");
    is_told(plane, "carol", up).await;
}

async fn what_a_withdrawn_sender_wrote_is_read_by_nobody(plane: &mut Plane) {
    let held = begun(plane).await;
    sent(plane, "alice", "bob", "x").await;
    sent(plane, "root", "bob", "y").await;
    let alice = held[0];
    plane
        .inside(async move |control, _| tokens::revoke(&control, &owner(), alice).await)
        .await
        .unwrap();
    assert_eq!(texts(&read(plane, "bob", &[]).await), ["y"]);
    assert_eq!(dead(plane, "bob").await, [DeadReason::OutOfReach]);
}

async fn a_tree_with_something_wrong_ends_nothing(plane: &mut Plane) {
    begun(plane).await;
    sent(plane, "alice", "bob", "x").await;
    sent(plane, "bob", "bob", "own").await;
    let file = plane.machine.path().join("meta/topology.json");
    let committed = fs::read_to_string(&file).unwrap();
    // A typo that the owner committed takes alice her place; what she wrote is held back until it is mended.
    let wrong = committed.replace("\"alice\": \"root\"", "\"alice\": \"nobody\"");
    assert_ne!(wrong, committed);
    fs::write(&file, wrong).unwrap();
    let git = std::process::Command::new("git")
        .args([
            "-c",
            "safe.directory=*",
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b.c",
            "-C",
        ])
        .arg(plane.machine.path().join("meta"))
        .args(["commit", "--quiet", "--all", "-m", "by hand"])
        .status();
    assert!(git.unwrap().success());
    open(plane).await;
    assert_eq!(texts(&read(plane, "bob", &[]).await), ["own"]);
    assert_eq!(dead(plane, "bob").await, []);
    fs::write(&file, committed).unwrap();
    let view = open(plane).await;
    assert_eq!(view.problems, [""; 0]);
    assert_eq!(texts(&read(plane, "bob", &[]).await), ["x", "own"]);
}
