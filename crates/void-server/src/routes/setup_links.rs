//! `/api/setup-links`: a way in for a new browser.

use axum::extract::State;
use axum::routing::post;
use axum::{Extension, Json};
use void_access::setup_links;
use void_api::setup_links::SetupLinkResponse;

use crate::access::Admitted;
use crate::addresses::{page_url, page_urls_elsewhere};
use crate::app::App;
use crate::connections::Peer;
use crate::errors::ApiError;
use crate::table::{Access, Route, json};

pub(super) const ROUTES: &[Route] = &[Route {
    method: "POST",
    path: "/api/setup-links",
    access: Access::Owner,
    operation: "createSetupLink",
    summary: "Make a link that opens a session, once and within an hour",
    query: &[],
    request: None,
    response: json::<SetupLinkResponse>(),
    handler: || post(create),
}];

pub(crate) async fn create(
    State(app): State<App>,
    Extension(peer): Extension<Peer>,
    admitted: Admitted,
) -> Result<Json<SetupLinkResponse>, ApiError> {
    let session = admitted.caller.session.as_ref();
    let link = setup_links::create(app.owner_access(), &admitted.ctx, session).await?;
    let public_url = app.shared().public_url.as_deref();
    let elsewhere = page_urls_elsewhere(public_url, app.shared().listens_on);
    Ok(Json(SetupLinkResponse {
        url: link.url(&page_url(public_url, peer.local)),
        elsewhere: elsewhere.iter().map(|base| link.url(base)).collect(),
        expires_at: link.expires_at.to_string(),
    }))
}
