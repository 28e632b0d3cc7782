//! `/api/inbox`: everything that waits for the owner, each kind marked.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use schemars::JsonSchema;
use serde::Serialize;
use void_control::{Control, Ctx, inbox};
use void_domain::ids::ProposalId;
use void_domain::nodes::{Membership, Node};
use void_domain::proposals::Proposal;

use crate::access::Access;
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Caller, Query, page_rows, parse_cursor};
use crate::routes::actions::{RecentQuery, current};
use crate::table::{CURSOR, LIMIT, Route, json};
use crate::wire::RowResponse;

pub(super) const ROUTES: &[Route] = &[Route {
    method: "GET",
    path: "/api/inbox",
    access: Access::Owner,
    operation: "getInbox",
    summary: "Everything that waits for the owner",
    query: &[CURSOR, LIMIT],
    request: None,
    response: json::<InboxResponse>(),
    handler: || get(look),
}];

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InboxResponse {
    pub items: Vec<ItemResponse>,
    pub next: Option<String>,
    pub counts: CountsResponse,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ItemResponse {
    Row(Box<RowItem>),
    Join(JoinItem),
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RowItem {
    /// `proposal`: waits for a decision. `failure`: nobody knows whether it ran.
    pub kind: &'static str,
    #[serde(flatten)]
    pub row: RowResponse,
}

/// A machine asks to be a node.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct JoinItem {
    /// `join`
    pub kind: &'static str,
    pub name: String,
    /// To be compared with what the machine itself shows.
    pub fingerprint: String,
    pub from: String,
    pub version: Option<String>,
    pub asked_at: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CountsResponse {
    pub proposal: u64,
    pub failure: u64,
    /// Of the proposals, those that nobody could be told about.
    pub untold: u64,
    pub join: u64,
}

pub(crate) async fn look(
    State(app): State<App>,
    Caller(ctx): Caller,
    Query(page): Query<RecentQuery>,
) -> Result<Json<InboxResponse>, ApiError> {
    let cursor: Option<ProposalId> = parse_cursor(page.cursor.as_deref())?;
    let inbox = inbox::look(app.control(), cursor, page_rows(page.limit)?).await?;
    let mut items = items(app.control(), &ctx, "failure", &inbox.unknown).await?;
    items.extend(inbox.joins.iter().filter_map(join_item));
    items.extend(self::items(app.control(), &ctx, "proposal", &inbox.waiting).await?);
    Ok(Json(InboxResponse {
        items,
        next: inbox.next,
        counts: CountsResponse {
            proposal: inbox.waiting_count,
            failure: inbox.unknown_count,
            untold: inbox.untold_count,
            join: inbox.join_count,
        },
    }))
}

fn join_item(node: &Node) -> Option<ItemResponse> {
    let Membership::Waiting { asked, .. } = &node.membership else {
        return None;
    };
    Some(ItemResponse::Join(JoinItem {
        kind: "join",
        name: node.name.to_string(),
        fingerprint: asked.fingerprint.to_fingerprint(),
        from: asked.from.clone(),
        version: node.presence.version.clone(),
        asked_at: asked.at.to_string(),
    }))
}

async fn items(
    control: &Control,
    ctx: &Ctx,
    kind: &'static str,
    rows: &[Proposal],
) -> Result<Vec<ItemResponse>, ApiError> {
    let mut items = Vec::with_capacity(rows.len());
    for proposal in rows {
        let row = current(control, ctx, proposal.id).await?;
        // Decided since the list was read: it no longer waits.
        if row.status == proposal.status().as_str() {
            items.push(ItemResponse::Row(Box::new(RowItem { kind, row })));
        }
    }
    Ok(items)
}
