//! A record that somebody changed behind Void's back, in every way we could think of: it is named at the
//! start, by `audit-verify` and by `void doctor`, and neither reading nor the freeze stops for it.

use std::fs;
use std::process::Command;

use rusqlite::Connection;
use serde_json::{Value, json};
use void_domain::facts::{Fact, NewFact};
use void_domain::time::Timestamp;
use void_testkit::{eventually_blocking, postgres_database, postgres_run};

use crate::doctor::{amiss, report};
use crate::lab::{Lab, Server, word};

/// On PostgreSQL every so many in the short run; all of them in the deep one.
const POSTGRES_EVERY: usize = if cfg!(feature = "deep") { 1 } else { 12 };
const MIDDLE: u64 = 5;

/// A record as it was when its server stopped.
struct Written {
    head: u64,
    head_hash: String,
    /// What entry [`MIDDLE`] and the newest one follow.
    middle_prev: String,
    head_prev: String,
}

struct Forgery {
    name: &'static str,
    sqlite: String,
    postgres: String,
}

fn both(name: &'static str, sql: impl Into<String>) -> Forgery {
    let sql = sql.into();
    Forgery {
        name,
        sqlite: sql.clone(),
        postgres: sql,
    }
}

/// The table without what keeps wrong values out of it.
const LOOSE_SQLITE: &str = "CREATE TABLE loose (seq INTEGER PRIMARY KEY, at, request_id, actor, verb, subject, detail, catalogue, prev, hash, audience); \
    INSERT INTO loose SELECT seq, at, request_id, actor, verb, subject, detail, catalogue, prev, hash, audience FROM facts; \
    DROP TABLE facts; ALTER TABLE loose RENAME TO facts; CREATE INDEX facts_by_subject ON facts (subject, seq);";
const LOOSE_POSTGRES: &str = "ALTER TABLE facts DROP CONSTRAINT audit_seq_check; ALTER TABLE facts ALTER COLUMN at DROP NOT NULL; \
    ALTER TABLE facts ALTER COLUMN actor DROP NOT NULL; ALTER TABLE facts ALTER COLUMN verb DROP NOT NULL; \
    ALTER TABLE facts ALTER COLUMN detail DROP NOT NULL; ALTER TABLE facts ALTER COLUMN prev DROP NOT NULL; \
    ALTER TABLE facts ALTER COLUMN hash DROP NOT NULL;";

/// The same with the schema loosened first.
fn loose(name: &'static str, sqlite: &str, postgres: &str) -> Forgery {
    Forgery {
        name,
        sqlite: format!("{LOOSE_SQLITE} {sqlite}"),
        postgres: format!("{LOOSE_POSTGRES} {postgres}"),
    }
}

fn sealed(seq: u64, prev: &str) -> Fact {
    let draft = NewFact {
        request_id: None,
        actor: "owner-cli".into(),
        verb: "proposal.approved",
        subject: None,
        detail: json!({}),
        catalogue: None,
        audience: None,
    };
    Fact::seal(draft, seq, Timestamp::from_ms(0), prev.parse().unwrap()).unwrap()
}

/// A row at `seq` whose hash is that of its content after `prev`, or any.
fn row(seq: u64, prev: &str, hash: Option<&str>) -> String {
    let entry = sealed(seq, prev);
    let hash = hash.map_or_else(|| entry.hash.to_string(), str::to_owned);
    format!(
        "INSERT INTO facts (seq, at, actor, verb, detail, prev, hash) \
         VALUES ({seq}, 0, 'owner-cli', 'proposal.approved', '{{}}', '{prev}', '{hash}');"
    )
}

/// Puts another entry into a place, with the hash that belongs to it.
fn resealed(seq: u64, prev: &str) -> String {
    format!(
        "DELETE FROM facts WHERE seq = {seq}; {}",
        row(seq, prev, None)
    )
}

fn copied(from: u64, to: u64) -> String {
    format!(
        "INSERT INTO facts SELECT {to}, at, request_id, actor, verb, subject, detail, catalogue, prev, hash, audience FROM facts WHERE seq = {from};"
    )
}

fn changed(what: &str) -> String {
    format!("UPDATE facts SET {what} WHERE seq = {MIDDLE};")
}

fn rows_that_nobody_wrote(written: &Written) -> Vec<Forgery> {
    let (head, hash) = (written.head, written.head_hash.as_str());
    let other = "ab".repeat(32);
    vec![
        both("a good row at head + 1", row(head + 1, hash, None)),
        both(
            "a row of any hash at head + 1",
            row(head + 1, hash, Some(&other)),
        ),
        both(
            "a row at head + 1 that follows nothing",
            row(head + 1, &other, None),
        ),
        both("a row at head + 2, after a gap", row(head + 2, hash, None)),
        both("a row far beyond the head", row(head + 1_000, hash, None)),
        both(
            "a row at the largest number",
            row(i64::MAX.unsigned_abs(), hash, None),
        ),
        both(
            "a chain of three beyond the head",
            (1..=3)
                .map(|n| row(head + n, hash, None))
                .collect::<String>(),
        ),
        both("the first entry again behind the last", copied(1, head + 1)),
        both("the last entry again behind itself", copied(head, head + 1)),
        loose("a row at number 0", &copied(1, 0), &copied(1, 0)),
        loose(
            "a row at a negative number",
            &copied(1, 1).replace("SELECT 1,", "SELECT -7,"),
            &copied(1, 1).replace("SELECT 1,", "SELECT -7,"),
        ),
        loose(
            "a row beyond the head that holds nothing",
            &format!("INSERT INTO facts (seq) VALUES ({});", head + 1),
            &format!("INSERT INTO facts (seq) VALUES ({});", head + 1),
        ),
        loose(
            "a row beyond the head of other types",
            &format!(
                "INSERT INTO facts VALUES ({}, 'now', 1, x'00ff', 2.5, x'', 7, 7, x'ff', 0, x'00');",
                head + 1
            ),
            &format!(
                "INSERT INTO facts (seq, actor, prev) VALUES ({}, '', '{other}');",
                head + 1
            ),
        ),
    ]
}

fn rows_that_are_gone(written: &Written) -> Vec<Forgery> {
    let head = written.head;
    vec![
        both("the first is gone", "DELETE FROM facts WHERE seq = 1;"),
        both(
            "one in the middle is gone",
            format!("DELETE FROM facts WHERE seq = {MIDDLE};"),
        ),
        both(
            "two in the middle are gone",
            "DELETE FROM facts WHERE seq IN (5, 6);",
        ),
        both(
            "the last is gone",
            format!("DELETE FROM facts WHERE seq = {head};"),
        ),
        both(
            "the first half is gone",
            format!("DELETE FROM facts WHERE seq <= {};", head / 2),
        ),
        both("everything is gone", "DELETE FROM facts;"),
        both(
            "two have changed places",
            "UPDATE facts SET seq = 900 WHERE seq = 5; UPDATE facts SET seq = 5 WHERE seq = 6; UPDATE facts SET seq = 6 WHERE seq = 900;",
        ),
        both(
            "the first and the last have changed places",
            format!(
                "UPDATE facts SET seq = 900 WHERE seq = 1; UPDATE facts SET seq = 1 WHERE seq = {head}; UPDATE facts SET seq = {head} WHERE seq = 900;"
            ),
        ),
        both(
            "one has moved beyond the head",
            format!("UPDATE facts SET seq = 900 WHERE seq = {MIDDLE};"),
        ),
        both(
            "all are one further",
            format!(
                "UPDATE facts SET seq = seq + 1000; UPDATE facts SET seq = seq - 999 WHERE seq < {};",
                head + 1_001
            ),
        ),
    ]
}

fn values_that_were_changed() -> Vec<Forgery> {
    let other = "ab".repeat(32);
    vec![
        both("another actor", changed("actor = 'owner-cli'")),
        both("the actor in capitals", changed("actor = upper(actor)")),
        both("a space behind the actor", changed("actor = actor || ' '")),
        both(
            "an actor that looks the same",
            changed("actor = replace(replace(actor, 'o', '\u{43e}'), 's', '\u{455}')"),
        ),
        both("no actor", changed("actor = ''")),
        both("a millisecond later", changed("at = at + 1")),
        both(
            "before there were computers",
            changed("at = -5000000000000"),
        ),
        both("another verb", changed("verb = 'proposal.approved'")),
        both("a space before the verb", changed("verb = ' ' || verb")),
        both("other details", changed("detail = '{\"frozen\":false}'")),
        both(
            "the same details with a space",
            changed("detail = detail || ' '"),
        ),
        both("details that are no JSON", changed("detail = 'x'")),
        both("no details", changed("detail = ''")),
        both("a subject", changed("subject = 'somebody'")),
        both("an empty subject", changed("subject = ''")),
        both(
            "another request",
            changed("request_id = '0190f6f0-0000-7000-8000-00000000ab12'"),
        ),
        both("no request", changed("request_id = NULL")),
        both(
            "another catalogue",
            changed(&format!("catalogue = '{other}'")),
        ),
        both("no catalogue", changed("catalogue = NULL")),
        both("a catalogue that is no hash", changed("catalogue = 'x'")),
        both(
            "another hash before it",
            changed(&format!("prev = '{other}'")),
        ),
        both("another hash", changed(&format!("hash = '{other}'"))),
        both(
            "a hash that is none",
            changed(&format!("hash = '{}'", "z".repeat(64))),
        ),
        both(
            "the hash of its neighbour",
            changed("hash = (SELECT other.hash FROM facts AS other WHERE other.seq = 6)"),
        ),
        both(
            "details of its neighbour",
            changed(
                "detail = (SELECT other.detail || '' FROM facts AS other WHERE other.seq = 4), verb = 'x'",
            ),
        ),
        loose(
            "an actor of NULL",
            &changed("actor = NULL"),
            &changed("actor = NULL"),
        ),
        loose(
            "a hash of NULL",
            &changed("hash = NULL"),
            &changed("hash = NULL"),
        ),
        loose(
            "a verb of bytes",
            &changed("verb = CAST(verb AS BLOB)"),
            &changed("verb = NULL"),
        ),
        loose(
            "details of bytes that are no text",
            &changed("detail = x'ff00fe'"),
            &changed("detail = NULL"),
        ),
        loose(
            "a time of text",
            &changed("at = 'now'"),
            &changed("at = NULL"),
        ),
        loose(
            "a time between two numbers",
            &changed("at = at + 0.5"),
            &changed("prev = NULL"),
        ),
    ]
}

fn heads_that_were_moved(written: &Written) -> Vec<Forgery> {
    let other = "ab".repeat(32);
    vec![
        both(
            "a good entry in the place of another",
            resealed(MIDDLE, &written.middle_prev),
        ),
        both(
            "a good entry in the place of the last",
            resealed(written.head, &written.head_prev),
        ),
        both(
            "a head of another hash",
            format!("UPDATE heads SET audit_hash = '{other}';"),
        ),
        both(
            "a head that is further",
            "UPDATE heads SET audit_seq = audit_seq + 5;",
        ),
        both(
            "a head that is one back",
            "UPDATE heads SET audit_seq = audit_seq - 1, audit_hash = (SELECT prev FROM facts WHERE seq = audit_seq);",
        ),
        both(
            "a head at the beginning",
            format!(
                "UPDATE heads SET audit_seq = 0, audit_hash = '{}';",
                "0".repeat(64)
            ),
        ),
    ]
}

fn all(written: &Written) -> Vec<Forgery> {
    let mut all = rows_that_nobody_wrote(written);
    all.extend(rows_that_are_gone(written));
    all.extend(values_that_were_changed());
    all.extend(heads_that_were_moved(written));
    all
}

fn prev_of(server: &Server, seq: u64) -> String {
    let (status, entry) = server.call("GET", &format!("/api/audit/{seq}"), None);
    assert_eq!(status, 200, "{entry}");
    word(&entry, "prev").to_owned()
}

/// A stopped installation with some entries; its data folder is kept beside it.
fn write(lab: &Lab) -> Written {
    let mut server = lab.serve(&[]);
    // The tree of agents begins beside the start, with an entry; whoever looks at it waits for that.
    assert_eq!(server.call("GET", "/api/agents/topology", None).0, 200);
    for _ in 0..4 {
        server.call("POST", "/api/freeze", None);
        server.call("DELETE", "/api/freeze", None);
    }
    server.call("POST", "/api/actions/risky-one/run", None);
    let (_, verdict) = server.call("GET", "/api/audit-verify", None);
    assert_eq!(verdict["intact"], json!(true), "{verdict}");
    let head = verdict["head"]["seq"].as_u64().unwrap();
    let written = Written {
        head,
        head_hash: word(&verdict["head"], "hash").to_owned(),
        middle_prev: prev_of(&server, MIDDLE),
        head_prev: prev_of(&server, head),
    };
    assert!(server.terminate().success());
    written
}

fn copy_folder(from: &std::path::Path, to: &std::path::Path) {
    let _ = fs::remove_dir_all(to);
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(copied.unwrap().success());
}

/// Starts on a record that was changed, and looks at everything that must hold then.
fn check(lab: &Lab, name: &str) {
    let _ = fs::remove_file(lab.path("log"));
    let mut server = lab.serve(&[]);
    assert!(
        server.has_ended().is_none(),
        "{name}: it does not start: {}",
        lab.log()
    );
    eventually_blocking(&format!("{name}: to be named at the start"), || {
        let log = lab.log();
        let words = [
            "the record is damaged",
            "the record had rows beyond its head",
        ];
        words.iter().any(|words| log.contains(words)).then_some(())
    });
    let (status, verdict) = server.call("GET", "/api/audit-verify", None);
    assert_eq!(status, 200, "{name}: {verdict}");
    let is_found = verdict["intact"] == json!(false) || verdict["set_aside"].as_u64() > Some(0);
    assert!(is_found, "{name}: {verdict}");
    assert!(!amiss(&report(lab), "audit").is_empty(), "{name}");
    for path in [
        "/api/audit?limit=500",
        "/api/inbox",
        "/api/proposals",
        "/api/status",
    ] {
        let (status, body) = server.call("GET", path, None);
        assert_eq!(status, 200, "{name}: {path}: {body}");
    }
    let listed = server.call("GET", "/api/audit?limit=500", None).1;
    let is_forged = |entry: &Value| entry["seq"].as_i64().is_none_or(|seq| seq < 1);
    let entries = listed["entries"].as_array().unwrap();
    assert!(!entries.iter().any(is_forged), "{name}: {listed}");
    let (status, frozen) = server.call("POST", "/api/freeze", Some(&json!({"reason": "look"})));
    assert_eq!(status, 200, "{name}: {frozen}\n{}", lab.log());
    let (status, refused) = server.call("POST", "/api/actions/safe-one/run", None);
    assert_eq!(
        (status, word(&refused["error"], "code")),
        (409, "frozen"),
        "{name}"
    );
    assert!(lab.effects().is_empty(), "{name}");
}

#[test]
fn every_forged_record_is_named_and_stops_neither_reading_nor_the_freeze() {
    let lab = Lab::new();
    let written = write(&lab);
    let template = lab.path("template");
    copy_folder(&lab.data(), &template);
    let forgeries = all(&written);
    assert!(forgeries.len() >= 50, "{}", forgeries.len());
    // All of them are tried, so that one run says everything that is not found.
    let mut problems = Vec::new();
    for forgery in forgeries {
        let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            copy_folder(&template, &lab.data());
            let database = Connection::open(lab.data().join("void.db")).unwrap();
            database.execute_batch(&forgery.sqlite).unwrap();
            drop(database);
            check(&lab, forgery.name);
        }));
        if tried.is_err() {
            problems.push(forgery.name);
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn every_forged_record_is_named_on_postgres() {
    let forgeries = {
        let mut lab = Lab::new();
        lab.database_url = Some(postgres_database());
        all(&write(&lab)).len()
    };
    for at in (0..forgeries).step_by(POSTGRES_EVERY) {
        let mut lab = Lab::new();
        let database = postgres_database();
        lab.database_url = Some(database.clone());
        let forgery = all(&write(&lab)).remove(at);
        postgres_run(&database, &forgery.postgres);
        check(&lab, forgery.name);
    }
}
