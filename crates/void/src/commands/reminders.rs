//! `void agents remind`, `void agents reminders` and `void agents loose-ends`

use jiff::tz::TimeZone;
use void_api::loose_ends::{AgentLooseEndsResponse, LooseEndsResponse};
use void_api::reminders::{ReminderResponse, RemindersResponse, SetReminderRequest};
use void_domain::text;

use super::Session;
use super::questions::{self, duration};
use super::run::segment;
use crate::cli::{AgentLooseEndsArgs, AgentRemindArgs, AgentRemindersArgs};
use crate::client::read;
use crate::exit::{CommandError, Exit};
use crate::output::Output;
use crate::times;

pub(super) async fn remind(
    session: &Session<'_>,
    args: AgentRemindArgs,
) -> Result<Exit, CommandError> {
    let body = SetReminderRequest {
        agent: args.name,
        text: args.text,
        at: args.at.as_deref().map(moment).transpose()?,
        every_s: args.every.as_deref().map(duration).transpose()?,
        cron: args.cron,
        zone: args.zone,
    };
    let set = session.client()?.post("/api/reminders", &body).await?;
    if session.output.json {
        session.output.value(set);
        return Ok(Exit::Done);
    }
    let set: ReminderResponse = read(set)?;
    let next = set.next_at.as_deref().unwrap_or("-");
    let (output, agent) = (session.output, text::escaped(&set.agent));
    output.line(format!("{agent} is reminded {}.", output.times.clock(next)));
    let command = format!("void agents reminders --cancel {}", set.id);
    output.line(format!("  cancel:   {}", output.typed(&command)));
    Ok(Exit::Done)
}

/// A time of day, the next one by the clock of this machine, or a moment.
fn moment(text: &str) -> Result<String, CommandError> {
    let now = void_control::Clock::system().now();
    times::moment(text, now.as_ms(), TimeZone::system()).ok_or_else(|| {
        let text = text::escaped(text);
        CommandError::usage(format!(
            "--at {text} is not a time such as 22:00 or 2026-11-16T22:00:00Z"
        ))
    })
}

pub(super) async fn reminders(
    session: &Session<'_>,
    args: AgentRemindersArgs,
) -> Result<Exit, CommandError> {
    let client = session.client()?;
    if let Some(id) = &args.cancel {
        let path = format!("/api/reminders/{}", segment(id));
        let cancelled = client.delete(&path).await?;
        match session.output.json {
            true => session.output.value(cancelled),
            false => session.output.line("Nobody is reminded of it any more."),
        }
        return Ok(Exit::Done);
    }
    let path = match &args.name {
        Some(name) => format!("/api/reminders?agent={}", segment(name)),
        None => "/api/reminders".to_owned(),
    };
    let found = client.get(&path).await?;
    if session.output.json {
        session.output.value(found);
        return Ok(Exit::Done);
    }
    let RemindersResponse { reminders } = read(found)?;
    if reminders.is_empty() {
        session.output.line("Nobody is to be reminded of anything.");
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = reminders
        .iter()
        .map(|one| row(session.output, one))
        .collect();
    session
        .output
        .table(&["AGENT", "NEXT", "HOW", "SAYS", "ID"], &rows);
    Ok(Exit::Done)
}

fn row(output: &Output, one: &ReminderResponse) -> Vec<String> {
    let how = match (&one.cron, one.every_s) {
        (Some(cron), _) => format!("{cron} {}", one.zone.as_deref().unwrap_or("UTC")),
        (None, Some(seconds)) => format!("every {seconds} s"),
        (None, None) => "once".to_owned(),
    };
    let next = one.next_at.as_deref();
    vec![
        one.agent.clone(),
        next.map_or_else(|| "-".to_owned(), |next| output.times.short(next)),
        how,
        text::words_in_quotes(&one.text),
        one.id.clone(),
    ]
}

pub(super) async fn loose_ends(
    session: &Session<'_>,
    args: AgentLooseEndsArgs,
) -> Result<Exit, CommandError> {
    let path = format!("/api/agents/{}/loose-ends", segment(&args.name));
    let found = session.client()?.get(&path).await?;
    if session.output.json {
        session.output.value(found);
        return Ok(Exit::Done);
    }
    let found: LooseEndsResponse = read(found)?;
    let output = session.output;
    let mut is_empty = true;
    for agent in &found.agents {
        is_empty &= !show(output, agent);
    }
    if is_empty {
        output.line("Nothing is open there.");
    }
    if found.is_cut {
        output.note("there are more below than are shown; name one of them");
    }
    Ok(Exit::Done)
}

/// Whether anything of it was open.
fn show(output: &Output, agent: &AgentLooseEndsResponse) -> bool {
    for question in agent.asked.iter().chain(&agent.to_answer) {
        questions::show(output, question);
    }
    let name = text::escaped(&agent.agent);
    for reminder in &agent.reminders {
        let next = reminder.next_at.as_deref().unwrap_or("-");
        let words = text::words_in_quotes(&reminder.text);
        output.line(format!(
            "{name} is reminded {}: {words}",
            output.times.clock(next)
        ));
    }
    for proposal in &agent.proposals {
        let label = text::escaped(&proposal.label);
        output.line(format!(
            "{} · {name} waits for your yes: {label}",
            proposal.code
        ));
    }
    !(agent.asked.is_empty()
        && agent.to_answer.is_empty()
        && agent.reminders.is_empty()
        && agent.proposals.is_empty())
}
