//! Every route of the rehearsal server.

use crate::proxmox::answers::{ApiResponse, Refusal};
use crate::proxmox::config::GuestKind;
use crate::proxmox::params::Kind::{Flag, Integer, Natural, Node, OneOf, Text, Vmid};
use crate::proxmox::params::{Param, optional, required};
use crate::proxmox::power::{self, Operation};
use crate::proxmox::routes::Needs::{Login, Privilege, Ticket};
use crate::proxmox::routes::RunsOn::Here;
use crate::proxmox::routes::{Call, Needs, Route, RunsOn, access, cluster, guests, nodes, tasks};

type Handler = fn(&Call<'_>) -> Result<ApiResponse, Refusal>;

const AUDIT_GUEST: Needs = Privilege("/vms/{vmid}", "VM.Audit");
const POWER_GUEST: Needs = Privilege("/vms/{vmid}", "VM.PowerMgmt");

pub(super) const ROUTES: &[Route] = &[
    here("/version", &[], nodes::version),
    here("/nodes", &[], nodes::list),
    here(
        "/cluster/resources",
        &[optional("type", OneOf(&["vm", "storage", "node", "sdn"]))],
        cluster::resources,
    ),
    here(
        "/access/permissions",
        &[optional("userid", Text), optional("path", Text)],
        access::permissions,
    ),
    Route {
        method: "POST",
        path: "/access/ticket",
        needs: Ticket,
        runs_on: Here,
        params: &[
            required("username", Text),
            required("password", Text),
            optional("realm", Text),
            optional("otp", Text),
            optional("path", Text),
            optional("privs", Text),
            optional("new-format", Flag),
            optional("tfa-challenge", Text),
        ],
        handle: access::ticket,
    },
    on_node(
        "/nodes/{node}/status",
        Privilege("/nodes/{node}", "Sys.Audit"),
        &[NODE],
        nodes::status,
    ),
    on_node("/nodes/{node}/lxc", Login, &[NODE], |call| {
        guests::list(call, GuestKind::Lxc)
    }),
    on_node(
        "/nodes/{node}/qemu",
        Login,
        &[NODE, optional("full", Flag)],
        |call| guests::list(call, GuestKind::Qemu),
    ),
    on_node(
        "/nodes/{node}/lxc/{vmid}/status/current",
        AUDIT_GUEST,
        &[NODE, VMID],
        |call| guests::current(call, GuestKind::Lxc),
    ),
    on_node(
        "/nodes/{node}/qemu/{vmid}/status/current",
        AUDIT_GUEST,
        &[NODE, VMID],
        |call| guests::current(call, GuestKind::Qemu),
    ),
    power(
        "/nodes/{node}/lxc/{vmid}/status/start",
        &[NODE, VMID, SKIPLOCK, optional("debug", Flag)],
        |call| power::post(call, GuestKind::Lxc, Operation::Start),
    ),
    power(
        "/nodes/{node}/lxc/{vmid}/status/stop",
        &[NODE, VMID, SKIPLOCK, optional("overrule-shutdown", Flag)],
        |call| power::post(call, GuestKind::Lxc, Operation::Stop),
    ),
    power(
        "/nodes/{node}/lxc/{vmid}/status/shutdown",
        &[NODE, VMID, TIMEOUT, optional("forceStop", Flag)],
        |call| power::post(call, GuestKind::Lxc, Operation::Shutdown),
    ),
    power(
        "/nodes/{node}/lxc/{vmid}/status/reboot",
        &[NODE, VMID, TIMEOUT],
        |call| power::post(call, GuestKind::Lxc, Operation::Reboot),
    ),
    power(
        "/nodes/{node}/qemu/{vmid}/status/start",
        &[
            NODE,
            VMID,
            SKIPLOCK,
            TIMEOUT,
            optional("stateuri", Text),
            optional("migratedfrom", Node),
            optional("migration_type", OneOf(&["secure", "insecure"])),
            optional("migration_network", Text),
            optional("machine", Text),
            optional("force-cpu", Text),
            optional("targetstorage", Text),
            optional("nets-host-mtu", Text),
        ],
        |call| power::post(call, GuestKind::Qemu, Operation::Start),
    ),
    power(
        "/nodes/{node}/qemu/{vmid}/status/stop",
        &[
            NODE,
            VMID,
            SKIPLOCK,
            TIMEOUT,
            optional("migratedfrom", Node),
            optional("keepActive", Flag),
            optional("overrule-shutdown", Flag),
        ],
        |call| power::post(call, GuestKind::Qemu, Operation::Stop),
    ),
    power(
        "/nodes/{node}/qemu/{vmid}/status/shutdown",
        &[
            NODE,
            VMID,
            SKIPLOCK,
            TIMEOUT,
            optional("forceStop", Flag),
            optional("keepActive", Flag),
        ],
        |call| power::post(call, GuestKind::Qemu, Operation::Shutdown),
    ),
    power(
        "/nodes/{node}/qemu/{vmid}/status/reboot",
        &[NODE, VMID, TIMEOUT],
        |call| power::post(call, GuestKind::Qemu, Operation::Reboot),
    ),
    on_node(
        "/nodes/{node}/tasks",
        Login,
        &[
            NODE,
            optional("start", Natural),
            optional("limit", Natural),
            optional("userfilter", Text),
            optional("typefilter", Text),
            optional("vmid", Vmid),
            optional("errors", Flag),
            optional("source", OneOf(&["archive", "active", "all"])),
            optional("since", Integer),
            optional("until", Integer),
            optional("statusfilter", Text),
        ],
        tasks::list,
    ),
    on_node(
        "/nodes/{node}/tasks/{upid}/status",
        Login,
        &[NODE, UPID],
        tasks::status,
    ),
    on_node(
        "/nodes/{node}/tasks/{upid}/log",
        Login,
        &[
            NODE,
            UPID,
            optional("start", Natural),
            optional("limit", Natural),
        ],
        tasks::log,
    ),
];

const NODE: Param = required("node", Node);
const VMID: Param = required("vmid", Vmid);
const UPID: Param = required("upid", Text);
const SKIPLOCK: Param = optional("skiplock", Flag);
const TIMEOUT: Param = optional("timeout", Natural);

const fn here(path: &'static str, params: &'static [Param], handle: Handler) -> Route {
    Route {
        method: "GET",
        path,
        needs: Login,
        runs_on: Here,
        params,
        handle,
    }
}

const fn on_node(
    path: &'static str,
    needs: Needs,
    params: &'static [Param],
    handle: Handler,
) -> Route {
    Route {
        method: "GET",
        path,
        needs,
        runs_on: RunsOn::Node,
        params,
        handle,
    }
}

const fn power(path: &'static str, params: &'static [Param], handle: Handler) -> Route {
    Route {
        method: "POST",
        path,
        needs: POWER_GUEST,
        runs_on: RunsOn::Node,
        params,
        handle,
    }
}
