//! Both dialects make the same tables, and an upgrade is whole or did not happen.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use rusqlite::Connection;
use void_domain::digests::Digest;
use void_domain::ids::SessionId;
use void_domain::secrets::Secret;
use void_domain::sessions::Method;
use void_domain::time::Timestamp;
use void_store::{PostgresConfig, SqliteConfig, Store, StoreError, proposals, sessions};
use void_testkit::proposals::pending;
use void_testkit::{has_postgres, postgres_database, postgres_run};

use crate::engines;
use crate::proposals::insert;

/// Column name → (type, not null), per table, with `INTEGER` and `BIGINT`, `BLOB` and `BYTEA` as the same things.
type Tables = BTreeMap<String, BTreeMap<String, (String, bool)>>;

/// A type of SQLite's as PostgreSQL spells it.
fn portable(text: &str) -> String {
    text.replace("INTEGER", "BIGINT").replace("BLOB", "BYTEA")
}

fn sqlite_shape(path: &Path) -> (Tables, BTreeSet<String>) {
    let db = Connection::open(path).unwrap();
    let names = |kind: &str| -> Vec<String> {
        let sql = "SELECT name FROM sqlite_master WHERE type = $1 AND name NOT LIKE 'sqlite_%'";
        let mut statement = db.prepare(sql).unwrap();
        statement
            .query_map([kind], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect()
    };
    let mut tables = Tables::new();
    for table in names("table") {
        let sql = "SELECT name, type, \"notnull\" OR pk > 0 FROM pragma_table_info($1)";
        let mut statement = db.prepare(sql).unwrap();
        let columns = statement
            .query_map([&table], |row| {
                let kind: String = row.get(1)?;
                Ok((row.get(0)?, (portable(&kind), row.get(2)?)))
            })
            .unwrap()
            .map(Result::unwrap)
            .collect();
        tables.insert(table, columns);
    }
    (tables, names("index").into_iter().collect())
}

async fn postgres_shape(url: &str) -> (Tables, BTreeSet<String>) {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    let sql = "SELECT table_name::text, column_name::text, data_type::text, is_nullable = 'NO' \
               FROM information_schema.columns WHERE table_schema = 'public'";
    let mut tables = Tables::new();
    for row in client.query(sql, &[]).await.unwrap() {
        let (table, column, kind): (String, String, String) = (row.get(0), row.get(1), row.get(2));
        tables
            .entry(table)
            .or_default()
            .insert(column, (kind.to_uppercase(), row.get(3)));
    }
    let sql = "SELECT indexname::text FROM pg_indexes WHERE schemaname = 'public' \
               AND indexname NOT LIKE '%_pkey' AND indexname NOT LIKE '%_hash_key'";
    let indexes = client
        .query(sql, &[])
        .await
        .unwrap()
        .iter()
        .map(|row| row.get(0))
        .collect();
    (tables, indexes)
}

#[tokio::test(flavor = "multi_thread")]
async fn both_dialects_make_the_same_tables() {
    let sqlite = engines::sqlite().await;
    let Some(postgres) = engines::postgres().await else {
        return;
    };
    let left = sqlite_shape(&sqlite.folder.path().join("void.db"));
    let right = postgres_shape(postgres.url.as_ref().unwrap()).await;
    assert!(left.0.len() >= 9, "{:?}", left.0.keys());
    assert!(left.0.contains_key(SEARCH_INDEX) && right.0.contains_key(SEARCH_INDEX));
    assert_eq!(without_search_index(left), without_search_index(right));
}

/// The index of words is each engine's own: a virtual table with tables of its own behind it, and a table with a GIN index.
const SEARCH_INDEX: &str = "search_index";
const SEARCH: &str = "0024_search.sql";

fn without_search_index(
    (mut tables, mut indexes): (Tables, BTreeSet<String>),
) -> (Tables, BTreeSet<String>) {
    tables.retain(|name, _| !name.starts_with(SEARCH_INDEX));
    indexes.retain(|name| !name.starts_with(SEARCH_INDEX));
    (tables, indexes)
}

/// The table of this one is made anew on SQLite and altered on PostgreSQL, to hold the same.
const MADE_ANEW: &str = "0022_proposal_states.sql";

/// The constraints of a text, each up to the parenthesis that ends it.
fn checks(text: &str) -> Vec<String> {
    let begin = |(at, _): (usize, &str)| {
        let mut depth = 0_i32;
        let end = text[at..].find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c == ')' && depth == 0
        });
        text[at..=at + end.unwrap()].to_owned()
    };
    text.match_indices("CHECK (").map(begin).collect()
}

/// The texts differ in nothing but types and collations, so the CHECK constraints are the same.
#[test]
fn both_dialects_hold_the_same_constraints() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let read = |dialect: &str| -> BTreeMap<String, String> {
        fs::read_dir(folder.join(dialect))
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                (
                    entry.file_name().into_string().unwrap(),
                    fs::read_to_string(entry.path()).unwrap(),
                )
            })
            .collect()
    };
    let (sqlite, postgres) = (read("sqlite"), read("postgres"));
    assert_eq!(
        sqlite.keys().collect::<Vec<_>>(),
        postgres.keys().collect::<Vec<_>>()
    );
    for (name, text) in sqlite {
        if name == MADE_ANEW || name == SEARCH {
            assert_eq!(checks(&text), checks(&postgres[&name]), "{name}");
            continue;
        }
        let expected = portable(&text.replace(") STRICT;", ");"));
        assert_eq!(
            postgres[&name].replace(" COLLATE \"C\"", ""),
            expected,
            "{name}"
        );
    }
}

/// Every row of every table, as text; on SQLite also the counter of changes to the schema, on PostgreSQL
/// the transaction that wrote the row.
type Rows = BTreeMap<String, BTreeSet<String>>;

fn sqlite_rows(path: &Path) -> Rows {
    let db = Connection::open(path).unwrap();
    let mut rows = Rows::new();
    for table in sqlite_shape(path).0.into_keys() {
        let mut statement = db.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let width = statement.column_count();
        let found = statement.query_map([], |row| {
            let cells: Result<Vec<rusqlite::types::Value>, _> =
                (0..width).map(|column| row.get(column)).collect();
            Ok(format!("{:?}", cells?))
        });
        rows.insert(table, found.unwrap().map(Result::unwrap).collect());
    }
    let changes = db.query_row("PRAGMA schema_version", [], |row| row.get::<_, i64>(0));
    rows.insert("".into(), [changes.unwrap().to_string()].into());
    rows
}

async fn postgres_rows(url: &str) -> Rows {
    let mut rows = Rows::new();
    for table in postgres_shape(url).await.0.into_keys() {
        let said = postgres_run(url, &format!("SELECT t.xmin, t.* FROM {table} t"));
        rows.insert(table, said.lines().map(str::to_owned).collect());
    }
    rows
}

#[tokio::test(flavor = "multi_thread")]
async fn opening_again_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("void.db");
    let store = Store::open_sqlite(SqliteConfig::new(&path)).await.unwrap();
    insert(&store, pending(1)).await;
    drop(store);
    release(folder.path()).await;
    let before = (sqlite_shape(&path), sqlite_rows(&path));
    assert_eq!(before.1["proposals"].len(), 1);
    assert!(!before.1["migrations"].is_empty());
    drop(Store::open_sqlite(SqliteConfig::new(&path)).await.unwrap());
    release(folder.path()).await;
    assert_eq!((sqlite_shape(&path), sqlite_rows(&path)), before);

    let Some(engine) = engines::postgres().await else {
        return;
    };
    let url = engine.url.as_ref().unwrap();
    insert(&engine.store, pending(1)).await;
    let before = (postgres_shape(url).await, postgres_rows(url).await);
    assert_eq!(before.1["proposals"].len(), 1);
    assert!(!before.1["migrations"].is_empty());
    drop(engines::open_postgres(url).await);
    assert_eq!(
        (postgres_shape(url).await, postgres_rows(url).await),
        before
    );
}

/// The writer thread lets go of the file after its last job.
pub async fn release(folder: &Path) {
    let lock = fs::File::open(folder.join("void.lock")).unwrap();
    void_testkit::eventually("the writer to end", || async { lock.try_lock().ok() }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_a_newer_void_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("void.db");
    drop(Store::open_sqlite(SqliteConfig::new(&path)).await.unwrap());
    release(folder.path()).await;
    let db = Connection::open(&path).unwrap();
    db.execute("INSERT INTO migrations VALUES ('9999_future', 'x')", [])
        .unwrap();
    drop(db);
    let newer = || StoreError::NewerSchema {
        found: "9999_future".into(),
    };
    assert_eq!(
        Store::open_sqlite(SqliteConfig::new(&path)).await.err(),
        Some(newer())
    );

    let Some(engine) = engines::postgres().await else {
        return;
    };
    let url = engine.url.unwrap();
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    client
        .batch_execute("INSERT INTO migrations VALUES ('9999_future', 'x')")
        .await
        .unwrap();
    let again = PostgresConfig {
        url: Secret::new(url),
        ca_file: None,
    };
    assert_eq!(Store::open_postgres(again).await.err(), Some(newer()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_that_was_edited_afterwards_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("void.db");
    drop(Store::open_sqlite(SqliteConfig::new(&path)).await.unwrap());
    release(folder.path()).await;
    Connection::open(&path)
        .unwrap()
        .execute("UPDATE migrations SET checksum = 'x'", [])
        .unwrap();
    let refused = Store::open_sqlite(SqliteConfig::new(&path)).await.err();
    assert!(
        matches!(
            refused,
            Some(StoreError::Corrupt {
                table: "migrations",
                ..
            })
        ),
        "{refused:?}"
    );
}

/// Instances that start at the same moment bring an empty database up to date exactly once.
#[tokio::test(flavor = "multi_thread")]
async fn instances_that_start_together_take_turns() {
    if !has_postgres() {
        return;
    }
    let url = tokio::task::spawn_blocking(postgres_database)
        .await
        .unwrap();
    let mut starts = Vec::new();
    for _ in 0..6 {
        let url = url.clone();
        starts.push(tokio::spawn(async move {
            Store::open_postgres(PostgresConfig {
                url: Secret::new(url),
                ca_file: None,
            })
            .await
            .map(drop)
        }));
    }
    for start in starts {
        start.await.unwrap().unwrap();
    }
    let alone = engines::postgres().await.unwrap();
    let alone = postgres_shape(alone.url.as_ref().unwrap()).await;
    assert_eq!(postgres_shape(&url).await, alone);
}

/// Stops in the middle of every statement of every migration: nothing of it is left, what was there
/// before is, and the next start completes it.
#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_any_statement_leaves_the_version_before() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/sqlite");
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.sort();
    let texts: Vec<String> = names
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    for (n, text) in texts.iter().enumerate() {
        let statements: Vec<&str> = text.split_inclusive(";\n").collect();
        for cut in 0..=statements.len() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("void.db");
            let before = {
                let db = Connection::open(&path).unwrap();
                db.execute_batch("PRAGMA journal_mode = WAL").unwrap();
                db.execute_batch("CREATE TABLE migrations (name TEXT PRIMARY KEY NOT NULL, checksum TEXT NOT NULL)").unwrap();
                for (earlier, name) in texts[..n].iter().zip(&names) {
                    db.execute_batch(earlier).unwrap();
                    let name = name.file_stem().unwrap().to_str().unwrap();
                    let checksum = Digest::of(earlier.as_bytes()).to_string();
                    db.execute("INSERT INTO migrations VALUES ($1, $2)", [name, &checksum])
                        .unwrap();
                }
                drop(db);
                let before = sqlite_shape(&path);
                // What the runner does, ended by losing the connection before its commit.
                let db = Connection::open(&path).unwrap();
                db.execute_batch("BEGIN IMMEDIATE").unwrap();
                db.execute_batch(&statements[..cut].concat()).unwrap();
                before
            };
            assert_eq!(
                sqlite_shape(&path),
                before,
                "migration {n}, statement {cut} left something behind"
            );
            drop(Store::open_sqlite(SqliteConfig::new(&path)).await.unwrap());
        }
    }
}

/// A browser that was signed in before sessions knew how stays signed in, as opened by token.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_from_before_stays_open() {
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/sqlite");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("void.db");
    let db = Connection::open(&path).unwrap();
    db.execute_batch(
        "CREATE TABLE migrations (name TEXT PRIMARY KEY NOT NULL, checksum TEXT NOT NULL)",
    )
    .unwrap();
    let mut files: Vec<_> = fs::read_dir(migrations)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    for file in files.iter().take(7) {
        let text = fs::read_to_string(file).unwrap();
        db.execute_batch(&text).unwrap();
        let name = file.file_stem().unwrap().to_str().unwrap();
        let checksum = Digest::of(text.as_bytes()).to_string();
        db.execute("INSERT INTO migrations VALUES ($1, $2)", [name, &checksum])
            .unwrap();
    }
    let id = SessionId::new(Timestamp::from_ms(1_000), [1; 10]).to_string();
    let hash = Digest::of(b"cookie");
    db.execute(
        "INSERT INTO sessions (id, hash, created_at, authenticated_at, expires_at) VALUES ($1, $2, 1000, 1000, 9000)",
        [id, hash.to_string()],
    )
    .unwrap();
    drop(db);
    let store = Store::open_sqlite(SqliteConfig::new(&path)).await.unwrap();
    let found = store
        .read(move |tx| Box::pin(sessions::find_live(tx, hash, Timestamp::from_ms(8_999))))
        .await;
    let session = found.unwrap().unwrap();
    assert_eq!(
        (
            session.method,
            session.last_seen_at,
            session.authenticated_at
        ),
        (
            Method::Token,
            Timestamp::from_ms(1_000),
            Timestamp::from_ms(1_000)
        )
    );
}

/// What was on its way, and the keys of its buttons, are still there after the outbox was made anew.
#[tokio::test(flavor = "multi_thread")]
async fn deliveries_and_keys_from_before_alerts_stay() {
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/sqlite");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("void.db");
    let db = Connection::open(&path).unwrap();
    db.execute_batch(
        "CREATE TABLE migrations (name TEXT PRIMARY KEY NOT NULL, checksum TEXT NOT NULL)",
    )
    .unwrap();
    let mut files: Vec<_> = fs::read_dir(migrations)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    for file in &files {
        let name = file.file_stem().unwrap().to_str().unwrap();
        if name == "0016_alerts" {
            break;
        }
        let text = fs::read_to_string(file).unwrap();
        db.execute_batch(&text).unwrap();
        let checksum = Digest::of(text.as_bytes()).to_string();
        db.execute("INSERT INTO migrations VALUES ($1, $2)", [name, &checksum])
            .unwrap();
    }
    let other = engines::sqlite().await;
    let proposal = pending(1);
    let id = proposal.proposal.id.to_string();
    let written: Result<(), StoreError> = other
        .store
        .write(move |tx| Box::pin(async move { proposals::insert(tx, 1, &proposal).await }))
        .await;
    written.unwrap();
    let from = other.folder.path().join("void.db").display().to_string();
    db.execute("ATTACH $1 AS other", [from]).unwrap();
    // As far as the table had columns then.
    let columns: String = db
        .query_row(
            "SELECT group_concat(name, ', ') FROM pragma_table_info('proposals')",
            [],
            |row| row.get(0),
        )
        .unwrap();
    db.execute_batch(&format!(
        "INSERT INTO proposals ({columns}) SELECT {columns} FROM other.proposals"
    ))
    .unwrap();
    let digest = "019a0000-0000-7000-8000-000000000001";
    let member = "019a0000-0000-7000-8000-000000000002";
    for (row, kind, proposal, digest, status) in [
        (digest, "digest", None, None, "sent"),
        (member, "message", Some(&id), Some(digest), "digested"),
    ] {
        db.execute(
            "INSERT INTO notifications (id, target, channel, kind, proposal_id, digest_id, seq, wanted, shown, status, held, tries, \
             next_at, created_at, sent_at, message_ref) VALUES ($1, 'telegram:5', 'telegram', $2, $3, $4, 1, 3, 3, $5, 0, 0, 7, 8, 9, '77')",
            rusqlite::params![row, kind, proposal, digest, status],
        )
        .unwrap();
    }
    let hash = Digest::of(b"key");
    db.execute(
        "INSERT INTO notification_keys (hash, target, proposal_id, digest, meaning, created_at, expires_at, revision) \
         VALUES ($1, 'telegram:5', $2, $1, 'ask', 1, 2, 3)",
        [&hash.to_string(), &id],
    )
    .unwrap();
    drop(db);
    drop(Store::open_sqlite(SqliteConfig::new(&path)).await.unwrap());
    release(folder.path()).await;
    let db = Connection::open(&path).unwrap();
    let row = |sql: &str| -> String { db.query_row(sql, [], |row| row.get(0)).unwrap() };
    let rows = row(
        "SELECT group_concat(id || kind || wanted || next_at || message_ref, ' ') FROM notifications ORDER BY id",
    );
    assert_eq!(rows, format!("{digest}digest3777 {member}message3777"));
    let found = row("SELECT digest_id FROM notifications WHERE digest_id IS NOT NULL");
    assert_eq!(found, digest);
    let key = row("SELECT hash || meaning || revision FROM notification_keys");
    assert_eq!(key, format!("{hash}ask3"));
    // The table still refers to itself, and to nothing that is gone.
    let shape = row(
        "SELECT group_concat(\"table\", ' ') FROM (SELECT DISTINCT \"table\" FROM pragma_foreign_key_list('notifications') ORDER BY 1)",
    );
    assert_eq!(shape, "alerts notifications proposals questions");
}

/// What is not Void's could refuse a freeze, or undo it.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_with_a_trigger_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("void.db");
    Store::open_sqlite(SqliteConfig::new(&path)).await.unwrap();
    release(folder.path()).await;
    for (create, drop) in [
        (
            "CREATE TRIGGER odd AFTER UPDATE ON freezes BEGIN SELECT 1; END;",
            "DROP TRIGGER odd;",
        ),
        ("CREATE VIEW odd AS SELECT 1;", "DROP VIEW odd;"),
    ] {
        let run = |sql: &str| Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        run(create);
        let refused = Store::open_sqlite(SqliteConfig::new(&path))
            .await
            .err()
            .unwrap();
        assert!(
            refused.to_string().contains("(odd): it is not Void's"),
            "{refused}"
        );
        release(folder.path()).await;
        run(drop);
        Store::open_sqlite(SqliteConfig::new(&path)).await.unwrap();
        release(folder.path()).await;
    }
}
