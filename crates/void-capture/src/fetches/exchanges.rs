//! One question and its answer. The head is bounded, the body is counted as it comes, and nothing is unpacked:
//! who packs a page that was asked for as it is gets no answer read.

use std::convert::Infallible;

use http_body_util::{BodyExt as _, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST,
    HeaderMap, LOCATION, TRANSFER_ENCODING, USER_AGENT,
};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;

use super::connections::Connection;
use crate::documents::{ContentType, DocumentKind, Fetched};
use crate::errors::{CaptureError, Content, FetchError};
use crate::limits::{BODY_BYTES_MAX, HEAD_BYTES_MAX, HEADERS_MAX};
use crate::targets::{InvalidUrl, Target};

/// Says who asks and nothing about where.
const AGENT: &str = concat!("void/", env!("CARGO_PKG_VERSION"), " (capture)");
const ACCEPTED: &str =
    "text/html, application/xhtml+xml, application/pdf, text/plain;q=0.9, text/markdown;q=0.9";

pub(super) enum Reply {
    Document(Fetched),
    /// A `Location`, not looked at.
    Moved(String),
}

pub(super) async fn get(target: &Target, connection: Connection) -> Result<Reply, CaptureError> {
    let request = Request::get(target.path())
        .header(HOST, target.authority())
        .header(USER_AGENT, AGENT)
        .header(ACCEPT, ACCEPTED)
        .header(ACCEPT_ENCODING, "identity")
        .header(CONNECTION, "close")
        .body(Empty::<Bytes>::new())
        .map_err(|_| InvalidUrl::Malformed)?;
    let shaken = http1::Builder::new()
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .handshake(TokioIo::new(connection))
        .await;
    let (mut sender, connection) = shaken.map_err(|cause| broken(target, cause))?;
    let exchange = async {
        let sent = sender.send_request(request).await;
        let response = sent.map_err(|cause| broken(target, cause))?;
        read(target, response).await
    };
    // Not a task of its own: with this future the connection ends too, whoever drops it.
    let driven = async {
        let _ = connection.await;
        std::future::pending::<Infallible>().await
    };
    tokio::select! {
        replied = exchange => replied,
        never = driven => match never {},
    }
}

async fn read(target: &Target, response: Response<Incoming>) -> Result<Reply, CaptureError> {
    let status = response.status();
    if is_moved(status)
        && let Some(location) = response.headers().get(LOCATION)
    {
        let location = location.to_str().map_err(|_| InvalidUrl::Malformed)?;
        return Ok(Reply::Moved(location.to_owned()));
    }
    let host = || target.host().to_string();
    let has_page = matches!(status.as_u16(), 200 | 203);
    if !has_page {
        let (host, status) = (host(), status.as_u16());
        return Err(FetchError::Status { host, status }.into());
    }
    let (head, body) = response.into_parts();
    if is_packed(&head.headers) {
        let (host, content) = (host(), Content::Packed);
        return Err(FetchError::Unsupported { host, content }.into());
    }
    let said = said_type(&head.headers);
    let bytes = if said.may_be_read() {
        collect(target, body, announced_bytes(&head.headers)).await?
    } else {
        Vec::new()
    };
    let Some(kind) = DocumentKind::judge(&said, &bytes) else {
        let (host, content) = (host(), Content::OfType(said.essence));
        return Err(FetchError::Unsupported { host, content }.into());
    };
    Ok(Reply::Document(Fetched {
        url: target.url().to_string(),
        kind,
        charset: said.charset,
        bytes,
    }))
}

fn is_moved(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// By any of the two headers, any value but the plain ones.
fn is_packed(headers: &HeaderMap) -> bool {
    let is = |value: &hyper::header::HeaderValue, plain: &str| {
        let value = value.as_bytes().trim_ascii();
        value.is_empty() || value.eq_ignore_ascii_case(plain.as_bytes())
    };
    let mut content = headers.get_all(CONTENT_ENCODING).iter();
    let mut transfer = headers.get_all(TRANSFER_ENCODING).iter();
    content.any(|value| !is(value, "identity")) || transfer.any(|value| !is(value, "chunked"))
}

fn said_type(headers: &HeaderMap) -> ContentType {
    let said = headers.get(CONTENT_TYPE);
    let said = said.and_then(|value| value.to_str().ok());
    ContentType::parse(said.unwrap_or_default())
}

fn announced_bytes(headers: &HeaderMap) -> Option<u64> {
    let said = headers.get(CONTENT_LENGTH)?;
    said.to_str().ok()?.parse().ok()
}

async fn collect(
    target: &Target,
    mut body: Incoming,
    announced: Option<u64>,
) -> Result<Vec<u8>, FetchError> {
    let max = u64::try_from(BODY_BYTES_MAX).unwrap_or(u64::MAX);
    if announced.is_some_and(|announced| announced > max) {
        return Err(FetchError::TooLarge);
    }
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|cause| broken(target, cause))?;
        if let Ok(piece) = frame.into_data() {
            if bytes.len() + piece.len() > BODY_BYTES_MAX {
                return Err(FetchError::TooLarge);
            }
            bytes.extend_from_slice(&piece);
        }
    }
    Ok(bytes)
}

fn broken(target: &Target, cause: hyper::Error) -> FetchError {
    FetchError::Broken {
        host: target.host().to_string(),
        cause: Some(cause),
    }
}
