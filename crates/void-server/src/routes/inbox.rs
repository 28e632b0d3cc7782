//! `/api/inbox`: everything that waits for the owner, each kind marked.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use void_api::inbox::{
    CountsResponse, InboxResponse, ItemResponse, JoinItem, QuestionItem, RowItem,
};
use void_control::proposals::Listed;
use void_control::{Ctx, inbox};
use void_domain::ids::ProposalId;
use void_domain::nodes::{Membership, Node};
use void_domain::proposals::Sight;
use void_domain::questions::Question;

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Caller, Query, page_rows, parse_cursor};
use crate::routes::actions::RecentQuery;
use crate::table::{Access, CURSOR, LIMIT, Route, json};
use crate::wire::{listed_response, question_response};

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
    let unknown = inbox.unknown.iter();
    let waiting = inbox.waiting.iter();
    let items = unknown
        .map(|listed| row_item("failure", listed, &ctx))
        .chain(inbox.joins.iter().filter_map(join_item))
        .chain(inbox.questions.iter().map(question_item))
        .chain(waiting.map(|listed| row_item(kind_of(listed), listed, &ctx)))
        .collect();
    Ok(Json(InboxResponse {
        items,
        next: inbox.next.clone(),
        counts: CountsResponse {
            proposal: inbox.waiting_count,
            draft: inbox.draft_count,
            failure: inbox.unknown_count,
            untold: inbox.untold_count,
            join: inbox.join_count,
            question: inbox.question_count,
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

fn question_item(question: &Question) -> ItemResponse {
    ItemResponse::Question(Box::new(QuestionItem {
        kind: "question".into(),
        question: question_response(question),
    }))
}

const fn kind_of(waiting: &Listed) -> &'static str {
    match waiting.proposal.subject.is_change() {
        true => "draft",
        false => "proposal",
    }
}

fn row_item(kind: &'static str, listed: &Listed, ctx: &Ctx) -> ItemResponse {
    ItemResponse::Row(Box::new(RowItem {
        kind: kind.into(),
        group: (listed.draft.turn).map(|turn| turn.message_id.to_string()),
        row: listed_response(listed, Sight::of(&ctx.actor)),
    }))
}
