//! A turn while it runs: everything that happened so far, in order, for whoever listens or comes back.

use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::sync::watch;
use void_domain::conversations::{Step, Truth, Turn, TurnState, Usage};
use void_domain::failures::AnyCode;
use void_domain::ids::{MessageId, ProposalId};
use void_domain::taint::Taint;

/// What a client hears of a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum ChatEvent {
    Tool {
        tool: String,
        args_summary: String,
        /// running, ok, denied or error
        status: String,
    },
    Delta {
        text: String,
    },
    /// A draft waits for the owner.
    Draft {
        proposal_id: ProposalId,
        summary: String,
    },
    Done {
        message_id: MessageId,
        usage: Usage,
        truth: Truth,
        tainted_by: Taint,
    },
    Error {
        code: AnyCode,
        message: String,
    },
}

impl ChatEvent {
    /// A step that is over, and the draft that it made.
    pub fn of_step(step: &Step) -> impl Iterator<Item = Self> + use<> {
        let tool = Self::Tool {
            tool: step.tool.clone(),
            args_summary: step.args_summary.clone(),
            status: step.status.clone(),
        };
        let draft = step.proposal_id.zip(step.draft_summary.clone());
        let draft = draft.map(|(proposal_id, summary)| Self::Draft {
            proposal_id,
            summary,
        });
        std::iter::once(tool).chain(draft)
    }

    /// The last event of a turn that is over.
    pub fn end_of(message_id: MessageId, turn: &Turn) -> Self {
        match &turn.state {
            TurnState::Failed { failure, .. } => Self::Error {
                code: failure.code.clone(),
                message: failure.message.clone(),
            },
            TurnState::Running | TurnState::Done { .. } | TurnState::Stopped { .. } => Self::Done {
                message_id,
                usage: turn.usage,
                truth: turn.truth.clone(),
                tainted_by: turn.tainted_by.clone(),
            },
        }
    }

    pub const fn name(&self) -> &'static str {
        match self {
            Self::Tool { .. } => "tool",
            Self::Delta { .. } => "delta",
            Self::Draft { .. } => "draft",
            Self::Done { .. } => "done",
            Self::Error { .. } => "error",
        }
    }

    pub fn payload(&self) -> Value {
        match self {
            Self::Tool {
                tool,
                args_summary,
                status,
            } => json!({"tool": tool, "args_summary": args_summary, "status": status}),
            Self::Delta { text } => json!({"text": text}),
            Self::Draft {
                proposal_id,
                summary,
            } => json!({"pending_change_id": proposal_id, "summary": summary}),
            Self::Done {
                message_id,
                usage,
                truth,
                tainted_by,
            } => json!({
                "assistant_message_id": message_id,
                "usage": usage,
                "truth": truth,
                "truth_line": truth.line(),
                "tainted_by": tainted_by,
            }),
            Self::Error { code, message } => json!({"code": code, "message": message}),
        }
    }

    /// Whether nothing comes after it.
    pub const fn is_last(&self) -> bool {
        matches!(self, Self::Done { .. } | Self::Error { .. })
    }
}

#[derive(Debug)]
pub struct Live {
    events: Mutex<Vec<ChatEvent>>,
    /// How many there are.
    count: watch::Sender<usize>,
    stop: watch::Sender<bool>,
}

impl Default for Live {
    fn default() -> Self {
        Self {
            events: Mutex::default(),
            count: watch::Sender::new(0),
            stop: watch::Sender::new(false),
        }
    }
}

impl Live {
    pub(super) fn push(&self, event: ChatEvent) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.push(event);
        self.count.send_replace(events.len());
    }

    /// Ends the turn as soon as it can be ended.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    pub(super) async fn stopped(&self) {
        // The sender lives as long as we do, so the wait cannot fail.
        let _ = self.stop.subscribe().wait_for(|stop| *stop).await;
    }

    /// Waits until the turn has been written down.
    pub async fn ended(&self) {
        let mut seen = 0;
        loop {
            let events = self.after(seen).await;
            if events.is_empty() {
                return;
            }
            seen += events.len();
        }
    }

    /// The text of the first `seen` events.
    pub fn text(&self, seen: usize) -> String {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let texts = events.iter().take(seen).filter_map(|event| match event {
            ChatEvent::Delta { text } => Some(text.as_str()),
            ChatEvent::Tool { .. }
            | ChatEvent::Draft { .. }
            | ChatEvent::Done { .. }
            | ChatEvent::Error { .. } => None,
        });
        texts.collect()
    }

    /// Everything after the first `seen` events, as soon as there is anything. Empty: it is over.
    pub async fn after(&self, seen: usize) -> Vec<ChatEvent> {
        let mut count = self.count.subscribe();
        loop {
            {
                let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(new) = events.get(seen..).filter(|new| !new.is_empty()) {
                    return new.to_vec();
                }
                if events.last().is_some_and(ChatEvent::is_last) {
                    return Vec::new();
                }
            }
            if count.wait_for(|count| *count > seen).await.is_err() {
                return Vec::new();
            }
        }
    }
}
