//! Word from a call that takes its time, for clients that asked for it with a progress token.
//!
//! A safe run may take most of a minute, and clients give up on silence. What is told is how long the
//! call has been under way, and nothing else.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::{Instant, MissedTickBehavior};

/// How long a call is silent at most.
pub(crate) const EVERY: Duration = Duration::from_secs(3);

/// The token that a request brought, if it is one.
pub(crate) fn token(message: &[u8]) -> Option<Value> {
    const NAME: &[u8] = b"progressToken";
    // Most messages have none, and need not be read twice to tell.
    if !message.windows(NAME.len()).any(|window| window == NAME) {
        return None;
    }
    let message: Map<String, Value> = serde_json::from_slice(message).ok()?;
    if !message.contains_key("id") {
        return None;
    }
    let token = message.get("params")?.get("_meta")?.get("progressToken")?;
    (token.is_string() || token.is_i64() || token.is_u64()).then(|| token.clone())
}

/// Waits for an answer, and tells in the meantime that it is under way. `false` from `tell`: nobody
/// listens any more.
pub(crate) async fn while_waiting<T>(
    token: Option<Value>,
    answering: impl Future<Output = T>,
    mut tell: impl FnMut(Vec<u8>) -> bool,
) -> T {
    let mut answering = pin!(answering);
    let Some(token) = token else {
        return answering.await;
    };
    let begun = Instant::now();
    let mut ticks = tokio::time::interval_at(begun + EVERY, EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut listens = true;
    loop {
        tokio::select! {
            biased;
            answer = &mut answering => return answer,
            _ = ticks.tick(), if listens => listens = tell(notice(&token, begun)),
        }
    }
}

fn notice(token: &Value, begun: Instant) -> Vec<u8> {
    let seconds = begun.elapsed().as_secs();
    let notice = json!({
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {
            "progressToken": token,
            "progress": seconds,
            "message": format!("under way for {seconds} s"),
        },
    });
    notice.to_string().into_bytes()
}
