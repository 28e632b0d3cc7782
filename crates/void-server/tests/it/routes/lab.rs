//! `/api/lab`

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use void_channels::ProxmoxConfig;
use void_rehearsal::proxmox::{Fault, Reach};
use void_testkit::eventually;

use crate::apps::{App, Setup};
use crate::masks::masked;
use crate::pve::{self, Pve};

async fn app_with(proxmox: ProxmoxConfig) -> App {
    let setup = Setup {
        proxmox: Some(proxmox),
        ..Setup::default()
    };
    let app = setup.start().await;
    for secret in [pve::SECRET, pve::BLIND_SECRET] {
        app.secrets.add(secret);
    }
    app
}

#[tokio::test(flavor = "multi_thread")]
async fn without_proxmox_there_is_nothing_to_see_and_nothing_wrong() {
    let app = App::start().await;
    let lab = app.owner().get("/api/lab").await.ok();
    assert_eq!(
        lab,
        json!({"connected": false, "nodes": [], "read_at": null, "problem": null})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_and_guests_are_shown_as_proxmox_shows_them() {
    let pve = Pve::start();
    pve.server.set_lock(107, Some("backup"));
    pve.server.set_reach("y", Reach::Offline);
    let app = app_with(pve.config()).await;
    let viewer = app.holder("viewer", "eve", &[]).await.caller;
    let mut lab = viewer.get("/api/lab").await.ok();
    for node in lab["nodes"].as_array_mut().unwrap() {
        assert!(node["uptime_s"].take().is_u64());
        let is_online = node["status"] == "online";
        is_full_load(&node["load"].take(), is_online, is_online);
        for guest in node["guests"].as_array_mut().unwrap() {
            assert!(guest["uptime_s"].take().is_u64());
            let runs = guest["status"] == "running";
            is_full_load(&guest["load"].take(), runs, runs && guest["kind"] == "lxc");
        }
    }
    let guest = |vmid: u32, kind: &str, name: &str, status: &str, lock: Value| json!({"vmid": vmid, "kind": kind, "name": name, "status": status, "uptime_s": null, "lock": lock, "load": null, "stopped": null});
    // Of a guest on a node that is away Proxmox says no more than that.
    let nodes = json!([
        {"name": "y", "status": "offline", "uptime_s": null, "load": null, "guests": [guest(104, "qemu", "", "unknown", Value::Null)]},
        {"name": "z", "status": "online", "uptime_s": null, "load": null, "guests": [
            guest(107, "lxc", "iventoy", "running", json!("backup")), guest(108, "lxc", "spare", "stopped", Value::Null)]},
    ]);
    assert_eq!(
        masked(&lab),
        json!({"connected": true, "nodes": nodes, "read_at": "<time>", "problem": null})
    );
}

/// What something uses is told only of what runs, and only as far as Proxmox knows; never as a zero.
fn is_full_load(load: &Value, runs: bool, knows_disk: bool) {
    for name in ["cpu_permille", "memory_bytes"] {
        assert_eq!(load[name].is_u64(), runs, "{name}: {load}");
    }
    if knows_disk {
        let (used, max) = (load["disk_bytes"].as_u64(), load["disk_bytes_max"].as_u64());
        assert!(used > Some(0) && used < max, "{load}");
    }
    let (used, max) = (
        load["memory_bytes"].as_u64(),
        load["memory_bytes_max"].as_u64(),
    );
    assert!(used < max || max.is_none(), "{load}");
    assert!(load["cpu_permille"].as_u64() <= Some(1000), "{load}");
}

/// Proxmox answers such a token with empty lists, which must not read as an empty lab.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_sees_nothing_is_told_apart_from_an_empty_lab() {
    let pve = Pve::start();
    let app = app_with(pve.blind_config()).await;
    let lab = app.owner().get("/api/lab").await.ok();
    assert_eq!(lab["connected"], true);
    assert_eq!(lab["problem"]["code"], "no_privilege", "{lab}");
    let guests = lab["nodes"].as_array().unwrap().iter();
    assert!(
        guests
            .flat_map(|node| node["guests"].as_array().unwrap())
            .next()
            .is_none()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxmox_that_is_away_or_talks_nonsense_is_a_problem_in_words() {
    let pve = Pve::start();
    let app = app_with(pve.config()).await;
    let owner = app.owner();
    pve.server.faults().always(Fault::Garbage, "/");
    let wrong = owner.get("/api/lab").await.ok();
    assert_eq!(
        (&wrong["connected"], &wrong["nodes"]),
        (&json!(true), &json!([]))
    );
    assert!(!wrong["problem"].is_null());
    drop(pve);
    let gone = eventually("it to be away", || async {
        let lab = owner.get("/api/lab").await.ok();
        (lab["problem"]["code"] != wrong["problem"]["code"]).then_some(lab)
    })
    .await;
    assert_eq!(
        (&gone["connected"], &gone["nodes"]),
        (&json!(true), &json!([]))
    );
    assert!(
        !gone["problem"]["message"].as_str().unwrap().is_empty(),
        "{gone}"
    );
}

/// However many ask, Proxmox is asked once; and whoever hangs up takes the answer from nobody.
#[tokio::test(flavor = "multi_thread")]
async fn those_who_ask_together_share_one_question_and_may_leave() {
    let pve = Pve::start();
    let app = app_with(pve.config()).await;
    let owner = app.owner();
    let slow = Duration::from_millis(400);
    pve.server.faults().once(Fault::Slow(slow), "/nodes");
    let hurried = owner.request(Method::GET, "/api/lab").send();
    let left = tokio::time::timeout(slow / 4, hurried).await;
    assert!(left.is_err(), "it hung up before there was an answer");
    let answers = join_all((0..20).map(|_| owner.get("/api/lab"))).await;
    for answer in answers {
        assert_eq!(answer.ok()["problem"], Value::Null);
    }
    assert_eq!(pve.asked("/nodes"), 1);
}

/// The page of an owner whose Proxmox hangs says so instead of hanging with it.
#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "deep"), ignore = "deep run")]
async fn a_proxmox_that_hangs_is_waited_for_in_bounded_time() {
    let pve = Pve::start();
    let app = app_with(pve.config().with_patience(void_channels::Patience {
        call: Duration::from_secs(60),
        ..void_channels::Patience::default()
    }))
    .await;
    pve.server
        .faults()
        .always(Fault::Slow(Duration::from_secs(60)), "/nodes");
    let start = Instant::now();
    let lab = app.owner().get("/api/lab").await.ok();
    assert_eq!(lab["problem"]["code"], "timed_out", "{lab}");
    assert!(start.elapsed() < Duration::from_secs(15));
}
