//! The whitelist: everything that may ever run, read once from `config/actions.json`.
//!
//! A [`Catalogue`] exists only if the whole file is valid. It does not change while the server
//! runs; nothing here can write one. Each action carries two digests: `digest` over all that the
//! owner approves, `exec_digest` over what the host can check.

#[cfg(test)]
mod floods;
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

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use lockout::{InvalidLockout, Lockout};
pub use params::{InvalidParams, ParamSpec, ParamSpecs, ParamValue, Params};

use crate::canonical::{self, NotCanonical};
use crate::digests::Digest;
use crate::executions::{ActionKind, Execution, Route};
use crate::hosts::{Host, HostName};
use crate::ids::ActionId;
use crate::text;
pub use crate::written::{Problem, Severity};

/// The JSON Schema for editors, kept beside the example catalogue.
pub const JSON_SCHEMA: &str = include_str!("../../../config/actions.schema.json");

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
        let mut spellings: Vec<String> = same.map(|other| other.execution.kind.target()).collect();
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

#[derive(Debug, PartialEq)]
pub struct Action {
    pub id: ActionId,
    pub label: String,
    /// What it does to a machine.
    pub execution: Execution,
    /// What at most one proposal may work on at a time: the same for all names of the same thing.
    pub target: String,
    /// As the file says, unless the lock-out guard raised it.
    pub tier: Tier,
    pub risk: Risk,
    /// Why the lock-out guard raised it.
    pub raised: Option<String>,
    pub params: ParamSpecs,
    pub inverse: Option<ActionId>,
    /// As the file says; 0 lifts the default of safe actions. [`crate::policy::cooldown`] says whom it binds.
    pub cooldown: Option<Duration>,
    pub max_per_hour: Option<u32>,
    pub expires_after: Duration,
    /// The agents that may propose it; `None` is every agent that may act.
    pub agents: Option<Vec<String>>,
    definition: Value,
    digest: Digest,
    exec_digest: Digest,
}

impl Action {
    pub fn route(&self) -> Route<'_> {
        self.execution.route()
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
        "op": kind.power().map(|power| power.op.as_str()),
        "params": params.to_value(),
        "tier": tier,
        "risk": risk,
    }))
}
