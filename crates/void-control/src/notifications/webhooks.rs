//! Signed webhooks: every event of a proposal, and how each alert stands, as JSON, posted to programs of the
//! owner's.
//!
//! The signature is an HMAC-SHA-256 over the timestamp, a dot and the body, so that a receiver can
//! refuse what was changed and what is old.

use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use sha2::Sha256;
use void_domain::alerts::{Alert, Alerted, Ended};
use void_domain::ids::is_slug;
use void_domain::mutes::Mute;
use void_domain::notifications::{Content, Delivery};
use void_domain::secrets::Secret;
use void_domain::time::Timestamp;

use super::InvalidNotifier;
use super::http::{Http, parse_url};
use super::worker::{self, Receipt, SendError};
use crate::control::Control;

const PATIENCE: Duration = Duration::from_secs(15);

#[derive(Clone)]
pub struct WebhookConfig {
    pub name: String,
    pub url: String,
    /// What both sides know.
    pub secret: Secret,
}

pub(super) struct Webhook {
    name: String,
    url: Url,
    secret: Secret,
    http: Http,
}

pub(super) fn all(configs: Vec<WebhookConfig>) -> Result<Vec<Webhook>, InvalidNotifier> {
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
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) async fn post(
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

    fn headers(&self, at: Timestamp, id: &str, body: &str) -> Option<HeaderMap> {
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
fn sign(secret: &Secret, seconds: &str, body: &str) -> Option<String> {
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

pub(super) async fn deliver(
    control: &Control,
    name: &str,
    delivery: &Delivery,
) -> Result<Receipt, SendError> {
    let Some(webhook) = control.notifiers.webhook(name) else {
        return Err(SendError::Never(
            "the settings no longer name it".to_owned(),
        ));
    };
    let at = control.clock.now();
    let (id, mut body, again_after) = match &delivery.content {
        Content::Event(_, stored) => {
            let body: Value = serde_json::from_str(stored).unwrap_or_default();
            (delivery.id.to_string(), body, Duration::ZERO)
        }
        Content::Alert(id) => {
            let (alert, mute) = worker::alert(control, *id).await?;
            // The same row says something else each time: each of it is a delivery of its own.
            let id = format!("{}-{}", delivery.id, delivery.wanted);
            let body = alert_body(&alert, mute.as_ref(), delivery.wanted, at);
            (id, body, alert.said_every())
        }
        Content::Message(_) | Content::Digest => {
            return Err(SendError::Never("a webhook takes events only".to_owned()));
        }
    };
    if let Value::Object(members) = &mut body {
        members.insert("id".to_owned(), json!(id));
    }
    webhook.post(at, &id, body.to_string()).await?;
    Ok(Receipt {
        message_ref: None,
        again_after,
    })
}

/// How an alert stands. `revision` orders what is said of the same one.
fn alert_body(alert: &Alert, mute: Option<&Mute>, revision: u64, at: Timestamp) -> Value {
    let service = |one: &Alerted| {
        json!({
            "id": one.service,
            "label": one.label,
            "host": one.host,
            "urgent": one.urgent,
            "status": one.ended.map_or("down", Ended::as_str),
            "down_at": one.down_at,
            "ended_at": one.ended.map(Ended::at),
            "downs": one.downs,
            "reason": one.reason,
        })
    };
    json!({
        "type": if alert.is_over() { "alert.over" } else { "alert.down" },
        "at": at,
        "revision": revision,
        "alert": {
            "id": alert.id,
            "scope": alert.scope.to_string(),
            "opened_at": alert.opened_at,
            "ended_at": alert.ended_at,
            "total": alert.total,
            "down": alert.down,
            "services": alert.named.iter().map(service).collect::<Vec<_>>(),
            "muted_until": mute.map(|mute| mute.until),
        },
    })
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
