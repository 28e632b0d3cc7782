//! `/api/spaces/{id}/vault…`: a folder of Markdown that comes in and goes out. Nothing here opens a path: the folder is where
//! the caller is, and what comes is what the caller read there.

use std::borrow::Cow;

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::routing::post;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::sync::OwnedSemaphorePermit;
use void_api::vault_files::{
    VAULT_REQUEST_BYTES_MAX, VaultAgreement, VaultConflict, VaultContent, VaultExportPlanResponse,
    VaultExportRequest, VaultExportResponse, VaultFileLine, VaultFolderRequest,
    VaultImportPlanResponse, VaultImportRequest, VaultImportResponse, VaultOutcome, VaultPlace,
    VaultRename, VaultStep, VaultWanted, VaultWrite,
};
use void_control::knowledge::{
    self, ConflictReason, ExportConflict, FileContent, FoundFile, FoundFolder, ImportStep,
    StepOutcome, VaultError, VaultFileKind, WantedFile,
};
use void_domain::digests::Digest;
use void_domain::knowledge::{EntityKind, VaultItem};
use void_domain::text;

use super::entities::{InSpace, knowledge_error};
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller};
use crate::table::{Access, Route, json, schema};

/// How long somebody who is one too many is told to wait.
const WAIT: std::time::Duration = std::time::Duration::from_secs(1);

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "POST",
        path: "/api/spaces/{id}/vault/import-plan",
        access: Access::Owner,
        operation: "planImport",
        summary: "What an import of this folder would do; nothing is changed",
        query: &[],
        request: Some(schema::<VaultFolderRequest>),
        response: json::<VaultImportPlanResponse>(),
        handler: || post(plan_import),
    },
    Route {
        method: "POST",
        path: "/api/spaces/{id}/vault/import",
        access: Access::Owner,
        operation: "importFiles",
        summary: "Take in files of a folder; each step is judged again, and what changed on both sides stays as it is",
        query: &[],
        request: Some(schema::<VaultImportRequest>),
        response: json::<VaultImportResponse>(),
        handler: || post(import),
    },
    Route {
        method: "POST",
        path: "/api/spaces/{id}/vault/export-plan",
        access: Access::Owner,
        operation: "planExport",
        summary: "What has to be written so that this folder has what the space has; nothing is changed",
        query: &[],
        request: Some(schema::<VaultFolderRequest>),
        response: json::<VaultExportPlanResponse>(),
        handler: || post(plan_export),
    },
    Route {
        method: "POST",
        path: "/api/spaces/{id}/vault/export",
        access: Access::Owner,
        operation: "exportFiles",
        summary: "The bytes of files that a plan of an export names",
        query: &[],
        request: Some(schema::<VaultExportRequest>),
        response: json::<VaultExportResponse>(),
        handler: || post(export),
    },
];

/// A place among the few requests of folders that are read at a time: each may be large.
pub(crate) struct Turn {
    _place: OwnedSemaphorePermit,
}

impl FromRequestParts<App> for Turn {
    type Rejection = ApiError;

    async fn from_request_parts(_: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let places = std::sync::Arc::clone(&app.shared().vault_requests);
        match places.try_acquire_owned() {
            Ok(place) => Ok(Self { _place: place }),
            Err(_) => Err(ApiError::held_back(
                "other imports and exports are under way",
                WAIT,
            )),
        }
    }
}

type FolderBody = Body<VaultFolderRequest, VAULT_REQUEST_BYTES_MAX>;

pub(crate) async fn plan_import(
    State(app): State<App>,
    Caller(ctx): Caller,
    InSpace(space): InSpace,
    _turn: Turn,
    Body(request): FolderBody,
) -> Result<Json<VaultImportPlanResponse>, ApiError> {
    let folder = found_folder(request)?;
    let plan = knowledge::review_import(app.control(), &ctx, space, folder);
    let plan = plan.await.map_err(vault_error)?;
    let place = |path: &knowledge::VaultPath, kind: &'static str| VaultPlace {
        path: path.as_str().to_owned(),
        kind: kind.into(),
    };
    let agree = plan.unchanged.iter().filter_map(|step| {
        let sha256 = step.new_base?.to_string();
        Some(agreement(step.path.as_str(), step.key, sha256))
    });
    Ok(Json(VaultImportPlanResponse {
        agree: agree.collect(),
        unchanged: plan.unchanged.len() as u64,
        create: plan
            .create
            .iter()
            .map(|step| place(&step.file.path, step.file.kind.as_str()))
            .collect(),
        update: plan
            .update
            .iter()
            .map(|step| place(&step.path, step.key.kind()))
            .collect(),
        rename: plan
            .rename
            .iter()
            .map(|step| VaultRename {
                from: step.from.as_str().to_owned(),
                to: step.to.as_str().to_owned(),
            })
            .collect(),
        gone: plan
            .gone
            .iter()
            .map(|step| place(&step.path, step.key.kind()))
            .collect(),
        conflicts: plan
            .conflicts
            .iter()
            .map(|one| VaultConflict {
                path: one.path.as_str().to_owned(),
                reason: import_word(one.reason).into(),
                message: one.reason.to_string(),
            })
            .collect(),
    }))
}

fn agreement(path: &str, item: VaultItem, sha256: String) -> VaultAgreement {
    VaultAgreement {
        path: path.to_owned(),
        kind: item.kind().into(),
        id: item.id(),
        sha256,
    }
}

const fn import_word(reason: ConflictReason) -> &'static str {
    match reason {
        ConflictReason::BothChanged => "both_changed",
        ConflictReason::BothCreated => "both_created",
        ConflictReason::DeletedInVoid => "deleted_here",
        ConflictReason::GoneFromFolder => "gone_and_edited",
        ConflictReason::Unread => "unread",
    }
}

const fn export_word(reason: ExportConflict) -> &'static str {
    match reason {
        ExportConflict::ChangedInFolder => "changed_in_folder",
        ExportConflict::Twin => "twin",
        ExportConflict::Unread => "unread",
    }
}

fn found_folder(request: VaultFolderRequest) -> Result<FoundFolder, ApiError> {
    let lines = request.files.ok_or_else(|| {
        ApiError::invalid_field(
            "files",
            "is missing: what is in the folder, also if that is nothing",
        )
    })?;
    let file = |line: String| {
        let read = VaultFileLine::read(&line).and_then(|one| {
            Some(FoundFile {
                path: one.path.to_owned(),
                kind: VaultFileKind::parse(one.kind)?,
                hash: one.sha256.parse().ok()?,
            })
        });
        read.ok_or_else(|| {
            let shown = text::escaped(text::cut(&line, 200));
            ApiError::invalid_field("files", format!("is no hash, kind and path: {shown}"))
        })
    };
    Ok(FoundFolder {
        files: lines.into_iter().map(file).collect::<Result<_, _>>()?,
        unread: request.unread,
    })
}

pub(crate) async fn import(
    State(app): State<App>,
    Caller(ctx): Caller,
    InSpace(space): InSpace,
    _turn: Turn,
    Body(request): Body<VaultImportRequest, VAULT_REQUEST_BYTES_MAX>,
) -> Result<Json<VaultImportResponse>, ApiError> {
    let steps = request
        .steps
        .ok_or_else(|| ApiError::invalid_field("steps", "is missing: what is to be done"))?;
    let paths: Vec<String> = steps.iter().map(|step| step.path.clone()).collect();
    let steps = steps.into_iter().map(import_step);
    let steps = steps.collect::<Result<_, _>>()?;
    let outcomes = knowledge::apply_import(app.control(), &ctx, space, steps);
    let outcomes = outcomes.await.map_err(vault_error)?;
    let outcomes = paths.into_iter().zip(outcomes).map(outcome_response);
    Ok(Json(VaultImportResponse {
        outcomes: outcomes.collect(),
    }))
}

fn import_step(step: VaultStep) -> Result<ImportStep, ApiError> {
    let wrong = |problem: &str| {
        let shown = text::escaped(text::cut(&step.path, 200));
        ApiError::invalid_field("steps", format!("{problem}: {shown}"))
    };
    let item = match (&step.kind, &step.id) {
        (None, None) => None,
        (Some(kind), Some(id)) => {
            let item = VaultItem::parse(kind, id);
            Some(item.ok_or_else(|| wrong("names nothing that has a file"))?)
        }
        (Some(_), None) | (None, Some(_)) => {
            return Err(wrong("has a kind or an id without the other"));
        }
    };
    match (
        step.step.as_ref(),
        step.to,
        step.text,
        step.content,
        step.sha256,
    ) {
        ("put", None, Some(text), None, None) => Ok(ImportStep::Put {
            path: step.path,
            bytes: text.into_bytes(),
        }),
        ("put", None, None, Some(content), None) => match STANDARD.decode(content) {
            Ok(bytes) => Ok(ImportStep::Put {
                path: step.path,
                bytes,
            }),
            Err(_) => Err(wrong("has a content that is no base64")),
        },
        ("move", Some(to), None, None, None) => Ok(ImportStep::Move {
            from: step.path,
            to,
        }),
        ("remove", None, None, None, None) => Ok(ImportStep::Remove { path: step.path }),
        ("agree", None, None, None, Some(hash)) => match hash.parse::<Digest>() {
            Ok(hash) => Ok(ImportStep::Agree {
                path: step.path,
                item,
                hash,
            }),
            Err(_) => Err(wrong("has a hash that is none")),
        },
        _ => Err(wrong("is no step, or has what its step has not")),
    }
}

fn outcome_response((path, outcome): (String, StepOutcome)) -> VaultOutcome {
    let (word, reason, message) = match outcome {
        StepOutcome::Created => ("created", None, None),
        StepOutcome::Updated => ("updated", None, None),
        StepOutcome::Moved => ("moved", None, None),
        StepOutcome::Removed => ("removed", None, None),
        StepOutcome::Agreed => ("agreed", None, None),
        StepOutcome::Unchanged => ("unchanged", None, None),
        StepOutcome::Conflict(why) => ("conflict", Some(why.as_str()), Some(why.to_string())),
        StepOutcome::Refused(why) => ("refused", None, Some(why.to_string())),
    };
    VaultOutcome {
        path,
        outcome: word.into(),
        reason: reason.map(Cow::Borrowed),
        message,
    }
}

pub(crate) async fn plan_export(
    State(app): State<App>,
    Caller(ctx): Caller,
    InSpace(space): InSpace,
    _turn: Turn,
    Body(request): FolderBody,
) -> Result<Json<VaultExportPlanResponse>, ApiError> {
    let folder = found_folder(request)?;
    let plan = knowledge::review_export(app.control(), &ctx, space, folder);
    let plan = plan.await.map_err(vault_error)?;
    Ok(Json(VaultExportPlanResponse {
        write: plan
            .write
            .into_iter()
            .map(|step| VaultWrite {
                path: step.path.as_str().to_owned(),
                kind: step.key.kind().into(),
                id: step.key.id(),
                replaces: step.replaces.map(|hash| hash.to_string()),
            })
            .collect(),
        agree: plan
            .agree
            .into_iter()
            .map(|(path, item, hash)| agreement(path.as_str(), item, hash.to_string()))
            .collect(),
        conflicts: plan
            .conflicts
            .into_iter()
            .map(|(path, reason)| VaultConflict {
                path: path.as_str().to_owned(),
                reason: export_word(reason).into(),
                message: reason.to_string(),
            })
            .collect(),
        unchanged: plan.unchanged as u64,
        projects_left_out: plan.projects_left_out,
    }))
}

pub(crate) async fn export(
    State(app): State<App>,
    Caller(ctx): Caller,
    InSpace(space): InSpace,
    _turn: Turn,
    Body(request): Body<VaultExportRequest>,
) -> Result<Json<VaultExportResponse>, ApiError> {
    let files = request
        .files
        .ok_or_else(|| ApiError::invalid_field("files", "is missing: which files are wanted"))?;
    let wanted = files.into_iter().map(|VaultWanted { path, kind, id }| {
        match VaultItem::parse(&kind, &id) {
            Some(item) => Ok(WantedFile { item, path }),
            None => Err(ApiError::invalid_field(
                "files",
                "names nothing that has a file",
            )),
        }
    });
    let wanted = wanted.collect::<Result<_, _>>()?;
    let found = knowledge::export_content(app.control(), &ctx, space, wanted);
    let found = found.await.map_err(vault_error)?;
    Ok(Json(VaultExportResponse {
        files: found.into_iter().map(content_response).collect(),
    }))
}

fn content_response(file: FileContent) -> VaultContent {
    let sha256 = file
        .bytes
        .as_deref()
        .map(|bytes| Digest::of(bytes).to_string());
    let (text, content) = match file.bytes.map(String::from_utf8) {
        None => (None, None),
        Some(Ok(text)) => (Some(text), None),
        Some(Err(bytes)) => (None, Some(STANDARD.encode(bytes.as_bytes()))),
    };
    VaultContent {
        path: file.path,
        sha256,
        text,
        content,
    }
}

fn vault_error(error: VaultError) -> ApiError {
    let message = text::escaped(&error.to_string());
    match error {
        VaultError::Path { .. } => ApiError::invalid_field("path", message),
        VaultError::Plan(_) | VaultError::TooManyFiles => ApiError::invalid_field("files", message),
        VaultError::TooManySteps => ApiError::invalid_field("steps", message),
        VaultError::Knowledge(error) => knowledge_error(error, EntityKind::Space),
    }
}
