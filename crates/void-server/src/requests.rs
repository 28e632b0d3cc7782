//! Reading requests: bounded, typed, strict. Unknown and doubled names are refused.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Body as _;
use serde::de::DeserializeOwned;
use void_api::entities::TEXT_REQUEST_BYTES_MAX;
use void_control::Ctx;
use void_domain::failures::FailureCode;
use void_domain::limits::{PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX, REQUEST_BODY_BYTES_MAX};
use void_domain::text;

use crate::access::Admitted;
use crate::errors::ApiError;
use crate::fence::is_json;
use crate::table::Route;
use crate::{json, metered, parameters};

/// A body that trickles in slower than this is not waited for.
const BODY_TIMEOUT: Duration = Duration::from_secs(20);

/// The same of what the owner alone may send, and what may be so large that a slow line takes its time.
const LARGE_BODY_TIMEOUT: Duration = Duration::from_secs(300);

/// What a complaint quotes of a request at most.
const QUOTED_BYTES_MAX: usize = 200;

/// A JSON body of type `T` and at most `MAX` bytes; no body at all is `T::default()`.
pub(crate) struct Body<T, const MAX: usize = REQUEST_BODY_BYTES_MAX>(pub T);

impl<S, T, const MAX: usize> FromRequest<S> for Body<T, MAX>
where
    S: Send + Sync,
    T: DeserializeOwned + Default,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let json = is_json(request.headers());
        let patience = match MAX > TEXT_REQUEST_BYTES_MAX {
            true => LARGE_BODY_TIMEOUT,
            false => BODY_TIMEOUT,
        };
        let collected = collect_within(request.into_body(), MAX, patience).await?;
        if collected.is_empty() {
            return Ok(Self(T::default()));
        }
        if !json {
            return Err(ApiError::not_json());
        }
        json::object(&collected)
            .map(Self)
            .map_err(|error| ApiError::invalid_field("body", complaint(&error.to_string())))
    }
}

/// What serde says of a body, in words that fit: `1e2` is JSON, and no whole number.
fn complaint(reason: &str) -> String {
    let fraction = reason.strip_prefix("invalid type: floating point `");
    let fraction = fraction.and_then(|rest| rest.split_once("`, expected "));
    let reason = match fraction {
        Some((number, expected)) if expected.starts_with(['u', 'i']) => {
            format!("{number} must be a whole number, written with digits alone")
        }
        _ => text::without_rust_words(reason),
    };
    let quoted = text::escaped(text::cut(&reason, QUOTED_BYTES_MAX));
    format!("is not as expected: {quoted}")
}

/// All bytes of a body that may have `max` of them and has to arrive in time.
pub(crate) async fn collect(body: axum::body::Body, max: usize) -> Result<Bytes, ApiError> {
    collect_within(body, max, BODY_TIMEOUT).await
}

/// The same for what may take longer.
pub(crate) async fn collect_within(
    body: axum::body::Body,
    max: usize,
    patience: Duration,
) -> Result<Bytes, ApiError> {
    let too_large = || {
        let message = format!("a body is at most {max} bytes");
        ApiError::new(FailureCode::TooLarge, message)
    };
    // Announced to be too long: none of it is read.
    if body.size_hint().lower() > max as u64 {
        return Err(too_large());
    }
    let body = Limited::new(body, max);
    match tokio::time::timeout(patience, body.collect()).await {
        Err(_) => Err(ApiError::new(
            FailureCode::TooSlow,
            "the body did not arrive in time",
        )),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(error)) if metered::is_too_many(&*error) => Err(ApiError::held_back(
            "this token sends too much at once",
            Duration::from_secs(1),
        )),
        Ok(Err(_)) => Err(ApiError::invalid_field("body", "did not arrive whole")),
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
    }
}

/// Query parameters of type `T`.
pub(crate) struct Query<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // No text of ours has a NUL, and PostgreSQL takes none.
        if parts.uri.query().is_some_and(|query| query.contains("%00")) {
            return Err(ApiError::invalid_field("query", "holds a NUL"));
        }
        check_shapes(parts)?;
        match axum::extract::Query::<T>::try_from_uri(&parts.uri) {
            Ok(axum::extract::Query(value)) => Ok(Self(value)),
            Err(error) => {
                let text = error.to_string();
                let reason = text
                    .rsplit_once("string: ")
                    .map_or(text.as_str(), |(_, reason)| reason);
                Err(ApiError::invalid_field(
                    "query",
                    text::escaped(text::cut(
                        &text::without_rust_words(reason),
                        QUOTED_BYTES_MAX,
                    )),
                ))
            }
        }
    }
}

/// Whether every parameter is what the document says of it.
fn check_shapes(parts: &Parts) -> Result<(), ApiError> {
    let Some(route) = parts.extensions.get::<&'static Route>() else {
        return Ok(());
    };
    let pairs = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
    // What cannot be read at all is said by whoever reads it.
    let Ok(axum::extract::Query(pairs)) = pairs else {
        return Ok(());
    };
    for (name, value) in pairs {
        let shape = parameters::in_query(route.operation, &name);
        if let Some(complaint) = shape.and_then(|shape| shape.complaint(&value)) {
            return Err(ApiError::invalid_field(&name, complaint));
        }
    }
    Ok(())
}

/// The checked caller of a guarded route.
impl<S: Send + Sync> FromRequestParts<S> for Admitted {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts
            .extensions
            .get::<Self>()
            .cloned()
            .ok_or_else(ApiError::unauthenticated)
    }
}

/// The caller's context alone.
pub(crate) struct Caller(pub Ctx);

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        Admitted::from_request_parts(parts, state)
            .await
            .map(|admitted| Self(admitted.ctx))
    }
}

/// One word of the path.
pub(crate) struct Segment(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Segment {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match axum::extract::Path::<String>::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(segment)) => Ok(Self(segment)),
            Err(_) => Err(ApiError::not_found("there is nothing at this address")),
        }
    }
}

/// The number of rows of a page.
pub(crate) fn page_rows(limit: Option<u32>) -> Result<u32, ApiError> {
    match limit {
        None => Ok(PAGE_ROWS_DEFAULT),
        Some(limit) if (1..=PAGE_ROWS_MAX).contains(&limit) => Ok(limit),
        Some(_) => Err(ApiError::invalid_field(
            "limit",
            format!("must be 1 to {PAGE_ROWS_MAX}"),
        )),
    }
}

pub(crate) fn parse_cursor<T: std::str::FromStr>(
    cursor: Option<&str>,
) -> Result<Option<T>, ApiError> {
    match cursor {
        None => Ok(None),
        Some(text) => match text.parse() {
            Ok(cursor) => Ok(Some(cursor)),
            Err(_) => Err(ApiError::invalid_field(
                "cursor",
                "is not one that a list answered with",
            )
            .hint("leave it out for the first page; each page names the next one")),
        },
    }
}
