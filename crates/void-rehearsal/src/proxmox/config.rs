//! What a simulated cluster consists of at its start. Everything here can be changed later through the
//! server's handle.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::proxmox::access::Access;
use crate::proxmox::params::is_node_name;

/// The lowest and highest number that Proxmox gives to a guest.
pub const VMID_MIN: u32 = 100;
pub const VMID_MAX: u32 = 999_999_999;
/// Guests that one simulated cluster holds.
pub const GUESTS_MAX: usize = 10_000;

/// Called whenever a guest starts (`true`) or stops (`false`), after its status changed and before the
/// task that did it ends. It may block.
pub type GuestHook = Arc<dyn Fn(u32, bool) + Send + Sync>;

#[derive(Clone)]
pub struct ProxmoxConfig {
    /// The loopback port to listen on; 0 takes a free one.
    pub port: u16,
    pub release: Release,
    /// The first one is the node whose API this is; requests for the others are proxied, as clients see it.
    pub nodes: Vec<Node>,
    pub guests: Vec<Guest>,
    pub access: Access,
    pub durations: TaskDurations,
    /// How long a refused login waits for its answer. Proxmox waits three seconds.
    pub unauthorized_delay: Duration,
    /// How long a kept connection may be idle before it is closed. Proxmox waits five seconds.
    pub idle_time_max: Duration,
    pub on_guest_change: Option<GuestHook>,
}

impl ProxmoxConfig {
    pub fn new(nodes: Vec<Node>, guests: Vec<Guest>, access: Access) -> Self {
        Self {
            port: 0,
            release: Release::V8_4,
            nodes,
            guests,
            access,
            durations: TaskDurations::default(),
            unauthorized_delay: Duration::from_secs(3),
            idle_time_max: Duration::from_secs(5),
            on_guest_change: None,
        }
    }

    /// Refuses what no cluster could be.
    pub(crate) fn check(&self) -> io::Result<()> {
        let wrong = |what: String| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        if self.nodes.is_empty() {
            return wrong("a cluster has at least one node".to_owned());
        }
        let mut names = BTreeSet::new();
        for Node { name, .. } in &self.nodes {
            if !is_node_name(name) || !names.insert(name) {
                return wrong(format!("node {name}: not a name of its own"));
            }
        }
        if self.guests.len() > GUESTS_MAX {
            return wrong(format!("more than {GUESTS_MAX} guests"));
        }
        let mut seen = BTreeSet::new();
        for guest in &self.guests {
            if !guest.has_vmid() || !seen.insert(guest.vmid) {
                return wrong(format!("guest {}: not a number of its own", guest.vmid));
            }
            if !names.contains(&guest.node) {
                return wrong(format!("guest {}: no node {}", guest.vmid, guest.node));
            }
        }
        Ok(())
    }
}

impl fmt::Debug for ProxmoxConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxmoxConfig")
            .field("release", &self.release)
            .field("nodes", &self.nodes)
            .field("guests", &self.guests)
            .finish_non_exhaustive()
    }
}

/// Which Proxmox VE answers; what differs for a client is said at each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// November 2023: `vmid` in the container list is a string, error bodies have no `message`.
    V8_1,
    /// April 2025: `vmid` is a number everywhere, error bodies repeat the reason as `message`.
    V8_4,
    /// February 2026: as 8.4, and every refused token is told "Authentication failed!".
    V8_4_17,
}

impl Release {
    pub(crate) fn version(self) -> &'static str {
        match self {
            Self::V8_1 => "8.1.3",
            Self::V8_4 => "8.4.1",
            Self::V8_4_17 => "8.4.17",
        }
    }

    pub(crate) fn point(self) -> &'static str {
        match self {
            Self::V8_1 => "8.1",
            Self::V8_4 | Self::V8_4_17 => "8.4",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub name: String,
    pub reach: Reach,
}

impl Node {
    pub fn online(name: &str) -> Self {
        let name = name.to_owned();
        let reach = Reach::Online;
        Self { name, reach }
    }

    pub fn offline(name: &str) -> Self {
        let name = name.to_owned();
        let reach = Reach::Offline;
        Self { name, reach }
    }
}

/// How far the cluster reaches a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    Online,
    /// It runs, but its API does not: requests for it are answered 595 "Connection refused".
    NoApi,
    /// Requests for it are answered 595 "No route to host".
    Offline,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GuestKind {
    Lxc,
    Qemu,
}

impl GuestKind {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Lxc => "lxc",
            Self::Qemu => "qemu",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuestStatus {
    Running,
    Stopped,
}

impl GuestStatus {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
        }
    }
}

/// What a guest does when it is asked to shut down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnShutdown {
    Obeys,
    /// The shutdown runs into its time limit.
    Ignores,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guest {
    pub vmid: u32,
    pub node: String,
    pub kind: GuestKind,
    pub name: String,
    pub status: GuestStatus,
    /// Proxmox' own lock of the configuration: `backup`, `migrate`, `snapshot`, …
    pub lock: Option<String>,
    pub on_shutdown: OnShutdown,
}

impl Guest {
    /// A stopped container.
    pub fn lxc(vmid: u32, node: &str, name: &str) -> Self {
        Self::stopped(GuestKind::Lxc, vmid, node, name)
    }

    /// A stopped virtual machine.
    pub fn qemu(vmid: u32, node: &str, name: &str) -> Self {
        Self::stopped(GuestKind::Qemu, vmid, node, name)
    }

    #[must_use]
    pub fn running(mut self) -> Self {
        self.status = GuestStatus::Running;
        self
    }

    #[must_use]
    pub fn locked(mut self, lock: &str) -> Self {
        self.lock = Some(lock.to_owned());
        self
    }

    #[must_use]
    pub fn ignoring_shutdown(mut self) -> Self {
        self.on_shutdown = OnShutdown::Ignores;
        self
    }

    /// Whether its number is one that Proxmox would give.
    pub(crate) fn has_vmid(&self) -> bool {
        (VMID_MIN..=VMID_MAX).contains(&self.vmid)
    }

    fn stopped(kind: GuestKind, vmid: u32, node: &str, name: &str) -> Self {
        Self {
            vmid,
            node: node.to_owned(),
            kind,
            name: name.to_owned(),
            status: GuestStatus::Stopped,
            lock: None,
            on_shutdown: OnShutdown::Obeys,
        }
    }
}

/// How long the tasks of each operation take when nothing goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskDurations {
    pub start: Duration,
    pub stop: Duration,
    pub shutdown: Duration,
    pub reboot: Duration,
}

impl TaskDurations {
    pub const fn all(duration: Duration) -> Self {
        Self {
            start: duration,
            stop: duration,
            shutdown: duration,
            reboot: duration,
        }
    }
}

impl Default for TaskDurations {
    fn default() -> Self {
        Self {
            start: Duration::from_millis(900),
            stop: Duration::from_millis(400),
            shutdown: Duration::from_millis(1500),
            reboot: Duration::from_millis(2000),
        }
    }
}
