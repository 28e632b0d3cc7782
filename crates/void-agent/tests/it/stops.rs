//! Every reason to stop.

use serde_json::json;
use void_agent::brains::{Arguments, Block, Stop};
use void_testkit::models::{Format, Script};

use crate::talk::{call, reply_to, text};

fn other(word: &str) -> Stop {
    Stop::Other(word.to_owned())
}

#[tokio::test]
async fn every_word_for_stopping_has_its_meaning() {
    let table = [
        (Format::Anthropic, "end_turn", Stop::End),
        (Format::Anthropic, "stop_sequence", Stop::End),
        (Format::Anthropic, "tool_use", Stop::End),
        (Format::Anthropic, "max_tokens", Stop::OutputLimit),
        (
            Format::Anthropic,
            "model_context_window_exceeded",
            Stop::OutputLimit,
        ),
        (Format::Anthropic, "refusal", Stop::Refused),
        (Format::Anthropic, "pause_turn", other("pause_turn")),
        (
            Format::Anthropic,
            "brand\u{1b}new",
            other("brand\\u{1b}new"),
        ),
        (Format::OpenAi, "stop", Stop::End),
        (Format::OpenAi, "length", Stop::OutputLimit),
        (Format::OpenAi, "content_filter", Stop::Refused),
        (Format::OpenAi, "tool_calls", Stop::End),
        (Format::OpenAi, "function_call", Stop::End),
        (Format::OpenAi, "brand_new", other("brand_new")),
        (Format::Ollama, "stop", Stop::End),
        (Format::Ollama, "length", Stop::OutputLimit),
        (Format::Ollama, "unload", other("unload")),
    ];
    for (format, word, stop) in table {
        let (reply, _) = reply_to(format, Script::says("well").stop(word)).await;
        assert_eq!(reply.stop, stop, "{format:?} {word}");
        assert_eq!(reply.blocks, [text("well")], "{format:?} {word}");
    }
}

#[tokio::test]
async fn tool_calls_are_told_whatever_the_server_calls_it() {
    for (format, word) in [
        (Format::Anthropic, "tool_use"),
        (Format::Anthropic, "end_turn"),
        (Format::OpenAi, "tool_calls"),
        (Format::OpenAi, "stop"),
        (Format::Ollama, "stop"),
    ] {
        let script = Script::new().tool_pieces("a", "service_status", &["{}"]);
        let (reply, _) = reply_to(format, script.stop(word)).await;
        assert_eq!(reply.stop, Stop::ToolUse, "{format:?} {word}");
        assert_eq!(reply.blocks, [call("a", "service_status", json!({}))]);
    }
}

#[tokio::test]
async fn a_call_that_was_cut_is_not_taken_for_a_whole_one() {
    for (format, word) in [
        (Format::Anthropic, "max_tokens"),
        (Format::OpenAi, "length"),
    ] {
        let script = Script::new().tool_pieces("a", "propose_action", &["{\"id\":\"stop-"]);
        let (reply, _) = reply_to(format, script.stop(word)).await;
        assert_eq!(reply.stop, Stop::OutputLimit);
        let Block::ToolCall(call) = &reply.blocks[0] else {
            panic!("{reply:?}");
        };
        assert!(matches!(call.arguments, Arguments::Malformed(_)));
    }
}

#[tokio::test]
async fn a_long_word_is_cut() {
    let (reply, _) = reply_to(Format::Anthropic, Script::says("x").stop(&"y".repeat(999))).await;
    assert_eq!(reply.stop, other(&"y".repeat(60)));
}
