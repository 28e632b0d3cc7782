//! `…/revisions`, `…/diff` and `…/restore` of spaces, projects, pages, tasks and refs: what each said before, for the owner.
//! Which of the five a path names is its first word.

use axum::Json;
use axum::extract::{Path, State};
use axum::routing::{get, post};
use serde::Deserialize;
use void_api::Word;
use void_api::entity_responses::EntityResponse;
use void_api::pages::PageResponse;
use void_api::projects::ProjectResponse;
use void_api::refs::RefResponse;
use void_api::revisions::{
    DiffSpanResponse, RestoreRequest, RevisionDiffResponse, RevisionHeadResponse, RevisionResponse,
    RevisionsResponse,
};
use void_api::spaces::SpaceResponse;
use void_api::tasks::TaskResponse;
use void_control::knowledge::{self, Difference, StoredRevision};
use void_domain::knowledge::{
    Details, DiffGrain, Hiding, PageDetails, RefDetails, Revision, SpaceDetails, SpanKind,
    TaskDetails, WordSpan,
};

use super::entities::{Named, Shown, done, draft_origin, respond, words};
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Query, page_rows, parse_cursor};
use crate::table::{Access, CURSOR, LIMIT, Parameter, Route, json, schema};

const FROM: Parameter = Parameter {
    name: "from",
    kind: "integer",
    meaning: "the number of the older revision; the one before `to` if left out",
};
const TO: Parameter = Parameter {
    name: "to",
    kind: "integer",
    meaning: "the number of the newer revision; the newest if left out",
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/spaces/{id}/revisions",
        access: Access::Owner,
        operation: "listSpaceRevisions",
        summary: "What a space was, newest first: when, by whom, where its text came from",
        query: &[CURSOR, LIMIT],
        request: None,
        response: json::<RevisionsResponse>(),
        handler: || get(list),
    },
    Route {
        method: "GET",
        path: "/api/projects/{id}/revisions",
        access: Access::Owner,
        operation: "listProjectRevisions",
        summary: "What a project was, newest first: when, by whom, where its text came from",
        query: &[CURSOR, LIMIT],
        request: None,
        response: json::<RevisionsResponse>(),
        handler: || get(list),
    },
    Route {
        method: "GET",
        path: "/api/pages/{id}/revisions",
        access: Access::Owner,
        operation: "listPageRevisions",
        summary: "What a page was, newest first: when, by whom, where its text came from",
        query: &[CURSOR, LIMIT],
        request: None,
        response: json::<RevisionsResponse>(),
        handler: || get(list),
    },
    Route {
        method: "GET",
        path: "/api/tasks/{id}/revisions",
        access: Access::Owner,
        operation: "listTaskRevisions",
        summary: "What a task was, newest first: when, by whom, where its text came from",
        query: &[CURSOR, LIMIT],
        request: None,
        response: json::<RevisionsResponse>(),
        handler: || get(list),
    },
    Route {
        method: "GET",
        path: "/api/refs/{id}/revisions",
        access: Access::Owner,
        operation: "listRefRevisions",
        summary: "What a ref was, newest first: when, by whom, where its text came from",
        query: &[CURSOR, LIMIT],
        request: None,
        response: json::<RevisionsResponse>(),
        handler: || get(list),
    },
    Route {
        method: "GET",
        path: "/api/spaces/{id}/revisions/{number}",
        access: Access::Owner,
        operation: "getSpaceRevision",
        summary: "All that a space said in one revision",
        query: &[],
        request: None,
        response: json::<RevisionResponse>(),
        handler: || get(show),
    },
    Route {
        method: "GET",
        path: "/api/projects/{id}/revisions/{number}",
        access: Access::Owner,
        operation: "getProjectRevision",
        summary: "All that a project said in one revision",
        query: &[],
        request: None,
        response: json::<RevisionResponse>(),
        handler: || get(show),
    },
    Route {
        method: "GET",
        path: "/api/pages/{id}/revisions/{number}",
        access: Access::Owner,
        operation: "getPageRevision",
        summary: "All that a page said in one revision",
        query: &[],
        request: None,
        response: json::<RevisionResponse>(),
        handler: || get(show),
    },
    Route {
        method: "GET",
        path: "/api/tasks/{id}/revisions/{number}",
        access: Access::Owner,
        operation: "getTaskRevision",
        summary: "All that a task said in one revision",
        query: &[],
        request: None,
        response: json::<RevisionResponse>(),
        handler: || get(show),
    },
    Route {
        method: "GET",
        path: "/api/refs/{id}/revisions/{number}",
        access: Access::Owner,
        operation: "getRefRevision",
        summary: "All that a ref said in one revision",
        query: &[],
        request: None,
        response: json::<RevisionResponse>(),
        handler: || get(show),
    },
    Route {
        method: "GET",
        path: "/api/spaces/{id}/diff",
        access: Access::Owner,
        operation: "diffSpaceRevisions",
        summary: "What differs between two revisions of a space",
        query: &[FROM, TO],
        request: None,
        response: json::<RevisionDiffResponse>(),
        handler: || get(diff),
    },
    Route {
        method: "GET",
        path: "/api/projects/{id}/diff",
        access: Access::Owner,
        operation: "diffProjectRevisions",
        summary: "What differs between two revisions of a project",
        query: &[FROM, TO],
        request: None,
        response: json::<RevisionDiffResponse>(),
        handler: || get(diff),
    },
    Route {
        method: "GET",
        path: "/api/pages/{id}/diff",
        access: Access::Owner,
        operation: "diffPageRevisions",
        summary: "What differs between two revisions of a page",
        query: &[FROM, TO],
        request: None,
        response: json::<RevisionDiffResponse>(),
        handler: || get(diff),
    },
    Route {
        method: "GET",
        path: "/api/tasks/{id}/diff",
        access: Access::Owner,
        operation: "diffTaskRevisions",
        summary: "What differs between two revisions of a task",
        query: &[FROM, TO],
        request: None,
        response: json::<RevisionDiffResponse>(),
        handler: || get(diff),
    },
    Route {
        method: "GET",
        path: "/api/refs/{id}/diff",
        access: Access::Owner,
        operation: "diffRefRevisions",
        summary: "What differs between two revisions of a ref",
        query: &[FROM, TO],
        request: None,
        response: json::<RevisionDiffResponse>(),
        handler: || get(diff),
    },
    Route {
        method: "POST",
        path: "/api/spaces/{id}/restore",
        access: Access::Owner,
        operation: "restoreSpace",
        summary: "Go back to an older revision of a space, by a new one that says the same",
        query: &[],
        request: Some(schema::<RestoreRequest>),
        response: json::<SpaceResponse>(),
        handler: || post(restore),
    },
    Route {
        method: "POST",
        path: "/api/projects/{id}/restore",
        access: Access::Owner,
        operation: "restoreProject",
        summary: "Go back to an older revision of a project, by a new one that says the same",
        query: &[],
        request: Some(schema::<RestoreRequest>),
        response: json::<ProjectResponse>(),
        handler: || post(restore),
    },
    Route {
        method: "POST",
        path: "/api/pages/{id}/restore",
        access: Access::Owner,
        operation: "restorePage",
        summary: "Go back to an older revision of a page, by a new one that says the same",
        query: &[],
        request: Some(schema::<RestoreRequest>),
        response: json::<PageResponse>(),
        handler: || post(restore),
    },
    Route {
        method: "POST",
        path: "/api/tasks/{id}/restore",
        access: Access::Owner,
        operation: "restoreTask",
        summary: "Go back to an older revision of a task, by a new one that says the same",
        query: &[],
        request: Some(schema::<RestoreRequest>),
        response: json::<TaskResponse>(),
        handler: || post(restore),
    },
    Route {
        method: "POST",
        path: "/api/refs/{id}/restore",
        access: Access::Owner,
        operation: "restoreRef",
        summary: "Go back to an older revision of a ref, by a new one that says the same",
        query: &[],
        request: Some(schema::<RestoreRequest>),
        response: json::<RefResponse>(),
        handler: || post(restore),
    },
];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RevisionsQuery {
    cursor: Option<String>,
    limit: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DiffQuery {
    from: Option<u64>,
    to: Option<u64>,
}

pub(crate) async fn list(
    State(app): State<App>,
    Caller(ctx): Caller,
    Named(id): Named,
    Query(page): Query<RevisionsQuery>,
) -> Result<Json<RevisionsResponse>, ApiError> {
    let before: Option<u64> = parse_cursor(page.cursor.as_deref())?;
    let rows = page_rows(page.limit)?;
    let listed = knowledge::history(app.control(), &ctx, id, before, rows).await;
    let page = done(&app, &ctx, id.kind(), listed).await?;
    let revisions = page.items.into_iter();
    Ok(Json(RevisionsResponse {
        revisions: revisions.map(|one| head_response(one.revision)).collect(),
        next: page.next,
    }))
}

pub(crate) async fn show(
    State(app): State<App>,
    Caller(ctx): Caller,
    Named(id): Named,
    Path((_, number)): Path<(String, String)>,
) -> Result<Json<RevisionResponse>, ApiError> {
    let unknown = || ApiError::not_found("there is no such revision");
    let number: u64 = number.parse().map_err(|_| unknown())?;
    let found = knowledge::revision(app.control(), &ctx, id, number).await;
    let stored = done(&app, &ctx, id.kind(), found).await?;
    Ok(Json(revision_response(stored)))
}

pub(crate) async fn diff(
    State(app): State<App>,
    Caller(ctx): Caller,
    Named(id): Named,
    Query(query): Query<DiffQuery>,
) -> Result<Json<RevisionDiffResponse>, ApiError> {
    let to = match query.to {
        Some(to) => to,
        None => {
            let newest = knowledge::history(app.control(), &ctx, id, None, 1).await;
            let newest = done(&app, &ctx, id.kind(), newest).await?;
            newest.items.first().map_or(1, |one| one.revision.number)
        }
    };
    let from = query.from.unwrap_or_else(|| to.saturating_sub(1).max(1));
    let compared = knowledge::diff(app.control(), &ctx, id, from, to).await;
    let difference = done(&app, &ctx, id.kind(), compared).await?;
    Ok(Json(diff_response(difference)))
}

pub(crate) async fn restore(
    State(app): State<App>,
    Caller(ctx): Caller,
    Named(id): Named,
    Body(request): Body<RestoreRequest>,
) -> Result<Json<EntityResponse>, ApiError> {
    let number = request.revision.ok_or_else(|| {
        ApiError::invalid_field("revision", "is missing: the revision to go back to")
    })?;
    let base = request.base_revision;
    let restored = knowledge::restore(app.control(), &ctx, id, number, base).await;
    let entity = done(&app, &ctx, id.kind(), restored).await?;
    respond(&app, &ctx, entity, Shown::AsText).await.map(Json)
}

fn head_response(revision: Revision) -> RevisionHeadResponse {
    let vouched = revision.vouched;
    RevisionHeadResponse {
        revision: revision.number,
        at: revision.at.to_string(),
        by: revision.by,
        origin: revision.origin.as_str().into(),
        draft: draft_origin(&revision.origin),
        vouched_at: vouched.as_ref().map(|vouched| vouched.at.to_string()),
        vouched_by: vouched.map(|vouched| vouched.by),
        reason: revision.reason,
    }
}

fn revision_response(stored: StoredRevision) -> RevisionResponse {
    let fields = stored.fields;
    let mut response = RevisionResponse {
        head: head_response(stored.revision),
        title: fields.title.to_string(),
        body: fields.body.to_string(),
        project_id: fields.details.project_id().map(|id| id.to_string()),
        tags: fields.details.tags().map(words).unwrap_or_default(),
        path: None,
        state: None,
        due: None,
        url: None,
        agent: None,
    };
    match fields.details {
        Details::Project => {}
        Details::Space(SpaceDetails { agent }) => {
            response.agent = agent.map(|agent| agent.to_string());
        }
        Details::Page(PageDetails { path, .. }) => {
            response.path = path.map(|path| path.to_string());
        }
        Details::Task(TaskDetails { state, due, .. }) => {
            response.state = Some(state.as_str().into());
            response.due = due.map(|due| due.to_string());
        }
        Details::Ref(RefDetails { url, .. }) => response.url = Some(url.to_string()),
    }
    response
}

fn diff_response(difference: Difference) -> RevisionDiffResponse {
    let words = difference.words;
    let hidden = words.hidings();
    RevisionDiffResponse {
        from: head_response(difference.from),
        to: head_response(difference.to),
        unified: difference.unified,
        grain: grain_word(words.grain),
        words_added: words.words_added as u64,
        words_removed: words.words_removed as u64,
        hidden: hidden.iter().map(|one| one.words().to_owned()).collect(),
        spans: words.spans.into_iter().map(span_response).collect(),
    }
}

pub(super) fn grain_word(grain: DiffGrain) -> Word {
    match grain {
        DiffGrain::Words => "words".into(),
        DiffGrain::Lines => "lines".into(),
        DiffGrain::Whole => "whole".into(),
    }
}

pub(super) fn span_response(span: WordSpan) -> DiffSpanResponse {
    DiffSpanResponse {
        kind: match span.kind {
            SpanKind::Same => "same".into(),
            SpanKind::Added => "added".into(),
            SpanKind::Removed => "removed".into(),
        },
        text: span.text,
        hidings: span
            .hidings
            .into_iter()
            .map(|hiding| match hiding {
                Hiding::Invisible => "invisible".into(),
                Hiding::Bidirectional => "bidirectional".into(),
                Hiding::BlanksOnly => "blanks_only".into(),
                Hiding::LookAlike => "look_alike".into(),
            })
            .collect(),
    }
}
