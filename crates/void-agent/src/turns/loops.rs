//! One turn from its first prompt to its last word.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use tokio::time::Instant;
use void_control::conversations::{Begun, truth_of};
use void_control::{Control, Ctx, StoreError};
use void_domain::conversations::{self, Said, Step, Truth};
use void_domain::limits;
use void_domain::proposals::Failure;
use void_domain::secrets::Secret;
use void_domain::taint::Taint;
use void_domain::text;

use super::live::{ChatEvent, Live};
use super::passes::Models;
use crate::agents::Agent;
use crate::brains::{
    Arguments, Block, BrainEvent, Message, Prompt, Reply, Stop, ToolCall, ToolResult, ToolSpec,
    Usage,
};
use crate::tools::{Notes, Outcome, Tool, ToolError};

const SUMMARY_BYTES_MAX: usize = 200;
const TOOL_NAME_BYTES_MAX: usize = 64;

/// How a turn ended.
pub(super) enum Ended {
    Done,
    Stopped,
    Failed(Failure),
}

/// What a turn has come to so far; whoever ends it finds it whole.
#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    pub body: String,
    pub trace: Vec<Step>,
    pub usage: conversations::Usage,
    pub taint: Taint,
    /// Proposals it touched, in order.
    pub proposals: Notes,
    /// Wishes that did not become proposals: action id and reason.
    pub refused: Vec<(String, String)>,
    /// What the brain calls this conversation.
    pub session: Option<String>,
    calls: usize,
}

impl Draft {
    /// What is known when a turn begins. A second attempt also knows what the first one touched.
    pub(super) fn of(begun: &Begun) -> Self {
        let proposals = Notes::default();
        let truth = &begun.turn.truth;
        let items = [&truth.ran, &truth.unverified, &truth.waits, &truth.refused];
        for item in items.into_iter().flatten() {
            if let Ok(id) = item.id.parse() {
                proposals.add(id);
            }
        }
        Self {
            taint: taint_of(begun),
            proposals,
            session: session_of(begun),
            ..Self::default()
        }
    }
}

/// Foreign content stays in the history as long as what was derived from it does.
fn taint_of(begun: &Begun) -> Taint {
    let mut taint = begun.turn.tainted_by.clone();
    for message in &begun.history {
        if let Said::ByAgent(turn) = &message.said {
            for source in turn.tainted_by.sources() {
                taint.add(source);
            }
        }
    }
    taint
}

/// The brain's own name for the conversation, if the same brain answered before.
fn session_of(begun: &Begun) -> Option<String> {
    let last = begun
        .history
        .iter()
        .rev()
        .find_map(|message| match &message.said {
            Said::ByAgent(turn) => Some(turn),
            Said::ByOwner => None,
        });
    let last = last.filter(|turn| turn.brain == begun.turn.brain);
    begun
        .turn
        .session
        .clone()
        .or_else(|| last.and_then(|turn| turn.session.clone()))
}

/// What became of everything the turn touched, by the record.
pub(super) async fn truth(control: &Control, draft: &Draft) -> Result<Truth, StoreError> {
    let mut truth = truth_of(control, draft.proposals.all()).await?;
    for (action_id, reason) in &draft.refused {
        truth.add_refusal(action_id, reason);
    }
    Ok(truth)
}

/// A turn at work.
pub(super) struct Running {
    pub control: Control,
    pub agent: Arc<Agent>,
    pub ctx: Ctx,
    pub tools: Vec<&'static Tool>,
    pub models: Models,
    live: Arc<Live>,
    draft: Mutex<Draft>,
}

impl Running {
    pub(super) fn new(
        control: Control,
        agent: Arc<Agent>,
        ctx: Ctx,
        live: Arc<Live>,
        draft: Draft,
    ) -> Self {
        let tools = agent.registry().for_caller(&ctx).collect();
        Self {
            control,
            agent,
            ctx,
            tools,
            models: Models::default(),
            live,
            draft: Mutex::new(draft),
        }
    }

    fn open(&self) -> MutexGuard<'_, Draft> {
        self.draft.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it has come to.
    pub(super) fn draft(&self) -> Draft {
        self.open().clone()
    }

    /// From the first prompt to the last word, within the limits of time.
    pub(super) async fn run(&self, begun: &Begun, pass: Option<Secret>) -> Ended {
        let end = Instant::now() + limits::TURN_TIME_MAX;
        let mut stopping = self.control.stopping();
        tokio::select! {
            ended = tokio::time::timeout_at(end, self.rounds(begun, pass)) => {
                ended.unwrap_or_else(|_| self.at_limit(&format!(
                    "a turn takes at most {} seconds",
                    limits::TURN_TIME_MAX.as_secs()
                )))
            }
            () = self.live.stopped() => Ended::Stopped,
            _ = stopping.wait_for(|stop| *stop) => Ended::Failed(Failure::new(
                "interrupted",
                "Void stopped while this answer was written",
            )),
        }
    }

    async fn rounds(&self, begun: &Begun, pass: Option<Secret>) -> Ended {
        let mut prompt = Prompt {
            system: self.agent.system_prompt(&self.ctx),
            messages: history(begun),
            tools: self.tools.iter().map(|tool| spec(tool)).collect(),
            output_tokens_max: limits::TURN_OUTPUT_TOKENS_MAX,
            session: self.open().session.clone(),
            pass,
        };
        let mut rounds = 0;
        loop {
            let reply = match self.answer(&prompt).await {
                Ok(reply) => reply,
                Err(failure) => return Ended::Failed(failure),
            };
            self.count(reply.usage);
            if reply.session.is_some() {
                self.open().session.clone_from(&reply.session);
            }
            let wanted: Vec<ToolCall> = reply
                .blocks
                .iter()
                .filter_map(|block| match block {
                    Block::ToolCall(call) => Some(call.clone()),
                    Block::Text(_) | Block::Opaque(_) => None,
                })
                .collect();
            if wanted.is_empty() || reply.stop != Stop::ToolUse {
                return self.last_word(&reply.stop);
            }
            rounds += 1;
            if rounds > limits::TURN_TOOL_ROUNDS_MAX {
                return self.at_limit(&format!(
                    "a turn has at most {} rounds of tools",
                    limits::TURN_TOOL_ROUNDS_MAX
                ));
            }
            if !self.take_calls(wanted.len()) {
                return self.at_limit(&format!(
                    "a turn has at most {} tool calls",
                    limits::TURN_TOOL_CALLS_MAX
                ));
            }
            let left = self.output_tokens_left();
            if left == 0 {
                return self.at_limit(&format!(
                    "a turn has at most {} tokens of output",
                    limits::TURN_OUTPUT_TOKENS_MAX
                ));
            }
            let mut results = Vec::with_capacity(wanted.len());
            for call in wanted {
                results.push(self.answer_call(call).await);
            }
            prompt.output_tokens_max = left;
            prompt.messages.push(Message::Assistant(reply.blocks));
            prompt.messages.push(Message::ToolResults(results));
            self.paragraph();
        }
    }

    async fn answer(&self, prompt: &Prompt) -> Result<Reply, Failure> {
        let mut on_event = |event: BrainEvent| match event {
            BrainEvent::Text(text) => self.hear(text),
            BrainEvent::ToolStarted { .. } => {}
        };
        self.agent
            .brain
            .answer(prompt, &mut on_event)
            .await
            .map_err(|error| Failure::new(error.code(), error.to_string()))
    }

    /// Text that the brain says.
    fn hear(&self, text: String) {
        if text.is_empty() {
            return;
        }
        self.open().body.push_str(&text);
        self.live.push(ChatEvent::Delta { text });
    }

    /// A sentence of the server's own, in a paragraph of its own.
    fn say(&self, sentence: &str) {
        self.paragraph();
        self.hear(sentence.to_owned());
    }

    fn paragraph(&self) {
        let gap = {
            let draft = self.open();
            !draft.body.is_empty() && !draft.body.ends_with("\n\n")
        };
        if gap {
            self.hear("\n\n".to_owned());
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
        let mut draft = self.open();
        draft.usage = draft.usage.plus(conversations::Usage {
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
        let mut draft = self.open();
        let calls = draft.calls.saturating_add(wanted);
        let fits = calls <= limits::TURN_TOOL_CALLS_MAX;
        if fits {
            draft.calls = calls;
        }
        fits
    }

    /// A call that the model wrote, answered with something that it can read, whatever happens.
    async fn answer_call(&self, call: ToolCall) -> ToolResult {
        let outcome = match call.arguments {
            Arguments::Object(arguments) => self.use_tool(&call.name, arguments).await,
            Arguments::Malformed(_) => {
                let message = "the arguments are not a JSON object; nothing was done";
                let error = ToolError::new("invalid_arguments", message);
                self.note_step(&call.name, String::new(), "error");
                Err(error)
            }
        };
        let (content, is_error) = match outcome {
            Ok(outcome) => (outcome.value.to_string(), false),
            Err(error) => (error.to_value().to_string(), true),
        };
        ToolResult {
            call_id: call.id,
            content: bounded(content),
            is_error,
        }
    }

    /// Uses a tool as part of this turn: what it reads marks the turn, and the trace shows it.
    pub(super) async fn use_tool(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Outcome, ToolError> {
        let summary = summarise(&arguments);
        let outcome = match self.tools.iter().find(|tool| tool.name == name) {
            Some(tool) => {
                self.tell_tool(name, &summary, "running");
                self.run_tool(tool, arguments).await
            }
            None => {
                let message = "there is no such tool here; nothing was done";
                Err(ToolError::new("unknown_tool", message))
            }
        };
        let status = if outcome.is_ok() { "ok" } else { "error" };
        self.note_step(name, summary, status);
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
                "withdrawn",
                "this agent's token was withdrawn; it may do nothing any more",
            ));
        };
        let (taint, notes) = {
            let draft = self.open();
            (draft.taint.clone(), draft.proposals.clone())
        };
        let outcome = tool
            .call(&self.control, &ctx, &taint, &notes, arguments)
            .await?;
        let mut draft = self.open();
        draft.refused.extend(outcome.refused.clone());
        if let Some(source) = &outcome.foreign {
            draft.taint.add(source);
        }
        Ok(outcome)
    }

    /// The name is as the model wrote it.
    fn note_step(&self, name: &str, summary: String, status: &'static str) {
        let name = text::escaped(text::cut(name, TOOL_NAME_BYTES_MAX));
        self.tell_tool(&name, &summary, status);
        self.open().trace.push(Step {
            tool: name,
            args_summary: summary,
            status: status.to_owned(),
        });
    }

    fn tell_tool(&self, tool: &str, summary: &str, status: &'static str) {
        self.live.push(ChatEvent::Tool {
            tool: tool.to_owned(),
            args_summary: summary.to_owned(),
            status: status.to_owned(),
        });
    }
}

fn spec(tool: &Tool) -> ToolSpec {
    ToolSpec {
        name: tool.name.to_owned(),
        description: tool.description.to_owned(),
        schema: (tool.arguments)(),
    }
}

/// What is shown of a call's arguments.
fn summarise(arguments: &Map<String, Value>) -> String {
    let parts: Vec<String> = arguments
        .iter()
        .map(|(name, value)| match value {
            Value::String(value) => format!("{name}: {value}"),
            other => format!("{name}: {other}"),
        })
        .collect();
    text::escaped(text::cut(&parts.join(", "), SUMMARY_BYTES_MAX))
}

fn bounded(content: String) -> String {
    if content.len() <= limits::TOOL_RESULT_BYTES_MAX {
        return content;
    }
    let cut = text::cut(&content, limits::TOOL_RESULT_BYTES_MAX - 64);
    format!("{cut}\n[cut here: the result was {} bytes]", content.len())
}

/// The conversation as a model reads it. What the record said of a turn stands before what the owner
/// said next, so that nobody takes it for the model's own words.
fn history(begun: &Begun) -> Vec<Message> {
    let mut messages = Vec::with_capacity(begun.history.len());
    let mut record: Option<String> = None;
    for message in &begun.history {
        match &message.said {
            Said::ByOwner => {
                let body = match record.take() {
                    Some(line) => format!(
                        "[Void's record of your last turn: {line}]\n\n{}",
                        message.body
                    ),
                    None => message.body.clone(),
                };
                messages.push(Message::User(body));
            }
            Said::ByAgent(turn) => {
                if !message.body.trim().is_empty() {
                    messages.push(Message::Assistant(vec![Block::Text(message.body.clone())]));
                }
                record = (!turn.truth.is_empty()).then(|| turn.truth.line());
            }
        }
    }
    messages
}
