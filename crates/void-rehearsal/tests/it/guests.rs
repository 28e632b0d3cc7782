//! The handle: guests that come, go and change behind the API's back, and the hook that is told.

use std::sync::{Arc, Mutex};

use serde_json::json;
use void_rehearsal::proxmox::{
    Guest, GuestKind, GuestStatus, Node, ProxmoxConfig, ProxmoxServer, Reach, VMID_MAX, VMID_MIN,
};

use crate::lab::{self, ACTIONS, eventually};

#[test]
fn guests_are_added_changed_and_removed() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    assert!(server.add_guest(Guest::lxc(VMID_MAX, "y", "new").running()));
    assert!(!server.add_guest(Guest::lxc(120, "nowhere", "new")));
    assert!(!server.add_guest(Guest::lxc(VMID_MIN - 1, "y", "new")));
    assert!(!server.add_guest(Guest::lxc(VMID_MAX + 1, "y", "new")));
    let list = client.get("/nodes/y/lxc").data();
    assert_eq!(list.as_array().unwrap().len(), 2);
    assert!(server.set_status(VMID_MAX, GuestStatus::Stopped));
    assert!(!server.set_status(VMID_MAX, GuestStatus::Stopped));
    let status = client.get(&format!("/nodes/y/lxc/{VMID_MAX}/status/current"));
    assert_eq!(status.data()["status"], "stopped");
    assert!(server.remove_guest(VMID_MAX) && !server.remove_guest(VMID_MAX));
    assert_eq!(server.guest(107).unwrap().kind, GuestKind::Lxc);
    assert_eq!(server.guests().len(), 6);
    assert!(server.effects().is_empty());
}

#[test]
fn a_node_goes_away_and_comes_back() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    assert!(server.set_reach("y", Reach::Offline) && !server.set_reach("q", Reach::Offline));
    assert_eq!(client.get("/nodes/y/lxc").line(), "595 No route to host");
    assert_eq!(
        client.get("/cluster/resources?type=vm").data()[4]["status"],
        "unknown"
    );
    assert!(server.set_reach("y", Reach::NoApi));
    assert_eq!(client.get("/nodes/y/lxc").line(), "595 Connection refused");
    assert_eq!(client.get("/nodes").data()[1]["status"], "online");
    assert!(server.set_reach("y", Reach::Online));
    assert_eq!(client.get("/nodes/y/lxc").status, 200);
}

#[test]
fn the_hook_is_told_before_the_task_ends() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let hook_told = Arc::clone(&told);
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = Mutex::new(released);
    let mut config = lab::config();
    config.on_guest_change = Some(Arc::new(move |vmid, runs| {
        if vmid == 201 {
            released.lock().unwrap().recv().unwrap();
        }
        hook_told.lock().unwrap().push((vmid, runs));
    }));
    let server = ProxmoxServer::start(config).unwrap();
    let client = lab::client(&server, ACTIONS);
    assert_eq!(
        lab::power(&client, "/nodes/z/lxc/107/status/reboot", ""),
        "OK"
    );
    assert_eq!(*told.lock().unwrap(), [(107, false), (107, true)]);
    // A hook that blocks keeps its task running, but not the API from answering.
    let upid = client.post("/nodes/y/lxc/201/status/stop", "").data();
    eventually("the effect", || (server.effects().len() == 2).then_some(()));
    assert_eq!(client.get("/nodes/y/lxc").data()[0]["status"], "stopped");
    assert_eq!(server.running_tasks(), 1);
    release.send(()).unwrap();
    assert_eq!(lab::exit_status(&client, upid.as_str().unwrap()), "OK");
    server.set_status(108, GuestStatus::Running);
    assert_eq!(told.lock().unwrap()[2..], [(201, false), (108, true)]);
}

#[test]
fn a_config_that_no_cluster_could_have_is_refused() {
    let start = |nodes: Vec<Node>, guests: Vec<Guest>| {
        let access = lab::config().access;
        ProxmoxServer::start(ProxmoxConfig::new(nodes, guests, access)).map(drop)
    };
    assert!(start(Vec::new(), Vec::new()).is_err());
    assert!(start(vec![Node::online("a/b")], Vec::new()).is_err());
    assert!(start(vec![Node::online("z"), Node::offline("z")], Vec::new()).is_err());
    let z = || vec![Node::online("z")];
    assert!(start(z(), vec![Guest::lxc(99, "z", "a")]).is_err());
    assert!(start(z(), vec![Guest::lxc(107, "y", "a")]).is_err());
    assert!(
        start(
            z(),
            vec![Guest::lxc(107, "z", "a"), Guest::qemu(107, "z", "b")]
        )
        .is_err()
    );
    assert!(start(z(), vec![Guest::lxc(107, "z", "a")]).is_ok());
}

#[test]
fn when_it_stops_its_connections_end_and_its_port_is_free() {
    let server = lab::server();
    let (port, client) = (server.port(), lab::client(&server, ACTIONS));
    let mut kept = client.connect().unwrap();
    assert_eq!(kept.send("GET", "/version", "").unwrap().status, 200);
    server.stop();
    assert!(kept.send("GET", "/version", "").is_err());
    let mut config = lab::config();
    config.port = port;
    let again = ProxmoxServer::start(config).unwrap();
    assert_eq!(again.url(), format!("https://127.0.0.1:{port}"));
    let answer = lab::client(&again, ACTIONS).get("/access/permissions?path=/vms/1");
    assert_eq!(
        answer.data(),
        json!({"/vms/1": {"VM.Audit": 1, "VM.PowerMgmt": 1}})
    );
}

#[test]
fn the_handle_can_be_shared() {
    fn is_shareable<T: Send + Sync + 'static>(_: &T) {}
    is_shareable(&lab::server());
}
