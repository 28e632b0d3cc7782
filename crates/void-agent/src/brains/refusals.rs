//! What the other side says instead of an answer: by status, or as an error inside the stream.
//!
//! Providers, proxies and local servers write it in a handful of shapes. Their words are shown cut,
//! escaped, and never with the key in them.

use std::time::Duration;

use reqwest::Response;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde_json::Value;
use void_domain::secrets::Secret;
use void_domain::text;
use void_domain::time::Timestamp;

use super::endpoints::Endpoint;
use super::errors::{BrainError, BrainErrorKind};

const BODY_BYTES_MAX: usize = 64 * 1024;
const BODY_PATIENCE: Duration = Duration::from_secs(5);
const WORDS_BYTES_MAX: usize = 300;
/// As long as this, a part of the key is a secret too. Providers show a few characters themselves.
const KEY_PART_BYTES: usize = 12;

/// An error in the provider's words.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ProviderError {
    /// `overloaded_error`, `insufficient_quota`: whatever the server calls it.
    pub names: Vec<String>,
    pub status: Option<u16>,
    pub message: Option<String>,
}

impl ProviderError {
    /// `{"error": {"type", "code", "message"}}`, `{"error": "…"}`, `{"message": "…"}`, `{"detail": "…"}`.
    pub(super) fn of(value: &Value) -> Self {
        let inner = value.get("error").unwrap_or(value);
        if let Some(message) = inner.as_str() {
            return Self {
                message: Some(message.to_owned()),
                ..Self::default()
            };
        }
        let text = |key: &str| inner.get(key).and_then(Value::as_str).map(str::to_owned);
        let status = inner.get("code").and_then(Value::as_u64);
        Self {
            names: ["type", "code"].into_iter().filter_map(text).collect(),
            status: status.and_then(|status| u16::try_from(status).ok()),
            message: text("message").or_else(|| text("detail")),
        }
    }

    fn is_named(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }

    fn mentions(&self, words: &[&str]) -> bool {
        let message = self.message.as_deref().unwrap_or_default();
        let message = message.to_ascii_lowercase();
        words.iter().any(|word| message.contains(word))
    }

    fn is_about_money(&self) -> bool {
        self.is_named("insufficient_quota")
            || self.is_named("billing_error")
            || self.mentions(&["credit balance is too low", "exceeded your current quota"])
    }

    fn is_about_length(&self) -> bool {
        self.is_named("context_length_exceeded")
            || self.is_named("exceed_context_size_error")
            || self.is_named("request_too_large")
            || self.mentions(&[
                "prompt is too long",
                "maximum context length",
                "context size",
            ])
    }

    /// The kind of an error that has no HTTP status of its own.
    pub(super) fn kind(&self) -> BrainErrorKind {
        let by_name = self.names.iter().find_map(|name| match name.as_str() {
            "overloaded_error" => Some(BrainErrorKind::Overloaded),
            "rate_limit_error" | "rate_limit_exceeded" => Some(BrainErrorKind::RateLimited),
            "authentication_error" | "invalid_api_key" => Some(BrainErrorKind::KeyRefused),
            "permission_error" => Some(BrainErrorKind::Forbidden),
            "not_found_error" | "model_not_found" => Some(BrainErrorKind::NotFound),
            "invalid_request_error" => Some(BrainErrorKind::RequestRefused),
            _ => None,
        });
        if self.is_about_money() {
            BrainErrorKind::OutOfCredit
        } else if self.is_about_length() {
            BrainErrorKind::PromptTooLong
        } else if let Some(kind) = by_name {
            kind
        } else {
            let status = self.status.filter(|status| (400..=599).contains(status));
            status.map_or(BrainErrorKind::Failed, |status| self.kind_at(status))
        }
    }

    fn kind_at(&self, status: u16) -> BrainErrorKind {
        match status {
            401 => BrainErrorKind::KeyRefused,
            402 => BrainErrorKind::OutOfCredit,
            _ if self.is_about_money() => BrainErrorKind::OutOfCredit,
            403 => BrainErrorKind::Forbidden,
            404 => BrainErrorKind::NotFound,
            413 => BrainErrorKind::PromptTooLong,
            429 => BrainErrorKind::RateLimited,
            503 | 529 => BrainErrorKind::Overloaded,
            408 | 500..=599 => BrainErrorKind::Failed,
            400..=499 if self.is_about_length() => BrainErrorKind::PromptTooLong,
            400..=499 => BrainErrorKind::RequestRefused,
            _ => BrainErrorKind::BadAnswer,
        }
    }
}

/// The error of an answer whose status is not success.
pub(super) async fn read(endpoint: &Endpoint, mut response: Response) -> BrainError {
    let status = response.status().as_u16();
    let after = pause_asked(response.headers());
    let body = words_of(&mut response).await;
    let parsed: Option<Value> = serde_json::from_slice(&body).ok();
    let said = parsed.as_ref().map(ProviderError::of).unwrap_or_default();
    let kind = said.kind_at(status);
    let mut error = match status {
        300..=399 => {
            let words = format!("answers with a redirect ({status}), which is not followed");
            endpoint.error(kind, &words, None)
        }
        // A server of this kind would have said which model it misses.
        404 if said.message.is_none() => {
            let words = "has nothing of the kind at this address (404); is it the right one?";
            return endpoint.error(BrainErrorKind::BadAnswer, words, None);
        }
        _ => of(endpoint, kind, &said, &format!(" ({status})")),
    };
    error.retry = kind.retry(after);
    error
}

/// What a refusal says, bounded. What came in time is enough: the status decides, the words only explain.
pub(crate) async fn words_of(response: &mut Response) -> Vec<u8> {
    let mut body = Vec::new();
    let collect = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = BODY_BYTES_MAX - body.len();
            body.extend_from_slice(chunk.get(..room.min(chunk.len())).unwrap_or_default());
            if body.len() == BODY_BYTES_MAX {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(BODY_PATIENCE, collect).await;
    body
}

/// The error with its words. `status` is shown behind them, or nothing.
pub(super) fn of(
    endpoint: &Endpoint,
    kind: BrainErrorKind,
    said: &ProviderError,
    status: &str,
) -> BrainError {
    let words = match kind {
        BrainErrorKind::RateLimited => "asks for a slower pace",
        BrainErrorKind::Overloaded => "is overloaded",
        // Its words about keys stay unread: some repeat parts of them.
        BrainErrorKind::KeyRefused => {
            return endpoint.error(kind, &format!("refuses the key{status}"), None);
        }
        BrainErrorKind::OutOfCredit => "wants to be paid first",
        BrainErrorKind::Forbidden => "does not allow this key to ask this model",
        BrainErrorKind::NotFound => {
            let words = format!(
                "has no model {}{status}",
                text::escaped(text::cut(&endpoint.model, WORDS_BYTES_MAX))
            );
            return endpoint.error(kind, &words, said.message.as_deref());
        }
        BrainErrorKind::PromptTooLong => "finds the conversation too long",
        BrainErrorKind::RequestRefused => "does not accept the request",
        BrainErrorKind::Failed => "failed",
        BrainErrorKind::BadAnswer => "answers with something else",
        BrainErrorKind::Unreachable
        | BrainErrorKind::TimedOut
        | BrainErrorKind::BrokenOff
        | BrainErrorKind::AnswerTooLarge => "gave no answer",
    };
    endpoint.error(kind, &format!("{words}{status}"), said.message.as_deref())
}

/// Strangers' words for a person: cut, escaped, and withheld when they repeat the key.
pub(super) fn presentable(said: &str, key: &Option<Secret>) -> String {
    if key.as_ref().is_some_and(|key| repeats(said, key)) {
        return "(its words repeat the key and are not shown)".to_owned();
    }
    text::escaped(text::cut(said.trim(), WORDS_BYTES_MAX))
}

pub(super) fn repeats(said: &str, key: &Secret) -> bool {
    let key = key.expose().as_bytes();
    let part = key.len().min(KEY_PART_BYTES);
    part > 0
        && said
            .as_bytes()
            .windows(part)
            .any(|seen| key.windows(part).any(|own| own == seen))
}

/// `retry-after` in seconds or as a date, measured by the server's own clock.
fn pause_asked(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let asked = text(RETRY_AFTER)?.trim();
    if let Ok(seconds) = asked.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = Timestamp::parse_http_date(asked)?;
    let now = Timestamp::parse_http_date(text(DATE)?)?;
    Some(until.since(now))
}

#[cfg(test)]
mod tests;
