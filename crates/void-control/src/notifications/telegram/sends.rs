//! Delivers what the outbox holds for a chat: a new message, or the old one in its new form.

use void_domain::notifications::messages::Room;
use void_domain::notifications::{Content, Delivery, Target, messages, news};

use super::keyboards;
use crate::control::Control;
use crate::notifications::frame;
use crate::notifications::worker::{self, Receipt, SendError};

pub(in crate::notifications) async fn deliver(
    control: &Control,
    user: i64,
    delivery: &Delivery,
) -> Result<Receipt, SendError> {
    let Some(bot) = control.notifiers.telegram() else {
        return Err(SendError::Never("there is no bot any more".to_owned()));
    };
    let (text, keyboard) = match &delivery.content {
        Content::Message(id) => {
            let proposal = worker::subject(control, *id).await?;
            if delivery.shown == 0 && delivery.message_ref.is_none() && news(&proposal).is_none() {
                return Err(SendError::Nothing);
            }
            let message = messages::about(&proposal, &frame(control).await?, Room::TELEGRAM);
            let keyboard = keyboards::card(control, user, &proposal, &message).await?;
            (message.text(), keyboard)
        }
        Content::Digest => {
            let (tally, named) = worker::digest(control, delivery.id).await?;
            let message = messages::digest(&tally, &named, &frame(control).await?);
            let text = format!("{}\n/inbox shows them one by one", message.text());
            (text, keyboards::keyboard(&[]))
        }
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
    })
}

pub(in crate::notifications) async fn send_test(
    control: &Control,
    user: i64,
) -> Result<(), SendError> {
    let Some(bot) = control.notifiers.telegram() else {
        return Err(SendError::Nothing);
    };
    let keyboard = keyboards::test(control, &Target::Telegram { user }).await?;
    let text = "A test from Void: messages arrive here. Does the button work?";
    bot.say(user, text, Some(keyboard)).await?;
    Ok(())
}

/// Something that has no buttons and is never edited.
pub(in crate::notifications) async fn send_text(
    control: &Control,
    user: i64,
    text: &str,
) -> Result<(), SendError> {
    let Some(bot) = control.notifiers.telegram() else {
        return Err(SendError::Nothing);
    };
    bot.say(user, text, None).await?;
    Ok(())
}
