//! What is approved and has not started: for whoever asks now it is as if it had, for whoever starts it nothing has, and
//! what is offered to a foreign executor is nobody's to end here.

use std::time::Duration;

use void_domain::actors::{ActorKind, Requester};
use void_domain::ids::{AgentId, RequesterId};
use void_domain::proposals::{Moved, Proposal};
use void_domain::time::Timestamp;
use void_store::{Store, StoreError, bridge, proposals};
use void_testkit::proposals::{NOW, pending, run_at};

use crate::engines;
use crate::proposals::{advance, insert};

type Starts = (u64, Option<Timestamp>);

const NONE: Starts = (0, None);
const ONE: Starts = (1, Some(NOW));

fn agent() -> RequesterId {
    AgentId::new(NOW, [7; 10]).into()
}

fn asked_by_agent(n: u32) -> Moved {
    let created = pending(n);
    Moved {
        proposal: Proposal {
            requested_by: Requester {
                kind: ActorKind::Agent,
                id: Some(agent()),
                name: "blue".to_owned(),
            },
            ..created.proposal
        },
        ..created
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Looked {
    is_busy: bool,
    is_taken: bool,
    made: Starts,
    to_come: Starts,
    let_through: usize,
    /// Of the agent.
    waiting: usize,
}

async fn look(store: &Store, of: &Proposal) -> Looked {
    let target = of.subject.target.clone();
    let action = of.subject.action_id().unwrap().clone();
    let since = NOW.minus(Duration::from_secs(60));
    let read = store.read(move |tx| {
        Box::pin(async move {
            Ok::<_, StoreError>(Looked {
                is_busy: proposals::is_target_busy(tx, &target).await?,
                is_taken: proposals::is_target_taken(tx, &target).await?,
                made: proposals::starts_since(tx, &action, since, NOW).await?,
                to_come: proposals::starts_to_come_since(tx, &action, since, NOW).await?,
                let_through: proposals::list_let_through(tx, 10).await?.len(),
                waiting: proposals::list_waiting_of(tx, agent(), 10).await?.len(),
            })
        })
    });
    read.await.unwrap()
}

async fn offer(store: &Store, of: &Proposal) {
    let id = of.id;
    let offered = store.write(move |tx| Box::pin(bridge::set_offered(tx, id, Some(NOW))));
    offered.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_approved_counts_for_whoever_asks() {
    for engine in engines::both().await {
        let store = &engine.store;
        let created = asked_by_agent(0);
        let row = created.proposal.clone();
        let mut expected = Looked {
            is_busy: false,
            is_taken: false,
            made: NONE,
            to_come: NONE,
            let_through: 0,
            waiting: 1,
        };
        insert(store, created).await;
        assert_eq!(look(store, &row).await, expected, "{}", engine.name);

        let approved = row.clone().approve("policy", NOW).unwrap();
        assert!(advance(store, approved.clone()).await.unwrap());
        (expected.is_taken, expected.to_come) = (true, ONE);
        expected.let_through = 1;
        assert_eq!(look(store, &row).await, expected, "{}", engine.name);

        // Not what a wrong clock dated, and not what a person said yes to.
        let other = pending(1);
        insert(store, other.clone()).await;
        let years = NOW.plus(Duration::from_secs(3_650 * 24 * 60 * 60));
        let later = other.proposal.approve("owner-cli", years).unwrap();
        assert!(advance(store, later).await.unwrap());
        assert_eq!(look(store, &row).await, expected, "{}", engine.name);

        offer(store, &row).await;
        expected.is_busy = true;
        (expected.let_through, expected.waiting) = (0, 0);
        assert_eq!(look(store, &row).await, expected, "{}", engine.name);

        let started = approved.proposal.start(run_at(NOW)).unwrap();
        assert!(advance(store, started).await.unwrap());
        expected.made = ONE;
        assert_eq!(look(store, &row).await, expected, "{}", engine.name);
    }
}

/// What would start is ended before what only waits for a yes.
#[tokio::test(flavor = "multi_thread")]
async fn what_waits_to_start_comes_first() {
    for engine in engines::both().await {
        let store = &engine.store;
        let (first, second) = (asked_by_agent(0), asked_by_agent(1));
        for created in [&first, &second] {
            insert(store, created.clone()).await;
        }
        let approved = second.proposal.clone().approve("owner-cli", NOW).unwrap();
        assert!(advance(store, approved).await.unwrap());
        for (limit, expected) in [
            (1, vec![second.proposal.id]),
            (2, vec![second.proposal.id, first.proposal.id]),
            (3, vec![second.proposal.id, first.proposal.id]),
        ] {
            let read =
                store.read(move |tx| Box::pin(proposals::list_waiting_of(tx, agent(), limit)));
            let ids: Vec<_> = (read.await.unwrap().iter())
                .map(|stored| stored.proposal.id)
                .collect();
            assert_eq!(ids, expected, "{}", engine.name);
        }
    }
}
