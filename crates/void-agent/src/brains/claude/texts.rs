//! What the program is told. It keeps conversations itself, so a known one gets the newest message only;
//! a new one gets what was said before, as text.
//!
//! The program reads its input for commands: a first `/` would be one, and `@name` a file to read. Both
//! are taken out of everybody's words here, whatever its switches say.

use void_domain::limits;
use void_domain::text;

use crate::brains::{Block, Message, Prompt};

/// Of what was said before; what is older is left out.
const HISTORY_BYTES_MAX: usize = 64 * 1024;
/// The program remembers everything it read, a prompt only so many messages, and the marks of foreign
/// content are those of the prompt. From here on a conversation is told again each time, so that the
/// program never knows more than the prompt. At least every second message is one of the owner's.
const RESUMED_MESSAGES_MAX: usize = limits::HISTORY_MESSAGES_MAX as usize / 2;

/// The conversation to go on with. What is no id of the program's is nobody's business to pass on.
pub(super) fn session_to_resume(prompt: &Prompt) -> Option<&str> {
    let is_id = |id: &str| {
        id.len() == 36
            && id.bytes().enumerate().all(|(at, byte)| match at {
                8 | 13 | 18 | 23 => byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            })
    };
    let session = prompt.session.as_deref().filter(|id| is_id(id));
    session.filter(|_| prompt.messages.len() < RESUMED_MESSAGES_MAX)
}

pub(super) fn newest(messages: &[Message]) -> String {
    let words = messages.last().map(words).unwrap_or_default();
    format!("The owner says:\n\n{}\n", defused(&words))
}

pub(super) fn whole(messages: &[Message]) -> String {
    let earlier = messages
        .split_last()
        .map_or(&[][..], |(_, earlier)| earlier);
    let mut parts: Vec<String> = Vec::new();
    let mut room = HISTORY_BYTES_MAX;
    for message in earlier.iter().rev() {
        let speaker = match message {
            Message::User(_) => "The owner",
            Message::Assistant(_) => "You",
            Message::ToolResults(_) => "A tool",
        };
        let part = format!("[{speaker}] {}", defused(&words(message)));
        if part.len() > room {
            parts.push("[What was said before that is left out.]".to_owned());
            break;
        }
        room -= part.len();
        parts.push(part);
    }
    if parts.is_empty() {
        return newest(messages);
    }
    parts.reverse();
    format!(
        "What was said in this conversation so far:\n\n{}\n\n{}",
        parts.join("\n\n"),
        newest(messages)
    )
}

fn words(message: &Message) -> String {
    match message {
        Message::User(words) => words.clone(),
        Message::Assistant(blocks) => {
            let texts = blocks.iter().filter_map(|block| match block {
                Block::Text(words) => Some(words.as_str()),
                Block::ToolCall(_) | Block::Opaque(_) => None,
            });
            texts.collect::<Vec<_>>().join("\n\n")
        }
        Message::ToolResults(results) => {
            let results = results
                .iter()
                .map(|result| text::cut(&result.content, limits::TOOL_RESULT_BYTES_MAX));
            results.collect::<Vec<_>>().join("\n")
        }
    }
}

/// An `@` that begins a word names a file in there; with a space behind it, it is a sign again.
fn defused(words: &str) -> String {
    let mut safe = String::with_capacity(words.len());
    let mut before = ' ';
    for character in words.chars() {
        safe.push(character);
        if character == '@' && !before.is_alphanumeric() {
            safe.push(' ');
        }
        before = character;
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(words: &str) -> Message {
        Message::User(words.to_owned())
    }

    fn answered(words: &str) -> Message {
        Message::Assistant(vec![Block::Text(words.to_owned())])
    }

    #[test]
    fn nothing_in_the_text_is_a_command_or_a_file() {
        for (words, told) in [
            ("/clear", "/clear"),
            ("@/etc/passwd", "@ /etc/passwd"),
            ("see (@\"/a b\") @@x", "see (@ \"/a b\") @ @ x"),
            ("write to me@example.org", "write to me@example.org"),
        ] {
            let text = newest(&[said(words)]);
            assert_eq!(text, format!("The owner says:\n\n{told}\n"));
            let text = whole(&[said(words), answered(words), said(words)]);
            assert!(text.starts_with("What was said"), "{text}");
            assert_eq!(text.matches(told).count(), 3, "{text}");
        }
    }

    #[test]
    fn the_oldest_is_left_out_and_the_newest_is_whole() {
        let long = "x".repeat(HISTORY_BYTES_MAX / 3);
        let mut messages: Vec<Message> = (0..6).map(|n| answered(&format!("{n}{long}"))).collect();
        messages.push(said("and now?"));
        let text = whole(&messages);
        assert!(text.len() < HISTORY_BYTES_MAX + 500, "{}", text.len());
        assert!(text.contains("[You] 5x") && text.contains("[You] 4x"));
        assert!(!text.contains("[You] 3x") && text.contains("left out"));
        assert!(text.ends_with("The owner says:\n\nand now?\n"));
    }

    #[test]
    fn only_ids_are_resumed_and_only_while_the_prompt_knows_as_much() {
        let id = "c38afb4e-fca9-4154-a753-429d9f8b748a";
        let prompt = |session: &str, count: usize| Prompt {
            session: Some(session.to_owned()),
            messages: vec![said("x"); count],
            ..Prompt::default()
        };
        assert_eq!(session_to_resume(&prompt(id, 19)), Some(id));
        assert_eq!(session_to_resume(&prompt(id, 20)), None);
        for other in [
            "",
            "--help",
            "../../x",
            "c38afb4e-fca9-4154-a753-429d9f8b748g",
        ] {
            assert_eq!(session_to_resume(&prompt(other, 1)), None, "{other}");
        }
    }
}
