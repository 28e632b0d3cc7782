//! A store of each engine, in its own folder or database.

use tempfile::TempDir;
use void_domain::secrets::Secret;
use void_store::{PostgresConfig, SqliteConfig, Store};
use void_testkit::{has_postgres, postgres_database};

pub struct Engine {
    pub name: &'static str,
    pub store: Store,
    pub folder: TempDir,
    pub url: Option<String>,
}

pub async fn sqlite() -> Engine {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_sqlite(SqliteConfig::new(folder.path().join("void.db")))
        .await
        .unwrap();
    Engine {
        name: "sqlite",
        store,
        folder,
        url: None,
    }
}

/// Nothing where PostgreSQL is left out (`has_postgres`).
pub async fn postgres() -> Option<Engine> {
    if !has_postgres() {
        return None;
    }
    let url = tokio::task::spawn_blocking(postgres_database)
        .await
        .unwrap();
    let store = open_postgres(&url).await;
    Some(Engine {
        name: "postgres",
        store,
        folder: tempfile::tempdir().unwrap(),
        url: Some(url),
    })
}

pub async fn open_postgres(url: &str) -> Store {
    Store::open_postgres(PostgresConfig {
        url: Secret::new(url),
        ca_file: None,
    })
    .await
    .unwrap()
}

pub async fn both() -> Vec<Engine> {
    [sqlite().await]
        .into_iter()
        .chain(postgres().await)
        .collect()
}
