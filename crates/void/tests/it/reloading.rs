//! `void reload`: the next process takes over without closing the door, and what is wrong in the files changes nothing.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::process::Signal;
use serde_json::{Value, json};
use void_testkit::eventually_blocking;
use void_testkit::processes::signal;

use crate::lab::{Following, Lab, OWNER, Server, call, catalogue, word};

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

fn has_reloaded(reloading: &Following) -> bool {
    let lines = reloading.lines();
    lines.iter().any(|line| line.contains("Reloaded"))
}

fn has_begun(lab: &Lab) -> bool {
    lab.log().contains("reloading: running actions may end")
}

/// The events that a stream brings until it ends or `is_last` says so, each with its number.
fn listen(
    address: SocketAddr,
    after: Option<u64>,
    is_last: impl Fn(&Value) -> bool,
) -> Vec<(u64, Value)> {
    let mut stream = TcpStream::connect(address).unwrap();
    let after = after.map_or_else(String::new, |id| format!("Last-Event-ID: {id}\r\n"));
    let request = format!(
        "GET /api/events HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {OWNER}\r\n{after}\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let (mut heard, mut id) = (Vec::new(), None);
    for line in BufReader::new(stream).lines() {
        let line = line.unwrap();
        if let Some(number) = line.strip_prefix("id: ") {
            id = number.parse().ok();
        }
        if let (Some(data), Some(id)) = (line.strip_prefix("data: "), id) {
            let data: Value = serde_json::from_str(data).unwrap();
            let ends = is_last(&data);
            heard.push((id, data));
            if ends {
                break;
            }
        }
    }
    heard
}

#[test]
fn what_is_in_the_files_takes_over_and_what_no_longer_holds_is_withdrawn() {
    let lab = Lab::with(&with_more(&[("goes", "risky")]));
    let watched = |services: &[(&str, u16)]| {
        let services: Vec<Value> = services
            .iter()
            .map(|(id, port)| json!({"id": id, "interval_s": 3600, "check": {"kind": "tcp", "address": format!("127.0.0.1:{port}")}}))
            .collect();
        let text = json!({"services": services}).to_string();
        fs::write(lab.data().join("services.json"), text).unwrap();
    };
    watched(&[("same", 9), ("moved", 9), ("gone", 9)]);
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
    watched(&[("same", 9), ("moved", 10), ("new", 9)]);
    // Looking changes nothing.
    let looked = lab.json(&["--json", "reload", "--dry-run"], 0);
    assert_eq!(looked["changes"]["appear"], json!(["comes"]), "{looked}");
    assert_eq!(looked["changes"]["go"], json!(["goes"]));
    assert_eq!(looked["changes"]["change"], json!(["critical-one"]));
    assert_eq!(looked["changes"]["withdrawn"].as_array().unwrap().len(), 2);
    assert_eq!(
        looked["changes"]["services"],
        json!({"appear": ["new"], "go": ["gone"], "change": ["moved"]})
    );
    let list = looked["changes"]["lists"]["local"].as_str();
    assert!(
        list.is_some_and(|next| next.starts_with("void ") && next.ends_with("provision local")),
        "{looked}"
    );
    assert!(ids(&server).contains(&"goes".to_owned()));

    let pid = server.pid();
    let said = lab.void(&["reload"]);
    let told = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.status.success(), "{said:?}\n{}", lab.log());
    assert!(
        told.contains("+ comes") && told.contains("- goes") && told.contains("~ critical-one"),
        "{told}"
    );
    for line in ["+ service new", "- service gone", "~ service moved"] {
        assert!(told.contains(line), "{told}");
    }
    assert!(!told.contains("service same"), "{told}");
    assert!(told.contains("Reloaded."), "{told}");
    let noted = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(noted.contains("  next: void provision local"), "{noted}");
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
    let looked = lab.json(&["--json", "reload", "--dry-run"], 0);
    for part in ["", "/services"] {
        for kind in ["appear", "go", "change"] {
            let ids = looked.pointer(&format!("/changes{part}/{kind}"));
            assert_eq!(ids, Some(&json!([])), "{looked}");
        }
    }
}

/// More waits than one page of the inbox holds.
#[test]
fn everything_that_would_be_withdrawn_is_named() {
    let names: Vec<String> = (0..130).map(|n| format!("goes-{n:03}")).collect();
    let extra: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "risky")).collect();
    let lab = Lab::with(&with_more(&extra));
    let server = lab.serve(&[]);
    for name in &names {
        ask(&server, name);
    }
    ask(&server, "risky-one");
    lab.write_catalogue(&catalogue());
    let looked = lab.json(&["--json", "reload", "--dry-run"], 0);
    let withdrawn = looked["changes"]["withdrawn"].as_array().unwrap();
    assert_eq!(withdrawn.len(), names.len(), "{looked}");
    for name in &names {
        let label = format!("Label of {name}");
        let named = |one: &&Value| one.as_str().unwrap().ends_with(&label);
        assert_eq!(withdrawn.iter().filter(named).count(), 1, "{name}");
    }
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
                let answer = call(address, "GET", "/api/status", OWNER, None);
                if answer.is_none_or(|(status, _)| status != 200) {
                    refused.fetch_add(1, Ordering::SeqCst);
                }
            }
        })
    };
    let knocked = |times: usize| {
        eventually_blocking("knocks", || {
            (tried.load(Ordering::SeqCst) >= times).then_some(())
        });
    };
    knocked(3);
    let reloading = lab.start(&["reload"]);
    // It waits for what runs.
    eventually_blocking("it begins", || has_begun(&lab).then_some(()));
    assert_eq!(word(&row(&server, &slow), "status"), "running");
    assert!(!has_reloaded(&reloading));
    fs::write(lab.path("go"), "").unwrap();
    eventually_blocking("it has reloaded", || has_reloaded(&reloading).then_some(()));
    knocked(tried.load(Ordering::SeqCst) + 3);
    stop.store(true, Ordering::SeqCst);
    knocking.join().unwrap();
    assert_eq!(refused.load(Ordering::SeqCst), 0, "of {tried:?}");
    assert_eq!(word(&row(&server, &slow), "status"), "executed");
    assert_eq!(lab.effects(), ["slow-one"]);
    // And again, from the next one.
    assert!(lab.void(&["reload"]).status.success(), "{}", lab.log());
}

/// What the old process was asked it answers, and a stream goes on in the next one where it ended.
#[test]
fn open_requests_are_answered_and_streams_go_on_without_a_gap() {
    let lab = Lab::with(&with_more(&[("slow-one", "safe")]));
    let server = lab.serve(&[]);
    let address = lab.address;
    let first = ask(&server, "risky-one");
    let before = thread::spawn(move || listen(address, Some(0), |_| false));
    let waiting = thread::spawn(move || {
        let path = "/api/actions/slow-one/run?wait=60";
        call(address, "POST", path, OWNER, Some(&json!({})))
    });
    let slow = eventually_blocking("it runs", || {
        let rows = server.proposals();
        let running = rows.iter().find(|row| word(row, "status") == "running");
        running.map(|row| word(row, "id").to_owned())
    });
    let reloading = lab.start(&["reload"]);
    eventually_blocking("it begins", || has_begun(&lab).then_some(()));
    fs::write(lab.path("go"), "").unwrap();
    let (status, answer) = waiting.join().unwrap().expect("an answer");
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["action_row_id"], json!(slow), "{answer}");
    assert_eq!(answer["executed"], json!(true), "{answer}");
    let mut heard = before.join().unwrap();
    assert!(heard.iter().any(|(_, data)| word(data, "id") == first));
    eventually_blocking("it has reloaded", || has_reloaded(&reloading).then_some(()));
    let second = ask(&server, "critical-one");
    let is_second = |data: &Value| word(data, "id") == second;
    heard.extend(listen(address, heard.last().map(|(id, _)| *id), is_second));
    // The same as for somebody who listens from the beginning only now.
    assert_eq!(heard, listen(address, Some(0), is_second));
    assert!(heard.windows(2).all(|pair| pair[0].0 < pair[1].0));
}

/// A running action has half a minute; then the next process waits for it, and starts it no second time.
#[test]
fn what_runs_on_is_settled_by_the_next_process() {
    let lab = Lab::with(&with_more(&[("slow-one", "safe")]));
    let server = lab.serve(&[]);
    let slow = ask(&server, "slow-one");
    eventually_blocking("it runs", || {
        (word(&row(&server, &slow), "status") == "running").then_some(())
    });
    let reloading = lab.start(&["reload"]);
    eventually_blocking("it has reloaded", || has_reloaded(&reloading).then_some(()));
    assert_eq!(word(&row(&server, &slow), "status"), "running");
    assert_eq!(lab.effects(), Vec::<String>::new());
    fs::write(lab.path("go"), "").unwrap();
    eventually_blocking("it is settled", || {
        (word(&row(&server, &slow), "status") == "executed").then_some(())
    });
    assert_eq!(lab.effects(), ["slow-one"]);
}

/// Both signals are heard, in whatever the server is busy with.
#[test]
fn told_to_stop_while_it_reads_the_files_it_stops() {
    let lab = Lab::new();
    let mut server = lab.serve(&[]);
    let path = lab.data().join("void.toml");
    let settings = fs::read_to_string(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    signal(server.pid(), Signal::HUP);
    // A pipe that nobody reads from cannot be opened for writing.
    let mut pipe = eventually_blocking("it reads its settings", || {
        let mut options = fs::OpenOptions::new();
        let options = options
            .write(true)
            .custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        options.open(&path).ok()
    });
    signal(server.pid(), Signal::TERM);
    pipe.write_all(settings.as_bytes()).unwrap();
    drop(pipe);
    let ended = eventually_blocking("it ends", || server.has_ended());
    assert!(ended.success(), "{}", lab.log());
}

#[test]
fn what_is_wrong_in_the_files_changes_nothing() {
    let lab = Lab::new();
    let mut server = lab.serve(&[]);
    let before = ids(&server);
    let waiting = ask(&server, "risky-one");
    let refusals = || lab.log().matches("not reloaded").count();
    for (file, text) in [
        ("actions.json", "{\"actions\": [{}]}"),
        ("data/void.toml", "listn = 1"),
    ] {
        let good = fs::read_to_string(lab.path(file)).unwrap();
        fs::write(lab.path(file), text).unwrap();
        let said = lab.void(&["reload"]);
        assert!(!said.status.success(), "{said:?}");
        // Whoever sends the signal by hand is told in the log.
        let already = refusals();
        signal(server.pid(), Signal::HUP);
        eventually_blocking("it says why", || (refusals() == already + 1).then_some(()));
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
