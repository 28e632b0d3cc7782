//! Nodes: machines that run Void's pull executor.
//!
//! A node is invited by the owner, asks to join with a secret that it made itself, and waits until the owner has
//! compared the secret's fingerprint. Only then does its secret open anything. Leaving ends the row; the record
//! keeps the story.

use std::fmt;

use serde::Serialize;

use crate::digests::Digest;
use crate::ids::{TokenId, is_slug};
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct NodeName(String);

impl NodeName {
    /// What an action of the catalogue may name as its node.
    const BYTES_MAX: usize = 63;

    pub fn parse(text: &str) -> Option<Self> {
        (is_slug(text) && text.len() <= Self::BYTES_MAX).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub name: NodeName,
    pub membership: Membership,
    pub presence: Presence,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Membership {
    /// Somebody who shows the join token of this hash may ask, until then.
    Invited {
        invite: Digest,
        expires_at: Timestamp,
    },
    /// Asked; the owner compares the fingerprint.
    Waiting { invite: Digest, asked: Asked },
    Joined {
        /// Kept so that a node whose answer was lost hears that it has joined; it opens nothing any more. Nodes
        /// whose token the owner made by hand never had one.
        invite: Option<Digest>,
        token_id: TokenId,
        fingerprint: Digest,
        at: Timestamp,
        by: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// SHA-256 of the secret that the node made and kept.
    pub fingerprint: Digest,
    pub at: Timestamp,
    /// The address it came from, for the owner to recognise.
    pub from: String,
}

/// What the node last said about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Presence {
    pub version: Option<String>,
    /// Its list as it told it, as JSON.
    pub list: Option<String>,
    /// Each start of its program counts one further.
    pub generation: u64,
    pub nonce: Option<String>,
    pub seen_at: Option<Timestamp>,
    /// When an older program with this node's secret last came back: the secret is on two machines.
    pub twin_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinRefusal {
    /// Not invited with this token, or not any more.
    NotInvited,
    /// Somebody has asked with this token already, with another fingerprint.
    Taken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApproveRefusal {
    NotWaiting,
    /// Another fingerprint than the one that the owner saw.
    OtherFingerprint,
}

impl Membership {
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Invited { .. } => "invited",
            Self::Waiting { .. } => "waiting",
            Self::Joined { .. } => "joined",
        }
    }

    pub const fn invite(&self) -> Option<Digest> {
        match self {
            Self::Invited { invite, .. } | Self::Waiting { invite, .. } => Some(*invite),
            Self::Joined { invite, .. } => *invite,
        }
    }

    pub const fn fingerprint(&self) -> Option<Digest> {
        match self {
            Self::Invited { .. } => None,
            Self::Waiting { asked, .. } => Some(asked.fingerprint),
            Self::Joined { fingerprint, .. } => Some(*fingerprint),
        }
    }
}

impl Node {
    pub fn invite(name: NodeName, invite: Digest, expires_at: Timestamp) -> Self {
        Self {
            name,
            membership: Membership::Invited { invite, expires_at },
            presence: Presence::default(),
        }
    }

    /// Asks with a join token. Asking again with the same fingerprint changes nothing, so that a lost answer can be
    /// asked for.
    pub fn ask(self, asked: Asked) -> Result<Self, JoinRefusal> {
        let membership = match self.membership {
            Membership::Invited { expires_at, .. } if asked.at >= expires_at => {
                return Err(JoinRefusal::NotInvited);
            }
            Membership::Invited { invite, .. } => Membership::Waiting { invite, asked },
            known if known.fingerprint() == Some(asked.fingerprint) => known,
            Membership::Waiting { .. } | Membership::Joined { .. } => {
                return Err(JoinRefusal::Taken);
            }
        };
        Ok(Self { membership, ..self })
    }

    pub fn approve(
        self,
        fingerprint: Digest,
        token_id: TokenId,
        at: Timestamp,
        by: String,
    ) -> Result<Self, ApproveRefusal> {
        let invite = match &self.membership {
            Membership::Waiting { asked, invite } if asked.fingerprint == fingerprint => *invite,
            Membership::Waiting { .. } => return Err(ApproveRefusal::OtherFingerprint),
            Membership::Invited { .. } | Membership::Joined { .. } => {
                return Err(ApproveRefusal::NotWaiting);
            }
        };
        Ok(Self {
            membership: Membership::Joined {
                invite: Some(invite),
                token_id,
                fingerprint,
                at,
                by,
            },
            ..self
        })
    }
}

/// How a node's version stands to the server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Skew {
    Same,
    Older,
    Newer,
    /// It names no version that can be compared.
    Unknown,
}

impl Skew {
    /// Patch releases do not count.
    pub fn of(ours: &str, theirs: &str) -> Self {
        match (release(ours), release(theirs)) {
            (Some(ours), Some(theirs)) => match theirs.cmp(&ours) {
                std::cmp::Ordering::Less => Self::Older,
                std::cmp::Ordering::Equal => Self::Same,
                std::cmp::Ordering::Greater => Self::Newer,
            },
            _ => Self::Unknown,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Older => "older",
            Self::Newer => "newer",
            Self::Unknown => "unknown",
        }
    }
}

fn release(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(|part| part.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Timestamp = Timestamp::from_ms(1_000);

    fn digest(text: &str) -> Digest {
        Digest::of(text.as_bytes())
    }

    fn asked(secret: &str, at: i64) -> Asked {
        Asked {
            fingerprint: digest(secret),
            at: Timestamp::from_ms(at),
            from: "10.0.0.7".to_owned(),
        }
    }

    fn token() -> TokenId {
        TokenId::new(T, [7; 10])
    }

    fn invited() -> Node {
        Node::invite(NodeName::parse("n1").unwrap(), digest("invite"), T)
    }

    #[test]
    fn every_state_and_every_step() {
        let waiting = invited().ask(asked("s", 999)).unwrap();
        let joined = waiting
            .clone()
            .approve(digest("s"), token(), T, "owner".into())
            .unwrap();
        assert_eq!(
            invited().ask(asked("s", 1_000)),
            Err(JoinRefusal::NotInvited)
        );
        assert_eq!(waiting.clone().ask(asked("s", 5_000)), Ok(waiting.clone()));
        assert_eq!(
            waiting.clone().ask(asked("x", 999)),
            Err(JoinRefusal::Taken)
        );
        assert_eq!(joined.clone().ask(asked("s", 5_000)), Ok(joined.clone()));
        assert_eq!(
            joined.clone().ask(asked("x", 5_000)),
            Err(JoinRefusal::Taken)
        );
        let approve = |node: Node, secret: &str| {
            let node = node.approve(digest(secret), token(), T, "owner".into());
            node.map(|node| node.membership.as_str())
        };
        assert_eq!(approve(invited(), "s"), Err(ApproveRefusal::NotWaiting));
        assert_eq!(approve(joined, "s"), Err(ApproveRefusal::NotWaiting));
        assert_eq!(
            approve(waiting.clone(), "x"),
            Err(ApproveRefusal::OtherFingerprint)
        );
        assert_eq!(approve(waiting, "s"), Ok("joined"));
    }

    #[test]
    fn versions_are_compared_without_their_patch() {
        for (theirs, skew) in [
            ("0.4.0", Skew::Same),
            ("0.4.9", Skew::Same),
            ("0.3.9", Skew::Older),
            ("0.5.0-rc1", Skew::Newer),
            ("1.0.0", Skew::Newer),
            ("", Skew::Unknown),
            ("x.y", Skew::Unknown),
        ] {
            assert_eq!(Skew::of("0.4.2", theirs), skew, "{theirs}");
        }
    }

    #[test]
    fn names_are_those_of_the_catalogue() {
        assert!(NodeName::parse(&"n".repeat(63)).is_some());
        for bad in ["", "-n", "N1", "n 1", "n/1", &"n".repeat(64)] {
            assert!(NodeName::parse(bad).is_none(), "{bad}");
        }
    }
}
