//! Power operations: what Proxmox refuses at once, what its tasks find out, and what takes effect.

use std::time::Duration;

use void_rehearsal::proxmox::{
    Guest, GuestStatus, Operation, ProxmoxServer, TASKS_RUNNING_MAX, TaskDurations,
};

use crate::lab::{self, ACTIONS, eventually, power};

fn path(kind: &str, vmid: u32, operation: &str) -> String {
    format!("/nodes/z/{kind}/{vmid}/status/{operation}")
}

fn effects(server: &ProxmoxServer) -> Vec<(u32, Operation, GuestStatus)> {
    let effects = server.effects().into_iter();
    effects
        .map(|one| (one.vmid, one.operation, one.left))
        .collect()
}

#[test]
fn every_operation_takes_effect_once_its_task_ends() {
    use GuestStatus::{Running, Stopped};
    for (kind, vmid, operation, done, left) in [
        ("lxc", 108, "start", Operation::Start, Running),
        ("lxc", 107, "stop", Operation::Stop, Stopped),
        ("lxc", 107, "shutdown", Operation::Shutdown, Stopped),
        ("lxc", 107, "reboot", Operation::Reboot, Running),
        ("qemu", 105, "start", Operation::Start, Running),
        ("qemu", 104, "stop", Operation::Stop, Stopped),
        ("qemu", 104, "shutdown", Operation::Shutdown, Stopped),
    ] {
        let server = lab::server();
        let client = lab::client(&server, ACTIONS);
        let upid = client.post(&path(kind, vmid, operation), "").data();
        let upid = upid.as_str().unwrap();
        assert_eq!(lab::exit_status(&client, upid), "OK");
        assert_eq!(server.guest(vmid).unwrap().status, left);
        assert_eq!(effects(&server), [(vmid, done, left)]);
        assert_eq!(server.effects()[0].upid, upid);
    }
}

#[test]
fn a_machines_reboot_is_a_stop_and_a_start_by_root() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    assert_eq!(power(&client, &path("qemu", 104, "reboot"), ""), "OK");
    eventually("the start", || (server.effects().len() == 2).then_some(()));
    assert_eq!(
        effects(&server),
        [
            (104, Operation::Reboot, GuestStatus::Stopped),
            (104, Operation::Start, GuestStatus::Running),
        ]
    );
    assert!(server.effects()[1].upid.contains(":qmstart:104:root@pam:"));
}

#[test]
fn a_container_in_the_wanted_state_is_refused_at_once() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    for (vmid, operation, message) in [
        (107, "start", "CT 107 already running"),
        (108, "stop", "CT 108 not running"),
        (108, "shutdown", "CT 108 not running"),
        (108, "reboot", "VM 108 not running"),
    ] {
        let answer = client.post(&path("lxc", vmid, operation), "");
        assert_eq!(answer.line(), format!("500 {message}"));
        assert_eq!(answer.json()["message"], format!("{message}\n"));
    }
    assert!(server.effects().is_empty());
}

#[test]
fn a_machine_in_the_wanted_state_gets_a_task() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    for (vmid, operation, exit) in [
        (104, "start", "VM 104 already running"),
        (105, "stop", "OK"),
        (105, "shutdown", "OK"),
    ] {
        assert_eq!(power(&client, &path("qemu", vmid, operation), ""), exit);
    }
    let answer = client.post(&path("qemu", 105, "reboot"), "");
    assert_eq!(answer.line(), "500 VM 105 not running");
    assert!(server.effects().is_empty());
}

#[test]
fn a_locked_guest_is_left_alone_except_by_a_containers_reboot() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    for vmid in [104, 105, 107, 108] {
        server.set_lock(vmid, Some("backup"));
    }
    for (kind, vmid, operation, exit) in [
        ("lxc", 108, "start", "CT is locked (backup)"),
        ("lxc", 107, "stop", "CT is locked (backup)"),
        ("lxc", 107, "shutdown", "CT is locked (backup)"),
        ("qemu", 105, "start", "VM is locked (backup)"),
        ("qemu", 104, "stop", "VM is locked (backup)"),
        ("qemu", 104, "shutdown", "VM is locked (backup)"),
        ("qemu", 104, "reboot", "VM is locked (backup)"),
        // The backup runs inside the machine: a start resumes it and changes nothing.
        ("qemu", 104, "start", "OK"),
        ("qemu", 105, "stop", "OK"),
    ] {
        assert_eq!(
            power(&client, &path(kind, vmid, operation), ""),
            exit,
            "{kind} {operation}"
        );
    }
    assert!(server.effects().is_empty());
    let exit = power(&client, &path("lxc", 107, "reboot"), "");
    assert_eq!(exit, "startup for container '107' failed");
    assert_eq!(
        effects(&server),
        [(107, Operation::Reboot, GuestStatus::Stopped)]
    );
    server.set_lock(107, None);
    assert_eq!(power(&client, &path("lxc", 107, "start"), ""), "OK");
}

#[test]
fn some_locks_do_not_lock() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    server.set_lock(108, Some("mounted"));
    server.set_lock(105, Some("suspended"));
    assert_eq!(power(&client, &path("lxc", 108, "start"), ""), "OK");
    assert_eq!(power(&client, &path("qemu", 105, "start"), ""), "OK");
    let exit = power(&client, &path("lxc", 108, "shutdown"), "");
    assert_eq!(exit, "CT is locked (mounted)");
}

#[test]
fn a_guest_that_is_not_there() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    let no_machine = "unable to find configuration file for VM 999 on node 'z'";
    for (kind, operation, exit) in [
        (
            "lxc",
            "start",
            "Configuration file 'nodes/z/lxc/999.conf' does not exist",
        ),
        (
            "qemu",
            "start",
            "Configuration file 'nodes/z/qemu-server/999.conf' does not exist",
        ),
        ("qemu", "stop", no_machine),
        ("qemu", "shutdown", no_machine),
    ] {
        assert_eq!(power(&client, &path(kind, 999, operation), ""), exit);
    }
    let refused = client.post(&path("qemu", 999, "reboot"), "");
    assert_eq!(refused.line(), format!("500 {no_machine}"));
    let refused = client.post(&path("lxc", 999, "stop"), "");
    assert_eq!(refused.line(), "500 CT 999 not running");
}

#[test]
fn a_guest_that_does_not_shut_down() {
    let mut config = lab::config();
    let deaf = [
        Guest::lxc(110, "z", "deaf").running().ignoring_shutdown(),
        Guest::qemu(111, "z", "deafer")
            .running()
            .ignoring_shutdown(),
    ];
    config.guests.extend(deaf);
    let server = ProxmoxServer::start(config).unwrap();
    let client = lab::client(&server, ACTIONS);
    let exit = power(&client, &path("lxc", 110, "shutdown"), "timeout=0");
    assert_eq!(exit, "container did not stop");
    let exit = power(&client, &path("qemu", 111, "shutdown"), "timeout=0");
    assert_eq!(exit, "VM quit/powerdown failed - got timeout");
    let exit = power(&client, &path("qemu", 111, "reboot"), "timeout=0");
    assert_eq!(exit, "VM quit/powerdown failed - got timeout");
    assert!(server.effects().is_empty());
    let form = "timeout=0&forceStop=1";
    assert_eq!(power(&client, &path("qemu", 111, "shutdown"), form), "OK");
    assert_eq!(
        power(&client, &path("lxc", 110, "reboot"), "timeout=0"),
        "OK"
    );
    assert_eq!(power(&client, &path("lxc", 110, "shutdown"), form), "OK");
    assert_eq!(server.effects().len(), 3);
}

#[test]
fn tasks_of_one_guest_wait_for_each_other() {
    let mut config = lab::config();
    config.durations.stop = Duration::from_millis(1500);
    let server = ProxmoxServer::start(config).unwrap();
    let client = lab::client(&server, ACTIONS);
    // Both are accepted, because both see a running container; the second finds nothing left to do.
    let upids: Vec<_> = (0..2)
        .map(|_| client.post(&path("lxc", 107, "stop"), "").data())
        .collect();
    for upid in &upids {
        assert_eq!(lab::exit_status(&client, upid.as_str().unwrap()), "OK");
    }
    assert_eq!(server.effects().len(), 1);
    assert_ne!(upids[0], upids[1]);
}

#[test]
fn too_many_tasks_are_refused() {
    let mut config = lab::config();
    config.durations = TaskDurations::all(Duration::from_secs(600));
    let server = ProxmoxServer::start(config).unwrap();
    let client = lab::client(&server, ACTIONS);
    let mut connection = client.connect().unwrap();
    for count in 0..TASKS_RUNNING_MAX {
        if count % 90 == 0 {
            connection = client.connect().unwrap();
        }
        let answer = connection
            .send("POST", &path("qemu", 105, "start"), "")
            .unwrap();
        assert_eq!(answer.status, 200);
    }
    let answer = client.post(&path("qemu", 105, "start"), "");
    assert_eq!(
        answer.line(),
        "500 unable to fork worker - Resource temporarily unavailable"
    );
    assert_eq!(server.running_tasks(), TASKS_RUNNING_MAX);
}
