//! `void agents config` and `new`

use std::path::Path;

use void_api::agent_configs::{AgentConfigResponse, ApplyConfigRequest, CreateAgentRequest};
use void_api::proposals::RowResponse;
use void_domain::agent_configs::{AgentConfig, CONFIG_BYTES_MAX};
use void_domain::text;

use crate::cli::{AgentConfigArgs, AgentNewArgs};
use crate::client::read;
use crate::commands::run::segment;
use crate::commands::{Session, rows};
use crate::exit::{CommandError, Exit};
use crate::output::Tone;

/// What somebody is who has no file: they answer by Void's own rules, and may nothing.
const SMALLEST: &str = "brain = \"builtin\"\ncapabilities = []\n";

pub(super) async fn config(
    session: &Session<'_>,
    args: AgentConfigArgs,
) -> Result<Exit, CommandError> {
    let path = format!("/api/agents/{}/config", segment(&args.agent));
    if let Some(commit) = args.apply {
        let request = ApplyConfigRequest {
            commit,
            reason: args.reason,
        };
        let path = format!("{path}/apply");
        let answer = session.client()?.post(&path, &request).await?;
        return waits(session, answer);
    }
    let answer = session.client()?.get(&path).await?;
    if session.output.json {
        session.output.value(answer);
        return Ok(Exit::Done);
    }
    show(session, &read(answer)?);
    Ok(Exit::Done)
}

fn show(session: &Session<'_>, config: &AgentConfigResponse) {
    let output = session.output;
    let applied = config.applied.as_deref().unwrap_or("nothing");
    let parent = config.parent.as_deref().unwrap_or("nobody");
    output.line(format!(
        "{}, below {parent}: applied is {applied}",
        config.name
    ));
    if let Some(problem) = &config.problem {
        output.hanging(&output.tone(Tone::Bad, "problem  "), problem);
    }
    for file in &config.files {
        output.line(format!("  {}", file.path));
        for line in file.text.lines() {
            output.foreign("    ", &text::told_apart(line));
        }
    }
    for waiting in &config.waiting {
        let commit = waiting.commit.as_deref().unwrap_or("its first");
        output.line(format!("waits: {commit}, proposal {}", waiting.proposal_id));
    }
    for commit in &config.history {
        let lead = format!("  {}  {}  ", commit.id, commit.at);
        let said = format!("{}: {}", commit.author, commit.subject);
        output.foreign(&lead, &text::escaped(&said));
    }
}

pub(super) async fn new(session: &Session<'_>, args: AgentNewArgs) -> Result<Exit, CommandError> {
    let config = match &args.config {
        Some(file) => text_of(file)?,
        None => SMALLEST.to_owned(),
    };
    // What is wrong is told by line and key before anybody is asked.
    AgentConfig::parse(&config).map_err(|error| CommandError::usage(error.to_string()))?;
    let request = CreateAgentRequest {
        name: args.name,
        parent: args.parent,
        config,
        reason: args.reason,
    };
    let answer = session.client()?.post("/api/agents", &request).await?;
    waits(session, answer)
}

fn text_of(file: &Path) -> Result<String, CommandError> {
    use std::io::Read as _;
    let limit = u64::try_from(CONFIG_BYTES_MAX + 1).unwrap_or(u64::MAX);
    let mut read = String::new();
    std::fs::File::open(file)
        .and_then(|opened| opened.take(limit).read_to_string(&mut read))
        .map_err(|error| CommandError::usage(format!("{}: {error}", file.display())))?;
    Ok(read)
}

/// It was asked for; the yes is given where the card is.
fn waits(session: &Session<'_>, answer: serde_json::Value) -> Result<Exit, CommandError> {
    if session.output.json {
        session.output.value(answer);
        return Ok(Exit::Queued);
    }
    let row: RowResponse = read(answer)?;
    rows::show(session.output, &row);
    let next = session.again(&format!("inbox approve {}", row.code));
    session.output.note(format!("  next: {next}"));
    Ok(Exit::Queued)
}
