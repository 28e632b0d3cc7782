//! What is wrong with a file: everything at once, each with its line and a way out.

use std::fmt;

use serde::Serialize;

use crate::text;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The whole file is refused.
    Error,
    /// Worth a look; the file loads.
    Warning,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub severity: Severity,
    pub line: u32,
    /// Where in the file, such as `actions[3].tier`.
    pub path: String,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        if !self.path.is_empty() {
            write!(f, ", {}", self.path)?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

/// How many errors, and how many warnings, are told of one file. What is beyond is counted.
pub(crate) const PROBLEMS_MAX: usize = 100;

/// For how many unknown words a known one is suggested: each is compared with all of them.
const SUGGESTIONS_MAX: usize = 8;

/// How many known words are listed for want of a near one.
const KNOWN_SHOWN_MAX: usize = 32;

/// Collects problems while the file is read on. Whoever wrote it may have sent it to keep the server busy, so what
/// is kept and what is compared is bounded.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    found: Vec<Problem>,
    errors: usize,
    warnings: usize,
    suggestions: usize,
}

impl Problems {
    pub(crate) fn error(&mut self, line: u32, path: &str, message: impl Into<String>) {
        self.push(Severity::Error, line, path, message.into(), None);
    }

    pub(crate) fn error_with_hint(
        &mut self,
        line: u32,
        path: &str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.push(
            Severity::Error,
            line,
            path,
            message.into(),
            Some(hint.into()),
        );
    }

    pub(crate) fn warn(
        &mut self,
        line: u32,
        path: &str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.push(
            Severity::Warning,
            line,
            path,
            message.into(),
            Some(hint.into()),
        );
    }

    /// An unknown word, with the known ones, and the nearest of them if it is near.
    pub(crate) fn unknown<'a>(
        &mut self,
        line: u32,
        path: &str,
        what: &str,
        word: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) {
        let hint = self.suggestion(word, known);
        let shown = text::escaped(text::cut(word, 80));
        let message = format!("unknown {what} \"{shown}\"");
        self.push(Severity::Error, line, path, message, hint);
    }

    /// A way out, for the first few that need one.
    fn suggestion<'a>(
        &mut self,
        word: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Option<String> {
        if self.suggestions >= SUGGESTIONS_MAX {
            return None;
        }
        self.suggestions += 1;
        let known: Vec<&str> = known.into_iter().collect();
        Some(match text::nearest(word, known.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None if known.is_empty() => "there are none".to_owned(),
            None if known.len() > KNOWN_SHOWN_MAX => format!("none of {} is near", known.len()),
            None => format!("known: {}", known.join(", ")),
        })
    }

    fn push(
        &mut self,
        severity: Severity,
        line: u32,
        path: &str,
        message: String,
        hint: Option<String>,
    ) {
        let count = match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        *count += 1;
        if *count > PROBLEMS_MAX {
            return;
        }
        self.found.push(Problem {
            severity,
            line,
            path: path.to_owned(),
            message,
            hint,
        });
    }

    /// All problems by line if one of them is an error, else the warnings; last, how many more there are.
    pub(crate) fn finish(mut self) -> Result<Vec<Problem>, Vec<Problem>> {
        self.found.sort_by_key(|problem| problem.line);
        let line = self.found.last().map_or(1, |problem| problem.line);
        let more = [
            (Severity::Error, self.errors, "errors"),
            (Severity::Warning, self.warnings, "warnings"),
        ];
        for (severity, count, what) in more {
            let Some(more) = count.checked_sub(PROBLEMS_MAX).filter(|more| *more > 0) else {
                continue;
            };
            self.found.push(Problem {
                severity,
                line,
                path: String::new(),
                message: format!("and {more} more {what}"),
                hint: None,
            });
        }
        match self.errors {
            0 => Ok(self.found),
            _ => Err(self.found),
        }
    }
}
