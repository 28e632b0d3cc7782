//! What begins a turn of an agent that nobody speaks to: a typed cause. Whoever wakes an agent says what happened and
//! gives no order; what a stranger could have written of it travels as its taint. What the owner says in a conversation
//! begins a turn by itself: there the message stands before the turn.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::agent_messages::Sender;
use crate::agents::AgentName;
use crate::ids::{AgentMessageId, CauseId, QuestionId, ReminderId};
use crate::taint::Taint;
use crate::text;
use crate::time::Timestamp;

/// Different causes that wait for an agent's next turn. What comes beyond them is counted with the newest.
pub const CAUSES_WAITING_MAX: usize = 32;
/// Of what stands beside a cause: the words of a reminder, of an answer.
pub const CAUSE_WORDS_BYTES_MAX: usize = 2 * 1024;
/// Turns that are begun for one cause, each after the one before had failed.
pub const CAUSE_ATTEMPTS_MAX: u32 = 5;
/// Turns of one agent in an hour that nobody spoke to.
pub const TURNS_PER_AGENT_HOUR: u32 = 60;
const PAUSE_FIRST: Duration = Duration::from_secs(5);
const REFERENCE_BYTES_MAX: usize = 128;

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum TurnCause {
    /// Messages came into its mailbox; this is the newest of that sender: `owner`, or the name of an agent.
    Mail {
        from: CauseReference,
        message: CauseReference,
    },
    /// It was asked something.
    Question {
        question: CauseReference,
    },
    /// What it asked is over: answered, taken back by somebody else, or expired.
    Answer {
        question: CauseReference,
    },
    Reminder {
        reminder: CauseReference,
    },
    /// Its own timetable.
    Schedule {
        schedule: CauseReference,
    },
    /// Something that it hears of.
    Event {
        event: CauseReference,
        subject: Option<CauseReference>,
    },
    /// The owner woke it, without a word.
    Owner,
}

impl TurnCause {
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Mail { .. } => "mail",
            Self::Question { .. } => "question",
            Self::Answer { .. } => "answer",
            Self::Reminder { .. } => "reminder",
            Self::Schedule { .. } => "schedule",
            Self::Event { .. } => "event",
            Self::Owner => "owner",
        }
    }

    /// Causes with the same key that wait together are one: a turn looks at all messages of a sender.
    pub fn key(&self) -> String {
        match self {
            Self::Mail { from, .. } => format!("mail:{from}"),
            Self::Question { question } => format!("question:{question}"),
            Self::Answer { question } => format!("answer:{question}"),
            Self::Reminder { reminder } => format!("reminder:{reminder}"),
            Self::Schedule { schedule } => format!("schedule:{schedule}"),
            Self::Event { event, .. } => format!("event:{event}"),
            Self::Owner => "owner".to_owned(),
        }
    }
}

/// An id or a name inside a cause: what it refers to, and no sentence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CauseReference(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a cause refers to something by 1 to {REFERENCE_BYTES_MAX} of a-z, A-Z, 0-9, ., _, : and -"
)]
pub struct InvalidReference;

impl FromStr for CauseReference {
    type Err = InvalidReference;

    fn from_str(text: &str) -> Result<Self, InvalidReference> {
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
        let fits = (1..=REFERENCE_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_fit);
        fits.then(|| Self(text.to_owned())).ok_or(InvalidReference)
    }
}

impl fmt::Display for CauseReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for CauseReference {
    type Error = InvalidReference;

    fn try_from(text: String) -> Result<Self, InvalidReference> {
        text.parse()
    }
}

impl From<&Sender> for CauseReference {
    fn from(sender: &Sender) -> Self {
        Self(sender.name().to_owned())
    }
}

impl From<AgentMessageId> for CauseReference {
    fn from(id: AgentMessageId) -> Self {
        Self(id.to_string())
    }
}

impl From<QuestionId> for CauseReference {
    fn from(id: QuestionId) -> Self {
        Self(id.to_string())
    }
}

impl From<ReminderId> for CauseReference {
    fn from(id: ReminderId) -> Self {
        Self(id.to_string())
    }
}

impl From<CauseReference> for String {
    fn from(reference: CauseReference) -> Self {
        reference.0
    }
}

/// Why somebody is woken, as whoever wakes them says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WakeCause {
    pub cause: TurnCause,
    /// Words that stand beside it. Nobody's order; whoever could be a stranger is named in the taint.
    pub words: Option<String>,
    pub taint: Taint,
}

impl WakeCause {
    pub fn of(cause: TurnCause) -> Self {
        Self {
            cause,
            words: None,
            taint: Taint::clean(),
        }
    }
}

/// A cause that waits for a turn, or has one that is not over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingCause {
    pub id: CauseId,
    pub agent: AgentName,
    pub cause: TurnCause,
    pub words: Option<String>,
    pub taint: Taint,
    /// How many of its kind it stands for.
    pub count: u32,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    /// Turns that were begun for it and failed.
    pub attempts: u32,
    /// No turn is begun for it before then.
    pub not_before: Timestamp,
    /// It stands for causes of other keys too, for which there was no room.
    pub is_mixed: bool,
}

impl WaitingCause {
    pub fn new(id: CauseId, agent: AgentName, woken: WakeCause, at: Timestamp) -> Self {
        Self {
            id,
            agent,
            cause: woken.cause,
            words: woken.words.as_deref().map(bounded),
            taint: woken.taint,
            count: 1,
            first_at: at,
            last_at: at,
            attempts: 0,
            not_before: at,
            is_mixed: false,
        }
    }

    /// One more of its kind: the newest stands for all, and what any of them had read marks the turn.
    pub fn join(&mut self, newer: &Self) {
        self.taint.unite(&newer.taint);
        self.count = self.count.saturating_add(newer.count);
        if self.cause.key() == newer.cause.key() {
            self.cause.clone_from(&newer.cause);
            self.words.clone_from(&newer.words);
        } else {
            self.is_mixed = true;
        }
        self.is_mixed |= newer.is_mixed;
        self.last_at = self.last_at.max(newer.last_at);
        self.not_before = self.not_before.min(newer.not_before);
    }

    /// After a turn that failed. `None`: it was tried often enough.
    pub fn after_failure(mut self, at: Timestamp) -> Option<Self> {
        self.attempts = self.attempts.saturating_add(1);
        let factor = 1_u32.checked_shl(self.attempts.saturating_sub(1) * 2);
        self.not_before = at.plus(PAUSE_FIRST.saturating_mul(factor.unwrap_or(u32::MAX)));
        (self.attempts < CAUSE_ATTEMPTS_MAX).then_some(self)
    }

    pub fn begun_by(&self) -> BegunBy {
        BegunBy {
            cause: self.cause.clone(),
            words: self.words.clone(),
            count: self.count,
            at: self.last_at,
        }
    }
}

/// What began a turn, as it is kept with the turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BegunBy {
    #[serde(flatten)]
    pub cause: TurnCause,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    pub count: u32,
    pub at: Timestamp,
}

impl BegunBy {
    /// As people read it: kinds, names and numbers, without the words that came with it.
    pub fn told(&self) -> String {
        let what = match &self.cause {
            TurnCause::Mail { from, .. } => format!("mail from {from}"),
            TurnCause::Question { question } => format!("the question {question}"),
            TurnCause::Answer { question } => format!("the end of its question {question}"),
            TurnCause::Reminder { reminder } => format!("the reminder {reminder}"),
            TurnCause::Schedule { schedule } => format!("the schedule {schedule}"),
            TurnCause::Event { event, .. } => format!("the event {event}"),
            TurnCause::Owner => "the owner, by waking it".to_owned(),
        };
        match self.count {
            0 | 1 => what,
            count => format!("{what} ({count})"),
        }
    }
}

fn bounded(words: &str) -> String {
    text::cut(words, CAUSE_WORDS_BYTES_MAX).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_762_000_000_000);

    fn waiting(cause: TurnCause, source: &str) -> WaitingCause {
        let woken = WakeCause {
            words: Some("x".repeat(CAUSE_WORDS_BYTES_MAX + 1)),
            taint: Taint::from_sources(vec![source.to_owned()]),
            ..WakeCause::of(cause)
        };
        WaitingCause::new(
            CauseId::new(NOW, [1; 10]),
            "alice".parse().unwrap(),
            woken,
            NOW,
        )
    }

    fn mail(from: &str, message: &str) -> TurnCause {
        TurnCause::Mail {
            from: from.parse().unwrap(),
            message: message.parse().unwrap(),
        }
    }

    #[test]
    fn a_reference_is_a_name_and_no_sentence() {
        for text in [
            "a",
            "01999999-0000-7000-8000-000000000001",
            "service.changed",
            "A_b:1",
        ] {
            assert_eq!(text.parse::<CauseReference>().unwrap().to_string(), text);
        }
        let long = "a".repeat(REFERENCE_BYTES_MAX + 1);
        for text in ["", "a b", "a\n", "é", "\"", "]", &long] {
            assert_eq!(
                text.parse::<CauseReference>(),
                Err(InvalidReference),
                "{text:?}"
            );
            let cause = serde_json::json!({"cause": "answer", "question": text});
            assert!(
                serde_json::from_value::<TurnCause>(cause).is_err(),
                "{text:?}"
            );
        }
    }

    #[test]
    fn every_cause_is_read_back_as_it_was_kept() {
        let reference = || "r-1".parse::<CauseReference>().unwrap();
        for cause in [
            mail("bob", "m-1"),
            TurnCause::Question {
                question: reference(),
            },
            TurnCause::Answer {
                question: reference(),
            },
            TurnCause::Reminder {
                reminder: reference(),
            },
            TurnCause::Schedule {
                schedule: reference(),
            },
            TurnCause::Event {
                event: reference(),
                subject: None,
            },
            TurnCause::Owner,
        ] {
            let begun = waiting(cause.clone(), "x").begun_by();
            let kept = serde_json::to_string(&begun).unwrap();
            assert_eq!(serde_json::from_str::<BegunBy>(&kept).unwrap(), begun);
            assert!(kept.contains(cause.kind()) && cause.key().starts_with(cause.kind()));
            assert!(
                !begun.told().contains('x'),
                "words are nobody's name: {}",
                begun.told()
            );
        }
    }

    #[test]
    fn many_of_a_kind_are_one_with_the_taint_of_all() {
        let mut first = waiting(mail("bob", "m-1"), "a page");
        first.join(&waiting(mail("bob", "m-2"), "a log"));
        assert_eq!((first.count, &first.cause), (2, &mail("bob", "m-2")));
        assert!(!first.is_mixed);
        assert_eq!(first.taint.sources(), ["a page", "a log"]);
        assert_eq!(first.words.as_ref().unwrap().len(), CAUSE_WORDS_BYTES_MAX);
        // What there is no more room for is counted with another one, and marks it.
        first.join(&waiting(TurnCause::Owner, "a file"));
        assert_eq!((first.count, &first.cause), (3, &mail("bob", "m-2")));
        assert_eq!(first.taint.sources().len(), 3);
        assert!(first.is_mixed);
    }

    #[test]
    fn names_and_ids_are_references_as_they_are_read() {
        let longest: AgentName = "a".repeat(64).parse().unwrap();
        for reference in [
            CauseReference::from(&Sender::Owner),
            CauseReference::from(&Sender::Agent(longest)),
            AgentMessageId::new(NOW, [1; 10]).into(),
            QuestionId::new(NOW, [2; 10]).into(),
            ReminderId::new(NOW, [3; 10]).into(),
        ] {
            let read = reference.to_string().parse::<CauseReference>();
            assert_eq!(read, Ok(reference));
        }
        // Who is called like the owner is no agent.
        assert!("owner".parse::<AgentName>().unwrap().is_reserved());
        let question = || CauseReference::from(QuestionId::new(NOW, [2; 10]));
        let asked = TurnCause::Question {
            question: question(),
        };
        let over = TurnCause::Answer {
            question: question(),
        };
        assert_ne!(asked.key(), over.key());
    }

    #[test]
    fn what_fails_is_tried_again_later_each_time_and_not_for_ever() {
        let mut cause = waiting(TurnCause::Owner, "x");
        let mut pauses = Vec::new();
        while let Some(next) = cause.clone().after_failure(NOW) {
            pauses.push(next.not_before.since(NOW).as_secs());
            cause = next;
        }
        assert_eq!(pauses, [5, 20, 80, 320]);
    }
}
