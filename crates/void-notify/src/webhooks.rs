//! What webhooks are told: every event of a proposal, and how each alert stands, as JSON.

use std::time::Duration;

use serde_json::{Value, json};
use void_domain::alerts::{Alert, Alerted, Ended};
use void_domain::mutes::Mute;
use void_domain::notifications::{Content, Delivery};
use void_domain::time::Timestamp;

use crate::contents;
use crate::notifications::Notifications;
use crate::notifiers::{Receipt, SendError};

pub(super) async fn deliver(
    notify: &Notifications,
    name: &str,
    delivery: &Delivery,
) -> Result<Receipt, SendError> {
    let Some(webhook) = notify.notifiers.webhook(name) else {
        return Err(SendError::Never(
            "the settings no longer name it".to_owned(),
        ));
    };
    let at = notify.now();
    let (id, mut body, again_after) = match &delivery.content {
        Content::Event(_, stored) => {
            let body: Value = serde_json::from_str(stored).unwrap_or_default();
            (delivery.id.to_string(), body, Duration::ZERO)
        }
        Content::Alert(id) => {
            let (alert, mute) = contents::alert(notify, *id).await?;
            // The same row says something else each time: each of it is a delivery of its own.
            let id = format!("{}-{}", delivery.id, delivery.wanted);
            let body = alert_body(&alert, mute.as_ref(), delivery.wanted, at);
            (id, body, alert.said_every())
        }
        Content::Message(_) | Content::Digest | Content::Question(_) => {
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
