//! A Bot API that exists on this machine only, in the real wire format, with people whose phones a test
//! holds in its hand.
//!
//! What the real one refuses is refused here too: long texts, long button data, edits that change
//! nothing, messages to people who never spoke to the bot, a second poller, and too much at once.

#![expect(
    clippy::indexing_slicing,
    reason = "JSON values only: what is absent reads as null"
)]

mod methods;
mod phones;
mod state;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::eventually;
use crate::http::{HttpServer, Reply, Request};
pub use phones::{Phone, Tap};
use state::State;
pub use state::{Call, Message};

pub const TOKEN: &str = "123456:TEST-TOKEN-of-the-fake-bot-api";
pub const BOT: &str = "void_test_bot";

pub struct BotApi {
    server: HttpServer,
    shared: Arc<BotState>,
}

pub(crate) struct BotState {
    state: Mutex<State>,
    changed: Notify,
}

/// What goes wrong with the next calls of a method, in order.
#[derive(Debug, Clone)]
pub enum Fault {
    /// The connection dies before anything happened.
    DieBefore,
    /// It happened, and then the connection dies.
    DieAfter,
    /// An answer with this status and description.
    Refuse(u16, &'static str),
    /// 429 with `retry_after`, in seconds.
    TooMany(u64),
}

impl BotApi {
    pub fn start() -> Self {
        Self::on(0, TOKEN)
    }

    pub fn on(port: u16, token: &str) -> Self {
        let shared = Arc::new(BotState {
            state: Mutex::new(State::new(token)),
            changed: Notify::new(),
        });
        let served = Arc::clone(&shared);
        let server = HttpServer::start(
            port,
            Arc::new(move |request| {
                let shared = Arc::clone(&served);
                Box::pin(async move { answer(&shared, request).await })
            }),
        );
        Self { server, shared }
    }

    pub fn url(&self) -> String {
        self.server.url()
    }

    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Somebody with an account. They have to speak to the bot before it may speak to them.
    pub fn phone(&self, user: i64) -> Phone {
        Phone::new(Arc::clone(&self.shared), user)
    }

    /// Everything that the bot called, without its questions for updates.
    pub fn calls(&self) -> Vec<Call> {
        self.shared.lock().calls.clone()
    }

    /// Everything that the bot ever sent, byte for byte.
    pub fn everything_sent(&self) -> String {
        let state = self.shared.lock();
        let calls: Vec<String> = state
            .calls
            .iter()
            .map(|call| call.params.to_string())
            .collect();
        calls.join("\n")
    }

    pub fn polls(&self) -> u64 {
        self.shared.lock().polls
    }

    /// How often it had to say 429 by its own rules.
    pub fn rate_limited(&self) -> u64 {
        self.shared.lock().rate_limited
    }

    pub fn fail(&self, method: &'static str, faults: impl IntoIterator<Item = Fault>) {
        let mut state = self.shared.lock();
        state.faults.entry(method).or_default().extend(faults);
    }

    /// From now on every update is delivered this often, and batches come in reverse.
    pub fn repeat_updates(&self, times: usize) {
        self.shared.lock().repeat = times;
    }

    /// Gives every update out again that was ever made, as if none had been confirmed.
    pub fn rewind(&self) {
        let mut state = self.shared.lock();
        state.rewind();
        drop(state);
        self.shared.changed.notify_waiters();
    }

    /// How many updates were given out, every copy counted.
    pub fn delivered(&self) -> u64 {
        self.shared.lock().delivered
    }

    /// Waits until the bot has confirmed every update, however many there are, as long as it goes on.
    pub async fn heard_out(&self) {
        loop {
            let left = self.shared.lock().unconfirmed();
            if left == 0 {
                return;
            }
            eventually("the bot to confirm more updates", || async {
                (self.shared.lock().unconfirmed() < left).then_some(())
            })
            .await;
        }
    }

    /// While down, everybody is hung up on.
    pub fn set_down(&self, down: bool) {
        self.server.set_down(down);
        self.shared.changed.notify_waiters();
    }

    /// Another program asks for the updates of the same bot.
    pub fn second_poller(&self) {
        self.shared.lock().begin_poll();
        self.shared.changed.notify_waiters();
    }
}

impl BotState {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn answer(shared: &BotState, request: Request) -> Reply {
    let Some((token, method)) = request
        .path
        .strip_prefix("/bot")
        .and_then(|rest| rest.split_once('/'))
    else {
        return refuse(404, "Not Found");
    };
    // Played by hand it takes any token.
    let expected = shared.lock().token.clone();
    if !expected.is_empty() && token != expected {
        return refuse(401, "Unauthorized");
    }
    let params = request.json();
    let fault = shared.lock().next_fault(method);
    match fault {
        Some(Fault::DieBefore) => return Reply::HangUp,
        Some(Fault::Refuse(status, words)) => return refuse(status, words),
        Some(Fault::TooMany(seconds)) => return too_many(seconds),
        Some(Fault::DieAfter) => {
            let _ = dispatch(shared, method, &params).await;
            return Reply::HangUp;
        }
        None => {}
    }
    dispatch(shared, method, &params).await
}

async fn dispatch(shared: &BotState, method: &str, params: &Value) -> Reply {
    if method == "getUpdates" {
        return updates(shared, params).await;
    }
    let result = shared.lock().call(method, params);
    shared.changed.notify_waiters();
    match result {
        Ok(result) => Reply::Json(200, json!({"ok": true, "result": result})),
        Err(methods::BotRefusal { code: 429, .. }) => too_many(1),
        Err(refusal) => refuse(refusal.code, &refusal.words),
    }
}

/// Stays open until there is something, the time is over, or another poller comes.
async fn updates(shared: &BotState, params: &Value) -> Reply {
    let offset = params["offset"].as_i64().unwrap_or(0);
    let limit = params["limit"].as_u64().unwrap_or(100);
    let timeout = Duration::from_secs(params["timeout"].as_u64().unwrap_or(0));
    let mine = shared.lock().begin_poll();
    shared.changed.notify_waiters();
    let end = tokio::time::Instant::now() + timeout;
    loop {
        let changed = shared.changed.notified();
        tokio::pin!(changed);
        changed.as_mut().enable();
        {
            let mut state = shared.lock();
            if state.poller != mine {
                return refuse(
                    409,
                    "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
                );
            }
            let due = state.updates_from(offset, usize::try_from(limit).unwrap_or(100));
            if !due.is_empty() || tokio::time::Instant::now() >= end {
                return Reply::Json(200, json!({"ok": true, "result": due}));
            }
        }
        let _ = tokio::time::timeout_at(end, changed).await;
    }
}

fn refuse(code: u16, words: &str) -> Reply {
    Reply::Json(
        code,
        json!({"ok": false, "error_code": code, "description": words}),
    )
}

fn too_many(seconds: u64) -> Reply {
    Reply::Json(
        429,
        json!({
            "ok": false,
            "error_code": 429,
            "description": format!("Too Many Requests: retry after {seconds}"),
            "parameters": {"retry_after": seconds},
        }),
    )
}
