//! The shape of every reading endpoint, as PVE 8.4 answers it.

use serde_json::{Value, json};
use void_rehearsal::proxmox::{Pool, Release};

use crate::lab::{self, ACTIONS, AUDITOR};

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

fn by<'a>(rows: &'a Value, key: &str, value: impl Into<Value>) -> &'a Value {
    let value = value.into();
    let found = rows
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row[key] == value);
    found.unwrap_or_else(|| panic!("no {key} {value} in {rows}"))
}

#[test]
fn version_says_the_release() {
    for (release, version, point) in [
        (Release::V8_1, "8.1.3", "8.1"),
        (Release::V8_4, "8.4.1", "8.4"),
        (Release::V8_4_17, "8.4.17", "8.4"),
    ] {
        let mut config = lab::config();
        config.release = release;
        let server = void_rehearsal::proxmox::ProxmoxServer::start(config).unwrap();
        let data = lab::client(&server, ACTIONS).get("/version").data();
        assert_eq!(keys(&data), ["release", "repoid", "version"]);
        assert_eq!(
            (&data["version"], &data["release"]),
            (&json!(version), &json!(point))
        );
    }
}

#[test]
fn headers_are_those_of_pveproxy() {
    let server = lab::server();
    let answer = lab::client(&server, ACTIONS).get("/version");
    assert_eq!(answer.line(), "200 OK");
    for (name, value) in [
        ("content-type", "application/json;charset=UTF-8"),
        ("server", "pve-api-daemon/3.0"),
        ("cache-control", "max-age=0"),
        ("pragma", "no-cache"),
        ("connection", "Keep-Alive"),
    ] {
        assert_eq!(answer.header(name).as_deref(), Some(value), "{name}");
    }
    assert!(answer.header("date").is_some());
}

#[test]
fn nodes_are_listed_without_numbers_to_those_who_may_not_audit_them() {
    let server = lab::server();
    let few = lab::client(&server, ACTIONS).get("/nodes").data();
    assert_eq!(few.as_array().unwrap().len(), 3);
    assert_eq!(keys(&few[0]), ["id", "level", "node", "status", "type"]);
    let all = lab::client(&server, AUDITOR).get("/nodes").data();
    let (z, w) = (by(&all, "node", "z"), by(&all, "node", "w"));
    assert_eq!(
        (&z["status"], &w["status"]),
        (&json!("online"), &json!("offline"))
    );
    assert!(z["uptime"].as_u64().unwrap() > 1_000_000 && z["mem"].is_u64() && z["cpu"].is_f64());
    assert!(w["uptime"].is_null() && w["mem"].is_null() && w["maxmem"].is_u64());
}

#[test]
fn node_status_needs_sys_audit_and_has_strings_where_perl_has() {
    let server = lab::server();
    let refused = lab::client(&server, ACTIONS).get("/nodes/z/status");
    assert_eq!(
        refused.line(),
        "403 Permission check failed (/nodes/z, Sys.Audit)"
    );
    let status = lab::client(&server, AUDITOR).get("/nodes/z/status").data();
    assert!(status["loadavg"][0].is_string() && status["cpuinfo"]["mhz"].is_string());
    assert_eq!(status["cpuinfo"]["hvm"], "1");
    assert!(status["memory"]["total"].is_u64() && status["rootfs"]["avail"].is_u64());
    assert!(
        status["pveversion"]
            .as_str()
            .unwrap()
            .starts_with("pve-manager/8.4.1/")
    );
    assert_eq!(status["current-kernel"]["sysname"], "Linux");
}

#[test]
fn container_list_and_status() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    let list = client.get("/nodes/z/lxc").data();
    assert_eq!(list.as_array().unwrap().len(), 2);
    let (runs, stopped) = (by(&list, "vmid", 107), by(&list, "vmid", 108));
    assert_eq!(
        (&runs["status"], &runs["name"]),
        (&json!("running"), &json!("iventoy"))
    );
    assert!(runs["pid"].is_u64() && runs["uptime"].is_u64() && runs["cpu"].is_f64());
    assert!(runs["type"] == "lxc" && runs["maxswap"].is_u64() && runs["lock"].is_null());
    assert!(stopped["pid"].is_null() && stopped["template"].is_null() && stopped["mem"] == 0);
    let current = client.get("/nodes/z/lxc/107/status/current").data();
    assert_eq!(current["ha"], json!({"managed": 0}));
    assert_eq!(
        (&current["vmid"], &current["status"]),
        (&json!(107), &json!("running"))
    );
    server.set_lock(107, Some("backup"));
    let current = client.get("/nodes/z/lxc/107/status/current").data();
    assert_eq!(current["lock"], "backup");
}

#[test]
fn vmid_is_a_string_in_the_container_list_of_8_1_only() {
    let mut config = lab::config();
    config.release = Release::V8_1;
    let server = void_rehearsal::proxmox::ProxmoxServer::start(config).unwrap();
    let client = lab::client(&server, ACTIONS);
    by(&client.get("/nodes/z/lxc").data(), "vmid", "107");
    by(&client.get("/nodes/z/qemu").data(), "vmid", 104);
    assert_eq!(
        client.get("/nodes/z/lxc/107/status/current").data()["vmid"],
        107
    );
    // And its errors do not repeat their message.
    let refused = client.get("/nodes/z/lxc/999/status/current");
    assert_eq!(refused.json(), json!({"data": null}));
}

#[test]
fn machine_list_and_status() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    let list = client.get("/nodes/z/qemu").data();
    let (runs, stopped) = (by(&list, "vmid", 104), by(&list, "vmid", 105));
    assert!(runs["pid"].is_u64() && runs["qmpstatus"].is_null() && runs["type"].is_null());
    assert!(stopped["pid"].is_null() && stopped["uptime"] == 0);
    let full = client.get("/nodes/z/qemu?full=1").data();
    assert_eq!(by(&full, "vmid", 104)["qmpstatus"], "running");
    assert_eq!(by(&full, "vmid", 105)["qmpstatus"], "stopped");
    let current = client.get("/nodes/z/qemu/104/status/current").data();
    assert_eq!(current["running-qemu"], "9.2.0");
    assert_eq!(current["ha"], json!({"managed": 0}));
}

#[test]
fn localhost_is_the_node_that_was_asked() {
    let server = lab::server();
    let list = lab::client(&server, ACTIONS)
        .get("/nodes/localhost/lxc")
        .data();
    assert_eq!(list.as_array().unwrap().len(), 2);
}

#[test]
fn a_guest_that_is_elsewhere_or_of_another_kind_has_no_configuration_here() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    for (path, file) in [
        ("/nodes/z/lxc/999/status/current", "nodes/z/lxc/999.conf"),
        ("/nodes/z/lxc/201/status/current", "nodes/z/lxc/201.conf"),
        ("/nodes/z/lxc/104/status/current", "nodes/z/lxc/104.conf"),
        (
            "/nodes/z/qemu/107/status/current",
            "nodes/z/qemu-server/107.conf",
        ),
    ] {
        let message = format!("Configuration file '{file}' does not exist");
        let answer = client.get(path);
        assert_eq!(answer.line(), format!("500 {message}"));
        assert_eq!(
            answer.json(),
            json!({"data": null, "message": format!("{message}\n")})
        );
    }
}

#[test]
fn resources_are_filtered_by_kind_and_by_right() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    let guests = client.get("/cluster/resources?type=vm").data();
    assert_eq!(guests.as_array().unwrap().len(), 6);
    let container = by(&guests, "vmid", 107);
    assert_eq!(
        (&container["id"], &container["type"]),
        (&json!("lxc/107"), &json!("lxc"))
    );
    assert_eq!(
        (&container["template"], &container["maxcpu"]),
        (&json!(0), &json!(2))
    );
    assert_eq!(by(&guests, "vmid", 104)["id"], "qemu/104");
    let far = by(&guests, "vmid", 301);
    assert_eq!(keys(far), ["id", "node", "status", "type", "vmid"]);
    assert_eq!(far["status"], "unknown");
    let nodes = client.get("/cluster/resources?type=node").data();
    assert!(
        nodes
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["type"] == "node")
    );
    assert_eq!(nodes[0]["cgroup-mode"], 2);
    assert_eq!(
        client.get("/cluster/resources?type=storage").data(),
        json!([])
    );
    assert_eq!(client.get("/cluster/resources?type=sdn").data(), json!([]));
    let auditor = lab::client(&server, AUDITOR);
    assert_eq!(
        auditor.get("/cluster/resources?type=sdn").data()[0]["sdn"],
        "localnetwork"
    );
    assert_eq!(
        client
            .get("/cluster/resources")
            .data()
            .as_array()
            .unwrap()
            .len(),
        9
    );
}

#[test]
fn a_pool_is_seen_with_pool_audit() {
    let mut config = lab::config();
    config.access.pools = vec![Pool {
        name: "web".to_owned(),
        vmids: vec![107],
    }];
    let server = void_rehearsal::proxmox::ProxmoxServer::start(config).unwrap();
    let seen = lab::client(&server, AUDITOR)
        .get("/cluster/resources")
        .data();
    assert_eq!(
        by(&seen, "type", "pool"),
        &json!({"id": "/pool/web", "pool": "web", "type": "pool"})
    );
    assert_eq!(by(&seen, "vmid", 107)["pool"], "web");
    let unseen = lab::client(&server, ACTIONS)
        .get("/cluster/resources")
        .data();
    assert!(by(&unseen, "vmid", 107)["pool"].is_null());
}

#[test]
fn what_is_not_there_is_not_implemented() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    for (method, path) in [
        ("GET", "/nodes/z/nothing"),
        ("GET", "/nodes/z/lxc/107/status/start"),
        ("POST", "/nodes"),
        ("PUT", "/version"),
        ("DELETE", "/nodes/z/lxc/107"),
    ] {
        let answer = client.send(method, path, "").unwrap();
        let message = format!("Method '{method} {path}' not implemented");
        assert_eq!(answer.line(), format!("501 {message}"));
        assert_eq!(answer.json(), json!({"data": null, "message": message}));
    }
}
