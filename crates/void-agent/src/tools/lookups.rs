//! One thing by its kind and id, for `read` and for `context`: what the owner keeps, and the lab's own things with the
//! runbooks that name them.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use void_control::knowledge::{self, KnowledgeError};
use void_control::proposals::ProposalKey;
use void_control::{conversations, health};
use void_domain::conversations::{Message, Said};
use void_domain::failures::FailureCode;
use void_domain::ids::{ActionId, ConversationId};
use void_domain::knowledge::{EntityId, RunbookName};
use void_domain::services::ServiceId;
use void_domain::text;

use super::entities::{self, EntityResult, TEXT_BYTES_MAX, TextPart};
use super::{Call, Outcome, ToolError, actions, proposals, services};

const RUNBOOKS_MAX: usize = 3;
const RUNBOOK_BYTES_MAX: usize = 2 * 1024;
/// Changes of a service, newest first.
const SERVICE_CHANGES_MAX: usize = 20;
/// The newest messages of a conversation, and so much of each.
const MESSAGES_MAX: u32 = 20;
const MESSAGE_BYTES_MAX: usize = 512;

#[derive(Debug, Clone)]
pub(super) enum Target {
    Entity(EntityId),
    Service(ServiceId),
    Action(ActionId),
    Proposal(ProposalKey),
    Conversation(ConversationId),
}

/// How much of it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Depth {
    /// What it is called and how it stands.
    Summary,
    /// Its text from this byte on.
    Whole { offset: usize },
}

/// One of them is there.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct LookupResult {
    /// Something that the owner keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    entity: Option<EntityResult>,
    /// As service_status shows it, with its last changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<Value>,
    /// As list_actions shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<Value>,
    /// As proposal_status shows it; of a change what it changes, and what the owner said to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<Value>,
    /// The owner's pages that say that they are about this service or action.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    runbooks: Vec<EntityResult>,
    /// Of a space: its open tasks, by day.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open_tasks: Vec<EntityResult>,
    /// There are more of them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more_open_tasks: bool,
}

/// What is told, and what its reader is marked by.
#[derive(Debug, Default)]
pub(super) struct Lookup {
    pub result: LookupResult,
    pub foreign: Vec<String>,
}

impl Lookup {
    pub(super) fn into_outcome(self) -> Outcome {
        Outcome {
            foreign: self.foreign,
            ..Outcome::of(json!(self.result))
        }
    }

    fn keep(&mut self, (told, source): entities::Told) -> EntityResult {
        self.foreign.extend(source);
        told
    }
}

pub(super) async fn look_up(
    call: &Call,
    target: Target,
    depth: Depth,
) -> Result<Lookup, ToolError> {
    let mut lookup = Lookup::default();
    match target {
        Target::Entity(id) => {
            let entity = entities::find(call, id).await?;
            let told = match depth {
                Depth::Summary => entities::without_text(call, &entity.head),
                Depth::Whole { offset } => {
                    let bytes_max = TEXT_BYTES_MAX;
                    entities::with_text(call, &entity, TextPart { offset, bytes_max })?
                }
            };
            lookup.result.entity = Some(lookup.keep(told));
            if let (EntityId::Space(id), Depth::Whole { .. }) = (id, depth) {
                let (tasks, more) = entities::open_tasks(call, id).await?;
                let tasks = tasks.into_iter().map(|told| lookup.keep(told)).collect();
                (lookup.result.open_tasks, lookup.result.more_open_tasks) = (tasks, more);
            }
        }
        Target::Service(id) => service(call, &id, depth, &mut lookup).await?,
        Target::Action(id) => {
            let found = call.control.catalogue().get(&id);
            let found = found.map(|action| actions::described(action));
            lookup.result.action = Some(found.ok_or_else(entities::not_here)?);
            runbooks(call, RunbookName::Action(id), depth, &mut lookup).await?;
        }
        Target::Proposal(key) => {
            let (value, foreign) = proposals::described(call, key).await?;
            lookup.result.proposal = Some(value);
            lookup.foreign.extend(foreign);
        }
        Target::Conversation(id) => conversation(call, id, depth, &mut lookup).await?,
    }
    Ok(lookup)
}

async fn service(
    call: &Call,
    id: &ServiceId,
    depth: Depth,
    lookup: &mut Lookup,
) -> Result<(), ToolError> {
    let view = health::find(&call.control, id.as_str()).ok_or_else(entities::not_here)?;
    let mut value = services::described(call, view);
    if let (Depth::Whole { .. }, Value::Object(members)) = (depth, &mut value) {
        let mut changes = health::history(&call.control, id).await?;
        changes.sort_by_key(|change| std::cmp::Reverse(change.at));
        let changes = changes.into_iter().take(SERVICE_CHANGES_MAX).map(|change| {
            json!({"at": change.at.to_string(), "from": change.from.as_str(), "to": change.to.as_str(),
                "reason": change.reason})
        });
        members.insert("history".to_owned(), changes.collect());
    }
    lookup.result.service = Some(value);
    runbooks(call, RunbookName::Service(id.clone()), depth, lookup).await
}

/// Who may not read what the owner keeps is told of no runbook.
async fn runbooks(
    call: &Call,
    about: RunbookName,
    depth: Depth,
    lookup: &mut Lookup,
) -> Result<(), ToolError> {
    let pages = match knowledge::runbooks(&call.control, &call.ctx, about).await {
        Ok(pages) => pages,
        Err(KnowledgeError::Forbidden) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let here = pages
        .iter()
        .filter(|page| call.scope.has(page.head.space_id));
    for page in here.take(RUNBOOKS_MAX) {
        let told = match depth {
            Depth::Summary => entities::without_text(call, &page.head),
            Depth::Whole { .. } => {
                let (offset, bytes_max) = (0, RUNBOOK_BYTES_MAX);
                entities::with_text(call, page, TextPart { offset, bytes_max })?
            }
        };
        let told = lookup.keep(told);
        lookup.result.runbooks.push(told);
    }
    Ok(())
}

/// Only of the caller's own space: what the owner says elsewhere, and to whom, is no knowledge of this one.
async fn conversation(
    call: &Call,
    id: ConversationId,
    depth: Depth,
    lookup: &mut Lookup,
) -> Result<(), ToolError> {
    knowledge::may_read(&call.ctx)?;
    let found = conversations::find(&call.control, id).await?;
    let found =
        found.filter(|found| found.space_id.is_some() && found.space_id == call.scope.space_id);
    let found = found.ok_or_else(entities::not_here)?;
    let mut members = Map::new();
    members.insert("id".to_owned(), json!(id.to_string()));
    members.insert("agent".to_owned(), json!(found.agent));
    members.insert("created_at".to_owned(), json!(found.created_at.to_string()));
    if let Depth::Whole { .. } = depth {
        let newest = conversations::messages(&call.control, id, None, MESSAGES_MAX).await?;
        let messages = newest.iter().map(|message| told(call, message, lookup));
        let messages: Vec<Value> = messages.collect();
        members.insert("newest_messages".to_owned(), Value::Array(messages));
    }
    lookup.result.conversation = Some(Value::Object(members));
    Ok(())
}

/// What an agent said after it had read a stranger's text is as foreign as that text.
fn told(call: &Call, message: &Message, lookup: &mut Lookup) -> Value {
    let text = text::cut(&message.body, MESSAGE_BYTES_MAX);
    let at = message.at.to_string();
    match &message.said {
        Said::ByOwner => json!({"by": "owner", "at": at, "text": text}),
        Said::ByAgent(turn) if turn.tainted_by.is_clean() => {
            json!({"by": "agent", "at": at, "text": text})
        }
        Said::ByAgent(turn) if call.gives_foreign_text() => {
            lookup
                .foreign
                .extend(turn.tainted_by.sources().iter().cloned());
            json!({"by": "agent", "at": at, "untrusted_text": text})
        }
        Said::ByAgent(_) => json!({"by": "agent", "at": at, "withheld": true}),
    }
}

/// What has the form of no id of its kind is not there either.
pub(super) fn no_id(kind: &str, id: &str) -> ToolError {
    let id = text::value_in_quotes(text::cut(id, 100));
    let message = format!("{id} is no id of a {kind}; search finds what there is");
    ToolError::new(FailureCode::NotFound, message)
}
