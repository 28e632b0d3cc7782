//! Events of the Anthropic Messages API.

use serde_json::{Value, json};

use super::scripts::{Output, Refusal, Script, Step};

pub(super) fn error(refusal: &Refusal) -> Value {
    json!({"type": "error", "error": {"type": refusal.name, "message": refusal.message}})
}

pub(super) fn stream(script: &Script, nth: usize) -> Vec<Output> {
    let mut writer = Writer::default();
    let counts = &script.usage;
    if !script.is_raw {
        let mut message = json!({
            "id": format!("msg_{nth}"), "type": "message", "role": "assistant", "model": "scripted",
            "content": [], "stop_reason": null, "stop_sequence": null,
        });
        if counts.is_sent {
            message["usage"] = json!({
                "input_tokens": counts.input, "output_tokens": 1,
                "cache_read_input_tokens": counts.cache_read,
                "cache_creation_input_tokens": counts.cache_write,
            });
        }
        writer.event(&json!({"type": "message_start", "message": message}));
        writer.event(&json!({"type": "ping"}));
    }
    for step in &script.steps {
        if writer.step(step, nth).is_break() {
            return writer.outputs;
        }
    }
    writer.close();
    if !script.is_raw {
        let natural = if script.calls_tools() {
            "tool_use"
        } else {
            "end_turn"
        };
        let reason = script.stop.as_deref().unwrap_or(natural);
        let mut delta = json!({
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": null},
        });
        if counts.is_sent {
            delta["usage"] = json!({"output_tokens": counts.output});
        }
        writer.event(&delta);
        writer.event(&json!({"type": "message_stop"}));
    }
    writer.outputs
}

#[derive(Default)]
struct Writer {
    outputs: Vec<Output>,
    blocks: usize,
    /// Whether the block `blocks - 1` is an open text.
    is_text_open: bool,
}

impl Writer {
    fn event(&mut self, value: &Value) {
        self.outputs.push(Output::Bytes(event(value)));
    }

    fn start(&mut self, block: &Value) {
        self.close();
        let start =
            json!({"type": "content_block_start", "index": self.blocks, "content_block": block});
        self.event(&start);
        self.blocks += 1;
    }

    fn delta(&mut self, delta: &Value) {
        let value = self.delta_event(delta);
        self.event(&value);
    }

    fn delta_event(&self, delta: &Value) -> Value {
        json!({"type": "content_block_delta", "index": self.blocks - 1, "delta": delta})
    }

    fn stop(&mut self) {
        let stop = json!({"type": "content_block_stop", "index": self.blocks - 1});
        self.event(&stop);
    }

    fn close(&mut self) {
        if self.is_text_open {
            self.is_text_open = false;
            self.stop();
        }
    }

    fn open_text(&mut self) {
        if !self.is_text_open {
            self.start(&json!({"type": "text", "text": ""}));
            self.is_text_open = true;
        }
    }

    fn step(&mut self, step: &Step, nth: usize) -> std::ops::ControlFlow<()> {
        match step {
            Step::Text(text) => {
                self.open_text();
                self.delta(&json!({"type": "text_delta", "text": text}));
            }
            Step::Thinking { text, signature } => {
                self.start(&json!({"type": "thinking", "thinking": "", "signature": ""}));
                self.delta(&json!({"type": "thinking_delta", "thinking": text}));
                self.delta(&json!({"type": "signature_delta", "signature": signature}));
                self.stop();
            }
            Step::Tool { id, name, pieces } => {
                self.close();
                let made = format!("toolu_{nth}_{}", self.blocks);
                let id = id.as_ref().unwrap_or(&made);
                self.start(&json!({"type": "tool_use", "id": id, "name": name, "input": {}}));
                for piece in pieces {
                    self.delta(&json!({"type": "input_json_delta", "partial_json": piece}));
                }
                self.stop();
            }
            Step::Raw(bytes) => self.outputs.push(Output::Bytes(bytes.clone())),
            Step::Error { name, message } => {
                self.event(&json!({"type": "error", "error": {"type": name, "message": message}}));
                return std::ops::ControlFlow::Break(());
            }
            Step::Pause(pause) => self.outputs.push(Output::Pause(*pause)),
            Step::End => return std::ops::ControlFlow::Break(()),
            Step::Cut => self.outputs.push(Output::Cut),
            Step::Stall => self.outputs.push(Output::Stall),
            Step::Endless(text) => {
                self.open_text();
                let delta = self.delta_event(&json!({"type": "text_delta", "text": text}));
                self.outputs.push(Output::Endless(event(&delta)));
            }
        }
        std::ops::ControlFlow::Continue(())
    }
}

fn event(value: &Value) -> Vec<u8> {
    let name = value.get("type").and_then(Value::as_str);
    let name = name.unwrap_or_default();
    format!("event: {name}\ndata: {value}\n\n").into_bytes()
}
