//! `/api/doctor`: what `void doctor` says, on a page.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use serde::Deserialize;
use void_api::doctor::DoctorResponse;

use crate::app::App;
use crate::doctor::DoctorScope;
use crate::requests::Query;
use crate::table::{Access, Parameter, Route, json};

pub(super) const ROUTES: &[Route] = &[Route {
    method: "GET",
    path: "/api/doctor",
    access: Access::Owner,
    operation: "getDoctor",
    summary: "What void doctor says: every finding with the next command",
    query: &[Parameter {
        name: "scope",
        kind: "string",
        meaning: "`process`: only what the server's own process can do where it runs (captures, pdfs, sandbox, claude); `everything` if left out",
    }],
    request: None,
    response: json::<DoctorResponse>(),
    handler: || get(look),
}];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DoctorQuery {
    #[serde(default)]
    scope: DoctorScope,
}

pub(crate) async fn look(
    State(app): State<App>,
    Query(query): Query<DoctorQuery>,
) -> Json<DoctorResponse> {
    // It asks machines; one at a time is enough.
    let _alone = app.shared().looks.lock().await;
    let findings = (app.shared().doctor)(query.scope).await;
    Json(DoctorResponse {
        ok: findings.iter().all(|finding| finding.level != "problem"),
        findings,
        at: app.control().clock().now().to_string(),
    })
}
