//! The web page's files, in the program. Their addresses carry a version, so a browser may keep them for
//! good; in a debug build they are read from the source tree, so that an edit shows at a reload.

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

/// Scripts, styles and images from here, answers from here, nothing inline, nothing from elsewhere.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; font-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
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
    let file = table::FILES.iter().find(|file| file.name == name)?;
    let plain = content(file);
    let changed = matches!(plain, Cow::Owned(_));
    let takes_gzip = headers
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.split(',').any(|word| word.trim().starts_with("gzip")));
    let is_packed = takes_gzip && !changed && file.packed.len() < file.plain.len();
    let body = if is_packed {
        Body::from(file.packed)
    } else {
        match plain {
            Cow::Borrowed(bytes) => Body::from(bytes),
            Cow::Owned(bytes) => Body::from(bytes),
        }
    };
    let mut response = (StatusCode::OK, body).into_response();
    let set = response.headers_mut();
    set.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind(name)));
    set.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if is_packed {
        set.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if name.ends_with(".html") {
        let policy = HeaderValue::from_static(PAGE_POLICY);
        set.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    let keep = match keep {
        Keep::ForGood if !cfg!(debug_assertions) => FOR_GOOD,
        Keep::ForGood | Keep::No => "no-cache",
    };
    set.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    Some(response)
}

/// What a file holds, with the version where it names other files.
fn content(file: &File) -> Cow<'static, [u8]> {
    let plain = match from_disk(file.name) {
        Some(bytes) => Cow::Owned(bytes),
        None => Cow::Borrowed(file.plain),
    };
    if !matches!(file.name, "index.html" | "sw.js" | "approve.html") {
        return plain;
    }
    let text = String::from_utf8_lossy(&plain).replace(MARK, VERSION);
    Cow::Owned(text.into_bytes())
}

/// Only while developing, and only where the sources are.
fn from_disk(name: &str) -> Option<Vec<u8>> {
    if !cfg!(debug_assertions) {
        return None;
    }
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/ui/");
    std::fs::read(format!("{root}{name}")).ok()
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
