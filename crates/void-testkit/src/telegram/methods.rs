//! The methods that a bot calls, with the refusals that the real ones have.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::BOT;
use super::state::{Call, Message, State};

const TEXT_UNITS_MAX: usize = 4_096;
const DATA_BYTES_MAX: usize = 64;
const ANSWER_CHARS_MAX: usize = 200;
/// In a chat: a short burst, then about one per second. Everywhere: 30 per second.
const CHAT_BURST: usize = 6;
const ALL_PER_SECOND: usize = 30;

pub(crate) struct BotRefusal {
    pub code: u16,
    pub words: String,
}

fn bad(words: &str) -> BotRefusal {
    BotRefusal {
        code: 400,
        words: format!("Bad Request: {words}"),
    }
}

type Called = Result<Value, BotRefusal>;

impl State {
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Called {
        let at = Instant::now();
        let called = match method {
            "getMe" => {
                Ok(json!({"id": 123_456, "is_bot": true, "first_name": "Void", "username": BOT}))
            }
            "sendMessage" => self.limit(params, at).and_then(|()| self.send(params)),
            "editMessageText" | "editMessageReplyMarkup" => self
                .limit(params, at)
                .and_then(|()| self.edit(method, params)),
            "answerCallbackQuery" => self.answer_callback(params),
            _ => Err(BotRefusal {
                code: 404,
                words: "Not Found: method not found".into(),
            }),
        };
        if called.is_ok() {
            self.calls.push(Call {
                method: method.to_owned(),
                params: params.clone(),
                at,
            });
        }
        called
    }

    fn limit(&mut self, params: &Value, now: Instant) -> Result<(), BotRefusal> {
        let chat = &params["chat_id"];
        let since = |seconds: u64| {
            let calls = self.calls.iter().rev();
            calls.take_while(move |call| now.duration_since(call.at) < Duration::from_secs(seconds))
        };
        let is_message =
            |call: &&Call| call.method != "answerCallbackQuery" && call.method != "getMe";
        let all = since(1).filter(is_message).count();
        let here = since(5)
            .filter(is_message)
            .filter(|call| call.params["chat_id"] == *chat)
            .count();
        if all >= ALL_PER_SECOND || here >= CHAT_BURST + 5 {
            self.rate_limited += 1;
            return Err(BotRefusal {
                code: 429,
                words: "Too Many Requests".into(),
            });
        }
        Ok(())
    }

    fn send(&mut self, params: &Value) -> Called {
        let chat = params["chat_id"]
            .as_i64()
            .ok_or_else(|| bad("chat not found"))?;
        if self.blocked.contains(&chat) {
            return Err(BotRefusal {
                code: 403,
                words: "Forbidden: bot was blocked by the user".into(),
            });
        }
        if !self.started.contains(&chat) {
            let words = "Forbidden: bot can't initiate conversation with a user".into();
            return Err(BotRefusal { code: 403, words });
        }
        let text = checked_text(params)?;
        check_keyboard(&params["reply_markup"])?;
        let id = self.new_message_id();
        let keyboard = params["reply_markup"].clone();
        self.messages.insert(
            (chat, id),
            Message {
                id,
                chat,
                text,
                keyboard,
                edits: 0,
            },
        );
        Ok(json!({"message_id": id, "chat": {"id": chat, "type": "private"}, "date": 1}))
    }

    fn edit(&mut self, method: &str, params: &Value) -> Called {
        let key = (
            params["chat_id"].as_i64().unwrap_or(0),
            params["message_id"].as_i64().unwrap_or(0),
        );
        let text = match method {
            "editMessageText" => Some(checked_text(params)?),
            _ => None,
        };
        let keyboard = params["reply_markup"].clone();
        check_keyboard(&keyboard)?;
        let message = self
            .messages
            .get_mut(&key)
            .ok_or_else(|| bad("message to edit not found"))?;
        let same_text = text.as_ref().is_none_or(|text| *text == message.text);
        if same_text && message.keyboard == keyboard {
            return Err(bad(
                "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
            ));
        }
        message.text = text.unwrap_or_else(|| message.text.clone());
        message.keyboard = keyboard;
        message.edits += 1;
        Ok(
            json!({"message_id": message.id, "chat": {"id": message.chat, "type": "private"}, "date": 1}),
        )
    }

    fn answer_callback(&mut self, params: &Value) -> Called {
        let id = params["callback_query_id"].as_str().unwrap_or_default();
        let text = params["text"].as_str().unwrap_or_default();
        if text.chars().count() > ANSWER_CHARS_MAX {
            return Err(bad("MESSAGE_TOO_LONG"));
        }
        if !self.open_callbacks.remove(id) {
            return Err(bad(
                "query is too old and response timeout expired or query ID is invalid",
            ));
        }
        self.answers.insert(id.to_owned(), text.to_owned());
        Ok(json!(true))
    }
}

fn checked_text(params: &Value) -> Result<String, BotRefusal> {
    let text = params["text"].as_str().unwrap_or_default();
    if text.trim().is_empty() {
        return Err(bad("message text is empty"));
    }
    if text.encode_utf16().count() > TEXT_UNITS_MAX {
        return Err(bad("message is too long"));
    }
    Ok(text.to_owned())
}

fn check_keyboard(keyboard: &Value) -> Result<(), BotRefusal> {
    let rows = keyboard["inline_keyboard"].as_array();
    for button in rows
        .into_iter()
        .flatten()
        .flat_map(|row| row.as_array().into_iter().flatten())
    {
        if button["text"].as_str().is_none_or(str::is_empty) {
            return Err(bad("can't parse inline keyboard button: text is empty"));
        }
        match (button["callback_data"].as_str(), button["url"].as_str()) {
            (Some(data), None) if (1..=DATA_BYTES_MAX).contains(&data.len()) => {}
            (None, Some(url)) if url.starts_with("http") => {}
            _ => return Err(bad("BUTTON_DATA_INVALID")),
        }
    }
    Ok(())
}
