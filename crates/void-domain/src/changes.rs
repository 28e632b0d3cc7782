//! What a proposal changes that is no machine: the owner's own files and words.
//!
//! A [`Change`] says what is changed, how, against which base, and by which patch. It is stored as the definition of
//! its proposal, so that one digest binds all of it, and read from there once, when the row is read. Nothing is ever
//! applied to another base than the one that was looked at.

pub mod catalogue;
pub mod differences;
pub mod drafts;
pub mod knowledge;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::canonical;
use crate::catalogue::{Risk, Tier};
use crate::digests::Digest;
use crate::ids::SpaceId;
use crate::instances::InstanceName;
use crate::proposals::{ProposedChange, Subject, SubjectKind};

/// What is changed, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub target: ChangeTarget,
    /// What kind of thing it is: `catalogue`, later `page`, `task`, …
    pub entity: String,
    /// Which one. Of catalogues, the instance whose it is.
    pub entity_id: Option<String>,
    pub op: ChangeOp,
    /// What it was made against: the digest of a file, the revision of an entity. `None` if there was nothing.
    pub base: Option<String>,
    /// A unified diff against the base.
    pub patch: String,
    /// The digest of what comes out of it.
    pub result: Digest,
    /// What that means, in words of Void, worst first.
    pub summary: Vec<String>,
    /// Where it is put.
    pub effect: ChangeEffect,
    /// Of knowledge, what it is called and where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<ChangedEntity>,
}

/// What a change of knowledge is about, in the words of the moment in which it was drafted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangedEntity {
    /// What it is called before the change; of something new, what it will be called.
    pub title: String,
    /// Where it is, or will be. A new space is nowhere.
    pub space_id: Option<SpaceId>,
    pub space: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeTarget {
    Knowledge,
    AgentConfig,
    MetaInputs,
    Topology,
    Catalogue,
}

impl ChangeTarget {
    pub const ALL: [Self; 5] = [
        Self::Knowledge,
        Self::AgentConfig,
        Self::MetaInputs,
        Self::Topology,
        Self::Catalogue,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Knowledge => "knowledge",
            Self::AgentConfig => "agent_config",
            Self::MetaInputs => "meta_inputs",
            Self::Topology => "topology",
            Self::Catalogue => "catalogue",
        }
    }

    /// How grave a change of this kind is. What widens who may do what is critical; a text is not, and every revision of it
    /// is kept.
    pub const fn risk(self) -> Risk {
        match self {
            Self::Knowledge => Risk::Guarded,
            Self::AgentConfig | Self::MetaInputs | Self::Topology | Self::Catalogue => {
                Risk::Critical
            }
        }
    }

    /// When a change of this kind has its effect.
    pub const fn applied(self) -> Applied {
        match self {
            Self::Knowledge | Self::MetaInputs | Self::Topology => Applied::WithTheDecision,
            Self::AgentConfig | Self::Catalogue => Applied::AfterTheClaim,
        }
    }
}

/// Where the effect of a change is, which decides how it is made safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// In the database: decided and applied in one transaction, or neither.
    WithTheDecision,
    /// Outside of it: claimed, then done, then settled, like the run of an action.
    AfterTheClaim,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeOp {
    Create,
    Update,
    Delete,
}

impl ChangeOp {
    pub const ALL: [Self; 3] = [Self::Create, Self::Update, Self::Delete];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

/// What a yes does with the new text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeEffect {
    /// The file is written and committed in its git work tree.
    Commit,
    /// The new text is put beside the file, for the owner to move.
    Beside,
    /// It is stored with the decision, or nothing is decided.
    Stored,
}

/// A definition that is none, or has no canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the change has no canonical form")]
pub struct Unbindable;

impl Change {
    /// What the digest binds and the row stores.
    pub fn definition(&self) -> Result<Value, Unbindable> {
        let change = serde_json::to_value(self).map_err(|_| Unbindable)?;
        Ok(json!({"change": change, "tier": Tier::Risky, "risk": self.target.risk()}))
    }

    /// `None` for a definition that is no change: the row was edited, or is damaged.
    pub fn from_definition(definition: &Value) -> Option<Self> {
        serde_json::from_value(definition.get("change")?.clone()).ok()
    }

    /// The title of its card: from what the digest binds, and not from words of whoever asks. It is told to everybody who hears
    /// of the proposal, so nothing of the owner's is in it.
    pub fn label(&self) -> &'static str {
        match (self.target, self.op) {
            (ChangeTarget::Catalogue, ChangeOp::Create) => "Write the first catalogue",
            (ChangeTarget::Catalogue, _) => "Change the catalogue",
            (ChangeTarget::Knowledge, op) => knowledge::label(&self.entity, op),
            (ChangeTarget::AgentConfig, _) => "Change the configuration of an agent",
            (ChangeTarget::MetaInputs, _) => "Change what agents are told",
            (ChangeTarget::Topology, _) => "Change where agents stand",
        }
    }

    /// As what it is proposed.
    pub fn into_subject(self) -> Result<Subject, Unbindable> {
        let definition = self.definition()?;
        Ok(Subject {
            label: self.label().to_owned(),
            tier: Tier::Risky,
            risk: self.target.risk(),
            target: self.busy_target(),
            digest: digest_of(&definition).ok_or(Unbindable)?,
            kind: SubjectKind::Change(ProposedChange {
                definition,
                change: Some(self),
            }),
        })
    }

    /// What at most one proposal may change at a time.
    fn busy_target(&self) -> String {
        match &self.entity_id {
            Some(id) => format!("{}:{id}", self.entity),
            None => self.entity.clone(),
        }
    }

    /// The instance that has what is changed; `None` if every instance has it.
    pub fn instance(&self) -> Option<InstanceName> {
        match self.target {
            ChangeTarget::Catalogue => self.entity_id.as_deref().and_then(InstanceName::parse),
            ChangeTarget::Knowledge
            | ChangeTarget::AgentConfig
            | ChangeTarget::MetaInputs
            | ChangeTarget::Topology => None,
        }
    }
}

/// The digest of a stored definition of a change.
pub fn digest_of(definition: &Value) -> Option<Digest> {
    canonical::digest_of(definition).ok()
}
