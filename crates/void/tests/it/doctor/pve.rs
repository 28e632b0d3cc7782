//! A rehearsal Proxmox with the containers 107 (running) and 108 and the machine 104 on the node z, and
//! a lab whose catalogue switches 107 and 104.

use std::time::Duration;

use serde_json::{Value, json};
use void_rehearsal::proxmox::{
    Access, Acl, Guest, Node, ProxmoxConfig, ProxmoxServer, TaskDurations, Token, User,
};

use crate::lab::Lab;

pub const SECRET: &str = "8b6ad8a5-1d2c-4b8e-9a57-6f1f7d0c2e11";
pub const BOTH: [&str; 2] = ["VM.PowerMgmt", "VM.Audit"];

pub fn catalogue() -> Value {
    let power = |id: &str, guest: &str, vmid: u32, op: &str, tier: &str| json!({"id": id, "kind": "guest_power", "node": "z", "vmid": vmid, "guest": guest, "op": op, "tier": tier});
    json!({"actions": [
        power("start-ct107", "lxc", 107, "start", "safe"),
        power("stop-ct107", "lxc", 107, "stop", "risky"),
        power("start-vm104", "qemu", 104, "start", "safe"),
    ]})
}

/// Exactly what the catalogue needs.
pub fn needed() -> Vec<Acl> {
    vec![Acl::new("/vms/107", &BOTH), Acl::new("/vms/104", &BOTH)]
}

/// The same for the user and its token.
pub fn access(acl: &[Acl]) -> Access {
    let token = Token::separated("actions", SECRET, acl.to_vec());
    Access {
        users: vec![User::new("void@pve", acl.to_vec(), vec![token])],
        pools: Vec::new(),
    }
}

pub fn start(access: Access) -> ProxmoxServer {
    let guests = vec![
        Guest::lxc(107, "z", "iventoy").running(),
        Guest::lxc(108, "z", "spare"),
        Guest::qemu(104, "z", "desktop"),
    ];
    let mut config = ProxmoxConfig::new(vec![Node::online("z")], guests, access);
    config.durations = TaskDurations::all(Duration::from_millis(20));
    config.unauthorized_delay = Duration::from_millis(10);
    ProxmoxServer::start(config).unwrap()
}

/// A lab that is to use this server, with its certificate pinned.
pub fn lab(server: &ProxmoxServer) -> Lab {
    let mut lab = Lab::with(&catalogue());
    set(&mut lab, "PROXMOX_API_URL", &server.url());
    set(
        &mut lab,
        "PROXMOX_API_TOKEN",
        &format!("void@pve!actions={SECRET}"),
    );
    set(&mut lab, "PROXMOX_FINGERPRINT", &server.fingerprint());
    lab
}

/// Sets a variable of the lab's commands, or takes it away.
pub fn set(lab: &mut Lab, name: &str, value: &str) {
    lab.environment.retain(|(known, _)| known != name);
    lab.environment.push((name.to_owned(), value.to_owned()));
}
