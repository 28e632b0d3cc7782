//! A small family of agents in the tree, for use cases in which it matters who stands where.

use std::fs;

use void_control::Ctx;
use void_control::tree::{self, MoveRequest, TreePlaces};
use void_domain::actors::Actor;
use void_domain::agent_turns::WaitingCause;
use void_domain::agents::AgentName;
use void_domain::ids::MessageId;
use void_store::agent_turns as table;

use crate::callers::{agent, owner};
use crate::planes::Plane;

/// `anna` above `alice` and `carol`; `alice` above `bob`; `dave` beside `anna`. All of them below the root.
pub const MEMBERS: [&str; 6] = ["root", "anna", "alice", "bob", "carol", "dave"];
const BELOW: [(&str, &str); 3] = [("alice", "anna"), ("carol", "anna"), ("bob", "alice")];

pub fn name(text: &str) -> AgentName {
    text.parse().unwrap()
}

/// Starts the control plane with the family in its tree.
pub async fn begin(plane: &mut Plane) {
    plane.start().await;
    for one in MEMBERS.iter().filter(|one| **one != "root") {
        let folder = plane.machine.path().join("agents").join(one).join("config");
        fs::create_dir_all(folder).unwrap();
    }
    open(plane).await;
    for (one, parent) in BELOW {
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
}

/// Opens the tree that is there, after a start.
pub async fn open(plane: &Plane) {
    let places = TreePlaces::of_data(plane.machine.path());
    plane
        .inside(async move |control, _| tree::open(&control, places, Vec::new()).await.unwrap())
        .await;
}

/// What waits for the next turn of one of the family.
pub async fn waiting(plane: &Plane, who: &str) -> Vec<WaitingCause> {
    let who = name(who);
    plane
        .inside(async move |_, store| {
            let read =
                store.read(move |tx| Box::pin(async move { table::list_waiting(tx, &who).await }));
            read.await.unwrap()
        })
        .await
}

/// Gives all of that to a turn; how many it got.
pub async fn take(plane: &Plane, who: &str) -> usize {
    let turn = MessageId::new(plane.clock.now(), [7; 10]);
    let mut taken = 0;
    for one in waiting(plane, who).await {
        let took = plane.inside(async move |_, store| {
            let take =
                store.write(move |tx| Box::pin(async move { table::take(tx, &one, turn).await }));
            take.await.unwrap()
        });
        taken += usize::from(took.await);
    }
    taken
}

/// One of the family with a token of its name, which stands nowhere.
pub fn outside(name: &str) -> Ctx {
    Ctx {
        is_from_outside: true,
        ..agent(name)
    }
}

/// How somebody is called in a test's table.
pub fn called(ctx: &Ctx) -> String {
    match &ctx.actor {
        Actor::Agent { name, .. } if ctx.is_from_outside => format!("{name} from outside"),
        other => other.to_string(),
    }
}
