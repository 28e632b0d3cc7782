//! A space at its bound: one below it takes one more, and then none of that kind until one is thrown away.

use void_domain::knowledge::{Deletion, Details, Entity, PageDetails, TaskDetails};
use void_domain::limits::SPACE_ENTITIES_MAX;
use void_store::entities::{self, Undeleted};
use void_store::{StoreError, spaces};

use crate::engines::{self, Engine};
use crate::entities::{at, entity, find, insert, on, space, space_id};

/// So many of each kind stand in the first space's counts.
async fn count(engine: &Engine, count: u64) {
    let sql = format!(
        "UPDATE spaces SET project_count = {count}, page_count = {count}, task_count = {count}, ref_count = {count}"
    );
    match &engine.url {
        None => {
            let path = engine.folder.path().join("void.db");
            let file = rusqlite::Connection::open(path).unwrap();
            file.execute(&sql, []).unwrap();
        }
        Some(url) => {
            let connecting = tokio_postgres::connect(url, tokio_postgres::NoTls);
            let (client, connection) = connecting.await.unwrap();
            let serving = tokio::spawn(connection);
            client.batch_execute(&sql).await.unwrap();
            drop(client);
            serving.await.unwrap().unwrap();
        }
    }
}

fn page(n: u8) -> Entity {
    let details = Details::Page(PageDetails::default());
    entity(n, "Title", "text", details)
}

fn task(n: u8) -> Entity {
    let details = Details::Task(TaskDetails::default());
    entity(n, "Title", "text", details)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_space_takes_as_many_of_a_kind_as_it_may_and_not_one_more() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        insert(store, &space(1)).await;
        let kept = page(1);
        assert!(insert(store, &kept).await);
        count(&engine, SPACE_ENTITIES_MAX - 1).await;
        // The last one of each kind, and no other.
        for (last, over) in [(page(2), page(3)), (task(4), task(5))] {
            assert!(insert(store, &last).await, "{name}");
            assert!(!insert(store, &over).await, "{name}");
            assert_eq!(find(store, over.head.id).await, None, "{name}");
        }
        let counts = async || on!(store, |tx| spaces::counts(tx, space_id(1))).unwrap();
        let full = counts().await;
        assert_eq!(full.pages, SPACE_ENTITIES_MAX, "{name}");
        assert_eq!(full.refs, SPACE_ENTITIES_MAX - 1, "{name}: another kind");

        // What is thrown away makes room for one, and comes back only where there is room again.
        let deletion = Deletion {
            at: at(9),
            by: "owner-web".to_owned(),
        };
        let head = kept.head.clone();
        assert!(on!(store, |tx| entities::delete(tx, &head, &deletion)));
        assert!(insert(store, &page(6)).await, "{name}");
        let away = find(store, kept.head.id).await.unwrap().head;
        let undelete = async || {
            let away = away.clone();
            on!(store, |tx| entities::undelete(tx, &away))
        };
        assert_eq!(undelete().await, Undeleted::NoRoom, "{name}");
        assert_eq!(counts().await.pages, SPACE_ENTITIES_MAX, "{name}");
        count(&engine, SPACE_ENTITIES_MAX - 1).await;
        assert_eq!(undelete().await, Undeleted::Yes, "{name}");
        assert_eq!(counts().await.pages, SPACE_ENTITIES_MAX, "{name}");
    }
}
