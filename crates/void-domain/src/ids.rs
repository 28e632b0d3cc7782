//! Ids. Each has its own type, so that one cannot be passed for another; none is ever a path.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use uuid::Uuid;

use crate::time::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an id: expected a lower-case UUID")]
pub struct InvalidId;

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// A new id (UUIDv7) from a moment and random bytes, both of which the caller supplies.
            pub fn new(at: Timestamp, random: [u8; 10]) -> Self {
                let ms = u64::try_from(at.as_ms()).unwrap_or(0);
                Self(uuid::Builder::from_unix_timestamp_millis(ms, &random).into_uuid())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self.0.as_hyphenated(), f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                let id = Uuid::try_parse(text).map_err(|_| InvalidId)?;
                // One spelling only: the text is compared and stored elsewhere.
                if id.as_hyphenated().to_string() == text { Ok(Self(id)) } else { Err(InvalidId) }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    };
}

uuid_id!(
    /// One request to run one action.
    ProposalId
);
uuid_id!(
    /// An agent, whatever tokens it has.
    AgentId
);
uuid_id!(
    /// A bearer token's record.
    TokenId
);
uuid_id!(
    /// Whoever asked for something: an agent, or the token of a viewer or a node, each of which is its own
    /// holder.
    RequesterId
);
uuid_id!(
    /// An owner's browser session.
    SessionId
);
uuid_id!(
    /// A passkey of the owner's.
    PasskeyId
);
uuid_id!(
    /// What an authenticator is asked to sign.
    ChallengeId
);
uuid_id!(
    /// What is said with one agent, from its first message on.
    ConversationId
);
uuid_id!(
    /// One message of a conversation.
    MessageId
);
uuid_id!(
    /// Why an agent is to have a turn.
    CauseId
);
uuid_id!(
    /// One thing to tell at one place.
    NotificationId
);
uuid_id!(
    /// What the owner is told of one outage.
    AlertId
);
uuid_id!(
    /// What the owner is not told for a time.
    MuteId
);
uuid_id!(
    /// One question, of whoever asks to whoever is asked.
    QuestionId
);
uuid_id!(
    /// What an agent is to be reminded of.
    ReminderId
);
uuid_id!(
    /// A space: what belongs together of what the owner keeps.
    SpaceId
);
uuid_id!(
    /// A project in a space.
    ProjectId
);
uuid_id!(
    /// A page of Markdown.
    PageId
);
uuid_id!(
    /// Something to be done.
    TaskId
);
uuid_id!(
    /// A page of the web that was kept.
    RefId
);
uuid_id!(
    /// A file that belongs to a space.
    AttachmentId
);
uuid_id!(
    /// One message in an agent's mailbox.
    AgentMessageId
);
uuid_id!(
    /// One operation as it came in: a request, a sweep, a start. Joins the log to the audit.
    RequestId
);

impl AgentId {
    /// An agent is known by the id of its first token. Before agents had a table, that was the id in rows and
    /// events; whoever kept it finds the same agent by it.
    pub const fn of_first_token(id: TokenId) -> Self {
        Self(id.0)
    }
}

impl From<AgentId> for RequesterId {
    fn from(id: AgentId) -> Self {
        Self(id.0)
    }
}

impl From<TokenId> for RequesterId {
    fn from(id: TokenId) -> Self {
        Self(id.0)
    }
}

/// The name of an entry of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ActionId(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidActionId {
    #[error("an action id is 1 to 64 of a-z, 0-9 and -, and begins with a letter or digit")]
    Grammar,
    #[error("ids that begin with void- are reserved for void-act's own questions")]
    Reserved,
}

impl ActionId {
    pub const RESERVED_PREFIX: &'static str = "void-";

    pub fn parse(text: &str) -> Result<Self, InvalidActionId> {
        if !is_slug(text) {
            return Err(InvalidActionId::Grammar);
        }
        if text.starts_with(Self::RESERVED_PREFIX) {
            return Err(InvalidActionId::Reserved);
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ActionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `^[a-z0-9][a-z0-9-]{0,63}$`: a leading dash would be an option to the next program.
pub fn is_slug(text: &str) -> bool {
    let bytes = text.as_bytes();
    (1..=64).contains(&bytes.len())
        && bytes.first() != Some(&b'-')
        && bytes
            .iter()
            .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

/// What people say instead of a UUID: 4 or more Crockford characters, unique while the row is open.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct ProposalCode(String);

impl ProposalCode {
    pub const LENGTH_MIN: usize = 4;
    pub const LENGTH_MAX: usize = 12;
    const ALPHABET: &'static [u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

    /// One character per random byte; 32 divides 256, so every code is equally likely.
    pub fn from_random(random: &[u8]) -> Self {
        let characters = random.iter().map(|byte| {
            let index = usize::from(byte % 32);
            char::from(Self::ALPHABET.get(index).copied().unwrap_or(b'0'))
        });
        Self(characters.collect())
    }

    /// Reads a code as people type it: any case, with O for 0 and I or L for 1.
    pub fn parse(text: &str) -> Option<Self> {
        if !(Self::LENGTH_MIN..=Self::LENGTH_MAX).contains(&text.len()) {
            return None;
        }
        let canonical: Option<String> = text
            .bytes()
            .map(|byte| match byte.to_ascii_uppercase() {
                b'O' => Some('0'),
                b'I' | b'L' => Some('1'),
                upper if Self::ALPHABET.contains(&upper) => Some(char::from(upper)),
                _ => None,
            })
            .collect();
        canonical.map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProposalCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuid_ids_have_one_spelling() {
        let id = ProposalId::new(Timestamp::from_ms(1_762_000_000_000), [7; 10]);
        assert_eq!(id.to_string().parse(), Ok(id));
        for bad in [
            id.to_string().to_uppercase(),
            format!("{{{id}}}"),
            id.to_string().replace('-', ""),
            "../../etc/passwd".to_owned(),
        ] {
            assert_eq!(bad.parse::<ProposalId>(), Err(InvalidId), "{bad}");
        }
    }

    #[test]
    fn action_ids_follow_the_shared_vectors() {
        let vectors: serde_json::Value =
            serde_json::from_str(include_str!("../../../docs/vectors/action-ids.json")).unwrap();
        let list =
            |name: &str| -> Vec<String> { serde_json::from_value(vectors[name].clone()).unwrap() };
        assert!(list("accept").len() + list("refuse").len() >= 60);
        for id in list("accept") {
            assert!(ActionId::parse(&id).is_ok(), "{id:?}");
        }
        for id in list("refuse") {
            assert_eq!(
                ActionId::parse(&id),
                Err(InvalidActionId::Grammar),
                "{id:?}"
            );
        }
        for id in list("reserved") {
            assert_eq!(
                ActionId::parse(&id),
                Err(InvalidActionId::Reserved),
                "{id:?}"
            );
        }
    }

    #[test]
    fn codes_are_read_as_people_type_them() {
        let code = ProposalCode::from_random(&[0, 1, 33, 255]);
        assert_eq!(code.as_str(), "011Z");
        assert_eq!(ProposalCode::parse("oilz"), Some(code));
        for bad in ["", "7F3", "7F3U", "7F 3", "7F3é", "0000000000000"] {
            assert_eq!(ProposalCode::parse(bad), None, "{bad}");
        }
    }
}
