//! What differs from run to run, taken out of a body, so that the rest can be compared whole.

use serde_json::Value;
use void_domain::ids::{ProposalCode, ProposalId};
use void_domain::time::Timestamp;

/// Ids, times, digests and codes become their names; a value of another form stays and is seen.
pub fn masked(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                let code = name == "code" && value.as_str().is_some_and(is_code);
                let masked = if code { "<code>".into() } else { masked(value) };
                (name.clone(), masked)
            };
            Value::Object(members.iter().map(member).collect())
        }
        Value::Array(items) => items.iter().map(masked).collect(),
        Value::String(text) => mask(text).map_or_else(|| value.clone(), Value::from),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn mask(text: &str) -> Option<&'static str> {
    if text.parse::<ProposalId>().is_ok() {
        return Some("<id>");
    }
    if is_time(text) {
        return Some("<time>");
    }
    let is_hash = text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then_some("<hash>")
}

/// RFC 3339 in UTC with milliseconds, as everywhere in the API.
pub fn is_time(text: &str) -> bool {
    let parsed = Timestamp::parse_rfc3339(text);
    parsed.is_some_and(|time| time.to_string() == text) && text.ends_with('Z')
}

/// Upper-case Crockford; a stable error code is lower-case.
fn is_code(text: &str) -> bool {
    ProposalCode::parse(text).is_some_and(|code| code.as_str() == text)
}

/// The names of an object's members, sorted.
pub fn members(value: &Value) -> Vec<&str> {
    let members = value.as_object().expect("an object");
    let mut names: Vec<&str> = members.keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}
