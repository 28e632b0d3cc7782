//! Why the program gave no answer, in words for people. Whatever the program wrote is cut, escaped, and
//! withheld if it repeats the pass.

use std::io;
use std::path::Path;
use std::time::Duration;

use void_domain::secrets::Secret;
use void_domain::text;

use super::processes::{Broken, ProcessEnd};
use crate::brains::exchanges::Fault;
use crate::brains::refusals::{self, ProviderError};
use crate::brains::{BrainError, BrainErrorKind, STREAM_BYTES_MAX, Usage};

const WHO: &str = "the claude program";

pub(super) struct ClaudeFailure<'a> {
    pass: Option<&'a Secret>,
}

impl<'a> ClaudeFailure<'a> {
    pub(super) fn new(pass: Option<&'a Secret>) -> Self {
        Self { pass }
    }

    pub(super) fn without_pass(&self) -> BrainError {
        let words = "needs a turn's pass, and there is none";
        self.error(BrainErrorKind::RequestRefused, words, "")
    }

    pub(super) fn no_folder(&self, error: &io::Error) -> BrainError {
        let words = "has no folder to work in";
        self.error(BrainErrorKind::Failed, words, &error.to_string())
    }

    pub(super) fn not_started(&self, program: &Path, error: &io::Error) -> BrainError {
        let path = text::escaped(&program.to_string_lossy());
        let words = format!("cannot be started as {path}; CLAUDE_EXE says where it is");
        self.error(BrainErrorKind::Unreachable, &words, &error.to_string())
    }

    pub(super) fn broken(&self, broken: Broken, ended: &ProcessEnd) -> BrainError {
        match broken {
            Broken::Silent(silence) => self.silent(silence, ended),
            Broken::Unread(error) => {
                let words = "can no longer be heard";
                self.error(BrainErrorKind::BrokenOff, words, &error.to_string())
            }
            Broken::TooMuch => {
                let words = format!("does not stop: more than {STREAM_BYTES_MAX} bytes");
                self.error(BrainErrorKind::AnswerTooLarge, &words, "")
            }
            Broken::Fault(Fault::Malformed(what)) => {
                let words = format!("does not speak its format; {what} was expected");
                self.error(BrainErrorKind::BadAnswer, &words, &ended.stderr)
            }
            Broken::Fault(Fault::TooLarge(what)) => {
                let words = format!("answers with {what}");
                self.error(BrainErrorKind::AnswerTooLarge, &words, "")
            }
            Broken::Fault(Fault::ProviderError(said)) => {
                let message = said.message.clone().unwrap_or_default();
                self.error(said.kind(), "passes on an error", &message)
            }
        }
    }

    fn silent(&self, silence: Duration, ended: &ProcessEnd) -> BrainError {
        let words = format!("fell silent for {silence:?}");
        self.error(BrainErrorKind::TimedOut, &words, &ended.stderr)
    }

    /// It ended, and there was no result.
    pub(super) fn no_result(&self, ended: &ProcessEnd) -> BrainError {
        let (kind, how) = match ended.code {
            Some(0) => (
                BrainErrorKind::BrokenOff,
                "ended without a result".to_owned(),
            ),
            Some(code) => {
                let words = format!("ended with code {code} and without a result");
                (BrainErrorKind::Failed, words)
            }
            None => {
                let words = "was ended by a signal before its result".to_owned();
                (BrainErrorKind::BrokenOff, words)
            }
        };
        self.error(kind, &how, &ended.stderr)
    }

    /// Its result is an error.
    pub(super) fn said(&self, status: Option<u16>, words: &str, usage: Usage) -> BrainError {
        let said = ProviderError {
            names: Vec::new(),
            status,
            message: Some(words.to_owned()),
        };
        let has = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
        let kind = match said.kind() {
            BrainErrorKind::Failed if has(&["/login", "Not logged in", "Invalid API key"]) => {
                BrainErrorKind::KeyRefused
            }
            BrainErrorKind::Failed if has(&["usage limit", "hit your limit"]) => {
                BrainErrorKind::RateLimited
            }
            kind => kind,
        };
        let how = match kind {
            BrainErrorKind::KeyRefused => "is not logged in, or its key is refused",
            BrainErrorKind::RateLimited => "has to wait for its provider",
            BrainErrorKind::Overloaded => "finds its provider overloaded",
            BrainErrorKind::NotFound => "does not find its model",
            BrainErrorKind::PromptTooLong => "finds the conversation too long",
            _ => "failed",
        };
        let mut error = self.error(kind, how, words);
        error.usage = usage;
        error
    }

    fn error(&self, kind: BrainErrorKind, words: &str, said: &str) -> BrainError {
        let mut message = format!("{WHO} {words}");
        if !said.trim().is_empty() {
            let pass = self.pass.cloned();
            message = format!("{message}: {}", refusals::presentable(said, &pass));
        }
        BrainError {
            kind,
            message,
            retry: kind.retry(None),
            usage: Usage::default(),
        }
    }
}
