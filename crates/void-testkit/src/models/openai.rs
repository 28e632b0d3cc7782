//! Chunks of OpenAI's chat completions.

use std::ops::ControlFlow;

use serde_json::{Value, json};

use super::scripts::{Output, Refusal, Script, Step};

pub(super) fn error(refusal: &Refusal) -> Value {
    json!({"error": {"message": refusal.message, "type": refusal.name, "param": null, "code": null}})
}

pub(super) fn stream(script: &Script, nth: usize) -> Vec<Output> {
    let mut outputs = Vec::new();
    if !script.is_raw {
        let first = json!({"role": "assistant", "content": ""});
        outputs.push(chunk(nth, &first, None));
    }
    let mut calls = 0;
    for step in &script.steps {
        if write(step, nth, &mut calls, &mut outputs).is_break() {
            return outputs;
        }
    }
    if script.is_raw {
        return outputs;
    }
    let natural = if script.calls_tools() {
        "tool_calls"
    } else {
        "stop"
    };
    let reason = script.stop.as_deref().unwrap_or(natural);
    outputs.push(chunk(nth, &json!({}), Some(reason)));
    let counts = &script.usage;
    if counts.is_sent {
        let prompt = counts.input + counts.cache_read + counts.cache_write;
        let usage = json!({
            "prompt_tokens": prompt, "completion_tokens": counts.output,
            "total_tokens": prompt + counts.output,
            "prompt_tokens_details": {"cached_tokens": counts.cache_read},
        });
        let mut last = envelope(nth, &json!([]));
        last["usage"] = usage;
        outputs.push(data(&last));
    }
    outputs.push(Output::Bytes(b"data: [DONE]\n\n".to_vec()));
    outputs
}

fn write(step: &Step, nth: usize, calls: &mut usize, outputs: &mut Vec<Output>) -> ControlFlow<()> {
    match step {
        Step::Text(text) => outputs.push(chunk(nth, &json!({"content": text}), None)),
        Step::Thinking { text, .. } => {
            outputs.push(chunk(nth, &json!({"reasoning_content": text}), None));
        }
        Step::Tool { id, name, pieces } => {
            let made = format!("call_{nth}_{calls}");
            let id = id.as_ref().unwrap_or(&made);
            let start = json!({"index": *calls, "id": id, "type": "function", "function": {"name": name, "arguments": ""}});
            outputs.push(chunk(
                nth,
                &json!({"content": null, "tool_calls": [start]}),
                None,
            ));
            for piece in pieces {
                let more = json!({"index": *calls, "function": {"arguments": piece}});
                outputs.push(chunk(nth, &json!({"tool_calls": [more]}), None));
            }
            *calls += 1;
        }
        Step::Raw(bytes) => outputs.push(Output::Bytes(bytes.clone())),
        Step::Error { name, message } => {
            outputs.push(data(&json!({"error": {"message": message, "type": name}})));
            return ControlFlow::Break(());
        }
        Step::Pause(pause) => outputs.push(Output::Pause(*pause)),
        Step::End => return ControlFlow::Break(()),
        Step::Cut => outputs.push(Output::Cut),
        Step::Stall => outputs.push(Output::Stall),
        Step::Endless(text) => {
            if let Output::Bytes(bytes) = chunk(nth, &json!({"content": text}), None) {
                outputs.push(Output::Endless(bytes));
            }
        }
    }
    ControlFlow::Continue(())
}

fn chunk(nth: usize, delta: &Value, finish_reason: Option<&str>) -> Output {
    let choice =
        json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason});
    let mut value = envelope(nth, &json!([choice]));
    value["usage"] = Value::Null;
    data(&value)
}

fn envelope(nth: usize, choices: &Value) -> Value {
    json!({
        "id": format!("chatcmpl-{nth}"), "object": "chat.completion.chunk",
        "created": 1_800_000_000, "model": "scripted", "choices": choices,
    })
}

fn data(value: &Value) -> Output {
    Output::Bytes(format!("data: {value}\n\n").into_bytes())
}
