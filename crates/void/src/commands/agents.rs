//! `void agents`

use serde_json::Value;

use super::Session;
use super::rows::word;
use crate::cli::AgentsCommand;
use crate::exit::{Exit, Problem};

pub(super) async fn run(session: &Session<'_>, command: AgentsCommand) -> Result<Exit, Problem> {
    match command {
        AgentsCommand::Ls => list(session).await,
    }
}

async fn list(session: &Session<'_>) -> Result<Exit, Problem> {
    let answer = session.client()?.get("/api/agents").await?;
    if session.output.json {
        session.output.value(answer);
        return Ok(Exit::Done);
    }
    let agents = answer.get("agents").and_then(Value::as_array);
    let rows: Vec<Vec<String>> = agents.into_iter().flatten().map(row).collect();
    let header = ["AGENT", "BRAIN", "MODEL", "MAY", "TOKENS TODAY", "ABOUT"];
    session.output.table(&header, &rows);
    Ok(Exit::Done)
}

fn row(agent: &Value) -> Vec<String> {
    let withdrawn = agent.get("withdrawn") == Some(&Value::Bool(true));
    let capabilities = agent.get("capabilities").and_then(Value::as_array);
    let may: Vec<&str> = capabilities
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let number = |name: &str| agent.get(name).and_then(Value::as_u64);
    let used = number("used_tokens").unwrap_or(0);
    vec![
        word(agent, "slug").to_owned(),
        word(agent, "brain").to_owned(),
        word(agent, "model").to_owned(),
        if withdrawn {
            "nothing: withdrawn".to_owned()
        } else {
            may.join(" ")
        },
        match number("daily_tokens") {
            Some(budget) => format!("{used} of {budget}"),
            None => used.to_string(),
        },
        word(agent, "about").to_owned(),
    ]
}
