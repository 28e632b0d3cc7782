//! `read_record`: the record, page by page, for whoever may read it. It shows who did what to what and when,
//! and of what an entry tells only ids, states and stable words: nothing that somebody or a machine wrote, so
//! nothing here marks a turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use void_control::audit::{self, FactFilter};
use void_domain::capabilities::Capability;
use void_domain::facts::Fact;
use void_domain::failures::FailureCode;
use void_domain::text;

use super::{Call, Effect, Outcome, Reach, RunningTool, Tool, schema, written_schema};

const ENTRIES_MAX: u32 = 50;
const NAME_CHARS_MAX: usize = 100;
const NAME_BYTES_MAX: usize = 128;

pub(super) static READ_RECORD: Tool = Tool {
    name: "read_record",
    title: "Read the record",
    description: "Entries of the record, newest first: who did what to what, and when; all of them, or those of \
        one actor, kind or subject. Ids, names, states and times, never what somebody wrote. Older ones: give \
        the next that came with the last answer as before.",
    needs: &[Capability::AuditRead],
    effect: Effect::Reads,
    reach: Reach::Anywhere,
    arguments: schema::<RecordArguments>,
    result: written_schema::<RecordResult>,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RecordArguments {
    /// How the actor begins: `agent-`, `agent-NAME`, `owner`, `system`.
    #[serde(default)]
    #[schemars(length(max = 100))]
    actor: String,
    /// How the verb begins: `proposal.`, `proposal.refused`, `token.`, `session.`, `freeze.`.
    #[serde(default)]
    #[schemars(length(max = 100))]
    verb: String,
    /// Only entries about this id.
    #[schemars(length(max = 100))]
    subject: Option<String>,
    /// Only entries before this number.
    before: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RecordResult {
    at: String,
    /// Newest first.
    entries: Vec<RecordEntry>,
    /// Where older ones begin, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RecordEntry {
    seq: u64,
    at: String,
    actor: String,
    verb: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    /// Ids, states and stable words of it.
    detail: Value,
}

fn run(mut call: Call) -> RunningTool {
    Box::pin(async move {
        let asked: RecordArguments = call.arguments()?;
        let texts = [
            Some(&asked.actor),
            Some(&asked.verb),
            asked.subject.as_ref(),
        ];
        // As the schema says it.
        if texts
            .into_iter()
            .flatten()
            .any(|text| text.chars().count() > NAME_CHARS_MAX)
        {
            let message = format!("a filter is up to {NAME_CHARS_MAX} characters");
            return Err(super::ToolError::new(
                FailureCode::InvalidArguments,
                message,
            ));
        }
        let filter = FactFilter {
            subject: asked.subject,
            actor: asked.actor,
            verb: asked.verb,
        };
        let page = audit::read(&call.control, &call.ctx, filter, asked.before, ENTRIES_MAX).await?;
        let value = json!(RecordResult {
            at: call.control.clock().now().to_string(),
            entries: page.items.iter().map(tell).collect(),
            next: page.next.and_then(|next| next.parse().ok()),
        });
        Ok(Outcome::of(value))
    })
}

fn tell(entry: &Fact) -> RecordEntry {
    RecordEntry {
        seq: entry.seq,
        at: entry.at.to_string(),
        actor: shown(&entry.actor),
        verb: shown(&entry.verb),
        subject: entry.subject.as_deref().map(shown),
        detail: entry.typed_detail(),
    }
}

/// A name as it may be shown: short, and without what deceives.
fn shown(name: &str) -> String {
    text::escaped(text::cut(name, NAME_BYTES_MAX))
}
