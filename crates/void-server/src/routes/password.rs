//! `/api/password`: the owner's, beside or instead of passkeys.

use axum::Json;
use axum::extract::State;
use axum::routing::{delete, put};
use void_access::passwords;
use void_api::password::{PasswordRequest, PasswordResponse};
use void_domain::secrets::Secret;

use crate::access::Admitted;
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::Body;
use crate::table::{Access, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "PUT",
        path: "/api/password",
        access: Access::Owner,
        operation: "setPassword",
        summary: "Set the password; takes a session that is fresh",
        query: &[],
        request: Some(schema::<PasswordRequest>),
        response: json::<PasswordResponse>(),
        handler: || put(set),
    },
    Route {
        method: "DELETE",
        path: "/api/password",
        access: Access::Owner,
        operation: "removePassword",
        summary: "Remove the password; sessions stay",
        query: &[],
        request: None,
        response: json::<PasswordResponse>(),
        handler: || delete(remove),
    },
];

const PASSWORD_BODY_BYTES_MAX: usize = 4 * 1024;

pub(crate) async fn set(
    State(app): State<App>,
    admitted: Admitted,
    Body(request): Body<PasswordRequest, PASSWORD_BODY_BYTES_MAX>,
) -> Result<Json<PasswordResponse>, ApiError> {
    let session = admitted.caller.session.as_ref();
    let text = Secret::new(request.password);
    let names = app.shared().fence.names();
    passwords::set(app.owner_access(), &admitted.ctx, session, &text, &names).await?;
    Ok(Json(PasswordResponse { is_set: true }))
}

pub(crate) async fn remove(
    State(app): State<App>,
    admitted: Admitted,
) -> Result<Json<PasswordResponse>, ApiError> {
    let session = admitted.caller.session.as_ref();
    passwords::remove(app.owner_access(), &admitted.ctx, session).await?;
    Ok(Json(PasswordResponse { is_set: false }))
}
