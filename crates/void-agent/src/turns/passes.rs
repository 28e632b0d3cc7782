//! Passes: the credential of one turn. A program that a brain starts (the `claude` CLI) shows it to use
//! the turn's tools and the model, and it is worth nothing the moment the turn is over.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};
use void_control::{Ctx, StoreError, tokens};
use void_domain::digests::Digest;
use void_domain::limits;
use void_domain::secrets::Secret;

use super::loops::Running;
use crate::agents::Agent;
use crate::brains::Usage;
use crate::tools::{Outcome, Tool, ToolError};

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
        all.remove(&self.hash);
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
            return Err(ToolError::new("limit", message));
        }
        self.0.use_tool(name, arguments).await
    }

    /// Adds to what the turn has used.
    pub fn count(&self, usage: Usage) {
        self.0.count(usage);
    }

    /// Output tokens that the turn has left.
    pub fn output_tokens_left(&self) -> u32 {
        self.0.output_tokens_left()
    }
}
