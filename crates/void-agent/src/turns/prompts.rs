//! What a brain is asked: the conversation as a model reads it, with the record in the server's words.

use serde_json::{Map, Value};
use void_control::conversations::Begun;
use void_domain::agent_turns::BegunBy;
use void_domain::conversations::Said;
use void_domain::limits;
use void_domain::text;

use super::outcomes::ProposalOutcome;
use crate::brains::CAUSES_HEAD;
use crate::brains::{Block, Message, Prompt, ToolSpec};
use crate::tools::Tool;

const SUMMARY_BYTES_MAX: usize = 200;
/// Kept with every step of every turn.
const SHOWN_BYTES_MAX: usize = 2 * 1024;
const CUT_MARK_BYTES_MAX: usize = 64;

/// The conversation so far. What the record says stands before what the owner said next, so that
/// nobody takes it for the model's own words. What was decided of earlier wishes stands before what the owner said after
/// that, so that what was sent once stays the same. A second attempt is told what the first one did.
pub(super) fn history(begun: &Begun, outcomes: &[ProposalOutcome]) -> Vec<Message> {
    let mut messages = Vec::with_capacity(begun.history.len());
    let mut record: Option<String> = None;
    let mut outcomes = outcomes.iter().peekable();
    let last = begun.history.len().saturating_sub(1);
    for (place, message) in begun.history.iter().enumerate() {
        match &message.said {
            Said::ByOwner => {
                let mut notes: Vec<String> = Vec::new();
                if let Some(line) = record.take() {
                    notes.push(format!("of your last turn: {line}"));
                }
                while let Some(outcome) =
                    outcomes.next_if(|outcome| place == last || outcome.at <= message.at)
                {
                    notes.push(format!("of what you asked for earlier: {}.", outcome.words));
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
                if !turn.causes.is_empty() {
                    messages.push(Message::User(causes(&turn.causes, &record.take())));
                }
                if !message.body.trim().is_empty() {
                    messages.push(Message::Assistant(vec![Block::Text(message.body.clone())]));
                }
                record = (!turn.truth.is_empty()).then(|| turn.truth.line());
            }
        }
    }
    if !begun.turn.causes.is_empty() {
        let mut said = causes(&begun.turn.causes, &record.take());
        for outcome in outcomes {
            said.push_str(&format!(
                "\n\n[Void's record of what you asked for earlier: {}.]",
                outcome.words
            ));
        }
        messages.push(Message::User(said));
    }
    messages
}

/// What began a turn, as data: words that came with it stand under a name that says so.
fn causes(causes: &[BegunBy], record: &Option<String>) -> String {
    let told = causes.iter().map(|begun| {
        let mut told = serde_json::to_value(&begun.cause).unwrap_or_default();
        if let Value::Object(members) = &mut told {
            members.insert("count".to_owned(), begun.count.into());
            members.insert("at".to_owned(), begun.at.to_string().into());
            if let Some(words) = &begun.words {
                members.insert("untrusted_words".to_owned(), words.as_str().into());
            }
        }
        told
    });
    let told = Value::Array(told.collect());
    let last = record.as_ref();
    let last = last.map(|line| format!("\n\n[Void's record of your last turn: {line}]"));
    format!("{CAUSES_HEAD}{told}{}", last.unwrap_or_default())
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

/// What is shown of a call's result: laid out, and not all of a long one.
pub(super) fn shown(result: &Value) -> String {
    let whole = serde_json::to_string_pretty(result).unwrap_or_default();
    let cut = text::cut(&whole, SHOWN_BYTES_MAX);
    let mut shown = text::escaped_lines(cut);
    if cut.len() < whole.len() {
        shown.push_str("\n…");
    }
    shown
}

/// A tool's result, as much of it as a prompt takes.
pub(super) fn bounded(result: &Value) -> String {
    let whole = result.to_string();
    if whole.len() <= limits::TOOL_RESULT_BYTES_MAX {
        return whole;
    }
    shortened(result).unwrap_or_else(|| {
        let cut = text::cut(&whole, limits::TOOL_RESULT_BYTES_MAX - CUT_MARK_BYTES_MAX);
        format!("{cut}\n[cut here: the result was {} bytes]", whole.len())
    })
}

/// The same with fewer items in its longest list and their number beside it, so that it stays JSON.
fn shortened(result: &Value) -> Option<String> {
    let mut members = result.as_object()?.clone();
    let lists = members.iter().filter_map(|(name, value)| {
        let items = value.as_array()?;
        Some((name.clone(), items.clone()))
    });
    let (name, mut items) = lists.max_by_key(|(_, items)| items.len())?;
    members.insert(name.clone(), Value::Array(Vec::new()));
    members.insert("left_out".to_owned(), items.len().into());
    let frame = Value::Object(members.clone()).to_string().len();
    let mut room = limits::TOOL_RESULT_BYTES_MAX.checked_sub(frame)?;
    let kept = items.iter().take_while(|item| {
        let fits = room.checked_sub(item.to_string().len() + 1);
        room = fits.unwrap_or(0);
        fits.is_some()
    });
    let kept = kept.count();
    members.insert("left_out".to_owned(), (items.len() - kept).into());
    items.truncate(kept);
    members.insert(name, Value::Array(items));
    Some(Value::Object(members).to_string())
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
    prompt.system.len() + prompt.place.len() + tools.sum::<usize>() + messages.sum::<usize>()
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
    fn what_is_kept_of_a_long_result_says_that_there_was_more() {
        let short = Value::from(vec!["a\u{202e}b"]);
        assert_eq!(shown(&short), "[\n  \"a\\u{202e}b\"\n]");
        let long = shown(&Value::from(vec!["é".repeat(SHOWN_BYTES_MAX)]));
        assert!(long.ends_with("é\n…") && long.len() < SHOWN_BYTES_MAX + 8);
    }

    #[test]
    fn a_result_of_exactly_the_limit_is_whole_and_a_longer_one_says_that_it_is_cut() {
        let text = |bytes: usize| Value::String("x".repeat(bytes - 2));
        let whole = text(limits::TOOL_RESULT_BYTES_MAX);
        assert_eq!(bounded(&whole), whole.to_string());
        let longer = text(limits::TOOL_RESULT_BYTES_MAX + 1);
        let cut = bounded(&longer);
        assert!(cut.len() <= limits::TOOL_RESULT_BYTES_MAX, "{}", cut.len());
        let (kept, mark) = cut.rsplit_once('\n').unwrap();
        assert!(longer.to_string().starts_with(kept));
        let bytes = longer.to_string().len();
        assert_eq!(mark, format!("[cut here: the result was {bytes} bytes]"));
    }

    #[test]
    fn a_long_list_loses_its_end_and_says_how_much() {
        for item_bytes in [1, 7, 200, 3_000] {
            let items = vec![Value::String("é".repeat(item_bytes)); 20_000 / item_bytes + 1];
            let result = serde_json::json!({"at": "now", "actions": items, "few": [1, 2]});
            let shown = bounded(&result);
            assert!(
                shown.len() <= limits::TOOL_RESULT_BYTES_MAX,
                "{}",
                shown.len()
            );
            let shown: Value = serde_json::from_str(&shown).unwrap();
            let kept = shown["actions"].as_array().unwrap().len();
            assert_eq!(shown["left_out"], items.len() - kept);
            assert_eq!(
                (&shown["at"], &shown["few"]),
                (&result["at"], &result["few"])
            );
            assert!(kept > 0);
        }
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
