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
