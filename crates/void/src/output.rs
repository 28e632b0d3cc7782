//! What people and programs see: data on standard output, messages on standard error, JSON when
//! asked for, colour only where it helps and never as the only sign.

use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use void_domain::text;

use crate::exit::CommandError;
use crate::settings::Environment;
use crate::times::Times;
use crate::{fitting, hints};

pub(crate) const SCHEMA_VERSION: u32 = 1;
/// Progress is shown for what takes longer than a glance.
const PROGRESS_AFTER: Duration = Duration::from_millis(300);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    #[default]
    Auto,
    Always,
    Never,
}

pub(crate) struct Output {
    pub json: bool,
    color: bool,
    /// How wide the lines may be; `None` where nobody looks at columns.
    columns: Option<usize>,
    pub times: Times,
    /// Whoever read standard output has gone.
    is_closed: AtomicBool,
    /// This program with the flags that say which server, where there are any.
    called: String,
}

/// Between the columns of a table.
const GAP: usize = 2;
/// The column that an id is in.
const ID_COLUMN: &str = "ID";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Waiting,
    Bad,
    Dim,
}

impl Output {
    /// `times` are said so to people; programs get them as they come.
    pub(crate) fn new(
        json: bool,
        choice: ColorChoice,
        times: Times,
        environment: &Environment,
    ) -> Self {
        let color = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                let forced = environment
                    .get("CLICOLOR_FORCE")
                    .is_some_and(|value| value != "0");
                let wanted = io::stdout().is_terminal()
                    && environment.get("CLICOLOR").is_none_or(|value| value != "0");
                forced || (wanted && environment.get("NO_COLOR").is_none_or(str::is_empty))
            }
        };
        Self {
            json,
            color: color && !json,
            columns: columns(environment),
            times: if json { Times::as_they_come() } else { times },
            is_closed: AtomicBool::new(false),
            called: hints::NAME.to_owned(),
        }
    }

    /// What is hinted at is for the server that was meant.
    pub(crate) fn with_hints_for(self, called: String) -> Self {
        Self { called, ..self }
    }

    /// A text in which commands are as they have to be typed for the same server.
    pub(crate) fn typed(&self, hint: &str) -> String {
        hints::called(hint, &self.called)
    }

    /// What to type next.
    pub(crate) fn next(&self, hint: &str) {
        self.line(format!("  next: {}", self.typed(hint)));
    }

    /// Data for people: one line, with nothing in it that a terminal would obey.
    pub(crate) fn line(&self, line: impl AsRef<str>) {
        self.put(&format!("{}\n", line.as_ref()));
    }

    /// Writes it as it is. A closed pipe ends the output, not the command.
    pub(crate) fn put(&self, text: &str) {
        let mut out = io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        if written.is_err_and(|error| error.kind() == ErrorKind::BrokenPipe) {
            self.is_closed.store(true, Ordering::Relaxed);
        }
    }

    /// Whether nobody reads any more: what only follows has nothing left to do.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    /// Whether somebody looks at it, as far as that can be known.
    pub(crate) fn is_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Whether words may be set off by how they look.
    pub(crate) const fn is_styled(&self) -> bool {
        self.color
    }

    pub(crate) const fn columns(&self) -> Option<usize> {
        self.columns
    }

    /// A name and its value, which goes on under itself where it is long.
    pub(crate) fn field(&self, name: &str, name_columns: usize, value: &str) {
        self.hanging(&format!("  {name:name_columns$} "), value);
    }

    /// A name and a value with words of somebody else's: what goes on below it is marked.
    pub(crate) fn foreign_field(&self, name: &str, name_columns: usize, value: &str) {
        self.foreign(&format!("  {name:name_columns$} "), value);
    }

    /// A text with words of somebody else's, which goes on under its own beginning behind a mark.
    pub(crate) fn foreign(&self, lead: &str, text: &str) {
        for line in fitting::continued(lead, text, self.columns) {
            self.line(line.trim_end());
        }
    }

    /// A line of somebody else's, which is theirs in every piece of it.
    pub(crate) fn quoted_field(&self, name: &str, name_columns: usize, text: &str) {
        let lead = format!("  {name:name_columns$} ");
        for line in fitting::barred(&lead, text, self.columns) {
            self.line(line);
        }
    }

    /// A text that goes on under its own beginning, after `lead`.
    pub(crate) fn hanging(&self, lead: &str, text: &str) {
        let indent = fitting::columns(lead);
        let lines: Vec<String> = match self.columns {
            None => text.split('\n').map(str::to_owned).collect(),
            Some(columns) => fitting::wrapped(text, columns.saturating_sub(indent)),
        };
        for (number, line) in lines.iter().enumerate() {
            let before = if number == 0 {
                lead.to_owned()
            } else {
                " ".repeat(indent)
            };
            self.line(format!("{before}{line}").trim_end());
        }
    }

    /// Data for programs, with the version of its shape.
    pub(crate) fn value(&self, mut value: Value) {
        if let Value::Object(members) = &mut value {
            members.insert("schema_version".to_owned(), json!(SCHEMA_VERSION));
        }
        self.put(&format!("{value}\n"));
    }

    /// A message about what is happening; never data.
    pub(crate) fn note(&self, message: impl AsRef<str>) {
        let _ = writeln!(io::stderr(), "{}", message.as_ref());
    }

    /// Something is wrong that is in nobody's way now.
    pub(crate) fn warning(&self, problem: &CommandError) {
        if self.json {
            let value = problem.to_value(|said| self.typed(said));
            return self.note(json!({"warning": value.get("error")}).to_string());
        }
        let said = self.typed(&text::escaped_lines(&problem.message));
        self.note(format!("warning: {said}"));
        self.note(format!("  next: {}", self.typed("void config check")));
    }

    pub(crate) fn error(&self, problem: &CommandError) {
        if self.json {
            let value = problem.to_value(|said| self.typed(said));
            let _ = writeln!(io::stderr(), "{value}");
            return;
        }
        let _ = writeln!(
            io::stderr(),
            "error: {}",
            self.typed(&self.times.sentence(&text::escaped_lines(&problem.message)))
        );
        if let Some(next) = &problem.next {
            let next = self.typed(&text::escaped(next));
            let _ = writeln!(io::stderr(), "  next: {next}");
        }
    }

    pub(crate) fn tone(&self, tone: Tone, word: &str) -> String {
        if !self.color {
            return word.to_owned();
        }
        let code = match tone {
            Tone::Good => 32,
            Tone::Waiting => 33,
            Tone::Bad => 31,
            Tone::Dim => 2,
        };
        format!("\u{1b}[{code}m{word}\u{1b}[0m")
    }

    /// Columns of equal width; every cell is made harmless first. What does not fit goes on below, whole; an id has a
    /// line of its own then, because it is there to be copied.
    pub(crate) fn table(&self, header: &[&str], rows: &[Vec<String>]) {
        let mut header: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
        let mut rows: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.iter().map(|cell| text::escaped(cell)).collect())
            .collect();
        let mut ids = Vec::new();
        let mut widths = widths_of(&header, &rows, fitting::columns);
        if let Some(columns) = self.columns {
            let is_too_wide =
                widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1) > columns;
            let id = header.iter().position(|name| name == ID_COLUMN);
            if let (true, Some(at)) = (is_too_wide, id) {
                header.remove(at);
                widths.remove(at);
                let id_of = |row: &mut Vec<String>| match at < row.len() {
                    true => row.remove(at),
                    false => String::new(),
                };
                ids = rows.iter_mut().map(id_of).collect();
            }
            let words = widths_of(&header, &rows, fitting::widest_word);
            widths = fitting::column_widths(&widths, &words, GAP, columns);
        }
        for line in laid_out(&header, &widths) {
            self.line(self.tone(Tone::Dim, &line));
        }
        for (number, row) in rows.iter().enumerate() {
            for line in laid_out(row, &widths) {
                self.line(line);
            }
            if let Some(id) = ids.get(number) {
                self.line(format!("  id: {id}"));
            }
        }
    }

    /// How far something is: on a terminal in one line that changes, for programs as a line of its own, and nowhere else.
    pub(crate) fn progress(&self, what: &str, done: usize, of: usize) {
        if self.json {
            let progress = json!({"progress": {"what": what, "done": done, "of": of}});
            self.note(progress.to_string());
        } else if io::stderr().is_terminal() {
            let end = if done >= of { "\r\u{1b}[2K" } else { "" };
            let _ = write!(io::stderr(), "\r\u{1b}[2K{what} {done} of {of}{end}");
            let _ = io::stderr().flush();
        }
    }

    /// Shows what is being waited for, on a terminal and only if it takes a while.
    pub(crate) async fn waiting<T>(&self, what: &str, work: impl Future<Output = T>) -> T {
        if self.json || !io::stderr().is_terminal() {
            return work.await;
        }
        tokio::pin!(work);
        if let Ok(done) = tokio::time::timeout(PROGRESS_AFTER, work.as_mut()).await {
            return done;
        }
        let mut seconds = 0_u32;
        loop {
            let _ = write!(io::stderr(), "\r\u{1b}[2K{what} {seconds} s");
            let _ = io::stderr().flush();
            if let Ok(done) = tokio::time::timeout(Duration::from_secs(1), work.as_mut()).await {
                let _ = write!(io::stderr(), "\r\u{1b}[2K");
                return done;
            }
            seconds += 1;
        }
    }
}

/// What the widest cell of each column takes, its name included.
fn widths_of(header: &[String], rows: &[Vec<String>], wide: impl Fn(&str) -> usize) -> Vec<usize> {
    let of_column = |(column, name): (usize, &String)| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let widest = cells.map(|cell| wide(cell)).max().unwrap_or(0);
        widest.max(wide(name))
    };
    header.iter().enumerate().map(of_column).collect()
}

/// One row in as many lines as its longest cell needs.
fn laid_out(cells: &[String], widths: &[usize]) -> Vec<String> {
    let cells: Vec<Vec<String>> = cells
        .iter()
        .zip(widths)
        .map(|(cell, width)| fitting::wrapped(cell, *width))
        .collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let line = |number: usize| {
        let parts: Vec<String> = cells
            .iter()
            .zip(widths)
            .map(|(lines, width)| {
                let part = lines.get(number).map(String::as_str).unwrap_or_default();
                let missing = width.saturating_sub(fitting::columns(part));
                format!("{part}{}", " ".repeat(missing))
            })
            .collect();
        parts.join(&" ".repeat(GAP)).trim_end().to_owned()
    };
    (0..height).map(line).collect()
}

/// As wide as whoever calls says, or as the terminal is. What goes into a file or a pipe is not cut.
fn columns(environment: &Environment) -> Option<usize> {
    let said = environment
        .get("COLUMNS")
        .and_then(|text| text.parse().ok());
    let terminal = || {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        Some(usize::from(size.ws_col))
    };
    said.or_else(terminal).filter(|columns| *columns > 0)
}

/// A line from the terminal, after a question; without a terminal there is none.
pub(crate) fn ask(question: &str) -> Option<String> {
    if !io::stdin().is_terminal() {
        return None;
    }
    let _ = write!(io::stderr(), "{question} ");
    let _ = io::stderr().flush();
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).ok()?;
    Some(answer)
}

/// Asks on the terminal; without one the answer is no.
pub(crate) fn confirm(question: &str) -> bool {
    let answer = ask(&format!("{question} [y/N]")).unwrap_or_default();
    matches!(answer.trim(), "y" | "Y" | "yes")
}

pub(crate) fn is_interactive() -> bool {
    io::stdin().is_terminal()
}
