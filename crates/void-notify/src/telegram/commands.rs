//! What may be typed: `/start` with a code, `/status`, `/inbox`, `/freeze`. Text never decides anything
//! about a proposal, whoever writes it.

use serde_json::Value;
use void_control::{freezes, inbox, proposals};
use void_domain::actors::Actor;
use void_domain::notifications::Target;
use void_domain::proposals::Status;
use void_store::StoreError;

use super::{Bot, admit, chats, keyboards, private_chat};
use crate::acts::owner_ctx;
use crate::notifications::Notifications;
use crate::pairs;

const LISTED_MAX: u32 = 8;
const CODE_BYTES_MAX: usize = 64;
const HELP: &str = "I tell you what waits, and you answer with the buttons. /status, /inbox, /freeze. \
    What you write never approves anything.";

pub(super) async fn heard(
    notify: &Notifications,
    bot: &Bot,
    message: &Value,
) -> Result<(), StoreError> {
    let (from, chat) = (&message["from"], &message["chat"]);
    let Some(text) = message.get("text").and_then(Value::as_str) else {
        return Ok(());
    };
    let mut words = text.split_whitespace();
    // In a chat with several bots a command names its bot.
    let command = words.next().unwrap_or_default();
    let command = command.split('@').next().unwrap_or_default();
    if let ("/start", Some(code)) = (command, words.next()) {
        return start(notify, bot, from, chat, code).await;
    }
    let Some(target) = admit(notify, from, chat).await? else {
        // Strangers are not told that anybody is here.
        return Ok(());
    };
    let Target::Telegram { user } = target else {
        return Ok(());
    };
    match command {
        "/status" => say(notify, bot, user, &status(notify).await?, None).await,
        "/freeze" => say(notify, bot, user, &freeze(notify, bot, user).await?, None).await,
        "/inbox" => {
            let (text, keyboard) = list(notify, user).await?;
            say(notify, bot, user, &text, Some(keyboard)).await;
        }
        _ => say(notify, bot, user, HELP, None).await,
    }
    Ok(())
}

async fn say(notify: &Notifications, bot: &Bot, user: i64, text: &str, keyboard: Option<Value>) {
    let target = Target::Telegram { user };
    chats::patiently(notify, &target, || bot.say(user, text, keyboard.clone())).await;
}

/// Said if there is room for it: nobody can make the bot speak until it may not.
async fn hint(notify: &Notifications, bot: &Bot, user: i64, text: &str) {
    if notify.notifiers.may_send(&Target::Telegram { user })
        && let Err(error) = bot.say(user, text, None).await
    {
        tracing::debug!(error = error.words(), "a hint could not be sent");
    }
}

/// Pairing, by the code of a link that the owner opened.
async fn start(
    notify: &Notifications,
    bot: &Bot,
    from: &Value,
    chat: &Value,
    code: &str,
) -> Result<(), StoreError> {
    let Some(target @ Target::Telegram { user }) = private_chat(from, chat) else {
        return Ok(());
    };
    let allowed = bot.allowed_users();
    let may_pair = allowed.is_empty() || allowed.contains(&user);
    let name = from.get("username").or_else(|| from.get("first_name"));
    let name = name.and_then(Value::as_str).unwrap_or("?");
    let paired = may_pair
        && code.len() <= CODE_BYTES_MAX
        && pairs::accept(notify, &target, name, code).await?;
    if paired {
        let text =
            "Paired. What waits for you is asked here from now on. /status, /inbox, /freeze.";
        say(notify, bot, user, text, None).await;
    } else {
        let text =
            "This code is not good, or no longer. Make a new one with: void notify pair telegram";
        hint(notify, bot, user, text).await;
    }
    Ok(())
}

async fn status(notify: &Notifications) -> Result<String, StoreError> {
    let inbox = inbox::look(notify.control(), None, 1).await?;
    let running = proposals::count_in(notify.control(), Status::Running).await?;
    let frozen = freezes::current(notify.control())
        .await?
        .holds_at(notify.now());
    let down = void_control::health::list(notify.control())
        .iter()
        .filter(|view| view.standing.health == void_domain::services::Health::Down)
        .count();
    let rehearsal = if notify.control().is_rehearsal() {
        "REHEARSAL\n"
    } else {
        ""
    };
    let frozen = if frozen {
        "\nFROZEN: nothing new starts"
    } else {
        ""
    };
    Ok(format!(
        "{rehearsal}{} wait · {running} run · {} with unknown outcome · {down} services down{frozen}",
        inbox.waiting_count, inbox.unknown_count
    ))
}

async fn freeze(notify: &Notifications, bot: &Bot, user: i64) -> Result<String, StoreError> {
    let surface = bot.surface(user);
    let ctx = owner_ctx(notify, Actor::Owner { surface })?;
    let reason = Some("from Telegram".to_owned());
    match freezes::freeze(notify.control(), &ctx, reason, None).await {
        Ok(_) => Ok("Frozen: nothing new starts; what runs now runs to its end. Thaw on the web or with: void thaw".to_owned()),
        Err(freezes::FreezeError::Store(error)) => Err(error),
        Err(error) => Ok(error.to_string()),
    }
}

async fn list(notify: &Notifications, user: i64) -> Result<(String, Value), StoreError> {
    let inbox = inbox::look(notify.control(), None, LISTED_MAX).await?;
    let text = match inbox.waiting_count {
        0 => "Nothing waits for you.".to_owned(),
        1 => "1 waits for you.".to_owned(),
        count => format!("{count} wait for you; the oldest:"),
    };
    let keyboard = keyboards::choices(notify, &Target::Telegram { user }, &inbox.waiting).await?;
    Ok((text, keyboard))
}
