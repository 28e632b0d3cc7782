//! How a proposal is shown on a terminal. Words of the requester are marked as theirs.

use serde::Deserialize;
use serde_json::Value;
use void_api::cards::{CardResponse, DifferenceResponse, MovedBaseResponse};
use void_api::proposals::RowResponse;
use void_api::runbooks::RunbookResponse;
use void_api::services::ServiceDetail;
use void_domain::actors::person;
use void_domain::cards::words_of;
use void_domain::changes::ChangeTarget;
use void_domain::failures::FailureCode;
use void_domain::proposals::DisplayState;
use void_domain::text;

use super::{diffs, holds, quoted, services, word_diffs};
use crate::digest_words;
use crate::exit::Exit;
use crate::output::{Output, Tone};

/// What people read where nothing was said.
pub(super) fn or_dash<T: AsRef<str>>(word: &Option<T>) -> &str {
    word.as_ref().map_or("-", AsRef::as_ref)
}

/// Whether it has not ended yet.
pub(super) fn is_open(status: &str) -> bool {
    matches!(status, "pending" | "approved" | "running")
}

/// The state in words that never say more than is known.
/// One of another version is said as that one calls it.
pub(super) fn state(row: &RowResponse) -> (String, Tone) {
    let Some(shown) = DisplayState::parse(&row.display_state) else {
        let called = match row.display_state.as_ref() {
            "" => &row.status,
            newer => newer,
        };
        return (text::escaped(called), Tone::Waiting);
    };
    let tone = match shown {
        DisplayState::Verified => Tone::Good,
        DisplayState::Waiting
        | DisplayState::Starting
        | DisplayState::WaitsForTarget
        | DisplayState::HeldByFreeze
        | DisplayState::HeldFromAbove
        | DisplayState::Running
        | DisplayState::BeingChecked
        | DisplayState::Unconfirmed => Tone::Waiting,
        DisplayState::CheckFailed
        | DisplayState::Failed
        | DisplayState::Unknown
        | DisplayState::Refused => Tone::Bad,
        DisplayState::Rejected
        | DisplayState::Expired
        | DisplayState::Lapsed
        | DisplayState::Withdrawn => Tone::Dim,
    };
    (shown.words().to_owned(), tone)
}

/// The exit code that says the same.
pub(super) fn exit(row: &RowResponse) -> Exit {
    match (row.status.as_ref(), row.verification.as_deref()) {
        ("executed", Some("verified")) => Exit::Done,
        ("executed", _) | ("unknown" | "running" | "approved", _) => Exit::Unconfirmed,
        ("pending", _) => Exit::Queued,
        ("rejected" | "expired" | "cancelled", _) => Exit::Rejected,
        ("refused", _) => Exit::Refused,
        _ => match error_code(row).map(FailureCode::exit) {
            Some(Exit::Unreachable) => Exit::Unreachable,
            _ => Exit::Failed,
        },
    }
}

/// Why it did not go as wished, if this version knows the word.
fn error_code(row: &RowResponse) -> Option<FailureCode> {
    let error = row.error.as_ref()?;
    FailureCode::parse(&error.code)
}

pub(super) fn tier(tier: &str, risk: &str) -> &'static str {
    match (tier, risk) {
        (_, "critical") => "risky, may cut you off",
        ("risky", _) => "risky",
        _ => "safe",
    }
}

/// The same of a row, which may be a change.
pub(super) fn tier_of(row: &RowResponse) -> &'static str {
    match row.subject.as_ref() {
        "change" if is_knowledge(row) => "risky, changes what you keep",
        "change" => "risky, changes what is allowed",
        _ => tier(&row.tier, &row.risk),
    }
}

/// The same in few words.
pub(super) fn tier_in_list(row: &RowResponse) -> &'static str {
    match is_knowledge(row) {
        true => "draft",
        false => tier_of(row),
    }
}

/// Whether it is a draft of what the owner keeps.
pub(super) fn is_knowledge(row: &RowResponse) -> bool {
    let target = row.change.as_ref().map(|change| change.target.as_ref());
    target == Some(ChangeTarget::Knowledge.as_str())
}

/// How a difference is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DifferenceForm {
    Words,
    Unified,
}

/// How it stands, and what it is.
fn show_summary(output: &Output, row: &RowResponse) {
    let (state, tone) = state(row);
    let lead = format!("{}  {}  ", output.tone(tone, &state), row.code);
    output.foreign(&lead, &text::escaped(&title(row)));
}

/// What it is called: of a change with the name of what it is about, which its label leaves out.
pub(super) fn title(row: &RowResponse) -> String {
    let about = row.change.as_ref().and_then(|change| change.about.as_ref());
    match about {
        Some(about) => format!("{}: {}", row.label, about.title),
        None => row.label.clone(),
    }
}

/// Everything that the owner should read before deciding: the row, and every value that a yes binds.
pub(super) fn show_card(output: &Output, card: &CardResponse) {
    show_card_as(output, card, DifferenceForm::Words);
}

pub(super) fn show_card_as(output: &Output, card: &CardResponse, form: DifferenceForm) {
    show_with(output, &card.row, Some(card), form);
}

pub(super) fn show(output: &Output, row: &RowResponse) {
    show_with(output, row, None, DifferenceForm::Unified);
}

/// How far the names of fields reach.
const NAME_COLUMNS: usize = 12;

pub(super) fn field(output: &Output, name: &str, value: impl AsRef<str>) {
    output.field(name, NAME_COLUMNS, value.as_ref());
}

/// The same of a value with words that are not Void's own: nothing in them makes a line beside its lines.
pub(super) fn foreign(output: &Output, name: &str, value: impl AsRef<str>) {
    output.foreign_field(name, NAME_COLUMNS, value.as_ref());
}

fn show_with(
    output: &Output,
    row: &RowResponse,
    card: Option<&CardResponse>,
    form: DifferenceForm,
) {
    show_summary(output, row);
    show_outcome(output, row);
    if let Some(card) = card {
        show_consequence(output, card);
        for one in &card.runbooks {
            foreign(output, "runbook", runbook(one));
        }
        show_bound(output, card);
    }
    let field = |name: &str, value: String| field(output, name, value);
    match &row.action_id {
        Some(id) => field("action", format!("{id}   {}", tier(&row.tier, &row.risk))),
        None => field("change", tier_of(row).to_owned()),
    }
    let difference = card.and_then(|card| card.difference.as_ref());
    let words = difference.filter(|_| form == DifferenceForm::Words);
    show_change(output, row, words);
    if let Some(moved) = card.and_then(|card| card.moved.as_ref()) {
        show_moved(output, moved);
    }
    let has_params = row.params.as_object().is_some_and(|all| !all.is_empty());
    // A card has them among everything that a yes binds.
    if card.is_none() && has_params {
        let params = text::escaped(&row.params.to_string());
        foreign(output, "parameters", params);
    }
    show_words(output, row);
    holds::show_on(output, row);
    if row.status == "pending" {
        field("expires", output.times.short(&row.expires_at));
    }
    match words_to_type(row) {
        Some(words) => field("words", format!("{words}   type them to say yes")),
        None if card.is_none() => field("digest", row.digest.clone()),
        None => {}
    }
    field("id", row.id.clone());
    for step in &row.transitions {
        output.line(format!(
            "  {}  {} → {}  by {}",
            output.times.short(&step.at),
            step.from.as_deref().unwrap_or("new"),
            step.to,
            person(&step.by)
        ));
    }
}

/// Why it ended so, before everything else: the error, what the check saw, what the machine said.
fn show_outcome(output: &Output, row: &RowResponse) {
    let foreign = |name: &str, value: String| foreign(output, name, value);
    if let Some(error) = &row.error {
        let said = output.typed(&output.times.sentence(&text::escaped(&error.message)));
        match row.status.as_ref() {
            "rejected" => foreign("reason", said),
            _ => foreign("error", format!("{}: {said}", error.code)),
        }
    }
    // What came back has members of its channel's choice.
    let result = row.result.as_ref().unwrap_or(&Value::Null);
    let given = |name: &str| result.get(name).and_then(Value::as_str);
    // What is stored with the yes is checked by being stored.
    if let Some(check) = result.get("check").filter(|_| !is_knowledge(row)) {
        foreign("check", seen(check));
    }
    if let Some(note) = given("note") {
        foreign("note", text::escaped(note));
    }
    for name in ["stderr", "stdout"] {
        let said = given(name).unwrap_or_default().trim_end();
        if !said.is_empty() {
            field(output, name, text::escaped_lines(said));
        }
    }
}

/// The way out of what a machine refused.
pub(super) fn show_next(output: &Output, row: &RowResponse) {
    if let Some(next) = next_after(row) {
        output.next(&next);
    }
}

fn next_after(row: &RowResponse) -> Option<String> {
    if row.change.is_some() && row.status == "executed" {
        return next_after_change(row);
    }
    let error = row.error.as_ref()?;
    if let Some(command) = &error.mended_by {
        return Some(text::escaped(command));
    }
    match error_code(row)? {
        FailureCode::Drift | FailureCode::NotConfigured => Some("void doctor".to_owned()),
        FailureCode::StoppedOnHost => {
            Some("remove the stop file on the machine when it may run again".to_owned())
        }
        _ => None,
    }
}

/// How an applied change comes into force, or where what was stored can be read.
fn next_after_change(row: &RowResponse) -> Option<String> {
    let given = |name: &str| row.result.as_ref()?.get(name)?.as_str().map(quoted);
    if is_knowledge(row) {
        let verb = match given("changed").as_deref() {
            Some("delete") => "undo",
            _ => "show",
        };
        return Some(format!("void kb {verb} {}", given("id")?));
    }
    let (file, catalogue) = (given("file")?, given("catalogue")?);
    Some(match file == catalogue {
        true => "void reload".to_owned(),
        false => format!("mv {file} {catalogue} && void reload"),
    })
}

/// What happens on yes, and what is looked at afterwards; of what has ended, what it did or did not do.
fn show_consequence(output: &Output, card: &CardResponse) {
    let has_ended = match card.row.status.as_ref() {
        status if is_open(status) => None,
        "executed" => Some("it has"),
        "failed" => Some("it should have"),
        "unknown" => Some("it may have"),
        _ => Some("it would have"),
    };
    if let Some(has) = has_ended {
        let past = text::escaped(&card.past);
        return foreign(output, "effect", format!("{has} {past}"));
    }
    let consequence = text::escaped(&card.consequence);
    foreign(output, "if yes", format!("it {consequence}"));
    field(output, "afterwards", text::escaped(&card.checked_by));
}

/// What has to be typed to say yes to what may cut the owner off.
pub(super) fn words_to_type(row: &RowResponse) -> Option<String> {
    let is_asked_for = row.status == "pending" && row.risk == "critical";
    digest_words::words(&row.digest).filter(|_| is_asked_for)
}

/// Every value that a yes binds, one a line, whole.
fn show_bound(output: &Output, card: &CardResponse) {
    for (number, bound) in card.bound.iter().enumerate() {
        let name = if number == 0 { "binds" } else { "" };
        let (bound, value) = (text::escaped(&bound.name), text::escaped(&bound.value));
        foreign(output, name, format!("{bound}: {value}"));
    }
}

/// What is there instead of what a draft was made of.
fn show_moved(output: &Output, moved: &MovedBaseResponse) {
    if moved.gone {
        let gone = "what it would change was thrown away; nothing of it is applied";
        return field(output, "moved", output.tone(Tone::Bad, gone));
    }
    let by = moved
        .updated_by
        .as_deref()
        .map_or_else(|| "-".to_owned(), person);
    let at = output.times.short(or_dash(&moved.updated_at));
    let said = format!("it was changed by {by}, {at}; nothing of the draft is applied");
    field(output, "moved", output.tone(Tone::Bad, &said));
    let difference = moved.difference.as_ref();
    let lines = difference.map(word_diffs::lines).unwrap_or_default();
    for (number, line) in lines.iter().enumerate() {
        let name = if number == 0 { "meanwhile" } else { "" };
        output.quoted_field(name, NAME_COLUMNS, line);
    }
}

/// A page about it, with the line that speaks of it in quotes: its words are the page's.
pub(super) fn runbook(runbook: &RunbookResponse) -> String {
    let title = runbook.title.as_deref().unwrap_or("a page");
    let title = text::value_in_quotes(title);
    let whose = match runbook.foreign {
        true => "a stranger could have written this page",
        false => "your page",
    };
    match &runbook.says {
        Some(says) => format!("{title}: {}   {whose}", text::words_in_quotes(says)),
        None => format!("{title}   {whose}"),
    }
}

/// What a change means and says, as Void itself found out: by words where the server sent them, else as a unified diff.
fn show_change(output: &Output, row: &RowResponse, words: Option<&DifferenceResponse>) {
    let Some(change) = &row.change else {
        return;
    };
    for (number, line) in change.summary.iter().enumerate() {
        let name = if number == 0 { "changes" } else { "" };
        foreign(output, name, text::escaped(line));
    }
    let Some(words) = words else {
        return show_diff(output, "diff", &change.diff);
    };
    for (number, line) in word_diffs::lines(words).iter().enumerate() {
        let name = if number == 0 { "diff" } else { "" };
        output.quoted_field(name, NAME_COLUMNS, line);
    }
}

/// Who asked, what they had read before, and their words, marked as theirs.
fn show_words(output: &Output, row: &RowResponse) {
    let asked = &row.requested_by.name;
    let times = match row.count {
        times @ 2.. => format!(", {times} times"),
        _ => String::new(),
    };
    if row.told.as_deref() == Some("nobody") {
        let told = output.tone(Tone::Bad, "nobody could be told so far");
        field(output, "told", told);
    }
    let at = output.times.short(&row.created_at);
    field(
        output,
        "asked by",
        format!("{}, {at}{times}", text::escaped(asked)),
    );
    let sources: Vec<String> = row.taint.iter().map(|one| text::escaped(one)).collect();
    if !sources.is_empty() {
        let read = format!("{}   content of others", sources.join(", "));
        foreign(output, "had read", output.tone(Tone::Waiting, &read));
    }
    if row.reason.is_none() {
        field(output, "reason", "none was given");
    }
    // This command is the owner's.
    let whose = match row.requested_by.kind.as_ref() {
        "owner" => "your",
        _ => "their",
    };
    let show_said = |reason: &Option<String>, diff: &Option<String>| {
        show_said(output, (whose, asked), reason.as_deref(), diff.as_deref());
    };
    show_said(&row.reason, &row.diff);
    for words in &row.joined {
        show_said(&words.reason, &words.diff);
    }
    if let left_out @ 1.. = row.words_left_out {
        let look = output.typed("void audit ls");
        let more = format!("other words of {left_out} later requests: {look}");
        field(output, "more words", more);
    }
}

fn show_said(
    output: &Output,
    (whose, asked): (&str, &str),
    reason: Option<&str>,
    diff: Option<&str>,
) {
    if let Some(reason) = reason {
        let words = text::words_in_quotes(reason);
        foreign(output, &format!("{whose} words"), words);
    }
    let Some(diff) = diff else {
        return;
    };
    field(output, &format!("{whose} diff"), words_of(asked));
    show_diff(output, "", diff);
}

/// Somebody else's lines, with what their marks stand for.
fn show_diff(output: &Output, name: &str, diff: &str) {
    let (lines, legend) = diffs::lines(diff);
    for (number, line) in lines.iter().enumerate() {
        let name = if number == 0 { name } else { "" };
        output.quoted_field(name, NAME_COLUMNS, line);
    }
    if let Some(legend) = legend {
        field(output, "", legend);
    }
}

/// What a check says of what it looked at: a file, copies, a service or a guest.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CheckReport {
    reason: Option<String>,
    after_ms: Option<u64>,
    status: Option<String>,
    replicas: Option<ReplicaCount>,
    service: Option<String>,
    detail: Option<ServiceDetail>,
    guest: Option<i64>,
}

#[derive(Deserialize)]
struct ReplicaCount {
    running: Option<i64>,
    wanted: Option<i64>,
}

/// What a check saw, in words.
fn seen(check: &Value) -> String {
    let Ok(check) = CheckReport::deserialize(check) else {
        return "what it saw is not understood here; --json shows it".to_owned();
    };
    if check.reason.as_deref() == Some("read_back") {
        return "the file says exactly this".to_owned();
    }
    let took = check.after_ms;
    let took = took.map(|ms| format!(", {}.{} s after the run", ms / 1000, ms % 1000 / 100));
    let took = took.unwrap_or_default();
    let status = check.status.as_deref().unwrap_or("-");
    let copies = check.replicas.and_then(|count| {
        let (running, wanted) = count.running.zip(count.wanted)?;
        Some(format!("{running} of {wanted} copies run"))
    });
    let service = check.service.map(|service| {
        let detail = check.detail.unwrap_or_default();
        let id = text::escaped(&service);
        format!("{id} is {status}: {}{took}", services::answer(&detail))
    });
    let guest = check.guest.map(|guest| {
        let status = text::escaped(status);
        format!("guest {guest} is {status}{took}")
    });
    let all: Vec<String> = [copies, service, guest].into_iter().flatten().collect();
    match all.is_empty() {
        true => "the copies were not counted".to_owned(),
        false => all.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(display_state: &str) -> RowResponse {
        let row = json!({
            "id": "01", "code": "a1b2", "action_id": "stop-ct107", "label": "Stop", "params": {}, "tier": "risky",
            "risk": "guarded", "status": "approved", "display_state": display_state, "digest": "00", "reason": null,
            "requested_by": {"kind": "agent", "id": "02", "name": "blue"}, "agent_id": "02", "resolved_by": null,
            "result": null, "error": null, "verification": null, "count": 1, "taint": [], "joined": [],
            "words_left_out": 0, "revision": 0, "created_at": "t", "expires_at": "t", "resolved_at": null,
            "transitions": [],
        });
        serde_json::from_value(row).unwrap()
    }

    /// Of another version, or not what it says that it is: nobody is told that something was seen.
    #[test]
    fn a_check_is_told_in_words_and_never_more_than_it_says() {
        let told = [
            (json!({"reason": "read_back"}), "the file says exactly this"),
            (
                json!({"guest": 101, "status": "running", "after_ms": 1_250}),
                "guest 101 is running, 1.2 s after the run",
            ),
            (
                json!({"replicas": {"running": 2, "wanted": 3}}),
                "2 of 3 copies run",
            ),
            (json!({"replicas": null}), "the copies were not counted"),
            (
                json!({"replicas": {"running": null, "wanted": 3}}),
                "the copies were not counted",
            ),
            (json!({"more": [1]}), "the copies were not counted"),
            (
                json!({"replicas": {"running": "2"}}),
                "what it saw is not understood here; --json shows it",
            ),
            (
                json!({"guest": "101"}),
                "what it saw is not understood here; --json shows it",
            ),
            (
                json!("seen"),
                "what it saw is not understood here; --json shows it",
            ),
        ];
        for (check, words) in told {
            assert_eq!(seen(&check), words, "{check}");
        }
    }

    #[test]
    fn every_state_is_said_in_the_words_of_the_table() {
        for shown in DisplayState::ALL {
            let (words, tone) = state(&row(shown.as_str()));
            assert_eq!(words, shown.words());
            assert_eq!(tone == Tone::Good, shown == DisplayState::Verified);
        }
        assert_eq!(state(&row("post\u{202e}poned")).0, "post\\u{202e}poned");
        assert_eq!(state(&row("")).0, "approved");
    }
}
