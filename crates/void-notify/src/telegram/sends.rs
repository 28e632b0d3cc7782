//! Delivers what the outbox holds for a chat: a new message, or the old one in its new form.

use std::time::Duration;

use void_domain::ids::AlertId;
use void_domain::notifications::messages::Room;
use void_domain::notifications::{Content, Delivery, Target, messages, news};

use super::{Bot, keyboards};
use crate::contents;
use crate::notifications::{Notifications, frame, message_about};
use crate::notifiers::{Receipt, SendError};

pub(crate) async fn deliver(
    notify: &Notifications,
    user: i64,
    delivery: &Delivery,
) -> Result<Receipt, SendError> {
    let Some(bot) = notify.notifiers.telegram() else {
        return Err(SendError::Never("there is no bot any more".to_owned()));
    };
    let (text, keyboard, again_after) = match &delivery.content {
        Content::Message(id) => {
            let proposal = contents::subject(notify, *id).await?;
            if delivery.shown == 0 && delivery.message_ref.is_none() && news(&proposal).is_none() {
                return Err(SendError::Nothing);
            }
            let message = message_about(notify, &proposal, Room::TELEGRAM).await?;
            let keyboard = keyboards::card(notify, user, &proposal, &message).await?;
            (message.text(), keyboard, Duration::ZERO)
        }
        Content::Digest => {
            let gathered = contents::digest(notify, delivery.id).await?;
            let mut text = messages::digest(&gathered, &frame(notify).await?).text();
            if gathered.tally.total() > 0 {
                text.push_str("\n/inbox shows them one by one");
            }
            (text, keyboards::keyboard(&[]), contents::DIGEST_EVERY)
        }
        Content::Question(id) => {
            let question = contents::question(notify, *id).await?;
            let message = messages::question(&question, &frame(notify).await?, Room::TELEGRAM);
            let keyboard = keyboards::question(notify, user, &question, &message).await?;
            (message.text(), keyboard, Duration::ZERO)
        }
        Content::Alert(id) => return deliver_alert(notify, bot, user, delivery, *id).await,
        Content::Event(..) => {
            return Err(SendError::Never("a chat takes messages only".to_owned()));
        }
    };
    let message_ref = match &delivery.message_ref {
        None => bot.say(user, &text, Some(keyboard)).await?,
        Some(known) => {
            bot.edit(user, known, &text, Some(keyboard)).await?;
            known.clone()
        }
    };
    Ok(Receipt {
        message_ref: Some(message_ref),
        again_after,
    })
}

/// An alert is edited in place. What is said once more is a new message, and the old one points to it.
async fn deliver_alert(
    notify: &Notifications,
    bot: &Bot,
    user: i64,
    delivery: &Delivery,
    id: AlertId,
) -> Result<Receipt, SendError> {
    let (alert, mute) = contents::alert(notify, id).await?;
    let frame = frame(notify).await?;
    let text = messages::alert(&alert, mute.as_ref(), &frame).text();
    let target = Target::Telegram { user };
    let keyboard = keyboards::alert(notify, &target, &alert, mute.as_ref()).await?;
    let message_ref = match &delivery.message_ref {
        Some(known) if delivery.shown > 0 => {
            bot.edit(user, known, &text, Some(keyboard)).await?;
            known.clone()
        }
        old => {
            let new = bot.say(user, &text, Some(keyboard)).await?;
            if let Some(old) = old {
                let text = messages::told_again(&alert, &frame);
                let empty = keyboards::keyboard(&[]);
                // The new message says everything; an old one that stays as it was is no loss.
                if let Err(error) = bot.edit(user, old, &text, Some(empty)).await {
                    tracing::debug!(error = error.words(), "an old alert could not be edited");
                }
            }
            new
        }
    };
    Ok(Receipt {
        message_ref: Some(message_ref),
        again_after: alert.said_every(),
    })
}

pub(crate) async fn send_test(notify: &Notifications, user: i64) -> Result<(), SendError> {
    let Some(bot) = notify.notifiers.telegram() else {
        return Err(SendError::Nothing);
    };
    let keyboard = keyboards::test(notify, &Target::Telegram { user }).await?;
    let text = "A test from Void: messages arrive here. Does the button work?";
    bot.say(user, text, Some(keyboard)).await?;
    Ok(())
}

/// Something that has no buttons and is never edited.
pub(crate) async fn send_text(
    notify: &Notifications,
    user: i64,
    text: &str,
) -> Result<(), SendError> {
    let Some(bot) = notify.notifiers.telegram() else {
        return Err(SendError::Nothing);
    };
    bot.say(user, text, None).await?;
    Ok(())
}
