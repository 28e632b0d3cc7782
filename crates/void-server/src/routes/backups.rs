//! `/api/backups`: copies of the database.

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use void_api::backups::{BackupResponse, BackupsResponse, CopyResponse};
use void_control::StoreError;
use void_control::backups::{self, Copy};
use void_domain::failures::FailureCode;

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::Caller;
use crate::table::{Access, Route, json};

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

fn copy_response(copy: &Copy) -> CopyResponse {
    CopyResponse {
        file: copy.path.display().to_string(),
        made_at: copy.made_at.to_string(),
        bytes: copy.bytes,
    }
}

pub(crate) async fn list(State(app): State<App>) -> Json<BackupsResponse> {
    Json(BackupsResponse {
        backups: backups::list(app.control())
            .iter()
            .map(copy_response)
            .collect(),
    })
}

pub(crate) async fn create(
    State(app): State<App>,
    Caller(ctx): Caller,
) -> Result<Json<BackupResponse>, ApiError> {
    if backups::are_switched_off(app.control()) {
        return Err(
            ApiError::new(FailureCode::BackupsOff, "backups are switched off").hint(
                "set enabled = true under [backups] in void.toml, then start the server again",
            ),
        );
    }
    match backups::create(app.control(), &ctx).await {
        Ok(made) => Ok(Json(BackupResponse {
            copy: copy_response(&made.copy),
            audit_seq: made.audit_seq,
            audit_hash: made.audit_hash.to_string(),
        })),
        // These say what to do instead, and hold no data.
        Err(StoreError::Unavailable(text) | StoreError::ReadOnly(text)) => {
            Err(ApiError::new(FailureCode::Unavailable, text))
        }
        Err(error) => Err(error.into()),
    }
}
