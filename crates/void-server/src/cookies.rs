//! The cookie of a session: its name, how it is read, and how a browser is told to keep it.

use axum::http::{HeaderMap, HeaderValue, header};
use void_domain::secrets::Secret;

use crate::app::App;
use crate::errors::ApiError;

const COOKIE: &str = "void_session";
const COOKIE_SECURE: &str = "__Host-void_session";

/// Over HTTPS the name itself makes browsers insist on `Secure` and this very host, so that a page
/// of a neighbouring host cannot plant one; the plain name would undo that.
pub(crate) fn name(app: &App) -> &'static str {
    if app.shared().fence.secure_cookie {
        COOKIE_SECURE
    } else {
        COOKIE
    }
}

pub(crate) fn find<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(shown, _)| *shown == name)
        .map(|(_, value)| value)
}

/// The value of `Set-Cookie` by which a browser keeps this for so long; no time at all removes it.
pub(crate) fn keep(app: &App, value: &Secret, lasts_s: u64) -> Result<HeaderValue, ApiError> {
    let name = name(app);
    let secure = if app.shared().fence.secure_cookie {
        "; Secure"
    } else {
        ""
    };
    let text = format!(
        "{name}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={lasts_s}{secure}",
        value.expose()
    );
    let mut header = HeaderValue::from_str(&text)
        .map_err(|_| ApiError::forbidden("the session cannot be kept"))?;
    header.set_sensitive(true);
    Ok(header)
}
