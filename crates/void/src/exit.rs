//! How a command ends, and what is said with it. Exit codes and failure codes are those of the one table.

use std::process::ExitCode;

use serde_json::{Value, json};
use void_domain::failures::{AnyCode, FailureCode};

pub(crate) use void_domain::failures::Exit;

/// `void help-exit-codes`.
pub(crate) fn exit_codes() -> String {
    let row = |exit: Exit| format!("\n{:>5}  {}", exit.number(), exit.meaning());
    format!("Exit codes:{}", Exit::ALL.map(row).concat())
}

/// The same for programs.
pub(crate) fn exit_codes_value() -> Value {
    let row = |exit: Exit| json!({"code": exit.number(), "meaning": exit.meaning()});
    json!({"exit_codes": Exit::ALL.map(row)})
}

/// `void help-codes`.
pub(crate) fn failure_codes() -> String {
    let row = |code: &FailureCode| {
        let exit = code.exit().number();
        format!("\n{:24} {exit:>4}  {}", code.as_str(), code.meaning())
    };
    let rows: String = FailureCode::ALL.iter().map(row).collect();
    format!("Failure codes, with the exit code and the meaning of each:{rows}")
}

/// The same for programs.
pub(crate) fn failure_codes_value() -> Value {
    let row = |code: &FailureCode| {
        json!({
            "code": code, "meaning": code.meaning(), "exit": code.exit().number(), "http": code.http(),
        })
    };
    let rows: Vec<Value> = FailureCode::ALL.iter().map(row).collect();
    json!({"failure_codes": rows})
}

pub(crate) fn to_code(exit: Exit) -> ExitCode {
    ExitCode::from(exit.number())
}

/// What went wrong: what happened, a stable code, and the next command.
#[derive(Debug)]
pub(crate) struct CommandError {
    pub exit: Exit,
    pub code: AnyCode,
    pub message: String,
    pub next: Option<String>,
    /// What it is made of, one by one, for programs.
    pub parts: Vec<Value>,
}

impl CommandError {
    /// Ends as the table says.
    pub(crate) fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self::exiting(code.exit(), code, message)
    }

    /// Ends otherwise than the table says, because more is known than the code.
    pub(crate) fn exiting(
        exit: Exit,
        code: impl Into<AnyCode>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            exit,
            code: code.into(),
            message: message.into(),
            next: None,
            parts: Vec::new(),
        }
    }

    pub(crate) fn failed(code: impl Into<AnyCode>, message: impl Into<String>) -> Self {
        Self::exiting(Exit::Failed, code, message)
    }

    pub(crate) fn config(message: impl Into<String>) -> Self {
        Self::new(FailureCode::ConfigInvalid, message)
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureCode::Usage, message)
    }

    pub(crate) fn next(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }

    /// For programs, with its commands as they have to be typed.
    pub(crate) fn to_value(&self, typed: impl Fn(&str) -> String) -> Value {
        let next = self.next.as_deref().map(&typed);
        let mut error = json!({"code": self.code, "message": typed(&self.message), "next": next});
        if let (Value::Object(members), false) = (&mut error, self.parts.is_empty()) {
            members.insert("problems".to_owned(), json!(self.parts));
        }
        json!({"error": error})
    }
}
