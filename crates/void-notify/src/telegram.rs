//! Telegram: long polling, so no port is open to the outside; private chats only; people are known by
//! their numeric id.
//!
//! The bot's token is part of every address. Addresses are made here, for one call each, and no error
//! or log line ever holds one.

mod alert_taps;
mod chats;
mod commands;
mod keyboards;
mod question_taps;
mod sends;
mod updates;

use serde_json::Value;
use void_domain::notifications::Target;
use void_store::StoreError;
use void_store::notifications::pairs;

use crate::notifications::Notifications;
use crate::notifiers::Way;
use crate::notifiers::{Bot, CallError, PATIENCE};

pub(super) use sends::{deliver, send_test, send_text};
pub(super) use updates::listen;

/// The one gate for everything that comes from Telegram: a private chat with an account that the
/// owner named or paired. An empty list of paired accounts is nobody.
async fn admit(
    notify: &Notifications,
    from: &Value,
    chat: &Value,
) -> Result<Option<Target>, StoreError> {
    let Some(target) = private_chat(from, chat) else {
        return Ok(None);
    };
    let allowed = match notify.notifiers.telegram() {
        None => false,
        Some(bot) if !bot.allowed_users.is_empty() => bot.allowed_targets().contains(&target),
        Some(_) => {
            let pairs = notify.store().read(|tx| Box::pin(pairs::list(tx))).await?;
            pairs.iter().any(|pair| pair.target == target)
        }
    };
    Ok(allowed.then_some(target))
}

/// A person in a chat of their own with the bot.
fn private_chat(from: &Value, chat: &Value) -> Option<Target> {
    let user = from.get("id")?.as_i64()?;
    let is_private = chat.get("type")?.as_str()? == "private" && chat.get("id")?.as_i64()? == user;
    let is_bot = from.get("is_bot")?.as_bool()?;
    (is_private && !is_bot && user > 0).then_some(Target::Telegram { user })
}

fn is_broken(notify: &Notifications, why: &str) {
    if let Some(standings) = notify.notifiers.standings() {
        standings.is_broken(Way::Polling, notify.now(), why);
    }
}
