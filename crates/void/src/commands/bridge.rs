//! `void bridge`

use serde_json::Value;

use super::Session;
use super::rows::word;
use crate::cli::BridgeCommand;
use crate::exit::{Exit, Problem};

pub(super) async fn run(session: &Session<'_>, command: BridgeCommand) -> Result<Exit, Problem> {
    match command {
        BridgeCommand::Status => status(session).await,
        BridgeCommand::Watch => watch(session).await,
    }
}

const PLACES: [&str; 6] = [
    "pending",
    "approved",
    "running",
    "completed",
    "failed",
    "rejected",
];

async fn status(session: &Session<'_>) -> Result<Exit, Problem> {
    let bridge = session.client()?.get("/api/bridge").await?;
    let exit = match bridge.get("problem") {
        Some(Value::String(_)) => Exit::Failed,
        _ => Exit::Done,
    };
    if session.output.json {
        session.output.value(bridge);
        return Ok(exit);
    }
    if bridge.get("enabled") != Some(&Value::Bool(true)) {
        session.output.line("The file bridge is off.");
        let next = "  next: set VOID_BRIDGE_DIR, or dir under [bridge] in void.toml";
        session.output.note(next);
        return Ok(exit);
    }
    let decisions = bridge.get("decisions") == Some(&Value::Bool(true));
    session.output.line(format!(
        "The file bridge is on: {}",
        word(&bridge, "folder")
    ));
    session.output.line(if decisions {
        "  a move counts as the owner's decision, except for what is critical"
    } else {
        "  a move decides nothing; files that are moved go back"
    });
    let looked = bridge.get("last_scan_at").and_then(Value::as_str);
    let looked = looked.map_or_else(|| "not yet".to_owned(), |at| session.output.times.short(at));
    session.output.line(format!("  last look: {looked}"));
    if exit == Exit::Failed {
        session
            .output
            .line(format!("  problem: {}", word(&bridge, "problem")));
    }
    session.output.table(&["STATE", "FILES"], &counts(&bridge));
    let invalid = invalid(&bridge);
    if !invalid.is_empty() {
        session.output.table(&["INVALID", "WHY"], &invalid);
    }
    Ok(exit)
}

fn counts(bridge: &Value) -> Vec<Vec<String>> {
    let count = |place: &str| {
        let files = bridge.get("counts").and_then(|counts| counts.get(place));
        files.and_then(Value::as_u64).unwrap_or(0).to_string()
    };
    PLACES
        .iter()
        .map(|place| vec![(*place).to_owned(), count(place)])
        .collect()
}

fn invalid(bridge: &Value) -> Vec<Vec<String>> {
    let files = bridge.get("invalid").and_then(Value::as_array);
    let row = |file: &Value| {
        let why = word(file, "reason").replace('\n', "; ");
        vec![word(file, "file").to_owned(), why]
    };
    files.into_iter().flatten().map(row).collect()
}

/// Until Ctrl-C, one line per move.
async fn watch(session: &Session<'_>) -> Result<Exit, Problem> {
    let client = session.client()?;
    let mut path = "/api/bridge/moves?wait=0".to_owned();
    loop {
        let seen = tokio::select! {
            seen = client.get(&path) => seen?,
            _ = tokio::signal::ctrl_c() => return Ok(Exit::Done),
        };
        if seen.get("enabled") != Some(&Value::Bool(true)) {
            return Err(Problem::failed("off", "the file bridge is off")
                .next("set VOID_BRIDGE_DIR, or dir under [bridge] in void.toml"));
        }
        let moves = seen.get("moves").and_then(Value::as_array);
        for one in moves.into_iter().flatten() {
            print(session, one);
        }
        if session.output.is_closed() {
            return Ok(Exit::Done);
        }
        let last = seen.get("last").and_then(Value::as_u64).unwrap_or(0);
        path = format!("/api/bridge/moves?wait=30&after={last}");
    }
}

fn print(session: &Session<'_>, one: &Value) {
    if session.output.json {
        session.output.value(one.clone());
        return;
    }
    let from = one.get("from").and_then(Value::as_str).unwrap_or("-");
    session.output.line(format!(
        "{}  {}  {from} -> {}  {}",
        session.output.times.clock(word(one, "at")),
        word(one, "file"),
        word(one, "to"),
        word(one, "note").replace('\n', "; ")
    ));
}
