//! A Proxmox VE 8 API server over TLS, as clients see it, for a cluster that exists in memory only.
//!
//! Invariant: a guest changes only through a power operation's task or through this handle, and every
//! operation that took effect is in [`ProxmoxServer::effects`], whatever its caller was told.
//!
//! What it speaks was read from the sources of PVE 8.4 (pve-manager, pve-container, qemu-server,
//! libpve-http-server, libpve-access-control, libpve-common; branches `stable-8` and
//! `stable-bookworm`), not from its documentation, and each module names its own. In short:
//!
//! - Errors are in the reason phrase; the body is `{"data":null}`, with `errors` for parameters and from
//!   8.4 on `message`. A refused login and a node that is away have no body at all.
//! - Missing rights are 403 for one guest and left-out rows, down to an empty list, with 200 for lists.
//! - A power operation answers with a task id. Most of what can go wrong only the task says.
//! - Numbers are numbers, except `vmid` in the container list of 8.1 ([`Release`]), `saved` of a running
//!   task, a node's `loadavg`, `cpuinfo.mhz` and `cpuinfo.hvm`. `pid`, `lock` and `template` are absent
//!   where they do not apply.

mod access;
mod answers;
mod bodies;
mod certificates;
mod cluster;
mod config;
mod faults;
mod http;
mod listener;
mod logins;
mod params;
mod power;
pub mod roles;
mod routes;
mod rows;
mod tasks;
mod work;

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use crate::clock;
use crate::proxmox::certificates::Authority;
use crate::proxmox::cluster::Simulation;
use crate::proxmox::listener::Switchboard;

pub use access::{Access, Acl, Pool, Privsep, Token, User};
pub use certificates::Certificate;
pub use cluster::{Effect, HISTORY_MAX, Received};
pub use config::{
    GUESTS_MAX, Guest, GuestHook, GuestKind, GuestStatus, Node, OnShutdown, ProxmoxConfig, Reach,
    Release, TaskDurations, VMID_MAX, VMID_MIN,
};
pub use faults::{FAULTS_MAX, Fault, Faults, Scope, Times};
pub use http::BODY_BYTES_MAX;
pub use listener::{CONNECTIONS_MAX, REQUESTS_PER_CONNECTION_MAX};
pub use power::Operation;
pub use tasks::{TASKS_KEPT_MAX, TASKS_RUNNING_MAX};

/// A running server on a loopback port. Dropping it ends it.
pub struct ProxmoxServer {
    port: u16,
    simulation: Arc<Simulation>,
    switchboard: Arc<Switchboard>,
    authority: Authority,
    fingerprint: Mutex<String>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ProxmoxServer {
    /// Listens when this returns. It has a thread of its own, so that a caller may block.
    pub fn start(config: ProxmoxConfig) -> io::Result<Self> {
        config.check()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, config.port))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let authority = Authority::new("rehearsal")?;
        let presented = authority.present(Certificate::Valid)?;
        let simulation = Arc::new(Simulation::new(config));
        let switchboard = Arc::new(Switchboard::new(presented.tls));
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let shared = (Arc::clone(&simulation), Arc::clone(&switchboard));
        let serve = move || {
            runtime.block_on(async move {
                if let Ok(listener) = tokio::net::TcpListener::from_std(listener) {
                    listener::listen(listener, shared.0, shared.1, stopped).await;
                }
            });
            // A hook that still blocks is not waited for.
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new()
            .name("rehearsal-pve".to_owned())
            .spawn(serve)?;
        Ok(Self {
            port,
            simulation,
            switchboard,
            authority,
            fingerprint: Mutex::new(presented.fingerprint),
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// `https://127.0.0.1:PORT`
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// SHA-256 of the certificate that is presented now, as Proxmox prints it: `AB:CD:…`.
    pub fn fingerprint(&self) -> String {
        let fingerprint = self.fingerprint.lock();
        fingerprint.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The authority of the lab, which signs [`Certificate::Valid`] and [`Certificate::Expired`].
    pub fn ca_pem(&self) -> &str {
        self.authority.pem()
    }

    /// Presents another certificate and ends every open connection, as a restart does.
    pub fn present(&self, certificate: Certificate) -> io::Result<()> {
        let presented = self.authority.present(certificate)?;
        *self
            .fingerprint
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = presented.fingerprint;
        self.switchboard.present(presented.tls);
        Ok(())
    }

    /// The switches for faults.
    pub fn faults(&self) -> &Faults {
        &self.simulation.faults
    }

    pub fn guests(&self) -> Vec<Guest> {
        self.simulation.with(|cluster| {
            cluster
                .guests
                .values()
                .map(|record| record.guest.clone())
                .collect()
        })
    }

    pub fn guest(&self, vmid: u32) -> Option<Guest> {
        self.simulation
            .with(|cluster| Some(cluster.guests.get(&vmid)?.guest.clone()))
    }

    /// Adds a guest, or replaces one; `false` if there is no room, no such node or no such number.
    pub fn add_guest(&self, guest: Guest) -> bool {
        self.simulation.with(|cluster| {
            let has_room =
                cluster.guests.len() < GUESTS_MAX || cluster.guests.contains_key(&guest.vmid);
            let fits = has_room && guest.has_vmid() && cluster.node(&guest.node).is_some();
            if fits {
                cluster.add_guest(guest, clock::now());
            }
            fits
        })
    }

    pub fn remove_guest(&self, vmid: u32) -> bool {
        self.simulation
            .with(|cluster| cluster.guests.remove(&vmid).is_some())
    }

    /// Starts or stops a guest behind the API's back, as its owner or an accident would. Calls the hook,
    /// leaves no effect. Says whether anything changed.
    pub fn set_status(&self, vmid: u32, status: GuestStatus) -> bool {
        self.simulation.switch(vmid, status, None)
    }

    /// Locks a guest's configuration (`backup`, `migrate`, …) or unlocks it.
    pub fn set_lock(&self, vmid: u32, lock: Option<&str>) -> bool {
        self.simulation.with(|cluster| {
            let record = cluster.guests.get_mut(&vmid);
            record
                .map(|record| record.guest.lock = lock.map(str::to_owned))
                .is_some()
        })
    }

    /// Takes a node off the network or puts it back.
    pub fn set_reach(&self, node: &str, reach: Reach) -> bool {
        self.simulation.with(|cluster| {
            let node = cluster.nodes.iter_mut().find(|one| one.name == node);
            node.map(|node| node.reach = reach).is_some()
        })
    }

    /// Replaces users, tokens, grants and pools.
    pub fn set_access(&self, access: Access) {
        self.simulation.with(|cluster| cluster.access = access);
    }

    /// Every power operation that took effect, oldest first.
    pub fn effects(&self) -> Vec<Effect> {
        self.simulation
            .with(|cluster| cluster.effects.iter().cloned().collect())
    }

    /// The last requests, oldest first.
    pub fn requests(&self) -> Vec<Received> {
        self.simulation
            .with(|cluster| cluster.received.iter().cloned().collect())
    }

    /// How many requests arrived since the start.
    pub fn request_count(&self) -> u64 {
        self.simulation.with(|cluster| cluster.received_total)
    }

    pub fn running_tasks(&self) -> usize {
        self.simulation
            .with(|cluster| cluster.tasks.running().count())
    }

    /// Ends the server: its port is free when this returns, and tasks that ran have ended without effect.
    pub fn stop(self) {}
}

impl Drop for ProxmoxServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
