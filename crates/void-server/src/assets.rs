//! The web page's files, in the program. Their addresses carry a version, so a browser may keep them for
//! good; in a debug build they are read from the source tree, so that an edit shows at a reload.

#[cfg(debug_assertions)]
mod pack;

use std::borrow::Cow;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

struct File {
    name: &'static str,
    plain: &'static [u8],
    packed: &'static [u8],
}

mod table {
    use super::File;

    include!(concat!(env!("OUT_DIR"), "/assets.rs"));
}

pub(crate) use self::table::VERSION;

/// Scripts, styles and images from here, answers from here, nothing inline, nothing from elsewhere. The
/// one trusted type is the address of the service worker.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types void";
/// What a service worker fetches is judged by the policy of its own answer.
const WORKER_POLICY: &str = "default-src 'none'; connect-src 'self'; frame-ancestors 'none'";
const FOR_GOOD: &str = "public, max-age=31536000, immutable";
/// Where the version goes in the files that name others.
const MARK: &str = "VERSION";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Its address changes with its content.
    ForGood,
    /// It is asked for again each time.
    No,
}

/// A file of the page, compressed for whoever takes that.
pub(crate) fn serve(name: &str, keep: Keep, headers: &HeaderMap) -> Option<Response> {
    let file = table::FILES.iter().find(|file| file.name == name);
    let fresh = from_disk(name);
    let plain = match (&fresh, file) {
        (Some(bytes), _) => Cow::Borrowed(bytes.as_slice()),
        (None, Some(file)) => Cow::Borrowed(file.plain),
        (None, None) => return None,
    };
    let plain = versioned(name, plain);
    let packed = match (&fresh, &plain, file) {
        (None, Cow::Borrowed(_), Some(file)) if takes_gzip(headers) => Some(file.packed),
        _ => None,
    };
    let packed = packed.filter(|packed| packed.len() < plain.len());
    let body = packed.map_or_else(|| Body::from(plain.into_owned()), Body::from);
    let mut response = (StatusCode::OK, body).into_response();
    let set = response.headers_mut();
    set.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind(name)));
    set.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if packed.is_some() {
        set.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    let keep = match keep {
        Keep::ForGood if !cfg!(debug_assertions) => FOR_GOOD,
        Keep::ForGood | Keep::No => "no-cache",
    };
    set.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    if name.ends_with(".html") {
        guard_page(&mut response);
    }
    if name == "sw.js" {
        let policy = HeaderValue::from_static(WORKER_POLICY);
        response
            .headers_mut()
            .insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    Some(response)
}

/// What every page of ours says of itself: where its parts come from, who may frame it, that nobody
/// keeps it.
pub(crate) fn guard_page(response: &mut Response) {
    let set = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, PAGE_POLICY),
        // Not `no-referrer`: a form would be sent with the origin `null`.
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        set.insert(name, HeaderValue::from_static(value));
    }
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|word| word.trim().split(';').next() == Some("gzip"))
}

/// What a file holds, with the version where it names other files.
fn versioned<'a>(name: &str, plain: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
    if !matches!(name, "index.html" | "sw.js") {
        return plain;
    }
    let text = String::from_utf8_lossy(&plain).replace(MARK, VERSION);
    Cow::Owned(text.into_bytes())
}

/// Only while developing, and only where the sources are, or where a developer says they are.
#[cfg(debug_assertions)]
#[expect(
    clippy::disallowed_methods,
    reason = "no setting of the product: it is not there in a release"
)]
fn from_disk(name: &str) -> Option<Vec<u8>> {
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/ui");
    let root = std::env::var("VOID_UI_DIR").unwrap_or_else(|_| sources.to_owned());
    match pack::pack(std::path::Path::new(&root)) {
        Ok(files) => files
            .into_iter()
            .find(|file| file.name == name)
            .map(|file| file.bytes),
        Err(error) => {
            tracing::error!(error, "the page's sources cannot be packed");
            None
        }
    }
}

#[cfg(not(debug_assertions))]
fn from_disk(_name: &str) -> Option<Vec<u8>> {
    None
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("webmanifest") => "application/manifest+json",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    }
}
