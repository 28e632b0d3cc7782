//! What can be asked without changing anything: one guest, the whole lab, health, version and clock.

use std::time::Duration;

use void_channels::{GuestStatus, NodeStatus};
use void_domain::executions::Guest as Kind;
use void_domain::services::CheckResult;
use void_rehearsal::proxmox::{Access, Acl, Fault, Guest, GuestStatus as Set, Reach, Token, User};

use super::{BOTH, Pve, SECRET, channels};

const TIMEOUT: Duration = Duration::from_secs(10);

fn rights(acl: Vec<Acl>) -> Access {
    let tokens = vec![Token::separated("actions", SECRET, acl.clone())];
    Access {
        users: vec![User::new("void@pve", acl, tokens)],
        pools: Vec::new(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_guest_is_read_as_it_is_now() {
    let pve = Pve::new();
    let probe = pve.channels.probe();
    let state = probe.guest("z", Kind::Lxc, 107).await.unwrap();
    assert_eq!(
        (&*state.name, state.status),
        ("iventoy", GuestStatus::Running)
    );
    pve.server.set_status(107, Set::Stopped);
    pve.server.set_lock(107, Some("backup"));
    let state = probe.guest("z", Kind::Lxc, 107).await.unwrap();
    assert_eq!(state.status, GuestStatus::Stopped);
    assert_eq!(state.lock.as_deref(), Some("backup"));
    let failure = probe.guest("z", Kind::Qemu, 107).await.unwrap_err();
    assert_eq!(failure.code, "no_such_guest");
    let failure = probe.guest("x", Kind::Lxc, 107).await.unwrap_err();
    assert_eq!(failure.code, "no_such_node");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lab_shows_every_node_and_guest_with_its_state() {
    let pve = Pve::new();
    pve.server.add_guest(Guest::qemu(1000, "y", "big"));
    pve.server.set_reach("y", Reach::Offline);
    let lab = pve.channels.probe().lab().await.unwrap();
    assert_eq!(lab.hidden, None);
    let shown: Vec<_> = lab
        .nodes
        .iter()
        .map(|node| (&*node.name, node.status))
        .collect();
    assert_eq!(
        shown,
        [("y", NodeStatus::Offline), ("z", NodeStatus::Online)]
    );
    let guests: Vec<_> = lab.nodes.iter().flat_map(|node| &node.guests).collect();
    let vmids: Vec<u32> = guests.iter().map(|guest| guest.state.vmid).collect();
    assert_eq!(vmids, [109, 1000, 104, 107, 108]);
    let status = |vmid| lab.guest(vmid).unwrap().state.status;
    assert_eq!(status(109), GuestStatus::Unknown);
    assert_eq!(status(107), GuestStatus::Running);
    assert_eq!(status(108), GuestStatus::Stopped);
    assert_eq!(lab.guest(104).unwrap().kind, Kind::Qemu);
    assert_eq!(pve.server.request_count(), 2);
}

/// Proxmox answers a token without rights with empty lists, as if there were nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_lab_that_is_hidden_is_not_an_empty_one() {
    let pve = Pve::new();
    pve.server.set_access(rights(Vec::new()));
    let lab = pve.channels.probe().lab().await.unwrap();
    let hidden = lab.hidden.unwrap();
    assert_eq!(hidden.code, "no_privilege");
    assert!(hidden.message.contains("VM.Audit"), "{hidden:?}");
    assert_eq!(lab.nodes.len(), 2);
    pve.server.set_access(rights(vec![Acl::new("/vms", &BOTH)]));
    for vmid in [104, 107, 108, 109] {
        pve.server.remove_guest(vmid);
    }
    let lab = pve.channels.probe().lab().await.unwrap();
    assert_eq!(lab.hidden, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guests_health_is_followed_wherever_it_is() {
    let pve = Pve::new();
    let probe = pve.channels.probe();
    let check = async |vmid| probe.guest_check(vmid, TIMEOUT).await.reason();
    assert!(matches!(
        probe.guest_check(107, TIMEOUT).await,
        CheckResult::Good { .. }
    ));
    let known = pve.server.request_count();
    assert_eq!(check(107).await, None);
    // Once it is known where and what it is, a look is one call.
    assert_eq!(pve.server.request_count(), known + 1);
    assert_eq!(check(108).await, Some("stopped"));
    pve.server.set_status(107, Set::Stopped);
    assert_eq!(check(107).await, Some("stopped"));
    // It moved, and became another kind.
    pve.server
        .add_guest(Guest::qemu(107, "y", "moved").running());
    assert_eq!(check(107).await, None);
    pve.server.set_reach("y", Reach::Offline);
    assert_eq!(check(107).await, Some("proxmox"));
    assert_eq!(check(999).await, Some("proxmox"));
    pve.server
        .faults()
        .always(Fault::Slow(Duration::from_secs(5)), "/");
    let late = probe.guest_check(104, Duration::from_millis(200)).await;
    assert_eq!(late.reason(), Some("proxmox"));
}

#[tokio::test(flavor = "multi_thread")]
async fn version_and_clock_are_for_the_doctor() {
    let pve = Pve::new();
    let server = pve.channels.probe().proxmox_server().await.unwrap();
    assert_eq!(server.version, "8.4.1");
    assert!(server.clock_ahead_ms.abs() < 60_000, "{server:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_proxmox_every_question_says_so() {
    let pve = Pve::new();
    let none = channels(&pve.catalogue, &tempfile::tempdir().unwrap(), None);
    let probe = none.probe();
    assert!(!probe.has_proxmox() && pve.channels.probe().has_proxmox());
    for failure in [
        probe.lab().await.unwrap_err(),
        probe.guest("z", Kind::Lxc, 107).await.unwrap_err(),
        probe.proxmox_rights().await.unwrap_err(),
        probe.proxmox_server().await.unwrap_err(),
        probe.proxmox_certificate().await.unwrap_err(),
    ] {
        assert_eq!(failure.code, "not_configured");
        assert!(failure.message.contains("PROXMOX_API_URL"));
    }
    let answer = probe.guest_check(107, TIMEOUT).await;
    assert_eq!(answer.reason(), Some("proxmox"));
}
