//! What is wanted of an agent's process: one row a name, and giving up changes only what still is to run here.

use void_domain::agent_processes::Wanted;
use void_store::StoreError;
use void_store::agent_processes::{self as table, AgentProcess};
use void_testkit::proposals::NOW;

use crate::engines;

macro_rules! on {
    ($store:expr, |$tx:ident| $body:expr) => {{
        let done: Result<_, StoreError> = $store
            .write(move |$tx| Box::pin(async move { $body.await }))
            .await;
        done
    }};
}

fn process(name: &str, wanted: Wanted, instance: &str) -> AgentProcess {
    AgentProcess {
        name: name.parse().unwrap(),
        wanted,
        instance: instance.to_owned(),
        changed_at: NOW,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wanted_of_an_agent_is_one_row_and_giving_up_loses_against_a_later_wish() {
    for engine in engines::both().await {
        let (store, engine) = (&engine.store, engine.name);
        for one in [
            process("alice", Wanted::Stopped, "one"),
            process("alice", Wanted::Running, "one"),
            process("bob", Wanted::Running, "two"),
            process("carol", Wanted::Stopped, "one"),
        ] {
            on!(store, |tx| table::save(tx, &one)).unwrap();
        }
        let alice = process("alice", Wanted::Running, "one");
        let name = alice.name.clone();
        let found = on!(store, |tx| table::find(tx, &name)).unwrap();
        assert_eq!(found, Some(alice.clone()), "{engine}");
        let wanted = on!(store, |tx| table::list_wanted(tx, "one")).unwrap();
        assert_eq!(wanted, std::slice::from_ref(&alice), "{engine}");
        for (name, instance, expected) in [
            ("alice", "two", false),
            ("carol", "one", false),
            ("nobody", "one", false),
            ("alice", "one", true),
            ("alice", "one", false),
        ] {
            let parsed = name.parse().unwrap();
            let given_up = on!(store, |tx| table::give_up(tx, &parsed, instance, NOW));
            assert_eq!(given_up.unwrap(), expected, "{engine} {name} {instance}");
        }
        let wanted = on!(store, |tx| table::list_wanted(tx, "one")).unwrap();
        assert_eq!(wanted, [], "{engine}");
        let name = alice.name.clone();
        let found = on!(store, |tx| table::find(tx, &name)).unwrap().unwrap();
        assert_eq!(found.wanted, Wanted::GivenUp, "{engine}");
    }
}
