//! One turn from its first prompt to its last word.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use tokio::time::Instant;
use void_control::conversations::Begun;
use void_control::proposals::{self, ProposalKey};
use void_control::{Control, Ctx};
use void_domain::conversations::{self, Said, Step, Truth};
use void_domain::ids::ProposalId;
use void_domain::limits;
use void_domain::proposals::Failure;
use void_domain::taint::Taint;
use void_domain::text;

use super::live::{ChatEvent, Live};
use super::unavailable;
use crate::agents::Agent;
use crate::brains::{
    Arguments, Block, BrainEvent, Message, Prompt, Reply, Stop, ToolCall, ToolResult, ToolSpec,
    Usage,
};
use crate::tools::{Notes, Tool};

const SUMMARY_BYTES_MAX: usize = 200;

/// How a turn ended.
pub(super) enum Ended {
    Done,
    Stopped,
    Failed(Failure),
}

/// What a turn has come to so far; whoever ends it finds it whole.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub body: String,
    pub trace: Vec<Step>,
    pub usage: conversations::Usage,
    pub taint: Taint,
    /// Proposals it touched, in order.
    pub proposals: Notes,
    /// Wishes that did not become proposals: action id and reason.
    pub refused: Vec<(String, String)>,
}

fn open(draft: &Mutex<Draft>) -> MutexGuard<'_, Draft> {
    draft.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) async fn run(
    control: &Control,
    agent: &Agent,
    begun: &Begun,
    live: &Live,
    draft: &Arc<Mutex<Draft>>,
) -> Ended {
    let ctx = match agent.ctx(control).await {
        Ok(Some(ctx)) => ctx,
        Ok(None) => {
            let message = "this agent's token was withdrawn; it no longer answers";
            return Ended::Failed(Failure::new("withdrawn", message));
        }
        Err(error) => return Ended::Failed(unavailable(&error)),
    };
    open(draft).taint = taint_of(begun);
    let turn = Running {
        control,
        agent,
        ctx,
        live,
        draft,
    };
    let end = Instant::now() + limits::TURN_TIME_MAX;
    tokio::select! {
        ended = tokio::time::timeout_at(end, turn.rounds(begun)) => ended.unwrap_or_else(|_| {
            turn.say(&format!(
                "I stopped here: a turn takes at most {} seconds.",
                limits::TURN_TIME_MAX.as_secs()
            ));
            Ended::Done
        }),
        () = live.stopped() => Ended::Stopped,
    }
}

/// Foreign content stays in the history as long as what was derived from it does.
fn taint_of(begun: &Begun) -> Taint {
    let mut sources: Vec<String> = Vec::new();
    for message in &begun.history {
        if let Said::ByAgent(turn) = &message.said {
            for source in turn.tainted_by.sources() {
                if !sources.contains(source) {
                    sources.push(source.clone());
                }
            }
        }
    }
    Taint::from_sources(sources)
}

/// What became of everything the turn touched, by the record.
pub(super) async fn truth(control: &Control, agent: &Agent, draft: &Draft) -> Truth {
    let mut truth = Truth::default();
    let Ok(Some(ctx)) = agent.ctx(control).await else {
        return truth;
    };
    let mut seen: Vec<ProposalId> = Vec::new();
    for id in draft.proposals.all() {
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        match proposals::find(control, &ctx, ProposalKey::Id(id)).await {
            Ok(Some(found)) => truth.add(&found.proposal),
            Ok(None) => {}
            Err(error) => tracing::error!(%error, "the truth about a proposal could not be read"),
        }
    }
    for (action_id, reason) in &draft.refused {
        truth.add_refusal(action_id, reason);
    }
    truth
}

struct Running<'a> {
    control: &'a Control,
    agent: &'a Agent,
    ctx: Ctx,
    live: &'a Live,
    draft: &'a Arc<Mutex<Draft>>,
}

impl Running<'_> {
    async fn rounds(&self, begun: &Begun) -> Ended {
        let tools: Vec<&'static Tool> = self.agent.registry().for_caller(&self.ctx).collect();
        let mut prompt = Prompt {
            system: self.agent.system_prompt(&self.ctx),
            messages: history(begun),
            tools: tools.iter().map(|tool| spec(tool)).collect(),
            output_tokens_max: limits::TURN_OUTPUT_TOKENS_MAX,
        };
        let (mut rounds, mut calls) = (0, 0);
        loop {
            let reply = match self.answer(&prompt).await {
                Ok(reply) => reply,
                Err(failure) => return Ended::Failed(failure),
            };
            let left = prompt
                .output_tokens_max
                .saturating_sub(u32::try_from(reply.usage.output).unwrap_or(u32::MAX));
            self.count(reply.usage);
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
            if calls + wanted.len() > limits::TURN_TOOL_CALLS_MAX {
                return self.at_limit(&format!(
                    "a turn has at most {} tool calls",
                    limits::TURN_TOOL_CALLS_MAX
                ));
            }
            if left == 0 {
                return self.at_limit(&format!(
                    "a turn has at most {} tokens of output",
                    limits::TURN_OUTPUT_TOKENS_MAX
                ));
            }
            calls += wanted.len();
            let mut results = Vec::with_capacity(wanted.len());
            for call in wanted {
                results.push(self.use_tool(&tools, call).await);
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
        open(self.draft).body.push_str(&text);
        self.live.push(ChatEvent::Delta { text });
    }

    /// A sentence of the server's own, in a paragraph of its own.
    fn say(&self, sentence: &str) {
        self.paragraph();
        self.hear(sentence.to_owned());
    }

    fn paragraph(&self) {
        let gap = {
            let draft = open(self.draft);
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
        if open(self.draft).body.trim().is_empty() {
            self.say("The model gave no answer.");
        }
        Ended::Done
    }

    fn count(&self, usage: Usage) {
        let mut draft = open(self.draft);
        draft.usage = draft.usage.plus(conversations::Usage {
            input_tokens: usage.input,
            output_tokens: usage.output,
            cache_read_tokens: usage.cache_read,
            cache_write_tokens: usage.cache_write,
            cost_micros: 0,
        });
    }

    async fn use_tool(&self, tools: &[&'static Tool], call: ToolCall) -> ToolResult {
        let (content, is_error, summary) = match call.arguments {
            Arguments::Malformed(_) => {
                let message = "the arguments are not a JSON object; nothing was done";
                (error("invalid_arguments", message), true, String::new())
            }
            Arguments::Object(arguments) => {
                let summary = summarise(&arguments);
                let known = tools.iter().find(|tool| tool.name == call.name);
                match known {
                    Some(tool) => {
                        self.tell_tool(&call.name, &summary, "running");
                        let (content, is_error) = self.run_tool(tool, arguments).await;
                        (content, is_error, summary)
                    }
                    None => {
                        let message = "there is no such tool here; nothing was done";
                        (error("unknown_tool", message), true, summary)
                    }
                }
            }
        };
        let name = text::escaped(text::cut(&call.name, 64));
        let status = if is_error { "error" } else { "ok" };
        self.tell_tool(&name, &summary, status);
        open(self.draft).trace.push(Step {
            tool: name,
            args_summary: summary,
            status: status.to_owned(),
        });
        ToolResult {
            call_id: call.id,
            content: bounded(content),
            is_error,
        }
    }

    async fn run_tool(&self, tool: &Tool, arguments: Map<String, Value>) -> (String, bool) {
        let (taint, notes) = {
            let draft = open(self.draft);
            (draft.taint.clone(), draft.proposals.clone())
        };
        let outcome = tool
            .call(self.control, &self.ctx, &taint, &notes, arguments)
            .await;
        match outcome {
            Ok(outcome) => {
                let mut draft = open(self.draft);
                draft.refused.extend(outcome.refused);
                if let Some(source) = outcome.foreign {
                    let mut sources = draft.taint.sources().to_vec();
                    if !sources.contains(&source) {
                        sources.push(source);
                    }
                    draft.taint = Taint::from_sources(sources);
                }
                (outcome.value.to_string(), false)
            }
            Err(error) => (error.to_value().to_string(), true),
        }
    }

    fn tell_tool(&self, tool: &str, summary: &str, status: &'static str) {
        self.live.push(ChatEvent::Tool {
            tool: tool.to_owned(),
            args_summary: summary.to_owned(),
            status,
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

fn error(code: &str, message: &str) -> String {
    serde_json::json!({"error": {"code": code, "message": message}}).to_string()
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
