//! `/api/login`: what a page needs to know before anybody is signed in.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::get;
use schemars::JsonSchema;
use serde::Serialize;
use void_control::credentials;

use crate::access::Access;
use crate::app::App;
use crate::errors::ApiError;
use crate::table::{Route, json};

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

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LoginResponse {
    /// What this lab is called.
    pub lab: &'static str,
    /// Everything behind this is a simulated lab.
    pub rehearsal: bool,
    pub methods: MethodsResponse,
    /// Whether there is a passkey or a password at all.
    pub is_set_up: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "LoginMethods")]
pub(crate) struct MethodsResponse {
    /// There is a passkey that is good at the address by which the page was reached.
    pub passkey: bool,
    pub password: bool,
    pub token: bool,
}

pub(crate) async fn look(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Json<LoginResponse>, ApiError> {
    let set_up = credentials::set_up(app.control()).await?;
    let site = app.shared().fence.site(&headers);
    let is_set_up = set_up.is_done();
    Ok(Json(LoginResponse {
        lab: "Void",
        rehearsal: app.control().is_rehearsal(),
        methods: MethodsResponse {
            passkey: site.is_some_and(|site| set_up.relying_parties.contains(&site.relying_party)),
            password: set_up.password,
            token: true,
        },
        is_set_up,
    }))
}
