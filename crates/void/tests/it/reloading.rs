//! `void reload`: the next process takes over without closing the door, and what is wrong in the files changes nothing.

use std::fs;
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use void_testkit::eventually_blocking;

use crate::lab::{Lab, Server, catalogue, word};

fn with_more(extra: &[(&str, &str)]) -> Value {
    let mut written = catalogue();
    for (id, tier) in extra {
        let action = json!({"id": id, "label": format!("Label of {id}"), "kind": "service_restart", "host": "local", "service": id, "tier": tier, "cooldown_s": 0});
        written["actions"].as_array_mut().unwrap().push(action);
    }
    written
}

fn ids(server: &Server) -> Vec<String> {
    let (status, all) = server.call("GET", "/api/actions", None);
    assert_eq!(status, 200, "{all}");
    let actions = all["actions"].as_array().unwrap().iter();
    actions
        .map(|action| word(action, "id").to_owned())
        .collect()
}

fn row(server: &Server, id: &str) -> Value {
    server.call("GET", &format!("/api/proposals/{id}"), None).1
}

fn ask(server: &Server, action: &str) -> String {
    let (_, asked) = server.call(
        "POST",
        &format!("/api/actions/{action}/run?wait=0"),
        Some(&json!({})),
    );
    asked["action_row_id"]
        .as_str()
        .unwrap_or_else(|| panic!("{asked}"))
        .to_owned()
}

#[test]
fn what_is_in_the_files_takes_over_and_what_no_longer_holds_is_withdrawn() {
    let lab = Lab::with(&with_more(&[("goes", "risky")]));
    let server = lab.serve(&[]);
    let (kept, gone, changed) = (
        ask(&server, "risky-one"),
        ask(&server, "goes"),
        ask(&server, "critical-one"),
    );
    let mut next = with_more(&[("comes", "safe")]);
    for action in next["actions"].as_array_mut().unwrap() {
        if action["id"] == json!("critical-one") {
            action["timeout_s"] = json!(33);
        }
    }
    lab.write_catalogue(&next);
    // Looking changes nothing.
    let looked = lab.json(&["--json", "reload", "--dry-run"], 0);
    assert_eq!(looked["changes"]["appear"], json!(["comes"]), "{looked}");
    assert_eq!(looked["changes"]["go"], json!(["goes"]));
    assert_eq!(looked["changes"]["change"], json!(["critical-one"]));
    assert_eq!(looked["changes"]["withdrawn"].as_array().unwrap().len(), 2);
    assert!(ids(&server).contains(&"goes".to_owned()));

    let pid = server.pid();
    let said = lab.void(&["reload"]);
    let told = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.status.success(), "{said:?}\n{}", lab.log());
    assert!(
        told.contains("+ comes") && told.contains("- goes") && told.contains("~ critical-one"),
        "{told}"
    );
    assert!(told.contains("Reloaded."), "{told}");
    assert_eq!(
        server.pid(),
        pid,
        "the process is the same, for whoever watches it"
    );
    let now = ids(&server);
    assert!(
        now.contains(&"comes".to_owned()) && !now.contains(&"goes".to_owned()),
        "{now:?}"
    );
    assert_eq!(word(&row(&server, &kept), "status"), "pending");
    for over in [&gone, &changed] {
        eventually_blocking("it is withdrawn", || {
            (word(&row(&server, over), "status") == "cancelled").then_some(())
        });
    }
    let verified = lab.json(&["--json", "audit", "verify"], 0);
    assert_eq!(verified["intact"], json!(true), "{verified}");
}

/// Nobody is turned away while one process follows the other, and what runs ends first.
#[test]
fn the_door_stays_open_and_a_running_action_ends_first() {
    let lab = Lab::with(&with_more(&[("slow-one", "safe")]));
    let server = lab.serve(&[]);
    let slow = ask(&server, "slow-one");
    eventually_blocking("it runs", || {
        (word(&row(&server, &slow), "status") == "running").then_some(())
    });
    let (stop, refused, tried) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicUsize::new(0)),
    );
    let knocking = {
        let (stop, refused, tried, address) = (
            Arc::clone(&stop),
            Arc::clone(&refused),
            Arc::clone(&tried),
            lab.address,
        );
        thread::spawn(move || {
            while !stop.load(Ordering::SeqCst) {
                tried.fetch_add(1, Ordering::SeqCst);
                if TcpStream::connect_timeout(&address, Duration::from_secs(30)).is_err() {
                    refused.fetch_add(1, Ordering::SeqCst);
                }
                thread::sleep(Duration::from_millis(2));
            }
        })
    };
    let reloading = lab.start(&["reload"]);
    // It waits for what runs.
    thread::sleep(Duration::from_millis(700));
    assert!(
        !reloading
            .lines()
            .iter()
            .any(|line| line.contains("Reloaded"))
    );
    fs::write(lab.path("go"), "").unwrap();
    eventually_blocking("it has reloaded", || {
        reloading
            .lines()
            .iter()
            .any(|line| line.contains("Reloaded"))
            .then_some(())
    });
    stop.store(true, Ordering::SeqCst);
    knocking.join().unwrap();
    assert!(tried.load(Ordering::SeqCst) > 50);
    assert_eq!(refused.load(Ordering::SeqCst), 0, "of {tried:?}");
    assert_eq!(word(&row(&server, &slow), "status"), "executed");
    assert_eq!(lab.effects(), ["slow-one"]);
    // And again, from the next one.
    assert!(lab.void(&["reload"]).status.success(), "{}", lab.log());
}

#[test]
fn what_is_wrong_in_the_files_changes_nothing() {
    let lab = Lab::new();
    let mut server = lab.serve(&[]);
    let before = ids(&server);
    let waiting = ask(&server, "risky-one");
    let hang_up = |pid: u32| {
        let sent = Command::new("kill")
            .args(["-HUP", &pid.to_string()])
            .status();
        assert!(sent.unwrap().success());
    };
    for (file, text) in [
        ("actions.json", "{\"actions\": [{}]}"),
        ("data/void.toml", "listn = 1"),
    ] {
        let good = fs::read_to_string(lab.path(file)).unwrap();
        fs::write(lab.path(file), text).unwrap();
        let said = lab.void(&["reload"]);
        assert!(!said.status.success(), "{said:?}");
        // Whoever sends the signal by hand is told in the log.
        hang_up(server.pid());
        eventually_blocking("it says why", || {
            lab.log().contains("not reloaded").then_some(())
        });
        fs::write(lab.path(file), good).unwrap();
        assert!(server.has_ended().is_none());
        assert_eq!(ids(&server), before);
        assert_eq!(word(&row(&server, &waiting), "status"), "pending");
    }
    assert!(server.terminate().success(), "it stops as ever");
    let said = lab.void(&["reload"]);
    assert_eq!(said.status.code(), Some(1), "{said:?}");
    assert!(
        String::from_utf8_lossy(&said.stderr).contains("no Void runs"),
        "{said:?}"
    );
}
