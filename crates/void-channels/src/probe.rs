//! The questions that change nothing.

use std::time::Duration;

use void_domain::digests::Digest;
use void_domain::executions::Guest;
use void_domain::hosts::{Host, HostName, Reach, SshAddress};
use void_domain::permits::Ticket;
use void_domain::proposals::Failure;
use void_domain::services::{CheckResult, Unreadable};

use crate::act::{self, HostList};
use crate::outcomes::Evidence;
use crate::proxmox::{GuestState, Lab, ProxmoxServer, Rights};
use crate::router::Channels;
use crate::ssh::host_keys::HostKey;

/// Reads only.
pub struct Probe<'a> {
    channels: &'a Channels,
}

impl<'a> Probe<'a> {
    pub(crate) const fn new(channels: &'a Channels) -> Self {
        Self { channels }
    }

    /// Whether there is no list of this machine at all: it was never set up to run anything. What cannot be looked
    /// at is not called missing.
    pub async fn lacks_local_list(&self) -> bool {
        let list = self.channels.local_list();
        tokio::fs::try_exists(list)
            .await
            .is_ok_and(|is_there| !is_there)
    }

    /// The host's own list, as it reports it.
    pub async fn list(&self, host: &Host) -> Result<HostList, Failure> {
        match &host.reach {
            Reach::Local => act::list(&self.channels.here(host)).await,
            Reach::Ssh(address) => act::list(&self.channels.over_ssh(host, address)).await,
        }
    }

    /// The same, and whether the host could start what is on it.
    pub async fn check(&self, host: &Host) -> Result<HostList, Failure> {
        match &host.reach {
            Reach::Local => act::check(&self.channels.here(host)).await,
            Reach::Ssh(address) => act::check(&self.channels.over_ssh(host, address)).await,
        }
    }

    /// The first difference between a host's list and the catalogue.
    pub fn drift(&self, host: &HostName, list: &HostList) -> Option<String> {
        act::drift(list, &self.channels.expected_on(host))
    }

    /// The first difference between a node's list, as it last told it, and the catalogue.
    pub fn node_drift(&self, node: &str) -> Option<String> {
        let expected = self.channels.expected_on_node(node);
        let list = self.channels.nodes().list(node)?;
        act::drift(&list, &expected)
    }

    /// What became of a ticket so far.
    pub async fn ticket(&self, host: &Host, ticket: &Ticket) -> Evidence {
        match &host.reach {
            Reach::Local => act::look_at(&self.channels.here(host), ticket).await,
            Reach::Ssh(address) => {
                act::look_at(&self.channels.over_ssh(host, address), ticket).await
            }
        }
    }

    /// The keys that the machine shows now.
    pub async fn keys_shown(&self, address: &SshAddress) -> Vec<HostKey> {
        self.channels.ssh.known().scan(address).await
    }

    pub fn keys_trusted(&self, host: &HostName, address: &SshAddress) -> Vec<HostKey> {
        self.channels.ssh.known().trusted(host, address)
    }

    /// Whether a private key is set and there.
    pub fn has_key(&self) -> bool {
        self.channels
            .ssh
            .config()
            .key
            .as_deref()
            .is_some_and(std::path::Path::is_file)
    }

    pub fn has_proxmox(&self) -> bool {
        self.channels.proxmox().is_ok()
    }

    /// One guest, now.
    pub async fn guest(&self, node: &str, kind: Guest, vmid: u32) -> Result<GuestState, Failure> {
        self.channels.proxmox()?.guest_at(node, kind, vmid).await
    }

    /// Whether a guest runs, wherever in the cluster it is, as an answer of a service.
    pub async fn guest_check(&self, vmid: u32, timeout: Duration) -> CheckResult {
        match self.channels.proxmox() {
            Ok(proxmox) => proxmox.check(vmid, timeout).await,
            Err(_) => CheckResult::None {
                reason: Unreadable::Proxmox,
            },
        }
    }

    /// The nodes and guests that the token may see.
    pub async fn lab(&self) -> Result<Lab, Failure> {
        self.channels.proxmox()?.lab().await
    }

    /// What the token may do beyond the catalogue, and what it lacks for it.
    pub async fn proxmox_rights(&self) -> Result<Rights, Failure> {
        let proxmox = self.channels.proxmox()?;
        proxmox.rights(&self.channels.guests).await
    }

    /// Proxmox' version and clock.
    pub async fn proxmox_server(&self) -> Result<ProxmoxServer, Failure> {
        self.channels.proxmox()?.server().await
    }

    /// The SHA-256 of the certificate that Proxmox shows, trusted or not.
    pub async fn proxmox_certificate(&self) -> Result<Digest, Failure> {
        self.channels.proxmox()?.certificate().await
    }
}
