//! A brain that says what a test wrote down, for everything that is not about the wire.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Semaphore;
use void_agent::brains::{
    Answering, Arguments, Block, Brain, BrainError, BrainErrorKind, BrainEvent, Message, OnEvent,
    Prompt, Reply, Retry, Stop, ToolCall, Usage,
};

/// One answer.
#[derive(Default)]
pub(crate) struct ScriptedReply {
    blocks: Vec<Block>,
    stop: Option<Stop>,
    usage: Usage,
    session: Option<String>,
    /// Time that passes after the words and before the end.
    takes: Option<Duration>,
    waits_for: Option<Arc<Semaphore>>,
    end: End,
    /// Decides when it is asked.
    once_asked: Option<Decide>,
}

type Decide = Box<dyn FnOnce(&Prompt) -> ScriptedReply + Send>;

#[derive(Default)]
enum End {
    #[default]
    Answers,
    Hangs,
    Fails,
    Breaks,
}

pub(crate) fn says(text: &str) -> ScriptedReply {
    ScriptedReply::default().text(text)
}

pub(crate) fn calls(name: &str, arguments: Value) -> ScriptedReply {
    ScriptedReply::default().and(name, arguments)
}

pub(crate) fn proposes(action: &str) -> ScriptedReply {
    calls("propose_action", wish(action))
}

/// An answer that depends on the question.
pub(crate) fn once_asked(
    decide: impl FnOnce(&Prompt) -> ScriptedReply + Send + 'static,
) -> ScriptedReply {
    ScriptedReply {
        once_asked: Some(Box::new(decide)),
        ..ScriptedReply::default()
    }
}

/// Reads what the last proposal printed.
pub(crate) fn reads_output() -> ScriptedReply {
    once_asked(|prompt| {
        let code = results(prompt).last().unwrap()["code"].clone();
        let arguments = serde_json::json!({"proposal": code, "include_output": true});
        calls("proposal_status", arguments)
    })
}

/// The tool results in a prompt, oldest first.
pub(crate) fn results(prompt: &Prompt) -> Vec<Value> {
    let results = prompt.messages.iter().flat_map(|message| match message {
        Message::ToolResults(results) => results.as_slice(),
        Message::User(_) | Message::Assistant(_) => &[],
    });
    let values = results.map(|result| serde_json::from_str(&result.content).unwrap_or_default());
    values.collect()
}

pub(crate) fn wish(action: &str) -> Value {
    serde_json::json!({"action_id": action, "reason": "because"})
}

impl ScriptedReply {
    pub(crate) fn text(mut self, text: &str) -> Self {
        self.blocks.push(Block::Text(text.to_owned()));
        self
    }

    pub(crate) fn and(mut self, name: &str, arguments: Value) -> Self {
        let arguments = match arguments {
            Value::Object(object) => Arguments::Object(object),
            other => Arguments::Malformed(other.to_string()),
        };
        // The brain makes it unique.
        self.blocks.push(Block::ToolCall(ToolCall {
            id: String::new(),
            name: name.to_owned(),
            arguments,
        }));
        self
    }

    pub(crate) fn costs(mut self, input: u64, output: u64) -> Self {
        (self.usage.input, self.usage.output) = (input, output);
        self
    }

    pub(crate) fn stop(mut self, stop: Stop) -> Self {
        self.stop = Some(stop);
        self
    }

    pub(crate) fn session(mut self, name: &str) -> Self {
        self.session = Some(name.to_owned());
        self
    }

    /// The clock jumps; needs a runtime of one thread.
    pub(crate) fn takes(mut self, time: Duration) -> Self {
        self.takes = Some(time);
        self
    }

    /// Speaks, and ends once the test gives a permit.
    pub(crate) fn waits_for(mut self, gate: &Arc<Semaphore>) -> Self {
        self.waits_for = Some(Arc::clone(gate));
        self
    }

    /// Speaks and never ends.
    pub(crate) fn hangs(mut self) -> Self {
        self.end = End::Hangs;
        self
    }

    /// Speaks and breaks off, with its cost.
    pub(crate) fn fails(mut self) -> Self {
        self.end = End::Fails;
        self
    }

    /// Has a defect.
    pub(crate) fn breaks(mut self) -> Self {
        self.end = End::Breaks;
        self
    }
}

#[derive(Default)]
pub(crate) struct Scripted {
    answers: Mutex<VecDeque<ScriptedReply>>,
    prompts: Mutex<Vec<Prompt>>,
}

impl Scripted {
    pub(crate) fn new(answers: impl IntoIterator<Item = ScriptedReply>) -> Arc<Self> {
        Arc::new(Self {
            answers: Mutex::new(answers.into_iter().collect()),
            prompts: Mutex::default(),
        })
    }

    pub(crate) fn then(&self, answers: impl IntoIterator<Item = ScriptedReply>) {
        self.answers.lock().unwrap().extend(answers);
    }

    /// Everything that it was asked.
    pub(crate) fn prompts(&self) -> Vec<Prompt> {
        self.prompts.lock().unwrap().clone()
    }

    fn next(&self, prompt: &Prompt) -> ScriptedReply {
        let mut prompts = self.prompts.lock().unwrap();
        prompts.push(prompt.clone());
        let answer = self.answers.lock().unwrap().pop_front();
        let mut answer = answer.expect("the script is over");
        if let Some(decide) = answer.once_asked.take() {
            answer = decide(prompt);
        }
        for (place, block) in answer.blocks.iter_mut().enumerate() {
            if let Block::ToolCall(call) = block {
                call.id = format!("call-{}-{place}", prompts.len());
            }
        }
        answer
    }
}

impl Brain for Scripted {
    fn model(&self) -> &str {
        "scripted-1"
    }

    fn answer<'a>(&'a self, prompt: &'a Prompt, on_event: OnEvent<'a>) -> Answering<'a> {
        let answer = self.next(prompt);
        Box::pin(async move {
            for block in &answer.blocks {
                if let Block::Text(text) = block {
                    on_event(BrainEvent::Text(text.clone()));
                }
            }
            if let Some(time) = answer.takes {
                tokio::time::pause();
                tokio::time::advance(time).await;
                tokio::time::resume();
            }
            if let Some(gate) = &answer.waits_for {
                gate.acquire().await.unwrap().forget();
            }
            answer.end().await
        })
    }
}

impl ScriptedReply {
    async fn end(self) -> Result<Reply, BrainError> {
        let calls = self
            .blocks
            .iter()
            .any(|block| matches!(block, Block::ToolCall(_)));
        match self.end {
            End::Hangs => std::future::pending().await,
            End::Breaks => panic!("a defect in a brain"),
            End::Fails => Err(BrainError {
                kind: BrainErrorKind::BrokenOff,
                message: "the model broke off".to_owned(),
                retry: Retry::Never,
                usage: self.usage,
            }),
            End::Answers => Ok(Reply {
                stop: self
                    .stop
                    .unwrap_or(if calls { Stop::ToolUse } else { Stop::End }),
                blocks: self.blocks,
                usage: self.usage,
                session: self.session,
            }),
        }
    }
}
