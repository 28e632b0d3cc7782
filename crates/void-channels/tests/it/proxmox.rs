//! The Proxmox channel against the rehearsal lab's server, over real TLS. Effects are counted by the
//! server, whatever we were told.

mod certificates;
mod claims;
mod failures;
mod interruptions;
mod powers;
mod probes;
mod rights;
mod strangers;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use void_channels::{
    Channel as _, Channels, Evidence, LocalConfig, Outcome, Patience, ProxmoxConfig, SshConfig,
    Trust,
};
use void_domain::catalogue::{Catalogue, Lockout};
use void_domain::digests::Digest;
use void_domain::freezes::FreezeSwitch;
use void_domain::ids::ActionId;
use void_domain::permits::Ticket;
use void_domain::proposals::{Proposal, Run, State};
use void_domain::secrets::Secret;
use void_domain::time::Timestamp;
use void_rehearsal::proxmox::{
    Access, Acl, Guest, Node, ProxmoxConfig as ServerConfig, ProxmoxServer, TaskDurations, Token,
    User,
};

use crate::lab::{now, permit, running, wait_until};

pub(crate) const SECRET: &str = "8b6ad8a5-1d2c-4b8e-9a57-6f1f7d0c2e11";
const OTHER_SECRET: &str = "5f1c0a3e-77aa-4c1d-8e3b-2b9d4f6a8c01";
pub(crate) const TOKEN: &str = "void@pve!actions=8b6ad8a5-1d2c-4b8e-9a57-6f1f7d0c2e11";
const OTHER: &str = "void@pve!other=5f1c0a3e-77aa-4c1d-8e3b-2b9d4f6a8c01";
const BOTH: [&str; 2] = ["VM.PowerMgmt", "VM.Audit"];
const OPS: [&str; 4] = ["start", "stop", "shutdown", "reboot"];

/// Far from everything that a test waits for.
const PATIENT: Patience = Patience {
    connect: Duration::from_secs(10),
    call: Duration::from_secs(10),
    settle: Duration::from_secs(10),
    arrival: Duration::from_secs(30),
};

/// A cluster of two nodes with its channels: containers 107 (running) and 108 on z, machine 104
/// (running) on z, container 109 on y.
pub(crate) struct Pve {
    pub(crate) server: ProxmoxServer,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) channels: Arc<Channels>,
    folder: TempDir,
    count: AtomicU32,
}

impl Pve {
    pub(crate) fn new() -> Self {
        let guests = vec![
            Guest::lxc(107, "z", "iventoy").running(),
            Guest::lxc(108, "z", "spare"),
            Guest::qemu(104, "z", "desktop").running(),
            Guest::lxc(109, "y", "far").running(),
        ];
        Self::of(guests, PATIENT, 60)
    }

    pub(crate) fn of(guests: Vec<Guest>, patience: Patience, timeout_s: u32) -> Self {
        let nodes = vec![Node::online("z"), Node::online("y")];
        let catalogue = Arc::new(catalogue(&guests, timeout_s));
        let mut config = ServerConfig::new(nodes, guests, access());
        config.durations = TaskDurations::all(Duration::from_millis(30));
        config.unauthorized_delay = Duration::from_millis(10);
        let server = ProxmoxServer::start(config).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let config = config_of(&server, TOKEN).with_patience(patience);
        let channels = Arc::new(channels(&catalogue, &folder, Some(config)));
        Self {
            server,
            catalogue,
            channels,
            folder,
            count: AtomicU32::new(0),
        }
    }

    /// Other channels to the same cluster, as of another process.
    pub(crate) fn channels_with(&self, config: ProxmoxConfig) -> Channels {
        channels(&self.catalogue, &self.folder, Some(config))
    }

    pub(crate) fn config(&self, token: &str) -> ProxmoxConfig {
        config_of(&self.server, token).with_patience(PATIENT)
    }

    pub(crate) fn running(&self, id: &str) -> Proposal {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let action = self.catalogue.get(&ActionId::parse(id).unwrap()).unwrap();
        running(action, &json!({}), number)
    }

    pub(crate) async fn run(&self, id: &str) -> Outcome {
        self.execute(&self.channels, &self.running(id)).await
    }

    pub(crate) async fn execute(&self, channels: &Channels, running: &Proposal) -> Outcome {
        self.execute_unless(channels, running, FreezeSwitch::default())
            .await
    }

    pub(crate) async fn execute_unless(
        &self,
        channels: &Channels,
        running: &Proposal,
        freeze_switch: FreezeSwitch,
    ) -> Outcome {
        let action = self
            .catalogue
            .get(running.subject.action_id().unwrap())
            .unwrap();
        channels
            .execute(permit(action, running, freeze_switch))
            .await
    }

    pub(crate) async fn settle(&self, channels: &Channels, running: &Proposal) -> Evidence {
        let ticket = Ticket::of(running).unwrap();
        let execution = running.subject.execution().unwrap();
        channels.settle(execution, &ticket).await
    }

    pub(crate) fn effects_on(&self, vmid: u32) -> usize {
        let effects = self.server.effects();
        effects.iter().filter(|effect| effect.vmid == vmid).count()
    }

    /// How many requests tried to change something.
    pub(crate) fn posts(&self) -> usize {
        let requests = self.server.requests();
        requests.iter().filter(|one| one.method == "POST").count()
    }

    pub(crate) fn posts_under(&self, path: &str) -> usize {
        let requests = self.server.requests();
        let posts = requests.iter().filter(|one| one.method == "POST");
        posts.filter(|one| one.path.starts_with(path)).count()
    }

    pub(crate) async fn wait_until_quiet(&self) {
        wait_until("tasks to end", || self.server.running_tasks() == 0).await;
    }
}

/// The same proposal, claimed and running out at these moments.
pub(crate) fn claimed(mut proposal: Proposal, at: Timestamp, expires_at: Timestamp) -> Proposal {
    let State::Running { run, .. } = &mut proposal.state else {
        panic!("not running");
    };
    *run = Run {
        started_at: at,
        ticket_expires_at: expires_at,
        lease_until: expires_at,
    };
    proposal
}

/// Claimed a while ago, and so long run out that nothing of it can arrive any more.
pub(crate) fn long_over(proposal: Proposal) -> Proposal {
    let ago = |seconds| now().minus(Duration::from_secs(seconds));
    claimed(proposal, ago(3), ago(0).minus(PATIENT.arrival))
}

pub(crate) fn catalogue(guests: &[Guest], timeout_s: u32) -> Catalogue {
    let kind = |guest: &Guest| format!("{:?}", guest.kind).to_lowercase();
    let actions: Vec<Value> = guests
        .iter()
        .flat_map(|guest| OPS.map(|op| (guest, op)))
        .map(|(guest, op)| {
            json!({
                "id": format!("{op}-{}", guest.vmid), "kind": "guest_power", "node": guest.node,
                "vmid": guest.vmid, "guest": kind(guest), "op": op, "tier": "risky",
                "timeout_s": timeout_s,
            })
        })
        .collect();
    let text = json!({"actions": actions}).to_string();
    Catalogue::parse(&text, &Lockout::default()).unwrap()
}

/// Two tokens that may switch every guest, and see each other's tasks.
fn access() -> Access {
    let acl = || vec![Acl::new("/vms", &BOTH), Acl::new("/nodes", &["Sys.Audit"])];
    let tokens = vec![
        Token::separated("actions", SECRET, acl()),
        Token::separated("other", OTHER_SECRET, acl()),
    ];
    let users = vec![User::new("void@pve", acl(), tokens)];
    Access {
        users,
        pools: Vec::new(),
    }
}

pub(crate) fn config_of(server: &ProxmoxServer, token: &str) -> ProxmoxConfig {
    let pinned = Digest::parse_fingerprint(&server.fingerprint()).unwrap();
    config(&server.url(), token, &Trust::Pinned(pinned))
}

pub(crate) fn config(url: &str, token: &str, trust: &Trust) -> ProxmoxConfig {
    ProxmoxConfig::new(url, &Secret::new(token), trust, Arc::new(now)).unwrap()
}

/// Channels of which only Proxmox works.
pub(crate) fn channels(
    catalogue: &Catalogue,
    folder: &TempDir,
    proxmox: Option<ProxmoxConfig>,
) -> Channels {
    let path = |name: &str| folder.path().join(name);
    let ssh = SshConfig {
        program: "/usr/bin/ssh".into(),
        keyscan: "/usr/bin/ssh-keyscan".into(),
        key: None,
        known_hosts: path("known_hosts"),
        run_folder: path("run"),
    };
    let local = LocalConfig {
        program: "/nonexistent".into(),
        args: Vec::new(),
        list: path("list.json"),
        state: path("state"),
        trust_own_list: false,
    };
    Channels::new(catalogue, ssh, local, proxmox).unwrap()
}
