//! Passes: the credential of one turn. A program that a brain starts (the `claude` CLI) shows it to use
//! the turn's tools and the model, and it is worth nothing the moment the turn is over.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};
use tokio::sync::{OwnedMutexGuard, watch};
use void_control::{Ctx, StoreError, tokens};
use void_domain::digests::Digest;
use void_domain::failures::FailureCode;
use void_domain::limits;
use void_domain::secrets::Secret;

use super::loops::Running;
use crate::agents::Agent;
use crate::brains::Usage;
use crate::tools::{Outcome, Tool, ToolError};

/// A turn asks models so often at most: once per round of tools and for its last word, and what a
/// program asks beside that or asks again.
pub const TURN_MODEL_CALLS_MAX: u32 = limits::TURN_TOOL_ROUNDS_MAX + 1 + SIDE_CALLS_MAX;
const SIDE_CALLS_MAX: u32 = 12;

/// The passes of the turns that run here, by the hash of their text.
#[derive(Clone, Default)]
pub(super) struct Passes(Arc<Mutex<HashMap<Digest, Pass>>>);

/// A turn that runs, for whoever showed its pass.
#[derive(Clone)]
pub struct Pass(Arc<Running>);

impl Passes {
    pub(super) fn issue(&self, turn: &Arc<Running>) -> Result<(Secret, Issued), StoreError> {
        let text = tokens::new_text("turn")?;
        let hash = Digest::of(text.expose().as_bytes());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(hash, Pass(Arc::clone(turn)));
        drop(all);
        let issued = Issued {
            passes: self.clone(),
            hash,
        };
        Ok((text, issued))
    }

    pub(super) fn find(&self, shown: &str) -> Option<Pass> {
        let hash = Digest::of(shown.as_bytes());
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&hash).cloned()
    }
}

/// Ends the pass when it is dropped.
pub(super) struct Issued {
    passes: Passes,
    hash: Digest,
}

impl Drop for Issued {
    fn drop(&mut self) {
        let mut all = self.passes.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Pass(turn)) = all.remove(&self.hash) {
            turn.models.end();
        }
    }
}

impl Pass {
    pub fn agent(&self) -> &Agent {
        &self.0.agent
    }

    /// In whose name the turn acts.
    pub fn ctx(&self) -> &Ctx {
        &self.0.ctx
    }

    /// The tools that this turn has.
    pub fn tools(&self) -> &[&'static Tool] {
        &self.0.tools
    }

    /// Uses a tool as part of the turn: within its limits, with what it has read, in its trace.
    pub async fn call(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Outcome, ToolError> {
        if !self.0.take_calls(1) {
            let message = format!(
                "a turn has at most {} tool calls; say what you know so far",
                limits::TURN_TOOL_CALLS_MAX
            );
            return Err(ToolError::new(FailureCode::Limit, message));
        }
        self.0.use_tool(name, arguments).await
    }

    /// Adds to what the turn has used.
    pub fn count(&self, usage: Usage) {
        self.0.count(usage);
    }

    /// Leave to ask a model once, when nobody else of the turn is asking.
    pub(crate) async fn model_call(&self) -> Result<ModelCall, NoModelCall> {
        let leave = self.0.models.take().await?;
        Ok(ModelCall {
            pass: self.clone(),
            leave,
        })
    }

    /// Comes when the turn is over.
    pub(crate) async fn over(&self) {
        self.0.models.ended().await;
    }

    /// Output tokens that the turn has left; none if its agent has used up its day.
    pub fn output_tokens_left(&self) -> u32 {
        if self.0.is_day_used_up() {
            return 0;
        }
        self.0.output_tokens_left()
    }
}

/// The calls to a model that a turn's program makes: one at a time, and so many.
pub(super) struct Models {
    made: Arc<tokio::sync::Mutex<u32>>,
    is_over: watch::Sender<bool>,
}

/// One call to a model. It is counted when it is over, and before the turn is.
pub(crate) struct ModelCall {
    pass: Pass,
    leave: OwnedMutexGuard<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoModelCall {
    Over,
    NoneLeft,
}

impl Default for Models {
    fn default() -> Self {
        Self {
            made: Arc::default(),
            is_over: watch::Sender::new(false),
        }
    }
}

impl Models {
    async fn take(&self) -> Result<OwnedMutexGuard<u32>, NoModelCall> {
        let mut made = Arc::clone(&self.made).lock_owned().await;
        if *self.is_over.borrow() {
            return Err(NoModelCall::Over);
        }
        if *made >= TURN_MODEL_CALLS_MAX {
            return Err(NoModelCall::NoneLeft);
        }
        *made += 1;
        Ok(made)
    }

    fn end(&self) {
        self.is_over.send_replace(true);
    }

    async fn ended(&self) {
        // The sender lives as long as we do, so the wait cannot fail.
        let _ = self.is_over.subscribe().wait_for(|over| *over).await;
    }

    /// Waits for the call that is under way; after [`Models::end`] there is no other.
    pub(super) async fn counted(&self) {
        drop(self.made.lock().await);
    }
}

impl ModelCall {
    pub(crate) async fn over(&self) {
        self.pass.over().await;
    }

    pub(crate) fn finish(self, usage: Usage) {
        self.pass.count(usage);
        drop(self.leave);
    }
}
