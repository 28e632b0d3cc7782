//! Addresses that people open by a link from elsewhere, and what may be sent there.

use axum::http::Method;

/// Whether other sites may lead people here: a page that is opened, and that does nothing by being so.
pub(crate) fn is_opened_by_links(method: &Method, path: &str) -> bool {
    *method == Method::GET && (path == "/" || is_link(path))
}

/// Whether a plain form may be sent here.
pub(crate) fn takes_forms(method: &Method, path: &str) -> bool {
    *method == Method::POST && is_link(path)
}

fn is_link(path: &str) -> bool {
    path.strip_prefix("/inbox/")
        .is_some_and(|code| !code.is_empty() && !code.contains('/'))
}
