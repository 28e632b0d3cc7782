//! `/cluster/resources`: pools, guests, nodes and networks, each as far as the caller may see it.
//!
//! A guest whose node is away has the status `unknown` and no numbers. There is no storage to list.

use serde_json::{Value, json};

use crate::proxmox::answers::{ApiResponse, Refusal};
use crate::proxmox::cluster::{Cluster, GuestRecord};
use crate::proxmox::config::GuestStatus;
use crate::proxmox::routes::{Call, guests, nodes};
use crate::proxmox::rows::Row;

pub(super) fn resources(call: &Call<'_>) -> Result<ApiResponse, Refusal> {
    let wanted = call.params.text("type");
    let wants = |kind: &str| wanted.is_none_or(|wanted| wanted == kind);
    let rows = call.simulation.with(|cluster| {
        let mut rows = Vec::new();
        if wanted.is_none() {
            rows.extend(pools(call, cluster));
        }
        if wants("vm") {
            rows.extend(guest_rows(call, cluster));
        }
        if wants("node") {
            rows.extend(cluster.nodes.iter().map(|node| {
                let mut row = nodes::row(call, cluster, node);
                row.set("cgroup-mode", 2);
                Value::from(row)
            }));
        }
        if wants("sdn")
            && cluster
                .access
                .allows(call.who, "/sdn/zones/localnetwork", "SDN.Audit")
        {
            rows.extend(cluster.nodes.iter().map(|node| network(&node.name)));
        }
        rows
    });
    Ok(ApiResponse::new(rows.into()))
}

fn pools(call: &Call<'_>, cluster: &Cluster) -> Vec<Value> {
    let seen = cluster.access.pools.iter().filter(|pool| {
        let path = format!("/pool/{}", pool.name);
        cluster.access.allows(call.who, &path, "Pool.Audit")
    });
    seen.map(
        |pool| json!({"id": format!("/pool/{}", pool.name), "pool": pool.name, "type": "pool"}),
    )
    .collect()
}

fn guest_rows(call: &Call<'_>, cluster: &Cluster) -> Vec<Value> {
    let seen = cluster.guests.values().filter(|record| {
        let path = format!("/vms/{}", record.guest.vmid);
        cluster.access.allows(call.who, &path, "VM.Audit")
    });
    let mut rows: Vec<(String, Value)> = seen
        .map(|record| {
            (
                record.guest.vmid.to_string(),
                guest_row(call, cluster, record),
            )
        })
        .collect();
    // Perl sorts the numbers as text: 1000 comes before 101.
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    rows.into_iter().map(|(_, row)| row).collect()
}

fn guest_row(call: &Call<'_>, cluster: &Cluster, record: &GuestRecord) -> Value {
    let guest = &record.guest;
    let mut row = Row::of(json!({
        "id": format!("{}/{}", guest.kind.path(), guest.vmid), "vmid": guest.vmid,
        "node": guest.node, "type": guest.kind.path(), "status": "unknown",
    }));
    if cluster.is_online(&guest.node) {
        let runs = guest.status == GuestStatus::Running;
        let when_running = |number: u64| Value::from(if runs { number } else { 0 });
        row.set("status", guest.status.word());
        row.set("name", guest.name.as_str());
        row.set("template", 0);
        row.set("maxcpu", guests::CPUS);
        row.set("maxmem", guests::MEMORY);
        row.set("maxdisk", guests::DISK);
        row.set("cpu", if runs { guests::CPU_LOAD } else { 0.0 });
        row.set("mem", when_running(guests::MEMORY_USED));
        row.set("disk", when_running(guests::DISK_USED));
        row.set("uptime", when_running(cluster.uptime_s(record.since)));
        row.set("netin", when_running(915_372));
        row.set("netout", when_running(71_204));
        row.set("diskread", when_running(20_480_000));
        row.set("diskwrite", when_running(8_192));
    }
    if let Some(lock) = &guest.lock {
        row.set("lock", lock.as_str());
    }
    let pool = cluster.access.pool_of(guest.vmid);
    let pool = pool.filter(|pool| {
        let path = format!("/pool/{}", pool.name);
        cluster.access.allows(call.who, &path, "Pool.Audit")
    });
    if let Some(pool) = pool {
        row.set("pool", pool.name.as_str());
    }
    row.into()
}

fn network(node: &str) -> Value {
    json!({
        "id": format!("sdn/{node}/localnetwork"), "sdn": "localnetwork", "node": node, "type": "sdn",
        "status": "ok",
    })
}
