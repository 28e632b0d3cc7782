//! Why an agent wakes though nobody spoke to it.

use crate::agents::AgentName;
use crate::ids::{CauseId, QuestionId, ReminderId};
use crate::time::Timestamp;

/// What happened. What it says in words is read from the thing itself, with what its author had read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A reminder is due.
    Reminder(ReminderId),
    /// It was asked something.
    Question(QuestionId),
    /// What it asked is over: answered, cancelled by somebody else, or expired.
    Answer(QuestionId),
}

impl Cause {
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Reminder(_) => "reminder",
            Self::Question(_) => "question",
            Self::Answer(_) => "answer",
        }
    }

    /// The id of what happened, as text.
    pub fn subject(self) -> String {
        match self {
            Self::Reminder(id) => id.to_string(),
            Self::Question(id) | Self::Answer(id) => id.to_string(),
        }
    }

    pub fn parse(kind: &str, subject: &str) -> Option<Self> {
        match kind {
            "reminder" => subject.parse().ok().map(Self::Reminder),
            "question" => subject.parse().ok().map(Self::Question),
            "answer" => subject.parse().ok().map(Self::Answer),
            _ => None,
        }
    }
}

/// A cause that waits for its agent. It is taken once, by the turn that begins with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingCause {
    pub id: CauseId,
    pub agent: AgentName,
    pub cause: Cause,
    /// When it was due; with a late reminder earlier than it was noted.
    pub due_at: Timestamp,
    pub at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_read_as_it_was_written() {
        let at = Timestamp::from_ms(1_762_000_000_000);
        let question = QuestionId::new(at, [1; 10]);
        for cause in [
            Cause::Reminder(ReminderId::new(at, [2; 10])),
            Cause::Question(question),
            Cause::Answer(question),
        ] {
            let read = Cause::parse(cause.kind(), &cause.subject());
            assert_eq!(read, Some(cause));
        }
        for (kind, subject) in [
            ("message", question.to_string()),
            ("question", "x".to_owned()),
        ] {
            assert_eq!(Cause::parse(kind, &subject), None);
        }
    }
}
