//! `void agents tree`, `can` and `move`

use std::collections::BTreeMap;

use serde_json::Value;
use void_api::Word;
use void_api::tree::{
    AgentMoveRequest, AgentMoveResponse, CanResponse, MemberResponse, OperationResponse,
    RightsResponse, TopologyResponse,
};
use void_domain::limits::PAGE_ROWS_MAX;

use crate::cli::AgentMoveArgs;
use crate::client::{next_page, read};
use crate::commands::run::segment;
use crate::commands::{Session, counted};
use crate::exit::{CommandError, Exit};
use crate::output::{self, Tone};

pub(super) async fn show(session: &Session<'_>) -> Result<Exit, CommandError> {
    let answer = session.client()?.get("/api/agents/topology").await?;
    if session.output.json {
        session.output.value(answer);
        return Ok(Exit::Done);
    }
    let TopologyResponse {
        agents, problems, ..
    } = read(answer)?;
    for agent in &agents {
        let indent = usize::try_from(agent.depth.unwrap_or_default()).unwrap_or_default();
        let lead = "  ".repeat(indent);
        session.output.line(format!("{lead}{}", told(agent)));
    }
    for problem in &problems {
        let lead = session.output.tone(Tone::Bad, "problem  ");
        session.output.hanging(&lead, problem);
    }
    if !problems.is_empty() {
        let next = session.output.typed("void doctor");
        session.output.line(format!("next: {next}"));
    }
    Ok(Exit::Done)
}

fn told(agent: &MemberResponse) -> String {
    let place = match agent.depth {
        Some(_) => "",
        None => ", no position: it has no right over anybody",
    };
    let kind = match agent.kind.as_ref() {
        "resident" => "lives in the server",
        "process" => "has a process of its own",
        other => other,
    };
    format!("{} ({kind}{place})", agent.name)
}

pub(super) async fn can(session: &Session<'_>, agent: &str) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let path = format!("/api/agents/{}/can?limit={PAGE_ROWS_MAX}", segment(agent));
    let mut answer = client.get(&path).await?;
    // Whoever asks wants all of it, in one answer.
    while let Some(cursor) = next_page(&answer)? {
        let page = client
            .get(&format!("{path}&cursor={}", segment(&cursor)))
            .await?;
        append(&mut answer, page);
    }
    if session.output.json {
        session.output.value(answer);
        return Ok(Exit::Done);
    }
    print_rights(session, &read(answer)?);
    Ok(Exit::Done)
}

fn append(answer: &mut Value, page: Value) {
    let Value::Object(mut page) = page else {
        return;
    };
    let (next, over) = (page.remove("next"), page.remove("over"));
    if let (Some(Value::Array(all)), Some(Value::Array(more))) = (answer.get_mut("over"), over) {
        all.extend(more);
    }
    if let Value::Object(members) = answer {
        members.insert("next".to_owned(), next.unwrap_or_default());
    }
}

type Lists = [Vec<Word>; 3];

fn print_rights(session: &Session<'_>, can: &CanResponse) {
    let name = &can.agent.name;
    let kind = told(&can.agent);
    session
        .output
        .line(match (can.withdrawn, can.capabilities.is_empty()) {
            (true, _) => format!("{kind} was withdrawn and may do nothing."),
            (false, true) => format!("{kind} has no capability."),
            (false, false) => format!("{kind} may {}.", can.capabilities.join(", ")),
        });
    let words: BTreeMap<&str, &OperationResponse> = can
        .operations
        .iter()
        .map(|one| (one.operation.as_ref(), one))
        .collect();
    // Those over whom it may the same are said together.
    let mut groups: Vec<(&str, Lists, Vec<&RightsResponse>)> = Vec::new();
    for over in &can.over {
        let lists = [
            over.alone.clone(),
            over.with_nod.clone(),
            over.never.clone(),
        ];
        let known = groups
            .iter_mut()
            .find(|(relation, rights, _)| *relation == over.relation.as_ref() && *rights == lists);
        match known {
            Some((_, _, members)) => members.push(over),
            None => groups.push((over.relation.as_ref(), lists, vec![over])),
        }
    }
    for (relation, lists, members) in groups {
        let names: Vec<&str> = members.iter().map(|one| one.agent.name.as_str()).collect();
        let names = names.join(", ");
        let line = match relation {
            "self" => "for itself".to_owned(),
            "ancestor" => format!("to {names}, below it"),
            "descendant" => format!("to {names}, above it"),
            "sibling" => format!("to {names}, beside it"),
            _ => format!("to {names}, elsewhere"),
        };
        session.output.line("");
        session.output.hanging("", &format!("{name} {line}:"));
        for (lead, operations) in ["  alone       ", "  with a nod  ", "  never       "]
            .into_iter()
            .zip(lists)
        {
            session.output.hanging(lead, &said(&operations, &words));
        }
    }
}

fn said(operations: &[Word], words: &BTreeMap<&str, &OperationResponse>) -> String {
    let said: Vec<String> = operations
        .iter()
        .map(|one| match words.get(one.as_ref()) {
            Some(known) => known.words.to_string(),
            None => one.to_string(),
        })
        .collect();
    match said.is_empty() {
        true => "nothing".to_owned(),
        false => said.join(", "),
    }
}

/// The difference comes first, and what is done then is what was shown.
pub(super) async fn move_agent(
    session: &Session<'_>,
    args: AgentMoveArgs,
) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let path = format!("/api/agents/{}/move", segment(&args.agent));
    let request = |dry_run, commit| AgentMoveRequest {
        parent: args.parent.clone(),
        dry_run,
        commit,
    };
    if !args.yes && !args.dry_run && !output::is_interactive() {
        return Err(CommandError::usage("there is nobody to ask here")
            .next("add --yes, or --dry-run to see what would change"));
    }
    let looked = client.post(&path, &request(true, None)).await?;
    let difference: AgentMoveResponse = read(looked.clone())?;
    if args.dry_run {
        match session.output.json {
            true => session.output.value(looked),
            false => print_difference(session, &difference),
        }
        return Ok(Exit::Done);
    }
    if !session.output.json {
        print_difference(session, &difference);
    }
    let question = format!("Move {} under {}?", difference.name, difference.to);
    if !args.yes && !output::confirm(&question) {
        return Ok(Exit::Interrupted);
    }
    let done = client
        .post(&path, &request(false, difference.before))
        .await?;
    if session.output.json {
        session.output.value(done);
        return Ok(Exit::Done);
    }
    let done: AgentMoveResponse = read(done)?;
    session.output.line(format!(
        "Moved {} under {}: commit {}.",
        done.name,
        done.to,
        done.commit.unwrap_or_default()
    ));
    Ok(Exit::Done)
}

fn print_difference(session: &Session<'_>, difference: &AgentMoveResponse) {
    let along = match difference.below {
        0 => String::new(),
        below => format!(", with {} below it", counted(below, "agent")),
    };
    session.output.line(format!(
        "{}: from {} to {}{along}",
        difference.name,
        difference.from.as_deref().unwrap_or("-"),
        difference.to
    ));
    if difference.words.is_empty() {
        session.output.line("  Nobody's rights change.");
    }
    for sentence in &difference.words {
        session.output.hanging("  ", sentence);
    }
}
