//! Every pair of the tree, with and without the allow-list, through the use case and against the table of rights.

use void_control::agent_messages::MailboxError;
use void_tree::{AgentKind, Index, Listed, Operation, Right, Standing, Topology, right};

use super::*;

stories!(
    every_way_is_as_the_table_says,
    a_list_is_in_force_once_it_is_a_commit,
    a_list_with_something_wrong_lets_nobody_write,
    whoever_stands_nowhere_neither_sends_nor_receives,
    nobody_reads_anybody_elses_mailbox,
    the_record_has_no_words_and_agents_see_no_names,
);

fn routes_file(plane: &Plane) -> std::path::PathBuf {
    plane.machine.path().join("meta/routes.json")
}

/// Takes in what the file says, as at a start.
async fn listed(plane: &Plane, text: &str) -> TreeView {
    fs::write(routes_file(plane), text).unwrap();
    open(plane).await
}

fn everybody() -> Vec<&'static str> {
    let others = ["mallory"];
    TREE.iter().map(|(one, _)| *one).chain(others).collect()
}

/// What the table says, by an index of its own.
fn expected(from: &str, to: &str, listed: Listed) -> Right {
    let index = Index::of(&Topology::read(Some(&topology())).topology);
    let capabilities = Capabilities::none();
    let standing = Standing {
        relation: index.relation(&name(from), &name(to)),
        target: AgentKind::Process,
        listed,
        capabilities: &capabilities,
    };
    right(Operation::Send, standing)
}

async fn every_way_is_as_the_table_says(plane: &mut Plane) {
    begun(plane).await;
    let all = everybody();
    let (mut delivered, mut refused) = (0, 0);
    for listed_for in [None, Some("alice"), Some("erin"), Some("little-blue")] {
        let to: Vec<&str> = all
            .iter()
            .copied()
            .filter(|one| *one != "mallory")
            .collect();
        let text = match listed_for {
            None => "{}".to_owned(),
            Some(from) => json!({from: to}).to_string(),
        };
        listed(plane, &text).await;
        for from in &all {
            for to in &all {
                let is_listed = listed_for == Some(*from) && *to != "mallory";
                let is_listed = if is_listed { Listed::Yes } else { Listed::No };
                let before = mailbox_size(plane, to).await;
                let done = send(plane, inside(from), request(to, "hello")).await;
                match expected(from, to, is_listed) {
                    Right::Alone => {
                        let done = done.unwrap_or_else(|error| panic!("{from} to {to}: {error}"));
                        assert_eq!(done.message.sender.name(), *from);
                        assert_eq!(mailbox_size(plane, to).await, before + 1);
                        delivered += 1;
                    }
                    Right::Never | Right::WithNod => {
                        let is_same = match *from {
                            "mallory" => matches!(done, Err(SendError::Nowhere)),
                            _ => matches!(done, Err(SendError::OutOfReach)),
                        };
                        assert!(is_same, "{from} to {to}: {done:?}");
                        assert_eq!(mailbox_size(plane, to).await, before);
                        refused += 1;
                    }
                }
            }
            // The rate of a sender is no question of this story.
            plane.pass(std::time::Duration::from_secs(60));
        }
    }
    assert_eq!(delivered + refused, 4 * 8 * 8);
    assert!(delivered > 80 && refused > 80, "{delivered} {refused}");
}

async fn mailbox_size(plane: &Plane, of: &str) -> u64 {
    if of == "mallory" {
        return 0;
    }
    let counts = mailbox(plane, of, MailboxFilter::All).await.counts;
    counts.waiting + counts.delivered + counts.acknowledged + counts.dead
}

async fn a_list_is_in_force_once_it_is_a_commit(plane: &mut Plane) {
    begun(plane).await;
    let ask = async |plane: &Plane| send(plane, inside("erin"), request("alice", "x")).await;
    assert!(matches!(ask(plane).await, Err(SendError::OutOfReach)));
    let view = listed(plane, r#"{"erin": ["alice"]}"#).await;
    assert_eq!(view.problems, [""; 0]);
    ask(plane).await.unwrap();
    // One way.
    let back = send(plane, inside("alice"), request("erin", "x")).await;
    assert!(matches!(back, Err(SendError::OutOfReach)));
    let last = recorded(plane, "topology.changed").await.pop().unwrap();
    let detail: serde_json::Value = serde_json::from_str(&last.detail).unwrap();
    assert_eq!(
        (&detail["why"], &detail["routes_added"]),
        (&json!("routes"), &json!([{"from": "erin", "to": "alice"}]))
    );
    assert_eq!(json!(view.commit), detail["commit"]);
    // What is told of rights follows, and the next start has nothing to say.
    let can = plane
        .inside(async |control, _| tree::can(&control, &name("erin")).await.unwrap().unwrap())
        .await;
    let over = can
        .over
        .iter()
        .find(|over| over.target.name == name("alice"));
    assert!(
        over.unwrap()
            .rights
            .contains(&(Operation::Send, Right::Alone))
    );
    let entries = recorded(plane, "topology.changed").await.len();
    crash_and_start(plane).await;
    ask(plane).await.unwrap();
    assert_eq!(recorded(plane, "topology.changed").await.len(), entries);
}

async fn a_list_with_something_wrong_lets_nobody_write(plane: &mut Plane) {
    begun(plane).await;
    let ask = async |plane: &Plane| send(plane, inside("erin"), request("alice", "x")).await;
    listed(plane, r#"{"erin": ["alice"]}"#).await;
    ask(plane).await.unwrap();
    let entries = recorded(plane, "topology.changed").await.len();
    for (text, told) in [
        (r#"{"erin": ["alice"], "dave": "bob"}"#, "dave has no list"),
        (
            r#"{"erin": ["alice"], "erin": ["bob"]}"#,
            "stands there twice",
        ),
        (r#"{"erin": ["alice", "*"]}"#, "is no name"),
        ("", "no JSON object"),
    ] {
        let view = listed(plane, text).await;
        assert!(
            view.problems.iter().any(|one| one.contains(told)),
            "{text}: {:?}",
            view.problems
        );
        assert!(
            matches!(ask(plane).await, Err(SendError::OutOfReach)),
            "{text}"
        );
        assert_eq!(recorded(plane, "topology.changed").await.len(), entries);
        // The tree itself is as it was.
        send(plane, inside("erin"), request("bob", "x"))
            .await
            .unwrap();
    }
    fs::remove_file(routes_file(plane)).unwrap();
    let view = open(plane).await;
    assert!(
        view.problems[0].contains("is missing"),
        "{:?}",
        view.problems
    );
    assert!(matches!(ask(plane).await, Err(SendError::OutOfReach)));
    // Whoever is on it and stands nowhere is told, and gains nothing.
    let view = listed(plane, r#"{"mallory": ["alice"], "erin": ["alice"]}"#).await;
    assert!(view.problems[0].contains("mallory"), "{:?}", view.problems);
    ask(plane).await.unwrap();
    let mallory = send(plane, inside("mallory"), request("alice", "x")).await;
    assert!(matches!(mallory, Err(SendError::Nowhere)));
    // A tree with something wrong takes no list in.
    fs::write(plane.machine.path().join("meta/topology.json"), "{").unwrap();
    listed(plane, r#"{"erin": ["alice", "dave"]}"#).await;
    assert!(matches!(ask(plane).await, Err(SendError::Nowhere)));
}

async fn whoever_stands_nowhere_neither_sends_nor_receives(plane: &mut Plane) {
    begun(plane).await;
    listed(
        plane,
        r#"{"alice": ["bob", "erin"], "little-blue": ["erin"]}"#,
    )
    .await;
    sent(plane, "root", "alice", "for alice").await;
    for who in nobodies() {
        for to in ["alice", "bob", "erin", "root", "mallory"] {
            let done = send(plane, who.clone(), request(to, "forged")).await;
            assert!(
                matches!(done, Err(SendError::Nowhere)),
                "{:?} {to}",
                who.actor
            );
        }
        let read = receive(plane, who.clone(), ReceiveRequest::default()).await;
        assert!(
            matches!(read, Err(ReceiveError::Nowhere)),
            "{:?}",
            who.actor
        );
    }
    // The owner has no mailbox, and writes to whoever stands in the tree.
    let read = receive(plane, owner(), ReceiveRequest::default()).await;
    assert!(matches!(read, Err(ReceiveError::Nowhere)));
    for to in ["root", "dave", "little-blue"] {
        let done = send(plane, owner(), request(to, "hello")).await.unwrap();
        assert_eq!(done.message.sender.name(), "owner");
    }
    let nobody = send(plane, owner(), request("mallory", "hello")).await;
    assert!(matches!(nobody, Err(SendError::OutOfReach)));
    // Where there is no tree, nobody stands anywhere.
    fs::write(plane.machine.path().join("meta/topology.json"), "").unwrap();
    open(plane).await;
    for from in ["root", "alice", "little-blue"] {
        let done = send(plane, inside(from), request(from, "x")).await;
        assert!(matches!(done, Err(SendError::Nowhere)), "{from}");
        let read = receive(plane, inside(from), ReceiveRequest::default()).await;
        assert!(matches!(read, Err(ReceiveError::Nowhere)), "{from}");
    }
}

async fn nobody_reads_anybody_elses_mailbox(plane: &mut Plane) {
    begun(plane).await;
    let id = sent(plane, "root", "alice", "for alice").await;
    // Neither a sibling, nor whoever stands above, below or sent it; also an id that leaked acknowledges nothing.
    for other in ["bob", "root", "carol", "erin", "little-blue"] {
        let got = read(plane, other, &[id]).await;
        assert_eq!((texts(&got), got.acknowledged), (vec![], 0), "{other}");
    }
    let got = read(plane, "alice", &[id]).await;
    // It was not handed out before, so it was not acknowledged either.
    assert_eq!((texts(&got), got.acknowledged), (vec!["for alice"], 0));
    for other in ["bob", "root", "carol"] {
        assert_eq!(read(plane, other, &[id]).await.acknowledged, 0, "{other}");
    }
    assert_eq!(read(plane, "alice", &[id]).await.acknowledged, 1);
    for who in nobodies()
        .into_iter()
        .chain([inside("root"), inside("alice")])
    {
        let query = MailboxQuery {
            agent: name("alice"),
            filter: MailboxFilter::All,
            before: None,
            limit: 10,
        };
        let listed = plane
            .inside(async move |control, _| agent_messages::list(&control, &who, query).await)
            .await;
        assert!(matches!(listed, Err(MailboxError::OwnerOnly)));
    }
}

async fn the_record_has_no_words_and_agents_see_no_names(plane: &mut Plane) {
    begun(plane).await;
    let request = SendRequest {
        taint: Taint::from_sources(vec!["page of a stranger".to_owned()]),
        ..request("bob", "a secret word")
    };
    let id = send(plane, inside("alice"), request)
        .await
        .unwrap()
        .message
        .id;
    let entry = recorded(plane, "message.sent").await.pop().unwrap();
    assert_eq!(
        (entry.actor.as_str(), entry.subject.as_deref()),
        ("agent-alice", Some(id.to_string().as_str()))
    );
    assert_eq!(
        entry.audience,
        Some(void_domain::events::Audience::OwnerOnly)
    );
    assert!(!entry.detail.contains("secret"), "{}", entry.detail);
    assert!(entry.detail.contains("page of a stranger"));
    // An agent that may read the record learns neither the receiver nor what the sender had read.
    let seen = entry.typed_detail();
    assert_eq!(seen, json!({"kind": "text"}));
}
