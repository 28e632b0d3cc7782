//! What one sender can do to a mailbox, and what it cannot do to the others who write there.

use std::time::Duration;

use void_domain::agent_messages::{
    ACKNOWLEDGED_AT_ONCE_MAX, ENDED_KEPT, ENDED_KEPT_PER_MAILBOX, MailboxFull, SENDER_MESSAGES_MAX,
    SENDS_PER_MINUTE,
};

use super::*;

stories!(
    a_flood_of_one_sender_leaves_the_others_alone,
    a_minute_has_so_many_sends,
    a_mailbox_that_is_full_takes_what_comes_from_above,
    what_is_over_is_forgotten,
    an_acknowledgement_has_a_bound,
);

async fn a_flood_of_one_sender_leaves_the_others_alone(plane: &mut Plane) {
    begun(plane).await;
    for at in 0..SENDER_MESSAGES_MAX {
        sent(plane, "alice", "bob", &format!("{at}")).await;
    }
    let over = send(plane, inside("alice"), request("bob", "one over")).await;
    assert!(
        matches!(over, Err(SendError::Full(MailboxFull::OfSender))),
        "{over:?}"
    );
    // Others write to it as before, and it writes to others.
    for from in ["root", "erin", "bob", "little-blue"] {
        sent(plane, from, "bob", from).await;
    }
    sent(plane, "alice", "carol", "x").await;
    // What is read makes room: all of the others' comes within the next answers.
    let mut acknowledged = Vec::new();
    let mut heard: Vec<String> = Vec::new();
    for _ in 0..6 {
        let got = read(plane, "bob", &acknowledged).await;
        acknowledged = ids(&got);
        heard.extend(got.messages.iter().map(|one| one.sender.name().to_owned()));
    }
    for from in ["root", "erin", "bob", "little-blue"] {
        assert!(heard.iter().any(|one| one == from), "{heard:?}");
    }
    sent(plane, "alice", "bob", "again").await;
}

async fn a_minute_has_so_many_sends(plane: &mut Plane) {
    begun(plane).await;
    let mut done = 0;
    // To several, so that no mailbox is what holds it back.
    for to in ["bob", "carol", "dave", "root", "alice", "little-blue"]
        .into_iter()
        .cycle()
    {
        match send(plane, inside("alice"), request(to, "x")).await {
            Ok(_) => done += 1,
            Err(SendError::TooMany(many)) => {
                assert!(many.retry_after <= Duration::from_secs(60));
                break;
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(done, SENDS_PER_MINUTE);
    // Not after a restart either, and nobody else is held back.
    crash_and_start(plane).await;
    let refused = send(plane, inside("alice"), request("bob", "x")).await;
    assert!(matches!(refused, Err(SendError::TooMany(_))), "{refused:?}");
    sent(plane, "bob", "root", "x").await;
    plane.pass(Duration::from_millis(500));
    sent(plane, "alice", "bob", "x").await;
}

/// The rows are put there behind the use case: a thousand sends take long.
fn fill(plane: &Plane, of: &str, from: &str, count: u64) {
    let rows: Vec<String> = (1..=count)
        .map(|at| {
            format!(
                "('00000000-0000-7000-8000-{at:012}', '{from}', '{of}', {at}, 'f{at}', 'text', 'x', '[]', 1, 9000000000000000, 'waiting', 0)"
            )
        })
        .collect();
    plane.edit(&format!(
        "INSERT INTO agent_messages (id, sender, receiver, seq, message_key, kind, content, taint, sent_at, expires_at, \
         state, deliveries) VALUES {}",
        rows.join(", ")
    ));
}

async fn a_mailbox_that_is_full_takes_what_comes_from_above(plane: &mut Plane) {
    begun(plane).await;
    fill(plane, "carol", "agent-mallory", 899);
    sent(plane, "dave", "carol", "the last of those from below").await;
    let refused = send(plane, inside("dave"), request("carol", "one over")).await;
    assert!(
        matches!(refused, Err(SendError::Full(MailboxFull::All))),
        "{refused:?}"
    );
    for at in 0..48 {
        sent(plane, "alice", "carol", &format!("{at}")).await;
        sent(plane, "root", "carol", &format!("{at}")).await;
    }
    for at in 0..4 {
        send(plane, owner(), request("carol", &format!("{at}")))
            .await
            .unwrap();
    }
    for who in [owner(), inside("alice"), inside("carol")] {
        let refused = send(plane, who.clone(), request("carol", "one over")).await;
        assert!(
            matches!(refused, Err(SendError::Full(MailboxFull::All))),
            "{:?}",
            who.actor
        );
    }
}

async fn what_is_over_is_forgotten(plane: &mut Plane) {
    begun(plane).await;
    let id = sent(plane, "alice", "bob", "old").await;
    read(plane, "bob", &[]).await;
    read(plane, "bob", &[id]).await;
    // A mailbox keeps so many behind its newest.
    plane.edit(&format!(
        "UPDATE agent_messages SET seq = seq + {ENDED_KEPT_PER_MAILBOX} WHERE id <> '{id}'"
    ));
    let next = sent(plane, "alice", "bob", "new").await;
    let seqs = async |plane: &Plane| -> Vec<u64> {
        let all = mailbox(plane, "bob", MailboxFilter::All)
            .await
            .messages
            .items;
        all.iter().map(|one| one.seq).collect()
    };
    assert_eq!(seqs(plane).await, [2, 1]);
    plane.edit(&format!(
        "UPDATE agent_messages SET seq = {ENDED_KEPT_PER_MAILBOX} WHERE id = '{next}'"
    ));
    sent(plane, "alice", "bob", "newer").await;
    assert_eq!(
        seqs(plane).await,
        [ENDED_KEPT_PER_MAILBOX + 1, ENDED_KEPT_PER_MAILBOX]
    );
    // And for so long.
    let got = read(plane, "bob", &[]).await;
    read(plane, "bob", &ids(&got)).await;
    plane.pass(ENDED_KEPT + Duration::from_secs(1));
    void_testkit::eventually("old messages to be forgotten", || async {
        seqs(plane).await.is_empty().then_some(())
    })
    .await;
}

async fn an_acknowledgement_has_a_bound(plane: &mut Plane) {
    begun(plane).await;
    let id = sent(plane, "alice", "bob", "x").await;
    let with = |count| ReceiveRequest {
        acknowledge: vec![id; count],
        with_tainted: false,
    };
    let most = receive(plane, inside("bob"), with(ACKNOWLEDGED_AT_ONCE_MAX)).await;
    assert_eq!(most.unwrap().messages.len(), 1);
    let over = receive(plane, inside("bob"), with(ACKNOWLEDGED_AT_ONCE_MAX + 1)).await;
    assert!(matches!(over, Err(ReceiveError::TooMany)));
}
