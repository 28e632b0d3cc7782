//! `void agents start`, `stop`, `restart`, `update`, `destroy`, `pause`, `resume` and `logs`

use serde_json::json;
use void_api::agent_processes::{
    AgentDestroyedResponse, AgentLogResponse, AgentPauseResponse, AgentProcessResponse,
};

use super::Session;
use super::run::segment;
use crate::cli::{AgentDestroyArgs, AgentLogsArgs};
use crate::client::read;
use crate::exit::{CommandError, Exit};
use crate::output;

/// `what` is the last part of the route.
pub(super) async fn change(
    session: &Session<'_>,
    what: &str,
    name: &str,
) -> Result<Exit, CommandError> {
    let path = format!("/api/agents/{}/{what}", segment(name));
    let answer = session.client()?.post(&path, &json!({})).await?;
    if session.output.json {
        session.output.value(answer);
        return Ok(Exit::Done);
    }
    let process: AgentProcessResponse = read(answer)?;
    let output = session.output;
    let pid = process.pid.map(|pid| format!(", process {pid}"));
    output.line(format!(
        "{} is {}{}.",
        process.name,
        state(&process.state),
        pid.unwrap_or_default()
    ));
    if let Some(why) = &process.why {
        output.foreign("  last:  ", why);
    }
    Ok(Exit::Done)
}

/// For good, so it asks first.
pub(super) async fn destroy(
    session: &Session<'_>,
    args: &AgentDestroyArgs,
) -> Result<Exit, CommandError> {
    if !args.yes && !output::is_interactive() {
        return Err(CommandError::usage("there is nobody to ask here").next("add --yes"));
    }
    let question = format!("Destroy {} for good?", args.name);
    if !args.yes && !output::confirm(&question) {
        return Ok(Exit::Interrupted);
    }
    let path = format!("/api/agents/{}/destroy", segment(&args.name));
    let answer = session.client()?.post(&path, &json!({})).await?;
    if session.output.json {
        session.output.value(answer);
        return Ok(Exit::Done);
    }
    let destroyed: AgentDestroyedResponse = read(answer)?;
    let said = format!(
        "{} is destroyed. Its folder lies in {} of the data folder.",
        destroyed.name, destroyed.archive
    );
    session.output.line(said);
    Ok(Exit::Done)
}

/// `what` is the last part of the route.
pub(super) async fn pause(
    session: &Session<'_>,
    what: &str,
    name: &str,
) -> Result<Exit, CommandError> {
    let path = format!("/api/agents/{}/{what}", segment(name));
    let answer = session.client()?.post(&path, &json!({})).await?;
    if session.output.json {
        session.output.value(answer);
        return Ok(Exit::Done);
    }
    let changed: AgentPauseResponse = read(answer)?;
    session.output.line(match changed.paused {
        true => format!("{} is paused.", changed.name),
        false => format!("{} goes on.", changed.name),
    });
    Ok(Exit::Done)
}

pub(super) async fn wake(session: &Session<'_>, name: &str) -> Result<Exit, CommandError> {
    let path = format!("/api/agents/{}/turns", segment(name));
    let answer = session.client()?.post(&path, &json!({})).await?;
    match session.output.json {
        true => session.output.value(answer),
        false => session
            .output
            .line(format!("{name} has a turn as soon as it can.")),
    }
    Ok(Exit::Done)
}

fn state(word: &str) -> &str {
    match word {
        "given_up" => "given up",
        word => word,
    }
}

pub(super) async fn logs(
    session: &Session<'_>,
    args: &AgentLogsArgs,
) -> Result<Exit, CommandError> {
    let path = format!(
        "/api/agents/{}/logs?limit={}",
        segment(&args.name),
        args.limit
    );
    let answer = session.client()?.get(&path).await?;
    if session.output.json {
        session.output.value(answer);
        return Ok(Exit::Done);
    }
    let log: AgentLogResponse = read(answer)?;
    let output = session.output;
    if log.lines.is_empty() {
        output.line("It wrote nothing so far.");
    }
    for line in &log.lines {
        output.foreign(&format!("{}  ", output.times.clock(&line.at)), &line.text);
    }
    Ok(Exit::Done)
}
