//! `context`: what the owner looks at while they ask. The view came with the message and is believed no further than that: it is
//! looked up like anything else, in the caller's own space and with the caller's own rights.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use void_control::audit::{self, FactFilter};
use void_control::knowledge::{self, KnowledgeError};
use void_control::proposals::ProposalKey;
use void_domain::capabilities::Capability;
use void_domain::conversations::{ConversationSubject, MessageView};
use void_domain::failures::FailureCode;
use void_domain::ids::AttachmentId;
use void_domain::knowledge::EntityId;

use super::entities::{self, EntityResult};
use super::lookups::{Depth, Lookup, LookupResult, Target, look_up};
use super::machines::{self, MachineResult};
use super::{
    Call, Effect, Outcome, Reach, RunningTool, Tool, ToolError, activity, schema, written_schema,
};

pub(super) static CONTEXT: Tool = Tool {
    name: "context",
    title: "Context",
    description: "What the owner looks at right now, if their page said so, and the space of this conversation. Call it when \
        they say \"this\", \"here\" or name nothing; read then shows the whole of it.",
    needs: &[Capability::Read],
    reach: Reach::Anywhere,
    effect: Effect::Reads,
    arguments: schema::<ContextArguments>,
    result: written_schema::<ContextResult>,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ContextArguments {}

#[derive(Debug, Serialize, JsonSchema)]
struct ContextResult {
    /// Absent if nobody said what they look at.
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<ViewResult>,
    /// The space that this conversation belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    space: Option<EntityResult>,
    /// Where it belongs to none: those that there are, the one used last first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    spaces: Vec<EntityResult>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ViewResult {
    /// page, task, ref, project, space, service, action, proposal, conversation, agent, host, node, guest, attachment
    /// (a file that is kept), entry (of the record) or screen
    kind: &'static str,
    id: String,
    /// It is not in this space, or not there any more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    not_here: bool,
    #[serde(flatten)]
    summary: LookupResult,
    /// Of a host, a node or a guest.
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<MachineResult>,
    /// Of a file that is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<FileResult>,
    /// Of an entry of the record, as recent_activity shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<Value>,
}

fn run(mut call: Call) -> RunningTool {
    Box::pin(async move {
        call.arguments::<ContextArguments>()?;
        let mut foreign = Vec::new();
        let view = match call.scope.view.clone() {
            None => None,
            Some(view) => {
                let (result, sources) = shown(&call, &view).await?;
                foreign.extend(sources);
                Some(result)
            }
        };
        let mut spaces = Vec::new();
        let space = match call.scope.space_id {
            None => {
                for (told, source) in entities::spaces(&call).await? {
                    foreign.extend(source);
                    spaces.push(told);
                }
                None
            }
            Some(id) => {
                let space = entities::find(&call, EntityId::Space(id)).await?;
                let (told, source) = entities::without_text(&call, &space.head);
                foreign.extend(source);
                Some(told)
            }
        };
        Ok(Outcome {
            foreign,
            ..Outcome::of(json!(ContextResult {
                view,
                space,
                spaces
            }))
        })
    })
}

async fn shown(call: &Call, view: &MessageView) -> Result<(ViewResult, Vec<String>), ToolError> {
    let mut result = ViewResult {
        kind: view.kind(),
        id: view.id(),
        not_here: false,
        summary: LookupResult::default(),
        machine: None,
        file: None,
        entry: None,
    };
    let target = match view {
        MessageView::Subject(ConversationSubject::Entity(id)) => Target::Entity(*id),
        MessageView::Subject(ConversationSubject::Service(id)) => Target::Service(id.clone()),
        MessageView::Subject(ConversationSubject::Action(id)) => Target::Action(id.clone()),
        MessageView::Proposal(id) => Target::Proposal(ProposalKey::Id(*id)),
        MessageView::Conversation(id) => Target::Conversation(*id),
        MessageView::Host(name) | MessageView::Node(name) => {
            result.machine = machines::machine(call, name);
            result.not_here = result.machine.is_none();
            return Ok((result, Vec::new()));
        }
        MessageView::Guest { node, vmid } => {
            result.machine = machines::guest(call, node, *vmid);
            result.not_here = result.machine.is_none();
            return Ok((result, Vec::new()));
        }
        MessageView::Attachment(id) => {
            result.file = file(call, *id).await?;
            result.not_here = result.file.is_none();
            return Ok((result, Vec::new()));
        }
        MessageView::Entry(seq) => {
            result.entry = entry(call, *seq).await?;
            result.not_here = result.entry.is_none();
            return Ok((result, Vec::new()));
        }
        MessageView::Agent(_) | MessageView::Screen(_) => return Ok((result, Vec::new())),
    };
    match look_up(call, target, Depth::Summary).await {
        Ok(Lookup {
            result: summary,
            foreign,
        }) => {
            result.summary = summary;
            Ok((result, foreign))
        }
        Err(error) if error.code == FailureCode::NotFound => {
            result.not_here = true;
            Ok((result, Vec::new()))
        }
        Err(error) => Err(error),
    }
}

/// What is known of a file without what is in it.
#[derive(Debug, Serialize, JsonSchema)]
struct FileResult {
    /// Absent of what a ref was made from: a stranger may have named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    media_type: String,
    size_bytes: u64,
    /// The ref that was made from it, which read shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    ref_id: Option<String>,
}

async fn file(call: &Call, id: AttachmentId) -> Result<Option<FileResult>, ToolError> {
    let found = match knowledge::attachment(&call.control, &call.ctx, id).await {
        Ok(found) => found,
        Err(KnowledgeError::NotFound) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let is_elsewhere = |space| found.space_id != space;
    if call.scope.space_id.is_some_and(is_elsewhere) {
        return Ok(None);
    }
    Ok(Some(FileResult {
        name: Some(found.name.to_string()).filter(|_| found.ref_id.is_none()),
        media_type: found.media_type.to_string(),
        size_bytes: found.size_bytes,
        ref_id: found.ref_id.map(|id| id.to_string()),
    }))
}

async fn entry(call: &Call, seq: u64) -> Result<Option<Value>, ToolError> {
    let behind = Some(seq.saturating_add(1));
    let page = audit::list(&call.control, FactFilter::default(), behind, 1).await?;
    let found = page.items.first().filter(|entry| entry.seq == seq);
    Ok(found.map(|entry| activity::described(call, entry)))
}
