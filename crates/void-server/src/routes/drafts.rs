//! `/api/spaces/{id}/drafts`: somebody wants what the owner keeps to say something else. Nothing is written: it becomes a
//! proposal that waits, for whoever drafts it, the owner too. Tools draft by the same use case.

use axum::Json;
use axum::extract::State;
use axum::routing::post;
use void_api::drafts::{DraftFields, DraftRequest};
use void_api::entities::TEXT_REQUEST_BYTES_MAX;
use void_api::proposals::RowResponse;
use void_control::Ctx;
use void_control::knowledge;
use void_control::proposals::{
    self, KnowledgeRequest, ProposeKnowledgeError, Proposed, WantedChange,
};
use void_domain::changes::ChangeOp;
use void_domain::changes::knowledge::InvalidKnowledgeChange;
use void_domain::failures::FailureCode;
use void_domain::ids::SpaceId;
use void_domain::knowledge::{EntityId, EntityKind, FieldsPatch, TextEdit};
use void_domain::taint::Taint;

use super::actions::current;
use super::entities::{InSpace, Members, Shown, invalid_fields, knowledge_error, no_such, respond};
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller};
use crate::table::{Access, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[Route {
    method: "POST",
    path: "/api/spaces/{id}/drafts",
    access: Access::Suggest,
    operation: "draftChange",
    summary: "Draft a change of something in a space; it waits for the owner",
    query: &[],
    request: Some(schema::<DraftRequest>),
    response: json::<RowResponse>(),
    handler: || post(draft),
}];

pub(crate) async fn draft(
    State(app): State<App>,
    Caller(ctx): Caller,
    InSpace(space): InSpace,
    Body(request): Body<DraftRequest, TEXT_REQUEST_BYTES_MAX>,
) -> Result<Json<RowResponse>, ApiError> {
    let (kind, op) = kind_and_op(&request)?;
    let reason = request.reason.clone();
    let wanted = wanted(kind, op, space, request)?;
    if let WantedChange::Update { id, .. } | WantedChange::Delete { id, .. } = &wanted {
        let found = knowledge::find(app.control(), &ctx, *id).await;
        let found = found.map_err(|error| knowledge_error(error, kind))?;
        if found.head.space_id != space {
            return Err(no_such(kind));
        }
    }
    let request = KnowledgeRequest {
        wanted,
        reason,
        taint: Taint::clean(),
        turn: None,
    };
    match proposals::propose_knowledge(app.control(), &ctx, request).await {
        Ok(Proposed::Queued(proposal) | Proposed::Started(proposal)) => {
            current(app.control(), &ctx, proposal.id).await.map(Json)
        }
        Ok(Proposed::Refused(refusal, proposal)) => {
            let row = current(app.control(), &ctx, proposal.id).await?;
            Err(ApiError::new(refusal.code(), refusal.message()).row(row))
        }
        Err(error) => Err(draft_error(&app, &ctx, kind, error).await),
    }
}

fn kind_and_op(request: &DraftRequest) -> Result<(EntityKind, ChangeOp), ApiError> {
    let kind = request.entity.as_deref().and_then(EntityKind::parse);
    let kind = kind.ok_or_else(|| {
        ApiError::invalid_field("entity", "must be page, task, ref, project or space")
    })?;
    let op = request.op.as_deref();
    let op = ChangeOp::ALL
        .into_iter()
        .find(|one| op == Some(one.as_str()));
    let op = op.ok_or_else(|| ApiError::invalid_field("op", "must be create, update or delete"))?;
    Ok((kind, op))
}

fn wanted(
    kind: EntityKind,
    op: ChangeOp,
    space: SpaceId,
    request: DraftRequest,
) -> Result<WantedChange, ApiError> {
    if op == ChangeOp::Create {
        return create(kind, space, request);
    }
    let id = request.id.as_deref();
    let id = id.ok_or_else(|| ApiError::invalid_field("id", "is missing: which one"))?;
    let id = EntityId::parse(kind, id).map_err(|_| no_such(kind))?;
    let base = request.base_revision;
    if op == ChangeOp::Delete {
        return match (request.fields, request.edits.is_empty()) {
            (None, true) => Ok(WantedChange::Delete { id, base }),
            _ => Err(ApiError::invalid_field(
                "fields",
                "and edits say nothing of what is thrown away",
            )),
        };
    }
    let edits = request.edits.into_iter().map(|edit| TextEdit {
        find: edit.find,
        replace: edit.replace,
    });
    Ok(WantedChange::Update {
        id,
        base,
        fields: patch(request.fields)?,
        edits: edits.collect(),
    })
}

fn create(
    kind: EntityKind,
    space: SpaceId,
    request: DraftRequest,
) -> Result<WantedChange, ApiError> {
    for (name, is_said, problem) in [
        ("id", request.id.is_some(), "is given to what is new"),
        (
            "base_revision",
            request.base_revision.is_some(),
            "is of what is there already",
        ),
        ("edits", !request.edits.is_empty(), "need a text to change"),
        (
            "entity",
            kind == EntityKind::Space,
            "must be something in a space; a space is made in none",
        ),
    ] {
        if is_said {
            return Err(ApiError::invalid_field(name, problem));
        }
    }
    Ok(WantedChange::Create {
        kind,
        space_id: Some(space),
        fields: patch(request.fields)?,
    })
}

pub(super) fn patch(fields: Option<DraftFields>) -> Result<FieldsPatch, ApiError> {
    let fields = fields.unwrap_or_default();
    let mut members = Members::default();
    let patch = FieldsPatch {
        title: members.title(fields.title),
        body: members.body(fields.body),
        project_id: members.project_id(fields.project_id),
        tags: members.tags(fields.tags),
        path: members.path(fields.path),
        state: members.state(fields.state),
        due: members.due(fields.due),
        url: members.url(fields.url),
        agent: members.agent(fields.agent),
    };
    members.end()?;
    Ok(patch)
}

async fn draft_error(
    app: &App,
    ctx: &Ctx,
    kind: EntityKind,
    error: ProposeKnowledgeError,
) -> ApiError {
    let message = error.to_string();
    match error {
        ProposeKnowledgeError::Refused(refusal) => ApiError::new(refusal.code(), refusal.message()),
        ProposeKnowledgeError::NotFound => no_such(kind),
        ProposeKnowledgeError::Moved(there) => {
            let moved = ApiError::new(FailureCode::Changed, message);
            match respond(app, ctx, *there, Shown::AsText).await {
                Ok(row) => moved.entity(row),
                Err(error) => error,
            }
        }
        ProposeKnowledgeError::Invalid(wrong) => invalid_draft(wrong),
        ProposeKnowledgeError::ReasonTooLong => ApiError::reason_too_long(),
        ProposeKnowledgeError::TooManyRows(error) => ApiError::too_many_rows(&error),
        ProposeKnowledgeError::Store(error) => error.into(),
    }
}

pub(super) fn invalid_draft(wrong: InvalidKnowledgeChange) -> ApiError {
    let message = wrong.to_string();
    match wrong {
        InvalidKnowledgeChange::Fields(wrong) => invalid_fields(wrong),
        InvalidKnowledgeChange::Edit(_) => ApiError::invalid_field("edits", message),
        InvalidKnowledgeChange::Field(name, wrong) => {
            ApiError::invalid_field(name, wrong.to_string())
        }
        InvalidKnowledgeChange::Same
        | InvalidKnowledgeChange::PatchTooLarge
        | InvalidKnowledgeChange::Unpatchable
        | InvalidKnowledgeChange::TooDifferent(_) => ApiError::invalid_field("fields", message),
    }
}
