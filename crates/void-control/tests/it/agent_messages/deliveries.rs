//! At least once, and visibly so: what was handed out and not acknowledged comes again under its id.

use super::*;

stories!(
    a_repeated_send_is_one_message,
    what_was_not_acknowledged_comes_again_after_a_crash,
    the_oldest_come_first_and_as_many_as_fit,
    a_send_is_there_once_it_is_answered,
);

async fn a_repeated_send_is_one_message(plane: &mut Plane) {
    begun(plane).await;
    let first = send(plane, inside("alice"), keyed("bob", "hello", "k1"))
        .await
        .unwrap();
    assert!(!first.is_repeat);
    for _ in 0..3 {
        let again = send(plane, inside("alice"), keyed("bob", "hello", "k1"))
            .await
            .unwrap();
        assert_eq!(
            (again.is_repeat, again.message.id),
            (true, first.message.id)
        );
    }
    for other in [keyed("bob", "hello!", "k1"), keyed("carol", "hello", "k1")] {
        let refused = send(plane, inside("alice"), other).await;
        assert!(matches!(refused, Err(SendError::KeyUsed)), "{refused:?}");
    }
    // A key is its sender's own, and nobody learns of another's.
    let other = send(plane, inside("root"), keyed("bob", "else", "k1"))
        .await
        .unwrap();
    assert!(!other.is_repeat);
    crash_and_start(plane).await;
    let got = read(plane, "bob", &[]).await;
    assert_eq!(texts(&got), ["hello", "else"]);
    read(plane, "bob", &ids(&got)).await;
    let again = send(plane, inside("alice"), keyed("bob", "hello", "k1"))
        .await
        .unwrap();
    assert!(again.is_repeat);
    assert_eq!(texts(&read(plane, "bob", &[]).await), [""; 0]);
    assert_eq!(recorded(plane, "message.sent").await.len(), 2);
    // Without a key each send is one.
    for _ in 0..2 {
        sent(plane, "alice", "bob", "same").await;
    }
    assert_eq!(texts(&read(plane, "bob", &[]).await), ["same", "same"]);
}

async fn what_was_not_acknowledged_comes_again_after_a_crash(plane: &mut Plane) {
    begun(plane).await;
    let (one, two) = (
        sent(plane, "alice", "bob", "one").await,
        sent(plane, "alice", "bob", "two").await,
    );
    let deliveries = |got: &Received| -> Vec<(AgentMessageId, u32)> {
        let all = got.messages.iter();
        all.map(|message| (message.id, message.state.deliveries()))
            .collect()
    };
    assert_eq!(
        deliveries(&read(plane, "bob", &[]).await),
        [(one, 1), (two, 1)]
    );
    crash_and_start(plane).await;
    assert_eq!(
        deliveries(&read(plane, "bob", &[]).await),
        [(one, 2), (two, 2)]
    );
    let got = read(plane, "bob", &[one]).await;
    assert_eq!((got.acknowledged, deliveries(&got)), (1, vec![(two, 3)]));
    crash_and_start(plane).await;
    // What was acknowledged is so; twice is once.
    let got = read(plane, "bob", &[one, two, two]).await;
    assert_eq!((got.acknowledged, deliveries(&got)), (1, vec![]));
    let counts = mailbox(plane, "bob", MailboxFilter::All).await.counts;
    assert_eq!(
        (counts.acknowledged, counts.waiting, counts.delivered),
        (2, 0, 0)
    );
}

async fn the_oldest_come_first_and_as_many_as_fit(plane: &mut Plane) {
    begun(plane).await;
    for at in 0..25 {
        sent(plane, "alice", "bob", &format!("{at}")).await;
    }
    let mut seen: Vec<String> = Vec::new();
    let mut last = Vec::new();
    while seen.len() < 25 {
        let got = read(plane, "bob", &last).await;
        assert!(got.messages.len() <= 10);
        assert_eq!(got.left, 25 - (seen.len() + got.messages.len()) as u64);
        seen.extend(texts(&got).into_iter().map(str::to_owned));
        last = ids(&got);
    }
    let expected: Vec<String> = (0..25).map(|at| at.to_string()).collect();
    assert_eq!(seen, expected);
    read(plane, "bob", &last).await;
    // Long ones come one at a time, whole.
    let long = "\"".repeat(void_domain::agent_messages::TEXT_BYTES_MAX / 2);
    for _ in 0..3 {
        sent(plane, "alice", "bob", &long).await;
    }
    let got = read(plane, "bob", &[]).await;
    assert_eq!((texts(&got), got.left), (vec![long.as_str()], 2));
}

/// Killed right after the answer, nothing of it is lost; asked again after the restart, it is there once.
async fn a_send_is_there_once_it_is_answered(plane: &mut Plane) {
    begun(plane).await;
    for round in 0..5 {
        let key = format!("r{round}");
        let done = send(plane, inside("alice"), keyed("bob", &key, &key))
            .await
            .unwrap();
        plane.crash();
        plane.start().await;
        open(plane).await;
        let again = send(plane, inside("alice"), keyed("bob", &key, &key))
            .await
            .unwrap();
        assert_eq!((again.is_repeat, again.message.id), (true, done.message.id));
    }
    let got = read(plane, "bob", &[]).await;
    assert_eq!(texts(&got), ["r0", "r1", "r2", "r3", "r4"]);
}
