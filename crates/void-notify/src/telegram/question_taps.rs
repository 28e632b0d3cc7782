//! Taps under a question: the button of an option answers with it. The key is good once.

use void_control::questions::{self, AnswerRequest, EndError, QuestionKey};
use void_domain::actors::Actor;
use void_domain::ids::QuestionId;
use void_domain::notifications::{Key, Meaning, Target};
use void_domain::questions::ReplyChoice;
use void_domain::taint::Taint;
use void_domain::text;
use void_store::StoreError;

use super::Bot;
use super::updates::TOO_OLD;
use crate::acts::owner_ctx;
use crate::notifications::Notifications;

/// What the person reads as an answer. Who it is was checked before.
pub(super) async fn tapped(
    notify: &Notifications,
    bot: &Bot,
    target: &Target,
    key: &Key,
    id: QuestionId,
) -> Result<String, StoreError> {
    let (Target::Telegram { user }, Meaning::Option(option)) = (target, key.meaning) else {
        return Ok(TOO_OLD.to_owned());
    };
    let surface = bot.surface(*user);
    let ctx = owner_ctx(notify, Actor::Owner { surface })?;
    let wanted = AnswerRequest {
        choice: ReplyChoice::Option(option.number()),
        taint: Taint::clean(),
        key: Some(key.hash),
    };
    let control = notify.control();
    match questions::answer(control, &ctx, QuestionKey::Id(id), wanted).await {
        // The outbox brings the message up to date.
        Ok(_) => Ok("Answered.".to_owned()),
        Err(EndError::Store(error)) => Err(error),
        Err(EndError::NotFound | EndError::KeyUsed) => Ok(TOO_OLD.to_owned()),
        Err(error) => Ok(text::escaped(&error.to_string())),
    }
}
