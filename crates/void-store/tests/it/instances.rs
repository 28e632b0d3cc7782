//! Who works on a PostgreSQL database, and who claimed a run, on both engines.

use std::time::Duration;

use void_domain::digests::Digest;
use void_domain::instances::InstanceName;
use void_domain::proposals::{Run, Status};
use void_store::instances::{self, Claim, Claimant, Instance};
use void_store::{StoreError, Tx, proposals};
use void_testkit::proposals::{NOW, pending};

use crate::engines;
use crate::proposals::insert;

const ONE: &str = "01999999-0000-7000-8000-000000000001";
const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_is_there_while_its_process_is() {
    let Some(engine) = engines::postgres().await else {
        return;
    };
    let story: Result<(), StoreError> = engine.store.write(|tx| Box::pin(registered(tx))).await;
    story.unwrap();
    // A server on this machine has this machine's clock.
    assert_eq!(engine.store.other_clock().await, Ok(None));
}

async fn registered(tx: &mut Tx) -> Result<(), StoreError> {
    let instance = Instance {
        id: ONE.to_owned(),
        name: InstanceName::parse("attic").unwrap(),
        version: "0.1.0".to_owned(),
        catalogue: Digest::of(b"catalogue"),
        definitions: vec![Digest::of(b"first"), Digest::of(b"second")],
        started_at: NOW,
        seen_at: NOW,
    };
    assert_eq!(instances::holder(tx, ONE, MINUTE).await?, None);
    instances::register(tx, &instance, "process").await?;
    let holder = instances::holder(tx, ONE, MINUTE).await?.unwrap();
    assert_eq!(
        (holder.process.as_str(), holder.is_there),
        ("process", true)
    );
    assert!(instances::is_held_by(tx, ONE, "process").await?);
    assert!(!instances::is_held_by(tx, ONE, "another").await?);
    assert!(instances::note_seen(tx, ONE, "process").await?);
    assert!(!instances::note_seen(tx, ONE, "another").await?);
    let seen = instances::list_seen(tx, MINUTE).await?;
    // It was seen by the clock of the database.
    let expected = Instance {
        seen_at: seen[0].seen_at,
        ..instance
    };
    assert_eq!(seen, [expected]);
    instances::remove(tx, ONE, "process").await?;
    assert!(instances::list_seen(tx, MINUTE).await?.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_is_read_back() {
    for engine in engines::both().await {
        let created = pending(1);
        let id = created.proposal.id;
        let approved = created.proposal.clone().approve("owner-cli", NOW).unwrap();
        let run = Run {
            started_at: NOW,
            ticket_expires_at: NOW.plus(MINUTE),
            lease_until: NOW.plus(MINUTE),
        };
        let running = approved.proposal.start(run).unwrap().proposal;
        insert(&engine.store, created).await;
        let claimed = engine.store.write(move |tx| {
            Box::pin(async move {
                let by = Claimant {
                    id: ONE.to_owned(),
                    name: "attic".to_owned(),
                };
                let before = instances::claimant(tx, id).await?;
                let claim = Claim {
                    by: &by,
                    process: None,
                };
                let won = proposals::claim(tx, Status::Pending, &running, &claim).await?;
                let again = proposals::claim(tx, Status::Pending, &running, &claim).await?;
                let after = instances::claimant(tx, id).await?;
                let stored = proposals::find(tx, id).await?;
                let is_stored = stored.is_some_and(|stored| stored.proposal == running);
                Ok::<_, StoreError>((before, won, again, after == Some(by), is_stored))
            })
        });
        assert_eq!(
            claimed.await,
            Ok((None, true, false, true, true)),
            "{}",
            engine.name
        );
    }
}
