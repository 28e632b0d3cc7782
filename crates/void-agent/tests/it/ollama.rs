//! Ollama's own ways.

use serde_json::json;
use void_agent::brains::{BrainErrorKind as Kind, Stop, Usage};
use void_testkit::models::{Format, Script};

use crate::talk::{call, error_of, patience, reply_to, shown, text};

#[tokio::test]
async fn a_missing_model_says_how_to_get_it() {
    let script = Script::status(404).refusing("", "model 'scripted-1' not found");
    let (error, _, asked) = error_of(Format::Ollama, [script], patience()).await;
    assert_eq!((error.kind, asked), (Kind::NotFound, 1));
    assert!(
        error
            .message
            .contains("pull it with ollama pull scripted-1"),
        "{error}"
    );
}

#[tokio::test]
async fn a_model_without_tools_is_told_in_its_words() {
    let script = Script::status(400).refusing("", "scripted-1 does not support tools");
    let (error, _, _) = error_of(Format::Ollama, [script], patience()).await;
    assert_eq!(error.kind, Kind::RequestRefused);
    assert!(error.message.contains("does not support tools"), "{error}");
}

#[tokio::test]
async fn an_error_line_in_the_middle_ends_it() {
    let script =
        Script::says("Caddy").error("", "an error was encountered while running the model");
    let (error, events, asked) = error_of(Format::Ollama, [script], patience()).await;
    assert_eq!((error.kind, asked), (Kind::Failed, 1));
    assert_eq!(events, [shown("Caddy")]);
    assert!(error.message.contains("while running the model"), "{error}");
}

#[tokio::test]
async fn calls_without_ids_are_numbered() {
    let script = Script::new()
        .tool("service_status", &json!({}))
        .tool("search", &json!({"q": "caddy"}));
    let (reply, _) = reply_to(Format::Ollama, script).await;
    let expected = [
        call("call_1", "service_status", json!({})),
        call("call_2", "search", json!({"q": "caddy"})),
    ];
    assert_eq!(reply.blocks, expected);
    assert_eq!(reply.stop, Stop::ToolUse);
}

#[tokio::test]
async fn a_prompt_from_its_cache_is_not_counted_there() {
    let lines = [
        json!({"message": {"role": "assistant", "content": "Hi"}, "done": false}),
        json!({"message": {"role": "assistant", "content": "", "tool_calls": null}, "done": true, "done_reason": "stop", "eval_count": 2}),
    ];
    // No line end at the end.
    let lines = lines.map(|line| line.to_string()).join("\n");
    let (reply, _) = reply_to(Format::Ollama, Script::raw_stream(lines)).await;
    assert_eq!(reply.blocks, [text("Hi")]);
    let Usage {
        input,
        output,
        is_estimate,
        ..
    } = reply.usage;
    assert!(
        is_estimate && input > 10 && output == 2,
        "{:?}",
        reply.usage
    );
}

#[tokio::test]
async fn an_old_server_without_a_reason_has_ended() {
    let line = json!({"message": {"role": "assistant", "content": "Hi"}, "done": true});
    let (reply, _) = reply_to(Format::Ollama, Script::raw_stream(line.to_string())).await;
    assert_eq!((reply.blocks, reply.stop), (vec![text("Hi")], Stop::End));
}
