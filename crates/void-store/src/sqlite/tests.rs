//! What every connection is set to, and a transaction that ends before its batch.

use super::*;
use crate::{Store, heads, installation};

/// Without the first, this SQLite plans anew at every bound value: a look-up over two tables takes 48 µs instead of 4. Without
/// the second, every allocation takes a lock.
#[test]
fn plans_are_kept_and_nobody_counts_the_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("void.db");
    for access in [Access::ReadWrite, Access::ReadOnly] {
        let connection = connect(&path, access).unwrap();
        let is_kept = connection.db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG);
        assert_eq!(is_kept, Ok(true));
        let compiled = "SELECT sqlite_compileoption_used('DEFAULT_MEMSTATUS=0')";
        let is_uncounted: bool = connection
            .query_row(compiled, [], |row| row.get(0))
            .unwrap();
        assert!(is_uncounted, "see .cargo/config.toml");
    }
}

/// Some errors end SQLite's transaction; here it is a statement.
#[tokio::test]
async fn what_ends_the_transaction_commits_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let config = SqliteConfig::new(folder.path().join("void.db"));
    let store = Store::open_sqlite(config).await.unwrap();
    let ended = store.write_shared(|tx| {
        Box::pin(async move {
            let set = "UPDATE installation SET epoch = 7 WHERE id = 1";
            tx.execute(set, &[]).await?;
            tx.execute("ROLLBACK", &[]).await?;
            // It goes on as if nothing were wrong.
            let _ = tx.execute(set, &[]).await;
            Ok::<_, StoreError>(())
        })
    });
    ended.await.unwrap_err();
    let ended = store.write(|tx| {
        Box::pin(async move {
            tx.execute("ROLLBACK", &[]).await?;
            let _ = installation::raise_epoch(tx).await;
            Ok::<_, StoreError>(())
        })
    });
    ended.await.unwrap_err();
    let epoch = store.read(|tx| Box::pin(installation::epoch(tx)));
    assert_eq!(epoch.await, Ok(1));
    let raised = store.write_shared(|tx| Box::pin(installation::raise_epoch(tx)));
    assert_eq!(raised.await, Ok(2), "the writer lives on");
    store.read(|tx| Box::pin(heads::load(tx))).await.unwrap();
}
