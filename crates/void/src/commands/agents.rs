//! `void agents`

mod config;
mod tree;

use void_api::agents::{AgentResponse, AgentsResponse};

use super::{Session, agent_processes};
use crate::cli::AgentsCommand;
use crate::client::read;
use crate::exit::{CommandError, Exit};

pub(super) async fn run(
    session: &Session<'_>,
    command: AgentsCommand,
) -> Result<Exit, CommandError> {
    match command {
        AgentsCommand::Ls => list(session).await,
        AgentsCommand::Tree => tree::show(session).await,
        AgentsCommand::Can { agent } => tree::can(session, &agent).await,
        AgentsCommand::Config(args) => config::config(session, args).await,
        AgentsCommand::New(args) => config::new(session, args).await,
        AgentsCommand::Move(args) => tree::move_agent(session, args).await,
        AgentsCommand::Start(args) => agent_processes::change(session, "start", &args.name).await,
        AgentsCommand::Stop(args) => agent_processes::change(session, "stop", &args.name).await,
        AgentsCommand::Restart(args) => {
            agent_processes::change(session, "restart", &args.name).await
        }
        AgentsCommand::Logs(args) => agent_processes::logs(session, &args).await,
    }
}

async fn list(session: &Session<'_>) -> Result<Exit, CommandError> {
    let answer = session.client()?.get("/api/agents").await?;
    if session.output.json {
        session.output.value(answer);
        return Ok(Exit::Done);
    }
    let AgentsResponse { agents } = read(answer)?;
    let rows: Vec<Vec<String>> = agents.iter().map(row).collect();
    let header = ["AGENT", "BRAIN", "MODEL", "MAY", "TOKENS TODAY", "ABOUT"];
    session.output.table(&header, &rows);
    Ok(Exit::Done)
}

fn row(agent: &AgentResponse) -> Vec<String> {
    let used = agent.used_tokens;
    vec![
        agent.slug.clone().into_owned(),
        agent.brain.clone(),
        agent.model.clone(),
        if agent.withdrawn {
            "nothing: withdrawn".to_owned()
        } else {
            agent.capabilities.join(" ")
        },
        match agent.daily_tokens {
            Some(budget) => format!("{used} of {budget}"),
            None => used.to_string(),
        },
        agent.about.clone().into_owned(),
    ]
}
