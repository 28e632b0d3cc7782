//! Everything that is wrong with the settings, gathered: whoever corrects one should not have to come back for the
//! next.

use serde_json::{Value, json};

use crate::exit::CommandError;

#[derive(Default)]
pub(crate) struct Problems(Vec<ProblemEntry>);

struct ProblemEntry {
    setting: Option<String>,
    line: Option<usize>,
    problem: CommandError,
}

impl Problems {
    /// Notes what is wrong, once.
    pub(crate) fn keep<T>(&mut self, read: Result<T, CommandError>) -> Option<T> {
        read.map_err(|problem| self.push(None, None, problem)).ok()
    }

    /// Forgets what is wrong with other settings than these.
    pub(super) fn keep_of(&mut self, keys: &[&str]) {
        let is_one = |setting: &String| keys.contains(&setting.as_str());
        self.0
            .retain(|entry| entry.setting.as_ref().is_some_and(is_one));
    }

    pub(super) fn push(
        &mut self,
        setting: Option<&str>,
        line: Option<usize>,
        problem: CommandError,
    ) {
        let is_known = |entry: &ProblemEntry| entry.problem.message == problem.message;
        if !self.0.iter().any(is_known) {
            self.0.push(ProblemEntry {
                setting: setting.map(str::to_owned),
                line,
                problem,
            });
        }
    }

    /// One problem as it is; several as one with a line for each; programs get them one by one.
    pub(crate) fn into_result(mut self) -> Result<(), CommandError> {
        let parts: Vec<Value> = self.0.iter().map(ProblemEntry::to_value).collect();
        let mut problem = match (self.0.len(), self.0.pop()) {
            (_, None) => return Ok(()),
            (1, Some(only)) => only.problem,
            (several, Some(last)) => {
                let entries = self.0.iter().chain([&last]);
                let lines: Vec<String> = entries.map(ProblemEntry::text).collect();
                let message = format!("{several} things are wrong:\n{}", lines.join("\n"));
                CommandError::config(message)
            }
        };
        problem.parts = parts;
        Err(problem)
    }
}

impl ProblemEntry {
    fn text(&self) -> String {
        match &self.problem.next {
            Some(next) => format!("  {} (next: {next})", self.problem.message),
            None => format!("  {}", self.problem.message),
        }
    }

    fn to_value(&self) -> Value {
        json!({
            "setting": self.setting,
            "line": self.line,
            "message": self.problem.message,
            "next": self.problem.next,
        })
    }
}
