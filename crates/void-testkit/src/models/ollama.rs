//! Lines of Ollama's chat.

use std::ops::ControlFlow;

use serde_json::{Value, json};

use super::scripts::{Output, Refusal, Script, Step};

pub(super) fn error(refusal: &Refusal) -> Value {
    json!({"error": refusal.message})
}

pub(super) fn stream(script: &Script, _nth: usize) -> Vec<Output> {
    let mut outputs = Vec::new();
    for step in &script.steps {
        if write(step, &mut outputs).is_break() {
            return outputs;
        }
    }
    if script.is_raw {
        return outputs;
    }
    let mut last = message(&json!({"role": "assistant", "content": ""}));
    last["done"] = json!(true);
    last["done_reason"] = json!(script.stop.as_deref().unwrap_or("stop"));
    last["total_duration"] = json!(4_883_583_458_u64);
    if script.usage.is_sent {
        let prompt = script.usage.input + script.usage.cache_read + script.usage.cache_write;
        last["prompt_eval_count"] = json!(prompt);
        last["eval_count"] = json!(script.usage.output);
    }
    outputs.push(line(&last));
    outputs
}

fn write(step: &Step, outputs: &mut Vec<Output>) -> ControlFlow<()> {
    match step {
        Step::Text(text) => outputs.push(line(&says(text))),
        Step::Thinking { text, .. } => {
            let thinking = json!({"role": "assistant", "content": "", "thinking": text});
            outputs.push(line(&message(&thinking)));
        }
        Step::Tool { id, name, pieces } => {
            let text = pieces.concat();
            // Ollama itself sends objects; what is no JSON stands for a proxy that does not.
            let arguments = serde_json::from_str(&text).unwrap_or(Value::String(text));
            let mut call = json!({"function": {"name": name, "arguments": arguments}});
            if let Some(id) = id {
                call["id"] = json!(id);
            }
            let calls = json!({"role": "assistant", "content": "", "tool_calls": [call]});
            outputs.push(line(&message(&calls)));
        }
        Step::Raw(bytes) => outputs.push(Output::Bytes(bytes.clone())),
        Step::Error { message, .. } => {
            outputs.push(line(&json!({"error": message})));
            return ControlFlow::Break(());
        }
        Step::Pause(pause) => outputs.push(Output::Pause(*pause)),
        Step::End => return ControlFlow::Break(()),
        Step::Cut => outputs.push(Output::Cut),
        Step::Stall => outputs.push(Output::Stall),
        Step::Endless(text) => {
            outputs.push(Output::Endless(format!("{}\n", says(text)).into_bytes()));
        }
    }
    ControlFlow::Continue(())
}

fn says(text: &str) -> Value {
    message(&json!({"role": "assistant", "content": text}))
}

fn message(message: &Value) -> Value {
    json!({
        "model": "scripted", "created_at": "2027-01-15T08:00:00Z",
        "message": message, "done": false,
    })
}

fn line(value: &Value) -> Output {
    Output::Bytes(format!("{value}\n").into_bytes())
}
