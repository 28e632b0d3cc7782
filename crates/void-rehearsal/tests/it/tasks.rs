//! Tasks over time: their ids, their status, their log, and the list with its filters.

use std::time::Duration;

use serde_json::{Value, json};
use void_rehearsal::proxmox::{Fault, GuestStatus, ProxmoxServer, TASKS_KEPT_MAX, TaskDurations};

use crate::client::Client;
use crate::lab::{self, ACTIONS, AUDITOR, NOBODY, eventually};

const STOP: &str = "/nodes/z/lxc/107/status/stop";

fn rows(client: &Client, query: &str) -> Vec<Value> {
    let data = client.get(&format!("/nodes/z/tasks{query}")).data();
    data.as_array().unwrap().clone()
}

fn kinds(client: &Client, query: &str) -> Vec<String> {
    let rows = rows(client, query).into_iter();
    rows.map(|row| row["type"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_task_id_looks_like_one_and_its_status_repeats_it() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    let upid = client.post(STOP, "").data();
    let upid = upid.as_str().unwrap();
    let parts: Vec<&str> = upid.split(':').collect();
    assert_eq!(parts.len(), 9);
    assert_eq!((parts[0], parts[1], parts[5]), ("UPID", "z", "vzstop"));
    assert_eq!((parts[6], parts[7], parts[8]), ("107", ACTIONS, ""));
    for hex in &parts[2..5] {
        assert_eq!(hex.len(), 8, "{upid}");
        assert!(
            hex.bytes()
                .all(|byte| byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte))
        );
    }
    assert_eq!(lab::exit_status(&client, upid), "OK");
    let ended = client.get(&format!("/nodes/z/tasks/{upid}/status")).data();
    let number = |text: &str| u64::from_str_radix(text, 16).unwrap();
    assert_eq!(
        ended,
        json!({
            "upid": upid, "node": "z", "pid": number(parts[2]), "pstart": number(parts[3]),
            "starttime": number(parts[4]), "type": "vzstop", "id": "107", "user": "void@pve",
            "tokenid": "actions", "status": "stopped", "exitstatus": "OK",
        })
    );
    // An id may also come escaped.
    let escaped = upid.replace(':', "%3A").replace('!', "%21");
    assert_eq!(
        client
            .get(&format!("/nodes/z/tasks/{escaped}/status"))
            .status,
        200
    );
}

#[test]
fn a_log_ends_with_the_outcome() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    server
        .faults()
        .once(Fault::storage_offline("nas"), "/nodes/z/lxc/108");
    let upid = client.post("/nodes/z/lxc/108/status/start", "").data();
    let upid = upid.as_str().unwrap();
    let log = format!("/nodes/z/tasks/{upid}/log");
    assert_eq!(
        lab::exit_status(&client, upid),
        "storage 'nas' is not online"
    );
    let late = client.get(&log).json();
    let line = "TASK ERROR: storage 'nas' is not online";
    assert_eq!(late, json!({"data": [{"n": 1, "t": line}], "total": 1}));
    assert_eq!(
        client.get(&format!("{log}?start=1")).json(),
        json!({"data": [], "total": 1})
    );
    assert!(server.effects().is_empty());
    let upid = client.post("/nodes/z/lxc/108/status/start", "").data();
    lab::exit_status(&client, upid.as_str().unwrap());
    let log = client.get(&format!(
        "/nodes/z/tasks/{}/log?limit=0",
        upid.as_str().unwrap()
    ));
    assert_eq!(log.json()["data"], json!([{"n": 1, "t": "TASK OK"}]));
}

#[test]
fn ids_that_are_wrong_or_of_nobody() {
    let server = lab::server();
    let client = lab::client(&server, AUDITOR);
    let parse = json!({"upid": "unable to parse worker upid"});
    for upid in [
        "UPID",
        "UPID:z:1:2:3:vzstop:107:a@pve:",
        "UPID:z:0001D3A5:00F2A6B1:67F8C0D2:vzstop:107::",
    ] {
        for what in ["status", "log"] {
            let answer = client.get(&format!("/nodes/z/tasks/{upid}/{what}"));
            assert_eq!(
                (answer.status, &answer.json()["errors"]),
                (400, &parse),
                "{upid}"
            );
        }
    }
    let other = "UPID:z:0001D3A5:00F2A6B1:67F8C0D2:vzstop:107:a@pve:";
    let answer = client.get(&format!("/nodes/z/tasks/{other}/status"));
    assert_eq!(answer.json()["errors"], json!({"upid": "no such task"}));
    let answer = client.get(&format!("/nodes/z/tasks/{other}/log"));
    let line = json!({"n": 1, "t": "unable to open file - No such file or directory"});
    assert_eq!(answer.json(), json!({"data": line, "total": 1}));
}

#[test]
fn the_list_shows_ended_tasks_and_on_request_running_ones() {
    let mut config = lab::config();
    config.durations.reboot = Duration::from_secs(600);
    let server = ProxmoxServer::start(config).unwrap();
    let client = lab::client(&server, ACTIONS);
    lab::power(&client, "/nodes/z/lxc/108/status/start", "");
    lab::power(&client, "/nodes/z/lxc/108/status/stop", "");
    let reboot = client.post("/nodes/z/lxc/107/status/reboot", "").data();
    assert_eq!(kinds(&client, ""), ["vzstop", "vzstart"]);
    assert_eq!(kinds(&client, "?source=archive"), ["vzstop", "vzstart"]);
    assert_eq!(kinds(&client, "?source=active"), ["vzreboot"]);
    assert_eq!(
        kinds(&client, "?source=all"),
        ["vzreboot", "vzstop", "vzstart"]
    );
    let all = rows(&client, "?source=all");
    assert_eq!(
        (&all[0]["upid"], &all[0]["status"]),
        (&reboot, &json!("RUNNING"))
    );
    assert_eq!(
        (&all[0]["user"], &all[0]["saved"]),
        (&json!(ACTIONS), &json!("0"))
    );
    assert!(all[0]["endtime"].is_null() && all[0]["tokenid"].is_null());
    assert_eq!(
        (&all[1]["user"], &all[1]["tokenid"]),
        (&json!("void@pve"), &json!("actions"))
    );
    assert!(all[1]["endtime"].as_u64() >= all[1]["starttime"].as_u64());
    assert_eq!(all[1]["status"], "OK");
}

#[test]
fn the_list_is_filtered() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    lab::power(&client, "/nodes/z/lxc/108/status/start", "");
    lab::power(&client, STOP, "");
    lab::power(&client, "/nodes/z/qemu/104/status/start", "");
    lab::power(&client, "/nodes/y/lxc/201/status/stop", "");
    let began = rows(&client, "?vmid=107")[0]["starttime"].as_u64().unwrap();
    let (past, future) = (began - 60, began + 60);
    for (query, expected) in [
        ("?vmid=107", vec!["vzstop"]),
        ("?vmid=999", vec![]),
        ("?typefilter=vzstart", vec!["vzstart"]),
        ("?errors=1", vec!["qmstart"]),
        ("?statusfilter=error", vec!["qmstart"]),
        ("?statusfilter=ok,error&limit=1", vec!["qmstart"]),
        ("?limit=2", vec!["qmstart", "vzstop"]),
        ("?start=2", vec!["vzstart"]),
        ("?limit=0", vec![]),
        ("?userfilter=VOID", vec!["qmstart", "vzstop", "vzstart"]),
        // The token's name is not part of an ended task's user.
        ("?userfilter=actions", vec![]),
        (
            &format!("?since={past}&until={future}&vmid=107"),
            vec!["vzstop"],
        ),
        (&format!("?since={future}"), vec![]),
        (&format!("?until={past}"), vec![]),
    ] {
        assert_eq!(kinds(&client, query), expected, "{query}");
    }
    let total = |query: &str| client.get(&format!("/nodes/z/tasks{query}")).json()["total"].clone();
    assert_eq!(
        (total("?limit=1"), total("?vmid=999")),
        (json!(3), Value::Null)
    );
    let on_y = client.get("/nodes/y/tasks").data();
    assert_eq!(on_y[0]["id"], "201");
}

#[test]
fn tasks_of_others_are_for_auditors() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    let upid = client.post(STOP, "").data();
    let upid = upid.as_str().unwrap();
    lab::exit_status(&client, upid);
    let nobody = lab::client(&server, NOBODY);
    assert_eq!(kinds(&nobody, "?source=all"), Vec::<String>::new());
    for what in ["status", "log"] {
        let path = format!("/nodes/z/tasks/{upid}/{what}");
        let refused = nobody.get(&path);
        assert_eq!(
            refused.line(),
            "403 Permission check failed (/nodes/z, Sys.Audit)"
        );
        assert_eq!(lab::client(&server, AUDITOR).get(&path).status, 200);
    }
    assert_eq!(kinds(&lab::client(&server, AUDITOR), ""), ["vzstop"]);
    // Every node keeps its own.
    let elsewhere = client.get(&format!("/nodes/y/tasks/{upid}/status"));
    assert_eq!(elsewhere.json()["errors"], json!({"upid": "no such task"}));
}

#[test]
fn a_task_can_hang_and_holds_its_guest() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    server.faults().once(Fault::TaskHangs, "/nodes/z/lxc/107");
    let upid = client.post(STOP, "").data();
    let upid = upid.as_str().unwrap();
    let path = format!("/nodes/z/tasks/{upid}");
    let running = client.get(&format!("{path}/status")).data();
    assert_eq!(
        (&running["status"], &running["tokenid"]),
        (&json!("running"), &json!("actions"))
    );
    assert!(running["exitstatus"].is_null());
    let log = client.get(&format!("{path}/log")).json();
    assert_eq!(
        log,
        json!({"data": [{"n": 1, "t": "no content"}], "total": 1})
    );
    // The next one for this guest waits; those for others do not.
    let second = client.post(STOP, "").data();
    assert_ne!(second, upid);
    assert_eq!(
        lab::power(&client, "/nodes/y/lxc/201/status/stop", ""),
        "OK"
    );
    assert_eq!(server.running_tasks(), 2);
    assert_eq!(server.guest(107).unwrap().status, GuestStatus::Running);
    assert_eq!(server.effects().len(), 1);
}

#[test]
fn old_tasks_are_forgotten_past_the_bound() {
    let mut config = lab::config();
    config.durations = TaskDurations::all(Duration::ZERO);
    let server = ProxmoxServer::start(config).unwrap();
    let client = lab::client(&server, ACTIONS);
    let stop = "/nodes/z/qemu/105/status/stop";
    let first = client.post(stop, "").data();
    lab::exit_status(&client, first.as_str().unwrap());
    let mut connection = client.connect().unwrap();
    for count in 0..TASKS_KEPT_MAX {
        if count % 99 == 0 {
            connection = client.connect().unwrap();
        }
        assert_eq!(connection.send("POST", stop, "").unwrap().status, 200);
    }
    eventually("all tasks to end", || {
        (server.running_tasks() == 0).then_some(())
    });
    let list = client.get("/nodes/z/tasks?limit=5000").json();
    assert_eq!(list["total"], TASKS_KEPT_MAX);
    let gone = client.get(&format!(
        "/nodes/z/tasks/{}/status",
        first.as_str().unwrap()
    ));
    assert_eq!(gone.json()["errors"], json!({"upid": "no such task"}));
}
