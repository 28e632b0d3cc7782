//! `void bridge`

use serde_json::Value;
use void_api::bridge::{BridgeResponse, MoveResponse, MovesResponse};
use void_domain::failures::FailureCode;

use super::Session;
use super::rows::or_dash;
use crate::cli::BridgeCommand;
use crate::client::read;
use crate::exit::{CommandError, Exit};

pub(super) async fn run(
    session: &Session<'_>,
    command: BridgeCommand,
) -> Result<Exit, CommandError> {
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

async fn status(session: &Session<'_>) -> Result<Exit, CommandError> {
    let sent = session.client()?.get("/api/bridge").await?;
    let bridge: BridgeResponse = read(sent.clone())?;
    let exit = match bridge.problem {
        Some(_) => Exit::Failed,
        None => Exit::Done,
    };
    if session.output.json {
        session.output.value(sent);
        return Ok(exit);
    }
    if !bridge.enabled {
        session.output.line("The file bridge is off.");
        let next = "  next: set VOID_BRIDGE_DIR, or dir under [bridge] in void.toml";
        session.output.note(next);
        return Ok(exit);
    }
    session.output.line(format!(
        "The file bridge is on: {}",
        or_dash(&bridge.folder)
    ));
    session.output.line(if bridge.decisions {
        "  a move counts as the owner's decision, except for what is critical"
    } else {
        "  a move decides nothing; files that are moved go back"
    });
    let looked = bridge.last_scan_at.as_deref();
    let looked = looked.map_or_else(|| "not yet".to_owned(), |at| session.output.times.short(at));
    session.output.line(format!("  last look: {looked}"));
    if let Some(problem) = &bridge.problem {
        session.output.line(format!("  problem: {problem}"));
    }
    session.output.table(&["STATE", "FILES"], &counts(&bridge));
    let invalid = invalid(&bridge);
    if !invalid.is_empty() {
        session.output.table(&["INVALID", "WHY"], &invalid);
    }
    Ok(exit)
}

fn counts(bridge: &BridgeResponse) -> Vec<Vec<String>> {
    let count = |place: &str| bridge.counts.get(place).copied().unwrap_or(0).to_string();
    PLACES
        .iter()
        .map(|place| vec![(*place).to_owned(), count(place)])
        .collect()
}

fn invalid(bridge: &BridgeResponse) -> Vec<Vec<String>> {
    let rows = bridge.invalid.iter();
    rows.map(|one| vec![one.file.clone(), one.reason.replace('\n', "; ")])
        .collect()
}

/// Until Ctrl-C, one line per move.
async fn watch(session: &Session<'_>) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let mut path = "/api/bridge/moves?wait=0".to_owned();
    loop {
        let seen = tokio::select! {
            seen = client.get(&path) => seen?,
            _ = tokio::signal::ctrl_c() => return Ok(Exit::Done),
        };
        let moved: MovesResponse = read(seen.clone())?;
        if !moved.enabled {
            return Err(
                CommandError::failed(FailureCode::Off, "the file bridge is off")
                    .next("set VOID_BRIDGE_DIR, or dir under [bridge] in void.toml"),
            );
        }
        if session.output.json {
            // Each as it was sent, on a line of its own.
            let moves = seen.get("moves").and_then(Value::as_array);
            for one in moves.into_iter().flatten() {
                session.output.value(one.clone());
            }
        } else {
            moved.moves.iter().for_each(|one| print(session, one));
        }
        if session.output.is_closed() {
            return Ok(Exit::Done);
        }
        path = format!("/api/bridge/moves?wait=30&after={}", moved.last);
    }
}

fn print(session: &Session<'_>, one: &MoveResponse) {
    session.output.line(format!(
        "{}  {}  {} -> {}  {}",
        session.output.times.clock(&one.at),
        one.file,
        or_dash(&one.from),
        one.to,
        one.note.replace('\n', "; ")
    ));
}
