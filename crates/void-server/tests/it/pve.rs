//! A simulated Proxmox for the application: two nodes, a running container, a stopped one and a machine.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use void_channels::{Patience, ProxmoxConfig, Trust};
use void_control::Clock;
use void_domain::digests::Digest;
use void_domain::secrets::Secret;
use void_rehearsal::proxmox::{
    Access, Acl, Guest, Node, ProxmoxConfig as ServerConfig, ProxmoxServer, TaskDurations, Token,
    User,
};

/// The secret of the token that may look and switch.
pub const SECRET: &str = "8b6ad8a5-1d2c-4b8e-9a57-6f1f7d0c2e11";
/// The secret of the token that may nothing.
pub const BLIND_SECRET: &str = "5f1c0a3e-77aa-4c1d-8e3b-2b9d4f6a8c01";

pub struct Pve {
    pub server: ProxmoxServer,
    url: String,
    trust: Trust,
}

impl Pve {
    pub fn start() -> Self {
        Self::start_with(TaskDurations::all(Duration::from_millis(30)))
    }

    pub fn start_with(durations: TaskDurations) -> Self {
        let guests = vec![
            Guest::lxc(107, "z", "iventoy").running(),
            Guest::lxc(108, "z", "spare"),
            Guest::qemu(104, "y", "desktop").running(),
        ];
        let nodes = vec![Node::online("z"), Node::online("y")];
        let mut config = ServerConfig::new(nodes, guests, access());
        config.durations = durations;
        config.unauthorized_delay = Duration::from_millis(10);
        let server = ProxmoxServer::start(config).unwrap();
        let fingerprint = Digest::parse_fingerprint(&server.fingerprint()).unwrap();
        Self {
            url: server.url(),
            trust: Trust::Pinned(fingerprint),
            server,
        }
    }

    pub fn config(&self) -> ProxmoxConfig {
        self.config_of("actions", SECRET)
    }

    pub fn blind_config(&self) -> ProxmoxConfig {
        self.config_of("blind", BLIND_SECRET)
    }

    fn config_of(&self, name: &str, secret: &str) -> ProxmoxConfig {
        let clock = Clock::system();
        let now = Arc::new(move || clock.now());
        let token = Secret::new(format!("void@pve!{name}={secret}"));
        let config = ProxmoxConfig::new(&self.url, &token, &self.trust, now).unwrap();
        config.with_patience(Patience {
            connect: Duration::from_secs(10),
            call: Duration::from_secs(10),
            settle: Duration::from_secs(10),
            arrival: Duration::from_secs(30),
        })
    }

    /// How often this path has been asked for.
    pub fn asked(&self, path: &str) -> usize {
        let requests = self.server.requests();
        requests.iter().filter(|one| one.path == path).count()
    }
}

fn access() -> Access {
    let acl = || {
        vec![
            Acl::new("/vms", &["VM.PowerMgmt", "VM.Audit"]),
            Acl::new("/nodes", &["Sys.Audit"]),
        ]
    };
    let tokens = vec![
        Token::separated("actions", SECRET, acl()),
        Token::separated("blind", BLIND_SECRET, Vec::new()),
    ];
    Access {
        users: vec![User::new("void@pve", acl(), tokens)],
        pools: Vec::new(),
    }
}

/// A service that is a guest.
pub fn guest(id: &str, node: &str, vmid: u32, interval_s: u32) -> Value {
    json!({"id": id, "node": node, "vmid": vmid, "check": {"kind": "guest"}, "interval_s": interval_s})
}
