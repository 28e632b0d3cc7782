//! The same for the file bridge: killed at every step of a move, of an offer, of a claim. Afterwards every
//! proposal has exactly one file, where the record says, and nothing was executed twice by anybody.

use std::fs;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use void_testkit::{eventually_blocking, postgres_database};

use super::{Engine, check_record, points};
use crate::bridge::folder::{Bridge, PLACES};
use crate::lab::{Server, word};

/// Somebody else's executor: it outlives every crash of the server, and each of its effects is a line.
fn executor(bridge: &Bridge, stop: &AtomicBool) {
    while !stop.load(Ordering::SeqCst) {
        let offers = fs::read_dir(bridge.dir().join("approved"));
        for offer in offers.into_iter().flatten().flatten() {
            let name = offer.file_name();
            let status = fs::read(offer.path())
                .ok()
                .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
            // As the documents ask of executors: only what says that it is approved.
            if status.is_none_or(|file| word(&file, "status") != "approved") {
                continue;
            }
            let running = bridge.dir().join("running").join(&name);
            if fs::rename(offer.path(), &running).is_err() {
                continue;
            }
            let mut effects = fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(bridge.lab.path("effects"))
                .unwrap();
            effects.write_all(b"deploy-db\n").unwrap();
            let _ = fs::rename(&running, bridge.dir().join("completed").join(&name));
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Waits for something in the folder. `false`: the server is gone.
fn comes(server: &Server, what: &str, is_there: impl Fn() -> bool) -> bool {
    eventually_blocking(what, || {
        if is_there() {
            return Some(true);
        }
        server
            .try_call("GET", "/readyz", None)
            .is_none()
            .then_some(false)
    })
}

fn queue(server: &Server, action: &str) -> Option<String> {
    let path = format!("/api/actions/{action}/run");
    let (_, queued) = server.try_call("POST", &path, None)?;
    Some(word(&queued, "action_row_id").to_owned())
}

/// Everything that the bridge does, once. `None` as soon as the server is gone.
fn play(bridge: &Bridge, server: &Server) -> Option<()> {
    let is_in = |place: &str, id: &str| bridge.path(place, id).exists();
    let offered = queue(server, "deploy-db")?;
    let path = format!("/api/actions/pending/{offered}/approve?wait=0");
    server.try_call("POST", &path, None)?;
    comes(server, "the offer", || is_in("approved", &offered)).then_some(())?;
    server.try_call("POST", "/api/freeze", None)?;
    comes(server, "the withdrawal", || is_in("pending", &offered)).then_some(())?;
    server.try_call("DELETE", "/api/freeze", None)?;
    comes(server, "the second offer", || is_in("approved", &offered)).then_some(())?;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let stop = &stop;
        scope.spawn(move || executor(bridge, stop));
        let finished = (|| {
            let executed = || {
                let path = format!("/api/proposals/{offered}");
                let row = server.try_call("GET", &path, None);
                row.is_some_and(|(_, row)| row["status"] == "executed")
            };
            comes(server, "the report", executed).then_some(())?;
            let moved = queue(server, "risky-one")?;
            comes(server, "the mirror", || is_in("pending", &moved)).then_some(())?;
            let _ = fs::rename(
                bridge.path("pending", &moved),
                bridge.path("approved", &moved),
            );
            comes(server, "the decision", || is_in("completed", &moved)).then_some(())?;
            bridge.drop_file(&Bridge::wish(
                "dropped",
                "restart_service",
                "local",
                "safe-one",
            ));
            bridge.drop_file(&Bridge::wish(
                "nowhere",
                "restart_service",
                "local",
                "nothing",
            ));
            let aside = || bridge.dir().join("invalid/nowhere.json").exists();
            comes(server, "the refusal", aside).then_some(())?;
            let taken_in = || {
                server
                    .try_call("GET", "/api/inbox", None)
                    .is_some_and(|(_, inbox)| !inbox["items"].as_array().is_none_or(Vec::is_empty))
            };
            comes(server, "the proposal", taken_in).then_some(())
        })();
        stop.store(true, Ordering::SeqCst);
        finished
    })
}

fn killed_at(engine: Engine, point: &str, occurrence: u32) -> bool {
    let mut bridge = Bridge::with_decisions();
    if engine == Engine::Postgres {
        bridge.lab.database_url = Some(postgres_database());
        let settings = bridge.lab.data().join("void.toml");
        let text = fs::read_to_string(&settings).unwrap();
        let text = format!("{text}[limits]\nlease_s = 1\nverify_within_s = 1\n");
        fs::write(&settings, text).unwrap();
    }
    let chosen = format!("{point}#{occurrence}");
    let mut server = bridge.lab.serve(&[("VOID_FAILPOINT", &chosen)]);
    let stop = AtomicBool::new(false);
    let ended = server.has_ended().is_some() || play(&bridge, &server).is_none();
    // What is waited for may be there a moment before the kill.
    for _ in 0..30 {
        if ended || server.has_ended().is_some() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    if ended {
        eventually_blocking("the killed server to be gone", || server.has_ended());
    }
    let killed = match server.has_ended() {
        Some(status) => {
            assert_eq!(status.signal(), Some(9), "{chosen}: {}", bridge.lab.log());
            true
        }
        None => {
            server.kill();
            false
        }
    };
    drop(server);
    std::thread::scope(|scope| {
        let (bridge, stop) = (&bridge, &stop);
        let working = scope.spawn(move || executor(bridge, stop));
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            check_after_restart(bridge, &chosen);
        }));
        stop.store(true, Ordering::SeqCst);
        working.join().unwrap();
        if let Err(panic) = checked {
            std::panic::resume_unwind(panic);
        }
    });
    killed
}

fn check_after_restart(bridge: &Bridge, chosen: &str) {
    let server = bridge.serve();
    server.call("DELETE", "/api/freeze", None);
    // What was moved or dropped while the server was away is seen first.
    bridge.settle(&server);
    let rows = eventually_blocking("every row to come to rest", || {
        let rows = server.proposals();
        let moving = rows.iter().any(|row| {
            matches!(word(row, "status"), "running" | "approved")
                || (word(row, "status") == "executed" && row["verification"].is_null())
        });
        (!moving).then_some(rows)
    });
    let effects = bridge.lab.effects();
    for action in ["deploy-db", "risky-one", "safe-one"] {
        let happened = effects.iter().filter(|effect| *effect == action).count();
        let of_action: Vec<&Value> = rows
            .iter()
            .filter(|row| word(row, "action_id") == action)
            .collect();
        assert!(of_action.len() <= 1, "{chosen}: {of_action:#?}");
        let status = of_action.first().map_or("none", |row| word(row, "status"));
        let truthful = match status {
            "executed" => happened == 1,
            // Cut off before it began: the host's journal says so.
            "failed" | "pending" | "none" => happened == 0,
            _ => false,
        };
        assert!(
            truthful,
            "{chosen}: {action} is {status} and happened {happened} times: {of_action:#?}"
        );
    }
    for row in &rows {
        let expected = match word(row, "status") {
            "executed" => "completed",
            "failed" => "failed",
            _ => "pending",
        };
        let instance = match row["requested_by"]["name"].as_str() {
            Some("file") => "dropped",
            _ => word(row, "id"),
        };
        eventually_blocking(&format!("{chosen}: {instance} in {expected} alone"), || {
            let places = PLACES
                .into_iter()
                .filter(|place| bridge.path(place, instance).exists());
            let whole = || {
                bridge.read(expected, instance)?["void"]
                    .as_object()
                    .map(|_| ())
            };
            (places.collect::<Vec<_>>() == [expected])
                .then(whole)
                .flatten()
        });
    }
    eventually_blocking(&format!("{chosen}: nothing left in Void's hands"), || {
        let held = fs::read_dir(bridge.dir().join(".void")).unwrap().flatten();
        let mut left = held.filter(|entry| {
            let name = entry.file_name();
            name != "lock" && name != "cursor"
        });
        left.next().is_none().then_some(())
    });
    let set_aside: Vec<String> = fs::read_dir(bridge.dir().join("invalid"))
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let expected = |name: &String| name.starts_with("nowhere.json");
    assert!(set_aside.iter().all(expected), "{chosen}: {set_aside:?}");
    check_record(&bridge.lab, chosen, &rows);
}

fn every_point(engine: Engine, suffix: &str, occurrences_max: u32) {
    let of_bridge = |point: &String| point.starts_with("bridge.") && point.ends_with(suffix);
    let points: Vec<String> = points().into_iter().filter(of_bridge).collect();
    assert!(points.len() >= 10, "{points:?}");
    for point in points {
        assert!(killed_at(engine, &point, 1), "{point} is never reached");
        for occurrence in 2..=occurrences_max {
            if !killed_at(engine, &point, occurrence) {
                break;
            }
        }
    }
}

#[test]
fn killed_before_any_step_of_a_move_nothing_is_lost_or_doubled() {
    every_point(Engine::Sqlite, ".before", 24);
}

#[test]
fn killed_after_any_step_of_a_move_nothing_is_lost_or_doubled() {
    every_point(Engine::Sqlite, ".after", 24);
}

#[test]
fn killed_at_any_step_of_a_move_on_postgres_nothing_is_lost_or_doubled() {
    every_point(Engine::Postgres, "", 1);
}
