//! The whitelist: everything that may ever run, read once from `config/actions.json`.
//!
//! A [`Catalogue`] exists only if the whole file is valid. It does not change while the server
//! runs; nothing here can write one. Each action carries two digests: `digest` over all that the
//! owner approves, `exec_digest` over what the host can check.

mod lockout;
mod machines;
mod params;
mod read;
#[cfg(test)]
mod spellings;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

pub use lockout::{InvalidLockout, Lockout};
pub use params::{InvalidParams, ParamSpec, ParamSpecs, ParamValue, Params};

use crate::canonical::{self, NotCanonical};
use crate::digests::Digest;
use crate::hosts::{Host, HostName};
use crate::ids::ActionId;
use crate::text;
pub use crate::written::{Problem, Severity};

/// The JSON Schema for editors, kept beside the example catalogue.
pub const JSON_SCHEMA: &str = include_str!("../../../config/actions.schema.json");

/// Whether an action may name a service so.
pub(crate) fn is_service_name(text: &str) -> bool {
    read::is_service_name(text)
}

#[derive(Debug)]
pub struct Catalogue {
    actions: BTreeMap<ActionId, Arc<Action>>,
    hosts: BTreeMap<HostName, Host>,
    digest: Digest,
    warnings: Vec<Problem>,
}

impl Catalogue {
    /// Reads the whole file or reports everything that is wrong with it.
    pub fn parse(text: &str, lockout: &Lockout) -> Result<Self, Vec<Problem>> {
        read::catalogue(text, lockout)
    }

    pub fn get(&self, id: &ActionId) -> Option<&Arc<Action>> {
        self.actions.get(id)
    }

    pub fn actions(&self) -> impl ExactSizeIterator<Item = &Arc<Action>> {
        self.actions.values()
    }

    pub fn host(&self, name: &HostName) -> Option<&Host> {
        self.hosts.get(name)
    }

    pub fn hosts(&self) -> impl Iterator<Item = &Host> {
        self.hosts.values()
    }

    /// The actions that run on this host's own list.
    pub fn actions_on<'a>(&'a self, host: &'a HostName) -> impl Iterator<Item = &'a Arc<Action>> {
        self.actions()
            .filter(move |action| matches!(action.route(), Route::Host(on) if on.name == *host))
    }

    /// The digest of the file's meaning: white space and member order do not change it.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Every way in which a row may name what this action works on: as it is compared today, and as the
    /// actions of the same target spell it, which is how rows of older versions do.
    pub fn target_spellings(&self, action: &Action) -> Vec<String> {
        let same = self.actions().filter(|other| other.target == action.target);
        let mut spellings: Vec<String> = same.map(|other| other.kind.target()).collect();
        spellings.push(action.target.clone());
        spellings.sort();
        spellings.dedup();
        spellings
    }

    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// The id that a person or model most likely meant.
    pub fn nearest(&self, word: &str) -> Option<&str> {
        text::nearest(
            text::cut(word, 64),
            self.actions.keys().map(ActionId::as_str),
        )
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    Safe,
    Risky,
}

impl Tier {
    pub const ALL: [Self; 2] = [Self::Safe, Self::Risky];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Risky => "risky",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.as_str() == text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    Nominal,
    Guarded,
    /// May cut the owner off or lose data.
    Critical,
}

impl Risk {
    pub const ALL: [Self; 3] = [Self::Nominal, Self::Guarded, Self::Critical];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nominal => "nominal",
            Self::Guarded => "guarded",
            Self::Critical => "critical",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|risk| risk.as_str() == text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guest {
    Lxc,
    Qemu,
}

impl Guest {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lxc => "lxc",
            Self::Qemu => "qemu",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PowerOp {
    Start,
    Stop,
    Shutdown,
    Reboot,
}

impl PowerOp {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Shutdown => "shutdown",
            Self::Reboot => "reboot",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        let all = [Self::Start, Self::Stop, Self::Shutdown, Self::Reboot];
        all.into_iter().find(|op| op.as_str() == text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeOp {
    DeployService,
    RestartService,
    Rollback,
    Scale,
}

impl NodeOp {
    pub const ALL: [Self; 4] = [
        Self::DeployService,
        Self::RestartService,
        Self::Rollback,
        Self::Scale,
    ];

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.as_str() == text)
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DeployService => "deploy_service",
            Self::RestartService => "restart_service",
            Self::Rollback => "rollback",
            Self::Scale => "scale",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActionKind {
    ServiceRestart {
        host: HostName,
        service: String,
    },
    GuestPower {
        node: String,
        vmid: u32,
        guest: Guest,
        op: PowerOp,
    },
    OnNode {
        op: NodeOp,
        node: String,
        service: String,
    },
}

impl ActionKind {
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::ServiceRestart { .. } => "service_restart",
            Self::GuestPower { .. } => "guest_power",
            Self::OnNode { op, .. } => op.as_str(),
        }
    }

    /// What it works on, as it is written.
    pub fn target(&self) -> String {
        match self {
            Self::ServiceRestart { host, service } => format!("host:{host}/{service}"),
            Self::GuestPower { node, vmid, .. } => format!("guest:{node}/{vmid}"),
            Self::OnNode { node, service, .. } => format!("node:{node}/{service}"),
        }
    }

    fn target_value(&self) -> Value {
        match self {
            Self::ServiceRestart { host, service } => json!({"host": host, "service": service}),
            Self::GuestPower {
                node, vmid, guest, ..
            } => {
                json!({"node": node, "vmid": vmid, "guest": guest.as_str()})
            }
            Self::OnNode { node, service, .. } => json!({"node": node, "service": service}),
        }
    }

    /// What it does, in the word that a person would use.
    pub const fn operation(&self) -> &'static str {
        match self {
            Self::ServiceRestart { .. } => "restart",
            Self::GuestPower { op, .. } => op.as_str(),
            Self::OnNode { op, .. } => match op {
                NodeOp::DeployService => "deploy",
                NodeOp::RestartService => "restart",
                NodeOp::Rollback => "rollback",
                NodeOp::Scale => "scale",
            },
        }
    }

    /// The guest that it works on, as Proxmox calls it: `CT 107`, `VM 200`.
    pub fn guest(&self) -> Option<String> {
        match self {
            Self::GuestPower { guest, vmid, .. } => Some(match guest {
                Guest::Lxc => format!("CT {vmid}"),
                Guest::Qemu => format!("VM {vmid}"),
            }),
            Self::ServiceRestart { .. } | Self::OnNode { .. } => None,
        }
    }

    fn op(&self) -> Option<&'static str> {
        match self {
            Self::GuestPower { op, .. } => Some(op.as_str()),
            Self::ServiceRestart { .. } | Self::OnNode { .. } => None,
        }
    }

    /// Whether stopping things is the point of it, or may be its effect.
    const fn interrupts(&self) -> bool {
        !matches!(
            self,
            Self::GuestPower {
                op: PowerOp::Start,
                ..
            }
        )
    }

    /// Restart and start are safe by convention; the rest is risky.
    const fn conventional_tier(&self) -> Tier {
        match self {
            Self::ServiceRestart { .. }
            | Self::GuestPower {
                op: PowerOp::Start, ..
            }
            | Self::OnNode {
                op: NodeOp::RestartService,
                ..
            } => Tier::Safe,
            Self::GuestPower {
                op: PowerOp::Stop | PowerOp::Shutdown | PowerOp::Reboot,
                ..
            }
            | Self::OnNode {
                op: NodeOp::DeployService | NodeOp::Rollback | NodeOp::Scale,
                ..
            } => Tier::Risky,
        }
    }
}

/// Which channel an action takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route<'a> {
    /// `void-act` on this host.
    Host(&'a Host),
    Proxmox,
    /// The pull executor of this node.
    Node(&'a str),
    /// A foreign executor that watches the file bridge; Void itself never executes it.
    File,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Via {
    Host(Host),
    Proxmox,
    Node,
    File,
}

#[derive(Debug, PartialEq)]
pub struct Action {
    pub id: ActionId,
    pub label: String,
    pub kind: ActionKind,
    /// What at most one proposal may work on at a time: the same for all names of the same thing.
    pub target: String,
    /// As the file says, unless the lock-out guard raised it.
    pub tier: Tier,
    pub risk: Risk,
    /// Why the lock-out guard raised it.
    pub raised: Option<String>,
    pub params: ParamSpecs,
    /// The service whose check tells whether it worked.
    pub verify: Option<String>,
    pub inverse: Option<ActionId>,
    /// As the file says; 0 lifts the default of safe actions. [`crate::policy::cooldown`] says whom it binds.
    pub cooldown: Option<Duration>,
    pub max_per_hour: Option<u32>,
    pub timeout: Duration,
    pub expires_after: Duration,
    /// The agents that may propose it; `None` is every agent that may act.
    pub agents: Option<Vec<String>>,
    via: Via,
    definition: Value,
    digest: Digest,
    exec_digest: Digest,
}

impl Action {
    pub fn route(&self) -> Route<'_> {
        match (&self.via, &self.kind) {
            (Via::Host(host), _) => Route::Host(host),
            (Via::Proxmox, _) => Route::Proxmox,
            (Via::File, _) => Route::File,
            (Via::Node, ActionKind::OnNode { node, .. }) => Route::Node(node),
            // The loader gives `Via::Node` to node kinds only.
            (Via::Node, _) => Route::File,
        }
    }

    /// The parameter of a `scale` that says how many copies shall run: the number called `replicas`, or the
    /// only number there is.
    pub fn replicas_param(&self) -> Option<&str> {
        let ActionKind::OnNode {
            op: NodeOp::Scale, ..
        } = self.kind
        else {
            return None;
        };
        let numbers = || {
            let all = self.params.iter();
            all.filter(|(_, spec)| matches!(spec, ParamSpec::Integer { .. }))
                .map(|(name, _)| name)
        };
        let (mut named, mut any) = (numbers().filter(|name| *name == "replicas"), numbers());
        named
            .next()
            .or_else(|| any.next().filter(|_| any.next().is_none()))
    }

    /// All that the owner approves, but for the parameters: the action as written, the machine it
    /// resolves to, and tier and risk as they are in force.
    pub fn definition(&self) -> &Value {
        &self.definition
    }

    /// The digest of the definition with no parameters.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    pub fn digest_with(&self, params: &Params) -> Result<Digest, NotCanonical> {
        if *params == Params::default() {
            return Ok(self.digest);
        }
        approved_digest(&self.definition, &params.to_value())
    }

    pub fn exec_digest(&self) -> Digest {
        self.exec_digest
    }
}

/// [`Action::digest`] of a stored definition.
pub fn definition_digest(definition: &Value) -> Result<Digest, NotCanonical> {
    approved_digest(definition, &Params::default().to_value())
}

fn approved_digest(definition: &Value, params: &Value) -> Result<Digest, NotCanonical> {
    canonical::digest_of(&json!({"definition": definition, "params": params}))
}

fn exec_digest(
    id: &ActionId,
    kind: &ActionKind,
    params: &ParamSpecs,
    tier: Tier,
    risk: Risk,
) -> Result<Digest, NotCanonical> {
    canonical::digest_of(&json!({
        "id": id,
        "kind": kind.as_str(),
        "target": kind.target_value(),
        "op": kind.op(),
        "params": params.to_value(),
        "tier": tier,
        "risk": risk,
    }))
}
