//! What Proxmox needs to know of a guest's power operation: paths, names of tasks, and states that let it pass.

use void_domain::executions::{Guest, GuestPower, PowerOp};

use super::guests::GuestStatus;

pub(super) fn path(power: &GuestPower, rest: &str) -> String {
    status_path(&power.node, power.guest, power.vmid, rest)
}

/// `CT 107 on z`
pub(super) fn name(power: &GuestPower) -> String {
    guest_name(&power.node, power.guest, power.vmid)
}

/// The state that makes the operation pointless.
pub(super) const fn wished(power: &GuestPower) -> Option<GuestStatus> {
    match power.op {
        PowerOp::Start => Some(GuestStatus::Running),
        PowerOp::Stop | PowerOp::Shutdown => Some(GuestStatus::Stopped),
        PowerOp::Reboot => None,
    }
}

/// Whether Proxmox does the operation all the same: a mounted container starts and stops, a
/// machine that was suspended to disk starts from there.
pub(super) fn is_let_through_by(power: &GuestPower, lock: &str) -> bool {
    matches!(
        (power.guest, power.op, lock),
        (Guest::Lxc, PowerOp::Start | PowerOp::Stop, "mounted")
            | (Guest::Qemu, PowerOp::Start, "suspended")
    )
}

/// What Proxmox calls the task. Of a guest under high availability the cluster is asked, and that
/// task has another name.
pub(super) const fn task_types(power: &GuestPower) -> [&'static str; 2] {
    match (power.guest, power.op) {
        (Guest::Lxc, PowerOp::Start) => ["vzstart", "hastart"],
        (Guest::Lxc, PowerOp::Stop) => ["vzstop", "hastop"],
        (Guest::Lxc, PowerOp::Shutdown) => ["vzshutdown", "hastop"],
        (Guest::Lxc, PowerOp::Reboot) => ["vzreboot", "vzreboot"],
        (Guest::Qemu, PowerOp::Start) => ["qmstart", "hastart"],
        (Guest::Qemu, PowerOp::Stop) => ["qmstop", "hastop"],
        (Guest::Qemu, PowerOp::Shutdown) => ["qmshutdown", "hastop"],
        (Guest::Qemu, PowerOp::Reboot) => ["qmreboot", "qmreboot"],
    }
}

pub(super) fn status_path(node: &str, guest: Guest, vmid: u32, rest: &str) -> String {
    format!("/nodes/{node}/{}/{vmid}/status/{rest}", guest.as_str())
}

pub(super) fn guest_name(node: &str, guest: Guest, vmid: u32) -> String {
    format!("{} on {node}", guest.name(vmid))
}

/// Letters, digits and dashes: what may stand in a path as it is.
pub(super) fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}
