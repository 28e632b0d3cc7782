//! Why there is no answer: a stable code, words for people, and whether asking again makes sense.
//! The words never contain the key, also when the other side repeats it.

use std::time::Duration;

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
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }
}

impl BrainErrorKind {
    pub fn code(self) -> &'static str {
        match self {
            Self::Unreachable => "brain_unreachable",
            Self::TimedOut => "brain_timed_out",
            Self::BrokenOff => "brain_broke_off",
            Self::RateLimited => "brain_rate_limited",
            Self::Overloaded => "brain_overloaded",
            Self::Failed => "brain_failed",
            Self::KeyRefused => "brain_key_refused",
            Self::OutOfCredit => "brain_out_of_credit",
            Self::Forbidden => "brain_forbidden",
            Self::NotFound => "brain_not_found",
            Self::PromptTooLong => "brain_prompt_too_long",
            Self::RequestRefused => "brain_request_refused",
            Self::BadAnswer => "brain_bad_answer",
            Self::AnswerTooLarge => "brain_answer_too_large",
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
