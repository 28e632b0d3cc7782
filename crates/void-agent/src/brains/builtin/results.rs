//! Reading what tools returned. Texts from there go into what she says as one line each.

use serde_json::Value;
use void_domain::proposals::DisplayState;

pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or("")
}

/// How a proposal stands, as a tool told it.
pub(super) fn standing(result: &Value) -> Option<DisplayState> {
    DisplayState::parse(text(result, "display_state"))
}

pub(super) fn list<'a>(result: &'a Value, name: &str) -> &'a [Value] {
    let items = result.get(name).and_then(Value::as_array);
    items.map_or(&[], Vec::as_slice)
}

/// What a tool could not tell, in words.
pub(super) fn trouble(result: &Value) -> Option<String> {
    let error = result.get("error")?;
    Some(format!("I could not look: {}", text(error, "message")))
}
