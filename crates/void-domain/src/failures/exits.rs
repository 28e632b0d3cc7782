//! How the command line ends, as a number for scripts.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
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
    pub const ALL: [Self; 14] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::Config,
        Self::NotAllowed,
        Self::NotFound,
        Self::Refused,
        Self::Queued,
        Self::Rejected,
        Self::Unconfirmed,
        Self::Unreachable,
        Self::Partial,
        Self::NotVoid,
        Self::Interrupted,
    ];

    pub const fn number(self) -> u8 {
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

    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done and checked",
            Self::Failed => "failed",
            Self::Usage => "wrong usage",
            Self::Config => "configuration or catalogue invalid",
            Self::NotAllowed => "not signed in, or not allowed",
            Self::NotFound => "not found",
            Self::Refused => {
                "refused by policy (not whitelisted, frozen, cooling down, busy, changed)"
            }
            Self::Queued => "queued, waiting for approval",
            Self::Rejected => "rejected, expired or withdrawn",
            Self::Unconfirmed => "ran, but the check failed, is missing, or the outcome is unknown",
            Self::Unreachable => "the server or a target cannot be reached",
            Self::Partial => "intact, but a part only: the beginning of the record is missing",
            Self::NotVoid => "something answers there, but it is not Void",
            Self::Interrupted => "interrupted",
        }
    }
}
