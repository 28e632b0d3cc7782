//! How a proposal is shown on a terminal. Words of the requester are marked as theirs.

use serde_json::Value;
use void_channels::mending_command;
use void_domain::actors::person;
use void_domain::cards::words_of;
use void_domain::text;

use super::services;
use crate::digest_words;
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

/// How it stands, and what it is.
fn show_summary(output: &Output, row: &Value) {
    let (state, tone) = state(row);
    let lead = format!("{}  {}  ", output.tone(tone, state), word(row, "code"));
    output.hanging(&lead, &text::escaped(word(row, "label")));
}

/// Everything that the owner should read before deciding: the row, and every value that a yes binds.
pub(super) fn show_card(output: &Output, card: &Value) {
    let null = Value::Null;
    show_with(output, card.get("row").unwrap_or(&null), Some(card));
}

pub(super) fn show(output: &Output, row: &Value) {
    show_with(output, row, None);
}

/// How far the names of fields reach.
const NAME_COLUMNS: usize = 12;

fn field(output: &Output, name: &str, value: impl AsRef<str>) {
    output.field(name, NAME_COLUMNS, value.as_ref());
}

fn show_with(output: &Output, row: &Value, card: Option<&Value>) {
    show_summary(output, row);
    show_outcome(output, row);
    if let Some(card) = card {
        show_consequence(output, row, card);
        show_bound(output, card);
    }
    let field = |name: &str, value: String| field(output, name, value);
    field(
        "action",
        format!("{}   {}", word(row, "action_id"), tier(row)),
    );
    let params = row.get("params").and_then(Value::as_object);
    // A card has them among everything that a yes binds.
    if card.is_none() && params.is_some_and(|params| !params.is_empty()) {
        field(
            "parameters",
            text::escaped(&row.get("params").map(Value::to_string).unwrap_or_default()),
        );
    }
    show_words(output, row);
    if word(row, "status") == "pending" {
        field("expires", output.times.short(word(row, "expires_at")));
    }
    match words_to_type(row) {
        Some(words) => field("words", format!("{words}   type them to say yes")),
        None if card.is_none() => field("digest", word(row, "digest").to_owned()),
        None => {}
    }
    field("id", word(row, "id").to_owned());
    for step in row
        .get("transitions")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        output.line(format!(
            "  {}  {} → {}  by {}",
            output.times.short(word(step, "at")),
            step.get("from").and_then(Value::as_str).unwrap_or("new"),
            word(step, "to"),
            person(word(step, "by"))
        ));
    }
}

/// Why it ended so, before everything else: the error, what the check saw, what the machine said.
fn show_outcome(output: &Output, row: &Value) {
    let field = |name: &str, value: String| field(output, name, value);
    if let Some(error) = row.get("error").filter(|error| error.is_object()) {
        let said = output
            .times
            .sentence(&text::escaped(word(error, "message")));
        match word(row, "status") {
            "rejected" => field("reason", said),
            _ => field("error", format!("{}: {said}", word(error, "code"))),
        }
    }
    let result = row.get("result").unwrap_or(&Value::Null);
    if let Some(check) = result.get("check") {
        field("check", seen(check));
    }
    if let Some(note) = given(result, "note") {
        field("note", text::escaped(note));
    }
    for name in ["stderr", "stdout"] {
        let said = given(result, name).unwrap_or_default().trim_end();
        if !said.is_empty() {
            field(name, text::escaped_lines(said));
        }
    }
}

/// The way out of what a machine refused.
pub(super) fn show_next(output: &Output, row: &Value) {
    if let Some(next) = next_after(row) {
        output.line(format!("  next: {next}"));
    }
}

fn next_after(row: &Value) -> Option<String> {
    let error = row.get("error")?;
    if let Some(command) = mending_command(word(error, "message")) {
        return Some(text::escaped(command));
    }
    match word(error, "code") {
        "drift" | "not_configured" => Some("void doctor".to_owned()),
        "stopped_on_host" => {
            let target = text::escaped(word(row, "target"));
            Some(format!(
                "remove the stop file on the machine ({target}) when it may run again"
            ))
        }
        _ => None,
    }
}

/// What happens on yes, and what is looked at afterwards; of what has ended, what it did or did not do.
fn show_consequence(output: &Output, row: &Value, card: &Value) {
    let has_ended = match word(row, "status") {
        "pending" | "approved" | "running" => None,
        "executed" => Some("it has"),
        "failed" => Some("it should have"),
        "unknown" => Some("it may have"),
        _ => Some("it would have"),
    };
    if let Some(has) = has_ended {
        let past = text::escaped(word(card, "past"));
        return field(output, "effect", format!("{has} {past}"));
    }
    let consequence = text::escaped(word(card, "consequence"));
    field(output, "if yes", format!("it {consequence}"));
    field(
        output,
        "afterwards",
        text::escaped(word(card, "checked_by")),
    );
}

/// What has to be typed to say yes to what may cut the owner off.
pub(super) fn words_to_type(row: &Value) -> Option<String> {
    let is_asked_for = word(row, "status") == "pending" && word(row, "risk") == "critical";
    digest_words::words(word(row, "digest")).filter(|_| is_asked_for)
}

/// Every value that a yes binds, one a line, whole.
fn show_bound(output: &Output, card: &Value) {
    let bound = card.get("bound").and_then(Value::as_array);
    for (number, bound) in bound.into_iter().flatten().enumerate() {
        let name = if number == 0 { "binds" } else { "" };
        let value = text::escaped(word(bound, "value"));
        field(
            output,
            name,
            format!("{}: {value}", text::escaped(word(bound, "name"))),
        );
    }
}

/// Who asked, what they had read before, and their words, marked as theirs.
fn show_words(output: &Output, row: &Value) {
    let asked = row.pointer("/requested_by/name");
    let asked = asked.and_then(Value::as_str).unwrap_or("-");
    let times = match row.get("count").and_then(Value::as_u64) {
        Some(times @ 2..) => format!(", {times} times"),
        _ => String::new(),
    };
    if word(row, "told") == "nobody" {
        let told = output.tone(Tone::Bad, "nobody could be told so far");
        field(output, "told", told);
    }
    let at = output.times.short(word(row, "created_at"));
    field(
        output,
        "asked by",
        format!("{}, {at}{times}", text::escaped(asked)),
    );
    let list = |name: &str| row.get(name).and_then(Value::as_array).cloned();
    let sources = list("taint").unwrap_or_default();
    let sources: Vec<String> = (sources.iter().filter_map(Value::as_str))
        .map(text::escaped)
        .collect();
    if !sources.is_empty() {
        let read = format!("{}   content of others", sources.join(", "));
        field(output, "had read", output.tone(Tone::Waiting, &read));
    }
    if given(row, "reason").is_none() {
        field(output, "reason", "none was given");
    }
    show_said(output, asked, row);
    for words in list("joined").unwrap_or_default() {
        show_said(output, asked, &words);
    }
    if let Some(left_out @ 1..) = row.get("words_left_out").and_then(Value::as_u64) {
        let more = format!("other words of {left_out} later requests: void audit ls");
        field(output, "more words", more);
    }
}

fn show_said(output: &Output, asked: &str, words: &Value) {
    if let Some(reason) = given(words, "reason") {
        let reason = text::escaped(reason);
        field(output, "their words", format!("\"{reason}\""));
    }
    let Some(diff) = given(words, "diff") else {
        return;
    };
    field(output, "their diff", words_of(asked));
    for line in text::escaped_lines(diff).lines() {
        field(output, "", format!("| {line}"));
    }
}

/// What a check saw, in words.
fn seen(check: &Value) -> String {
    let took = check.get("after_ms").and_then(Value::as_u64);
    let took = took.map(|ms| format!(", {}.{} s after the run", ms / 1000, ms % 1000 / 100));
    let took = took.unwrap_or_default();
    let number = |pointer: &str| check.pointer(pointer).and_then(Value::as_i64);
    let copies = match (number("/replicas/running"), number("/replicas/wanted")) {
        (Some(running), Some(wanted)) => Some(format!("{running} of {wanted} copies run")),
        _ => None,
    };
    let service = check.get("service").and_then(Value::as_str);
    let service = service.map(|service| {
        let detail = check.get("detail").unwrap_or(&Value::Null);
        let (id, status) = (text::escaped(service), word(check, "status"));
        format!("{id} is {status}: {}{took}", services::answer(detail))
    });
    let guest = number("/guest").map(|guest| {
        let status = text::escaped(word(check, "status"));
        format!("guest {guest} is {status}{took}")
    });
    let all: Vec<String> = [copies, service, guest].into_iter().flatten().collect();
    match all.is_empty() {
        true => "the copies were not counted".to_owned(),
        false => all.join("; "),
    }
}
