//! Mailboxes of agents: who may write to whom, once for each key, at least once to the receiver, within bounds.

use std::fs;

use serde_json::json;
use void_control::Ctx;
use void_control::agent_messages::{
    self, Mailbox, MailboxFilter, MailboxQuery, ReceiveError, ReceiveRequest, Received, SendError,
    SendRequest, Sent,
};
use void_control::tokens;
use void_control::tree::{self, TreePlaces, TreeView};
use void_domain::actors::ActorKind;
use void_domain::agent_messages::MessageText;
use void_domain::agents::AgentName;
use void_domain::capabilities::{Capabilities, Capability};
use void_domain::facts::Fact;
use void_domain::ids::{AgentMessageId, TokenId};
use void_domain::taint::Taint;
use void_store::facts;

use crate::callers::{agent_with, others, owner};
use crate::planes::Plane;

mod bounds;
mod dead_letters;
mod deliveries;
mod taints;
mod wakes;
mod ways;

/// Two branches, and a resident: root has alice, bob and little-blue; alice has carol, who has dave; bob has erin.
const TREE: &[(&str, Option<&str>)] = &[
    ("root", None),
    ("alice", Some("root")),
    ("bob", Some("root")),
    ("carol", Some("alice")),
    ("dave", Some("carol")),
    ("erin", Some("bob")),
    ("little-blue", Some("root")),
];
const WITH_TOKENS: [&str; 5] = ["alice", "bob", "carol", "dave", "erin"];

fn name(text: &str) -> AgentName {
    text.parse().unwrap()
}

fn inside(one: &str) -> Ctx {
    agent_with(one, &[])
}

fn topology() -> String {
    let entries = TREE
        .iter()
        .map(|(one, parent)| ((*one).to_owned(), json!(parent)));
    serde_json::Value::Object(entries.collect()).to_string()
}

async fn open(plane: &Plane) -> TreeView {
    let places = TreePlaces::of_data(plane.machine.path());
    let blue: Capabilities = [Capability::Read, Capability::Act].into_iter().collect();
    let residents = vec![(name("little-blue"), blue.clone())];
    plane
        .inside(async move |control, _| {
            let names = [name("little-blue")];
            void_control::agents::admit_residents(&control, &names)
                .await
                .unwrap();
            void_control::agents::resident_ctx(&control, &names[0], &blue)
                .await
                .unwrap();
            tree::open(&control, places, residents).await.unwrap();
            tree::show(&control).await
        })
        .await
}

/// The tree above, in force, and everybody known. The tokens, in the order of their names.
async fn begun(plane: &mut Plane) -> Vec<TokenId> {
    let meta = plane.machine.path().join("meta");
    fs::create_dir_all(&meta).unwrap();
    fs::write(meta.join("topology.json"), topology()).unwrap();
    plane.start().await;
    let view = open(plane).await;
    assert_eq!(view.problems, [""; 0]);
    plane
        .inside(async |control, _| {
            let mut made = Vec::new();
            for one in WITH_TOKENS {
                let none = Capabilities::none();
                let kind = ActorKind::Agent;
                let token = tokens::create(&control, &owner(), kind, one.to_owned(), none).await;
                made.push(token.unwrap().id);
            }
            made
        })
        .await
}

/// The same database and files, by a new process.
async fn crash_and_start(plane: &mut Plane) {
    plane.crash();
    plane.start().await;
    open(plane).await;
}

fn request(to: &str, text: &str) -> SendRequest {
    SendRequest {
        to: name(to),
        text: MessageText::parse(text).unwrap(),
        key: None,
        taint: Taint::clean(),
    }
}

fn keyed(to: &str, text: &str, key: &str) -> SendRequest {
    SendRequest {
        key: Some(key.parse().unwrap()),
        ..request(to, text)
    }
}

async fn send(plane: &Plane, who: Ctx, request: SendRequest) -> Result<Sent, SendError> {
    plane
        .inside(async move |control, _| agent_messages::send(&control, &who, request).await)
        .await
}

async fn sent(plane: &Plane, from: &str, to: &str, text: &str) -> AgentMessageId {
    let done = send(plane, inside(from), request(to, text)).await.unwrap();
    done.message.id
}

async fn receive(
    plane: &Plane,
    who: Ctx,
    request: ReceiveRequest,
) -> Result<Received, ReceiveError> {
    plane
        .inside(async move |control, _| agent_messages::receive(&control, &who, request).await)
        .await
}

/// What an agent gets, with everything that is tainted.
async fn read(plane: &Plane, who: &str, acknowledge: &[AgentMessageId]) -> Received {
    let request = ReceiveRequest {
        acknowledge: acknowledge.to_vec(),
        with_tainted: true,
    };
    receive(plane, inside(who), request).await.unwrap()
}

fn texts(received: &Received) -> Vec<&str> {
    received
        .messages
        .iter()
        .map(|message| message.content.as_str())
        .collect()
}

fn ids(received: &Received) -> Vec<AgentMessageId> {
    received.messages.iter().map(|message| message.id).collect()
}

async fn mailbox(plane: &Plane, of: &str, filter: MailboxFilter) -> Mailbox {
    let query = MailboxQuery {
        agent: name(of),
        filter,
        before: None,
        limit: 500,
    };
    plane
        .inside(async move |control, _| {
            agent_messages::list(&control, &owner(), query)
                .await
                .unwrap()
        })
        .await
}

async fn recorded(plane: &Plane, verb: &'static str) -> Vec<Fact> {
    let all = plane
        .inside(async |_, store| {
            let read = store.read(|tx| Box::pin(facts::list_after(tx, 0, 10_000)));
            read.await.unwrap()
        })
        .await;
    all.into_iter().filter(|entry| entry.verb == verb).collect()
}

fn outside(one: &str) -> Ctx {
    Ctx {
        is_from_outside: true,
        ..inside(one)
    }
}

fn nobodies() -> Vec<Ctx> {
    let names = ["alice", "root", "little-blue", "mallory"].into_iter();
    let others = others().into_iter().skip(1);
    names.map(outside).chain(others).collect()
}
