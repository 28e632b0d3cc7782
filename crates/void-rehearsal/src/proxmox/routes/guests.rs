//! The guests of a node, and one guest's current status.
//!
//! A list leaves out every guest without `VM.Audit`, so a token without rights gets an empty one; its
//! order is that of a Perl hash, which is none. In 8.1 a container's `vmid` is a string in the list and
//! a number in its status. `template` and `lock` are absent unless set, `pid` unless running.

use serde_json::{Value, json};

use crate::proxmox::answers::{ApiResponse, Refusal};
use crate::proxmox::cluster::{Cluster, GuestRecord};
use crate::proxmox::config::{GuestKind, GuestStatus, Release};
use crate::proxmox::power;
use crate::proxmox::routes::Call;
use crate::proxmox::rows::Row;

const MIB: u64 = 1 << 20;
pub(super) const CPUS: u32 = 2;
pub(super) const MEMORY: u64 = 2048 * MIB;
pub(super) const MEMORY_USED: u64 = 311 * MIB;
const SWAP: u64 = 512 * MIB;
pub(super) const DISK: u64 = 8192 * MIB;
pub(super) const DISK_USED: u64 = 1741 * MIB;
pub(super) const CPU_LOAD: f64 = 0.004_7;

pub(super) fn list(call: &Call<'_>, kind: GuestKind) -> Result<ApiResponse, Refusal> {
    let node = call.node();
    let release = call.simulation.release;
    let rows = call.simulation.with(|cluster| {
        let here = cluster.guests.values().filter(|record| {
            let guest = &record.guest;
            let path = format!("/vms/{}", guest.vmid);
            guest.node == node
                && guest.kind == kind
                && cluster.access.allows(call.who, &path, "VM.Audit")
        });
        let mut here: Vec<&GuestRecord> = here.collect();
        here.sort_by_key(|record| record.guest.vmid.wrapping_mul(2_654_435_761));
        here.into_iter()
            .map(|record| match kind {
                GuestKind::Lxc => container_row(cluster, record, release),
                GuestKind::Qemu if call.params.is_set("full") => full_machine(cluster, record),
                GuestKind::Qemu => machine(cluster, record),
            })
            .map(Value::from)
            .collect::<Vec<_>>()
    });
    Ok(ApiResponse::new(rows.into()))
}

pub(super) fn current(call: &Call<'_>, kind: GuestKind) -> Result<ApiResponse, Refusal> {
    let (node, vmid) = (call.node(), call.vmid());
    let status = call.simulation.with(|cluster| {
        let record = cluster.guests.get(&vmid).filter(|record| {
            let guest = &record.guest;
            guest.node == node && guest.kind == kind
        })?;
        let mut status = match kind {
            GuestKind::Lxc => container(cluster, record),
            GuestKind::Qemu => full_machine(cluster, record),
        };
        status.set("ha", json!({"managed": 0}));
        Some(status)
    });
    let status = status.ok_or_else(|| Refusal::died(&power::no_config(kind, vmid, &node)))?;
    Ok(ApiResponse::new(status.into()))
}

fn container_row(cluster: &Cluster, record: &GuestRecord, release: Release) -> Row {
    let mut row = container(cluster, record);
    match release {
        Release::V8_1 => row.set("vmid", record.guest.vmid.to_string()),
        Release::V8_4 | Release::V8_4_17 => {}
    }
    row
}

fn container(cluster: &Cluster, record: &GuestRecord) -> Row {
    let mut row = common(cluster, record);
    let runs = record.guest.status == GuestStatus::Running;
    row.set("type", "lxc");
    row.set("swap", 0);
    row.set("maxswap", SWAP);
    row.set("disk", if runs { DISK_USED } else { 0 });
    row.set("diskread", if runs { 20_480_000 } else { 0 });
    row.set("diskwrite", if runs { 8_192 } else { 0 });
    row
}

fn machine(cluster: &Cluster, record: &GuestRecord) -> Row {
    let mut row = common(cluster, record);
    row.set("disk", 0);
    row
}

/// What asking the machine itself adds.
fn full_machine(cluster: &Cluster, record: &GuestRecord) -> Row {
    let mut row = machine(cluster, record);
    row.set("qmpstatus", record.guest.status.word());
    if record.guest.status == GuestStatus::Running {
        row.set("running-machine", "pc-i440fx-9.2+pve1");
        row.set("running-qemu", "9.2.0");
        row.set("balloon", MEMORY);
        row.set("diskread", 20_480_000);
        row.set("diskwrite", 8_192);
        row.set(
            "proxmox-support",
            json!({"backup-max-workers": true, "query-bitmap-info": true}),
        );
    }
    row
}

fn common(cluster: &Cluster, record: &GuestRecord) -> Row {
    let guest = &record.guest;
    let runs = guest.status == GuestStatus::Running;
    let when_running = |number: u64| if runs { number } else { 0 };
    let mut row = Row::of(json!({
        "vmid": guest.vmid, "name": guest.name, "status": guest.status.word(), "cpus": CPUS,
        "maxmem": MEMORY, "maxdisk": DISK, "mem": when_running(MEMORY_USED),
        "uptime": when_running(cluster.uptime_s(record.since)),
        "cpu": if runs { CPU_LOAD } else { 0.0 },
        "netin": when_running(915_372), "netout": when_running(71_204),
    }));
    if runs {
        row.set("pid", record.pid);
    }
    if let Some(lock) = &guest.lock {
        row.set("lock", lock.as_str());
    }
    row
}
