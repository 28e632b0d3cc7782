//! The simulated cluster's state behind one lock: nodes, guests, access, tasks, and what happened.
//!
//! A guest's status changes in [`Simulation::switch`] alone, which records the effect first and calls
//! the hook after; so the effect log counts what really happened, whatever the client was told.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use void_domain::time::Timestamp;

use crate::clock;
use crate::proxmox::access::Access;
use crate::proxmox::config::{
    Guest, GuestHook, GuestStatus, Node, ProxmoxConfig, Reach, Release, TaskDurations,
};
use crate::proxmox::faults::Faults;
use crate::proxmox::power::Operation;
use crate::proxmox::tasks::{TaskBook, Upid};

/// Requests and effects that are remembered; the oldest go first.
pub const HISTORY_MAX: usize = 10_000;
/// How long the simulated nodes have been up when the server starts.
const UPTIME_AT_START: Duration = Duration::from_secs(12 * 86_400 + 3_600);
const FIRST_PID: u32 = 0x0001_8C21;
/// Linux counts processes in 22 bits at most.
const PID_MAX: u32 = 1 << 22;
const TICKS_PER_SECOND: u64 = 100;

/// A power operation that changed a guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    pub at: Timestamp,
    pub vmid: u32,
    pub operation: Operation,
    /// What it left behind. A reboot whose start failed leaves a stopped guest.
    pub left: GuestStatus,
    pub upid: String,
}

/// A request as it arrived, right or wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    pub at: Timestamp,
    pub method: String,
    /// Without `/api2/json` and without the query.
    pub path: String,
    /// The token id that it claimed.
    pub token: Option<String>,
}

/// A guest and what only a running machine knows of it.
#[derive(Debug, Clone)]
pub(crate) struct GuestRecord {
    pub guest: Guest,
    pub pid: u32,
    pub since: Timestamp,
    /// Proxmox' file lock of the configuration: one task at a time.
    pub config_lock: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug)]
pub(crate) struct Cluster {
    pub nodes: Vec<Node>,
    pub guests: BTreeMap<u32, GuestRecord>,
    pub access: Access,
    pub tasks: TaskBook,
    pub effects: VecDeque<Effect>,
    pub received: VecDeque<Received>,
    pub received_total: u64,
    pub booted: Timestamp,
    next_pid: u32,
}

impl Cluster {
    /// The node whose API this is.
    pub(crate) fn entry(&self) -> &str {
        self.nodes.first().map_or("localhost", |node| &node.name)
    }

    pub(crate) fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name == name)
    }

    /// Whether the cluster hears from a node.
    pub(crate) fn is_online(&self, name: &str) -> bool {
        self.node(name)
            .is_some_and(|node| node.reach != Reach::Offline)
    }

    pub(crate) fn next_pid(&mut self) -> u32 {
        self.next_pid = (self.next_pid + 7) % PID_MAX;
        self.next_pid.max(300)
    }

    pub(crate) fn add_guest(&mut self, guest: Guest, now: Timestamp) {
        let pid = self.next_pid();
        let record = GuestRecord {
            pid,
            since: now,
            config_lock: Arc::default(),
            guest,
        };
        self.guests.insert(record.guest.vmid, record);
    }

    pub(crate) fn new_upid(&mut self, node: &str, kind: String, vmid: u32, user: &str) -> Upid {
        let now = clock::now();
        let up = now.since(self.booted).as_millis() * u128::from(TICKS_PER_SECOND) / 1000;
        Upid {
            node: node.to_owned(),
            pid: self.next_pid(),
            pstart: u64::try_from(up).unwrap_or(u64::MAX),
            starttime: clock::seconds(now),
            kind,
            id: vmid.to_string(),
            user: user.to_owned(),
        }
    }

    pub(crate) fn uptime_s(&self, since: Timestamp) -> u64 {
        clock::now().since(since).as_secs()
    }

    fn remember(&mut self, effect: Effect) {
        if self.effects.len() >= HISTORY_MAX {
            self.effects.pop_front();
        }
        self.effects.push_back(effect);
    }

    fn set_status(&mut self, vmid: u32, status: GuestStatus) -> bool {
        let pid = self.next_pid();
        let Some(record) = self.guests.get_mut(&vmid) else {
            return false;
        };
        let changes = record.guest.status != status;
        if changes {
            record.guest.status = status;
            record.since = clock::now();
            record.pid = pid;
        }
        changes
    }
}

/// What the server, its tasks and its handle share.
pub(crate) struct Simulation {
    pub release: Release,
    pub durations: TaskDurations,
    pub unauthorized_delay: Duration,
    pub idle_time_max: Duration,
    pub faults: Faults,
    hook: Option<GuestHook>,
    cluster: Mutex<Cluster>,
}

impl Simulation {
    pub(crate) fn new(config: ProxmoxConfig) -> Self {
        let now = clock::now();
        let mut cluster = Cluster {
            nodes: config.nodes,
            guests: BTreeMap::new(),
            access: config.access,
            tasks: TaskBook::default(),
            effects: VecDeque::new(),
            received: VecDeque::new(),
            received_total: 0,
            booted: now.minus(UPTIME_AT_START),
            next_pid: FIRST_PID,
        };
        for guest in config.guests {
            cluster.add_guest(guest, now);
        }
        Self {
            release: config.release,
            durations: config.durations,
            unauthorized_delay: config.unauthorized_delay,
            idle_time_max: config.idle_time_max,
            faults: Faults::default(),
            hook: config.on_guest_change,
            cluster: Mutex::new(cluster),
        }
    }

    /// The only way to the state; never held across an await.
    pub(crate) fn with<R>(&self, look: impl FnOnce(&mut Cluster) -> R) -> R {
        look(&mut self.cluster.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn record_request(&self, received: Received) {
        self.with(|cluster| {
            cluster.received_total += 1;
            if cluster.received.len() >= HISTORY_MAX {
                cluster.received.pop_front();
            }
            cluster.received.push_back(received);
        });
    }

    /// Changes a guest's status, if it is another one: effect first, then the hook. Blocks as long as
    /// the hook does. Says whether it changed.
    pub(crate) fn switch(&self, vmid: u32, to: GuestStatus, effect: Option<Effect>) -> bool {
        let changed = self.with(|cluster| {
            let changed = cluster.set_status(vmid, to);
            if let Some(effect) = effect.filter(|_| changed) {
                cluster.remember(effect);
            }
            changed
        });
        if let Some(hook) = self.hook.as_ref().filter(|_| changed) {
            hook(vmid, to == GuestStatus::Running);
        }
        changed
    }

    /// A reboot is one operation: its start completes the effect that its stop began.
    pub(crate) fn complete_effect(&self, upid: &str, left: GuestStatus) {
        self.with(|cluster| {
            if let Some(effect) = cluster
                .effects
                .iter_mut()
                .rev()
                .find(|one| one.upid == upid)
            {
                effect.left = left;
            }
        });
    }
}
