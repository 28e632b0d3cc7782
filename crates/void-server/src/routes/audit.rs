//! `/api/audit`: the record. An agent that may read it sees of each entry what Void made, and none of what
//! somebody or a machine wrote.

use axum::Json;
use axum::body::{Body as HttpBody, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use void_control::audit::{self, AuditFilter, ReadError};
use void_control::{Control, StoreError};
use void_domain::audit::AuditEntry;

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Caller, Query, Segment, page_rows, parse_cursor};

const EXPORT_PAGE: u32 = 500;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AuditResponse {
    pub entries: Vec<EntryResponse>,
    pub next: Option<String>,
    pub head: HeadResponse,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HeadResponse {
    pub seq: u64,
    pub hash: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AuditEntry")]
pub(crate) struct EntryResponse {
    pub seq: u64,
    pub at: String,
    pub request_id: Option<String>,
    pub actor: String,
    pub verb: String,
    pub subject: Option<String>,
    pub detail: Value,
    pub catalogue: Option<String>,
    pub prev: String,
    pub hash: String,
}

impl EntryResponse {
    fn new(entry: AuditEntry) -> Self {
        Self {
            seq: entry.seq,
            at: entry.at.to_string(),
            request_id: entry.request_id,
            actor: entry.actor,
            verb: entry.verb,
            subject: entry.subject,
            detail: serde_json::from_str(&entry.detail).unwrap_or_default(),
            catalogue: entry.catalogue,
            prev: entry.prev.to_string(),
            hash: entry.hash.to_string(),
        }
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
    let filter = AuditFilter {
        subject: query.subject,
        actor: query.actor,
        verb: query.verb,
    };
    let page = audit::read(app.control(), &ctx, filter, cursor, limit)
        .await
        .map_err(read_error)?;
    let (seq, hash) = audit::head(app.control()).await?;
    Ok(Json(AuditResponse {
        entries: page.items.into_iter().map(EntryResponse::new).collect(),
        next: page.next,
        head: HeadResponse {
            seq,
            hash: hash.to_string(),
        },
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
    Ok(Json(EntryResponse::new(entry)))
}

fn read_error(error: ReadError) -> ApiError {
    match error {
        ReadError::Forbidden => ApiError::forbidden(&error.to_string()),
        ReadError::Store(error) => error.into(),
    }
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AuditVerdict")]
pub(crate) struct VerdictResponse {
    /// Every entry up to the head is as it was written, and nothing stands beyond it. That the head itself is the right one is shown
    /// by a copy of it that is kept elsewhere.
    pub intact: bool,
    pub checked: u64,
    pub head: HeadResponse,
    pub problem: Option<VerdictProblem>,
    /// Rows that stood beyond the head, which Void did not write: kept in the table `audit_strays`, each
    /// time with an entry `audit.strays_set_aside`.
    pub set_aside: u64,
    /// Rows of proposals, tokens and the freeze that do not say what the record says: somebody edited the
    /// database. The first hundred are named.
    pub mismatches: Vec<VerdictMismatch>,
    pub mismatches_total: u64,
    pub at: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct VerdictMismatch {
    pub table: &'static str,
    pub id: String,
    pub message: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct VerdictProblem {
    pub seq: u64,
    pub message: String,
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
                table: found.table,
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
    let entries = audit::after(control, after, EXPORT_PAGE).await?;
    let mut lines = String::with_capacity(entries.len() * 512);
    for entry in &entries {
        lines.push_str(&entry.export_line());
        lines.push('\n');
    }
    Ok(entries.last().map(|last| (Bytes::from(lines), last.seq)))
}
