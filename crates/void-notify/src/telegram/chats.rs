//! Speaking in a chat: plain text, no previews, nothing that could be forwarded with its buttons.

use std::time::Duration;

use serde_json::{Value, json};
use void_domain::notifications::messages::{MESSAGE_UNITS_MAX, cut_units};
use void_domain::notifications::{Channel, Target};

use super::{Bot, CallError, PATIENCE};
use crate::notifications::Notifications;

/// Telegram's limit on the answer to a tap.
const ANSWER_CHARS_MAX: usize = 200;

impl Bot {
    /// The new message's number.
    pub(super) async fn say(
        &self,
        user: i64,
        text: &str,
        keyboard: Option<Value>,
    ) -> Result<String, CallError> {
        let mut params = json!({
            "chat_id": user,
            "text": cut_units(text, MESSAGE_UNITS_MAX),
            "link_preview_options": {"is_disabled": true},
            "protect_content": true,
        });
        with_keyboard(&mut params, keyboard);
        let sent = self.call("sendMessage", params, PATIENCE).await?;
        let number = sent.get("message_id").and_then(Value::as_i64);
        let nameless = || CallError::NoAnswer("the message has no number".to_owned());
        number.map(|number| number.to_string()).ok_or_else(nameless)
    }

    /// Changes a message; fine if it says that already, or is gone.
    pub(super) async fn edit(
        &self,
        user: i64,
        message: &str,
        text: &str,
        keyboard: Option<Value>,
    ) -> Result<(), CallError> {
        let mut params = json!({
            "chat_id": user,
            "message_id": message.parse::<i64>().unwrap_or_default(),
            "text": cut_units(text, MESSAGE_UNITS_MAX),
            "link_preview_options": {"is_disabled": true},
        });
        with_keyboard(&mut params, keyboard);
        unless_moot(self.call("editMessageText", params, PATIENCE).await)
    }

    pub(super) async fn edit_keyboard(
        &self,
        user: i64,
        message: i64,
        keyboard: Value,
    ) -> Result<(), CallError> {
        let params = json!({"chat_id": user, "message_id": message, "reply_markup": keyboard});
        unless_moot(self.call("editMessageReplyMarkup", params, PATIENCE).await)
    }

    /// Ends the little clock on the button. Too late is nobody's loss.
    pub(super) async fn answer(&self, callback: &str, text: &str) {
        let text: String = text.chars().take(ANSWER_CHARS_MAX).collect();
        let params = json!({"callback_query_id": callback, "text": text});
        if let Err(error) = self.call("answerCallbackQuery", params, PATIENCE).await {
            tracing::debug!(error = error.words(), "a tap could not be answered");
        }
    }
}

/// A turn comes within this time, or it is taken.
const TURN_WITHIN: Duration = Duration::from_secs(3);
const CALLS_MAX: u32 = 4;
/// Who asks for a longer pause is not waited for: the person taps again.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Calls while somebody looks at the screen: in turn with what the outbox sends, and again if the API
/// asks for a short pause.
pub(super) async fn patiently<T, F>(notify: &Notifications, target: &Target, call: impl Fn() -> F)
where
    F: Future<Output = Result<T, CallError>>,
{
    let end = tokio::time::Instant::now() + TURN_WITHIN;
    while !notify.notifiers.may_send(target) && tokio::time::Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    for _ in 0..CALLS_MAX {
        match call().await {
            Ok(_) => return,
            Err(CallError::Refused {
                code: 429,
                retry_after,
                ..
            }) => {
                let pause = retry_after.unwrap_or_default().min(PAUSE_MAX);
                notify.notifiers.pause(Channel::Telegram, pause);
                tokio::time::sleep(pause).await;
            }
            Err(error) => {
                tracing::debug!(error = error.words(), "a chat could not be answered");
                return;
            }
        }
    }
}

fn with_keyboard(params: &mut Value, keyboard: Option<Value>) {
    if let (Value::Object(members), Some(keyboard)) = (params, keyboard) {
        members.insert("reply_markup".to_owned(), keyboard);
    }
}

fn unless_moot(called: Result<Value, CallError>) -> Result<(), CallError> {
    match called {
        Ok(_) => Ok(()),
        Err(error) if error.is_moot() => Ok(()),
        Err(error) => Err(error),
    }
}
