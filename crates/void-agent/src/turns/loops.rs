//! One turn from its first prompt to its last word.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::Notify;
use tokio::time::Instant;
use void_control::conversations::{self as record, Begun};
use void_control::{Control, Ctx, agents};
use void_domain::changes::drafts::DraftTurn;
use void_domain::conversations::{self, MessageView, Step};
use void_domain::failures::FailureCode;
use void_domain::ids::MessageId;
use void_domain::limits;
use void_domain::proposals::Failure;
use void_domain::secrets::Secret;
use void_domain::taint::Taint;
use void_domain::text;

use super::leads::Led;
use super::live::{ChatEvent, Live};
use super::passes::Models;
use super::transcripts::Transcript;
use super::{files, outcomes, places, prompts};
use crate::agents::Agent;
use crate::brains::{
    Arguments, Block, BrainEvent, Message, Prompt, Reply, Stop, ToolCall, ToolResult, Usage,
};
use crate::tools::{self, Outcome, Scope, Tool, ToolError};

const TOOL_NAME_BYTES_MAX: usize = 64;
/// A stand-in where nobody counts the tokens.
const BYTES_PER_TOKEN: usize = 4;

/// How a turn ended.
pub(super) enum Ended {
    Done,
    Stopped,
    Failed(Failure),
}

/// A turn at work.
pub(super) struct Running {
    pub control: Control,
    pub agent: Arc<Agent>,
    pub ctx: Ctx,
    pub tools: Vec<&'static Tool>,
    pub models: Models,
    scope: Scope,
    message_id: MessageId,
    tokens_left: Option<u64>,
    live: Arc<Live>,
    transcript: Mutex<Transcript>,
    /// The answer is as long as one may be.
    full: Notify,
}

impl Running {
    pub(super) fn new(
        control: Control,
        agent: Arc<Agent>,
        ctx: Ctx,
        live: Arc<Live>,
        begun: &Begun,
        view: Option<MessageView>,
    ) -> Self {
        let tools = tools::for_turn(&control, &ctx).collect();
        Self {
            control,
            agent,
            ctx,
            tools,
            models: Models::default(),
            scope: Scope::of_turn(begun.conversation.space_id, view).at(DraftTurn {
                conversation_id: begun.conversation.id,
                message_id: begun.message_id,
            }),
            message_id: begun.message_id,
            tokens_left: begun.tokens_left,
            live,
            transcript: Mutex::new(Transcript::of(begun)),
            full: Notify::new(),
        }
    }

    fn open(&self) -> MutexGuard<'_, Transcript> {
        self.transcript
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// What it has read so far that a stranger could have written.
    pub(super) fn taint(&self) -> Taint {
        self.open().taint.clone()
    }

    /// What it has come to.
    pub(super) fn transcript(&self) -> Transcript {
        self.open().clone()
    }

    /// From the first prompt to the last word, here or in the agent's process, within the limits of time and length.
    pub(super) async fn run(&self, begun: &Begun, pass: Option<Secret>, led: Option<Led>) -> Ended {
        match led {
            None => self.within_limits(self.rounds(begun, pass)).await,
            Some(led) => self.within_limits(self.led(begun, pass, led)).await,
        }
    }

    async fn within_limits(&self, work: impl Future<Output = Ended>) -> Ended {
        let end = Instant::now() + limits::TURN_TIME_MAX;
        let mut stopping = self.control.stopping();
        let ended = tokio::select! {
            ended = tokio::time::timeout_at(end, work) => {
                ended.unwrap_or_else(|_| self.at_limit(&format!(
                    "a turn takes at most {} seconds",
                    limits::TURN_TIME_MAX.as_secs()
                )))
            }
            () = self.full.notified() => self.at_limit(&format!(
                "an answer has at most {} KiB",
                limits::ANSWER_BYTES_MAX / 1024
            )),
            () = self.live.stopped() => Ended::Stopped,
            _ = stopping.wait_for(|stop| *stop) => Ended::Failed(Failure::new(
                FailureCode::Interrupted,
                "Void stopped while this answer was written",
            )),
        };
        self.settle_unanswered();
        ended
    }

    /// What the brain is asked first.
    pub(super) async fn prompt(
        &self,
        begun: &Begun,
        pass: Option<Secret>,
    ) -> Result<Prompt, Ended> {
        let outcomes = outcomes::since(&self.control, begun).await;
        let outcomes = outcomes.map_err(|error| Ended::Failed(super::unavailable(&error)))?;
        let own = self.tools.iter().map(|tool| prompts::spec(tool));
        let files = self.agent.is_process.then(files::specs);
        Ok(Prompt {
            system: self.agent.system_prompt(&self.control, &self.ctx),
            place: places::summary(&self.control, &self.ctx, begun.conversation.space_id).await,
            messages: prompts::history(begun, &outcomes),
            tools: own.chain(files.into_iter().flatten()).collect(),
            output_tokens_max: limits::TURN_OUTPUT_TOKENS_MAX,
            session: self.open().session.clone(),
            pass,
        })
    }

    /// The next answer of the brain with the calls that it wants, or the end.
    pub(super) async fn next_calls(
        &self,
        prompt: &Prompt,
        rounds: &mut u32,
    ) -> Result<(Reply, Vec<ToolCall>), Ended> {
        let reply = self.answer(prompt).await.map_err(Ended::Failed)?;
        let wanted = calls_in(&reply);
        if wanted.is_empty() || reply.stop != Stop::ToolUse {
            return Err(self.last_word(&reply.stop));
        }
        *rounds += 1;
        match self.limit_reached(*rounds, wanted.len()) {
            Some(limit) => Err(self.at_limit(&limit)),
            None => Ok((reply, wanted)),
        }
    }

    async fn rounds(&self, begun: &Begun, pass: Option<Secret>) -> Ended {
        let mut prompt = match self.prompt(begun, pass).await {
            Ok(prompt) => prompt,
            Err(ended) => return ended,
        };
        let mut rounds = 0;
        loop {
            let (reply, wanted) = match self.next_calls(&prompt, &mut rounds).await {
                Ok(next) => next,
                Err(ended) => return ended,
            };
            let mut results = Vec::with_capacity(wanted.len());
            for call in wanted {
                results.push(self.answer_call(call).await);
            }
            prompt.output_tokens_max = self.output_tokens_left();
            prompt.messages.push(Message::Assistant(reply.blocks));
            prompt.messages.push(Message::ToolResults(results));
            self.paragraph();
        }
    }

    /// Which limit a round of so many calls would break. The calls count from here on.
    fn limit_reached(&self, rounds: u32, calls: usize) -> Option<String> {
        if rounds > limits::TURN_TOOL_ROUNDS_MAX {
            let max = limits::TURN_TOOL_ROUNDS_MAX;
            return Some(format!("a turn has at most {max} rounds of tools"));
        }
        if !self.take_calls(calls) {
            let max = limits::TURN_TOOL_CALLS_MAX;
            return Some(format!("a turn has at most {max} tool calls"));
        }
        if self.output_tokens_left() == 0 {
            let max = limits::TURN_OUTPUT_TOKENS_MAX;
            return Some(format!("a turn has at most {max} tokens of output"));
        }
        if self.is_day_used_up() {
            return Some("my tokens of today are used up".to_owned());
        }
        None
    }

    /// Whether the agent has used what it may use today.
    pub(super) fn is_day_used_up(&self) -> bool {
        let used = self.open().usage.total_tokens();
        self.tokens_left.is_some_and(|left| used >= left)
    }

    async fn answer(&self, prompt: &Prompt) -> Result<Reply, Failure> {
        self.open().unsettled_bytes = Some(prompts::bytes(prompt));
        let mut on_event = |event: BrainEvent| match event {
            BrainEvent::Text(text) => self.hear(&text),
            BrainEvent::ToolStarted { .. } => {}
        };
        let answered = self.agent.brain.answer(prompt, &mut on_event).await;
        self.open().unsettled_bytes = None;
        let reply = match answered {
            Ok(reply) => reply,
            Err(error) => {
                self.count(error.usage);
                return Err(Failure::new(error.code(), error.to_string()));
            }
        };
        self.count(reply.usage);
        if reply.session.is_some() {
            self.open().session.clone_from(&reply.session);
        }
        Ok(reply)
    }

    /// An answer that was cut off costs all the same. What goes through the server's own gateway is
    /// counted there.
    fn settle_unanswered(&self) {
        let Some(bytes) = self.open().unsettled_bytes.take() else {
            return;
        };
        if !self.agent.brain.needs_pass() {
            let input = u64::try_from(bytes.div_ceil(BYTES_PER_TOKEN)).unwrap_or(u64::MAX);
            self.count(Usage {
                input,
                is_estimate: true,
                ..Usage::default()
            });
        }
    }

    /// Text that the brain says, as far as there is room for it.
    fn hear(&self, text: &str) {
        let room = {
            let mut transcript = self.open();
            transcript.unsettled_bytes = transcript.unsettled_bytes.map(|bytes| bytes + text.len());
            limits::ANSWER_BYTES_MAX.saturating_sub(transcript.body.len())
        };
        let fits = text::cut(text, room);
        self.put(fits);
        if fits.len() < text.len() {
            self.full.notify_one();
        }
    }

    fn put(&self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.open().body.push_str(text);
        self.live.push(ChatEvent::Delta {
            text: text.to_owned(),
        });
    }

    /// A sentence of the server's own, in a paragraph of its own.
    fn say(&self, sentence: &str) {
        self.paragraph();
        self.put(sentence);
    }

    pub(super) fn paragraph(&self) {
        let gap = {
            let transcript = self.open();
            !transcript.body.is_empty() && !transcript.body.ends_with("\n\n")
        };
        if gap {
            self.put("\n\n");
        }
    }

    fn at_limit(&self, limit: &str) -> Ended {
        self.say(&format!("I stopped here: {limit}."));
        Ended::Done
    }

    fn last_word(&self, stop: &Stop) -> Ended {
        match stop {
            Stop::End | Stop::ToolUse => {}
            Stop::OutputLimit => {
                self.say("My answer was cut here: it reached the limit of its length.");
            }
            Stop::Refused => self.say("The model declined to answer this."),
            Stop::Other(word) => self.say(&format!("The model stopped here ({word}).")),
        }
        if self.open().body.trim().is_empty() {
            self.say("The model gave no answer.");
        }
        Ended::Done
    }

    pub(super) fn count(&self, usage: Usage) {
        let mut transcript = self.open();
        transcript.usage = transcript.usage.plus(conversations::Usage {
            input_tokens: usage.input,
            output_tokens: usage.output,
            cache_read_tokens: usage.cache_read,
            cache_write_tokens: usage.cache_write,
            cost_micros: 0,
        });
    }

    pub(super) fn output_tokens_left(&self) -> u32 {
        let used = self.open().usage.output_tokens;
        limits::TURN_OUTPUT_TOKENS_MAX.saturating_sub(u32::try_from(used).unwrap_or(u32::MAX))
    }

    /// Takes so many of the tool calls that a turn has. `false`: there are not so many left.
    pub(super) fn take_calls(&self, wanted: usize) -> bool {
        let mut transcript = self.open();
        let calls = transcript.calls.saturating_add(wanted);
        let fits = calls <= limits::TURN_TOOL_CALLS_MAX;
        if fits {
            transcript.calls = calls;
        }
        fits
    }

    /// A call that the model wrote, answered with something that it can read, whatever happens.
    pub(super) async fn answer_call(&self, call: ToolCall) -> ToolResult {
        let outcome = match call.arguments {
            Arguments::Object(arguments) => self.use_tool(&call.name, arguments).await,
            Arguments::Malformed(_) => {
                let message = "the arguments are not a JSON object; nothing was done";
                let error = Err(ToolError::new(FailureCode::InvalidArguments, message));
                self.note_step(&call.name, String::new(), &error, Duration::ZERO);
                error
            }
        };
        let (content, is_error) = match outcome {
            Ok(outcome) => (outcome.value.into_value(), false),
            Err(error) => (error.to_value(), true),
        };
        ToolResult {
            call_id: call.id,
            content: prompts::bounded(&content),
            is_error,
        }
    }

    /// Uses a tool as part of this turn: what it reads marks the turn, and the trace shows it.
    pub(super) async fn use_tool(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Outcome, ToolError> {
        let (summary, begun) = (prompts::summarise(&arguments), Instant::now());
        let outcome = match self.tools.iter().find(|tool| tool.name == name) {
            Some(tool) => {
                self.tell_tool(name, &summary, "running");
                self.run_tool(tool, arguments).await
            }
            None => Err(tools::not_offered(&self.ctx, name)),
        };
        self.note_step(name, summary, &outcome, begun.elapsed());
        outcome
    }

    async fn run_tool(
        &self,
        tool: &Tool,
        arguments: Map<String, Value>,
    ) -> Result<Outcome, ToolError> {
        // What the owner took away since the turn began is gone for its next call.
        let Some(ctx) = self.agent.ctx(&self.control).await? else {
            return Err(ToolError::new(
                FailureCode::Withdrawn,
                "this agent's token was withdrawn; it may do nothing any more",
            ));
        };
        if agents::is_paused(&self.control, &self.agent.persona.slug).await? {
            let message = "the owner paused this agent; it may do nothing until they resume it";
            return Err(ToolError::new(FailureCode::Paused, message));
        }
        let (taint, notes) = {
            let transcript = self.open();
            (transcript.taint.clone(), transcript.proposals.clone())
        };
        let called = tool
            .call(&self.control, &ctx, &taint, &self.scope, &notes, arguments)
            .await;
        let foreign = tools::foreign_in(&called);
        if !foreign.is_empty() {
            self.taint_with(foreign).await?;
        }
        let outcome = called?;
        self.open().refused.extend(outcome.refused.clone());
        Ok(outcome)
    }

    /// From here on the turn is tainted, on the record too; only then may the model read on.
    pub(super) async fn taint_with(&self, sources: &[String]) -> Result<(), ToolError> {
        let taint = {
            let mut transcript = self.open();
            let sources = Taint::from_sources(sources.to_vec());
            transcript.taint.unite(&sources);
            transcript.taint.clone()
        };
        if record::mark_tainted(&self.control, self.message_id, &taint).await? {
            Ok(())
        } else {
            Err(ToolError::new(FailureCode::Over, "the turn is over"))
        }
    }

    /// The name is as the model wrote it.
    pub(super) fn note_step(
        &self,
        name: &str,
        args_summary: String,
        outcome: &Result<Outcome, ToolError>,
        took: Duration,
    ) {
        let tool = text::escaped(text::cut(name, TOOL_NAME_BYTES_MAX));
        let (status, result, proposal_id, draft_summary) = match outcome {
            Ok(outcome) => {
                let status = if outcome.is_denied { "denied" } else { "ok" };
                let draft = outcome.draft_summary.clone();
                (status, (*outcome.value).clone(), outcome.proposal, draft)
            }
            Err(error) => {
                let is_denied = error.code == FailureCode::Forbidden;
                let status = if is_denied { "denied" } else { "error" };
                (status, error.to_value(), None, None)
            }
        };
        let step = Step {
            tool,
            args_summary,
            status: status.to_owned(),
            took_ms: u64::try_from(took.as_millis()).ok(),
            result: Some(prompts::shown(&result)),
            proposal_id,
            draft_summary,
        };
        for event in ChatEvent::of_step(&step) {
            self.live.push(event);
        }
        self.open().trace.push(step);
    }

    fn tell_tool(&self, tool: &str, summary: &str, status: &'static str) {
        self.live.push(ChatEvent::Tool {
            tool: tool.to_owned(),
            args_summary: summary.to_owned(),
            status: status.to_owned(),
        });
    }
}

fn calls_in(reply: &Reply) -> Vec<ToolCall> {
    let blocks = reply.blocks.iter();
    let calls = blocks.filter_map(|block| match block {
        Block::ToolCall(call) => Some(call.clone()),
        Block::Text(_) | Block::Opaque(_) => None,
    });
    calls.collect()
}
