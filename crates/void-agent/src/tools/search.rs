//! `search`: finds actions, services, proposals and entries of the record by words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use void_control::{audit, health, proposals};
use void_domain::capabilities::Capability;
use void_domain::failures::FailureCode;
use void_domain::ids::ActionId;

use super::{Call, Effect, Outcome, Running, Tool, ToolError, schema, written_schema};

const HITS_MAX: usize = 20;
const QUERY_CHARS_MAX: usize = 200;
/// How far back proposals and the record are searched.
const ROWS_MAX: u32 = 500;

pub(super) static SEARCH: Tool = Tool {
    name: "search",
    title: "Search",
    description: "Finds actions, services, recent proposals and recent entries of the record whose names \
        contain all the words. Shows ids and states, never what somebody wrote.",
    needs: &[Capability::Read],
    effect: Effect::Reads,
    arguments: schema::<SearchArguments>,
    result: written_schema::<SearchResult>,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    /// Words; all of them have to be found.
    #[schemars(length(max = 200), regex(pattern = r"\S"))]
    query: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SearchResult {
    hits: Vec<Hit>,
    /// There are more than are shown.
    more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Hit {
    /// action, service, proposal or audit
    kind: &'static str,
    id: String,
    label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
}

struct Words(Vec<String>);

impl Words {
    fn are_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.0.iter().all(|word| text.contains(word))
    }
}

fn run(mut call: Call) -> Running {
    Box::pin(async move {
        let arguments: SearchArguments = call.arguments()?;
        let query = arguments.query.trim().to_lowercase();
        // As the schema says it.
        if query.is_empty() || arguments.query.chars().count() > QUERY_CHARS_MAX {
            let message = format!("a query is 1 to {QUERY_CHARS_MAX} characters");
            return Err(ToolError::new(FailureCode::InvalidArguments, message));
        }
        let words = Words(query.split_whitespace().map(str::to_owned).collect());
        let mut hits = of_configuration(&call, &words);
        hits.extend(of_proposals(&call, &words).await?);
        hits.extend(of_record(&call, &words).await?);
        let more = hits.len() > HITS_MAX;
        hits.truncate(HITS_MAX);
        Ok(Outcome::of(json!(SearchResult { hits, more })))
    })
}

fn of_configuration(call: &Call, words: &Words) -> Vec<Hit> {
    let actions = call.control.catalogue().actions();
    let actions = actions.filter(|action| {
        words.are_in(&format!(
            "{} {} {}",
            action.id,
            action.label,
            action.execution.kind.target()
        ))
    });
    let actions = actions.map(|action| Hit {
        kind: "action",
        id: action.id.to_string(),
        label: action.label.clone(),
        state: Some(action.tier.as_str().to_owned()),
        at: None,
    });
    let services = health::list(&call.control).into_iter();
    let services = services
        .filter(|view| words.are_in(&format!("{} {}", view.service.id, view.service.label)))
        .map(|view| Hit {
            kind: "service",
            id: view.service.id.to_string(),
            label: view.service.label,
            state: Some(view.standing.health.as_str().to_owned()),
            at: view.last.map(|reading| reading.at.to_string()),
        });
    actions.chain(services).collect()
}

async fn of_proposals(call: &Call, words: &Words) -> Result<Vec<Hit>, ToolError> {
    let page = proposals::list(&call.control, &call.ctx, None, None, ROWS_MAX).await?;
    let rows = page.items.into_iter().map(|listed| listed.proposal);
    let found = rows.filter(|proposal| {
        let subject = &proposal.subject;
        let action = subject.action_id().map_or("", ActionId::as_str);
        words.are_in(&format!("{} {action} {}", proposal.code, subject.label))
    });
    Ok(found
        .map(|proposal| Hit {
            kind: "proposal",
            id: proposal.code.to_string(),
            label: proposal.subject.label.clone(),
            state: Some(proposal.status().as_str().to_owned()),
            at: Some(proposal.created_at.to_string()),
        })
        .collect())
}

/// The record shows everybody's deeds; an agent that may not read it finds its own.
async fn of_record(call: &Call, words: &Words) -> Result<Vec<Hit>, ToolError> {
    let page = audit::list(&call.control, audit::FactFilter::default(), None, ROWS_MAX).await?;
    let me = call.ctx.actor.to_string();
    let reads_all = audit::may_read(&call.ctx);
    let entries = page.items.into_iter();
    let visible = entries.filter(|entry| reads_all || entry.actor == me);
    let found = visible.filter(|entry| {
        let detail: Value = serde_json::from_str(&entry.detail).unwrap_or_default();
        let action = detail.get("action_id").and_then(Value::as_str);
        words.are_in(&format!(
            "{} {} {}",
            entry.verb,
            entry.actor,
            action.unwrap_or_default()
        ))
    });
    Ok(found
        .map(|entry| Hit {
            kind: "audit",
            id: entry.seq.to_string(),
            label: entry.verb.clone(),
            state: Some(entry.actor.clone()),
            at: Some(entry.at.to_string()),
        })
        .collect())
}
