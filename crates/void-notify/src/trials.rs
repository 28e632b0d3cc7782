//! A test message to every place, sent at once and not through the outbox: whoever asks wants to know
//! what happened.

use serde_json::json;
use void_control::Ctx;
use void_control::{facts, random};
use void_domain::notifications::Target;
use void_store::StoreError;

use crate::notifications::Notifications;
use crate::notifiers::SendError;
use crate::notifiers::Way;
use crate::{lists, telegram};

#[derive(Debug, Clone)]
pub struct Tried {
    pub target: Target,
    pub problem: Option<String>,
}

/// Sends to `only`, or to every place there is.
pub async fn try_out(
    notify: &Notifications,
    ctx: &Ctx,
    only: Option<Target>,
) -> Result<Vec<Tried>, StoreError> {
    let places = lists::list(notify).await?.places;
    let targets = places.into_iter().filter_map(|place| place.target);
    let wanted = targets.filter(|target| only.as_ref().is_none_or(|only| only == target));
    let mut tried = Vec::new();
    for target in wanted {
        let problem = match send(notify, &target).await {
            Ok(()) => {
                note(notify, &target, None);
                None
            }
            Err(SendError::Later(why) | SendError::Never(why)) => {
                note(notify, &target, Some(&why));
                Some(why)
            }
            Err(SendError::Pause(pause)) => Some(format!("it asks to wait {} s", pause.as_secs())),
            Err(SendError::Nothing) => Some("there was nothing to say".to_owned()),
            Err(SendError::Store(error)) => return Err(error),
        };
        tried.push(Tried { target, problem });
    }
    let detail = json!({
        "targets": tried.iter().map(|tried| tried.target.to_string()).collect::<Vec<_>>(),
        "failed": tried.iter().filter(|tried| tried.problem.is_some()).count(),
    });
    let (context, at) = (notify.control().context(ctx), notify.now());
    notify
        .store()
        .write(move |tx| {
            Box::pin(async move {
                facts::audit(tx, &context, at, "notification.tested", None, detail).await
            })
        })
        .await?;
    Ok(tried)
}

/// A message that arrived shows that the way is open, and one that did not that it is not.
fn note(notify: &Notifications, target: &Target, problem: Option<&str>) {
    let Some(standings) = notify.notifiers.standings() else {
        return;
    };
    let (way, now) = (Way::To(target.clone()), notify.now());
    match problem {
        None => standings.works(way, now),
        Some(why) => standings.is_broken(way, now, why),
    }
}

async fn send(notify: &Notifications, target: &Target) -> Result<(), SendError> {
    let now = notify.now();
    match target {
        Target::Telegram { user } => telegram::send_test(notify, *user).await,
        Target::Ntfy => {
            let Some(ntfy) = notify.notifiers.ntfy() else {
                return Err(SendError::Nothing);
            };
            let message =
                json!({"title": "Void", "message": "A test: messages arrive here.", "priority": 3});
            ntfy.publish(message).await.map(|_| ())
        }
        Target::Webhook { name } => {
            let Some(webhook) = notify.notifiers.webhook(name) else {
                return Err(SendError::Nothing);
            };
            let id = random::notification_id(now)?.to_string();
            let body = json!({"type": "notification.test", "at": now, "id": id});
            webhook.post(now, &id, body.to_string()).await
        }
    }
}
