//! What people and programs see: data on standard output, messages on standard error, JSON when
//! asked for, colour only where it helps and never as the only sign.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use serde_json::{Value, json};
use void_domain::text;

use crate::exit::Problem;
use crate::settings::Environment;

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
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Tone {
    Good,
    Waiting,
    Bad,
    Dim,
}

impl Output {
    pub(crate) fn new(json: bool, choice: ColorChoice, environment: &Environment) -> Self {
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
        }
    }

    /// Data for people: one line, with nothing in it that a terminal would obey.
    pub(crate) fn line(&self, line: impl AsRef<str>) {
        // A closed pipe ends the output, not the command.
        let _ = writeln!(io::stdout(), "{}", line.as_ref());
    }

    /// Data for programs, with the version of its shape.
    pub(crate) fn value(&self, mut value: Value) {
        if let Value::Object(members) = &mut value {
            members.insert("schema_version".to_owned(), json!(SCHEMA_VERSION));
        }
        let _ = writeln!(io::stdout(), "{value}");
    }

    /// A message about what is happening; never data.
    pub(crate) fn note(&self, message: impl AsRef<str>) {
        let _ = writeln!(io::stderr(), "{}", message.as_ref());
    }

    pub(crate) fn error(&self, problem: &Problem) {
        if self.json {
            let _ = writeln!(io::stderr(), "{}", problem.to_value());
            return;
        }
        let _ = writeln!(
            io::stderr(),
            "error: {}",
            text::escaped_lines(&problem.message)
        );
        if let Some(next) = &problem.next {
            let _ = writeln!(io::stderr(), "  next: {}", text::escaped(next));
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

    /// Columns of equal width; every cell is made harmless first.
    pub(crate) fn table(&self, header: &[&str], rows: &[Vec<String>]) {
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.iter().map(|cell| text::escaped(cell)).collect())
            .collect();
        let width = |column: usize| {
            let cells = rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count());
            cells
                .chain(header.get(column).map(|name| name.chars().count()))
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..header.len()).map(width).collect();
        let print = |cells: Vec<&str>| {
            let padded: Vec<String> = cells
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell:width$}"))
                .collect();
            padded.join("  ").trim_end().to_owned()
        };
        self.line(self.tone(Tone::Dim, &print(header.to_vec())));
        for row in &rows {
            self.line(print(row.iter().map(String::as_str).collect()));
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

/// Asks on the terminal; without one the answer is no.
pub(crate) fn confirm(question: &str) -> bool {
    if !io::stdin().is_terminal() {
        return false;
    }
    let _ = write!(io::stderr(), "{question} [y/N] ");
    let _ = io::stderr().flush();
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

pub(crate) fn is_interactive() -> bool {
    io::stdin().is_terminal()
}
