//! `list`: the newest of a kind of what the owner keeps, and of the caller's own proposals. It is offered to no model: clients of
//! MCP read it as resources. It keeps the rules of a tool: who may not read is told nothing, and what a stranger could have
//! written marks who is told of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use void_control::knowledge::{self, EntityFilter};
use void_control::proposals as requests;
use void_domain::capabilities::Capability;
use void_domain::failures::FailureCode;
use void_domain::ids::SpaceId;
use void_domain::knowledge::EntityKind;

use super::lookups::no_id;
use super::{Call, Effect, Outcome, Reach, RunningTool, Tool, ToolError, entities, proposals};
use super::{schema, written_schema};

const LISTED_MAX: u32 = 50;

pub static LIST: Tool = Tool {
    name: "list",
    title: "List",
    description: "The newest of a kind: spaces, what is in one of them, or your own proposals.",
    needs: &[Capability::Read],
    effect: Effect::Reads,
    reach: Reach::Anywhere,
    arguments: schema::<ListArguments>,
    result: written_schema::<ListResult>,
    run,
};

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ListKind {
    Space,
    Project,
    Page,
    Task,
    Ref,
    Proposal,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    kind: ListKind,
    /// Of what is in a space: in which.
    #[serde(default)]
    space_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ListResult {
    /// As read shows each, without its text.
    items: Vec<Value>,
    /// There are more than are shown.
    more: bool,
}

fn run(mut call: Call) -> RunningTool {
    Box::pin(async move {
        let arguments: ListArguments = call.arguments()?;
        let kind = match arguments.kind {
            ListKind::Space => EntityKind::Space,
            ListKind::Project => EntityKind::Project,
            ListKind::Page => EntityKind::Page,
            ListKind::Task => EntityKind::Task,
            ListKind::Ref => EntityKind::Ref,
            ListKind::Proposal => return of_proposals(&call).await,
        };
        of_entities(&call, kind, arguments.space_id.as_deref()).await
    })
}

async fn of_entities(
    call: &Call,
    kind: EntityKind,
    space: Option<&str>,
) -> Result<Outcome, ToolError> {
    let filter = match (kind, space) {
        (EntityKind::Space, None) => EntityFilter::spaces(),
        (EntityKind::Space, Some(_)) | (_, None) => {
            let message = "name the space of a list, and none of the list of spaces";
            return Err(ToolError::new(FailureCode::Invalid, message));
        }
        (_, Some(id)) => {
            let id: SpaceId = id.parse().map_err(|_| no_id("space", id))?;
            if !call.scope.has(id) {
                return Err(entities::not_here());
            }
            EntityFilter::within(id, kind)
        }
    };
    let page = knowledge::list(&call.control, &call.ctx, filter, None, LISTED_MAX).await?;
    let here = page
        .items
        .iter()
        .filter(|head| call.scope.has(head.space_id));
    let (items, foreign): (Vec<Value>, Vec<Option<String>>) = here
        .map(|head| entities::without_text(call, head))
        .map(|(told, source)| (json!(told), source))
        .unzip();
    let more = page.next.is_some();
    Ok(Outcome {
        foreign: foreign.into_iter().flatten().collect(),
        ..Outcome::of(json!(ListResult { items, more }))
    })
}

async fn of_proposals(call: &Call) -> Result<Outcome, ToolError> {
    let page = requests::list(&call.control, &call.ctx, None, None, LISTED_MAX).await?;
    let items = page.items.iter();
    let items = items.map(|listed| json!(proposals::status(&listed.proposal, listed.shown, None)));
    let (items, more) = (items.collect(), page.next.is_some());
    Ok(Outcome::of(json!(ListResult { items, more })))
}
