//! `/api/audit`: the record. An agent that may read it sees of each entry what Void made, and none of what
//! somebody or a machine wrote.

use axum::Json;
use axum::body::{Body as HttpBody, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use futures_util::{StreamExt as _, stream};
use serde::Deserialize;
use void_api::audit::{
    AuditResponse, EntryResponse, HeadResponse, VerdictMismatch, VerdictProblem, VerdictResponse,
};
use void_control::audit::{self, FactFilter, ReadError};
use void_control::{Control, Ctx, StoreError};
use void_domain::facts::Fact;

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Caller, Query, Segment, page_rows, parse_cursor};
use crate::table::{Access, CURSOR, Content, LIMIT, Parameter, Route, json};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/audit",
        access: Access::Audit,
        operation: "listAudit",
        summary: "The record, newest first, with its head",
        query: &[
            Parameter {
                name: "subject",
                kind: "string",
                meaning: "only entries about this id",
            },
            Parameter {
                name: "actor",
                kind: "string",
                meaning: "only entries whose actor begins so",
            },
            Parameter {
                name: "verb",
                kind: "string",
                meaning: "only entries whose verb begins so",
            },
            CURSOR,
            LIMIT,
        ],
        request: None,
        response: json::<AuditResponse>(),
        handler: || get(list),
    },
    Route {
        method: "GET",
        path: "/api/audit/{seq}",
        access: Access::Audit,
        operation: "getAuditEntry",
        summary: "One entry of the record",
        query: &[],
        request: None,
        response: json::<EntryResponse>(),
        handler: || get(show),
    },
    Route {
        method: "GET",
        path: "/api/audit-verify",
        access: Access::Owner,
        operation: "verifyAudit",
        summary: "Walks the whole record and recomputes every hash",
        query: &[],
        request: None,
        response: json::<VerdictResponse>(),
        handler: || get(verify),
    },
    Route {
        method: "GET",
        path: "/api/audit-export",
        access: Access::Owner,
        operation: "exportAudit",
        summary: "The whole record as JSON lines, for an offline check with void-verify",
        query: &[Parameter {
            name: "after",
            kind: "integer",
            meaning: "begin after this entry",
        }],
        request: None,
        response: Content::Text("application/x-ndjson"),
        handler: || get(export),
    },
];

const EXPORT_PAGE: u32 = 2_000;

/// An entry without some of its words still has the hash of all of them, and the next one has it as `prev`.
fn entry_response(ctx: &Ctx, entry: Fact) -> EntryResponse {
    let shows_hashes = ctx.actor.is_owner();
    EntryResponse {
        seq: entry.seq,
        at: entry.at.to_string(),
        request_id: entry.request_id,
        actor: entry.actor,
        verb: entry.verb,
        subject: entry.subject,
        detail: serde_json::from_str(&entry.detail).unwrap_or_default(),
        catalogue: entry.catalogue,
        prev: shows_hashes.then(|| entry.prev.to_string()),
        hash: shows_hashes.then(|| entry.hash.to_string()),
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuditQuery {
    subject: Option<String>,
    #[serde(default)]
    actor: String,
    #[serde(default)]
    verb: String,
    cursor: Option<String>,
    limit: Option<u32>,
}

pub(crate) async fn list(
    State(app): State<App>,
    Caller(ctx): Caller,
    Query(query): Query<AuditQuery>,
) -> Result<Json<AuditResponse>, ApiError> {
    let cursor: Option<u64> = parse_cursor(query.cursor.as_deref())?;
    let limit = page_rows(query.limit)?;
    let filter = FactFilter {
        subject: query.subject,
        actor: query.actor,
        verb: query.verb,
    };
    let page = audit::read(app.control(), &ctx, filter, cursor, limit)
        .await
        .map_err(read_error)?;
    let (seq, hash) = audit::head(app.control()).await?;
    Ok(Json(AuditResponse {
        entries: page
            .items
            .into_iter()
            .map(|entry| entry_response(&ctx, entry))
            .collect(),
        next: page.next,
        head: ctx.actor.is_owner().then(|| HeadResponse {
            seq,
            hash: hash.to_string(),
        }),
    }))
}

pub(crate) async fn show(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(seq): Segment,
) -> Result<Json<EntryResponse>, ApiError> {
    let missing = || ApiError::not_found("there is no such entry").hint("void audit ls");
    let seq: u64 = seq.parse().map_err(|_| missing())?;
    let found = audit::read_one(app.control(), &ctx, seq);
    let entry = found.await.map_err(read_error)?.ok_or_else(missing)?;
    Ok(Json(entry_response(&ctx, entry)))
}

pub(crate) async fn verify(State(app): State<App>) -> Result<Json<VerdictResponse>, ApiError> {
    // A long record is a long walk; one at a time is enough.
    let _alone = app.shared().walks.lock().await;
    let walk = audit::verify(app.control()).await?;
    let (seq, hash) = walk.head;
    Ok(Json(VerdictResponse {
        intact: walk.broken.is_none(),
        checked: walk.checked,
        head: HeadResponse {
            seq,
            hash: hash.to_string(),
        },
        problem: walk.broken.map(|(seq, why)| VerdictProblem {
            seq,
            message: why.to_owned(),
        }),
        set_aside: walk.set_aside,
        mismatches: walk
            .mismatches
            .named
            .into_iter()
            .map(|found| VerdictMismatch {
                table: found.table.into(),
                id: found.id,
                message: found.message,
            })
            .collect(),
        mismatches_total: walk.mismatches.total,
        at: app.control().clock().now().to_string(),
    }))
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportQuery {
    after: Option<u64>,
}

/// Streams page by page, so the length of the record does not matter. An export that cannot be
/// finished breaks off, so that nobody takes it for the whole record.
pub(crate) async fn export(
    State(app): State<App>,
    Query(query): Query<ExportQuery>,
) -> Result<Response, ApiError> {
    let control = app.control().clone();
    // Read before the answer begins, so that its error still has a status.
    let first = page_after(&control, query.after.unwrap_or(0)).await?;
    let last = first.as_ref().map(|(_, last)| *last);
    let rest = stream::try_unfold((control, last), |(control, last)| async move {
        let Some(last) = last else { return Ok(None) };
        let page = page_after(&control, last)
            .await
            .inspect_err(|error| tracing::error!(%error, "an export of the record broke off"))?;
        Ok(page.map(|(lines, last)| (lines, (control, Some(last)))))
    });
    let first = stream::iter(first.map(|(lines, _)| Ok::<_, StoreError>(lines)));
    Ok((
        [(header::CONTENT_TYPE, "application/x-ndjson")],
        HttpBody::from_stream(first.chain(rest)),
    )
        .into_response())
}

/// The lines of the next entries and the number of the last of them.
async fn page_after(control: &Control, after: u64) -> Result<Option<(Bytes, u64)>, StoreError> {
    let page = audit::export(control, after, EXPORT_PAGE).await?;
    Ok(page.map(|(lines, last)| (Bytes::from(lines), last)))
}

fn read_error(error: ReadError) -> ApiError {
    match error {
        ReadError::Forbidden => ApiError::forbidden(error.to_string()),
        ReadError::Store(error) => error.into(),
    }
}
