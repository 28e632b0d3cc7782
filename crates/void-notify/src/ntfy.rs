//! ntfy: a push with Reject and a link. Approve only where the owner said so, on a topic that needs a
//! token to read, and never for what is critical.
//!
//! Messages are published as JSON, so that nothing in them is parsed as an action or a header. The
//! keys of the actions are in the body of a POST, never in an address.

use std::time::Duration;

use serde_json::{Value, json};
use void_control::notification_keys::{self as keys, Subject};
use void_domain::alerts::Alert;
use void_domain::catalogue::Risk;
use void_domain::mutes::Mute;
use void_domain::notifications::messages::{self, NotificationMessage, Room};
use void_domain::notifications::{
    BY_TELEGRAM, Because, Content, Delivery, Meaning, Target, decided_by_telegram, news,
};
use void_domain::policy::{Offer, offer};
use void_domain::proposals::Proposal;

use crate::contents;
use crate::notifications::{Notifications, frame, message_about};
use crate::notifiers::Ntfy;
use crate::notifiers::{Receipt, SendError};

/// ntfy cuts longer messages into attachments.
const MESSAGE_BYTES_MAX: usize = 4_000;
const TITLE_CHARS_MAX: usize = 200;
const ROOM: Room = Room::Apart {
    title_chars: TITLE_CHARS_MAX,
    body_bytes: MESSAGE_BYTES_MAX,
};
/// ntfy's own path on which actions call Void.
pub(super) const ACT_PATH: &str = "/api/notifications/act";

pub(super) async fn deliver(
    notify: &Notifications,
    delivery: &Delivery,
) -> Result<Receipt, SendError> {
    let Some(ntfy) = notify.notifiers.ntfy() else {
        return Err(SendError::Never("ntfy is no longer set up".to_owned()));
    };
    let mut again_after = Duration::ZERO;
    let mut message = match &delivery.content {
        Content::Message(id) => {
            let proposal = contents::subject(notify, *id).await?;
            let is_echo = decided_by_telegram(&proposal)
                .is_some_and(|at| delivery.sent_at.is_none_or(|sent_at| sent_at < at));
            if delivery.shown == 0 && news(&proposal).is_none() && !is_echo {
                return Err(SendError::Nothing);
            }
            about(notify, ntfy, &proposal, is_echo).await?
        }
        Content::Digest => {
            let gathered = contents::digest(notify, delivery.id).await?;
            let message = messages::digest(&gathered, &frame(notify).await?);
            again_after = contents::DIGEST_EVERY;
            let link = notify.notifiers.inbox_link();
            // What was said before is replaced, without a sound.
            let priority = if delivery.shown == 0 { 4 } else { 1 };
            published(&message, priority, link, Vec::new())
        }
        Content::Question(id) => {
            let question = contents::question(notify, *id).await?;
            let message = messages::question(&question, &frame(notify).await?, ROOM);
            // It is answered where the link leads.
            let priority = if question.state.is_open() { 4 } else { 1 };
            let link = notify.notifiers.inbox_link();
            published(&message, priority, link, Vec::new())
        }
        Content::Alert(id) => {
            let (alert, mute) = contents::alert(notify, *id).await?;
            again_after = alert.said_every();
            let priority = alert_priority(delivery, &alert, mute.as_ref());
            let message = messages::alert(&alert, mute.as_ref(), &frame(notify).await?);
            published(
                &message,
                priority,
                notify.notifiers.alert_link(&alert),
                Vec::new(),
            )
        }
        Content::Event(..) => return Err(SendError::Never("ntfy takes messages only".to_owned())),
    };
    if let Value::Object(members) = &mut message {
        // One notification per thing, replaced in place where the app can.
        members.insert(
            "sequence_id".to_owned(),
            json!(delivery.id.to_string().replace('-', "")),
        );
    }
    let message_ref = ntfy.publish(message).await?;
    Ok(Receipt {
        message_ref,
        again_after,
    })
}

/// What is down makes a sound once; what becomes of it replaces that, without one.
fn alert_priority(delivery: &Delivery, alert: &Alert, mute: Option<&Mute>) -> u8 {
    let by_telegram = mute.filter(|mute| mute.by.starts_with(BY_TELEGRAM));
    match delivery.shown {
        0 if alert.is_over() => 2,
        0 if alert.is_urgent() => 5,
        0 => 4,
        // Whoever holds the chat may not be the owner, who hears of it here.
        _ if by_telegram.is_some_and(|mute| delivery.sent_at < Some(mute.at)) => 4,
        _ => 1,
    }
}

/// Something that no decision belongs to and that cannot wait.
pub(super) async fn alert(
    notify: &Notifications,
    message: &NotificationMessage,
) -> Result<(), SendError> {
    let Some(ntfy) = notify.notifiers.ntfy() else {
        return Err(SendError::Nothing);
    };
    let link = notify.notifiers.public_url().map(str::to_owned);
    let urgent = published(message, 5, link, Vec::new());
    ntfy.publish(urgent).await.map(|_| ())
}

async fn about(
    notify: &Notifications,
    ntfy: &Ntfy,
    proposal: &Proposal,
    is_echo: bool,
) -> Result<Value, SendError> {
    let message = message_about(notify, proposal, ROOM).await?;
    let link = notify.notifiers.link(proposal.code.as_str());
    let asks = messages::asks(proposal);
    let actions = match (asks, notify.notifiers.public_url()) {
        (true, Some(base)) => actions(notify, ntfy, proposal, &message, base).await?,
        _ => Vec::new(),
    };
    let priority = match (asks, proposal.subject.risk) {
        (true, Risk::Critical) => 5,
        (true, Risk::Guarded | Risk::Nominal) => 4,
        // Whoever did not tap themselves should look.
        (false, _) if is_echo => 4,
        (false, _) => 1,
    };
    Ok(published(&message, priority, link, actions))
}

fn published(
    message: &NotificationMessage,
    priority: u8,
    link: Option<String>,
    actions: Vec<Value>,
) -> Value {
    let title: String = message.title.chars().take(TITLE_CHARS_MAX).collect();
    let body = void_domain::text::cut(&message.body, MESSAGE_BYTES_MAX);
    let mut published = json!({"title": title, "message": body, "priority": priority});
    if let Value::Object(members) = &mut published {
        if let Some(link) = link {
            members.insert("click".to_owned(), json!(link));
        }
        if !actions.is_empty() {
            members.insert("actions".to_owned(), json!(actions));
        }
    }
    published
}

async fn actions(
    notify: &Notifications,
    ntfy: &Ntfy,
    proposal: &Proposal,
    message: &NotificationMessage,
    base: &str,
) -> Result<Vec<Value>, SendError> {
    let reject = Meaning::RejectBecause(Because::Unsaid);
    let keys = keys::mint(
        notify.control(),
        &Target::Ntfy,
        Subject::Proposal(proposal),
        &[reject],
    )
    .await?;
    let mut actions = Vec::new();
    // What cannot be read whole here is not approved here.
    if message.is_whole && offer(ntfy.surface(), proposal.subject.risk) != Offer::LinkOnly {
        let key = keys::mint_approval(notify.control(), &Target::Ntfy, proposal).await?;
        actions.push(post_action("Approve", base, &key));
    }
    actions.extend(keys.iter().map(|key| post_action("Reject", base, key)));
    if let Some(link) = notify.notifiers.link(proposal.code.as_str()) {
        actions.push(json!({"action": "view", "label": "Open", "url": link}));
    }
    Ok(actions)
}

fn post_action(label: &str, base: &str, key: &str) -> Value {
    json!({
        "action": "http",
        "label": label,
        "url": format!("{base}{ACT_PATH}"),
        "method": "POST",
        "headers": {"Content-Type": "application/json"},
        "body": json!({"token": key}).to_string(),
        "clear": true,
    })
}
