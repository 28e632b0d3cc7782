//! `void chat`: talking to an agent in the terminal. The words are the model's, and stand behind a bar;
//! the line at the end is the server's, and does not.

mod markdown;
mod quotes;

use std::fs::File;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileTypeExt as _;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use void_api::agents::{ConversationResponse, SayRequest, ViewRequest};
use void_api::conversations::{AttachRequest, StartedResponse, TruthResponse};
use void_api::events::{
    TurnDeltaEvent, TurnDoneEvent, TurnDraftEvent, TurnErrorEvent, TurnToolEvent,
};
use void_domain::failures::{AnyCode, FailureCode};
use void_domain::text;

use self::markdown::{Drawing, Run};
use self::quotes::Quote;
use super::run::segment;
use super::{Session, counted, kb, quoted};
use crate::cli::ChatArgs;
use crate::client::{Client, Event, read};
use crate::exit::{CommandError, Exit};
use crate::output::{Output, Tone};

pub(super) const LITTLE_BLUE: &str = "little-blue";
/// How often a turn is listened to again after the connection broke.
const RECONNECTS_MAX: u32 = 5;
const RECONNECT_PAUSE: Duration = Duration::from_secs(1);
/// So long a pipe may be silent beside a message.
const PIPE_PATIENCE: Duration = Duration::from_secs(2);
/// More than the server takes.
const MESSAGE_BYTES_MAX: u64 = 64 * 1024;

pub(super) async fn run(session: &Session<'_>, args: ChatArgs) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let looked_at_now = args.about.as_deref().or(args.looking_at.as_deref());
    let view = looked_at_now.map(looked_at).transpose()?;
    let open = open(&client, &args).await?;
    let chat = Chat {
        session,
        client,
        id: open.conversation_id.clone(),
        view,
        anew: anew(&args, &open),
    };
    match args.message {
        Some(message) => {
            let lines = if is_piped() {
                chat.read_piped().await?
            } else {
                String::new()
            };
            chat.say(&with_lines(&message, &lines)).await
        }
        None if io::stdin().is_terminal() => chat.converse(&open).await,
        None => chat.say(&quoted_lines(&read_all()?)).await,
    }
}

/// The conversation that goes on with an agent or in a space, a new one, or the one about something.
async fn open(client: &Client, args: &ChatArgs) -> Result<ConversationResponse, CommandError> {
    if let Some(about) = &args.about {
        let about = looked_at(about)?;
        let request = AttachRequest {
            kind: about.entity_type,
            id: about.entity_id,
            agent: args.agent.clone(),
        };
        return read(client.post("/api/conversations", &request).await?);
    }
    if let Some(space) = &args.space {
        let id = kb::of_space(client, Some(space)).await?;
        let agent = args.agent.as_deref();
        let agent = agent.map(|agent| format!("?agent={}", segment(agent)));
        let path = format!("/api/spaces/{}/conversation", segment(&id));
        let path = format!("{path}{}", agent.unwrap_or_default());
        return read(match args.new {
            true => client.post(&path, &json!({})).await?,
            false => client.get(&path).await?,
        });
    }
    let agent = args.agent.as_deref().unwrap_or(LITTLE_BLUE);
    let path = format!("/api/agents/{}/conversation", segment(agent));
    read(match args.new {
        true => client.post(&path, &json!({})).await?,
        false => client.get(&path).await?,
    })
}

/// The command that begins a new conversation. About one thing there is one: a new one comes where the old one was deleted.
fn anew(args: &ChatArgs, open: &ConversationResponse) -> String {
    match (&args.about, &args.space) {
        (Some(_), _) => format!("conversations rm {}", quoted(&open.conversation_id)),
        (None, Some(space)) => {
            let agent = quoted(&open.agent.slug);
            format!("chat {agent} --space {} --new", quoted(space))
        }
        (None, None) => {
            let agent = args.agent.as_deref().unwrap_or(LITTLE_BLUE);
            format!("chat {} --new", quoted(agent))
        }
    }
}

fn looked_at(text: &str) -> Result<ViewRequest, CommandError> {
    let (kind, id) = text
        .split_once(':')
        .ok_or_else(|| CommandError::usage("this takes a kind and an id: page:ID, service:NAME"))?;
    Ok(ViewRequest {
        entity_type: Some(kind.to_owned()),
        entity_id: Some(id.to_owned()),
    })
}

struct Chat<'a> {
    session: &'a Session<'a>,
    client: Client,
    id: String,
    /// What the owner looks at.
    view: Option<ViewRequest>,
    /// The command that begins a new conversation.
    anew: String,
}

impl Chat<'_> {
    /// Line by line, until the owner has no more to say.
    async fn converse(&self, open: &ConversationResponse) -> Result<Exit, CommandError> {
        let output = self.session.output;
        output.note(format!(
            "{} ({}). An empty line, exit or Ctrl-D ends it; Ctrl-C stops an answer.",
            text::escaped(&open.agent.name),
            text::escaped(&open.agent.model)
        ));
        loop {
            let _ = write!(io::stderr(), "\n> ");
            let mut line = String::new();
            let read = io::stdin().lock().read_line(&mut line);
            let read = read.map_err(|error| unreadable(&error))?;
            if read == 0 || line.trim().is_empty() || is_goodbye(&line) {
                return Ok(Exit::Done);
            }
            if let Err(problem) = self.say(line.trim()).await {
                output.error(&problem);
            }
        }
    }

    /// The lines that come through a pipe beside a message. A pipe that stays silent holds none, and that is said:
    /// over ssh standard input is one that nobody closes.
    async fn read_piped(&self) -> Result<String, CommandError> {
        let (begins, began) = oneshot::channel();
        let (ends, ended) = oneshot::channel();
        // A thread of its own: nobody waits for it if it reads in vain.
        std::thread::spawn(move || {
            let is_there = io::stdin().lock().fill_buf().map(|bytes| !bytes.is_empty());
            // Whoever gave up does not mind.
            let _ = begins.send(());
            let _ = ends.send(
                is_there
                    .map_err(|error| unreadable(&error))
                    .and_then(|_| read_all()),
            );
        });
        if tokio::time::timeout(PIPE_PATIENCE, began).await.is_err() {
            let output = self.session.output;
            output.note("nothing came through standard input, so the message goes without it");
            return Ok(String::new());
        }
        let gone = |_| CommandError::usage("standard input cannot be read");
        ended.await.map_err(gone)?
    }

    /// Says something and shows the answer as it comes.
    async fn say(&self, message: &str) -> Result<Exit, CommandError> {
        let path = format!("/api/conversations/{}/messages", self.id);
        let body = SayRequest {
            text: message.to_owned(),
            view: self.view.clone(),
        };
        let started: StartedResponse = read(self.client.post(&path, &body).await?)?;
        let turn = &started.assistant_message_id;
        let mut shown = ShownTurn::new(self.session, self.anew.clone());
        tokio::select! {
            heard = self.listen(turn, &mut shown) => heard,
            _ = tokio::signal::ctrl_c() => {
                let path = format!("/api/conversations/{}/stop", self.id);
                self.client.post(&path, &json!({})).await?;
                Err(CommandError::new(FailureCode::Interrupted, "the answer was stopped; what it proposed stays as it is"))
            }
        }
    }

    /// The turn goes on without us, so a broken connection is taken up where it broke.
    async fn listen(&self, turn: &str, shown: &mut ShownTurn<'_>) -> Result<Exit, CommandError> {
        let path = format!("/api/conversations/{}/stream?messageId={turn}", self.id);
        let mut reconnects = 0;
        loop {
            let problem = match self.client.events(&path, shown.last_id.as_deref()).await {
                Ok(mut events) => loop {
                    match events.next().await {
                        Ok(Some(event)) => {
                            if let Some(exit) = shown.show(&event)? {
                                return Ok(exit);
                            }
                        }
                        Ok(None) => {
                            break CommandError::failed(
                                FailureCode::CutOff,
                                "the stream ended early",
                            );
                        }
                        Err(problem) => break problem,
                    }
                },
                Err(problem) => problem,
            };
            reconnects += 1;
            if reconnects > RECONNECTS_MAX {
                return Err(problem.next(self.session.again("chat")));
            }
            tokio::time::sleep(RECONNECT_PAUSE).await;
        }
    }
}

/// What stands in the terminal so far.
struct ShownTurn<'a> {
    session: &'a Session<'a>,
    last_id: Option<String>,
    drawing: Drawing,
    quote: Quote,
    /// The command by which one goes on without what was read here.
    anew: String,
}

impl<'a> ShownTurn<'a> {
    fn new(session: &'a Session<'a>, anew: String) -> Self {
        Self {
            session,
            anew,
            last_id: None,
            drawing: Drawing::new(),
            quote: Quote::new(session.output.columns(), session.output.is_styled()),
        }
    }

    /// Shows an event; the exit after the last one.
    fn show(&mut self, event: &Event) -> Result<Option<Exit>, CommandError> {
        self.last_id.clone_from(&event.id);
        let (output, data) = (self.session.output, &event.data);
        if output.json {
            let mut line = data.clone();
            if let Value::Object(members) = &mut line {
                members.insert("event".to_owned(), json!(event.name));
            }
            output.value(line);
        }
        match event.name.as_str() {
            "delta" if !output.json => self.text(&read::<TurnDeltaEvent>(data.clone())?.text),
            "tool" if !output.json => self.tool(&read(data.clone())?),
            "draft" if !output.json => self.draft(&read(data.clone())?),
            "done" => {
                if !output.json {
                    self.end(&read(data.clone())?);
                }
                return Ok(Some(Exit::Done));
            }
            "error" => {
                self.break_line();
                let failure: TurnErrorEvent = read(data.clone())?;
                let problem = CommandError::failed(AnyCode::read(&failure.code), failure.message);
                return Err(problem.next(self.session.again("agents ls")));
            }
            _ => {}
        }
        Ok(None)
    }

    /// A model's words, without anything that a terminal would obey or that would look like ours.
    fn text(&mut self, text: &str) {
        let output = self.session.output;
        let text = output.typed(&output.times.sentence(text));
        let runs = self.drawing.push(&text);
        self.print(&runs);
    }

    fn print(&mut self, runs: &[Run]) {
        for (style, words) in runs {
            let shown = self.quote.push(words, *style);
            self.session.output.put(&shown);
        }
    }

    fn tool(&mut self, call: &TurnToolEvent) {
        if call.status == "running" {
            return;
        }
        self.break_line();
        let failed = call.status != "ok";
        let sign = if failed { "✗" } else { "✓" };
        let line = format!("{}  {}", call.tool, call.args_summary);
        let tone = if failed { Tone::Bad } else { Tone::Dim };
        let output = self.session.output;
        let line = output.tone(tone, text::escaped(&line).trim_end());
        output.hanging(&format!("  {sign} "), &line);
    }

    /// What a yes would change, in the server's words.
    fn draft(&mut self, draft: &TurnDraftEvent) {
        self.break_line();
        let output = self.session.output;
        let line = output.tone(Tone::Waiting, &text::escaped(&draft.summary));
        output.hanging("  draft  ", &line);
    }

    fn break_line(&mut self) {
        let held = self.drawing.end();
        self.print(&held);
        self.session.output.put(&self.quote.end());
        if self.quote.is_in_line() {
            self.session.output.line("");
            self.quote.end_line();
        }
    }

    /// The server's own words about the turn.
    fn end(&mut self, done: &TurnDoneEvent) {
        self.break_line();
        let output = self.session.output;
        output.line("");
        output.hanging("", &truth_line(output, &done.truth, &done.truth_line));
        for waiting in &done.truth.waits {
            let command = format!("inbox approve {}", waiting.code);
            output.line(format!("  yes: {}", self.session.again(&command)));
        }
        if !done.tainted_by.is_empty() {
            let line = format!(
                "Read from outside: {}. Until that is out of this conversation, everything waits for you.",
                text::escaped(&sources(&done.tainted_by))
            );
            output.hanging("", &output.tone(Tone::Waiting, &line));
            output.line(format!("  without it: {}", self.session.again(&self.anew)));
        }
    }
}

/// What was read, counted by its kind where it is something that the owner keeps.
fn sources(tainted_by: &[String]) -> String {
    let kept = ["page", "task", "ref", "project", "space"];
    let kind_of = |source: &str| {
        let (kind, _) = source.split_once(':')?;
        kept.into_iter().find(|one| *one == kind)
    };
    let of = |kind: &&str| {
        let count = tainted_by
            .iter()
            .filter(|source| kind_of(source) == Some(kind));
        counted(count.count(), kind)
    };
    let is_there = |kind: &&str| {
        tainted_by
            .iter()
            .any(|source| kind_of(source) == Some(kind))
    };
    let others = tainted_by.iter().filter(|source| kind_of(source).is_none());
    let counted = kept.iter().filter(|kind| is_there(kind)).map(of);
    counted
        .chain(others.cloned())
        .collect::<Vec<_>>()
        .join(", ")
}

/// A whole text, drawn as an answer is: whoever wrote it, no line of it passes for one of ours.
pub(super) fn draw(output: &Output, text: &str) {
    let mut drawing = Drawing::new();
    let mut quote = Quote::new(output.columns(), output.is_styled());
    let mut runs = drawing.push(text);
    runs.extend(drawing.end());
    for (style, words) in runs {
        output.put(&quote.push(&words, style));
    }
    output.put(&quote.end());
    if quote.is_in_line() {
        output.line("");
    }
}

fn truth_line(output: &Output, truth: &TruthResponse, line: &str) -> String {
    let tone = if !truth.refused.is_empty() {
        Tone::Bad
    } else if !truth.waits.is_empty() || !truth.unverified.is_empty() {
        Tone::Waiting
    } else if !truth.ran.is_empty() {
        Tone::Good
    } else {
        Tone::Dim
    };
    output.tone(tone, &format!("Void: {}", text::escaped(line)))
}

/// What ends a conversation in every other program.
fn is_goodbye(line: &str) -> bool {
    let word = line.trim().trim_end_matches(['.', '!']).to_lowercase();
    let known = [
        "exit", "quit", "bye", "/exit", "/quit", ":q", "tschüss", "ende",
    ];
    known.contains(&word.as_str())
}

/// Whether standard input is a pipe or a file: a terminal, `/dev/null` and what a service manager leaves
/// open hold no lines.
fn is_piped() -> bool {
    let file = io::stdin().as_fd().try_clone_to_owned().map(File::from);
    let kind = file.and_then(|file| file.metadata());
    kind.is_ok_and(|kind| kind.file_type().is_fifo() || kind.is_file())
}

/// A message, and beneath it the lines that it is about.
fn with_lines(message: &str, lines: &str) -> String {
    match lines.trim() {
        "" => message.to_owned(),
        lines => format!("{message}\n\n{}", quoted_lines(lines)),
    }
}

/// Lines through a pipe are words of somebody else, whoever reads them: they order nothing and answer nothing.
fn quoted_lines(lines: &str) -> String {
    let quoted: Vec<String> = lines.lines().map(|line| format!("> {line}")).collect();
    quoted.join("\n")
}

/// A message that is piped in.
fn read_all() -> Result<String, CommandError> {
    let mut message = String::new();
    let mut stdin = io::stdin().lock().take(MESSAGE_BYTES_MAX);
    stdin
        .read_to_string(&mut message)
        .map_err(|error| unreadable(&error))?;
    Ok(message)
}

fn unreadable(error: &io::Error) -> CommandError {
    CommandError::usage(format!("standard input cannot be read: {error}"))
}
