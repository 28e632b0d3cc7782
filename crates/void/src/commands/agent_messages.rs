//! `void agents send` and `mailbox`

use void_api::agent_messages::{
    AgentMessageRequest, AgentMessageResponse, AgentMessageSentResponse, MailboxResponse,
};
use void_domain::agent_messages::DeadReason;
use void_domain::text;

use super::Session;
use super::run::segment;
use crate::cli::{AgentMailboxArgs, AgentSendArgs};
use crate::client::read;
use crate::exit::{CommandError, Exit};

/// How much of a text a row shows; `--json` has all of it.
const SHOWN_BYTES_MAX: usize = 160;

pub(super) async fn send(session: &Session<'_>, args: AgentSendArgs) -> Result<Exit, CommandError> {
    let body = AgentMessageRequest {
        text: args.words.join(" "),
        key: args.key,
    };
    let path = format!("/api/agents/{}/messages", segment(&args.name));
    let answer = session.client()?.post(&path, &body).await?;
    if session.output.json {
        session.output.value(answer);
        return Ok(Exit::Done);
    }
    let sent: AgentMessageSentResponse = read(answer)?;
    let output = session.output;
    let (to, id) = (&sent.message.to, &sent.message.id);
    output.line(match sent.repeat {
        true => format!("It was in {to}'s mailbox already, and is there once."),
        false => format!("It is in {to}'s mailbox."),
    });
    output.line(format!("  id: {id}"));
    output.next(&format!("void agents mailbox {to}"));
    Ok(Exit::Done)
}

pub(super) async fn mailbox(
    session: &Session<'_>,
    args: &AgentMailboxArgs,
) -> Result<Exit, CommandError> {
    let state = args.state.as_str();
    let path = format!(
        "/api/agents/{}/messages?state={state}&limit={}",
        segment(&args.name),
        args.limit
    );
    let answer = session.client()?.get(&path).await?;
    if session.output.json {
        session.output.value(answer);
        return Ok(Exit::Done);
    }
    let mailbox: MailboxResponse = read(answer)?;
    let (output, counts) = (session.output, &mailbox.counts);
    output.line(format!(
        "{}: {} waiting, {} handed out, {} acknowledged, {} that reach nobody",
        mailbox.agent, counts.waiting, counts.delivered, counts.acknowledged, counts.dead
    ));
    let rows: Vec<Vec<String>> = mailbox
        .messages
        .iter()
        .map(|message| row(session, message))
        .collect();
    if !rows.is_empty() {
        output.table(&["SENT", "FROM", "STATE", "SAYS"], &rows);
    }
    if mailbox.next.is_some() {
        output.line("There are older ones: --limit shows up to 500.");
    }
    Ok(Exit::Done)
}

fn row(session: &Session<'_>, message: &AgentMessageResponse) -> Vec<String> {
    vec![
        session.output.times.clock(&message.sent_at),
        message.from.clone(),
        state(message),
        says(message),
    ]
}

fn state(message: &AgentMessageResponse) -> String {
    let why = message.why.as_deref().and_then(DeadReason::parse);
    let times = match message.deliveries {
        0 | 1 => String::new(),
        times => format!(" {times} times"),
    };
    match (message.state.as_ref(), why) {
        ("dead", Some(why)) => format!("dead: {}", why.words()),
        ("delivered", _) => format!("handed out{times}"),
        (state, _) => state.to_owned(),
    }
}

fn says(message: &AgentMessageResponse) -> String {
    let said = match (&message.text, &message.wake) {
        (Some(text), _) => text.clone(),
        (None, Some(cause)) => format!("(woke itself: {cause})"),
        (None, None) => String::new(),
    };
    let shown = text::cut(&said, SHOWN_BYTES_MAX);
    let cut = if shown.len() < said.len() { " …" } else { "" };
    let mark = match message.taint.is_empty() {
        true => "",
        false => "[had read text of strangers] ",
    };
    format!("{mark}\"{shown}{cut}\"")
}
