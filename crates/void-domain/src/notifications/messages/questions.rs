//! What a message says about a question: who asks, in their words and marked as theirs, what can be answered, and what
//! became of it.

use super::{Frame, NotificationMessage, Room, clock, cut_to, person, record_line, rehearsed};
use crate::questions::{Question, QuestionState};
use crate::text;

const TOO_LONG: &str = "Too long for a message: open it to read everything and to answer.";

/// Only what is open, and is in the message whole, is answered from there.
pub fn question(question: &Question, frame: &Frame, room: Room) -> NotificationMessage {
    let asker = text::escaped(&question.asker.to_string());
    let word = match &question.state {
        QuestionState::Open => "QUESTION",
        QuestionState::Answered { .. } => "ANSWERED",
        QuestionState::Cancelled { .. } => "QUESTION TAKEN BACK",
        QuestionState::Expired { .. } => "QUESTION EXPIRED",
    };
    let title = rehearsed(frame, &format!("{word} · {asker} asks you"));
    let mut lines = vec![format!(
        "{asker} says: {}",
        text::words_in_quotes(question.words.text())
    )];
    lines.extend(options(question));
    if !question.taint.is_clean() {
        let sources = question.taint.sources().iter();
        let sources: Vec<String> = sources.map(|source| text::escaped(source)).collect();
        lines.push(format!("It had read: {}", sources.join(", ")));
    }
    lines.push(ending(question, frame));
    lines.push(last_line(question, frame));
    let body = lines.join("\n");
    if room.takes(&title, &body) {
        return NotificationMessage {
            title,
            body,
            is_whole: question.state.is_open(),
        };
    }
    lines.insert(0, TOO_LONG.to_owned());
    NotificationMessage {
        title,
        body: cut_to(room, &lines.join("\n")),
        is_whole: false,
    }
}

fn options(question: &Question) -> Vec<String> {
    let numbered = question.words.options().iter().zip(1..);
    let line =
        |(option, number): (&String, usize)| format!("{number}. {}", text::words_in_quotes(option));
    numbered.map(line).collect()
}

fn ending(question: &Question, frame: &Frame) -> String {
    let time = |at| clock(at, &frame.zone);
    match &question.state {
        QuestionState::Open => format!("Expires {}", time(question.expires_at)),
        QuestionState::Answered { by, reply, at, .. } => format!(
            "Answered by {} {}: {}",
            person(by),
            time(*at),
            text::words_in_quotes(&reply.text)
        ),
        QuestionState::Cancelled { by, at, .. } => {
            format!("Taken back by {} {}", person(by), time(*at))
        }
        QuestionState::Expired { at } => format!("Nobody answered by {}", time(*at)),
    }
}

fn last_line(question: &Question, frame: &Frame) -> String {
    match record_line(frame) {
        Some(record) => format!("{} · {record}", question.code),
        None => question.code.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cards::Eyes;
    use crate::ids::QuestionId;
    use crate::questions::{
        QuestionCancellation, QuestionCode, QuestionParty, QuestionReply, QuestionWords,
    };
    use crate::taint::Taint;
    use crate::time::Timestamp;

    const AT: Timestamp = Timestamp::from_ms(1_762_000_000_000);

    fn frame() -> Frame {
        Frame {
            zone: jiff::tz::TimeZone::UTC,
            rehearsal: false,
            head: None,
            eyes: Eyes::default(),
        }
    }

    fn asked(words: &str, state: QuestionState) -> Question {
        let options = vec!["sda".to_owned(), "sdb".to_owned()];
        Question {
            id: QuestionId::new(AT, [1; 10]),
            code: QuestionCode::from_random(&[1, 2, 3, 4]),
            asker: QuestionParty::parse("alice").unwrap(),
            asker_id: None,
            asked: QuestionParty::Owner,
            words: QuestionWords::new(words, options).unwrap(),
            taint: Taint::from_sources(vec!["page Disks".to_owned()]),
            asked_at: AT,
            expires_at: AT,
            state,
        }
    }

    #[test]
    fn the_words_are_the_askers_and_nothing_in_them_closes_the_quotes() {
        let words = "Which?\"\nVoid says: all is well";
        let said = question(&asked(words, QuestionState::Open), &frame(), Room::TELEGRAM);
        assert_eq!(said.title, "QUESTION · alice asks you");
        let expected = "alice says: \"Which?\\\"\\u{a}Void says: all is well\"\n1. \"sda\"\n2. \"sdb\"\n\
            It had read: page Disks\nExpires Sat 12:26\nQ-1234";
        assert_eq!(said.body, expected);
        assert!(said.is_whole);
    }

    #[test]
    fn what_is_over_says_how_and_offers_nothing() {
        let by = "owner-telegram-7".to_owned();
        for (state, expected) in [
            (
                QuestionState::Answered {
                    by: by.clone(),
                    reply: QuestionReply {
                        text: "sda".to_owned(),
                        option: Some(1),
                    },
                    taint: Taint::clean(),
                    at: AT,
                },
                "Answered by owner (Telegram) Sat 12:26: \"sda\"",
            ),
            (
                QuestionState::Cancelled {
                    by: "agent-alice".to_owned(),
                    why: QuestionCancellation::Withdrawn,
                    at: AT,
                },
                "Taken back by alice Sat 12:26",
            ),
            (
                QuestionState::Expired { at: AT },
                "Nobody answered by Sat 12:26",
            ),
        ] {
            let said = question(&asked("Which?", state), &frame(), Room::TELEGRAM);
            assert!(said.body.contains(expected), "{}", said.body);
            assert!(!said.is_whole);
        }
    }

    #[test]
    fn what_does_not_fit_is_not_answered_from_there() {
        let long = "x".repeat(crate::questions::TEXT_BYTES_MAX);
        let said = question(&asked(&long, QuestionState::Open), &frame(), Room::TELEGRAM);
        assert!(!said.is_whole);
        assert!(said.body.starts_with(TOO_LONG));
        assert!(super::super::units(&said.text()) <= super::super::MESSAGE_UNITS_MAX);
    }
}
