//! Recent entries of the record, by words of their verb, their actor and their action. The record shows everybody's deeds; an
//! agent that may not read it finds its own.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use void_control::audit;

use super::super::{Call, ToolError};

/// How far back.
const ROWS_MAX: u32 = 500;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RecordHit {
    seq: u64,
    at: String,
    actor: String,
    verb: String,
}

/// The newest first, and whether there are more.
pub(super) async fn find(
    call: &Call,
    query: &str,
    limit: u32,
) -> Result<(Vec<RecordHit>, bool), ToolError> {
    let query = query.to_lowercase();
    let words: Vec<&str> = query.split_whitespace().collect();
    let page = audit::list(&call.control, audit::FactFilter::default(), None, ROWS_MAX).await?;
    let me = call.ctx.actor.to_string();
    let reads_all = audit::may_read(&call.ctx);
    let entries = page.items.into_iter();
    let visible = entries.filter(|entry| reads_all || entry.actor == me);
    let mut found = visible.filter(|entry| {
        let detail: Value = serde_json::from_str(&entry.detail).unwrap_or_default();
        let action = detail.get("action_id").and_then(Value::as_str);
        let action = action.unwrap_or_default();
        let name = format!("{} {} {action}", entry.verb, entry.actor).to_lowercase();
        words.iter().all(|word| name.contains(word))
    });
    let hits = found.by_ref().take(limit as usize).map(|entry| RecordHit {
        seq: entry.seq,
        at: entry.at.to_string(),
        actor: entry.actor.clone(),
        verb: entry.verb,
    });
    let hits = hits.collect();
    Ok((hits, found.next().is_some()))
}
