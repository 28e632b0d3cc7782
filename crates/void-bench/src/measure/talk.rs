//! What Void adds to a turn: to each piece of an answer on its way, and to a round of tools, which is also compared
//! with what the vendor's SDK takes for it. The model is on this machine and takes no time of its own.

mod loops;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::Outcome;
use crate::http::{self, Connection};
use crate::measure::process::ACTIONS;
use crate::plan::Plan;
use crate::reference::Reference;
use crate::servers::{Server, folder_in};
use crate::statistics::{quantile, rounded};
use crate::talker::{TalkScript, Talker};

/// As fast as quick models speak.
const PAUSE: Duration = Duration::from_millis(5);
const PAUSE_OF_MANY: Duration = Duration::from_millis(20);
/// Below what a turn may have.
const ROUNDS: u32 = 12;

pub(crate) async fn measure(
    plan: &Plan,
    place: &Path,
    program: &Path,
    reference: Option<&Reference>,
) -> Outcome<Value> {
    let talker = Arc::new(Talker::start().await?);
    let folder = folder_in(place)?;
    let server = Server::talking(program, folder.path(), ACTIONS, talker.address).await?;
    let address = server.address;
    let wish = TalkScript::Pieces(plan.pieces, PAUSE);
    let direct = Pieces::of(straight(&talker, wish).await?);
    let conversation = begin(address).await?;
    let through = Pieces::of(by_void(&talker, address, &conversation, wish).await?);
    let rounds = rounds(plan, &talker, address).await?;
    let loops = match reference {
        Some(reference) => loops::measure(plan, &talker, address, reference, folder.path()).await?,
        None => Vec::new(),
    };
    let wish = TalkScript::Pieces(plan.pieces_of_many, PAUSE_OF_MANY);
    let conversations = begin_many(plan.talks, address).await?;
    let many_direct = at_once(&conversations, |_| {
        let talker = Arc::clone(&talker);
        async move { straight(&talker, wish).await }
    });
    let many_direct = many_direct.await?;
    let many_through = at_once(&conversations, |conversation| {
        let talker = Arc::clone(&talker);
        async move { by_void(&talker, address, &conversation, wish).await }
    });
    let many_through = many_through.await?;
    Ok(json!({
        "piece_direct_p50_ms": direct.p50_ms,
        "piece_p50_ms": through.p50_ms,
        "piece_p99_ms": through.p99_ms,
        "piece_added_p50_ms": rounded(through.p50_ms - direct.p50_ms),
        "tool_round_p50_ms": rounded(rounds),
        "loops": loops,
        "streams": plan.talks,
        "many_direct_p50_ms": many_direct.p50_ms,
        "many_p50_ms": many_through.p50_ms,
        "many_p99_ms": many_through.p99_ms,
        "many_longest_ms": many_through.longest_ms,
    }))
}

/// How long pieces were under way.
struct Pieces {
    p50_ms: f64,
    p99_ms: f64,
    longest_ms: f64,
}

impl Pieces {
    fn of(mut micros: Vec<u32>) -> Self {
        micros.sort_unstable();
        let ms = |micros: u32| rounded(f64::from(micros) / 1_000.0);
        Self {
            p50_ms: ms(quantile(&micros, 50)),
            p99_ms: ms(quantile(&micros, 99)),
            longest_ms: ms(micros.last().copied().unwrap_or(0)),
        }
    }
}

/// The same answer read from the model itself.
async fn straight(talker: &Talker, wish: TalkScript) -> Outcome<Vec<u32>> {
    let body = json!({"messages": [{"role": "user", "content": wish.words()}]}).to_string();
    let stream = TcpStream::connect(talker.address).await?;
    read_pieces(
        stream,
        &http::request("POST", "/v1/messages", &body),
        talker,
        wish,
    )
    .await
}

async fn by_void(
    talker: &Talker,
    address: SocketAddr,
    conversation: &str,
    wish: TalkScript,
) -> Outcome<Vec<u32>> {
    let mut connection = Connection::open(address).await?;
    let body = json!({"text": wish.words()}).to_string();
    let path = format!("/api/conversations/{conversation}/messages");
    let answer = connection
        .call(&http::request("POST", &path, &body))
        .await?;
    if answer.status != 200 {
        return Err(format!("a turn was refused: {}", answer.status).into());
    }
    let path = format!("/api/conversations/{conversation}/stream");
    let stream = TcpStream::connect(address).await?;
    read_pieces(stream, &http::request("GET", &path, ""), talker, wish).await
}

/// Reads until every piece has come, and notes how old each was.
async fn read_pieces(
    mut stream: TcpStream,
    request: &[u8],
    talker: &Talker,
    wish: TalkScript,
) -> Outcome<Vec<u32>> {
    let TalkScript::Pieces(count, _) = wish else {
        return Err("only pieces can be read".into());
    };
    stream.set_nodelay(true)?;
    stream.write_all(request).await?;
    let (mut ages, mut unread) = (Vec::new(), Vec::new());
    while ages.len() < usize::try_from(count)? {
        if stream.read_buf(&mut unread).await? == 0 {
            return Err("an answer ended early".into());
        }
        let now = talker.now();
        for sent in take_stamps(&mut unread) {
            let micros = now.saturating_sub(sent) / 1_000;
            ages.push(u32::try_from(micros).unwrap_or(u32::MAX));
        }
    }
    // The first ones wait for the turn to begin and for us to listen.
    Ok(ages.split_off(ages.len() / 4))
}

/// The stamps that have come whole, `t=123;` each.
fn take_stamps(unread: &mut Vec<u8>) -> Vec<u64> {
    let Some(end) = unread.iter().rposition(|byte| *byte == b';') else {
        return Vec::new();
    };
    let rest = unread.split_off(end + 1);
    let text = String::from_utf8_lossy(unread).into_owned();
    *unread = rest;
    text.split("t=")
        .skip(1)
        .filter_map(|part| part.split(';').next()?.parse().ok())
        .collect()
}

/// A round as the model sees it: from one question to the next.
async fn rounds(plan: &Plan, talker: &Talker, address: SocketAddr) -> Outcome<f64> {
    let mut micros: Vec<u32> = Vec::new();
    for _ in 0..plan.tool_turns {
        let conversation = begin(address).await?;
        talker.take_asked();
        let mut connection = Connection::open(address).await?;
        let body = json!({"text": TalkScript::Rounds(ROUNDS).words()}).to_string();
        let path = format!("/api/conversations/{conversation}/messages");
        connection
            .call(&http::request("POST", &path, &body))
            .await?;
        let mut listening = Connection::open(address).await?;
        let path = format!("/api/conversations/{conversation}/stream");
        listening.send(&http::request("GET", &path, "")).await?;
        listening.read_until(b"event: done").await?;
        let asked = talker.take_asked();
        let pauses = asked.iter().zip(asked.iter().skip(1));
        micros.extend(pauses.map(|(one, next): (&Instant, &Instant)| {
            u32::try_from(next.duration_since(*one).as_micros()).unwrap_or(u32::MAX)
        }));
    }
    micros.sort_unstable();
    if micros.len() < usize::try_from(ROUNDS)? {
        return Err("the model was not asked often enough".into());
    }
    Ok(f64::from(quantile(&micros, 50)) / 1_000.0)
}

async fn begin(address: SocketAddr) -> Outcome<String> {
    let mut connection = Connection::open(address).await?;
    let path = "/api/agents/little-blue/conversation";
    let answer = connection.call(&http::request("POST", path, "")).await?;
    let answer: Value = serde_json::from_slice(answer.body)?;
    let id = answer.get("conversation_id").and_then(Value::as_str);
    Ok(id.ok_or("no conversation")?.to_owned())
}

/// So many conversations; each has to have been used before the next one is a new one.
async fn begin_many(count: usize, address: SocketAddr) -> Outcome<Vec<String>> {
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        let id = begin(address).await?;
        let mut connection = Connection::open(address).await?;
        let path = format!("/api/conversations/{id}/messages");
        let body = json!({"text": "hello"}).to_string();
        connection
            .call(&http::request("POST", &path, &body))
            .await?;
        let path = format!("/api/conversations/{id}/stream");
        let mut listening = Connection::open(address).await?;
        listening.send(&http::request("GET", &path, "")).await?;
        listening.read_until(b"event: done").await?;
        all.push(id);
    }
    Ok(all)
}

/// The same in every conversation at once.
async fn at_once<F>(conversations: &[String], one: impl Fn(String) -> F) -> Outcome<Pieces>
where
    F: Future<Output = Outcome<Vec<u32>>> + Send + 'static,
{
    let mut all = JoinSet::new();
    for conversation in conversations {
        let task = one(conversation.clone());
        all.spawn(async move { task.await.map_err(|error| error.to_string()) });
    }
    let mut ages = Vec::new();
    while let Some(done) = all.join_next().await {
        ages.extend(done??);
    }
    Ok(Pieces::of(ages))
}
