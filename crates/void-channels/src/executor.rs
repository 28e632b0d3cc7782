//! The node's side of the node channel: runs what came by the long poll.
//!
//! There is no permit here, because permits never leave the server. What comes is one command of `void-act`'s
//! grammar, and `void-act` judges it by the node's own list and journal, in a process of its own: it records its
//! end even when the node's program is killed meanwhile.

use std::time::Duration;

use serde::Deserialize;
use void_act::Answer;

use crate::act::{self, PROGRESS_LINES_MAX};
use crate::local::LocalConfig;
use crate::process::{self, Program};

const LINE_BYTES_MAX: usize = 4096;

pub struct Executor {
    config: LocalConfig,
}

/// What `void-act --progress` prints before its answer.
#[derive(Deserialize)]
struct Said {
    line: String,
}

impl Executor {
    pub const fn new(config: LocalConfig) -> Self {
        Self { config }
    }

    /// The node's list, as it is now.
    pub async fn list(&self, limit: Duration) -> Option<Answer> {
        self.answer("void-list", None, limit, |_| {}).await
    }

    /// The answer to one command. `None` when there was none: what became of it is in the journal.
    /// `ticket_time_ms` is the server's time, as far as it is known.
    pub async fn answer(
        &self,
        command: &str,
        ticket_time_ms: Option<u64>,
        limit: Duration,
        mut tell: impl FnMut(String),
    ) -> Option<Answer> {
        let mut args = self.config.arguments();
        args.push("--progress".into());
        if let Some(now) = ticket_time_ms {
            args.extend(["--ticket-time-ms".into(), now.to_string().into()]);
        }
        let program = Program {
            path: self.config.program.clone(),
            args,
            env: vec![("SSH_ORIGINAL_COMMAND", command.into())],
            dies_with_us: false,
        };
        let (mut partial, mut said) = (Vec::new(), Vec::new());
        let heard = |chunk: &[u8]| {
            for part in chunk.split_inclusive(|byte| *byte == b'\n') {
                let room = LINE_BYTES_MAX.saturating_sub(partial.len());
                partial.extend(part.iter().take(room));
                if !part.ends_with(b"\n") {
                    continue;
                }
                if let Ok(Said { line }) = serde_json::from_slice(&partial)
                    && said.len() < PROGRESS_LINES_MAX
                {
                    said.push(line.clone());
                    tell(line);
                }
                partial.clear();
            }
        };
        let finished = process::run_heard(program, limit, heard).await.ok()?;
        let last = finished
            .stdout
            .trim_ascii_end()
            .split(|byte| *byte == b'\n')
            .next_back()?;
        let mut answer = act::parse(last)?;
        answer.progress = said;
        Some(answer)
    }
}
