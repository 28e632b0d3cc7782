//! Answers that go well: text in pieces, tool calls in pieces and in parallel, what is kept for the
//! provider, what is counted.

use serde_json::json;
use void_agent::brains::{Arguments, Block, Message, Stop, ToolCall, ToolResult, Usage};
use void_testkit::models::{Format, ModelServer, Script, heard, offered_tools};

use crate::talk::{ask, ask_for, brain, call, prompt, reply_to, shown, started, text};

#[tokio::test]
async fn text_arrives_piece_by_piece() {
    for format in Format::ALL {
        let script = Script::new().texts(["Caddy ", "is ", "", "down 🙂."]);
        let (reply, events) = reply_to(format, script.usage(120, 7)).await;
        assert_eq!(
            events,
            [shown("Caddy "), shown("is "), shown("down 🙂.")],
            "{format:?}"
        );
        assert_eq!(reply.blocks, [text("Caddy is down 🙂.")], "{format:?}");
        assert_eq!(reply.stop, Stop::End, "{format:?}");
        let counted = Usage {
            input: 120,
            output: 7,
            ..Usage::default()
        };
        assert_eq!(reply.usage, counted, "{format:?}");
    }
}

#[tokio::test]
async fn tools_are_called_in_parallel_with_arguments_in_pieces() {
    let pieces = [
        "",
        "{\"na",
        "me\": \"caf\\",
        "u00",
        "e9 \\ud8",
        "3d\\ude42",
        " 東京\\",
        "\"\", \"n\":",
        " -1",
        "2e1}",
    ];
    for format in Format::ALL {
        let script = Script::new()
            .text("I look.")
            .tool_pieces("call_a", "search", &pieces)
            .tool_pieces("call_b", "service_status", &[])
            .tool_pieces("call_c", "search", &["{\"name\":\"b\"}"]);
        // Ollama has no pieces: the server joins them.
        let empty = if format == Format::Ollama {
            json!("")
        } else {
            json!({})
        };
        let (reply, events) = reply_to(format, script).await;
        let expected = [
            text("I look."),
            call(
                "call_a",
                "search",
                json!({"name": "café 🙂 東京\"", "n": -120.0}),
            ),
            call("call_b", "service_status", json!({})),
            call("call_c", "search", json!({"name": "b"})),
        ];
        assert_eq!(reply.blocks, expected, "{format:?} {empty}");
        assert_eq!(reply.stop, Stop::ToolUse, "{format:?}");
        let names = ["search", "service_status", "search"];
        let mut seen = vec![shown("I look.")];
        seen.extend(names.map(started));
        assert_eq!(events, seen, "{format:?}");
    }
}

#[tokio::test]
async fn arguments_that_are_no_json_are_marked_and_can_be_sent_back() {
    for format in Format::ALL {
        let broken = Script::new().tool_pieces("call_a", "search", &["{\"name\":", " oops"]);
        let server = ModelServer::start(format, [broken, Script::says("I see.")]);
        let brain = brain(format, &server);
        let mut prompt = prompt("look");
        let reply = ask_for(&*brain, &prompt).await.0.unwrap();
        let expected = Block::ToolCall(ToolCall {
            id: "call_a".to_owned(),
            name: "search".to_owned(),
            arguments: Arguments::Malformed("{\"name\": oops".to_owned()),
        });
        assert_eq!(reply.blocks, [expected], "{format:?}");
        prompt.messages.push(Message::Assistant(reply.blocks));
        prompt.messages.push(Message::ToolResults(vec![ToolResult {
            call_id: "call_a".to_owned(),
            content: "the arguments are not JSON".to_owned(),
            is_error: true,
        }]));
        let reply = ask_for(&*brain, &prompt).await.0.unwrap();
        assert_eq!(reply.blocks, [text("I see.")], "{format:?}");
        let sent = server.bodies()[1].to_string();
        assert!(sent.contains("malformed_arguments"), "{format:?}: {sent}");
    }
}

#[tokio::test]
async fn what_only_the_provider_understands_goes_back_to_it_alone() {
    for format in Format::ALL {
        let thinks = Script::new()
            .thinking("Let me see…", "c2lnbmVk")
            .tool_pieces("call_a", "service_status", &["{}"]);
        let server = ModelServer::start(format, [thinks, Script::says("All is well.")]);
        let brain_here = brain(format, &server);
        let mut prompt = prompt("well?");
        let (reply, events) = ask_for(&*brain_here, &prompt).await;
        let reply = reply.unwrap();
        assert_eq!(events, [started("service_status")], "thinking is not shown");
        assert!(matches!(reply.blocks[0], Block::Opaque(_)), "{format:?}");
        prompt.messages.push(Message::Assistant(reply.blocks));
        prompt.messages.push(Message::ToolResults(vec![ToolResult {
            call_id: "call_a".to_owned(),
            content: "{}".to_owned(),
            is_error: false,
        }]));
        ask_for(&*brain_here, &prompt).await.0.unwrap();
        let messages = &server.bodies()[1]["messages"];
        match format {
            Format::Anthropic => assert_eq!(
                messages[1]["content"][0],
                json!({"type": "thinking", "thinking": "Let me see…", "signature": "c2lnbmVk"})
            ),
            Format::OpenAi => assert_eq!(messages[2]["reasoning_content"], "Let me see…"),
            Format::Ollama => assert_eq!(messages[2]["thinking"], "Let me see…"),
        }
        for other in Format::ALL.into_iter().filter(|other| *other != format) {
            let server = ModelServer::start(other, [Script::says("Hm.")]);
            ask_for(&*brain(other, &server), &prompt).await.0.unwrap();
            let sent = server.bodies()[0].to_string();
            assert!(!sent.contains("Let me see"), "{format:?} to {other:?}");
        }
    }
}

#[tokio::test]
async fn unsigned_thinking_is_not_kept() {
    let script = Script::new().thinking("Let me", "").stop("max_tokens");
    let (reply, _) = reply_to(Format::Anthropic, script).await;
    assert_eq!((reply.blocks, reply.stop), (vec![], Stop::OutputLimit));
}

#[tokio::test]
async fn cache_counters_are_told_apart() {
    let script = || Script::says("x").usage(11, 3).cached(900, 70);
    let (reply, _) = reply_to(Format::Anthropic, script()).await;
    let expected = Usage {
        input: 11,
        output: 3,
        cache_read: 900,
        cache_write: 70,
        is_estimate: false,
    };
    assert_eq!(reply.usage, expected);
    let (reply, _) = reply_to(Format::OpenAi, script()).await;
    assert_eq!((reply.usage.input, reply.usage.cache_read), (81, 900));
}

#[tokio::test]
async fn a_server_that_does_not_count_is_estimated() {
    for format in Format::ALL {
        let script = Script::says(&"word ".repeat(80)).without_usage();
        let (reply, _) = reply_to(format, script).await;
        let usage = reply.usage;
        assert!(usage.is_estimate, "{format:?}");
        assert_eq!(usage.output, 100, "{format:?}");
        assert!((20..1_000).contains(&usage.input), "{format:?} {usage:?}");
    }
}

#[tokio::test]
async fn a_model_can_be_a_function_of_what_it_hears() {
    for format in Format::ALL {
        let server = ModelServer::with(format, |request| {
            Script::says(&format!(
                "{:?} {:?}",
                heard(request),
                offered_tools(request)
            ))
        });
        let brain = brain(format, &server);
        let reply = ask(&*brain).await.0.unwrap();
        let expected = "[\"what is wrong?\"] [\"service_status\"]";
        assert_eq!(reply.blocks, [text(expected)], "{format:?}");
    }
}

#[tokio::test]
async fn a_connection_serves_answer_after_answer() {
    for format in Format::ALL {
        let server = ModelServer::with(format, |_| Script::says("hello"));
        let brain = brain(format, &server);
        for _ in 0..5 {
            ask(&*brain).await.0.unwrap();
        }
        assert_eq!(server.connections(), 1, "{format:?}");
        assert_eq!(server.hangups(), 0, "{format:?}");
    }
}
