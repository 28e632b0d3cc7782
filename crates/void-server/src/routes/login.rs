//! `/api/login`: what a page needs to know before anybody is signed in.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::get;
use void_access::credentials;
use void_api::login::{LoginResponse, MethodsResponse};

use crate::app::App;
use crate::errors::ApiError;
use crate::table::{Access, Route, json};

pub(super) const ROUTES: &[Route] = &[Route {
    method: "GET",
    path: "/api/login",
    access: Access::Public,
    operation: "getLogin",
    summary: "How the owner can sign in here",
    query: &[],
    request: None,
    response: json::<LoginResponse>(),
    handler: || get(look),
}];

pub(crate) async fn look(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Json<LoginResponse>, ApiError> {
    let set_up = credentials::set_up(app.owner_access()).await?;
    let site = app.shared().fence.site(&headers);
    let is_set_up = set_up.is_done();
    let is_rehearsal = app.control().is_rehearsal();
    let called = is_rehearsal.then(|| app.shared().first_steps.called.clone());
    Ok(Json(LoginResponse {
        lab: "Void".into(),
        rehearsal: is_rehearsal,
        methods: MethodsResponse {
            passkey: site.is_some_and(|site| set_up.relying_parties.contains(&site.relying_party)),
            password: set_up.password,
            token: true,
        },
        is_set_up,
        called,
    }))
}
