//! The same for a yes to a draft of knowledge: killed between any two steps of it, what the owner keeps is as it was and the draft
//! waits, or it is as the draft says and the row, the record and the events say so. Never half, and never twice.

use std::os::unix::process::ExitStatusExt as _;

use serde_json::{Value, json};
use void_testkit::{eventually_blocking, postgres_database};

use super::{Engine, check_record, points};
use crate::lab::{Lab, Server, call, word};

const OLD: &str = "Restart it.\n";
const NEW: &str = "Restart it gently.\n";

/// What is kept, and a draft of each operation that waits.
struct DraftPlay {
    lab: Lab,
    space: String,
    changed: String,
    thrown_away: String,
    /// Update, create, delete.
    drafts: [String; 3],
}

impl DraftPlay {
    fn of(engine: Engine) -> Self {
        let mut lab = Lab::new();
        lab.database_url = (engine == Engine::Postgres).then(postgres_database);
        let mut server = lab.serve(&[]);
        let ok = |path: &str, body: Value| {
            let (status, answer) = server.call("POST", path, Some(&body));
            assert_eq!(status, 200, "{path}: {answer}");
            answer
        };
        let space = word(&ok("/api/spaces", json!({"title": "Kept"})), "id").to_owned();
        let pages = format!("/api/spaces/{space}/pages");
        let page = |title: &str| {
            let made = ok(&pages, json!({"title": title, "body": OLD}));
            word(&made, "id").to_owned()
        };
        let (changed, thrown_away) = (page("Changed"), page("Thrown away"));
        let agent = json!({"kind": "agent", "name": "drafter", "capabilities": ["suggest"]});
        let token = word(&ok("/api/tokens", agent), "token").to_owned();
        let drafts = [
            json!({"entity": "page", "op": "update", "id": changed, "fields": {"body": NEW}}),
            json!({"entity": "page", "op": "create", "fields": {"title": "Made", "body": NEW}}),
            json!({"entity": "page", "op": "delete", "id": thrown_away}),
        ];
        let drafts = drafts.map(|draft| {
            let path = format!("/api/spaces/{space}/drafts");
            let drafted = call(lab.address, "POST", &path, &token, Some(&draft));
            let (status, row) = drafted.expect("an answer");
            assert_eq!(status, 200, "{row}");
            word(&row, "id").to_owned()
        });
        assert!(server.terminate().success());
        Self {
            lab,
            space,
            changed,
            thrown_away,
            drafts,
        }
    }

    /// Says yes to all of them; what was answered, and whether the server went away.
    fn approve(&self, server: &Server) -> (Vec<String>, bool) {
        let mut told = Vec::new();
        for id in &self.drafts {
            let path = format!("/api/pending-changes/{id}/approve");
            match server.try_call("POST", &path, None) {
                None => return (told, true),
                Some((200, _)) => told.push(id.clone()),
                // Another of the three went through before; no other answer is one.
                Some((status, answer)) => panic!("{id}: {status} {answer}"),
            }
        }
        let gone = server.try_call("GET", "/readyz", None).is_none();
        (told, gone)
    }

    /// Which of the three drafts were applied, by what the owner keeps now.
    fn applied(&self, server: &Server, chosen: &str) -> [bool; 3] {
        let (status, page) = server.call("GET", &format!("/api/pages/{}", self.changed), None);
        assert_eq!(status, 200, "{chosen}: {page}");
        let is_changed = match (page["revision"].as_u64(), word(&page, "body")) {
            (Some(1), OLD) => false,
            (Some(2), NEW) => true,
            _ => panic!("{chosen}: {page}"),
        };
        let pages = format!("/api/spaces/{}/pages?limit=100", self.space);
        let (_, listed) = server.call("GET", &pages, None);
        let titled = |title: &str| {
            let pages = listed["pages"].as_array().unwrap().iter();
            pages.filter(|page| word(page, "title") == title).count()
        };
        let made = titled("Made");
        assert!(made <= 1, "{chosen}: {made} pages of one draft");
        let (status, _) = server.call("GET", &format!("/api/pages/{}", self.thrown_away), None);
        let is_there = titled("Thrown away") == 1;
        assert_eq!(status == 200, is_there, "{chosen}: {status}");
        [is_changed, made == 1, !is_there]
    }

    /// The rows, the record and what is kept say the same, of each once.
    fn check(&self, server: &Server, chosen: &str) -> [bool; 3] {
        let applied = self.applied(server, chosen);
        for (id, applied) in self.drafts.iter().zip(applied) {
            let (_, row) = server.call("GET", &format!("/api/proposals/{id}"), None);
            let expected = if applied { "executed" } else { "pending" };
            assert_eq!(word(&row, "status"), expected, "{chosen}: {row}");
        }
        let recorded = |verb: &str, about: Option<&str>| {
            let (_, entries) = server.call("GET", &format!("/api/audit?verb={verb}"), None);
            let entries = entries["entries"].as_array().unwrap().clone();
            let is_about =
                |entry: &&Value| about.is_none_or(|about| word(entry, "subject") == about);
            entries.iter().filter(is_about).count()
        };
        let verbs = [
            ("page.changed", Some(self.changed.as_str())),
            ("page.deleted", Some(self.thrown_away.as_str())),
        ];
        for ((verb, about), applied) in verbs.into_iter().zip([applied[0], applied[2]]) {
            let entries = recorded(verb, about);
            assert_eq!(entries, usize::from(applied), "{chosen}: {verb}");
        }
        for id in &self.drafts {
            let executed = recorded("proposal.executed", Some(id));
            let (_, row) = server.call("GET", &format!("/api/proposals/{id}"), None);
            let expected = usize::from(word(&row, "status") == "executed");
            assert_eq!(executed, expected, "{chosen}: {row}");
        }
        applied
    }
}

/// Whether the process was killed at the point; the checks have passed if this returns.
fn killed_at(engine: Engine, point: &str, occurrence: u32) -> bool {
    let play = DraftPlay::of(engine);
    let chosen = format!("{point}#{occurrence}");
    let mut server = play.lab.serve(&[("VOID_FAILPOINT", &chosen)]);
    let (told, gone) = match server.has_ended() {
        Some(_) => (Vec::new(), true),
        None => play.approve(&server),
    };
    if gone {
        eventually_blocking("the killed server to be gone", || server.has_ended());
    }
    let killed = match server.has_ended() {
        Some(status) => {
            let log = play.lab.log();
            assert_eq!(status.signal(), Some(9), "{chosen}: {log}");
            true
        }
        None => {
            server.kill();
            false
        }
    };
    drop(server);

    let mut server = play.lab.serve(&[]);
    assert!(server.has_ended().is_none(), "{chosen}: {}", play.lab.log());
    let applied = play.check(&server, &chosen);
    for (id, applied) in play.drafts.iter().zip(applied) {
        assert!(applied || !told.contains(id), "{chosen}: {id} was told of");
        // Another yes stores what waits, and nothing a second time.
        let path = format!("/api/pending-changes/{id}/approve");
        let (status, answer) = server.call("POST", &path, None);
        assert_eq!(
            status,
            if applied { 409 } else { 200 },
            "{chosen}: {answer}"
        );
    }
    assert_eq!(play.check(&server, &chosen), [true; 3], "{chosen}");
    check_record(&play.lab, &chosen, &server.proposals());
    killed
}

/// Few of the store's own points are of a yes: whoever starts writes, too.
const OCCURRENCES_MAX: u32 = 24;

fn every_point(engine: Engine) {
    let is_of_a_yes = |point: &String| {
        let is_of_store = point.starts_with("store.") && engine == Engine::Sqlite;
        point.starts_with("draft.") || point.starts_with("decide.commit.") || is_of_store
    };
    let mut kills = 0;
    for point in points().into_iter().filter(is_of_a_yes) {
        let mut reached = 0;
        while reached < OCCURRENCES_MAX && killed_at(engine, &point, reached + 1) {
            reached += 1;
        }
        // Each of the three yeses comes by.
        assert!(reached >= 3, "{point} is reached {reached} times");
        kills += reached;
    }
    assert!(kills >= 18, "{kills}");
}

#[test]
fn killed_at_any_step_of_a_yes_a_draft_is_stored_once_or_waits_on_sqlite() {
    every_point(Engine::Sqlite);
}

#[test]
fn killed_at_any_step_of_a_yes_a_draft_is_stored_once_or_waits_on_postgres() {
    every_point(Engine::Postgres);
}
