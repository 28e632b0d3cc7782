//! Streams that go wrong.

use std::time::Duration;

use serde_json::json;
use void_agent::brains::{
    ARGUMENTS_BYTES_MAX, BLOCKS_MAX, BrainErrorKind as Kind, FRAME_BYTES_MAX, Patience, Retry,
    STREAM_BYTES_MAX, Usage,
};
use void_testkit::models::{Format, ModelServer, Script};

use crate::talk::{ask, brain, error_of, patience, reply_to, shown, text};

fn impatient() -> Patience {
    Patience {
        read: Duration::from_millis(200),
        ..patience()
    }
}

#[tokio::test]
async fn overloaded_in_the_middle_is_told_with_its_words() {
    for format in Format::ALL {
        let script = Script::says("Caddy is").error("overloaded_error", "Overloaded just now");
        let (error, events, _) = error_of(format, [script], patience()).await;
        assert_eq!(events, [shown("Caddy is")], "{format:?}");
        assert!(error.message.contains("Overloaded just now"), "{error}");
        // Ollama's errors have no names.
        let kind = if format == Format::Ollama {
            Kind::Failed
        } else {
            Kind::Overloaded
        };
        assert_eq!(error.kind, kind);
        assert!(matches!(error.retry, Retry::After(_)));
    }
}

#[tokio::test]
async fn errors_in_the_stream_are_told_apart() {
    for (name, kind) in [
        ("rate_limit_error", Kind::RateLimited),
        ("api_error", Kind::Failed),
        ("timeout_error", Kind::Failed),
        ("invalid_request_error", Kind::RequestRefused),
        ("authentication_error", Kind::KeyRefused),
        ("permission_error", Kind::Forbidden),
        ("not_found_error", Kind::NotFound),
        ("request_too_large", Kind::PromptTooLong),
        ("billing_error", Kind::OutOfCredit),
        ("brand_new_error", Kind::Failed),
    ] {
        let script = Script::says("x").error(name, "hm");
        let (error, _, _) = error_of(Format::Anthropic, [script], patience()).await;
        assert_eq!(error.kind, kind, "{name}");
    }
}

#[tokio::test]
async fn an_error_is_known_by_its_event_too() {
    let error = json!({"error": {"type": "overloaded_error", "message": "Overloaded"}});
    let script = Script::says("x").raw(format!("event: error\ndata: {error}\n\n"));
    let (error, _, _) = error_of(Format::Anthropic, [script], patience()).await;
    assert_eq!(error.kind, Kind::Overloaded);
}

#[tokio::test]
async fn an_answer_that_ends_early_is_no_answer() {
    for format in Format::ALL {
        for script in [
            Script::says("Caddy is").end(),
            Script::says("Caddy is").cut(),
        ] {
            let (error, events, _) = error_of(format, [script], patience()).await;
            assert_eq!(error.kind, Kind::BrokenOff, "{format:?} {error}");
            assert_eq!(events, [shown("Caddy is")]);
        }
        let scripts = std::iter::repeat_n(Script::raw_stream(""), 3);
        let (error, _, asked) = error_of(format, scripts, patience()).await;
        assert_eq!(
            (error.kind, asked),
            (Kind::BrokenOff, 3),
            "{format:?} empty"
        );
    }
}

#[tokio::test]
async fn a_torn_last_frame_is_a_torn_answer() {
    for format in Format::ALL {
        let half = match format {
            Format::Anthropic => "event: content_block_delta\ndata: {\"type\":\"content_bl",
            Format::OpenAi => "data: {\"choices\":[{\"del",
            Format::Ollama => "{\"message\":{\"content\":\"so",
        };
        let script = Script::says("Caddy is").raw(half).end();
        let (error, _, _) = error_of(format, [script], patience()).await;
        assert_eq!(error.kind, Kind::BrokenOff, "{format:?} {error}");
    }
}

#[tokio::test]
async fn what_is_not_the_format_is_refused() {
    let event = |data: &str| format!("data: {data}\n\n");
    let anthropic = [
        event("{"),
        event("not json"),
        event("[]"),
        event("{\"type\":7}"),
        event("{\"type\":\"content_block_delta\"}"),
        event(&json!({"type": "content_block_delta", "index": 9, "delta": {"type": "text_delta", "text": "x"}}).to_string()),
        event(&json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "x"}}).to_string()),
        event(&json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta"}}).to_string()),
        event(&json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}).to_string()),
        event(&json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "x"}}).to_string()),
        event(&json!({"type": "content_block_start", "index": 1, "content_block": {}}).to_string()),
    ];
    let openai = [
        event("{"),
        event("not json"),
        event("7"),
        event("{\"choices\":7}"),
        event("{\"choices\":[{\"delta\":{\"content\":7}}]}"),
    ];
    let ollama = ["{\n", "not json\n", "{}\n", "[]\n", "{\"message\":7}\n"].map(str::to_owned);
    let cases = anthropic
        .map(|garbage| (Format::Anthropic, garbage))
        .into_iter();
    let cases = cases.chain(openai.map(|garbage| (Format::OpenAi, garbage)));
    for (format, garbage) in cases.chain(ollama.map(|garbage| (Format::Ollama, garbage))) {
        let script = Script::says("Caddy is").raw(garbage.as_bytes());
        let (error, events, asked) = error_of(format, [script], patience()).await;
        assert_eq!(error.kind, Kind::BadAnswer, "{format:?} {garbage} {error}");
        assert_eq!((events.len(), asked), (1, 1));
        assert!(
            !error.message.contains("not json"),
            "strangers' text stays out"
        );
    }
}

#[tokio::test]
async fn a_page_instead_of_a_stream_is_recognised() {
    for format in Format::ALL {
        let script =
            Script::raw_stream("<html><body>Log in to the wireless network</body></html>\n");
        let (error, _, asked) = error_of(format, [script], patience()).await;
        assert_eq!(
            (error.kind, asked),
            (Kind::BadAnswer, 1),
            "{format:?} {error}"
        );
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_are_refused() {
    for format in Format::ALL {
        let mut bytes = match format {
            Format::Anthropic => b"data: {\"type\":\"ping\",\"x\":\"".to_vec(),
            Format::OpenAi => b"data: {\"choices\":[{\"delta\":{\"content\":\"".to_vec(),
            Format::Ollama => b"{\"message\":{\"content\":\"".to_vec(),
        };
        bytes.extend_from_slice(b"\xff\xfe\"}}]}\n\n");
        let (error, _, _) = error_of(format, [Script::raw_stream(bytes)], patience()).await;
        assert_eq!(error.kind, Kind::BadAnswer, "{format:?}");
    }
}

#[tokio::test]
async fn a_stalled_stream_is_given_up() {
    for format in Format::ALL {
        for script in [Script::new().stall(), Script::says("Caddy is").stall()] {
            let scripts = [script, Script::says("late")];
            let (error, _, asked) = error_of(format, scripts, impatient()).await;
            assert_eq!(
                (error.kind, asked),
                (Kind::TimedOut, 1),
                "{format:?} {error}"
            );
            assert!(error.message.contains("200ms"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_server_that_never_begins_is_given_up() {
    for format in Format::ALL {
        let patience = Patience {
            answer: Duration::from_millis(200),
            ..patience()
        };
        let scripts = [Script::silence(), Script::says("late")];
        let (error, _, asked) = error_of(format, scripts, patience).await;
        assert_eq!(
            (error.kind, asked),
            (Kind::TimedOut, 1),
            "{format:?} {error}"
        );
        assert_eq!(error.usage, Usage::default());
    }
}

#[tokio::test]
async fn a_slow_stream_is_not_a_stalled_one() {
    for format in Format::ALL {
        let mut script = Script::new();
        for word in ["a", "b", "c", "d", "e", "f"] {
            script = script.text(word).pause(Duration::from_millis(100));
        }
        let server = ModelServer::start(format, [script]);
        let config = crate::talk::config(
            &server.base_url(),
            Patience {
                read: Duration::from_millis(500),
                ..patience()
            },
        );
        let brain = crate::talk::brain_with(format, config);
        assert_eq!(ask(&*brain).await.0.unwrap().blocks, [text("abcdef")]);
    }
}

#[tokio::test]
async fn a_whole_answer_counts_although_its_tail_is_missing() {
    let openai =
        json!({"choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}]});
    let anthropic = [
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "hi"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
    ];
    let anthropic = anthropic.map(|event| format!("data: {event}\n\n")).concat();
    let tail_is_missing = async |format, stream: String| {
        let script = Script::raw_stream(stream);
        for script in [script.clone(), script.clone().cut(), script.stall()] {
            let (reply, events) = reply_to(format, script).await;
            assert_eq!(reply.blocks, [text("hi")], "{format:?}");
            assert_eq!(events, [shown("hi")], "{format:?}");
        }
    };
    tokio::join!(
        tail_is_missing(Format::OpenAi, format!("data: {openai}\n\n")),
        tail_is_missing(Format::Anthropic, anthropic),
    );
}

#[tokio::test]
async fn an_endless_stream_is_ended() {
    for format in Format::ALL {
        let server = ModelServer::start(format, [Script::new().endless(&"x".repeat(1_000))]);
        let (reply, events) = ask(&*brain(format, &server)).await;
        let error = reply.unwrap_err();
        assert_eq!(error.kind, Kind::AnswerTooLarge, "{format:?}");
        assert!(error.message.contains(&STREAM_BYTES_MAX.to_string()));
        assert!(events.len() * 1_000 <= STREAM_BYTES_MAX);
        let gone = || async { (server.hangups() == 1).then_some(()) };
        void_testkit::eventually("the connection is closed", gone).await;
    }
}

#[tokio::test]
async fn an_endless_line_is_ended() {
    for format in Format::ALL {
        let line = format!("data: {}", "x".repeat(FRAME_BYTES_MAX + 10));
        let script = Script::says("x").raw(line).stall();
        let (error, _, _) = error_of(format, [script], patience()).await;
        assert_eq!(error.kind, Kind::AnswerTooLarge, "{format:?}");
    }
}

#[tokio::test]
async fn arguments_have_a_largest_size() {
    for format in Format::ALL {
        let room = ARGUMENTS_BYTES_MAX - "{\"a\":\"\"}".len();
        let (half, rest) = ("x".repeat(room / 2), "x".repeat(room - room / 2));
        let fits = ["{\"a\":\"", &half, &rest, "\"}"];
        let (reply, _) = reply_to(format, Script::new().tool_pieces("a", "search", &fits)).await;
        assert_eq!(reply.blocks.len(), 1, "{format:?}");
        let over = ["{\"a\":\"", &half, &rest, "x\"}"];
        let script = Script::new().tool_pieces("a", "search", &over);
        let (error, _, asked) = error_of(format, [script], patience()).await;
        assert_eq!((error.kind, asked), (Kind::AnswerTooLarge, 1), "{format:?}");
    }
}

#[tokio::test]
async fn calls_have_a_largest_number() {
    for format in Format::ALL {
        let calls = |count: usize| {
            (0..count).fold(Script::new(), |script, nth| {
                script.tool_pieces(&format!("c{nth}"), "search", &["{}"])
            })
        };
        let (reply, _) = reply_to(format, calls(BLOCKS_MAX)).await;
        assert_eq!(reply.blocks.len(), BLOCKS_MAX, "{format:?}");
        let (error, _, _) = error_of(format, [calls(BLOCKS_MAX + 1)], patience()).await;
        assert_eq!(error.kind, Kind::AnswerTooLarge, "{format:?}");
    }
}

#[tokio::test]
async fn pings_and_what_is_new_are_ignored() {
    let news = [
        json!({"type": "ping"}),
        json!({"type": "weather_report", "index": "seven", "delta": 7}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": {}}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "hologram_delta", "x": 1}}),
    ];
    let news = news
        .map(|event| format!(": note\nevent: x\nid: 1\nretry: 5\ndata: {event}\n\n"))
        .concat();
    let script = Script::says("Caddy ").raw(news).text("is down.");
    let (reply, _) = reply_to(Format::Anthropic, script).await;
    assert_eq!(reply.blocks, [text("Caddy is down.")]);
}
