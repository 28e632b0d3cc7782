//! A guest and what is to be done with it, from the catalogue or from a stored proposal.

use void_domain::catalogue::{ActionKind, Guest, PowerOp};
use void_domain::proposals::ProposedAction;

use super::guests::GuestStatus;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Power {
    pub node: String,
    pub vmid: u32,
    pub guest: Guest,
    pub op: PowerOp,
}

impl Power {
    pub(crate) fn of(kind: &ActionKind) -> Option<Self> {
        match kind {
            ActionKind::GuestPower {
                node,
                vmid,
                guest,
                op,
            } => Some(Self {
                node: node.clone(),
                vmid: *vmid,
                guest: *guest,
                op: *op,
            }),
            ActionKind::ServiceRestart { .. } | ActionKind::OnNode { .. } => None,
        }
    }

    /// From a stored proposal, so that a run can be asked about when the catalogue has changed.
    pub(crate) fn of_subject(subject: &ProposedAction) -> Option<Self> {
        let action = subject.definition.get("action")?;
        let text = |name: &str| action.get(name)?.as_str();
        if text("kind")? != "guest_power" {
            return None;
        }
        let guest = match text("guest").or_else(|| text("kindPath")) {
            None | Some("lxc") => Guest::Lxc,
            Some("qemu") => Guest::Qemu,
            Some(_) => return None,
        };
        let op = match text("op")? {
            "start" => PowerOp::Start,
            "stop" => PowerOp::Stop,
            "shutdown" => PowerOp::Shutdown,
            "reboot" => PowerOp::Reboot,
            _ => return None,
        };
        let is_node = |node: &&str| is_word(node) && node.len() <= 63;
        Some(Self {
            node: text("node").filter(is_node)?.to_owned(),
            vmid: u32::try_from(action.get("vmid")?.as_u64()?).ok()?,
            guest,
            op,
        })
    }

    pub(super) fn path(&self, rest: &str) -> String {
        status_path(&self.node, self.guest, self.vmid, rest)
    }

    /// `CT 107 on z`
    pub(super) fn name(&self) -> String {
        guest_name(&self.node, self.guest, self.vmid)
    }

    /// The state that makes the operation pointless.
    pub(super) const fn wished(&self) -> Option<GuestStatus> {
        match self.op {
            PowerOp::Start => Some(GuestStatus::Running),
            PowerOp::Stop | PowerOp::Shutdown => Some(GuestStatus::Stopped),
            PowerOp::Reboot => None,
        }
    }

    /// Whether Proxmox does the operation all the same: a mounted container starts and stops, a
    /// machine that was suspended to disk starts from there.
    pub(super) fn is_let_through_by(&self, lock: &str) -> bool {
        matches!(
            (self.guest, self.op, lock),
            (Guest::Lxc, PowerOp::Start | PowerOp::Stop, "mounted")
                | (Guest::Qemu, PowerOp::Start, "suspended")
        )
    }

    /// What Proxmox calls the task. Of a guest under high availability the cluster is asked, and that
    /// task has another name.
    pub(super) const fn task_types(&self) -> [&'static str; 2] {
        match (self.guest, self.op) {
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
}

pub(super) fn status_path(node: &str, guest: Guest, vmid: u32, rest: &str) -> String {
    format!("/nodes/{node}/{}/{vmid}/status/{rest}", guest.as_str())
}

pub(super) fn guest_name(node: &str, guest: Guest, vmid: u32) -> String {
    let kind = match guest {
        Guest::Lxc => "CT",
        Guest::Qemu => "VM",
    };
    format!("{kind} {vmid} on {node}")
}

/// Letters, digits and dashes: what may stand in a path as it is.
pub(super) fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}
