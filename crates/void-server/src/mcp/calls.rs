//! `tools/call` as nearly every client sends it, answered without a detour: the value that a tool gives is
//! written once and stands in the answer twice. Whatever else a message says goes through the SDK, and
//! tests hold both to the same answers.

use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use serde_json::{Map, Value};
use void_agent::tools::Outcome;

use super::{Toolbox, messages, unknown_tool};

/// With this a message says by itself which revision it speaks.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

pub(crate) struct Call {
    id: RequestId,
    name: String,
    arguments: Map<String, Value>,
}

impl Call {
    /// `None`: there is more to this message than a call.
    pub(crate) fn of(message: &mut Map<String, Value>) -> Option<Self> {
        let plain = message.len() == 4
            && message
                .get("jsonrpc")
                .is_some_and(|version| version == "2.0")
            && message
                .get("method")
                .is_some_and(|method| method == "tools/call");
        let id = match message.get("id").filter(|_| plain)? {
            Value::Number(number) => RequestId::Number(number.as_i64()?),
            Value::String(text) => RequestId::String(text.as_str().into()),
            _ => return None,
        };
        let params = message.get_mut("params")?.as_object_mut()?;
        let known = |name: &str| matches!(name, "name" | "arguments" | "_meta");
        let versioned = match params.get("_meta") {
            None => false,
            Some(meta) => meta.as_object()?.contains_key(VERSION_KEY),
        };
        if versioned || !params.keys().all(|name| known(name)) {
            return None;
        }
        let name = params.get("name")?.as_str()?.to_owned();
        let arguments = match params.get_mut("arguments") {
            None => Map::new(),
            Some(arguments) => std::mem::take(arguments.as_object_mut()?),
        };
        Some(Self {
            id,
            name,
            arguments,
        })
    }

    pub(crate) async fn answer(self, toolbox: &Toolbox) -> Vec<u8> {
        let outcome = toolbox.call(&self.name, self.arguments).await;
        let written = match outcome {
            Some(outcome) => write(&self.id, &outcome),
            None => Err(unknown_tool(&self.name)),
        };
        written.unwrap_or_else(|error| {
            messages::written(&ServerJsonRpcMessage::error(error, Some(self.id)))
        })
    }
}

fn write(id: &RequestId, outcome: &Result<Outcome, String>) -> Result<Vec<u8>, ErrorData> {
    let internal = |error: serde_json::Error| ErrorData::internal_error(error.to_string(), None);
    let room = match outcome {
        Ok(outcome) => outcome.value.text().len() + outcome.value.quoted().len(),
        Err(told) => 2 * told.len(),
    };
    let mut answer = Vec::with_capacity(room + 256);
    answer.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    serde_json::to_writer(&mut answer, id).map_err(internal)?;
    answer.extend_from_slice(b",\"result\":{\"content\":[{\"type\":\"text\",\"text\":");
    match outcome {
        Ok(outcome) => {
            answer.extend_from_slice(outcome.value.quoted().as_bytes());
            answer.extend_from_slice(b"}],\"structuredContent\":");
            answer.extend_from_slice(outcome.value.text().as_bytes());
            answer.extend_from_slice(b",\"isError\":false}}");
        }
        Err(told) => {
            serde_json::to_writer(&mut answer, told).map_err(internal)?;
            answer.extend_from_slice(b"}],\"isError\":true}}");
        }
    }
    Ok(answer)
}
