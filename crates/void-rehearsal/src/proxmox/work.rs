//! A power operation's task at work: it waits for the guest's lock, looks again, takes its time, acts,
//! and says how it ended. The rules are in [`power`](super::power).

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::clock;
use crate::proxmox::access::ROOT;
use crate::proxmox::cluster::{Effect, Simulation};
use crate::proxmox::config::{Guest, GuestKind, GuestStatus, OnShutdown};
use crate::proxmox::faults::Fault;
use crate::proxmox::power::{self, Operation};
use crate::proxmox::tasks::Upid;

/// As long as Proxmox waits for another task on the same guest.
const CONFIG_LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest that a request may make a task wait for a guest that does not shut down.
const SHUTDOWN_TIMEOUT_MAX: Duration = Duration::from_secs(3600);

pub(crate) struct Work {
    pub upid: Upid,
    pub vmid: u32,
    pub kind: GuestKind,
    pub operation: Operation,
    pub timeout: Duration,
    pub force: bool,
    pub fault: Option<Fault>,
}

pub(crate) async fn run(simulation: Arc<Simulation>, work: Work) {
    let result = perform(&simulation, &work).await;
    let restarts = result == Ok(Done::WillStartAgain);
    power::close(&simulation, &work.upid, result.map(|_| ()));
    if restarts {
        start_again(&simulation, &work).await;
    }
}

#[derive(PartialEq, Eq)]
enum Done {
    Finally,
    /// A virtual machine went down for its reboot.
    WillStartAgain,
}

async fn perform(simulation: &Arc<Simulation>, work: &Work) -> Result<Done, String> {
    let known = simulation.with(|cluster| cluster.guests.get(&work.vmid).cloned());
    let record = known
        .filter(|record| record.guest.node == work.upid.node && record.guest.kind == work.kind)
        .ok_or_else(|| missing(work))?;
    let Ok(_held) = timeout(CONFIG_LOCK_TIMEOUT, record.config_lock.lock()).await else {
        return Err(lock_timed_out(work));
    };
    // What was true when the task began may have changed while it waited.
    let now = simulation.with(|cluster| cluster.guests.get(&work.vmid).cloned());
    let guest = now.ok_or_else(|| missing(work))?.guest;
    let runs = guest.status == GuestStatus::Running;
    if !has_work(work, &guest, runs)? {
        return Ok(Done::Finally);
    }
    match &work.fault {
        Some(Fault::TaskHangs) => std::future::pending::<()>().await,
        Some(Fault::TaskFails(exit)) => {
            sleep(duration(simulation, work)).await;
            return Err(exit.clone());
        }
        Some(_) | None => {}
    }
    match work.operation {
        Operation::Start => {
            sleep(duration(simulation, work)).await;
            act(simulation, work, GuestStatus::Running).await;
        }
        Operation::Stop => {
            sleep(duration(simulation, work)).await;
            act(simulation, work, GuestStatus::Stopped).await;
        }
        Operation::Shutdown => shut_down(simulation, work, &guest, work.force).await?,
        Operation::Reboot => return reboot(simulation, work, &guest).await,
    }
    Ok(Done::Finally)
}

/// Whether there is anything to do, judged as Proxmox does inside the task.
fn has_work(work: &Work, guest: &Guest, runs: bool) -> Result<bool, String> {
    let lock = guest.lock.as_deref();
    match (work.kind, work.operation) {
        (GuestKind::Lxc, Operation::Start | Operation::Stop) => {
            refuse_lock("CT", lock.filter(|&lock| lock != "mounted"))?;
            Ok(runs != (work.operation == Operation::Start))
        }
        (GuestKind::Lxc, Operation::Shutdown) => refuse_lock("CT", lock).map(|()| runs),
        (GuestKind::Lxc, Operation::Reboot) => Ok(runs),
        // A backup runs inside the machine's own process: starting it means resuming it.
        (GuestKind::Qemu, Operation::Start) if runs && lock == Some("backup") => Ok(false),
        (GuestKind::Qemu, Operation::Start) => {
            refuse_lock("VM", lock.filter(|&lock| lock != "suspended"))?;
            if runs {
                return Err(format!("VM {} already running", work.vmid));
            }
            Ok(true)
        }
        (GuestKind::Qemu, Operation::Stop | Operation::Shutdown | Operation::Reboot) => {
            if runs {
                refuse_lock("VM", lock)?;
            }
            Ok(runs)
        }
    }
}

fn refuse_lock(what: &str, lock: Option<&str>) -> Result<(), String> {
    lock.map_or(Ok(()), |lock| Err(format!("{what} is locked ({lock})")))
}

/// Asks the guest to go down and waits; past the limit it is killed if `force` says so.
async fn shut_down(
    simulation: &Arc<Simulation>,
    work: &Work,
    guest: &Guest,
    force: bool,
) -> Result<(), String> {
    let limit = work.timeout.min(SHUTDOWN_TIMEOUT_MAX);
    let takes = match guest.on_shutdown {
        OnShutdown::Obeys => duration(simulation, work),
        OnShutdown::Ignores => Duration::MAX,
    };
    sleep(takes.min(limit)).await;
    if takes > limit {
        let (line, error) = match work.kind {
            GuestKind::Lxc => (lxc_stop_failed(work), "container did not stop"),
            GuestKind::Qemu => (
                "VM still running - terminating now with SIGTERM".to_owned(),
                "VM quit/powerdown failed - got timeout",
            ),
        };
        if !force {
            if work.kind == GuestKind::Lxc {
                write(simulation, work, &line);
            }
            return Err(error.to_owned());
        }
        write(simulation, work, &line);
    }
    act(simulation, work, GuestStatus::Stopped).await;
    Ok(())
}

async fn reboot(simulation: &Arc<Simulation>, work: &Work, guest: &Guest) -> Result<Done, String> {
    match work.kind {
        GuestKind::Qemu => {
            shut_down(simulation, work, guest, false).await?;
            Ok(Done::WillStartAgain)
        }
        GuestKind::Lxc => {
            shut_down(simulation, work, guest, true).await?;
            if guest.lock.as_deref().is_some_and(|lock| lock != "mounted") {
                return Err(format!("startup for container '{}' failed", work.vmid));
            }
            act(simulation, work, GuestStatus::Running).await;
            Ok(Done::Finally)
        }
    }
}

/// What Proxmox' event daemon does when a machine that is to reboot went down.
async fn start_again(simulation: &Arc<Simulation>, work: &Work) {
    let (kind, vmid) = (work.kind, work.vmid);
    let node = &work.upid.node;
    let upid =
        simulation.with(|cluster| power::open(cluster, kind, Operation::Start, vmid, node, ROOT));
    let Some(upid) = upid else { return };
    let start = Work {
        upid,
        vmid,
        kind,
        operation: Operation::Start,
        timeout: work.timeout,
        force: false,
        fault: None,
    };
    let result = perform_start(simulation, &start).await;
    power::close(simulation, &start.upid, result);
}

async fn perform_start(simulation: &Arc<Simulation>, start: &Work) -> Result<(), String> {
    // Boxed, because the compiler sees a cycle: a reboot starts a start, which is also a performance.
    Box::pin(perform(simulation, start)).await.map(|_| ())
}

/// Changes the guest's status and waits for the hook, which may block.
async fn act(simulation: &Arc<Simulation>, work: &Work, to: GuestStatus) {
    let upid = work.upid.to_string();
    let is_second_half = work.operation == Operation::Reboot && to == GuestStatus::Running;
    let effect = (!is_second_half).then(|| Effect {
        at: clock::now(),
        vmid: work.vmid,
        operation: work.operation,
        left: to,
        upid: upid.clone(),
    });
    let (shared, vmid) = (Arc::clone(simulation), work.vmid);
    let switched = tokio::task::spawn_blocking(move || shared.switch(vmid, to, effect)).await;
    if is_second_half && switched.unwrap_or(false) {
        simulation.complete_effect(&upid, to);
    }
}

fn duration(simulation: &Simulation, work: &Work) -> Duration {
    let durations = &simulation.durations;
    match work.operation {
        Operation::Start => durations.start,
        Operation::Stop => durations.stop,
        Operation::Shutdown => durations.shutdown,
        Operation::Reboot => durations.reboot,
    }
}

fn missing(work: &Work) -> String {
    let node = &work.upid.node;
    match (work.kind, work.operation) {
        (GuestKind::Qemu, Operation::Stop | Operation::Shutdown | Operation::Reboot) => {
            power::not_on_node(work.vmid, node)
        }
        (GuestKind::Lxc | GuestKind::Qemu, _) => power::no_config(work.kind, work.vmid, node),
    }
}

fn lock_timed_out(work: &Work) -> String {
    let file = match work.kind {
        GuestKind::Lxc => format!("/run/lock/lxc/pve-config-{}.lock", work.vmid),
        GuestKind::Qemu => format!("/var/lock/qemu-server/lock-{}.conf", work.vmid),
    };
    format!("can't lock file '{file}' - got timeout")
}

fn lxc_stop_failed(work: &Work) -> String {
    let (vmid, limit) = (work.vmid, work.timeout.as_secs());
    format!("command 'lxc-stop -n {vmid} --nokill --timeout {limit}' failed: exit code 1")
}

fn write(simulation: &Simulation, work: &Work, line: &str) {
    simulation.with(|cluster| cluster.tasks.write(&work.upid, line));
}
