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

/// Collects problems while the file is read on.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    found: Vec<Problem>,
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
    pub(crate) fn unknown(
        &mut self,
        line: u32,
        path: &str,
        what: &str,
        word: &str,
        known: &[&str],
    ) {
        let hint = match text::nearest(word, known.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None if known.is_empty() => "there are none".to_owned(),
            None => format!("known: {}", known.join(", ")),
        };
        let shown = text::escaped(text::cut(word, 80));
        self.error_with_hint(line, path, format!("unknown {what} \"{shown}\""), hint);
    }

    fn push(
        &mut self,
        severity: Severity,
        line: u32,
        path: &str,
        message: String,
        hint: Option<String>,
    ) {
        self.found.push(Problem {
            severity,
            line,
            path: path.to_owned(),
            message,
            hint,
        });
    }

    /// All problems by line if one of them is an error, else the warnings.
    pub(crate) fn finish(mut self) -> Result<Vec<Problem>, Vec<Problem>> {
        self.found.sort_by_key(|problem| problem.line);
        if self
            .found
            .iter()
            .any(|problem| problem.severity == Severity::Error)
        {
            Err(self.found)
        } else {
            Ok(self.found)
        }
    }
}
