//! What a brain is asked: the conversation as a model reads it, with the record in the server's words.

use serde_json::{Map, Value};
use void_control::conversations::Begun;
use void_domain::conversations::Said;
use void_domain::limits;
use void_domain::text;

use crate::brains::{Block, Message, Prompt, ToolSpec};
use crate::tools::Tool;

const SUMMARY_BYTES_MAX: usize = 200;
const CUT_MARK_BYTES_MAX: usize = 64;

/// The conversation so far. What the record says stands before what the owner said next, so that
/// nobody takes it for the model's own words. A second attempt is told what the first one did.
pub(super) fn history(begun: &Begun) -> Vec<Message> {
    let mut messages = Vec::with_capacity(begun.history.len());
    let mut record: Option<String> = None;
    let last = begun.history.len().saturating_sub(1);
    for (place, message) in begun.history.iter().enumerate() {
        match &message.said {
            Said::ByOwner => {
                let mut notes: Vec<String> = Vec::new();
                if let Some(line) = record.take() {
                    notes.push(format!("of your last turn: {line}"));
                }
                if place == last && !begun.turn.truth.is_empty() {
                    let line = begun.turn.truth.line();
                    notes.push(format!(
                        "of your attempt to answer this, which was cut off: {line}"
                    ));
                }
                messages.push(Message::User(with_record(&notes, &message.body)));
            }
            Said::ByAgent(turn) => {
                if !message.body.trim().is_empty() {
                    messages.push(Message::Assistant(vec![Block::Text(message.body.clone())]));
                }
                record = (!turn.truth.is_empty()).then(|| turn.truth.line());
            }
        }
    }
    messages
}

fn with_record(notes: &[String], body: &str) -> String {
    if notes.is_empty() {
        return body.to_owned();
    }
    format!("[Void's record {}]\n\n{body}", notes.join(" And "))
}

pub(super) fn spec(tool: &Tool) -> ToolSpec {
    ToolSpec {
        name: tool.name.to_owned(),
        description: tool.description.to_owned(),
        schema: (tool.arguments)(),
    }
}

/// What is shown of a call's arguments.
pub(super) fn summarise(arguments: &Map<String, Value>) -> String {
    let parts: Vec<String> = arguments
        .iter()
        .map(|(name, value)| match value {
            Value::String(value) => format!("{name}: {value}"),
            other => format!("{name}: {other}"),
        })
        .collect();
    text::escaped(text::cut(&parts.join(", "), SUMMARY_BYTES_MAX))
}

/// A tool's result, cut to what a prompt takes.
pub(super) fn bounded(content: String) -> String {
    if content.len() <= limits::TOOL_RESULT_BYTES_MAX {
        return content;
    }
    let cut = text::cut(&content, limits::TOOL_RESULT_BYTES_MAX - CUT_MARK_BYTES_MAX);
    format!("{cut}\n[cut here: the result was {} bytes]", content.len())
}

/// About how long it is, for an answer whose tokens nobody will count.
pub(super) fn bytes(prompt: &Prompt) -> usize {
    let tools = prompt.tools.iter();
    let tools = tools.map(|tool| tool.description.len() + tool.schema.to_string().len());
    let messages = prompt.messages.iter().map(|message| match message {
        Message::User(text) => text.len(),
        Message::Assistant(blocks) => blocks.iter().map(block_bytes).sum(),
        Message::ToolResults(results) => results.iter().map(|result| result.content.len()).sum(),
    });
    prompt.system.len() + tools.sum::<usize>() + messages.sum::<usize>()
}

fn block_bytes(block: &Block) -> usize {
    match block {
        Block::Text(text) => text.len(),
        Block::ToolCall(call) => call.arguments.to_wire().to_string().len(),
        Block::Opaque(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_of_exactly_the_limit_is_whole_and_a_longer_one_says_that_it_is_cut() {
        let whole = "é".repeat(limits::TOOL_RESULT_BYTES_MAX / 2);
        assert_eq!(whole.len(), limits::TOOL_RESULT_BYTES_MAX);
        assert_eq!(bounded(whole.clone()), whole);
        let longer = format!("{whole}x");
        let cut = bounded(longer.clone());
        assert!(cut.len() <= limits::TOOL_RESULT_BYTES_MAX, "{}", cut.len());
        let (kept, mark) = cut.rsplit_once('\n').unwrap();
        assert!(longer.starts_with(kept));
        assert_eq!(
            mark,
            format!("[cut here: the result was {} bytes]", longer.len())
        );
    }

    #[test]
    fn a_summary_is_short_and_shows_what_would_deceive() {
        let arguments = serde_json::json!({"reason": format!("a\n\u{202e}b{}", "x".repeat(400))});
        let summary = summarise(arguments.as_object().unwrap());
        assert!(
            summary.starts_with("reason: a\\u{a}\\u{202e}bxxx"),
            "{summary}"
        );
        assert!(summary.len() < 2 * SUMMARY_BYTES_MAX);
    }
}
