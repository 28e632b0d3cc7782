//! How a message moves: waiting, handed out, acknowledged; or dead.

use crate::time::Timestamp;

use super::{AgentMessage, DELIVERIES_MAX};

/// Why a message reaches nobody any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeadReason {
    /// The receiver was withdrawn.
    ReceiverGone,
    /// The sender may not write to the receiver any more: one of them was moved, or the sender was withdrawn.
    OutOfReach,
    Expired,
    /// It was handed out again and again and never acknowledged.
    NeverAcknowledged,
}

impl DeadReason {
    pub const ALL: [Self; 4] = [
        Self::ReceiverGone,
        Self::OutOfReach,
        Self::Expired,
        Self::NeverAcknowledged,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReceiverGone => "receiver_gone",
            Self::OutOfReach => "out_of_reach",
            Self::Expired => "expired",
            Self::NeverAcknowledged => "never_acknowledged",
        }
    }

    /// As people say it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::ReceiverGone => "the receiver was withdrawn",
            Self::OutOfReach => "the sender may not write to it any more",
            Self::Expired => "nobody acknowledged it in time",
            Self::NeverAcknowledged => "it was handed out too often without being acknowledged",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentMessageState {
    Waiting,
    /// Handed out so often, and not acknowledged.
    Delivered {
        deliveries: u32,
        last_at: Timestamp,
    },
    Acknowledged {
        deliveries: u32,
        at: Timestamp,
    },
    Dead {
        deliveries: u32,
        at: Timestamp,
        why: DeadReason,
        /// When the sender said that it knows.
        noticed_at: Option<Timestamp>,
    },
}

impl AgentMessageState {
    pub const WORDS: [&str; 4] = ["waiting", "delivered", "acknowledged", "dead"];

    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered { .. } => "delivered",
            Self::Acknowledged { .. } => "acknowledged",
            Self::Dead { .. } => "dead",
        }
    }

    pub const fn deliveries(&self) -> u32 {
        match self {
            Self::Waiting => 0,
            Self::Delivered { deliveries, .. }
            | Self::Acknowledged { deliveries, .. }
            | Self::Dead { deliveries, .. } => *deliveries,
        }
    }

    /// Whether it may still be handed out.
    pub const fn is_open(&self) -> bool {
        match self {
            Self::Waiting | Self::Delivered { .. } => true,
            Self::Acknowledged { .. } | Self::Dead { .. } => false,
        }
    }
}

/// A message that is over moves no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a message that is {from} is over")]
pub struct NotOpen {
    pub from: &'static str,
}

impl AgentMessage {
    fn open(&self) -> Result<u32, NotOpen> {
        match self.state.is_open() {
            true => Ok(self.state.deliveries()),
            false => Err(NotOpen {
                from: self.state.as_str(),
            }),
        }
    }

    /// It is handed out once more, or is a dead letter instead: expired, or handed out too often.
    pub fn deliver(self, at: Timestamp) -> Result<Self, NotOpen> {
        let deliveries = self.open()?;
        if at >= self.expires_at {
            return self.bury(at, DeadReason::Expired);
        }
        if deliveries >= DELIVERIES_MAX {
            return self.bury(at, DeadReason::NeverAcknowledged);
        }
        Ok(Self {
            state: AgentMessageState::Delivered {
                deliveries: deliveries + 1,
                last_at: at,
            },
            ..self
        })
    }

    /// It reaches nobody any more.
    pub fn bury(self, at: Timestamp, why: DeadReason) -> Result<Self, NotOpen> {
        let deliveries = self.open()?;
        Ok(Self {
            state: AgentMessageState::Dead {
                deliveries,
                at,
                why,
                noticed_at: None,
            },
            ..self
        })
    }
}
