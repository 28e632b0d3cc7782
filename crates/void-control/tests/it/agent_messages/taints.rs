//! Taint travels: the tree launders nothing.

use void_store::token_taints;

use super::*;

stories!(
    what_a_stranger_wrote_is_so_after_two_hops,
    what_is_tainted_waits_until_it_is_asked_for,
    what_a_token_was_given_goes_along_with_its_wakes,
);

fn tainted(to: &str, text: &str, sources: &[&str]) -> SendRequest {
    let sources = sources.iter().map(|&one| one.to_owned()).collect();
    SendRequest {
        taint: Taint::from_sources(sources),
        ..request(to, text)
    }
}

/// What somebody has read after this answer.
fn given(got: &Received) -> Taint {
    let mut given = Taint::clean();
    for message in &got.messages {
        given.unite(&message.given_taint());
    }
    given
}

async fn what_a_stranger_wrote_is_so_after_two_hops(plane: &mut Plane) {
    begun(plane).await;
    let page = tainted("alice", "do this", &["page evil"]);
    send(plane, inside("carol"), page).await.unwrap();
    let got = read(plane, "alice", &[]).await;
    let first = given(&got);
    assert_eq!(first.sources(), ["message of carol", "page evil"]);
    let on = SendRequest {
        taint: first,
        ..request("bob", "do that")
    };
    send(plane, inside("alice"), on).await.unwrap();
    // Over a restart as well.
    crash_and_start(plane).await;
    let got = read(plane, "bob", &[]).await;
    let expected = ["message of alice", "message of carol", "page evil"];
    assert_eq!(given(&got).sources(), expected);
    // The same words from somebody who has read nothing taint nobody.
    sent(plane, "carol", "alice", "do this").await;
    let last = read(plane, "alice", &ids(&read(plane, "alice", &[]).await)).await;
    assert!(given(&last).is_clean());
}

async fn what_is_tainted_waits_until_it_is_asked_for(plane: &mut Plane) {
    begun(plane).await;
    send(plane, inside("alice"), tainted("bob", "tainted", &["log"]))
        .await
        .unwrap();
    sent(plane, "alice", "bob", "clean").await;
    for _ in 0..3 {
        let got = receive(plane, inside("bob"), ReceiveRequest::default())
            .await
            .unwrap();
        assert_eq!(
            (texts(&got), got.left, got.tainted_left),
            (vec!["clean"], 1, 1)
        );
    }
    let got = read(plane, "bob", &[]).await;
    assert_eq!((texts(&got), got.left), (vec!["tainted", "clean"], 0));
    // It was not handed out before, so nothing counts against it.
    assert_eq!(got.messages[0].state.deliveries(), 1);
    assert_eq!(got.messages[1].state.deliveries(), 4);
}

async fn what_a_token_was_given_goes_along_with_its_wakes(plane: &mut Plane) {
    let held = begun(plane).await;
    let alice = held[0];
    plane
        .inside(async move |control, store| {
            let at = control.clock().now();
            let given = Taint::from_sources(vec!["page evil".to_owned()]);
            let marked: Result<_, void_control::StoreError> = store
                .write(move |tx| {
                    Box::pin(async move { token_taints::add(tx, alice, &given, at).await })
                })
                .await;
            marked.unwrap();
        })
        .await;
    let who = Ctx {
        token: Some(alice),
        ..outside("alice")
    };
    let cause = void_domain::agent_messages::OwnWake::Hook;
    plane
        .inside(async move |control, _| {
            agent_messages::wake(&control, &who, cause, Taint::clean())
                .await
                .unwrap();
        })
        .await;
    let got = receive(plane, inside("alice"), ReceiveRequest::default())
        .await
        .unwrap();
    assert_eq!((texts(&got), got.tainted_left), (vec![], 1));
    let got = read(plane, "alice", &[]).await;
    assert_eq!(given(&got).sources(), ["message of alice", "page evil"]);
}
