//! `/api/doctor`: what `void doctor` says, on a page.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use void_api::doctor::DoctorResponse;

use crate::app::App;
use crate::table::{Access, Route, json};

pub(super) const ROUTES: &[Route] = &[Route {
    method: "GET",
    path: "/api/doctor",
    access: Access::Owner,
    operation: "getDoctor",
    summary: "What void doctor says: every finding with the next command",
    query: &[],
    request: None,
    response: json::<DoctorResponse>(),
    handler: || get(look),
}];

pub(crate) async fn look(State(app): State<App>) -> Json<DoctorResponse> {
    // It asks machines; one at a time is enough.
    let _alone = app.shared().looks.lock().await;
    let findings = (app.shared().doctor)().await;
    Json(DoctorResponse {
        ok: findings.iter().all(|finding| finding.level != "problem"),
        findings,
        at: app.control().clock().now().to_string(),
    })
}
