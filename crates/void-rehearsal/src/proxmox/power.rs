//! Power operations: what is refused at once, what only the task finds out, and the task's work in time.
//!
//! As Proxmox 8.4 does it (`PVE/API2/LXC/Status.pm`, `PVE/LXC.pm`, `PVE/API2/Qemu.pm`,
//! `PVE/QemuServer.pm`):
//!
//! | | container | virtual machine |
//! |---|---|---|
//! | start, already running | 500 "CT 107 already running" | task fails "VM 104 already running" |
//! | stop or shutdown, not running | 500 "CT 107 not running" | task ends OK without effect |
//! | reboot, not running | 500 "VM 107 not running" | 500 "VM 104 not running" |
//! | locked: start, stop, shutdown | task fails "CT is locked (backup)" | task fails "VM is locked (backup)" |
//! | locked: reboot | stops it, then fails to start it | task fails "VM is locked (backup)" |
//! | no such guest | task fails "Configuration file … does not exist" | task or 500 "unable to find configuration file …" |
//!
//! Tasks of one guest wait for each other, ten seconds at most. A virtual machine's reboot ends when it
//! is down; a task `qmstart` of `root@pam` starts it again.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::clock;
use crate::proxmox::answers::{ApiResponse, Refusal};
use crate::proxmox::cluster::{Cluster, Simulation};
use crate::proxmox::config::{GuestKind, GuestStatus};
use crate::proxmox::faults::Fault;
use crate::proxmox::routes::Call;
use crate::proxmox::tasks::Upid;
use crate::proxmox::work::{self, Work};

const ROOT_ONLY: [&str; 9] = [
    "skiplock",
    "keepActive",
    "migratedfrom",
    "stateuri",
    "migration_type",
    "migration_network",
    "targetstorage",
    "force-cpu",
    "nets-host-mtu",
];
/// Unless a request says otherwise, a shutdown is waited for this long.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Start,
    Stop,
    Shutdown,
    Reboot,
}

impl Operation {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Shutdown => "shutdown",
            Self::Reboot => "reboot",
        }
    }
}

/// `POST …/status/{operation}`.
pub(crate) fn post(
    call: &Call<'_>,
    kind: GuestKind,
    operation: Operation,
) -> Result<ApiResponse, Refusal> {
    if let Some(name) = ROOT_ONLY.iter().find(|name| {
        call.params
            .text(name)
            .is_some_and(|value| !matches!(value, "" | "0"))
    }) {
        return Err(Refusal::parameter(name, "Only root may use this option."));
    }
    let vmid = call.vmid();
    let node = call.node();
    let upid = call.simulation.with(|cluster| {
        refused_at_once(cluster, kind, operation, vmid, &node)?;
        let user = call.who.full();
        open(cluster, kind, operation, vmid, &node, &user).ok_or_else(too_many)
    })?;
    let timeout = call.params.number("timeout").map(Duration::from_secs);
    let shown = Value::from(upid.to_string());
    let work = Work {
        upid,
        vmid,
        kind,
        operation,
        timeout: timeout.unwrap_or(SHUTDOWN_TIMEOUT),
        force: call.params.is_set("forceStop"),
        fault: call.faults.iter().find(|fault| is_of_tasks(fault)).cloned(),
    };
    tokio::spawn(work::run(Arc::clone(call.simulation), work));
    Ok(ApiResponse::new(shown))
}

/// A new task in the book; `None` if too many run.
pub(crate) fn open(
    cluster: &mut Cluster,
    kind: GuestKind,
    operation: Operation,
    vmid: u32,
    node: &str,
    user: &str,
) -> Option<Upid> {
    let prefix = match kind {
        GuestKind::Lxc => "vz",
        GuestKind::Qemu => "qm",
    };
    let upid = cluster.new_upid(node, format!("{prefix}{}", operation.word()), vmid, user);
    cluster.tasks.begin(upid.clone()).then_some(upid)
}

/// The checks that Proxmox does before it starts a task.
fn refused_at_once(
    cluster: &Cluster,
    kind: GuestKind,
    operation: Operation,
    vmid: u32,
    node: &str,
) -> Result<(), Refusal> {
    let record = cluster.guests.get(&vmid);
    let guest = record.map(|record| &record.guest);
    let guest = guest.filter(|guest| guest.node == node && guest.kind == kind);
    let runs = guest.is_some_and(|guest| guest.status == GuestStatus::Running);
    match (kind, operation) {
        (GuestKind::Lxc, Operation::Start) if runs => {
            Err(Refusal::died(&format!("CT {vmid} already running")))
        }
        (GuestKind::Lxc, Operation::Stop | Operation::Shutdown) if !runs => {
            Err(Refusal::died(&format!("CT {vmid} not running")))
        }
        (GuestKind::Qemu, Operation::Reboot) if guest.is_none() => {
            Err(Refusal::died(&not_on_node(vmid, node)))
        }
        (GuestKind::Lxc | GuestKind::Qemu, Operation::Reboot) if !runs => {
            Err(Refusal::died(&format!("VM {vmid} not running")))
        }
        (GuestKind::Lxc | GuestKind::Qemu, _) => Ok(()),
    }
}

pub(crate) fn not_on_node(vmid: u32, node: &str) -> String {
    format!("unable to find configuration file for VM {vmid} on node '{node}'")
}

pub(crate) fn no_config(kind: GuestKind, vmid: u32, node: &str) -> String {
    let folder = match kind {
        GuestKind::Lxc => "lxc",
        GuestKind::Qemu => "qemu-server",
    };
    format!("Configuration file 'nodes/{node}/{folder}/{vmid}.conf' does not exist")
}

/// The bound of this server, in the words Proxmox has for a worker that does not start.
fn too_many() -> Refusal {
    Refusal::died("unable to fork worker - Resource temporarily unavailable")
}

fn is_of_tasks(fault: &Fault) -> bool {
    matches!(fault, Fault::TaskFails(_) | Fault::TaskHangs)
}

/// Ends a task in the book.
pub(crate) fn close(simulation: &Simulation, upid: &Upid, result: Result<(), String>) {
    let exit = result.err().unwrap_or_else(|| "OK".to_owned());
    let at_s = clock::seconds(clock::now());
    simulation.with(|cluster| cluster.tasks.end(upid, at_s, exit));
}
