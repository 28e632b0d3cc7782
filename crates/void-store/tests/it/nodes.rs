//! Nodes and the commands that wait for the instance at which they poll, read back as they were written.

use std::time::Duration;

use void_domain::actors::ActorKind;
use void_domain::capabilities::Capabilities;
use void_domain::digests::Digest;
use void_domain::ids::TokenId;
use void_domain::nodes::{Asked, Membership, Node, NodeName, Presence};
use void_store::nodes::{self, StrandedCommand};
use void_store::tokens::{self, Token};
use void_store::{StoreError, Tx};
use void_testkit::proposals::NOW;

use crate::engines;

fn digest(n: u8) -> Digest {
    Digest::of(&[n])
}

fn token() -> Token {
    Token {
        id: TokenId::new(NOW, [4; 10]),
        kind: ActorKind::Node,
        agent_id: None,
        name: "cellar".to_owned(),
        hash: digest(6),
        capabilities: Capabilities::none(),
        created_at: NOW,
        last_used_at: None,
        revoked_at: None,
        resident: false,
    }
}

fn node(name: &str, membership: Membership) -> Node {
    Node {
        name: NodeName::parse(name).unwrap(),
        membership,
        presence: Presence::default(),
    }
}

/// One in each state of membership, by name.
fn one_of_each() -> [Node; 3] {
    let invited = Membership::Invited {
        invite: digest(1),
        expires_at: NOW,
    };
    let waiting = Membership::Waiting {
        invite: digest(2),
        asked: Asked {
            fingerprint: digest(3),
            at: NOW,
            from: "10.0.0.7".to_owned(),
        },
    };
    let joined = Membership::Joined {
        invite: Some(digest(4)),
        token_id: token().id,
        fingerprint: digest(5),
        at: NOW,
        by: "owner-web".to_owned(),
    };
    let presence = Presence {
        version: Some("0.1.0".to_owned()),
        list: Some("[]".to_owned()),
        generation: 3,
        nonce: Some("nonce".to_owned()),
        seen_at: Some(NOW),
        twin_at: Some(NOW.plus(Duration::from_secs(1))),
    };
    [
        node("attic", invited),
        node("barn", waiting),
        Node {
            presence,
            ..node("cellar", joined)
        },
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_read_back_as_they_were_written() {
    for engine in engines::both().await {
        let story: Result<(), StoreError> =
            engine.store.write(|tx| Box::pin(memberships(tx))).await;
        story.unwrap();
    }
}

async fn memberships(tx: &mut Tx) -> Result<(), StoreError> {
    let all = one_of_each();
    tokens::insert(tx, &token()).await?;
    assert_eq!(
        tokens::find_live_named(tx, ActorKind::Node, "cellar").await?,
        Some(token())
    );
    for node in &all {
        nodes::save(tx, node).await?;
    }
    assert_eq!(nodes::list(tx, 10).await?, all);
    assert_eq!(nodes::list_waiting(tx, 10).await?, all[1..2]);
    assert_eq!(nodes::count_waiting(tx).await?, 1);
    for node in &all {
        assert_eq!(nodes::find(tx, &node.name).await?.as_ref(), Some(node));
        let invite = node.membership.invite().unwrap();
        let found = nodes::find_invited(tx, invite).await?;
        assert_eq!(found.as_ref(), Some(node));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranded_command_is_handed_over_once_and_answered() {
    for engine in engines::both().await {
        let story: Result<(), StoreError> = engine.store.write(|tx| Box::pin(stranded(tx))).await;
        story.unwrap();
    }
}

async fn stranded(tx: &mut Tx) -> Result<(), StoreError> {
    let command = StrandedCommand {
        id: "one".to_owned(),
        node: "cellar".to_owned(),
        command: "{}".to_owned(),
        limit: Duration::from_millis(1_500),
        is_run: true,
    };
    nodes::strand(tx, &command, NOW).await?;
    nodes::strand(tx, &command, NOW).await?;
    assert_eq!(nodes::list_stranded(tx, 10).await?, [command]);
    assert_eq!(nodes::look_at_stranded(tx, "two").await?, None);
    let waits = nodes::look_at_stranded(tx, "one").await?;
    assert_eq!(waits, Some((false, None)));
    assert!(nodes::take_stranded(tx, "one", NOW).await?);
    assert!(!nodes::take_stranded(tx, "one", NOW).await?);
    assert!(!nodes::withdraw_stranded(tx, "one").await?);
    nodes::answer_stranded(tx, "one", "done").await?;
    let answered = nodes::look_at_stranded(tx, "one").await?;
    assert_eq!(answered, Some((true, Some("done".to_owned()))));
    assert!(nodes::list_stranded(tx, 10).await?.is_empty());
    Ok(())
}
