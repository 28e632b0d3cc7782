//! `/api/agents/{name}/turn` and what follows it: turns whose loop runs in an agent's process.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Word;

pub const FILE_WISHES: [&str; 4] = ["list", "read", "write", "edit"];

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
    pub file: Option<TurnFileResponse>,
}

/// Something to be done with a file of the process's sandbox.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TurnFile")]
pub struct TurnFileResponse {
    /// Whose folder it is.
    pub agent: String,
    /// The names that lead to it; none for the folder itself.
    pub path: Vec<String>,
    #[schemars(extend("enum" = FILE_WISHES))]
    pub wish: Word,
    /// Of what is read: the byte to begin at, and how many at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_max: Option<usize>,
    /// Of what is written: all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Of what is edited: what is there once, and what takes its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub find: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replace: Option<String>,
}

/// Somebody was woken.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AgentWoken")]
pub struct AgentWokenResponse {
    pub name: String,
}
