//! How an agent process stands.

use std::fmt;
use std::process::ExitStatus;

/// One enum for everybody who shows or records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessState {
    /// There is none, and none is wanted.
    Stopped,
    /// It confines itself.
    Starting,
    /// It works.
    Running,
    /// It waits to be woken.
    Asleep,
    /// It ended unasked and is started again after a pause.
    Crashed { failures: u32 },
    /// It ended unasked too often in a row. Somebody has to start it.
    GivenUp { failures: u32 },
}

impl ProcessState {
    /// Whether there is a process.
    #[must_use]
    pub fn is_there(&self) -> bool {
        match self {
            Self::Starting | Self::Running | Self::Asleep => true,
            Self::Stopped | Self::Crashed { .. } | Self::GivenUp { .. } => false,
        }
    }

    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Asleep => "asleep",
            Self::Crashed { .. } => "crashed",
            Self::GivenUp { .. } => "given_up",
        }
    }
}

/// How a process ended, in words of ours: nothing that it wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this code.
    Exit(i32),
    Signal(i32),
    /// It never ran: the reason is ours.
    NotStarted(String),
    /// It did not say within its time that it is ready.
    Silent,
    /// It said something that is no word of the lifeline.
    Garbled,
}

impl Ending {
    pub(crate) fn of(status: ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt as _;
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Exit(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Exit(-1),
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => match u8::try_from(*code) {
                Ok(crate::NOT_CONFINED) => f.write_str("it could not be confined: see its log"),
                _ => write!(f, "it ended by itself with code {code}"),
            },
            Self::Signal(signal) => write!(f, "signal {signal} ended it"),
            Self::NotStarted(why) => write!(f, "it could not be started: {why}"),
            Self::Silent => f.write_str("it was not ready in time"),
            Self::Garbled => f.write_str("it said something that nobody understands"),
        }
    }
}

/// What the supervisor knows of one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStatus {
    pub state: ProcessState,
    pub pid: Option<u32>,
    /// Of the last process that ended unasked.
    pub ending: Option<Ending>,
}

impl ProcessStatus {
    pub(crate) const STOPPED: Self = Self {
        state: ProcessState::Stopped,
        pid: None,
        ending: None,
    };
}
