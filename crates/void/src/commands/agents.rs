//! `void agents`

mod tree;

use void_api::agents::{AgentResponse, AgentsResponse};

use super::{Session, agent_messages, agent_processes, questions, reminders};
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
        AgentsCommand::Move(args) => tree::move_agent(session, args).await,
        AgentsCommand::Start(args) => agent_processes::change(session, "start", &args.name).await,
        AgentsCommand::Stop(args) => agent_processes::change(session, "stop", &args.name).await,
        AgentsCommand::Restart(args) => {
            agent_processes::change(session, "restart", &args.name).await
        }
        AgentsCommand::Update(args) => agent_processes::change(session, "update", &args.name).await,
        AgentsCommand::Destroy(args) => agent_processes::destroy(session, &args).await,
        AgentsCommand::Pause(args) => agent_processes::pause(session, "pause", &args.name).await,
        AgentsCommand::Resume(args) => agent_processes::pause(session, "resume", &args.name).await,
        AgentsCommand::Wake(args) => agent_processes::wake(session, &args.name).await,
        AgentsCommand::Ask(args) => questions::ask(session, args).await,
        AgentsCommand::Remind(args) => reminders::remind(session, args).await,
        AgentsCommand::Reminders(args) => reminders::reminders(session, args).await,
        AgentsCommand::LooseEnds(args) => reminders::loose_ends(session, args).await,
        AgentsCommand::Logs(args) => agent_processes::logs(session, &args).await,
        AgentsCommand::Send(args) => agent_messages::send(session, args).await,
        AgentsCommand::Mailbox(args) => agent_messages::mailbox(session, &args).await,
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
