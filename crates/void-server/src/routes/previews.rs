//! `/api/spaces/{id}/preview`: a text as a page of that space would show it. Nothing is stored.

use axum::Json;
use axum::extract::State;
use axum::routing::post;
use void_api::entities::TEXT_REQUEST_BYTES_MAX;
use void_api::previews::{PreviewRequest, PreviewResponse};
use void_control::knowledge::{self, ResolvedLink};
use void_control::lanes::work_away;
use void_domain::knowledge::{EntityKind, FrontMatter};
use void_domain::limits::PAGE_BYTES_MAX;

use super::entities::{InSpace, Meaning, Meant, knowledge_error, with_page_links};
use crate::app::App;
use crate::errors::ApiError;
use crate::markdown;
use crate::requests::{Body, Caller};
use crate::table::{Access, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[Route {
    method: "POST",
    path: "/api/spaces/{id}/preview",
    access: Access::Owner,
    operation: "previewText",
    summary: "How a text would be shown in a space; nothing is stored",
    query: &[],
    request: Some(schema::<PreviewRequest>),
    response: json::<PreviewResponse>(),
    handler: || post(show),
}];

pub(crate) async fn show(
    State(app): State<App>,
    Caller(ctx): Caller,
    InSpace(space): InSpace,
    Body(request): Body<PreviewRequest, TEXT_REQUEST_BYTES_MAX>,
) -> Result<Json<PreviewResponse>, ApiError> {
    let Some(text) = request.text else {
        return Err(ApiError::invalid_field("text", "is missing"));
    };
    if text.len() > PAGE_BYTES_MAX {
        let wrong = format!("has at most {PAGE_BYTES_MAX} bytes");
        return Err(ApiError::invalid_field("text", wrong));
    }
    let text = text
        .get(FrontMatter::of(&text).end..)
        .unwrap_or(&text)
        .to_owned();
    let found = knowledge::resolve_links(app.control(), &ctx, space, &text).await;
    let found = found.map_err(|error| knowledge_error(error, EntityKind::Space))?;
    let one = |(target, link)| match link {
        ResolvedLink::To(head) => Some((target, Meaning::Entity(head.id))),
        ResolvedLink::ToFile(file) => Some((target, Meaning::File(file.id))),
        ResolvedLink::Nothing(_) | ResolvedLink::Several(..) => None,
    };
    let meant: Meant = found.into_iter().filter_map(one).collect();
    let blocks = work_away(move || markdown::read(&with_page_links(&text, &meant))).await?;
    Ok(Json(PreviewResponse { blocks }))
}
