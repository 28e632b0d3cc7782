//! Clocks that jump (I10), under the real server with libfaketime: nothing comes back to life, lasts
//! longer, or runs early, and the server's own time never goes back.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use void_domain::time::Timestamp;

use crate::lab::{Lab, Server, word};

const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";
const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

/// How the wall clock is set, as libfaketime reads it.
const JUMPS: [(&str, &str, i64); 10] = [
    ("a second ahead", "+1", 1),
    ("a second back", "-1", -1),
    ("an hour ahead", "+3600", HOUR),
    ("an hour back", "-3600", -HOUR),
    ("30 days ahead", "+2592000", 30 * DAY),
    ("30 days back", "-2592000", -30 * DAY),
    ("the epoch", "@1970-01-01 00:00:10", -1_000 * DAY),
    ("past 2038", "@2038-01-19 03:14:10", 1_000 * DAY),
    ("stuck", "2026-01-01 00:00:00", -100 * DAY),
    ("ten times too fast", "+0 x10", 0),
];

/// A lab whose risky action expires after a minute, with a clock that a file sets.
struct Jumping {
    lab: Lab,
}

impl Jumping {
    fn new() -> Self {
        assert!(
            Path::new(LIBRARY).exists(),
            "libfaketime is installed (scripts/test does that)"
        );
        let mut catalogue = crate::lab::catalogue();
        catalogue["actions"][2]["expires_s"] = json!(60);
        let lab = Lab::with(&catalogue);
        let jumping = Self { lab };
        jumping.set("+0");
        jumping
    }

    fn set(&self, clock: &str) {
        // Whole or not at all: the server may be reading it.
        fs::write(self.lab.path("clock.partial"), format!("{clock}\n")).unwrap();
        fs::rename(self.lab.path("clock.partial"), self.lab.path("clock")).unwrap();
    }

    fn serve(&self) -> Server {
        let file = self.lab.path("clock");
        self.lab.serve(&[
            ("LD_PRELOAD", LIBRARY),
            ("FAKETIME_TIMESTAMP_FILE", file.to_str().unwrap()),
            ("FAKETIME_NO_CACHE", "1"),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ])
    }
}

fn now(server: &Server) -> Timestamp {
    let (_, status) = server.call("GET", "/api/status", None);
    Timestamp::parse_rfc3339(word(&status, "at")).unwrap()
}

fn queue(server: &Server) -> String {
    let (_, queued) = server.call("POST", "/api/actions/risky-one/run", None);
    word(&queued, "action_row_id").to_owned()
}

fn approve(server: &Server, id: &str) -> (u16, Value) {
    server.call("POST", &format!("/api/actions/pending/{id}/approve"), None)
}

#[test]
fn a_jump_between_asking_and_deciding_revives_nothing() {
    for (name, clock, seconds) in JUMPS {
        let jumping = Jumping::new();
        let server = jumping.serve();
        let id = queue(&server);
        let before = now(&server);
        jumping.set(clock);
        let after = now(&server);
        assert!(
            after >= before,
            "{name}: time went back from {before} to {after}"
        );
        if seconds > 60 {
            let (status, answer) = approve(&server, &id);
            assert_eq!(
                (status, answer["error"]["code"].as_str()),
                (409, Some("expired")),
                "{name}: {answer}"
            );
            // Setting it right again does not bring it back.
            jumping.set("+0");
            let (status, answer) = approve(&server, &id);
            assert_eq!(
                (status, answer["error"]["code"].as_str()),
                (409, Some("expired")),
                "{name}: {answer}"
            );
            assert_eq!(jumping.lab.effects(), Vec::<String>::new(), "{name}");
        } else {
            let (status, answer) = approve(&server, &id);
            assert_eq!(
                (status, word(&answer, "status")),
                (200, "executed"),
                "{name}: {answer}"
            );
            assert_eq!(jumping.lab.effects(), ["risky-one"], "{name}");
            let (status, _) = approve(&server, &id);
            assert_eq!(status, 409, "{name}");
        }
        assert!(now(&server) >= after, "{name}");
    }
}

#[test]
fn a_jump_over_a_restart_revives_nothing_and_keeps_time_going_forward() {
    for (name, clock, seconds) in JUMPS {
        let jumping = Jumping::new();
        let mut server = jumping.serve();
        let id = queue(&server);
        let before = now(&server);
        server.kill();
        drop(server);
        jumping.set(clock);
        let server = jumping.serve();
        // The record knows how late it already was, to the last entry.
        let after = now(&server);
        assert!(
            after.plus(std::time::Duration::from_secs(2)) >= before,
            "{name}: {before}, then {after}"
        );
        let (status, answer) = approve(&server, &id);
        match seconds > 60 {
            true => assert_eq!(
                (status, answer["error"]["code"].as_str()),
                (409, Some("expired")),
                "{name}: {answer}"
            ),
            false => assert_eq!(
                (status, word(&answer, "status")),
                (200, "executed"),
                "{name}: {answer}"
            ),
        }
        assert_eq!(
            jumping.lab.effects().len(),
            usize::from(seconds <= 60),
            "{name}"
        );
        assert_eq!(
            jumping.lab.json(&["audit", "verify"], 0)["intact"],
            json!(true),
            "{name}"
        );
    }
}

impl Jumping {
    /// On the database of this address.
    fn on(database_url: Option<String>) -> Self {
        let mut jumping = Self::new();
        jumping.lab.database_url = database_url;
        jumping
    }

    fn clock_finding(&self) -> Value {
        let report = self.lab.void(&["doctor", "--json"]);
        let report: Value = serde_json::from_slice(&report.stdout).unwrap();
        let findings = report["findings"].as_array().unwrap().iter();
        let mut found = findings.filter(|one| word(one, "check") == "clock");
        found.next().unwrap().clone()
    }
}

fn ahead_s(server: &Server) -> Option<i64> {
    server.call("GET", "/api/status", None).1["clock_ahead_s"].as_i64()
}

fn accepted(lab: &Lab) -> Vec<Value> {
    let listed = lab.json(&["audit", "ls", "--limit", "200"], 0);
    let entries = listed["entries"].as_array().unwrap().iter();
    entries
        .filter(|entry| word(entry, "verb") == "clock.accepted")
        .cloned()
        .collect()
}

/// Two days ahead before a start (more, and retention would have dropped what waited): the start does not take it for the truth, says so, and the owner alone ends it.
#[test]
fn a_start_during_a_jump_is_in_doubt_until_the_owner_accepts_the_clock() {
    const JUMP: i64 = 2 * DAY;
    for database in [None, Some(void_testkit::postgres_database())] {
        let jumping = Jumping::on(database);
        let lab = &jumping.lab;
        let mut server = jumping.serve();
        assert_eq!(ahead_s(&server), None);
        let before = now(&server);
        queue(&server);
        assert!(server.terminate().success());
        jumping.set(&format!("+{JUMP}"));
        let mut server = jumping.serve();
        // A database on this machine has this machine's clock, and is no second witness.
        let ahead = ahead_s(&server).unwrap();
        assert!((JUMP - 60..=JUMP + 60).contains(&ahead), "{ahead}");
        assert!(now(&server).since(before) < std::time::Duration::from_secs(600));
        let status = String::from_utf8(lab.void(&["status"]).stdout).unwrap();
        let told = status.lines().find(|line| line.starts_with("Clock"));
        let told = told.unwrap_or_else(|| panic!("{status}"));
        assert!(
            told.contains("ahead of") && told.contains("void clock accept"),
            "{told}"
        );
        let finding = jumping.clock_finding();
        assert_eq!(word(&finding, "level"), "problem", "{finding}");
        assert!(word(&finding, "message").contains("in doubt"), "{finding}");
        assert!(
            word(&finding, "next").contains("void clock accept"),
            "{finding}"
        );
        // Nobody accepts it over the wire.
        for path in ["/api/clock", "/api/clock/accept"] {
            assert!(server.call("POST", path, None).0 >= 400, "{path}");
        }
        let waiting = queue(&server);
        assert!(server.terminate().success());
        // A restart is no acceptance.
        let mut server = jumping.serve();
        assert!(ahead_s(&server).is_some());
        assert_eq!(accepted(lab), Vec::<Value>::new());
        assert_eq!(lab.json(&["clock", "accept"], 0)["accepted"], json!(true));
        assert!(ahead_s(&server).is_some(), "not before the next start");
        assert!(server.terminate().success());
        let mut server = jumping.serve();
        assert_eq!(ahead_s(&server), None);
        assert!(now(&server).since(before) > std::time::Duration::from_secs(24 * 3_600));
        let entries = accepted(lab);
        assert_eq!(entries.len(), 1, "{entries:?}");
        assert_eq!(word(&entries[0], "actor"), "system");
        let (found, row) = server.call("GET", &format!("/api/proposals/{waiting}"), None);
        // By the accepted time it ended years ago, so it may be forgotten already.
        assert!(
            found == 404 || matches!(word(&row, "status"), "cancelled" | "expired"),
            "what waited is void: {row}"
        );
        assert!([404, 409].contains(&approve(&server, &waiting).0));
        // The way back: the clock was wrong after all.
        assert!(server.terminate().success());
        jumping.set("+0");
        let mut server = jumping.serve();
        let behind = ahead_s(&server).unwrap();
        assert!(behind < -JUMP + 600, "{behind}");
        let waiting = queue(&server);
        lab.json(&["clock", "accept"], 0);
        assert!(server.terminate().success());
        let mut server = jumping.serve();
        assert_eq!(ahead_s(&server), None);
        let (_, row) = server.call("GET", &format!("/api/proposals/{waiting}"), None);
        assert_eq!(word(&row, "status"), "cancelled", "{row}");
        assert_eq!(accepted(lab).len(), 2);
        assert_eq!(lab.json(&["audit", "verify"], 0)["intact"], json!(true));
        // Said when there is no doubt, it does not lie in wait for one.
        lab.json(&["clock", "accept"], 0);
        assert!(server.terminate().success());
        let mut server = jumping.serve();
        assert!(!lab.data().join("clock.accept").exists());
        assert!(server.terminate().success());
        jumping.set(&format!("+{JUMP}"));
        let server = jumping.serve();
        assert!(ahead_s(&server).is_some());
        assert_eq!(accepted(lab).len(), 2);
        assert_eq!(lab.effects(), Vec::<String>::new());
    }
}

/// Under a running server: in doubt as long as it lasts, however long, and forgotten when it is over.
#[test]
fn a_jump_under_a_running_server_is_told_and_forgotten() {
    let jumping = Jumping::new();
    let server = jumping.serve();
    assert_eq!(word(&jumping.clock_finding(), "level"), "ok");
    jumping.set("+2592000");
    assert!((ahead_s(&server).unwrap() - 30 * DAY).abs() < 60);
    let finding = jumping.clock_finding();
    assert_eq!(word(&finding, "level"), "problem", "{finding}");
    // Within a correction nothing is said.
    jumping.set("+240");
    assert_eq!(ahead_s(&server), None);
    jumping.set("+0");
    assert_eq!(ahead_s(&server), None);
}

/// Ten years ahead, accepted, and then the other way round: what the wrong clock gave out opens nothing, holds nothing
/// back and stops nothing that happens every day.
#[test]
fn what_a_wrong_clock_gave_out_ends_when_the_right_one_is_accepted() {
    const YEARS: i64 = 3_650 * DAY;
    for database in [None, Some(void_testkit::postgres_database())] {
        let is_sqlite = database.is_none();
        let mut jumping = Jumping::on(database);
        let mut catalogue = crate::lab::catalogue();
        catalogue["actions"][0]["cooldown_s"] = json!(3_600);
        jumping.lab.write_catalogue(&catalogue);
        let settings = jumping.lab.data().join("void.toml");
        let text = fs::read_to_string(&settings).unwrap();
        fs::write(
            &settings,
            text.replace(
                "[backups]\nenabled = false\n",
                "[backups]\nenabled = true\n",
            ),
        )
        .unwrap();
        // The first start, and with it the first copy, is years ahead.
        jumping.set(&format!("+{YEARS}"));
        let mut server = jumping.serve();
        let opened = json!({"token": crate::lab::OWNER});
        assert_eq!(server.call("POST", "/api/session", Some(&opened)).0, 200);
        let (_, link) = server.call("POST", "/api/setup-links", None);
        let code = word(&link, "url")
            .split_once("/#/setup/")
            .unwrap()
            .1
            .to_owned();
        let invited = json!({"name": "n1"});
        assert_eq!(server.call("POST", "/api/nodes", Some(&invited)).0, 200);
        let run = |server: &Server| server.call("POST", "/api/actions/safe-one/run", None);
        // Whatever its host thinks of such a ticket, it was started.
        run(&server);
        assert_eq!(word(&run(&server).1["error"], "code"), "cooling_down");
        assert!(server.terminate().success());

        jumping.set("+0");
        let mut server = jumping.serve();
        assert!(ahead_s(&server).unwrap() < -YEARS + 600);
        jumping.lab.json(&["clock", "accept"], 0);
        assert!(server.terminate().success());
        let server = jumping.serve();
        assert_eq!(ahead_s(&server), None);
        let (_, sessions) = server.call("GET", "/api/sessions", None);
        assert_eq!(sessions["sessions"], json!([]), "{sessions}");
        let followed = json!({"setup": code});
        assert_eq!(server.call("POST", "/api/session", Some(&followed)).0, 401);
        let (_, nodes) = server.call("GET", "/api/nodes", None);
        assert_eq!(nodes["nodes"], json!([]), "{nodes}");
        let (status, ran) = run(&server);
        assert_eq!((status, &ran["executed"]), (200, &json!(true)), "{ran}");
        assert_eq!(word(&run(&server).1["error"], "code"), "cooling_down");
        if is_sqlite {
            let this_year = now(&server).to_string().get(..4).unwrap().to_owned();
            void_testkit::eventually_blocking("a copy of today", || {
                let copies = jumping.lab.json(&["backup", "ls"], 0);
                copies.to_string().contains(&this_year).then_some(())
            });
        }
        jumping.lab.database_url = None;
    }
}
