//! People: what they see in their chat with the bot, and what they do.

use std::sync::Arc;

use serde_json::{Value, json};

use super::BotState;
use super::state::Message;
use crate::eventually;

pub struct Phone {
    shared: Arc<BotState>,
    pub user: i64,
}

/// A tap, and what it is answered with.
pub struct Tap {
    shared: Arc<BotState>,
    pub id: String,
}

impl Tap {
    /// What the person reads. Every tap is answered.
    pub async fn answer(&self) -> String {
        eventually("a tap to be answered", || async {
            self.shared.lock().answers.get(&self.id).cloned()
        })
        .await
    }
}

impl Phone {
    pub(super) fn new(shared: Arc<BotState>, user: i64) -> Self {
        Self { shared, user }
    }

    fn person(&self) -> Value {
        json!({"id": self.user, "is_bot": false, "first_name": "Test", "username": format!("user{}", self.user)})
    }

    /// Types something into the chat.
    pub fn say(&self, text: &str) {
        let mut state = self.shared.lock();
        state.started.insert(self.user);
        let id = state.new_message_id();
        let message = json!({
            "message_id": id, "from": self.person(), "chat": {"id": self.user, "type": "private"}, "date": 1, "text": text,
        });
        state.push_update(json!({"message": message}));
        drop(state);
        self.shared.changed.notify_waiters();
    }

    /// The deep link of a pairing was opened.
    pub fn open(&self, link: &str) {
        let code = link.split_once("?start=").map_or(link, |(_, code)| code);
        self.say(&format!("/start {code}"));
    }

    pub fn block(&self) {
        self.shared.lock().blocked.insert(self.user);
    }

    /// What the chat shows, oldest first; only what the bot wrote.
    pub fn messages(&self) -> Vec<Message> {
        let state = self.shared.lock();
        let mine = state
            .messages
            .values()
            .filter(|message| message.chat == self.user);
        mine.cloned().collect()
    }

    pub fn message(&self, id: i64) -> Option<Message> {
        self.shared.lock().messages.get(&(self.user, id)).cloned()
    }

    /// The newest message that holds these words, as soon as it does.
    pub async fn sees(&self, words: &str) -> Message {
        eventually(&format!("a message with \"{words}\""), || async {
            let mut messages = self.messages();
            messages.reverse();
            messages
                .into_iter()
                .find(|message| message.text.contains(words))
        })
        .await
    }

    /// The message as soon as it has a button that begins so.
    pub async fn sees_button(&self, id: i64, label: &str) -> Message {
        eventually(&format!("a button \"{label}\""), || async {
            let message = self.message(id)?;
            let has = message
                .labels()
                .iter()
                .any(|known| known.starts_with(label));
            has.then_some(message)
        })
        .await
    }

    /// Taps the button that begins with this label, as it is under the message now.
    pub fn tap(&self, id: i64, label: &str) -> Tap {
        let message = self.message(id).expect("the message");
        let buttons = message.buttons();
        let found = buttons.iter().find(|(known, _)| known.starts_with(label));
        let (_, data) = found.unwrap_or_else(|| panic!("no button {label} in {buttons:?}"));
        self.send_tap(id, data)
    }

    /// A tap with this data under this message of one's own chat.
    pub fn send_tap(&self, id: i64, data: &str) -> Tap {
        let chat = json!({"id": self.user, "type": "private"});
        self.send_callback(json!({"message_id": id, "chat": chat, "date": 1}), data)
    }

    /// A tap from anywhere.
    pub fn send_callback(&self, message: Value, data: &str) -> Tap {
        let mut state = self.shared.lock();
        let id = state.new_callback();
        let callback = json!({
            "id": id, "from": self.person(), "message": message, "chat_instance": "1", "data": data,
        });
        state.push_update(json!({"callback_query": callback}));
        drop(state);
        self.shared.changed.notify_waiters();
        Tap {
            shared: Arc::clone(&self.shared),
            id,
        }
    }

    /// An update of any form.
    pub fn send_raw(&self, update: Value) {
        self.shared.lock().push_update(update);
        self.shared.changed.notify_waiters();
    }
}
