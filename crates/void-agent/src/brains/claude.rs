//! The `claude` program as a brain: a process per answer, Void's MCP server as its only tools.
//!
//! The process is a stranger that works for one turn. Its environment is ours from the first name to the
//! last, it has no tool of its own, what it says about tools is not believed (the turn's pass keeps the
//! trace), and it ends with its whole process group when nobody waits for the answer any more. No key is
//! near it: models are reached through the server's gateway with the turn's pass. A subscription's login
//! in a folder of the owner's is the one exception to that (DESIGN 9).
//!
//! Flags, variables and lines are those of version 2.1.197, tried by hand against the gateway.

mod commands;
mod failures;
mod lines;
mod processes;
mod texts;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use void_domain::secrets::Secret;

pub(crate) use self::commands::TOOL_PREFIX;
use self::failures::ClaudeFailure;
use self::lines::{Conversation, Verdict};
pub(crate) use self::lines::{NO_CALLS_LEFT, NO_TOKENS_LEFT};
use self::processes::Process;
use super::{Answering, BaseUrl, Block, Brain, BrainError, InvalidBrain, OnEvent, Prompt, Reply};

/// Where programs are looked for when nobody says otherwise; `claude` from npm needs `node` there.
pub const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Without a line for so long it hangs. Tools answer within this, and so does the first word of a model.
pub const SILENCE_MAX: Duration = Duration::from_secs(60);

#[derive(Debug, Clone)]
pub struct ClaudeConfig {
    /// `CLAUDE_EXE`: a path, or a name that is looked for on `search_path`.
    pub program: PathBuf,
    pub search_path: OsString,
    /// This very program, for `void mcp`.
    pub void_program: PathBuf,
    /// Where this server listens, on loopback.
    pub api_url: BaseUrl,
    /// The whole name of a model, no short one: the gateway puts it into every request.
    pub model: String,
    /// Private to one agent: what the program keeps of conversations is in it.
    pub work_folder: PathBuf,
    pub login: ClaudeLogin,
    pub silence_max: Duration,
}

/// How the program reaches a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaudeLogin {
    /// Through this server, with the turn's pass. The key stays here.
    Gateway,
    /// `VOID_CLAUDE_HOME`: a folder in which the owner logged in. The program holds that login itself.
    Subscription { home: PathBuf },
}

#[derive(Debug)]
pub struct ClaudeBrain {
    config: ClaudeConfig,
}

impl ClaudeBrain {
    pub fn new(config: ClaudeConfig) -> Result<Self, InvalidBrain> {
        if config.model.trim().is_empty() || config.model.starts_with('-') {
            return Err(InvalidBrain::Model);
        }
        Ok(Self { config })
    }

    async fn converse(&self, prompt: &Prompt, on_event: OnEvent<'_>) -> Result<Reply, BrainError> {
        let problem = ClaudeFailure::new(prompt.pass.as_ref());
        let Some(pass) = &prompt.pass else {
            return Err(problem.without_pass());
        };
        if let Some(session) = texts::session_to_resume(prompt) {
            let text = texts::newest(&prompt.messages);
            let heard = self
                .ask(prompt, pass, Some(session), text, on_event, &problem)
                .await?;
            match heard.verdict() {
                Verdict::UnknownSession => {
                    tracing::info!(
                        "the claude program no longer knows a conversation; it is told again"
                    );
                }
                Verdict::Answered(_) | Verdict::Failed(_) => return self.reply(heard, &problem),
            }
        }
        let text = texts::whole(&prompt.messages);
        let heard = self
            .ask(prompt, pass, None, text, on_event, &problem)
            .await?;
        self.reply(heard, &problem)
    }

    async fn ask(
        &self,
        prompt: &Prompt,
        pass: &Secret,
        session: Option<&str>,
        text: String,
        on_event: OnEvent<'_>,
        problem: &ClaudeFailure<'_>,
    ) -> Result<Conversation, BrainError> {
        let command = commands::command(&self.config, prompt, pass, session)
            .map_err(|error| problem.no_folder(&error))?;
        let mut process = Process::start(command)
            .map_err(|error| problem.not_started(&self.config.program, &error))?;
        let mut heard = Conversation::default();
        let talked = process
            .talk(text, self.config.silence_max, &mut heard, on_event)
            .await;
        let ended = process.end().await;
        talked.map_err(|broken| problem.broken(broken, &ended))?;
        if heard.is_over() {
            Ok(heard)
        } else {
            Err(problem.no_result(&ended))
        }
    }

    fn reply(&self, heard: Conversation, problem: &ClaudeFailure<'_>) -> Result<Reply, BrainError> {
        let usage = match self.config.login {
            // Every token went through the gateway, which counted it.
            ClaudeLogin::Gateway => super::Usage::default(),
            ClaudeLogin::Subscription { .. } => heard.usage(),
        };
        let session = heard.session();
        match heard.verdict() {
            Verdict::Answered(stop) => Ok(Reply {
                blocks: vec![Block::Text(heard.into_text())],
                stop,
                usage,
                session,
            }),
            Verdict::UnknownSession => {
                Err(problem.said(None, "it does not know its conversation", usage))
            }
            Verdict::Failed(failed) => Err(problem.said(failed.status, &failed.words, usage)),
        }
    }
}

impl Brain for ClaudeBrain {
    fn model(&self) -> &str {
        &self.config.model
    }

    fn needs_pass(&self) -> bool {
        true
    }

    fn answer<'a>(&'a self, prompt: &'a Prompt, on_event: OnEvent<'a>) -> Answering<'a> {
        Box::pin(self.converse(prompt, on_event))
    }
}
