//! What PostgreSQL acknowledged is there after its crash, or Void does not use it.

use serde_json::json;
use void_domain::facts::NewFact;
use void_domain::secrets::Secret;
use void_store::{PostgresConfig, Store, StoreError, facts};
use void_testkit::proposals::NOW;
use void_testkit::{PostgresCluster, has_postgres};

use crate::engines;

fn config(url: &str) -> PostgresConfig {
    PostgresConfig {
        url: Secret::new(url),
        ca_file: None,
    }
}

pub async fn note(store: &Store) -> Result<u64, StoreError> {
    let draft = NewFact {
        request_id: None,
        actor: "system".into(),
        verb: "test",
        subject: None,
        detail: json!({}),
        catalogue: None,
        audience: None,
    };
    store
        .write(move |tx| Box::pin(async move { Ok(facts::append(tx, NOW, draft).await?.seq) }))
        .await
}

pub async fn head(store: &Store) -> u64 {
    store.read(|tx| Box::pin(facts::head(tx))).await.unwrap().0
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_does_not_flush_is_refused_by_name() {
    if !has_postgres() {
        return;
    }
    for setting in ["fsync", "full_page_writes"] {
        let option = format!("{setting}=off");
        let (_cluster, url) = tokio::task::spawn_blocking(move || {
            let cluster = PostgresCluster::start(&[&option]);
            let url = cluster.database();
            (cluster, url)
        })
        .await
        .unwrap();
        let refused = Store::open_postgres(config(&url)).await.err();
        let Some(StoreError::NotDurable(text)) = refused else {
            panic!("{setting}: {refused:?}");
        };
        assert!(
            text.contains(&format!("{setting} = off")) && text.contains(&format!("{setting} = on")),
            "{text}"
        );
    }
}

/// The default of the cluster, of the role or of the database is not ours.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_a_crash_whatever_the_defaults_are() {
    if !has_postgres() {
        return;
    }
    let (mut cluster, url) = tokio::task::spawn_blocking(|| {
        // What is not flushed by the commit itself stays in memory for ten seconds.
        let cluster = PostgresCluster::start(&["wal_writer_delay=10000"]);
        let url = cluster.database();
        cluster.run(
            "postgres",
            "ALTER ROLE postgres SET synchronous_commit = off",
        );
        cluster.run("postgres", "ALTER DATABASE t0 SET synchronous_commit = off");
        (cluster, url)
    })
    .await
    .unwrap();
    let store = engines::open_postgres(&url).await;
    let mut acknowledged = 0;
    for _ in 0..5 {
        acknowledged = note(&store).await.unwrap();
    }
    let cluster = tokio::task::spawn_blocking(move || {
        cluster.kill();
        cluster.start_again();
        cluster
    })
    .await
    .unwrap();
    let again = engines::open_postgres(&url).await;
    assert_eq!(head(&again).await, acknowledged);
    // The one from before goes on as well, and again without the default.
    let mut next = note(&store).await;
    for _ in 0..20 {
        if next.is_ok() {
            break;
        }
        next = note(&store).await;
    }
    assert_eq!(next, Ok(acknowledged + 1));
    drop((store, again));
    tokio::task::spawn_blocking(move || drop(cluster))
        .await
        .unwrap();
}
