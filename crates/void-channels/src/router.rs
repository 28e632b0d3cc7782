//! Which channel an action takes, and the questions that change nothing.

use std::collections::BTreeMap;
use std::pin::Pin;

use void_domain::catalogue::{Catalogue, Route};
use void_domain::hosts::{Host, HostName, Reach, SshAddress};
use void_domain::permits::{Permit, Ticket};
use void_domain::proposals::{Failure, ProposedAction};

use crate::act::{self, HostList};
use crate::local::{Local, LocalConfig};
use crate::outcomes::{Evidence, Outcome};
use crate::ssh::host_keys::HostKey;
use crate::ssh::{Ssh, SshConfig, SshHost, UnsafePath};

type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What executes permits. [`Channels`] is the real one; a benchmark puts an instant one in its place.
pub trait Channel: Send + Sync {
    /// Consumes the permit: whatever happens, it is not used again.
    fn execute(&self, permit: Permit) -> Answer<'_, Outcome>;

    /// Finds out what became of a run whose outcome is unknown, and makes sure that it does not begin
    /// after the answer was *not done*.
    fn settle<'a>(&'a self, wish: &'a ProposedAction, ticket: &'a Ticket) -> Answer<'a, Evidence>;
}

pub struct Channels {
    ssh: Ssh,
    local: LocalConfig,
    /// What each host's list should hold: action id → `exec_digest`.
    expected: BTreeMap<HostName, BTreeMap<String, String>>,
}

impl Channels {
    pub fn new(
        catalogue: &Catalogue,
        ssh: SshConfig,
        local: LocalConfig,
    ) -> Result<Self, UnsafePath> {
        let mut expected: BTreeMap<HostName, BTreeMap<String, String>> = BTreeMap::new();
        for action in catalogue.actions() {
            if let Route::Host(host) = action.route() {
                let entries = expected.entry(host.name.clone()).or_default();
                entries.insert(action.id.to_string(), action.exec_digest().to_string());
            }
        }
        Ok(Self {
            ssh: Ssh::new(ssh)?,
            local,
            expected,
        })
    }

    pub const fn probe(&self) -> Probe<'_> {
        Probe { channels: self }
    }

    /// Trusts a key that the owner has compared. Changes our own file, no machine.
    pub fn trust(&self, host: &HostName, key: &HostKey) -> std::io::Result<()> {
        self.ssh.known().trust(host, key)
    }

    fn expected_on(&self, host: &HostName) -> BTreeMap<String, String> {
        self.expected.get(host).cloned().unwrap_or_default()
    }

    fn over_ssh(&self, host: &Host, address: &SshAddress) -> SshHost<'_> {
        SshHost {
            ssh: &self.ssh,
            host: host.clone(),
            address: address.clone(),
        }
    }

    fn here(&self, host: &Host) -> Local<'_> {
        Local {
            config: &self.local,
            host: host.clone(),
        }
    }

    async fn execute_on(&self, host: Host, permit: Permit) -> Outcome {
        let expected = self.expected_on(&host.name);
        match &host.reach {
            Reach::Local => act::execute(&self.here(&host), permit, &expected).await,
            Reach::Ssh(address) => {
                act::execute(&self.over_ssh(&host, address), permit, &expected).await
            }
        }
    }
}

impl Channel for Channels {
    fn execute(&self, permit: Permit) -> Answer<'_, Outcome> {
        Box::pin(async move {
            let host = match permit.action().route() {
                Route::Host(host) => host.clone(),
                Route::Proxmox => {
                    return not_configured("Proxmox is not connected: set PROXMOX_API_URL");
                }
                Route::Node(node) => return not_configured(&format!("no node {node} has joined")),
                Route::File => return not_configured("the file bridge is not switched on"),
            };
            self.execute_on(host, permit).await
        })
    }

    fn settle<'a>(&'a self, wish: &'a ProposedAction, ticket: &'a Ticket) -> Answer<'a, Evidence> {
        Box::pin(async move {
            let Some(host) = wish.host() else {
                let message = "this kind of run leaves no evidence that could be asked for";
                return Evidence::None(Failure::new("no_evidence", message));
            };
            match &host.reach {
                Reach::Local => act::settle(&self.here(&host), ticket).await,
                Reach::Ssh(address) => act::settle(&self.over_ssh(&host, address), ticket).await,
            }
        })
    }
}

fn not_configured(message: &str) -> Outcome {
    Outcome::Failed(Failure::new(
        "not_configured",
        format!("{message}; nothing was sent"),
    ))
}

/// Reads only.
pub struct Probe<'a> {
    channels: &'a Channels,
}

impl Probe<'_> {
    /// The host's own list, as it reports it.
    pub async fn list(&self, host: &Host) -> Result<HostList, Failure> {
        match &host.reach {
            Reach::Local => act::list(&self.channels.here(host)).await,
            Reach::Ssh(address) => act::list(&self.channels.over_ssh(host, address)).await,
        }
    }

    /// The first difference between a host's list and the catalogue.
    pub fn drift(&self, host: &HostName, list: &HostList) -> Option<String> {
        act::drift(list, &self.channels.expected_on(host))
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
}
