//! What a proposal does to a machine: which operation, on what, by which channel, for how long, and what shows
//! afterwards that it worked.
//!
//! The catalogue makes an [`Execution`] of each action; a stored proposal has the one that
//! [`Execution::from_definition`] reads from its definition, once, when the row is read. Executing and settling use
//! that value and nothing else reads the stored JSON. Operation and channel are one enum, so an operation cannot be
//! sent to a channel that does not carry it out.

mod definitions;
#[cfg(test)]
mod tests;

use std::time::Duration;

use serde_json::{Value, json};

pub(crate) use definitions::{TIMEOUTS_S, VMIDS};

use crate::hosts::Host;

/// What a proposal does to a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    pub kind: ActionKind,
    /// How long the run may take.
    pub timeout: Duration,
    /// The service whose check tells whether it worked.
    pub verify: Option<String>,
    /// The parameter of a `scale` that says how many copies shall run.
    pub replicas_param: Option<String>,
}

/// What is done to what, and who carries it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActionKind {
    ServiceRestart {
        host: Host,
        service: String,
    },
    GuestPower {
        power: GuestPower,
        via: GuestVia,
    },
    OnNode {
        op: NodeOp,
        node: String,
        service: String,
        via: NodeVia,
    },
}

/// A guest of Proxmox and what is to be done with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestPower {
    pub node: String,
    pub vmid: u32,
    pub guest: Guest,
    pub op: PowerOp,
}

/// Who switches a guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuestVia {
    Proxmox,
    /// `void-act` on the node itself, which is a host too.
    Host(Host),
}

/// Who works on a node's service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeVia {
    /// The pull executor of the node.
    Node,
    /// `void-act` on the node, which is a host too.
    Host(Host),
    /// A foreign executor that watches the file bridge; Void itself never executes it.
    File,
}

/// Which channel an execution takes, with what that channel needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route<'a> {
    /// `void-act` on this host.
    Host(&'a Host),
    Proxmox(&'a GuestPower),
    /// The pull executor of this node.
    Node(&'a str),
    /// A foreign executor that watches the file bridge; Void itself never executes it.
    File,
}

/// What shows afterwards that it worked. After a `scale` the machine's own count of the copies decides as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign<'a> {
    /// The check of this service.
    Service { id: &'a str, wanted: ExpectedState },
    /// The status that Proxmox tells of the guest.
    Guest {
        power: &'a GuestPower,
        wanted: ExpectedState,
    },
    /// Nothing: the run ends *not confirmed*.
    Nothing,
}

/// How a service or a guest is to be found afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedState {
    Up,
    Down,
}

impl Execution {
    pub fn route(&self) -> Route<'_> {
        match &self.kind {
            ActionKind::ServiceRestart { host, .. }
            | ActionKind::GuestPower {
                via: GuestVia::Host(host),
                ..
            }
            | ActionKind::OnNode {
                via: NodeVia::Host(host),
                ..
            } => Route::Host(host),
            ActionKind::GuestPower {
                power,
                via: GuestVia::Proxmox,
            } => Route::Proxmox(power),
            ActionKind::OnNode {
                node,
                via: NodeVia::Node,
                ..
            } => Route::Node(node),
            ActionKind::OnNode {
                via: NodeVia::File, ..
            } => Route::File,
        }
    }

    /// The host whose `void-act` runs it.
    pub fn host(&self) -> Option<&Host> {
        match self.route() {
            Route::Host(host) => Some(host),
            Route::Proxmox(_) | Route::Node(_) | Route::File => None,
        }
    }

    pub fn sign(&self) -> Sign<'_> {
        let power = self.kind.power();
        let wanted = match power.map(|power| power.op) {
            Some(PowerOp::Stop | PowerOp::Shutdown) => ExpectedState::Down,
            Some(PowerOp::Start | PowerOp::Reboot) | None => ExpectedState::Up,
        };
        match (&self.verify, power) {
            (Some(id), _) => Sign::Service { id, wanted },
            (None, Some(power)) => Sign::Guest { power, wanted },
            (None, None) => Sign::Nothing,
        }
    }
}

impl ActionKind {
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::ServiceRestart { .. } => "service_restart",
            Self::GuestPower { .. } => "guest_power",
            Self::OnNode { op, .. } => op.as_str(),
        }
    }

    /// What it works on, as it is written.
    pub fn target(&self) -> String {
        match self {
            Self::ServiceRestart { host, service } => format!("host:{}/{service}", host.name),
            Self::GuestPower { power, .. } => format!("guest:{}/{}", power.node, power.vmid),
            Self::OnNode { node, service, .. } => format!("node:{node}/{service}"),
        }
    }

    /// The same as a part of what the host can check.
    pub(crate) fn target_value(&self) -> Value {
        match self {
            Self::ServiceRestart { host, service } => {
                json!({"host": host.name, "service": service})
            }
            Self::GuestPower { power, .. } => {
                json!({"node": power.node, "vmid": power.vmid, "guest": power.guest.as_str()})
            }
            Self::OnNode { node, service, .. } => json!({"node": node, "service": service}),
        }
    }

    /// The machine that it names: a host, or a node.
    pub fn machine(&self) -> &str {
        match self {
            Self::ServiceRestart { host, .. } => host.name.as_str(),
            Self::GuestPower { power, .. } => &power.node,
            Self::OnNode { node, .. } => node,
        }
    }

    /// What it does, in the word that a person would use.
    pub const fn operation(&self) -> &'static str {
        match self {
            Self::ServiceRestart { .. } => "restart",
            Self::GuestPower { power, .. } => power.op.as_str(),
            Self::OnNode { op, .. } => match op {
                NodeOp::DeployService => "deploy",
                NodeOp::RestartService => "restart",
                NodeOp::Rollback => "rollback",
                NodeOp::Scale => "scale",
            },
        }
    }

    pub const fn power(&self) -> Option<&GuestPower> {
        match self {
            Self::GuestPower { power, .. } => Some(power),
            Self::ServiceRestart { .. } | Self::OnNode { .. } => None,
        }
    }

    pub const fn is_scale(&self) -> bool {
        matches!(
            self,
            Self::OnNode {
                op: NodeOp::Scale,
                ..
            }
        )
    }

    /// Whether stopping things is the point of it, or may be its effect.
    pub(crate) fn interrupts(&self) -> bool {
        self.power().is_none_or(|power| power.op != PowerOp::Start)
    }
}

impl GuestPower {
    /// The guest as Proxmox calls it: `CT 107`, `VM 200`.
    pub fn guest_name(&self) -> String {
        self.guest.name(self.vmid)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guest {
    Lxc,
    Qemu,
}

impl Guest {
    pub const ALL: [Self; 2] = [Self::Lxc, Self::Qemu];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lxc => "lxc",
            Self::Qemu => "qemu",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|guest| guest.as_str() == text)
    }

    /// `CT 107` or `VM 107`.
    pub fn name(self, vmid: u32) -> String {
        match self {
            Self::Lxc => format!("CT {vmid}"),
            Self::Qemu => format!("VM {vmid}"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PowerOp {
    Start,
    Stop,
    Shutdown,
    Reboot,
}

impl PowerOp {
    pub const ALL: [Self; 4] = [Self::Start, Self::Stop, Self::Shutdown, Self::Reboot];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Shutdown => "shutdown",
            Self::Reboot => "reboot",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.as_str() == text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeOp {
    DeployService,
    RestartService,
    Rollback,
    Scale,
}

impl NodeOp {
    pub const ALL: [Self; 4] = [
        Self::DeployService,
        Self::RestartService,
        Self::Rollback,
        Self::Scale,
    ];

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.as_str() == text)
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DeployService => "deploy_service",
            Self::RestartService => "restart_service",
            Self::Rollback => "rollback",
            Self::Scale => "scale",
        }
    }
}

/// Whether an action may name a service so.
pub(crate) fn is_service_name(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'@' | b'.' | b'_' | b':' | b'-'))
}

/// Whether an action may name a node so. A node's name stands in paths of Proxmox as it is.
pub(crate) fn is_node_name(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && !text.starts_with('-')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// Of the numbers that a `scale` takes, the one that says how many copies shall run: the number called `replicas`,
/// or the only number there is.
pub(crate) fn replicas_of<'a>(numbers: &[&'a str]) -> Option<&'a str> {
    match numbers {
        [only] => Some(only),
        several => several.iter().copied().find(|name| *name == "replicas"),
    }
}
