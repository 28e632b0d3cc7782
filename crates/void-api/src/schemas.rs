//! Schemas of JSON that is stored as it came and answered as it is: the parameters of a proposal, and what
//! a channel brought back. Only what Void itself writes into them has a name; the rest is the machine's.

#![expect(dead_code, reason = "for the document; nothing is made of these types")]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::{Value, json};

/// By name, as the action declares them.
pub(crate) type Params = BTreeMap<String, ParamValue>;

#[derive(JsonSchema)]
#[schemars(untagged)]
pub(crate) enum ParamValue {
    Integer(i64),
    Text(String),
}

/// What came back. Which members there are depends on the channel, and others may be there.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub(crate) struct RunResult {
    /// How the command ended.
    #[schemars(skip_serializing_if = "Option::is_none")]
    exit: Option<i64>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    stdout: Option<String>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    stderr: Option<String>,
    /// What it said while it ran, line by line.
    #[schemars(skip_serializing_if = "Option::is_none")]
    progress: Option<Vec<String>>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    check: Option<CheckSeen>,
    /// Of a change: what was written, and which file it is for.
    #[schemars(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    catalogue: Option<String>,
    /// The commit that it became; null if it became none.
    #[schemars(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// Of a guest's power: whether anything had to be done. Of a draft of what the owner keeps: `create`, `update` or `delete`.
    #[schemars(skip_serializing_if = "Option::is_none")]
    changed: Option<ResultChanged>,
    /// What was stored, or thrown away: `page`, `task`, `ref`, `project` or `space`.
    #[schemars(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum ResultChanged {
    Guest(bool),
    Draft(String),
}

/// What the check after a run saw, of a service or of a guest.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
struct CheckSeen {
    #[schemars(skip_serializing_if = "Option::is_none")]
    service: Option<String>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    guest: Option<u32>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    /// Why it saw nothing; a stable word.
    #[schemars(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    detail: Option<CheckDetail>,
    /// How long after the run.
    #[schemars(skip_serializing_if = "Option::is_none")]
    after_ms: Option<u64>,
}

#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
struct CheckDetail {
    #[schemars(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// A schema for exactly one of two members; the other one is absent or null.
pub(crate) fn one_of(one: &str, one_type: &str, other: &str, other_type: &str) -> Value {
    let alone = |name: &str, kind: &str, absent: &str| {
        json!({
            "required": [name],
            "properties": {name: {"type": kind}, absent: {"type": "null"}},
        })
    };
    json!({"oneOf": [alone(one, one_type, other), alone(other, other_type, one)]})
}
