//! `/api/setup-links`: a way in for a new browser.

use axum::extract::State;
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::Serialize;
use void_control::setup_links;

use crate::access::Admitted;
use crate::app::{App, page_url};
use crate::connections::Peer;
use crate::errors::ApiError;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SetupLinkResponse {
    /// To be opened once.
    pub url: String,
    pub expires_at: String,
}

pub(crate) async fn create(
    State(app): State<App>,
    Extension(peer): Extension<Peer>,
    admitted: Admitted,
) -> Result<Json<SetupLinkResponse>, ApiError> {
    let session = admitted.caller.session.as_ref();
    let link = setup_links::create(app.control(), &admitted.ctx, session).await?;
    let base = page_url(app.shared().public_url.as_deref(), peer.local);
    Ok(Json(SetupLinkResponse {
        url: link.url(&base),
        expires_at: link.expires_at.to_string(),
    }))
}
