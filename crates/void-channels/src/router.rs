//! Which channel an action takes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::pin::Pin;

use void_domain::catalogue::Catalogue;
use void_domain::executions::{Execution, GuestPower, Route};
use void_domain::failures::FailureCode;
use void_domain::hosts::{Host, HostName, Reach, SshAddress};
use void_domain::permits::{Permit, Ticket};
use void_domain::proposals::Failure;

use crate::act::{self, ExpectedList};
use crate::local::{Local, LocalConfig};
use crate::node::{self, NodeHost, Nodes};
use crate::outcomes::{Evidence, Outcome};
use crate::probe::Probe;
use crate::proxmox::{Proxmox, ProxmoxConfig};
use crate::ssh::host_keys::HostKey;
use crate::ssh::{Ssh, SshConfig, SshHost, UnsafePath};

type ChannelFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What executes permits. [`Channels`] is the real one; a benchmark puts an instant one in its place.
pub trait Channel: Send + Sync {
    /// Consumes the permit: whatever happens, it is not used again.
    fn execute(&self, permit: Permit) -> ChannelFuture<'_, Outcome>;

    /// Finds out what became of a run whose outcome is unknown, and makes sure that it does not begin
    /// after the answer was *not done*.
    fn settle<'a>(
        &'a self,
        execution: &'a Execution,
        ticket: &'a Ticket,
    ) -> ChannelFuture<'a, Evidence>;
}

pub struct Channels {
    pub(crate) ssh: Ssh,
    local: LocalConfig,
    proxmox: Option<Proxmox>,
    /// The guests that actions switch through Proxmox.
    pub(crate) guests: BTreeSet<u32>,
    /// What each host's list should hold.
    expected: BTreeMap<HostName, ExpectedList>,
    /// The same for nodes.
    expected_on_nodes: BTreeMap<String, ExpectedList>,
    nodes: Nodes,
}

impl Channels {
    pub(crate) fn local_list(&self) -> &Path {
        &self.local.list
    }

    pub fn new(
        catalogue: &Catalogue,
        ssh: SshConfig,
        local: LocalConfig,
        proxmox: Option<ProxmoxConfig>,
    ) -> Result<Self, UnsafePath> {
        let mut expected: BTreeMap<HostName, BTreeMap<String, String>> = BTreeMap::new();
        let mut on_nodes: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        let mut guests = BTreeSet::new();
        for action in catalogue.actions() {
            match action.route() {
                Route::Host(host) => {
                    let entries = expected.entry(host.name.clone()).or_default();
                    entries.insert(action.id.to_string(), action.exec_digest().to_string());
                }
                Route::Proxmox(power) => _ = guests.insert(power.vmid),
                Route::Node(node) => {
                    let entries = on_nodes.entry(node.to_owned()).or_default();
                    entries.insert(action.id.to_string(), action.exec_digest().to_string());
                }
                Route::File => {}
            }
        }
        Ok(Self {
            ssh: Ssh::new(ssh)?,
            local,
            proxmox: proxmox.map(Proxmox::new),
            guests,
            expected: in_lists(expected),
            expected_on_nodes: in_lists(on_nodes),
            nodes: Nodes::default(),
        })
    }

    pub const fn probe(&self) -> Probe<'_> {
        Probe::new(self)
    }

    /// Trusts a key that the owner has compared. Changes our own file, no machine.
    pub fn trust(&self, host: &HostName, key: &HostKey) -> std::io::Result<()> {
        self.ssh.known().trust(host, key)
    }

    pub(crate) fn expected_on(&self, host: &HostName) -> BTreeMap<String, String> {
        let expected = self.expected.get(host);
        expected.map_or_else(BTreeMap::new, |expected| expected.entries.clone())
    }

    /// What a node's list should hold.
    pub fn expected_on_node(&self, node: &str) -> BTreeMap<String, String> {
        let expected = self.expected_on_nodes.get(node);
        expected.map_or_else(BTreeMap::new, |expected| expected.entries.clone())
    }

    /// The nodes that actions name.
    pub fn expected_nodes(&self) -> impl Iterator<Item = &str> {
        self.expected_on_nodes.keys().map(String::as_str)
    }

    /// Where nodes come for their commands.
    pub const fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// What a run on a node has said so far.
    pub fn progress(&self, execution: &Execution, ticket: &Ticket) -> Vec<String> {
        match execution.route() {
            Route::Node(node) => {
                let command = node::command_of_run(&ticket.proposal_id.to_string());
                self.nodes.progress(node, &command)
            }
            Route::Host(_) | Route::Proxmox(_) | Route::File => Vec::new(),
        }
    }

    fn at_node<'a>(&'a self, name: &'a str, ticket: &Ticket) -> NodeHost<'a> {
        NodeHost {
            nodes: &self.nodes,
            name,
            proposal: ticket.proposal_id.to_string(),
        }
    }

    async fn execute_at_node(&self, node: &str, permit: Permit) -> Outcome {
        let none = ExpectedList::default();
        let expected = self.expected_on_nodes.get(node).unwrap_or(&none);
        let host = self.at_node(node, permit.ticket());
        act::execute(&host, permit, expected).await
    }

    pub(crate) fn over_ssh(&self, host: &Host, address: &SshAddress) -> SshHost<'_> {
        SshHost {
            ssh: &self.ssh,
            host: host.clone(),
            address: address.clone(),
        }
    }

    pub(crate) fn here(&self, host: &Host) -> Local<'_> {
        Local {
            config: &self.local,
            host: host.clone(),
        }
    }

    pub(crate) fn proxmox(&self) -> Result<&Proxmox, Failure> {
        let message = "Proxmox is not connected: set PROXMOX_API_URL";
        let proxmox = self.proxmox.as_ref();
        proxmox.ok_or_else(|| Failure::new(FailureCode::NotConfigured, message))
    }

    async fn execute_on(&self, host: &Host, permit: Permit) -> Outcome {
        let none = ExpectedList::default();
        let expected = self.expected.get(&host.name).unwrap_or(&none);
        match &host.reach {
            Reach::Local => act::execute(&self.here(host), permit, expected).await,
            Reach::Ssh(address) => {
                act::execute(&self.over_ssh(host, address), permit, expected).await
            }
        }
    }
}

impl Channels {
    async fn execute_by_proxmox(&self, permit: Permit, power: &GuestPower) -> Outcome {
        match self.proxmox() {
            Ok(proxmox) => proxmox.execute(permit, power).await,
            Err(failure) => not_configured(&failure.message),
        }
    }

    async fn settle_by_proxmox(&self, power: &GuestPower, ticket: &Ticket) -> Evidence {
        match self.proxmox() {
            Ok(proxmox) => proxmox.settle(power, ticket).await,
            Err(failure) => Evidence::None(failure),
        }
    }
}

impl Channel for Channels {
    fn execute(&self, permit: Permit) -> ChannelFuture<'_, Outcome> {
        Box::pin(async move {
            let execution = permit.execution().clone();
            match execution.route() {
                Route::Host(host) => self.execute_on(host, permit).await,
                Route::Proxmox(power) => self.execute_by_proxmox(permit, power).await,
                Route::Node(node) => self.execute_at_node(node, permit).await,
                Route::File => not_configured("the file bridge is not switched on"),
            }
        })
    }

    fn settle<'a>(
        &'a self,
        execution: &'a Execution,
        ticket: &'a Ticket,
    ) -> ChannelFuture<'a, Evidence> {
        Box::pin(async move {
            match execution.route() {
                Route::Host(host) => match &host.reach {
                    Reach::Local => act::settle(&self.here(host), ticket).await,
                    Reach::Ssh(address) => act::settle(&self.over_ssh(host, address), ticket).await,
                },
                Route::Proxmox(power) => self.settle_by_proxmox(power, ticket).await,
                Route::Node(node) => act::settle(&self.at_node(node, ticket), ticket).await,
                Route::File => {
                    let message = "this kind of run leaves no evidence that could be asked for";
                    Evidence::None(Failure::new(FailureCode::NoEvidence, message))
                }
            }
        })
    }
}

fn in_lists<K: Ord>(entries: BTreeMap<K, BTreeMap<String, String>>) -> BTreeMap<K, ExpectedList> {
    let lists = entries.into_iter();
    lists
        .map(|(name, entries)| (name, ExpectedList::of(entries)))
        .collect()
}

fn not_configured(message: &str) -> Outcome {
    Outcome::Failed(Failure::new(
        FailureCode::NotConfigured,
        format!("{message}; nothing was sent"),
    ))
}
