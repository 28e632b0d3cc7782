//! Agents: who acts here besides people. An agent has one name for good, one set of capabilities and any
//! number of tokens; whichever token is shown, it is the same agent.
//!
//! A name is never another agent's, also after it was withdrawn: whoever reads "little-blue" in the record,
//! in the catalogue or on a card means one agent. The database keeps withdrawn agents, and names that read
//! like one of them are refused.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::capabilities::{Capabilities, Capability};
use crate::ids::{AgentId, is_slug};
use crate::time::Timestamp;

/// More than a house has, withdrawn ones included.
pub const AGENTS_MAX: u32 = 10_000;

/// Who acts here and is no agent: what is dropped into the file bridge is asked for by `file`, and the record says
/// `owner`, `policy` and `system`.
pub const RESERVED_NAMES: [&str; 7] =
    ["file", "owner", "you", "policy", "void", "system", "nobody"];

/// How Void calls itself and the owner in the record and on cards, beside [`RESERVED_NAMES`]; nobody new is called
/// so. Names of before keep working.
const ACTOR_NAMES: [&str; 3] = ["agent-file", "operator", "webui"];

/// What `owner-cli`, `operator-tg-7` and the like begin with, with a number or without.
const ACTOR_PREFIXES: [&str; 4] = ["owner", "operator", "system", "void"];

/// Whether somebody new of this name, of whichever kind, would pass for the owner or for Void.
pub fn poses_as_us(name: &str) -> bool {
    let alike = |one: &str| folded_wide(one.as_bytes().iter().filter(|byte| **byte != b'-'));
    let own = alike(name);
    let is_called = RESERVED_NAMES.into_iter().chain(ACTOR_NAMES);
    let (first, _) = name.split_once('-').unwrap_or((name, ""));
    // `owner2` is no other owner; where a digit stands for a letter, it is one.
    let unnumbered = first.trim_end_matches(|last: char| last.is_ascii_digit());
    let begins = [alike(first), alike(unnumbered)];
    is_called.into_iter().any(|one| alike(one) == own)
        || ACTOR_PREFIXES
            .into_iter()
            .any(|one| begins.contains(&alike(one)))
        || SURFACES
            .into_iter()
            .any(|surface| own.starts_with(&alike(surface)))
}

/// Dashes are passed over, so `ownercli` is `owner-cli`.
const SURFACES: [&str; 7] = [
    "ownerapi",
    "ownercli",
    "ownerweb",
    "ownerfile",
    "ownerntfy",
    "ownertelegram",
    "operatortg",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an agent's name is 1 to 64 of a-z, 0-9 and -, and begins with a letter or digit")]
pub struct InvalidAgentName;

/// What an agent is called, in one spelling.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentName(String);

impl AgentName {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether people would take one for the other; a name reads like itself. Dashes are passed over, but for
    /// those between digits: `host-1-11` and `host-11-1` are two.
    pub fn reads_like(&self, other: &Self) -> bool {
        self.folded() == other.folded()
    }

    /// The same for a name that is new, where more is taken for each other.
    pub fn looks_like(&self, other: &Self) -> bool {
        folded_wide(&self.without_dashes()) == folded_wide(&other.without_dashes())
    }

    /// What is equal for two names exactly if they read like each other, so that many can be compared at once.
    pub fn likeness(&self) -> Vec<u8> {
        self.folded()
    }

    /// Whether it reads like one of [`RESERVED_NAMES`].
    pub fn is_reserved(&self) -> bool {
        let reserved = RESERVED_NAMES.iter().map(|name| folded(name.as_bytes()));
        let own = self.folded();
        reserved.into_iter().any(|name| name == own)
    }

    fn folded(&self) -> Vec<u8> {
        folded(&self.without_dashes())
    }

    fn without_dashes(&self) -> Vec<u8> {
        let bytes = self.0.as_bytes();
        let is_digit = |at: Option<usize>| {
            at.and_then(|at| bytes.get(at))
                .is_some_and(u8::is_ascii_digit)
        };
        let kept = bytes.iter().enumerate().filter(|(at, byte)| {
            **byte != b'-' || (is_digit(at.checked_sub(1)) && is_digit(at.checked_add(1)))
        });
        kept.map(|(_, byte)| *byte).collect()
    }
}

/// One letter for all that are taken for it: `o` and `0`; `i`, `l` and `1`; `m` and `rn`.
fn folded(name: &[u8]) -> Vec<u8> {
    let mut folded = Vec::with_capacity(name.len());
    for byte in name {
        match (byte, folded.last()) {
            (b'n', Some(b'r')) => {
                folded.pop();
                folded.push(b'm');
            }
            (b'0', _) => folded.push(b'o'),
            (b'1' | b'l', _) => folded.push(b'i'),
            (other, _) => folded.push(*other),
        }
    }
    folded
}

/// The same, and one letter for `s` and `5`, `b` and `8`, `z` and `2`, and `vv` for `w`, which a hurried reader takes for
/// each other. Names that are there already were not judged by it, so it is for new ones alone. `v` and `y` stay two: everyday names differ
/// by nothing else (`eve` and `eye`), and the tail of a `y` is seen.
fn folded_wide<'a>(name: impl IntoIterator<Item = &'a u8>) -> Vec<u8> {
    let letters: Vec<u8> = name.into_iter().copied().collect();
    let mut wide = Vec::with_capacity(letters.len());
    for byte in folded(&letters) {
        match byte {
            b'5' => wide.push(b's'),
            b'8' => wide.push(b'b'),
            b'2' => wide.push(b'z'),
            // This way round, so that `vvv` is `wv` and `vw` alike.
            b'w' => wide.extend(*b"vv"),
            other => wide.push(other),
        }
    }
    wide
}

impl FromStr for AgentName {
    type Err = InvalidAgentName;

    fn from_str(text: &str) -> Result<Self, InvalidAgentName> {
        match is_slug(text) {
            true => Ok(Self(text.to_owned())),
            false => Err(InvalidAgentName),
        }
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for AgentName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for AgentName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    pub id: AgentId,
    pub name: AgentName,
    /// What it may do, by whichever token.
    pub capabilities: Capabilities,
    pub created_at: Timestamp,
    pub state: AgentState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentState {
    /// It has at least one live token.
    Live,
    /// Its last token was revoked. The row stays: the name is taken for good.
    Withdrawn { at: Timestamp },
}

/// Whether anybody has the text of one of an agent's tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holding {
    /// It lives in Void, and its only token is one that nobody has seen.
    Nobody,
    Somebody,
}

/// What a token under the name of a known agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenGrant {
    /// One more for the same agent.
    Further,
    /// The first that somebody holds: the owner says with it what the agent may do.
    First,
}

/// Why an agent gets no token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentRefusal {
    #[error("nothing in Void uses the capability {0} yet, so it is not granted")]
    CapabilityUnused(Capability),
    #[error("an agent of this name has other capabilities ({}); all its tokens have the same", listed(.0))]
    OtherCapabilities(Capabilities),
    #[error("an agent of this name was withdrawn, and its name stays its own: it is in the record")]
    Withdrawn,
    #[error("an agent of this name was destroyed, and its name is nobody's any more")]
    Destroyed,
    #[error("this name reads like that of the agent \"{0}\"")]
    ReadsLike(AgentName),
    #[error(
        "this name reads like one that Void uses for the owner, for itself or for somebody who is no agent"
    )]
    Reserved,
    #[error("{0} stands above everybody in the tree, and nobody outside is it")]
    InTree(AgentName),
    #[error("there is no withdrawn agent of this name")]
    NotWithdrawn,
    #[error("there are {AGENTS_MAX} agents already, withdrawn ones included")]
    TooMany,
}

fn listed(capabilities: &Capabilities) -> String {
    let names: Vec<&str> = capabilities.iter().map(Capability::as_str).collect();
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    }
}

impl Agent {
    pub const fn is_live(&self) -> bool {
        matches!(self.state, AgentState::Live)
    }

    /// Judges a request for a token under this agent's name.
    pub fn judge_token(
        &self,
        capabilities: &Capabilities,
        holding: Holding,
    ) -> Result<TokenGrant, AgentRefusal> {
        match (self.state, holding) {
            (AgentState::Withdrawn { .. }, _) => Err(AgentRefusal::Withdrawn),
            (AgentState::Live, Holding::Nobody) => Ok(TokenGrant::First),
            (AgentState::Live, Holding::Somebody) if self.capabilities == *capabilities => {
                Ok(TokenGrant::Further)
            }
            (AgentState::Live, Holding::Somebody) => {
                Err(AgentRefusal::OtherCapabilities(self.capabilities.clone()))
            }
        }
    }

    /// The same agent again, with what the owner says now.
    pub fn restore(self, capabilities: Capabilities) -> Result<Self, AgentRefusal> {
        match self.state {
            AgentState::Live => Err(AgentRefusal::NotWithdrawn),
            AgentState::Withdrawn { .. } => Ok(Self {
                capabilities,
                state: AgentState::Live,
                ..self
            }),
        }
    }
}

/// Judges the name of an agent that is to be new, beside all that there ever were.
pub fn judge_new_name(name: &AgentName, known: &[AgentName]) -> Result<(), AgentRefusal> {
    if u32::try_from(known.len()).is_ok_and(|count| count >= AGENTS_MAX) {
        return Err(AgentRefusal::TooMany);
    }
    if poses_as_us(name.as_str()) {
        return Err(AgentRefusal::Reserved);
    }
    match known.iter().find(|known| known.looks_like(name)) {
        Some(known) => Err(AgentRefusal::ReadsLike(known.clone())),
        None => Ok(()),
    }
}

/// Judges the name of an agent that lives here or comes back: its own is its own, and no other may read like it.
pub fn judge_known_name<'a>(
    name: &AgentName,
    others: impl IntoIterator<Item = &'a AgentName>,
) -> Result<(), AgentRefusal> {
    let mut others = others.into_iter();
    match others.find(|other| *other != name && other.reads_like(name)) {
        Some(other) => Err(AgentRefusal::ReadsLike(other.clone())),
        None => Ok(()),
    }
}

/// What the owner may grant now.
pub fn judge_grant(capabilities: &Capabilities) -> Result<(), AgentRefusal> {
    match capabilities.iter().find(|one| !one.is_granted()) {
        Some(unused) => Err(AgentRefusal::CapabilityUnused(unused)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
