//! `/api/backups`: copies of the database.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use schemars::JsonSchema;
use serde::Serialize;
use void_control::StoreError;
use void_control::backups::{self, Copy};

use crate::access::Access;
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::Caller;
use crate::table::{Route, json};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/backups",
        access: Access::Owner,
        operation: "listBackups",
        summary: "Copies of the database, newest first",
        query: &[],
        request: None,
        response: json::<BackupsResponse>(),
        handler: || get(list),
    },
    Route {
        method: "POST",
        path: "/api/backups",
        access: Access::Owner,
        operation: "createBackup",
        summary: "Make a checked copy of the database now",
        query: &[],
        request: None,
        response: json::<BackupResponse>(),
        handler: || post(create),
    },
];

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BackupsResponse {
    pub backups: Vec<CopyResponse>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CopyResponse {
    pub file: String,
    pub made_at: String,
    pub bytes: u64,
}

impl CopyResponse {
    fn new(copy: &Copy) -> Self {
        Self {
            file: copy.path.display().to_string(),
            made_at: copy.made_at.to_string(),
            bytes: copy.bytes,
        }
    }
}

pub(crate) async fn list(State(app): State<App>) -> Json<BackupsResponse> {
    Json(BackupsResponse {
        backups: backups::list(app.control())
            .iter()
            .map(CopyResponse::new)
            .collect(),
    })
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BackupResponse {
    #[serde(flatten)]
    pub copy: CopyResponse,
    /// The audit head that the copy holds; it was walked from the first entry.
    pub audit_seq: u64,
    pub audit_hash: String,
}

pub(crate) async fn create(
    State(app): State<App>,
    Caller(ctx): Caller,
) -> Result<Json<BackupResponse>, ApiError> {
    if backups::are_switched_off(app.control()) {
        return Err(
            ApiError::conflict("backups_off", "backups are switched off").hint(
                "set enabled = true under [backups] in void.toml, then start the server again",
            ),
        );
    }
    match backups::create(app.control(), &ctx).await {
        Ok(made) => Ok(Json(BackupResponse {
            copy: CopyResponse::new(&made.copy),
            audit_seq: made.audit_seq,
            audit_hash: made.audit_hash.to_string(),
        })),
        // These say what to do instead, and hold no data.
        Err(StoreError::Unavailable(text) | StoreError::ReadOnly(text)) => Err(ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "unavailable",
            text,
        )),
        Err(error) => Err(error.into()),
    }
}
