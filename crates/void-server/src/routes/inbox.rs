//! `/api/inbox`: everything that waits for the owner, each kind marked.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use void_api::inbox::{CountsResponse, InboxResponse, ItemResponse, JoinItem, RowItem};
use void_control::{Control, Ctx, inbox};
use void_domain::ids::ProposalId;
use void_domain::nodes::{Membership, Node};
use void_domain::proposals::Proposal;

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Caller, Query, page_rows, parse_cursor};
use crate::routes::actions::{RecentQuery, current};
use crate::table::{Access, CURSOR, LIMIT, Route, json};

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
        kind: "join".into(),
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
            items.push(ItemResponse::Row(Box::new(RowItem {
                kind: kind.into(),
                row,
            })));
        }
    }
    Ok(items)
}
