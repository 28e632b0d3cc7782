//! The one line that void-act prints, and why it refuses.
//!
//! Inside, a [`Reply`] holds exactly what is true of its case; [`Answer`] is its wire form, which the server reads
//! with the same type. `done` is only ever said of a command that ended with 0 and within its time.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

const ANSWER_VERSION: u32 = 1;

/// A wire answer; keys that do not apply are left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub v: u32,
    /// What was asked for; of malformed commands an escaped beginning.
    pub id: String,
    /// The proposal id of the ticket.
    pub ticket: Option<String>,
    pub outcome: Outcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// The answer comes from the journal; this call ran nothing.
    pub replayed: bool,
    /// SHA-256 of the list file's bytes; null when it could not be read.
    pub list: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defs: Option<BTreeMap<String, Option<String>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How many copies ran after a command that was to change their number; absent when nobody could count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<u32>,
    /// To `void-check`: which entries could not be started now, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cannot: Option<BTreeMap<String, String>>,
    /// With a list: that a ticket may name it. Absent of a host from before that, which would refuse such a ticket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names_list: Option<bool>,
    /// What the command said while it ran, where somebody listened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub progress: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Done,
    Failed,
    /// It began; whether it ended is not known here.
    Started,
    /// The journal has no start of it.
    Unseen,
    Refused,
}

impl Outcome {
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Done | Self::Started | Self::Unseen => 0,
            Self::Failed => 1,
            Self::Refused => 13,
        }
    }
}

/// Stable codes. Refused means that this call started nothing. Whether an earlier one did is told by the journal:
/// the codes from `unknown_action` to `cap_reached`, but for `ticket_mismatch` and `forgotten`, are only given to a
/// ticket of which it has no start; the others say nothing about that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    BadArguments,
    BadCommand,
    BadTicket,
    ListUnusable,
    Busy,
    JournalDamaged,
    JournalUnavailable,
    ClockUnreadable,
    SignatureUnsupported,
    UnknownAction,
    NeedsTicket,
    NeedsCooldown,
    Drift,
    /// The ticket names another list than the host's: whoever sent it looks at the list and asks again.
    ListChanged,
    BadParams,
    /// A rollback without anything recorded before the last deploy.
    NothingToReturnTo,
    /// What runs now could not be recorded, so nothing was changed.
    RecordFailed,
    Expired,
    TicketMismatch,
    Settled,
    Forgotten,
    Stopped,
    JournalFull,
    CoolingDown,
    CapReached,
    /// A code that a newer host knows and this reader does not.
    #[serde(other)]
    Other,
}

/// Why nothing was started, as a code and as a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub reason: Reason,
    pub text: String,
}

impl Refusal {
    pub(crate) fn new(reason: Reason, text: impl Into<String>) -> Self {
        Self {
            reason,
            text: text.into(),
        }
    }
}

pub(crate) fn refuse<T>(reason: Reason, text: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::new(reason, text))
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Refusal {}

/// How a command ended; what the journal keeps of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ending {
    pub(crate) done: bool,
    /// Absent when it never ran or a signal ended it.
    pub(crate) exit: Option<i32>,
    /// Absent when the journal was compacted since.
    pub(crate) stdout: Option<String>,
    pub(crate) stderr: Option<String>,
}

impl Ending {
    pub(crate) fn failed(stderr: String) -> Self {
        let stderr = Some(stderr);
        Self {
            done: false,
            exit: None,
            stdout: None,
            stderr,
        }
    }

    pub(crate) fn without_output(&self) -> Self {
        let Self { done, exit, .. } = *self;
        Self {
            done,
            exit,
            stdout: None,
            stderr: None,
        }
    }
}

pub(crate) enum Reply {
    Refused(Refusal),
    Unseen,
    Started {
        replayed: bool,
        note: Option<String>,
    },
    Ended {
        ending: Ending,
        replayed: bool,
        /// Counted by this call; a later one does not know what ran then.
        running: Option<u32>,
    },
    Listed {
        host: String,
        stopped: bool,
        defs: BTreeMap<String, Option<String>>,
        cannot: Option<BTreeMap<String, String>>,
    },
}

impl Reply {
    pub(crate) fn ended(ending: Ending, replayed: bool) -> Self {
        Self::Ended {
            ending,
            replayed,
            running: None,
        }
    }

    pub(crate) fn started(note: Option<String>, replayed: bool) -> Self {
        Self::Started { replayed, note }
    }
}

impl Answer {
    pub(crate) fn new(
        id: String,
        ticket: Option<String>,
        list: Option<String>,
        reply: Reply,
    ) -> Self {
        let mut answer = Self {
            v: ANSWER_VERSION,
            id,
            ticket,
            outcome: Outcome::Done,
            reason: None,
            exit: None,
            stdout: None,
            stderr: None,
            replayed: false,
            list,
            defs: None,
            host: None,
            stopped: None,
            version: None,
            running: None,
            cannot: None,
            names_list: None,
            progress: Vec::new(),
        };
        match reply {
            Reply::Refused(refusal) => {
                answer.outcome = Outcome::Refused;
                answer.reason = Some(refusal.reason);
                answer.stderr = Some(refusal.text);
            }
            Reply::Unseen => answer.outcome = Outcome::Unseen,
            Reply::Started { replayed, note } => {
                answer.outcome = Outcome::Started;
                answer.replayed = replayed;
                answer.stderr = note;
            }
            Reply::Ended {
                ending,
                replayed,
                running,
            } => {
                answer.running = running;
                answer.outcome = if ending.done {
                    Outcome::Done
                } else {
                    Outcome::Failed
                };
                answer.exit = ending.exit;
                answer.stdout = ending.stdout;
                answer.stderr = ending.stderr;
                answer.replayed = replayed;
            }
            Reply::Listed {
                host,
                stopped,
                defs,
                cannot,
            } => {
                answer.cannot = cannot;
                answer.host = Some(host);
                answer.stopped = Some(stopped);
                answer.defs = Some(defs);
                answer.names_list = Some(true);
                answer.version = Some(env!("CARGO_PKG_VERSION").to_owned());
            }
        }
        answer
    }
}
