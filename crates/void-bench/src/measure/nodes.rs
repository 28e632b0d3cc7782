//! Nodes: what hundreds of them cost while they wait, and how soon after a yes one of them starts.

pub(crate) mod starts;

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::streams::{DESCRIPTORS_BESIDE, allow_descriptors};
use crate::Outcome;
use crate::http::{self, Connection};
use crate::measure::process::ACTIONS;
use crate::plan::Plan;
use crate::servers::{Server, folder_in};
use crate::statistics::rounded;
use crate::subject::catalogue_text;

/// As long as a node's own program waits.
const WAIT_S: u64 = 30;
/// Until every one of them has asked and is known to be here.
const HERE_WITHIN: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(50);

pub(crate) async fn measure(plan: &Plan, place: &Path, program: &Path) -> Outcome<Value> {
    let mut found = idle(plan, place, program).await?;
    let starts = starts::measure(plan, place, program).await?;
    if let (Value::Object(found), Value::Object(starts)) = (&mut found, starts) {
        found.extend(starts);
    }
    Ok(found)
}

/// The server's time and memory with and without so many long polls.
async fn idle(plan: &Plan, place: &Path, program: &Path) -> Outcome<Value> {
    allow_descriptors(u64::try_from(plan.nodes)? + DESCRIPTORS_BESIDE)?;
    let folder = folder_in(place)?;
    let catalogue = catalogue_text(ACTIONS);
    let server = Server::with_catalogue(program, folder.path(), &catalogue).await?;
    let mut polls = Vec::new();
    for index in 0..plan.nodes {
        let name = format!("n{index}");
        polls.push(poll(&name, &token(&server, &name).await?));
    }
    tokio::time::sleep(plan.settle).await;
    let before = server.resident_bytes()?;
    let without = load(&server, plan.nodes_idle).await?;
    let mut waiting = JoinSet::new();
    for poll in polls {
        let mut connection = Connection::open(server.address).await?;
        waiting.spawn(async move {
            while connection
                .call(&poll)
                .await
                .is_ok_and(|it| it.status == 200)
            {}
        });
    }
    wait_for(&server, plan.nodes).await?;
    tokio::time::sleep(plan.settle).await;
    let with = load(&server, plan.nodes_idle).await?;
    let after = server.resident_bytes()?;
    if waiting.try_join_next().is_some() || here(&server).await? < plan.nodes {
        return Err("a node was turned away while it waited".into());
    }
    Ok(json!({
        "nodes": plan.nodes,
        "idle_core_percent": rounded((with - without).max(0.0)),
        "idle_core_percent_without": rounded(without),
        "idle_bytes": after.all.saturating_sub(before.all),
    }))
}

/// How much of one core the server takes over this time, in percent.
async fn load(server: &Server, time: Duration) -> Outcome<f64> {
    let (begun, before) = (Instant::now(), server.computed()?);
    tokio::time::sleep(time).await;
    let computed = server.computed()?.saturating_sub(before);
    Ok(100.0 * computed.as_secs_f64() / begun.elapsed().as_secs_f64())
}

async fn wait_for(server: &Server, nodes: usize) -> Outcome<()> {
    let begun = Instant::now();
    while here(server).await? < nodes {
        if begun.elapsed() > HERE_WITHIN {
            return Err("not every node came".into());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

async fn here(server: &Server) -> Outcome<usize> {
    let nodes = ask(server, "GET", "/api/nodes", "").await?;
    let nodes = nodes.get("nodes").and_then(Value::as_array);
    let here = nodes.into_iter().flatten();
    Ok(here.filter(|node| node["here"] == json!(true)).count())
}

/// What a node whose list has nothing in it says while it waits.
fn poll(name: &str, token: &str) -> Vec<u8> {
    let version = env!("CARGO_PKG_VERSION");
    let list = json!({
        "v": 1, "id": "void-list", "ticket": null, "outcome": "done", "replayed": false,
        "list": "0".repeat(64), "defs": {}, "host": name, "stopped": false, "version": version,
    });
    let body = json!({
        "session": {"generation": 1, "nonce": "bench"}, "version": version, "list": list,
        "holding": [], "wait_s": WAIT_S,
    });
    http::request_as(token, "POST", "/api/node/poll", &body.to_string())
}

/// A node that the owner let in by hand.
async fn token(server: &Server, name: &str) -> Outcome<String> {
    let body = json!({"kind": "node", "name": name}).to_string();
    let made = ask(server, "POST", "/api/tokens", &body).await?;
    let token = made.get("token").and_then(Value::as_str);
    Ok(token.ok_or("no token was made")?.to_owned())
}

async fn ask(server: &Server, method: &str, path: &str, body: &str) -> Outcome<Value> {
    let mut connection = Connection::open(server.address).await?;
    let answer = connection.call(&http::request(method, path, body)).await?;
    Ok(serde_json::from_slice(answer.body)?)
}
