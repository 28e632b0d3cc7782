//! `/api/search`: one search over what the owner keeps and what is in the lab. Whoever is not the owner gets of what a
//! stranger could have written its kind and its id.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use serde::Deserialize;
use void_api::search::{SearchHitResponse, SearchResponse, SearchSpanResponse};
use void_control::knowledge::{self, SearchError, SearchHit, SearchRequest, SearchWithin};
use void_domain::failures::FailureCode;
use void_domain::ids::SpaceId;
use void_domain::knowledge::{EntityKind, SearchKind, SnippetSpan};
use void_domain::limits::SEARCH_RESULTS_DEFAULT;

use super::entities::knowledge_error;
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Caller, Query};
use crate::table::{Access, CURSOR, LIMIT, Parameter, Route, json};

const Q: Parameter = Parameter {
    name: "q",
    kind: "string",
    meaning: "words, \"phrases\", beginnings*, -without, kind:page, tag:net; all of them have to be found",
};
const SPACE: Parameter = Parameter {
    name: "space",
    kind: "string",
    meaning: "only in this space, and so nothing of the lab",
};
const KIND: Parameter = Parameter {
    name: "kind",
    kind: "string",
    meaning: "only of this kind",
};

pub(super) const ROUTES: &[Route] = &[Route {
    method: "GET",
    path: "/api/search",
    access: Access::Read,
    operation: "search",
    summary: "Find what you keep by its text, and services, actions, agents and proposals by their names",
    query: &[Q, SPACE, KIND, CURSOR, LIMIT],
    request: None,
    response: json::<SearchResponse>(),
    handler: || get(search),
}];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindQuery {
    #[serde(default)]
    q: String,
    space: Option<String>,
    kind: Option<String>,
    cursor: Option<String>,
    limit: Option<u32>,
}

impl FindQuery {
    fn request(self) -> Result<SearchRequest, ApiError> {
        let space = self.space.map(|id| id.parse::<SpaceId>()).transpose();
        let space = space.map_err(|_| ApiError::invalid_field("space", "must be the id of one"))?;
        let kind = self.kind.map(|kind| {
            SearchKind::parse(&kind)
                .ok_or_else(|| ApiError::invalid_field("kind", "is none that can be found"))
        });
        Ok(SearchRequest {
            query: self.q,
            within: space.map_or(SearchWithin::Everywhere, SearchWithin::Space),
            kind: kind.transpose()?,
            cursor: self.cursor,
            limit: self.limit.unwrap_or(SEARCH_RESULTS_DEFAULT),
        })
    }
}

pub(crate) async fn search(
    State(app): State<App>,
    Caller(ctx): Caller,
    Query(query): Query<FindQuery>,
) -> Result<Json<SearchResponse>, ApiError> {
    let found = knowledge::search(app.control(), &ctx, query.request()?).await;
    let found = found.map_err(search_error)?;
    let is_owner = ctx.actor.is_owner();
    let told = found.hits.into_iter().map(|hit| match is_owner {
        true => hit,
        false => hit.without_foreign_text(),
    });
    Ok(Json(SearchResponse {
        mode: found.mode.as_str().into(),
        why: found.why,
        results: told.map(hit_response).collect(),
        next: found.next,
    }))
}

fn hit_response(hit: SearchHit) -> SearchHitResponse {
    SearchHitResponse {
        foreign: hit.is_foreign(),
        kind: hit.kind.as_str().into(),
        id: hit.id,
        space_id: hit.space_id.map(|id| id.to_string()),
        title: hit.title,
        title_spans: hit.title_spans.into_iter().map(span_response).collect(),
        snippet: hit.snippet.into_iter().map(span_response).collect(),
        score: hit.score,
        state: hit.state.map(Into::into),
    }
}

fn span_response(span: SnippetSpan) -> SearchSpanResponse {
    SearchSpanResponse {
        text: span.text,
        hit: span.hit,
    }
}

fn search_error(error: SearchError) -> ApiError {
    let message = error.to_string();
    match error {
        SearchError::Query(_) => ApiError::invalid_field("q", message),
        SearchError::Cursor => ApiError::invalid_field("cursor", message),
        SearchError::TooSlow => ApiError::new(FailureCode::Unavailable, message)
            .hint("look for more words, or in one space"),
        // What is not there is the space that was named.
        SearchError::Knowledge(error) => knowledge_error(error, EntityKind::Space),
    }
}
