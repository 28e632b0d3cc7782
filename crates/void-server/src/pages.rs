//! What a browser shows: the page itself, its files, and one proposal alone for whoever comes by a link.
//! Not part of the API; the table is here so that nothing is reachable by accident.

mod link;

use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{MethodRouter, get};

use crate::app::App;
use crate::assets::{self, Keep};
use crate::errors::ApiError;

/// Everything here is for anybody: files that are the same for all, and a page that looks for itself
/// who asks.
pub(crate) struct Page {
    pub path: &'static str,
    pub handler: fn() -> MethodRouter<App>,
}

pub(crate) const PAGES: &[Page] = &[
    Page {
        path: "/",
        handler: || get(index),
    },
    Page {
        path: "/ui/{version}/{*file}",
        handler: || get(file),
    },
    // The scope of a service worker is the folder it is in.
    Page {
        path: "/sw.js",
        handler: || get(async |headers: HeaderMap| root_file("sw.js", &headers)),
    },
    Page {
        path: "/manifest.webmanifest",
        handler: || get(async |headers: HeaderMap| root_file("manifest.webmanifest", &headers)),
    },
    Page {
        path: "/inbox/{code}",
        handler: || get(link::show).post(link::decide),
    },
];

async fn index(headers: HeaderMap) -> Result<Response, ApiError> {
    root_file("index.html", &headers)
}

/// Parts of another version are not there: a page that was open during an upgrade must not be put together
/// from two. Only what it has in its manifest and its tab stays.
async fn file(
    Path((version, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let keep = match version.as_str() {
        assets::VERSION => Keep::ForGood,
        _ if name == "icon.svg" => Keep::No,
        _ => return Err(missing()),
    };
    assets::serve(&name, keep, &headers).ok_or_else(missing)
}

fn root_file(name: &str, headers: &HeaderMap) -> Result<Response, ApiError> {
    assets::serve(name, Keep::No, headers).ok_or_else(missing)
}

fn missing() -> ApiError {
    ApiError::not_found("there is nothing at this address")
}
