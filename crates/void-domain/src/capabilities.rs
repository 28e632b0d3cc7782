//! What an agent may do. Capabilities are granted by the owner and never imply approval.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::text;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Capability {
    Read,
    Act,
    Suggest,
    /// Reading the record: who did what. It gives nothing else.
    AuditRead,
    Spawn,
    MetaRead,
    MetaUpdate,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown capability \"{}\"; known are read, act, suggest, audit.read, spawn, meta.read, meta.update", text::escaped(.0))]
pub struct UnknownCapability(pub String);

impl Capability {
    pub const ALL: [Self; 7] = [
        Self::Read,
        Self::Act,
        Self::Suggest,
        Self::AuditRead,
        Self::Spawn,
        Self::MetaRead,
        Self::MetaUpdate,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Act => "act",
            Self::Suggest => "suggest",
            Self::AuditRead => "audit.read",
            Self::Spawn => "spawn",
            Self::MetaRead => "meta.read",
            Self::MetaUpdate => "meta.update",
        }
    }

    /// Whether it can be granted. What nothing in Void looks at yet would be a promise of something that the
    /// owner has not seen: it is granted once it means something.
    pub const fn is_granted(self) -> bool {
        match self {
            Self::Read | Self::Act | Self::Suggest | Self::AuditRead => true,
            Self::Spawn | Self::MetaRead | Self::MetaUpdate => false,
        }
    }

    /// Those that can be granted.
    pub fn granted() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|one| one.is_granted())
    }
}

impl FromStr for Capability {
    type Err = UnknownCapability;

    fn from_str(name: &str) -> Result<Self, UnknownCapability> {
        Self::ALL
            .into_iter()
            .find(|capability| capability.as_str() == name)
            .ok_or_else(|| UnknownCapability(name.to_owned()))
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of capabilities; the empty set is what a missing grant means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities(BTreeSet<Capability>);

impl Capabilities {
    pub const fn none() -> Self {
        Self(BTreeSet::new())
    }

    pub fn has(&self, capability: Capability) -> bool {
        self.0.contains(&capability)
    }

    pub fn iter(&self) -> impl Iterator<Item = Capability> + '_ {
        self.0.iter().copied()
    }
}

impl FromIterator<Capability> for Capabilities {
    fn from_iter<I: IntoIterator<Item = Capability>>(capabilities: I) -> Self {
        Self(capabilities.into_iter().collect())
    }
}

impl Serialize for Capabilities {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|capability| capability.as_str()))
    }
}

/// Accepts the list form and the source documents' map form, `{"read":true,"act":true}`.
impl<'de> Deserialize<'de> for Capabilities {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            List(Vec<String>),
            Map(BTreeMap<String, bool>),
        }
        let names: Vec<String> = match Form::deserialize(deserializer)? {
            Form::List(names) => names,
            Form::Map(map) => map
                .into_iter()
                .filter(|(_, on)| *on)
                .map(|(name, _)| name)
                .collect(),
        };
        names
            .iter()
            .map(|name| name.parse().map_err(de::Error::custom))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_written_forms_mean_the_same() {
        let list: Capabilities = serde_json::from_str(r#"["read","act"]"#).unwrap();
        let map: Capabilities =
            serde_json::from_str(r#"{"read":true,"act":true,"spawn":false}"#).unwrap();
        assert_eq!(list, map);
        assert!(list.has(Capability::Act) && !list.has(Capability::Spawn));
        assert!(serde_json::from_str::<Capabilities>(r#"["approve"]"#).is_err());
        assert!(serde_json::from_str::<Capabilities>(r#"{"approve":true}"#).is_err());
    }
}
