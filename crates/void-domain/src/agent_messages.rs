//! Messages in the mailboxes of agents: what one is, how it moves, and how much of everything there may be.
//!
//! A message waits, is handed out as often as it takes, and is acknowledged by its id; or it is a dead letter, which its
//! sender and the owner see. Who may send to whom is no question of this file: the tree of agents says it.

mod rates;
mod states;
mod texts;

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::agents::AgentName;
use crate::ids::AgentMessageId;
use crate::taint::Taint;
use crate::time::Timestamp;

pub use self::rates::{SENDS_PER_MINUTE, TooManySends, WAKES_PER_MINUTE, take_send};
pub use self::states::{AgentMessageState, DeadReason, NotOpen};
pub use self::texts::{InvalidMessageKey, InvalidMessageText, MessageKey, MessageText};

/// A text as JSON writes it: with what goes with it, it fits whole into what a tool gives back.
pub const TEXT_BYTES_MAX: usize = 12 * 1024;
/// What is open in one mailbox.
pub const MAILBOX_MESSAGES_MAX: u64 = 1_000;
/// Of those, what only the owner, whoever stands above, and the agent itself can fill: a flood from beside or below keeps
/// none of them out.
pub const MAILBOX_RESERVED: u64 = 100;
/// What is open of one sender in one mailbox.
pub const SENDER_MESSAGES_MAX: u64 = 50;
/// A message that was handed out so often and never acknowledged is a dead letter.
pub const DELIVERIES_MAX: u32 = 10;
/// A message that nobody acknowledged for so long is a dead letter.
pub const EXPIRES_AFTER: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// For how long what is over is kept.
pub const ENDED_KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How far behind the newest message of a mailbox one that is over is kept.
pub const ENDED_KEPT_PER_MAILBOX: u64 = 2_000;
/// How many messages are handed out at a time, and how many ids one acknowledgement has.
pub const RECEIVED_AT_ONCE_MAX: u32 = 10;
pub const ACKNOWLEDGED_AT_ONCE_MAX: usize = 100;
/// How many dead letters a sender is told of at a time.
pub const DEAD_LETTERS_TOLD_MAX: u32 = 10;

/// Who put a message into a mailbox.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sender {
    Owner,
    Agent(AgentName),
}

impl Sender {
    /// As the agent that is told calls it.
    pub fn name(&self) -> &str {
        match self {
            Self::Owner => "owner",
            Self::Agent(name) => name.as_str(),
        }
    }
}

/// As it is stored.
impl fmt::Display for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner => f.write_str("owner"),
            Self::Agent(name) => write!(f, "agent-{name}"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("neither the owner nor an agent")]
pub struct InvalidSender;

impl FromStr for Sender {
    type Err = InvalidSender;

    fn from_str(text: &str) -> Result<Self, InvalidSender> {
        if text == "owner" {
            return Ok(Self::Owner);
        }
        let name = text.strip_prefix("agent-").ok_or(InvalidSender)?;
        name.parse().map(Self::Agent).map_err(|_| InvalidSender)
    }
}

/// Why an agent woke itself. A closed set: a program beside an agent can say when, and no words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OwnWake {
    /// A time that was waited for has come.
    Timer,
    /// A file that is watched has changed.
    File,
    /// Another program called.
    Hook,
    /// Work that was under way has ended.
    Job,
}

impl OwnWake {
    pub const ALL: [Self; 4] = [Self::Timer, Self::File, Self::Hook, Self::Job];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Timer => "timer",
            Self::File => "file",
            Self::Hook => "hook",
            Self::Job => "job",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.as_str() == text)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageContent {
    Text(MessageText),
    Wake(OwnWake),
}

impl MessageContent {
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Wake(_) => "wake",
        }
    }

    /// What two messages with one key have to have alike.
    pub const fn as_str(&self) -> &str {
        match self {
            Self::Text(text) => text.as_str(),
            Self::Wake(cause) => cause.as_str(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentMessage {
    pub id: AgentMessageId,
    pub sender: Sender,
    pub receiver: AgentName,
    /// Rises in each mailbox.
    pub seq: u64,
    /// The sender's own name for it: the same again is the same message.
    pub key: MessageKey,
    pub content: MessageContent,
    /// What the sender had read.
    pub taint: Taint,
    pub sent_at: Timestamp,
    pub expires_at: Timestamp,
    pub state: AgentMessageState,
}

impl AgentMessage {
    /// Whether this is what was sent under its key before.
    pub fn is_same(&self, receiver: &AgentName, content: &MessageContent) -> bool {
        self.receiver == *receiver && self.content == *content
    }

    /// What whoever receives it has read from then on: what the sender had, and by whom it came. Nothing, if the sender had
    /// read nothing of strangers.
    pub fn given_taint(&self) -> Taint {
        let mut given = Taint::clean();
        if !self.taint.is_clean() {
            given.add(&format!("message of {}", self.sender.name()));
            given.unite(&self.taint);
        }
        given
    }
}

/// What a mailbox holds that is not over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MailboxLoad {
    pub all: u64,
    /// Of the one sender.
    pub of_sender: u64,
}

/// Whether the sender can be kept out by a mailbox that others have filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SenderRank {
    /// The owner, whoever stands above, and the agent itself.
    Above,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MailboxFull {
    #[error("the mailbox is full; it is read, or its messages expire")]
    All,
    #[error(
        "{SENDER_MESSAGES_MAX} messages of this sender wait there already; they are read, or they expire"
    )]
    OfSender,
}

impl MailboxLoad {
    /// Whether one more fits.
    pub fn judge(self, rank: SenderRank) -> Result<(), MailboxFull> {
        if self.of_sender >= SENDER_MESSAGES_MAX {
            return Err(MailboxFull::OfSender);
        }
        let max = match rank {
            SenderRank::Above => MAILBOX_MESSAGES_MAX,
            SenderRank::Other => MAILBOX_MESSAGES_MAX - MAILBOX_RESERVED,
        };
        if self.all >= max {
            return Err(MailboxFull::All);
        }
        Ok(())
    }
}
