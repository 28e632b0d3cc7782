//! Questions: an agent asks the owner or another agent, the owner asks an agent, with options or without. A question is
//! open until it is answered, taken back, or its time is over; each of these once.
//!
//! A question is never an approval, whatever is answered: nothing in Void reads an answer and acts.

#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use crate::agents::AgentName;
use crate::ids::{AgentId, ProposalCode, QuestionId};
use crate::taint::Taint;
use crate::text;
use crate::time::Timestamp;

pub const TEXT_BYTES_MAX: usize = 4 * 1024;
pub const REPLY_BYTES_MAX: usize = 4 * 1024;
pub const OPTIONS_MAX: usize = 8;
/// What fits on a button.
pub const OPTION_CHARS_MAX: usize = 60;
pub const EXPIRES_AFTER_DEFAULT: Duration = Duration::from_secs(24 * 60 * 60);
pub const EXPIRES_AFTER_MIN: Duration = Duration::from_secs(60);
pub const EXPIRES_AFTER_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How many of one asker are open at the same time.
pub const OPEN_PER_ASKER_MAX: u64 = 20;
/// How many are open to one agent, whoever asks.
pub const OPEN_PER_ASKED_MAX: u64 = 50;
/// How many are open to the owner: more is no question any more.
pub const OPEN_TO_OWNER_MAX: u64 = 200;
/// How many one agent asks in an hour, however fast they are answered or taken back.
pub const ASKED_PER_HOUR_MAX: u64 = 30;

/// Who asks, or is asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum QuestionParty {
    Owner,
    Agent(AgentName),
}

impl QuestionParty {
    pub const OWNER: &'static str = "owner";

    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Owner => Self::OWNER,
            Self::Agent(_) => "agent",
        }
    }

    pub const fn agent(&self) -> Option<&AgentName> {
        match self {
            Self::Owner => None,
            Self::Agent(name) => Some(name),
        }
    }

    /// `owner`, which is no agent's name, or the name of an agent.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            Self::OWNER => Some(Self::Owner),
            name => name.parse().ok().map(Self::Agent),
        }
    }
}

impl fmt::Display for QuestionParty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner => f.write_str(Self::OWNER),
            Self::Agent(name) => name.fmt(f),
        }
    }
}

/// What people say instead of the id: `Q-` and what a proposal's code is made of, so that neither is taken for the other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct QuestionCode(ProposalCode);

impl QuestionCode {
    const PREFIX: &'static str = "Q-";

    pub fn from_random(random: &[u8]) -> Self {
        Self(ProposalCode::from_random(random))
    }

    /// Reads a code as people type it.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text
            .strip_prefix(Self::PREFIX)
            .or_else(|| text.strip_prefix("q-"))?;
        ProposalCode::parse(rest).map(Self)
    }
}

impl fmt::Display for QuestionCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Self::PREFIX, self.0)
    }
}

/// What somebody wants to know, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionWords {
    text: String,
    options: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidQuestion {
    #[error("a question is 1 to {TEXT_BYTES_MAX} bytes")]
    Text,
    #[error("a question has at most {OPTIONS_MAX} options")]
    Options,
    #[error(
        "an option is one line of 1 to {OPTION_CHARS_MAX} plain characters, and no two options read alike"
    )]
    Option,
    #[error("a question expires after one minute at the earliest and seven days at the latest")]
    Expiry,
    #[error("an answer is 1 to {REPLY_BYTES_MAX} bytes")]
    Reply,
    #[error("the question has no such option")]
    NoSuchOption,
}

impl QuestionWords {
    pub fn new(text: &str, options: Vec<String>) -> Result<Self, InvalidQuestion> {
        let text = text.trim();
        if text.is_empty() || text.len() > TEXT_BYTES_MAX {
            return Err(InvalidQuestion::Text);
        }
        if options.len() > OPTIONS_MAX {
            return Err(InvalidQuestion::Options);
        }
        for (at, option) in options.iter().enumerate() {
            let mut before = options.iter().take(at);
            if !is_option(option)
                || before.any(|other| option == other || text::look_alike(option, other))
            {
                return Err(InvalidQuestion::Option);
            }
        }
        Ok(Self {
            text: text.to_owned(),
            options,
        })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn options(&self) -> &[String] {
        &self.options
    }
}

/// Shown on buttons as it is: nothing in it may read as something else there.
fn is_option(option: &str) -> bool {
    let is_short = (1..=OPTION_CHARS_MAX).contains(&option.chars().count());
    is_short && option.trim() == option && text::escaped(option) == option
}

/// After how long a question expires that is asked for so long.
pub fn expires_after(wanted: Option<Duration>) -> Result<Duration, InvalidQuestion> {
    let after = wanted.unwrap_or(EXPIRES_AFTER_DEFAULT);
    match (EXPIRES_AFTER_MIN..=EXPIRES_AFTER_MAX).contains(&after) {
        true => Ok(after),
        false => Err(InvalidQuestion::Expiry),
    }
}

/// What is given back before it is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyChoice {
    Words(String),
    /// From 1 on, as people count.
    Option(u8),
}

/// What was given back. `option` says which option it is, from 1 on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionReply {
    pub text: String,
    pub option: Option<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub id: QuestionId,
    pub code: QuestionCode,
    pub asker: QuestionParty,
    /// Of the asker, if it is an agent: who hears what becomes of the question.
    pub asker_id: Option<AgentId>,
    pub asked: QuestionParty,
    pub words: QuestionWords,
    /// What the asker had read.
    pub taint: Taint,
    pub asked_at: Timestamp,
    pub expires_at: Timestamp,
    pub state: QuestionState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionState {
    Open,
    Answered {
        /// As the record names them.
        by: String,
        reply: QuestionReply,
        /// What whoever answered had read; the owner's answer has none.
        taint: Taint,
        at: Timestamp,
    },
    Cancelled {
        by: String,
        why: QuestionCancellation,
        at: Timestamp,
    },
    Expired {
        at: Timestamp,
    },
}

/// Why nobody answers any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionCancellation {
    /// Somebody who may said so.
    Withdrawn,
    /// Whoever asked or was asked is not there any more.
    Gone,
    /// It came back with an older copy of the database: it may have been answered since.
    OlderCopy,
}

impl QuestionCancellation {
    pub const ALL: [Self; 3] = [Self::Withdrawn, Self::Gone, Self::OlderCopy];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Withdrawn => "withdrawn",
            Self::Gone => "gone",
            Self::OlderCopy => "older_copy",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|why| why.as_str() == text)
    }
}

/// It is over already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the question is {} already", .0)]
pub struct QuestionOver(pub &'static str);

impl QuestionState {
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered { .. } => "answered",
            Self::Cancelled { .. } => "cancelled",
            Self::Expired { .. } => "expired",
        }
    }

    pub const fn is_open(&self) -> bool {
        matches!(self, Self::Open)
    }
}

impl Question {
    /// Checks what is given back against the options.
    pub fn reply(&self, choice: ReplyChoice) -> Result<QuestionReply, InvalidQuestion> {
        match choice {
            ReplyChoice::Option(number) => {
                let at = usize::from(number).checked_sub(1);
                let option = at.and_then(|at| self.words.options.get(at));
                let text = option.ok_or(InvalidQuestion::NoSuchOption)?.clone();
                Ok(QuestionReply {
                    text,
                    option: Some(number),
                })
            }
            ReplyChoice::Words(words) => {
                let text = words.trim();
                if text.is_empty() || text.len() > REPLY_BYTES_MAX {
                    return Err(InvalidQuestion::Reply);
                }
                let at = self.words.options.iter().position(|option| option == text);
                Ok(QuestionReply {
                    text: text.to_owned(),
                    option: at.and_then(|at| u8::try_from(at + 1).ok()),
                })
            }
        }
    }

    /// Whether it can still be answered: what is late is over, also before a sweep has seen it.
    pub fn is_open_at(&self, now: Timestamp) -> bool {
        self.state.is_open() && now < self.expires_at
    }

    pub fn answer(
        self,
        by: &str,
        reply: QuestionReply,
        taint: Taint,
        now: Timestamp,
    ) -> Result<Self, QuestionOver> {
        self.end(now, |at| QuestionState::Answered {
            by: by.to_owned(),
            reply,
            taint,
            at,
        })
    }

    pub fn cancel(
        self,
        by: &str,
        why: QuestionCancellation,
        now: Timestamp,
    ) -> Result<Self, QuestionOver> {
        self.end(now, |at| QuestionState::Cancelled {
            by: by.to_owned(),
            why,
            at,
        })
    }

    /// Its time is over.
    pub fn expire(self, now: Timestamp) -> Result<Self, QuestionOver> {
        match &self.state {
            QuestionState::Open if now >= self.expires_at => Ok(Self {
                state: QuestionState::Expired { at: now },
                ..self
            }),
            state => Err(QuestionOver(state.as_str())),
        }
    }

    fn end(
        self,
        now: Timestamp,
        state: impl FnOnce(Timestamp) -> QuestionState,
    ) -> Result<Self, QuestionOver> {
        match &self.state {
            QuestionState::Open if now < self.expires_at => Ok(Self {
                state: state(now),
                ..self
            }),
            QuestionState::Open => Err(QuestionOver("expired")),
            over => Err(QuestionOver(over.as_str())),
        }
    }

    /// What whoever reads the question or its answer is marked by.
    pub fn taint_of_answer(&self) -> Taint {
        match &self.state {
            QuestionState::Answered { taint, .. } => taint.clone(),
            QuestionState::Open
            | QuestionState::Cancelled { .. }
            | QuestionState::Expired { .. } => Taint::clean(),
        }
    }
}
