//! A walk over rows as they are spelled finds what a walk over entries that are read, spelled anew and hashed finds.

use rusqlite::Connection;
use rusqlite::types::Value as Cell;
use serde_json::json;
use void_domain::digests::Digest;
use void_domain::facts::{Fact, NewFact};
use void_domain::time::Timestamp;
use void_store::facts::chains::{self, Link, Piece};
use void_store::{Store, StoreError, facts};

use crate::engines;

const ENTRIES: u64 = 40;

/// Everything that a detail, a name or a time can hold and a reader may stumble over.
fn draft(n: u64) -> NewFact {
    let odd = [
        "plain",
        "",
        "\"\\/\u{8}\t\n\u{c}\r\u{1}\u{1f}\u{7f}",
        "\u{e9}\u{20ac}\u{1f600}\u{fb33}",
        "a\u{2028}b",
        "very long ",
    ];
    let word = odd[usize::try_from(n).unwrap() % odd.len()];
    let long = word.repeat(1 + usize::try_from(n % 7).unwrap() * 40);
    let detail = match n % 4 {
        0 => {
            json!({"z": word, "a": [1, -7, {"\u{1f600}": null, "\u{fb33}": true}], long.clone(): long})
        }
        1 => json!({}),
        2 => json!(long),
        _ => json!({"n": 9_007_199_254_740_991_u64, "reason": long, "": {"": {"": []}}}),
    };
    NewFact {
        request_id: None,
        actor: format!("agent-{word}"),
        verb: "test",
        subject: (!n.is_multiple_of(3)).then(|| long_subject(word, n)),
        detail,
        catalogue: (!n.is_multiple_of(2)).then(|| Digest::of(word.as_bytes())),
        audience: None,
    }
}

fn long_subject(word: &str, n: u64) -> String {
    format!("{n}{word}")
}

async fn write(store: &Store) {
    for n in 0..ENTRIES {
        let at = Timestamp::from_ms(i64::try_from(n * n * n * 1_234_567_891).unwrap());
        let write = store.write(move |tx| {
            Box::pin(async move { Ok::<_, StoreError>(facts::append(tx, at, draft(n)).await?.seq) })
        });
        write.await.unwrap();
    }
}

/// Each row read as an entry, spelled anew and hashed.
fn slowly(file: &Connection) -> (u64, Option<(u64, &'static str)>) {
    let sql = "SELECT seq, at, request_id, actor, verb, subject, detail, catalogue, prev, hash FROM facts \
        WHERE seq BETWEEN 1 AND (SELECT audit_seq FROM heads) ORDER BY seq";
    let mut statement = file.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| {
        let cells = (1..10).map(|column| row.get::<_, Cell>(column));
        Ok((
            u64::try_from(row.get::<_, i64>(0)?).unwrap(),
            cells.collect::<Result<Vec<Cell>, _>>(),
        ))
    });
    let (mut seq, mut hash) = (0, Digest::ZERO);
    for row in rows.unwrap() {
        let (number, cells) = row.unwrap();
        if number != seq + 1 {
            return (seq, Some((seq + 1, "it is missing")));
        }
        let Some(entry) = cells.ok().and_then(|cells| fact(number, &cells)) else {
            return (seq, Some((number, "it cannot be read as an entry")));
        };
        if entry.prev != hash {
            return (
                seq,
                Some((number, "it does not follow the entry before it")),
            );
        }
        let rest = spelled(&entry);
        let parts: [&[u8]; 2] = [entry.prev.as_bytes(), rest.as_bytes()];
        if Digest::of_parts(&parts) != entry.hash {
            return (seq, Some((number, "it is not what was written")));
        }
        (seq, hash) = (number, entry.hash);
    }
    (seq, None)
}

/// What is hashed, written by another writer.
fn spelled(entry: &Fact) -> String {
    let text = |text: &str| json!(text).to_string();
    let optional = |value: &Option<String>| value.as_deref().map_or("null".to_owned(), text);
    format!(
        "{{\"actor\":{},\"at\":\"{}\",\"catalogue\":{},\"detail\":{},\"request_id\":{},\"seq\":{},\"subject\":{},\"verb\":{}}}",
        text(&entry.actor),
        entry.at,
        optional(&entry.catalogue),
        entry.detail,
        optional(&entry.request_id),
        entry.seq,
        optional(&entry.subject),
        text(&entry.verb)
    )
}

fn fact(seq: u64, cells: &[Cell]) -> Option<Fact> {
    let text = |cell: &Cell| match cell {
        Cell::Text(text) => Some(Some(text.clone())),
        Cell::Null => Some(None),
        _ => None,
    };
    let Cell::Integer(at) = cells[0] else {
        return None;
    };
    Some(Fact {
        seq,
        at: Timestamp::from_ms(at),
        request_id: text(&cells[1])?,
        actor: text(&cells[2])??,
        verb: text(&cells[3])??,
        subject: text(&cells[4])?,
        detail: text(&cells[5])??,
        catalogue: text(&cells[6])?,
        prev: text(&cells[7])??.parse().ok()?,
        hash: text(&cells[8])??.parse().ok()?,
        audience: None,
    })
}

/// The whole walk, in pieces of this size.
async fn walk(store: &Store, limit: u32) -> (u64, Option<(u64, &'static str)>) {
    let mut at = Link::START;
    loop {
        let read = store.read(move |tx| Box::pin(chains::walk(tx, at, u64::MAX, limit)));
        let Piece {
            at: to,
            broken,
            rows,
        } = read.await.unwrap();
        at = to;
        if broken.is_some() || rows == 0 {
            return (at.seq, broken);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_walk_finds_whatever_was_done_to_a_row() {
    let engine = engines::sqlite().await;
    write(&engine.store).await;
    let file = Connection::open(engine.folder.path().join("void.db")).unwrap();
    assert_eq!(slowly(&file), (ENTRIES, None));
    let texts = [
        "actor",
        "verb",
        "subject",
        "detail",
        "catalogue",
        "prev",
        "hash",
        "request_id",
    ];
    let mut edits = vec![
        "DELETE FROM facts WHERE seq = {n}".to_owned(),
        "UPDATE facts SET at = at + 1 WHERE seq = {n}".to_owned(),
        "UPDATE facts SET at = -1 WHERE seq = {n}".to_owned(),
        "UPDATE facts SET detail = ' ' || detail WHERE seq = {n}".to_owned(),
        "UPDATE facts SET hash = upper(hash) WHERE seq = {n}".to_owned(),
        "UPDATE facts SET prev = upper(prev) WHERE seq = {n}".to_owned(),
        "UPDATE facts SET hash = hash || '0' WHERE seq = {n}".to_owned(),
        "UPDATE facts SET audience = 'nobody we know' WHERE seq = {n}".to_owned(),
        "UPDATE facts SET detail = (SELECT detail FROM facts WHERE seq = {n} - 1) WHERE seq = {n}"
            .to_owned(),
    ];
    for column in texts {
        for value in [
            "''",
            "'null'",
            "x'ff'",
            "CAST(x'c328' AS TEXT)",
            "'x' || substr({c}, 2)",
            "{c} || char(0)",
        ] {
            let value = value.replace("{c}", column);
            edits.push(format!(
                "UPDATE facts SET {column} = {value} WHERE seq = {{n}}"
            ));
        }
    }
    let mut refused = 0;
    for edit in &edits {
        for n in [1, 17, ENTRIES - 1, ENTRIES] {
            file.execute_batch("BEGIN IMMEDIATE").unwrap();
            // Some of these the tables refuse by themselves.
            let done = file.execute_batch(&edit.replace("{n}", &n.to_string()));
            file.execute_batch(if done.is_ok() { "COMMIT" } else { "ROLLBACK" })
                .unwrap();
            refused += usize::from(done.is_err());
            let slow = slowly(&file);
            for limit in [1, 7, 1_000] {
                assert_eq!(walk(&engine.store, limit).await, slow, "{edit} {n}");
            }
            restore(&file, &engine.store).await;
        }
    }
    assert!(
        refused < 2 * edits.len(),
        "most of it can be done by whoever has the file"
    );
    assert_eq!(walk(&engine.store, 7).await, (ENTRIES, None));
}

/// Writes the rows anew as they were.
async fn restore(file: &Connection, store: &Store) {
    file.execute_batch("DELETE FROM facts").unwrap();
    let (mut prev, sql) = (
        Digest::ZERO,
        "INSERT INTO facts (seq, at, request_id, actor, verb, subject, detail, catalogue, prev, hash) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    );
    for n in 0..ENTRIES {
        let at = Timestamp::from_ms(i64::try_from(n * n * n * 1_234_567_891).unwrap());
        let entry = Fact::seal(draft(n), n + 1, at, prev).unwrap();
        let row = rusqlite::params![
            i64::try_from(entry.seq).unwrap(),
            entry.at.as_ms(),
            entry.request_id,
            entry.actor,
            entry.verb,
            entry.subject,
            entry.detail,
            entry.catalogue,
            entry.prev.to_string(),
            entry.hash.to_string(),
        ];
        file.execute(sql, row).unwrap();
        prev = entry.hash;
    }
    assert_eq!(walk(store, 1_000).await, (ENTRIES, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_is_the_lines_of_all_entries_in_pieces_of_any_size() {
    for engine in engines::both().await {
        write(&engine.store).await;
        let read = engine
            .store
            .read(|tx| Box::pin(facts::list_after(tx, 0, 1_000)));
        let entries: Vec<Fact> = read.await.unwrap();
        let slow: String = entries
            .iter()
            .map(|entry| entry.export_line() + "\n")
            .collect();
        for limit in [1, 7, 1_000] {
            let (mut all, mut after) = (String::new(), 0);
            loop {
                let read = engine
                    .store
                    .read(move |tx| Box::pin(chains::export(tx, after, limit)));
                let Some((lines, last)) = read.await.unwrap() else {
                    break;
                };
                all.push_str(&lines);
                after = last;
            }
            assert_eq!(all, slow);
            assert_eq!(walk(&engine.store, limit).await, (ENTRIES, None));
        }
    }
}
