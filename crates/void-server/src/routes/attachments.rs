//! `/api/spaces/{id}/attachments` and `/api/attachments`: files of a space. Bytes that somebody sent are answered as a file to be
//! saved, whatever they are called; shown in place are pictures and plain text that are what they say, and only if it was asked for.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{delete, get, post};
use serde::Deserialize;
use void_api::attachments::{AttachmentDeletedResponse, AttachmentResponse, AttachmentsResponse};
use void_control::Ctx;
use void_control::knowledge::{self, AttachmentError, KnowledgeError, NewAttachment};
use void_domain::failures::FailureCode;
use void_domain::ids::{AttachmentId, SpaceId};
use void_domain::knowledge::{Attachment, AttachmentName, EntityKind, MediaType, NotePath};
use void_domain::limits::ATTACHMENT_BYTES_MAX;

use super::entities::{InSpace, file_source, knowledge_error, mark_reader};
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Caller, Query, collect_within, page_rows, parse_cursor};
use crate::table::{Access, CURSOR, Content, LIMIT, Parameter, Route, json};
use crate::uploads;

pub(super) const NAME: Parameter = Parameter {
    name: "name",
    kind: "string",
    meaning: "what the file is called, one part of a path",
};
const PATH: Parameter = Parameter {
    name: "path",
    kind: "string",
    meaning: "where it is in the folder that it comes from",
};
const INLINE: Parameter = Parameter {
    name: "inline",
    kind: "string",
    meaning: "true: a picture or plain text is to be shown in place; everything else is a file to be saved all the same",
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/spaces/{id}/attachments",
        access: Access::Knowledge,
        operation: "listAttachments",
        summary: "The files of a space, newest first",
        query: &[CURSOR, LIMIT],
        request: None,
        response: json::<AttachmentsResponse>(),
        handler: || get(list),
    },
    Route {
        method: "POST",
        path: "/api/spaces/{id}/attachments",
        access: Access::Owner,
        operation: "addAttachment",
        summary: "Keep a file, sent as raw bytes: 20 MiB at most",
        query: &[NAME, PATH],
        request: None,
        response: json::<AttachmentResponse>(),
        handler: || post(add),
    },
    Route {
        method: "GET",
        path: "/api/attachments/{id}",
        access: Access::Knowledge,
        operation: "getAttachment",
        summary: "What is known of a file",
        query: &[],
        request: None,
        response: json::<AttachmentResponse>(),
        handler: || get(show),
    },
    Route {
        method: "GET",
        path: "/api/attachments/{id}/content",
        // An agent reads what a stranger wrote as a ref, where it is marked by it.
        access: Access::Owner,
        operation: "getAttachmentContent",
        summary: "The bytes of a file, to be saved",
        query: &[INLINE],
        request: None,
        response: Content::File,
        handler: || get(content),
    },
    Route {
        method: "DELETE",
        path: "/api/attachments/{id}",
        access: Access::Owner,
        operation: "deleteAttachment",
        summary: "Throw a file away; for 30 days undelete takes it back",
        query: &[],
        request: None,
        response: json::<AttachmentDeletedResponse>(),
        handler: || delete(remove),
    },
    Route {
        method: "POST",
        path: "/api/attachments/{id}/undelete",
        access: Access::Owner,
        operation: "undeleteAttachment",
        summary: "Take back a file that was thrown away",
        query: &[],
        request: None,
        response: json::<AttachmentResponse>(),
        handler: || post(undelete),
    },
];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FilesQuery {
    cursor: Option<String>,
    limit: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddQuery {
    name: Option<String>,
    path: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContentQuery {
    #[serde(default)]
    inline: bool,
}

pub(crate) async fn list(
    State(app): State<App>,
    Caller(ctx): Caller,
    InSpace(space): InSpace,
    Query(query): Query<FilesQuery>,
) -> Result<Json<AttachmentsResponse>, ApiError> {
    let cursor = parse_cursor(query.cursor.as_deref())?;
    let rows = page_rows(query.limit)?;
    let page = knowledge::attachments(app.control(), &ctx, space, cursor, rows).await;
    let page = page.map_err(|error| knowledge_error(error, EntityKind::Space))?;
    let sources = page.items.iter().filter_map(file_source);
    mark_reader(app.control(), &ctx, sources).await?;
    Ok(Json(AttachmentsResponse {
        attachments: page.items.iter().map(response).collect(),
        next: page.next,
    }))
}

pub(crate) async fn add(
    State(app): State<App>,
    Caller(ctx): Caller,
    InSpace(space): InSpace,
    Query(query): Query<AddQuery>,
    request: Request,
) -> Result<Json<AttachmentResponse>, ApiError> {
    be_there(&app, &ctx, space).await?;
    let name = file_name(query.name)?;
    let path = query.path.as_deref().map(NotePath::parse).transpose();
    let path = path.map_err(|wrong| ApiError::invalid_field("path", wrong.to_string()))?;
    let media_type = MediaType::parse(media_type_of(name.as_str()));
    let media_type =
        media_type.map_err(|wrong| ApiError::invalid_field("name", wrong.to_string()))?;
    let new = NewAttachment {
        space_id: space,
        name,
        path,
        media_type,
        content: receive(&app, request).await?.into(),
    };
    let added = knowledge::add_attachment(app.control(), &ctx, new).await;
    added.map(|file| Json(response(&file))).map_err(problem)
}

pub(crate) async fn show(
    State(app): State<App>,
    Caller(ctx): Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<AttachmentResponse>, ApiError> {
    let found = knowledge::attachment(app.control(), &ctx, named(path)?).await;
    let file = found.map_err(no_file)?;
    mark_reader(app.control(), &ctx, file_source(&file).into_iter()).await?;
    Ok(Json(response(&file)))
}

pub(crate) async fn content(
    State(app): State<App>,
    Caller(ctx): Caller,
    path: Result<Path<String>, PathRejection>,
    Query(query): Query<ContentQuery>,
) -> Result<Response, ApiError> {
    let found = knowledge::attachment_content(app.control(), &ctx, named(path)?).await;
    let (file, bytes) = found.map_err(no_file)?;
    let shown = inert_type(&bytes).filter(|_| query.inline);
    let disposition = match shown {
        Some(_) => HeaderValue::from_static("inline"),
        None => saved_as(file.name.as_str()),
    };
    let kind = HeaderValue::from_static(shown.unwrap_or(uploads::MEDIA_TYPE));
    let headers: [(HeaderName, HeaderValue); 2] = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_DISPOSITION, disposition),
    ];
    Ok((headers, bytes).into_response())
}

pub(crate) async fn remove(
    State(app): State<App>,
    Caller(ctx): Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<AttachmentDeletedResponse>, ApiError> {
    let id = named(path)?;
    let found = knowledge::attachment(app.control(), &ctx, id).await;
    let file = found.map_err(no_file)?;
    let deleted = knowledge::delete_attachment(app.control(), &ctx, id).await;
    deleted.map_err(no_file)?;
    Ok(Json(AttachmentDeletedResponse {
        deleted: true,
        id: id.to_string(),
        name: file.name.to_string(),
        undo: format!("/api/attachments/{id}/undelete"),
    }))
}

pub(crate) async fn undelete(
    State(app): State<App>,
    Caller(ctx): Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<AttachmentResponse>, ApiError> {
    let back = knowledge::restore_attachment(app.control(), &ctx, named(path)?).await;
    back.map(|file| Json(response(&file))).map_err(problem)
}

/// The whole file. The caller has seen to it that there is something to put it into.
pub(super) async fn receive(app: &App, request: Request) -> Result<Bytes, ApiError> {
    let is_named = request.headers().contains_key(header::CONTENT_TYPE);
    if is_named && !uploads::is_file(request.headers()) {
        let kind = uploads::MEDIA_TYPE;
        let message = format!("a file is sent as it is: Content-Type: {kind}");
        return Err(ApiError::new(FailureCode::UnsupportedMediaType, message));
    }
    let place = app.shared().uploads.acquire().await;
    let _place = place.map_err(|_| ApiError::rate_limited("the server is ending"))?;
    let patience = uploads::UPLOAD_TIMEOUT;
    collect_within(request.into_body(), ATTACHMENT_BYTES_MAX, patience).await
}

/// Nothing is read for a space that is not there.
pub(super) async fn be_there(app: &App, ctx: &Ctx, space: SpaceId) -> Result<(), ApiError> {
    let counts = knowledge::space_counts(app.control(), ctx, space).await;
    let counts = counts.map_err(|error| knowledge_error(error, EntityKind::Space));
    counts.map(drop)
}

pub(super) fn file_name(name: Option<String>) -> Result<AttachmentName, ApiError> {
    let missing = || ApiError::invalid_field("name", "is missing: what the file is called");
    AttachmentName::parse(&name.ok_or_else(missing)?)
        .map_err(|wrong| ApiError::invalid_field("name", wrong.to_string()))
}

fn named(path: Result<Path<String>, PathRejection>) -> Result<AttachmentId, ApiError> {
    let id = path.ok().and_then(|Path(id)| id.parse().ok());
    id.ok_or_else(|| no_file(KnowledgeError::NotFound))
}

fn no_file(error: KnowledgeError) -> ApiError {
    match error {
        KnowledgeError::NotFound => {
            ApiError::not_found("there is no such file").hint("void kb attachments shows them")
        }
        other => knowledge_error(other, EntityKind::Space),
    }
}

pub(super) fn problem(error: AttachmentError) -> ApiError {
    let message = error.to_string();
    match error {
        AttachmentError::TooLarge => ApiError::new(FailureCode::TooLarge, message),
        AttachmentError::NoRoom => ApiError::new(FailureCode::TooMany, message)
            .hint("throw away files that are not needed any more"),
        AttachmentError::Knowledge(error) => no_file(error),
    }
}

pub(super) fn response(file: &Attachment) -> AttachmentResponse {
    AttachmentResponse {
        id: file.id.to_string(),
        space_id: file.space_id.to_string(),
        name: file.name.to_string(),
        path: file.path.as_ref().map(ToString::to_string),
        ref_id: file.ref_id.map(|id| id.to_string()),
        media_type: file.media_type.to_string(),
        sha256: file.hash.to_string(),
        size_bytes: file.size_bytes,
        created_at: file.created_at.to_string(),
        created_by: file.created_by.clone(),
    }
}

/// By the end of its name, for people; nothing is served by it.
fn media_type_of(name: &str) -> &'static str {
    let end = name
        .rsplit_once('.')
        .map(|(_, end)| end.to_ascii_lowercase());
    match end.as_deref().unwrap_or_default() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "pdf" => "application/pdf",
        "txt" | "log" => "text/plain",
        "md" => "text/markdown",
        "csv" => "text/csv",
        "json" => "application/json",
        "zip" => "application/zip",
        "html" | "htm" => "text/html",
        _ => uploads::MEDIA_TYPE,
    }
}

/// What nothing happens by, judged by the bytes alone: pictures that hold no program, and text that begins like no markup.
fn inert_type(bytes: &[u8]) -> Option<&'static str> {
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some("image/png");
    }
    if bytes.starts_with(b"\xff\xd8\xff") {
        return Some("image/jpeg");
    }
    if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        return Some("image/gif");
    }
    if is_webp {
        return Some("image/webp");
    }
    let is_text = std::str::from_utf8(bytes).is_ok() && !bytes.contains(&0);
    // With `nosniff` text is text, whatever it says.
    is_text.then_some("text/plain; charset=utf-8")
}

/// `attachment` with the name in the one form that takes every character (RFC 8187), and none that could end it.
fn saved_as(name: &str) -> HeaderValue {
    let mut value = String::from("attachment; filename*=UTF-8''");
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                value.push(char::from(byte));
            }
            _ => value.push_str(&format!("%{byte:02X}")),
        }
    }
    HeaderValue::try_from(value).unwrap_or(HeaderValue::from_static("attachment"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_say_more_than_a_name() {
        for (name, value) in [
            ("a.png", "attachment; filename*=UTF-8''a.png"),
            (
                "\"; x=\"y",
                "attachment; filename*=UTF-8''%22%3B%20x%3D%22y",
            ),
            (
                "größe.txt",
                "attachment; filename*=UTF-8''gr%C3%B6%C3%9Fe.txt",
            ),
            (
                "\u{202e}gpj.exe",
                "attachment; filename*=UTF-8''%E2%80%AEgpj.exe",
            ),
        ] {
            assert_eq!(saved_as(name), value, "{name}");
        }
    }

    #[test]
    fn only_what_nothing_happens_by_is_shown_in_place() {
        let png = b"\x89PNG\r\n\x1a\n...";
        assert_eq!(inert_type(png), Some("image/png"));
        assert_eq!(inert_type(b"RIFF....WEBPVP8 "), Some("image/webp"));
        let text = Some("text/plain; charset=utf-8");
        for markup in [
            "<svg onload=alert(1)>",
            "<!doctype html><script>",
            "%PDF-1.7",
            "plain",
        ] {
            assert_eq!(inert_type(markup.as_bytes()), text, "{markup}");
        }
        for other in [&b"PK\x03\x04\0"[..], b"\xff\xfe<\0", b"%PDF-1.7\n%\xe2\xe3"] {
            assert_eq!(inert_type(other), None, "{other:?}");
        }
    }
}
