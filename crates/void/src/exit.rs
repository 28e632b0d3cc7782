//! Exit codes, and what is said with them.

use std::process::ExitCode;

use serde_json::{Value, json};

/// The table of `void help exit-codes`.
pub(crate) const TABLE: &str = "\
Exit codes:
    0  done and checked
    1  failed
    2  wrong usage
    3  configuration or catalogue invalid
    4  not signed in, or not allowed
    5  not found
    6  refused by policy (not whitelisted, frozen, cooling down, busy, changed)
    7  queued, waiting for approval
    8  rejected, expired or withdrawn
    9  ran, but the check failed, is missing, or the outcome is unknown
   10  the server or a target cannot be reached
   11  intact, but a part only: the beginning of the record is missing
   12  something answers there, but it is not Void
  130  interrupted";

/// The same table for programs.
pub(crate) fn table() -> Value {
    let row = |line: &str| {
        let (code, meaning) = line.trim().split_once("  ")?;
        Some(json!({"code": code.parse::<u8>().ok()?, "meaning": meaning}))
    };
    json!({"exit_codes": TABLE.lines().filter_map(row).collect::<Vec<_>>()})
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    Failed,
    Usage,
    Config,
    NotAllowed,
    NotFound,
    Refused,
    Queued,
    Rejected,
    Unconfirmed,
    Unreachable,
    Partial,
    NotVoid,
    Interrupted,
}

impl Exit {
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Config => 3,
            Self::NotAllowed => 4,
            Self::NotFound => 5,
            Self::Refused => 6,
            Self::Queued => 7,
            Self::Rejected => 8,
            Self::Unconfirmed => 9,
            Self::Unreachable => 10,
            Self::Partial => 11,
            Self::NotVoid => 12,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}

/// What went wrong: what happened, a stable code, and the next command.
#[derive(Debug)]
pub(crate) struct Problem {
    pub exit: Exit,
    pub code: String,
    pub message: String,
    pub next: Option<String>,
    /// What it is made of, one by one, for programs.
    pub parts: Vec<Value>,
}

impl Problem {
    pub(crate) fn new(exit: Exit, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            exit,
            code: code.into(),
            message: message.into(),
            next: None,
            parts: Vec::new(),
        }
    }

    pub(crate) fn failed(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, code, message)
    }

    pub(crate) fn config(message: impl Into<String>) -> Self {
        Self::new(Exit::Config, "config_invalid", message)
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, "usage", message)
    }

    pub(crate) fn next(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }

    pub(crate) fn to_value(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message, "next": self.next});
        if let (Value::Object(members), false) = (&mut error, self.parts.is_empty()) {
            members.insert("problems".to_owned(), json!(self.parts));
        }
        json!({"error": error})
    }
}
