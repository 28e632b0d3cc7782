//! How a proposal is shown on a terminal. Words of the requester are marked as theirs.

use serde_json::Value;
use void_domain::text;

use super::services;
use crate::exit::Exit;
use crate::output::{Output, Tone};

pub(super) fn word<'a>(row: &'a Value, name: &str) -> &'a str {
    row.get(name).and_then(Value::as_str).unwrap_or("-")
}

/// Where it makes a difference whether anything was said.
pub(super) fn given<'a>(row: &'a Value, name: &str) -> Option<&'a str> {
    row.get(name).and_then(Value::as_str)
}

/// The state in words that never say more than is known.
pub(super) fn state(row: &Value) -> (&'static str, Tone) {
    match (word(row, "status"), word(row, "verification")) {
        ("pending", _) => ("Waiting for yes", Tone::Waiting),
        ("approved", _) => ("Approved, not started", Tone::Waiting),
        ("running", _) => ("Running", Tone::Waiting),
        ("executed", "verified") => ("Done, checked", Tone::Good),
        ("executed", "failed") => ("Ran, check failed", Tone::Bad),
        ("executed", _) => ("Ran, not confirmed", Tone::Waiting),
        ("failed", _) => ("Failed", Tone::Bad),
        ("rejected", _) => ("Rejected", Tone::Dim),
        ("expired", _) => ("Expired", Tone::Dim),
        ("cancelled", _) => ("Withdrawn", Tone::Dim),
        ("refused", _) => ("Refused", Tone::Bad),
        _ => ("Outcome unknown", Tone::Bad),
    }
}

/// The exit code that says the same.
pub(super) fn exit(row: &Value) -> Exit {
    match (word(row, "status"), word(row, "verification")) {
        ("executed", "verified") => Exit::Done,
        ("executed", _) | ("unknown" | "running" | "approved", _) => Exit::Unconfirmed,
        ("pending", _) => Exit::Queued,
        ("rejected" | "expired" | "cancelled", _) => Exit::Rejected,
        ("refused", _) => Exit::Refused,
        _ => match row.pointer("/error/code").and_then(Value::as_str) {
            Some("unreachable" | "host_key_unknown" | "host_key_changed" | "auth_refused") => {
                Exit::Unreachable
            }
            _ => Exit::Failed,
        },
    }
}

pub(super) fn tier(row: &Value) -> &'static str {
    match (word(row, "tier"), word(row, "risk")) {
        (_, "critical") => "risky, may cut you off",
        ("risky", _) => "risky",
        _ => "safe",
    }
}

/// One line about how it stands.
pub(super) fn summary(output: &Output, row: &Value) -> String {
    let (state, tone) = state(row);
    format!(
        "{}  {}  {}",
        output.tone(tone, state),
        word(row, "code"),
        text::escaped(word(row, "label"))
    )
}

/// Everything that the owner should read before deciding.
pub(super) fn show(output: &Output, row: &Value) {
    output.line(summary(output, row));
    let field = |name: &str, value: String| output.line(format!("  {name:12} {value}"));
    field(
        "action",
        format!("{}   {}", word(row, "action_id"), tier(row)),
    );
    if row
        .get("params")
        .is_some_and(|params| params.as_object().is_some_and(|params| !params.is_empty()))
    {
        field(
            "parameters",
            text::escaped(&row.get("params").map(Value::to_string).unwrap_or_default()),
        );
    }
    let asked = row
        .pointer("/requested_by/name")
        .and_then(Value::as_str)
        .unwrap_or("-");
    let times = row.get("count").and_then(Value::as_u64).unwrap_or(1);
    let times = if times > 1 {
        format!(", {times} times")
    } else {
        String::new()
    };
    if word(row, "told") == "nobody" {
        field(
            "told",
            output.tone(Tone::Bad, "nobody could be told so far"),
        );
    }
    field(
        "asked by",
        format!(
            "{} at {}{times}",
            text::escaped(asked),
            word(row, "created_at")
        ),
    );
    if row.get("reason").is_some_and(Value::is_string) {
        field(
            "their words",
            format!("\"{}\"", text::escaped(word(row, "reason"))),
        );
    }
    let diff = given(row, "diff").unwrap_or_default();
    for (number, line) in diff.lines().enumerate() {
        let name = if number == 0 { "their diff" } else { "" };
        field(name, text::escaped(line));
    }
    if word(row, "status") == "pending" {
        field("expires", word(row, "expires_at").to_owned());
    }
    field("digest", word(row, "digest").to_owned());
    field("id", word(row, "id").to_owned());
    if let Some(error) = row.get("error").filter(|error| error.is_object()) {
        field(
            "error",
            format!(
                "{}: {}",
                word(error, "code"),
                text::escaped(word(error, "message"))
            ),
        );
    }
    let result = row.get("result").unwrap_or(&Value::Null);
    if let Some(check) = result.get("check") {
        field("check", seen(check));
    }
    if let Some(note) = result.get("note").and_then(Value::as_str) {
        field("note", text::escaped(note));
    }
    for name in ["stdout", "stderr"] {
        let said = result
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .trim_end();
        if !said.is_empty() {
            field(
                name,
                text::escaped_lines(said).replace('\n', "\n               "),
            );
        }
    }
    for step in row
        .get("transitions")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        output.line(format!(
            "  {}  {} → {}  by {}",
            word(step, "at"),
            step.get("from").and_then(Value::as_str).unwrap_or("new"),
            word(step, "to"),
            text::escaped(word(step, "by"))
        ));
    }
}

/// What a check saw, in words.
fn seen(check: &Value) -> String {
    let took = check.get("after_ms").and_then(Value::as_u64);
    let took = took.map(|ms| format!(", {}.{} s after the run", ms / 1000, ms % 1000 / 100));
    let took = took.unwrap_or_default();
    match check.get("service").and_then(Value::as_str) {
        Some(service) => {
            let detail = check.get("detail").unwrap_or(&Value::Null);
            let (id, status) = (text::escaped(service), word(check, "status"));
            format!("{id} is {status}: {}{took}", services::answer(detail))
        }
        None => format!(
            "guest {} is {}{took}",
            check.get("guest").and_then(Value::as_u64).unwrap_or(0),
            text::escaped(word(check, "status"))
        ),
    }
}
