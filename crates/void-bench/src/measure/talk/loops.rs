//! The tool loop of a turn beside the same by the vendor's SDK on Express: what a round costs, alone and among others.
//! Both ask the same model, which takes no time of its own, and stream to whoever asked.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{ROUNDS, begin_many};
use crate::Outcome;
use crate::http::{self, Connection};
use crate::plan::Plan;
use crate::reference::Reference;
use crate::statistics::{median, median_ratio, rounded};
use crate::talker::{TalkScript, Talker};

/// How many turns are under way at a time.
const AT_ONCE: [usize; 2] = [1, 16];

pub(super) async fn measure(
    plan: &Plan,
    talker: &Talker,
    void: SocketAddr,
    reference: &Reference,
    folder: &Path,
) -> Outcome<Vec<Value>> {
    let payload = folder.join("payload.json");
    let mut connection = Connection::open(void).await?;
    let actions = http::request("GET", "/api/actions", "");
    std::fs::write(&payload, connection.call(&actions).await?.body)?;
    let chat = reference.chat(folder, &payload, talker.address).await?;
    let mut cells = Vec::new();
    for at_once in AT_ONCE {
        // Both have said something before anything counts.
        by_void(void, at_once).await?;
        by_chat(chat.address, at_once).await?;
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for _ in 0..plan.tool_turns {
            own.push(by_void(void, at_once).await?);
            others.push(by_chat(chat.address, at_once).await?);
        }
        let ratio = median_ratio(own.iter().copied().zip(others.iter().copied()));
        cells.push(json!({
            "at_once": at_once,
            "round_ms": rounded(median(own.into_iter())),
            "sdk_round_ms": rounded(median(others.into_iter())),
            "ratio": rounded(ratio),
        }));
    }
    Ok(cells)
}

/// Milliseconds a round, in conversations that are new.
async fn by_void(address: SocketAddr, at_once: usize) -> Outcome<f64> {
    let mut turns = Vec::new();
    for conversation in begin_many(at_once, address).await? {
        let body = json!({"text": TalkScript::Rounds(ROUNDS).words()}).to_string();
        let path = format!("/api/conversations/{conversation}/messages");
        let stream = format!("/api/conversations/{conversation}/stream");
        turns.push(Turn {
            ask: Some(http::request("POST", &path, &body)),
            listen: http::request("GET", &stream, ""),
        });
    }
    all_of(address, turns).await
}

async fn by_chat(address: SocketAddr, at_once: usize) -> Outcome<f64> {
    let body = json!({"text": TalkScript::Rounds(ROUNDS).words()}).to_string();
    let turns = (0..at_once).map(|_| Turn {
        ask: None,
        listen: http::request("POST", "/turn", &body),
    });
    all_of(address, turns.collect()).await
}

struct Turn {
    /// What begins it, where listening does not.
    ask: Option<Vec<u8>>,
    listen: Vec<u8>,
}

impl Turn {
    async fn take(self, mut connection: Connection) -> Outcome<()> {
        if let Some(ask) = self.ask {
            let status = connection.call(&ask).await?.status;
            if status != 200 {
                return Err(format!("a turn was refused: {status}").into());
            }
        }
        connection.send(&self.listen).await?;
        Ok(connection.read_until(b"event: done").await?)
    }
}

/// Turns at once, on connections that are open already.
async fn all_of(address: SocketAddr, turns: Vec<Turn>) -> Outcome<f64> {
    let count = f64::from(u32::try_from(turns.len())?);
    let mut connections = Vec::new();
    for _ in &turns {
        connections.push(Connection::open(address).await?);
    }
    let begun = Instant::now();
    let mut taken = JoinSet::new();
    for (turn, connection) in turns.into_iter().zip(connections) {
        taken.spawn(turn.take(connection));
    }
    while let Some(done) = taken.join_next().await {
        done??;
    }
    // The last question is the one that is answered in words.
    Ok(begun.elapsed().as_secs_f64() * 1_000.0 / count / f64::from(ROUNDS + 1))
}
