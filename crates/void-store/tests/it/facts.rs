//! One fact, one row: what a used database of the version before becomes. Its chain, its proposals' histories and its head
//! are the same before and after, on both engines.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;
use void_domain::digests::Digest;
use void_domain::facts::Fact;
use void_domain::proposals::Transition;
use void_store::proposals::ProposalFilter;
use void_store::{Heads, SqliteConfig, Store, StoreError, backups, events, facts, proposals};
use void_testkit::proposals::NOW;
use void_testkit::{has_postgres, postgres_database, postgres_run};

use crate::engines::open_postgres;

const DATABASE: &str = include_str!("fixtures/before_facts.sql");
const LAST_BEFORE: &str = "0020_changes";
/// What the version before reads first of all in every batch, and without which it writes nothing.
const HEADS_BEFORE: &str =
    "SELECT audit_seq, audit_hash, event_seq, open_proposals FROM heads WHERE id = 1";

/// As much as a history tells of a step.
type Step = (Option<String>, String, i64, String);

/// The used database, on SQLite.
fn used(folder: &Path, edit: &str) -> PathBuf {
    let path = folder.join("void.db");
    let db = Connection::open(&path).unwrap();
    db.execute_batch(DATABASE).unwrap();
    db.execute_batch(edit).unwrap();
    path
}

fn entries_before(db: &Connection) -> Vec<Vec<Value>> {
    let sql = "SELECT seq, at, request_id, actor, verb, subject, detail, catalogue, prev, hash FROM audit ORDER BY seq";
    let mut statement = db.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| (0..10).map(|column| row.get(column)).collect());
    rows.unwrap().map(Result::unwrap).collect()
}

fn histories_before(db: &Connection) -> BTreeMap<String, Vec<Step>> {
    let sql = "SELECT proposal_id, from_status, to_status, at, actor FROM transitions ORDER BY proposal_id, step";
    let mut statement = db.prepare(sql).unwrap();
    let mut rows = statement.query([]).unwrap();
    let mut histories: BTreeMap<String, Vec<Step>> = BTreeMap::new();
    while let Some(row) = rows.next().unwrap() {
        let of = histories.entry(row.get(0).unwrap()).or_default();
        let get = |column| row.get(column).unwrap();
        of.push((row.get(1).unwrap(), get(2), row.get(3).unwrap(), get(4)));
    }
    histories
}

/// The same rows in the tables that the version before has on PostgreSQL.
fn pour_into_postgres(from: &Connection, url: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/postgres");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut sql =
        "CREATE TABLE migrations (name TEXT PRIMARY KEY NOT NULL, checksum TEXT NOT NULL);\n"
            .to_owned();
    for file in files {
        let (name, text) = (
            file.file_stem().unwrap().to_str().unwrap(),
            fs::read_to_string(&file).unwrap(),
        );
        let checksum = Digest::of(text.as_bytes());
        sql.push_str(&format!(
            "{text}\nINSERT INTO migrations VALUES ('{name}', '{checksum}');\n"
        ));
        if name == LAST_BEFORE {
            break;
        }
    }
    sql.push_str("SET session_replication_role = replica;\n");
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('migrations', 'sqlite_sequence')";
    let mut statement = from.prepare(tables).unwrap();
    let tables: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for table in tables {
        sql.push_str(&format!("DELETE FROM {table};\n"));
        let mut statement = from.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let names = statement.column_names().collect::<Vec<_>>().join(", ");
        let width = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let cells: Vec<String> = (0..width)
                .map(|column| literal(&row.get(column).unwrap()))
                .collect();
            sql.push_str(&format!(
                "INSERT INTO {table} ({names}) VALUES ({});\n",
                cells.join(", ")
            ));
        }
    }
    postgres_run(url, &sql);
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        other => panic!("no column of ours holds {other:?}"),
    }
}

/// The used database on each engine, brought up to date.
async fn upgraded(edit: &str) -> Vec<(&'static str, Store, Connection, TempDir)> {
    let mut all = Vec::new();
    let before = || {
        let folder = tempfile::tempdir().unwrap();
        let db = Connection::open(used(folder.path(), edit)).unwrap();
        (folder, db)
    };
    let (kept, db) = before();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_sqlite(SqliteConfig::new(used(folder.path(), edit)))
        .await
        .unwrap();
    all.push(("sqlite", store, db, folder));
    drop(kept);
    if has_postgres() {
        let (folder, db) = before();
        let url = tokio::task::spawn_blocking(postgres_database)
            .await
            .unwrap();
        pour_into_postgres(&db, &url);
        all.push(("postgres", open_postgres(&url).await, db, folder));
        let refused = postgres_refuses(&url, HEADS_BEFORE).await;
        assert!(refused.contains("event_seq"), "{refused}");
    }
    all
}

async fn postgres_refuses(url: &str, sql: &str) -> String {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    let refused = client.batch_execute(sql).await.unwrap_err();
    refused.as_db_error().unwrap().message().to_owned()
}

async fn entries(store: &Store) -> Vec<Fact> {
    let read: Result<_, StoreError> = store
        .read(|tx| Box::pin(facts::list_after(tx, 0, 1_000)))
        .await;
    read.unwrap()
}

async fn heads(store: &Store) -> Heads {
    let read: Result<_, StoreError> = store.read(|tx| Box::pin(events::standing(tx))).await;
    read.unwrap()
}

fn cells(fact: &Fact) -> Vec<Value> {
    let text = |text: &str| Value::Text(text.to_owned());
    let optional = |text: &Option<String>| text.clone().map_or(Value::Null, Value::Text);
    vec![
        Value::Integer(i64::try_from(fact.seq).unwrap()),
        Value::Integer(fact.at.as_ms()),
        optional(&fact.request_id),
        text(&fact.actor),
        text(&fact.verb),
        optional(&fact.subject),
        text(&fact.detail),
        optional(&fact.catalogue),
        text(&fact.prev.to_string()),
        text(&fact.hash.to_string()),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn the_chain_of_the_version_before_is_intact_and_goes_on() {
    for (name, store, db, _folder) in upgraded("").await {
        let before = entries_before(&db);
        let after = entries(&store).await;
        assert_eq!(
            after.iter().map(cells).collect::<Vec<_>>(),
            before,
            "{name}"
        );
        let mut prev = Digest::ZERO;
        for fact in &after {
            assert_eq!(
                (fact.prev, fact.computed_hash()),
                (prev, fact.hash),
                "{name} {}",
                fact.seq
            );
            assert_eq!(fact.audience, None, "nobody is told of what was before");
            prev = fact.hash;
        }
        let last = after.last().unwrap();
        let head: Result<_, StoreError> = store.read(|tx| Box::pin(facts::head(tx))).await;
        assert_eq!(head.unwrap(), (last.seq, last.hash), "{name}");
        let next: Result<Fact, StoreError> = store
            .write(|tx| {
                Box::pin(async move { facts::append(tx, NOW, crate::events::told("next")).await })
            })
            .await;
        let next = next.unwrap();
        assert_eq!((next.seq, next.prev), (last.seq + 1, last.hash), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_history_of_the_version_before_reads_the_same_from_the_record() {
    for (name, store, db, _folder) in upgraded("").await {
        let before = histories_before(&db);
        let page: Result<_, StoreError> = store
            .read(|tx| Box::pin(proposals::list(tx, ProposalFilter::default(), None, 100)))
            .await;
        let page = page.unwrap();
        assert_eq!(page.items.len(), before.len(), "{name}");
        for stored in page.items {
            let (id, proposal) = (stored.proposal.id.to_string(), stored.proposal);
            let history: Result<Vec<Transition>, StoreError> = store
                .read(move |tx| Box::pin(async move { facts::steps::history(tx, &proposal).await }))
                .await;
            let steps = history.unwrap().into_iter().map(|step| {
                let from = step.from.map(|from| from.as_str().to_owned());
                (from, step.to.as_str().to_owned(), step.at.as_ms(), step.by)
            });
            assert_eq!(steps.collect::<Vec<_>>(), before[&id], "{name} {id}");
        }
    }
}

/// Numbers that events had count in no other numbering: neither those that the record has passed already, nor those that
/// it is yet to reach.
#[tokio::test(flavor = "multi_thread")]
async fn an_id_from_before_is_none_of_the_record() {
    for (edit, numbered_from, id_of_next) in [
        ("", 55, "58"),
        ("UPDATE heads SET event_seq = 200", 201, "58-201"),
        ("UPDATE heads SET event_seq = 0", 0, "58"),
    ] {
        for (name, store, _db, _folder) in upgraded(edit).await {
            let stands = heads(&store).await;
            assert_eq!(
                (stands.audit_seq, stands.told_after),
                (57, 57),
                "{name} {edit}"
            );
            assert_eq!(stands.numbered_from, numbered_from, "{name} {edit}");
            let told: Result<_, StoreError> = store
                .write(|tx| {
                    Box::pin(
                        async move { facts::append(tx, NOW, crate::events::told("next")).await },
                    )
                })
                .await;
            told.unwrap();
            let heard: Result<_, StoreError> = store
                .read(|tx| Box::pin(events::list_after(tx, 0, 1_000)))
                .await;
            let ids: Vec<String> = heard
                .unwrap()
                .iter()
                .map(|event| event.id.to_string())
                .collect();
            assert_eq!(ids, [id_of_next], "{name} {edit}");
        }
    }
}

/// The version before looks at its numbers at the beginning of every batch. They are gone, so it writes nothing at all.
#[tokio::test(flavor = "multi_thread")]
async fn the_version_before_cannot_write_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = used(folder.path(), "");
    drop(Store::open_sqlite(SqliteConfig::new(&path)).await.unwrap());
    crate::migrations::release(folder.path()).await;
    let db = Connection::open(&path).unwrap();
    let refused = db.prepare(HEADS_BEFORE).err().unwrap().to_string();
    assert!(refused.contains("event_seq"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_of_the_version_before_is_checked_and_restored() {
    let folder = tempfile::tempdir().unwrap();
    let copy = used(folder.path(), "");
    let checked = backups::check(&copy).unwrap();
    assert_eq!(checked.audit_seq, 57);
    let database = folder.path().join("restored.db");
    let replaced = folder.path().join("replaced.db");
    assert_eq!(
        backups::restore(&copy, &database, &replaced).unwrap(),
        checked
    );
    let store = Store::open_sqlite(SqliteConfig::new(&database))
        .await
        .unwrap();
    assert_eq!(entries(&store).await.len(), 57);
    for damage in [
        "UPDATE audit SET actor = 'nobody' WHERE seq = 3",
        "DELETE FROM audit WHERE seq > 50",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let copy = used(folder.path(), damage);
        assert!(backups::check(&copy).is_err(), "{damage}");
    }
}
