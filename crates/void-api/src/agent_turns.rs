//! `/api/agents/{name}/turn` and what follows it: turns whose loop runs in an agent's process.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The turn that waits for a process, and the pass that is shown with each step of it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TakenTurn")]
pub struct TakenTurnResponse {
    /// Null: none waits.
    pub turn: Option<String>,
    /// Shown as `x-void-turn`, beside the token of the process. Given once, and worth nothing after the turn.
    pub pass: Option<String>,
}

/// What is to be done next in a turn.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TurnStep")]
pub struct TurnStepResponse {
    /// Nothing: the turn is over.
    pub over: bool,
    /// What the model wants done, in its order. Each is answered before the next step.
    pub calls: Vec<TurnCallResponse>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TurnCall")]
pub struct TurnCallResponse {
    /// Its number in this step.
    pub call: usize,
    /// What the process does in its own folders; null: the server does it (`/calls`).
    pub file: Option<Value>,
}

/// Somebody was woken.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AgentWoken")]
pub struct AgentWokenResponse {
    pub name: String,
}
