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
use void_domain::text;

use self::markdown::{Drawing, Run};
use self::quotes::Quote;
use super::Session;
use super::rows::word;
use super::run::segment;
use crate::cli::ChatArgs;
use crate::client::{Client, Event};
use crate::exit::{Exit, Problem};
use crate::output::{Output, Tone};

/// How often a turn is listened to again after the connection broke.
const RECONNECTS_MAX: u32 = 5;
const RECONNECT_PAUSE: Duration = Duration::from_secs(1);
/// So long a pipe may be silent beside a message.
const PIPE_PATIENCE: Duration = Duration::from_secs(2);
/// More than the server takes.
const MESSAGE_BYTES_MAX: u64 = 64 * 1024;

pub(super) async fn run(session: &Session<'_>, args: ChatArgs) -> Result<Exit, Problem> {
    let client = session.client()?;
    let path = format!("/api/agents/{}/conversation", segment(&args.agent));
    let open = if args.new {
        client.post(&path, json!({})).await?
    } else {
        client.get(&path).await?
    };
    let chat = Chat {
        session,
        client,
        id: word(&open, "conversation_id").to_owned(),
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

struct Chat<'a> {
    session: &'a Session<'a>,
    client: Client,
    id: String,
}

impl Chat<'_> {
    /// Line by line, until the owner has no more to say.
    async fn converse(&self, open: &Value) -> Result<Exit, Problem> {
        let agent = open.get("agent").unwrap_or(&Value::Null);
        let output = self.session.output;
        output.note(format!(
            "{} ({}). An empty line, exit or Ctrl-D ends it; Ctrl-C stops an answer.",
            text::escaped(word(agent, "name")),
            text::escaped(word(agent, "model"))
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
    async fn read_piped(&self) -> Result<String, Problem> {
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
        let gone = |_| Problem::usage("standard input cannot be read");
        ended.await.map_err(gone)?
    }

    /// Says something and shows the answer as it comes.
    async fn say(&self, message: &str) -> Result<Exit, Problem> {
        let path = format!("/api/conversations/{}/messages", self.id);
        let started = self.client.post(&path, json!({"text": message})).await?;
        let turn = word(&started, "assistant_message_id");
        let mut shown = Shown::new(self.session);
        tokio::select! {
            heard = self.listen(turn, &mut shown) => heard,
            _ = tokio::signal::ctrl_c() => {
                let path = format!("/api/conversations/{}/stop", self.id);
                self.client.post(&path, json!({})).await?;
                Err(Problem::new(Exit::Interrupted, "interrupted", "the answer was stopped; what it proposed stays as it is"))
            }
        }
    }

    /// The turn goes on without us, so a broken connection is taken up where it broke.
    async fn listen(&self, turn: &str, shown: &mut Shown<'_>) -> Result<Exit, Problem> {
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
                        Ok(None) => break Problem::failed("cut_off", "the stream ended early"),
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
struct Shown<'a> {
    session: &'a Session<'a>,
    last_id: Option<String>,
    drawing: Drawing,
    quote: Quote,
}

impl<'a> Shown<'a> {
    fn new(session: &'a Session<'a>) -> Self {
        Self {
            session,
            last_id: None,
            drawing: Drawing::new(),
            quote: Quote::new(session.output.columns(), session.output.is_styled()),
        }
    }

    /// Shows an event; the exit after the last one.
    fn show(&mut self, event: &Event) -> Result<Option<Exit>, Problem> {
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
            "delta" if !output.json => self.text(word(data, "text")),
            "tool" if !output.json && word(data, "status") != "running" => self.tool(data),
            "done" => {
                if !output.json {
                    self.end(data);
                }
                return Ok(Some(Exit::Done));
            }
            "error" => {
                self.break_line();
                let code = word(data, "code").to_owned();
                let problem = Problem::failed(&code, word(data, "message"));
                return Err(problem.next(self.session.again("agents ls")));
            }
            _ => {}
        }
        Ok(None)
    }

    /// A model's words, without anything that a terminal would obey or that would look like ours.
    fn text(&mut self, text: &str) {
        let runs = self.drawing.push(text);
        self.print(&runs);
    }

    fn print(&mut self, runs: &[Run]) {
        for (style, words) in runs {
            let shown = self.quote.push(words, *style);
            self.session.output.put(&shown);
        }
    }

    fn tool(&mut self, data: &Value) {
        self.break_line();
        let failed = word(data, "status") != "ok";
        let sign = if failed { "✗" } else { "✓" };
        let line = format!("{}  {}", word(data, "tool"), word(data, "args_summary"));
        let tone = if failed { Tone::Bad } else { Tone::Dim };
        let output = self.session.output;
        let line = output.tone(tone, text::escaped(&line).trim_end());
        output.hanging(&format!("  {sign} "), &line);
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
    fn end(&mut self, data: &Value) {
        self.break_line();
        let output = self.session.output;
        let truth = data.get("truth").unwrap_or(&Value::Null);
        output.line("");
        output.hanging("", &truth_line(output, truth, word(data, "truth_line")));
        for waiting in items(truth, "waits") {
            let command = format!("inbox approve {}", word(waiting, "code"));
            output.line(format!("  yes: {}", self.session.again(&command)));
        }
        let sources = data.get("tainted_by").and_then(Value::as_array);
        let sources: Vec<&str> = sources
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if !sources.is_empty() {
            let sources = text::escaped(&sources.join(", "));
            let line =
                format!("Read from outside: {sources}. From here on everything waits for you.");
            output.hanging("", &output.tone(Tone::Waiting, &line));
        }
    }
}

fn items<'v>(truth: &'v Value, part: &str) -> impl Iterator<Item = &'v Value> {
    truth
        .get(part)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn truth_line(output: &Output, truth: &Value, line: &str) -> String {
    let has = |part: &str| items(truth, part).next().is_some();
    let tone = if has("refused") {
        Tone::Bad
    } else if has("waits") || has("unverified") {
        Tone::Waiting
    } else if has("ran") {
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
fn read_all() -> Result<String, Problem> {
    let mut message = String::new();
    let mut stdin = io::stdin().lock().take(MESSAGE_BYTES_MAX);
    stdin
        .read_to_string(&mut message)
        .map_err(|error| unreadable(&error))?;
    Ok(message)
}

fn unreadable(error: &io::Error) -> Problem {
    Problem::usage(format!("standard input cannot be read: {error}"))
}
