//! Why there is no answer: a stable code, words for people, and whether asking again makes sense.
//! The words never contain the key, also when the other side repeats it.

use std::time::Duration;

use void_domain::failures::FailureCode;

use super::Usage;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BrainError {
    pub kind: BrainErrorKind,
    pub message: String,
    pub retry: Retry,
    /// What the attempts cost all the same.
    pub usage: Usage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// The same question will get the same refusal.
    Never,
    /// It may go better after this time; zero where nobody said how long.
    After(Duration),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrainErrorKind {
    /// No connection.
    Unreachable,
    /// Connected, and then silence.
    TimedOut,
    /// The answer ended before its end.
    BrokenOff,
    RateLimited,
    Overloaded,
    /// A fault on the other side.
    Failed,
    KeyRefused,
    OutOfCredit,
    Forbidden,
    /// No such model, or nothing of the kind at this address.
    NotFound,
    /// The prompt does not fit the model or the server.
    PromptTooLong,
    /// The request itself is not accepted.
    RequestRefused,
    /// Not what this format looks like.
    BadAnswer,
    AnswerTooLarge,
}

impl BrainError {
    pub fn code(&self) -> FailureCode {
        self.kind.code()
    }
}

impl BrainErrorKind {
    pub fn code(self) -> FailureCode {
        match self {
            Self::Unreachable => FailureCode::BrainUnreachable,
            Self::TimedOut => FailureCode::BrainTimedOut,
            Self::BrokenOff => FailureCode::BrainBrokeOff,
            Self::RateLimited => FailureCode::BrainRateLimited,
            Self::Overloaded => FailureCode::BrainOverloaded,
            Self::Failed => FailureCode::BrainFailed,
            Self::KeyRefused => FailureCode::BrainKeyRefused,
            Self::OutOfCredit => FailureCode::BrainOutOfCredit,
            Self::Forbidden => FailureCode::BrainForbidden,
            Self::NotFound => FailureCode::BrainNotFound,
            Self::PromptTooLong => FailureCode::BrainPromptTooLong,
            Self::RequestRefused => FailureCode::BrainRequestRefused,
            Self::BadAnswer => FailureCode::BrainBadAnswer,
            Self::AnswerTooLarge => FailureCode::BrainAnswerTooLarge,
        }
    }

    /// Whether the same question may get an answer later.
    pub(super) fn is_temporary(self) -> bool {
        match self {
            Self::Unreachable
            | Self::TimedOut
            | Self::BrokenOff
            | Self::RateLimited
            | Self::Overloaded
            | Self::Failed => true,
            Self::KeyRefused
            | Self::OutOfCredit
            | Self::Forbidden
            | Self::NotFound
            | Self::PromptTooLong
            | Self::RequestRefused
            | Self::BadAnswer
            | Self::AnswerTooLarge => false,
        }
    }

    pub(super) fn retry(self, after: Option<Duration>) -> Retry {
        if self.is_temporary() {
            Retry::After(after.unwrap_or(Duration::ZERO))
        } else {
            Retry::Never
        }
    }
}
