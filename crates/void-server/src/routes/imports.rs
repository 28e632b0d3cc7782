//! `/api/spaces/{id}/refs/file` and `/api/spaces/{id}/import/karakeep`: files that become refs and pages. And how capturing a page
//! of the web is answered, for the route that makes a ref.

use axum::Json;
use axum::extract::{Request, State};
use axum::routing::post;
use serde::Deserialize;
use void_api::attachments::KarakeepImportResponse;
use void_api::entity_responses::EntityResponse;
use void_api::refs::RefResponse;
use void_capture::CaptureError;
use void_control::knowledge::{
    self, ImportRun, KarakeepError, KarakeepReport, KeepRefError, RefFile, RefOptions,
};
use void_domain::failures::FailureCode;
use void_domain::knowledge::{EntityKind, Tags};

use super::attachments::{NAME, be_there, file_name, problem, receive};
use super::entities::{InSpace, Members, Shown, knowledge_error, respond};
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Caller, Query};
use crate::table::{Access, Parameter, Route, json};

const TITLE: Parameter = Parameter {
    name: "title",
    kind: "string",
    meaning: "what the ref is called; what the file says of itself if left out",
};
const URL: Parameter = Parameter {
    name: "url",
    kind: "string",
    meaning: "the address that the file came from",
};
const DRY_RUN: Parameter = Parameter {
    name: "dry_run",
    kind: "string",
    meaning: "true: nothing is written, and the answer says what would be",
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "POST",
        path: "/api/spaces/{id}/refs/file",
        access: Access::Owner,
        operation: "keepFile",
        summary: "Keep a PDF, a page or a text as a ref, sent as raw bytes: 20 MiB at most",
        query: &[NAME, TITLE, URL],
        request: None,
        response: json::<RefResponse>(),
        handler: || post(keep_file),
    },
    Route {
        method: "POST",
        path: "/api/spaces/{id}/import/karakeep",
        access: Access::Owner,
        operation: "importKarakeep",
        summary: "Import an export of Karakeep, its JSON or a zip archive with it, sent as raw bytes; again, only what changed",
        query: &[DRY_RUN],
        request: None,
        response: json::<KarakeepImportResponse>(),
        handler: || post(karakeep),
    },
];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileQuery {
    name: Option<String>,
    title: Option<String>,
    url: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportQuery {
    #[serde(default)]
    dry_run: bool,
}

pub(crate) async fn keep_file(
    State(app): State<App>,
    Caller(ctx): Caller,
    InSpace(space): InSpace,
    Query(query): Query<FileQuery>,
    request: Request,
) -> Result<Json<EntityResponse>, ApiError> {
    be_there(&app, &ctx, space).await?;
    let mut members = Members::default();
    let (title, url) = (members.title(query.title), members.url(query.url));
    members.end()?;
    let file = RefFile {
        name: file_name(query.name)?,
        url,
        title,
        content: receive(&app, request).await?.into(),
    };
    let options = RefOptions {
        space_id: space,
        project_id: None,
        tags: Tags::default(),
        reason: None,
    };
    let kept = knowledge::keep_file(app.control(), app.captures(), &ctx, file, options).await;
    let kept = kept.map_err(not_kept)?;
    respond(&app, &ctx, kept, Shown::AsText).await.map(Json)
}

pub(crate) async fn karakeep(
    State(app): State<App>,
    Caller(ctx): Caller,
    InSpace(space): InSpace,
    Query(query): Query<ImportQuery>,
    request: Request,
) -> Result<Json<KarakeepImportResponse>, ApiError> {
    be_there(&app, &ctx, space).await?;
    let run = match query.dry_run {
        true => ImportRun::Dry,
        false => ImportRun::Writing,
    };
    let file = receive(&app, request).await?;
    let (control, captures) = (app.control(), app.captures());
    let imported = knowledge::import_karakeep(control, captures, &ctx, (space, run), &file).await;
    let report = imported.map_err(|error| match error {
        KarakeepError::Capture(error) => not_captured(&error),
        KarakeepError::Knowledge(error) => knowledge_error(error, EntityKind::Space),
    })?;
    Ok(Json(report_response(report, query.dry_run)))
}

fn report_response(report: KarakeepReport, dry_run: bool) -> KarakeepImportResponse {
    KarakeepImportResponse {
        dry_run,
        created: report.created,
        changed: report.changed,
        unchanged: report.unchanged,
        kept: report.kept,
        thrown_away: report.thrown_away,
        repeated: report.repeated,
        left_out: report.left_out,
        cut: report.is_cut,
    }
}

pub(super) fn not_kept(error: KeepRefError) -> ApiError {
    let message = error.to_string();
    match error {
        KeepRefError::NotReadable => ApiError::new(FailureCode::ExtractUnreadable, message)
            .hint("void kb attach keeps any file"),
        KeepRefError::Capture(error) => not_captured(&error),
        KeepRefError::File(error) => problem(error),
    }
}

/// Its code is one of the table; a test holds the two together.
fn not_captured(error: &CaptureError) -> ApiError {
    let code = FailureCode::parse(error.code()).unwrap_or(FailureCode::Internal);
    let told = ApiError::new(code, error.to_string());
    match code {
        FailureCode::CaptureAddressRefused | FailureCode::CapturePortRefused => {
            told.hint("to let it in, put its host (and port) into allowed under [captures] in void.toml, then void reload")
        }
        FailureCode::ExtractPdfReaderMissing => told.hint("apt install poppler-utils"),
        FailureCode::ExtractNotConfined | FailureCode::ExtractNotStarted => {
            tracing::error!(%error, "foreign bytes cannot be read here");
            told.hint("void doctor")
        }
        _ => told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_of_a_capture_is_in_the_table() {
        for code in void_capture::CODES {
            let known = FailureCode::parse(code).unwrap_or_else(|| panic!("{code}"));
            assert!(known.http().is_some(), "{code}");
        }
    }
}
