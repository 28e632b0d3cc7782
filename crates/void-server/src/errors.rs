//! One mapping from what went wrong to what a caller sees: a status, a stable code, a sentence, a
//! way out. Causes that are not the caller's business go to the log.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use void_access::credentials::CredentialError;
use void_api::cards::{MergeConflictResponse, MovedBaseResponse};
use void_api::entity_responses::EntityResponse;
use void_api::errors::{ErrorBody, ErrorResponse, ErrorRow};
use void_api::proposals::RowResponse;
use void_control::{StoreError, TooManyRows};
use void_domain::failures::FailureCode;
use void_domain::limits::REASON_BYTES_MAX;

/// Small to hand on: most calls succeed.
#[derive(Debug)]
pub(crate) struct ApiError(Box<Told>);

#[derive(Debug)]
struct Told {
    code: FailureCode,
    message: String,
    hint: Option<String>,
    row: Option<ErrorRow>,
    moved: Option<Box<MovedBaseResponse>>,
    conflicts: Vec<MergeConflictResponse>,
    conflicts_left_out: Option<u64>,
    fields: Option<BTreeMap<String, String>>,
    retry_after: Option<Duration>,
}

impl ApiError {
    /// Something more important than why it went wrong, before that.
    pub(crate) fn saying(mut self, first: &str) -> Self {
        self.0.message = format!("{first}: {}", self.0.message);
        self
    }

    /// With the status that the table gives its code.
    pub(crate) fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self(Box::new(Told {
            code,
            message: message.into(),
            hint: None,
            row: None,
            moved: None,
            conflicts: Vec::new(),
            conflicts_left_out: None,
            fields: None,
            retry_after: None,
        }))
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    pub(crate) fn row(mut self, row: RowResponse) -> Self {
        self.0.row = Some(ErrorRow::Proposal(Box::new(row)));
        self
    }

    /// What is there now instead of what was looked at.
    pub(crate) fn entity(mut self, there: EntityResponse) -> Self {
        self.0.row = Some(ErrorRow::Entity(there));
        self
    }

    /// What is there now instead of what a draft was made of.
    pub(crate) fn moved(mut self, moved: Option<MovedBaseResponse>) -> Self {
        self.0.moved = moved.map(Box::new);
        self
    }

    /// Where both change the same, and how many such places are not among these.
    pub(crate) fn conflicts(mut self, all: Vec<MergeConflictResponse>, left_out: usize) -> Self {
        self.0.conflicts = all;
        self.0.conflicts_left_out = Some(left_out as u64).filter(|count| *count > 0);
        self
    }

    /// As it is told among other results.
    pub(crate) fn into_body(self) -> ErrorBody {
        let Self(told) = self;
        ErrorBody {
            code: told.code.as_str().into(),
            fields: told.fields,
            hint: told.hint,
            message: told.message,
            row: told.row,
            moved: told.moved,
            conflicts: told.conflicts,
            conflicts_left_out: told.conflicts_left_out,
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        status_of(self.0.code)
    }

    /// For a page: what happened, and the way out.
    /// A command in it is as the owner types it where Void runs.
    pub(crate) fn sentence(&self, called: &str) -> String {
        match &self.0.hint {
            Some(hint) => {
                let hint = match hint.strip_prefix("void ") {
                    Some(rest) => format!("{called} {rest}"),
                    None => hint.clone(),
                };
                format!("{}; {hint}", self.0.message)
            }
            None => self.0.message.clone(),
        }
    }

    pub(crate) fn unauthenticated() -> Self {
        Self::new(FailureCode::Unauthenticated, "no valid credential was sent")
            .hint("send Authorization: Bearer with a token, or log in")
    }

    pub(crate) fn owner_only() -> Self {
        Self::new(FailureCode::OwnerOnly, "only the owner does this")
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(FailureCode::Forbidden, message)
    }

    /// The page asks for a proof, sends it to `/api/session/confirm`, and tries again.
    pub(crate) fn fresh_login_needed(message: impl Into<String>) -> Self {
        Self::new(FailureCode::FreshLoginNeeded, message)
            .hint("confirm that it is you, then try again within 5 minutes")
    }

    fn passkeys_unavailable(message: impl Into<String>) -> Self {
        Self::new(FailureCode::PasskeysUnavailable, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(FailureCode::NotFound, message)
    }

    pub(crate) fn no_proposal() -> Self {
        Self::not_found("there is no such proposal").hint("void inbox ls shows what waits")
    }

    pub(crate) fn reason_too_long() -> Self {
        Self::invalid_field("reason", format!("is longer than {REASON_BYTES_MAX} bytes"))
    }

    pub(crate) fn method_not_allowed() -> Self {
        Self::new(
            FailureCode::MethodNotAllowed,
            "this address does not take that method",
        )
    }

    pub(crate) fn rate_limited(message: impl Into<String>) -> Self {
        Self::new(FailureCode::RateLimited, message)
    }

    /// Over a budget; the connection ends with it, so that places are not kept by asking again.
    pub(crate) fn held_back(message: &str, wait: Duration) -> Self {
        let mut error = Self::rate_limited(message)
            .hint("wait as long as Retry-After says, then try again; docs/operations.md, Budgets");
        error.0.retry_after = Some(wait);
        error
    }

    pub(crate) fn too_many_rows(error: &TooManyRows) -> Self {
        Self::held_back(&error.to_string(), error.retry_after)
    }

    /// What is wrong with the input, by field.
    pub(crate) fn invalid(fields: impl IntoIterator<Item = (String, String)>) -> Self {
        let fields: BTreeMap<String, String> = fields.into_iter().collect();
        let message = fields
            .iter()
            .map(|(name, problem)| format!("{name} {problem}"))
            .collect::<Vec<_>>()
            .join("; ");
        let mut error = Self::new(FailureCode::Invalid, message);
        error.0.fields = Some(fields);
        error
    }

    pub(crate) fn invalid_field(name: &str, problem: impl Into<String>) -> Self {
        Self::invalid([(name.to_owned(), problem.into())])
    }

    /// What is wrong with a field, as a sentence of its own: programs are told which field, people only what.
    pub(crate) fn invalid_saying(name: &str, sentence: impl Into<String>) -> Self {
        let sentence = sentence.into();
        let mut error = Self::invalid_field(name, sentence.clone());
        error.0.message = sentence;
        error
    }

    pub(crate) fn not_json() -> Self {
        Self::new(
            FailureCode::UnsupportedMediaType,
            "a body must be JSON and say so: Content-Type: application/json",
        )
    }

    pub(crate) fn upgrade_late() -> Self {
        Self::new(
            FailureCode::UpgradeLate,
            "only the first request of a connection can ask for another protocol",
        )
    }

    pub(crate) fn unknown_host() -> Self {
        Self::new(FailureCode::UnknownHost, "Void is not known by this name")
            .hint("add the name to allowed_hosts, or set VOID_PUBLIC_URL")
    }

    pub(crate) fn foreign_origin() -> Self {
        Self::new(
            FailureCode::ForeignOrigin,
            "this request comes from another site",
        )
    }
}

/// A code that the table gives no status is none that a caller should get.
fn status_of(code: FailureCode) -> StatusCode {
    let status = code
        .http()
        .and_then(|status| StatusCode::from_u16(status).ok());
    status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

impl From<CredentialError> for ApiError {
    fn from(error: CredentialError) -> Self {
        let message = error.to_string();
        match error {
            CredentialError::OwnerOnly => Self::owner_only(),
            CredentialError::SessionNeeded => Self::new(FailureCode::SessionNeeded, message)
                .hint("sign in on the page and do it there"),
            CredentialError::FreshLoginNeeded => Self::fresh_login_needed(message),
            CredentialError::InvalidPassword(problem) => {
                Self::invalid_field("password", problem.to_string())
            }
            CredentialError::InvalidName => Self::invalid_field(
                "name",
                "must be 1 to 64 characters that print as themselves",
            ),
            CredentialError::NoSite => Self::passkeys_unavailable(message)
                .hint("open the page by https and the name in VOID_PUBLIC_URL, or as localhost"),
            CredentialError::NoPasskey => Self::passkeys_unavailable(message)
                .hint("sign in by another way; a passkey can be added afterwards"),
            CredentialError::Refused => Self::invalid_field(
                "credential",
                "does not fit the challenge: ask for a new one and try again",
            ),
            CredentialError::TooMany => Self::new(FailureCode::TooMany, message)
                .hint("remove one that is not used any more"),
            CredentialError::NotFound => Self::not_found(message),
            CredentialError::Busy(busy) => Self::rate_limited(busy.to_string()),
            CredentialError::Store(error) => error.into(),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::DiskFull => {
                Self::new(FailureCode::DiskFull, "the disk is full; new work is refused until there is room")
                    .hint("free some space in the data folder's file system; rejecting and freezing still work")
            }
            StoreError::Unconfirmed => {
                tracing::error!(%error, "a commit was not answered");
                Self::new(FailureCode::Unconfirmed, "the database did not say whether this was recorded")
                    .hint("look before you try again: it may have happened")
            }
            StoreError::Unavailable(_) | StoreError::NotDurable(_) | StoreError::ReadOnly(_) | StoreError::InUse | StoreError::NewerSchema { .. } => {
                tracing::error!(%error, "the store is unavailable");
                Self::new(FailureCode::Unavailable, "the database cannot be used right now; nothing was changed")
                    .hint("void doctor names the reason")
            }
            StoreError::RolledBack => {
                Self::new(FailureCode::RolledBack, "the database went back to an older state while Void ran; nothing was changed, what waited in it is void and everything is frozen")
                    .hint("void doctor says what happened; look at what is there now")
            }
            StoreError::Replaced => {
                tracing::error!(%error, "the store is unavailable");
                Self::new(FailureCode::Replaced, error.to_string())
                    .hint("stop Void and start it again with the right database")
            }
            StoreError::Displaced => {
                tracing::error!(%error, "another process took over");
                Self::new(FailureCode::Displaced, error.to_string())
                    .hint("ask the other one, or stop it and start this one again")
            }
            StoreError::Corrupt { .. } | StoreError::Constraint(_) | StoreError::Internal(_) => {
                tracing::error!(%error, "an internal error");
                Self::new(FailureCode::Internal, "something is wrong inside Void; nothing was changed")
                    .hint("the server's log has the reason")
            }
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, retry_after) = (self.status(), self.0.retry_after);
        let body = ErrorResponse {
            error: self.into_body(),
        };
        let mut response = (status, Json(body)).into_response();
        if let Some(wait) = retry_after {
            let headers = response.headers_mut();
            let seconds = wait.as_secs().saturating_add(1);
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, scheme);
        }
        response
    }
}
