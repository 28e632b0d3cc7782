//! `/version`, `/nodes` and a node's status.
//!
//! Without `Sys.Audit` on a node its name and status are still listed, its numbers are not. Strings
//! where Perl makes them: `loadavg`, `cpuinfo.mhz`, `cpuinfo.hvm`.

use serde_json::{Value, json};

use crate::proxmox::answers::{ApiResponse, Refusal};
use crate::proxmox::cluster::Cluster;
use crate::proxmox::config::{Node, Reach};
use crate::proxmox::routes::Call;
use crate::proxmox::rows::Row;

const GIB: u64 = 1 << 30;
pub(super) const NODE_CPUS: u32 = 8;
const MEMORY: u64 = 32 * GIB;
const MEMORY_USED: u64 = 11 * GIB;
const DISK: u64 = 96 * GIB;
const DISK_USED: u64 = 21 * GIB;
const KERNEL: &str = "6.8.12-9-pve";
const REPOID: &str = "2a5fa54a8503f96d";

pub(super) fn version(call: &Call<'_>) -> Result<ApiResponse, Refusal> {
    let release = call.simulation.release;
    Ok(ApiResponse::new(json!({
        "version": release.version(), "release": release.point(), "repoid": REPOID,
    })))
}

pub(super) fn list(call: &Call<'_>) -> Result<ApiResponse, Refusal> {
    let rows = call.simulation.with(|cluster| {
        let nodes = cluster.nodes.iter();
        nodes
            .map(|node| Value::from(row(call, cluster, node)))
            .collect::<Vec<_>>()
    });
    Ok(ApiResponse::new(rows.into()))
}

/// A node's row, here and in the cluster's resources.
pub(super) fn row(call: &Call<'_>, cluster: &Cluster, node: &Node) -> Row {
    let name = &node.name;
    let sees_numbers = cluster
        .access
        .allows(call.who, &format!("/nodes/{name}"), "Sys.Audit");
    let mut row = Row::of(json!({
        "id": format!("node/{name}"), "node": name, "type": "node", "level": "",
        "status": match node.reach { Reach::Online | Reach::NoApi => "online", Reach::Offline => "offline" },
    }));
    if sees_numbers {
        row.set("maxcpu", NODE_CPUS);
        row.set("maxmem", MEMORY);
        row.set("maxdisk", DISK);
    }
    if sees_numbers && node.reach != Reach::Offline {
        row.set("uptime", cluster.uptime_s(cluster.booted));
        row.set("cpu", 0.031_25);
        row.set("mem", MEMORY_USED);
        row.set("disk", DISK_USED);
    }
    row
}

pub(super) fn status(call: &Call<'_>) -> Result<ApiResponse, Refusal> {
    let uptime = call
        .simulation
        .with(|cluster| cluster.uptime_s(cluster.booted));
    let version = call.simulation.release.version();
    Ok(ApiResponse::new(json!({
        "uptime": uptime, "idle": 0, "cpu": 0.031_25, "wait": 0.000_8,
        "loadavg": ["0.18", "0.21", "0.17"],
        "kversion": format!("Linux {KERNEL} #1 SMP PREEMPT_DYNAMIC PMX 6.8.12-9"),
        "current-kernel": {
            "sysname": "Linux", "release": KERNEL, "version": "#1 SMP PREEMPT_DYNAMIC PMX 6.8.12-9",
            "machine": "x86_64",
        },
        "boot-info": {"mode": "efi", "secureboot": 0},
        "cpuinfo": {
            "model": "Rehearsal CPU", "sockets": 1, "cores": 4, "cpus": NODE_CPUS, "user_hz": 100,
            "mhz": "2904.000", "hvm": "1", "flags": "fpu vme vmx sse2",
        },
        "memory": {"total": MEMORY, "used": MEMORY_USED, "free": MEMORY - MEMORY_USED},
        "swap": {"total": 8 * GIB, "used": 0, "free": 8 * GIB},
        "ksm": {"shared": 0},
        "rootfs": {"total": DISK, "used": DISK_USED, "free": DISK - DISK_USED, "avail": DISK - DISK_USED},
        "pveversion": format!("pve-manager/{version}/{REPOID}"),
    })))
}
