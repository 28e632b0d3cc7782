//! Signed posts to programs of the owner's.
//!
//! The signature is an HMAC-SHA-256 over the timestamp, a dot and the body, so that a receiver can
//! refuse what was changed and what is old.

use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderValue};
use sha2::Sha256;
use void_domain::ids::is_slug;
use void_domain::secrets::Secret;
use void_domain::time::Timestamp;

use super::http::{Http, parse_url};
use super::{InvalidNotifier, SendError};

pub(crate) const PATIENCE: Duration = Duration::from_secs(15);

#[derive(Clone)]
pub struct WebhookConfig {
    pub name: String,
    pub url: String,
    /// What both sides know.
    pub secret: Secret,
}

pub(crate) struct Webhook {
    pub(crate) name: String,
    pub(crate) url: Url,
    pub(crate) secret: Secret,
    pub(crate) http: Http,
}

pub(crate) fn all(configs: Vec<WebhookConfig>) -> Result<Vec<Webhook>, InvalidNotifier> {
    let mut webhooks: Vec<Webhook> = Vec::new();
    for config in configs {
        let is_new = !webhooks.iter().any(|other| other.name == config.name);
        if !is_slug(&config.name) || !is_new {
            return Err(InvalidNotifier::WebhookName);
        }
        webhooks.push(Webhook {
            name: config.name,
            url: parse_url(&config.url, "a webhook's address")?,
            secret: config.secret,
            http: Http::new(None)?,
        });
    }
    Ok(webhooks)
}

impl Webhook {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) async fn post(
        &self,
        at: Timestamp,
        id: &str,
        body: String,
    ) -> Result<(), SendError> {
        let headers = self
            .headers(at, id, &body)
            .ok_or_else(|| SendError::Never("it cannot be signed".to_owned()))?;
        let sent = self.http.post(self.url.clone(), headers, body, PATIENCE);
        let answer = sent.await.map_err(|error| SendError::Later(error.0))?;
        let words = format!("it answered {}", answer.status);
        match answer.status {
            200..=299 => Ok(()),
            // Gone, or not of this form: the same again would get the same answer.
            400 | 401 | 403 | 404 | 405 | 410 | 413 | 415 | 422 => Err(SendError::Never(words)),
            _ => Err(SendError::Later(words)),
        }
    }

    pub(crate) fn headers(&self, at: Timestamp, id: &str, body: &str) -> Option<HeaderMap> {
        let seconds = (at.as_ms() / 1_000).to_string();
        let signature = sign(&self.secret, &seconds, body)?;
        let mut headers = HeaderMap::new();
        headers.insert("x-void-delivery", HeaderValue::from_str(id).ok()?);
        headers.insert("x-void-timestamp", HeaderValue::from_str(&seconds).ok()?);
        headers.insert("x-void-signature", HeaderValue::from_str(&signature).ok()?);
        Some(headers)
    }
}

/// `v1=` and 64 hexadecimal characters.
pub(crate) fn sign(secret: &Secret, seconds: &str, body: &str) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose().as_bytes()).ok()?;
    mac.update(seconds.as_bytes());
    mac.update(b".");
    mac.update(body.as_bytes());
    let hex: String = mac
        .finalize()
        .into_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Some(format!("v1={hex}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Python's `hmac` and `openssl dgst -sha256 -hmac` compute it.
    #[test]
    fn the_signature_is_what_others_compute() {
        let signed = sign(&Secret::new("a secret"), "1700000000", "{\"type\":\"x\"}");
        let expected = "v1=22885dbfc8be86676401faae83d573ce9762fe0c77179fa1a495729dbcab266e";
        assert_eq!(signed.as_deref(), Some(expected));
    }
}
