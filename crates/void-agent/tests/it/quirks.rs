//! What servers that call themselves compatible do differently.

use serde_json::{Value, json};
use void_agent::brains::{BrainErrorKind as Kind, Stop};
use void_testkit::models::{Format, ModelServer, Script};

use crate::talk::{
    ask_for, brain, call, error_of, patience, prompt, reply_to, shown, started, text,
};

/// A stream of these chunks, ended by `[DONE]`.
fn chunks(values: impl IntoIterator<Item = Value>) -> Script {
    let chunks = values.into_iter().map(|value| format!("data: {value}\n\n"));
    Script::raw_stream(format!("{}data: [DONE]\n\n", chunks.collect::<String>()))
}

fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta}]})
}

fn calls(calls: Value) -> Value {
    delta(json!({"tool_calls": calls}))
}

fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

#[tokio::test]
async fn missing_null_and_empty_pieces_are_nothing() {
    let (reply, events) = reply_to(
        Format::OpenAi,
        chunks([
            json!({"choices": [], "prompt_filter_results": []}),
            json!({"choices": null}),
            json!({"id": "x"}),
            json!({"choices": [{"index": 0}]}),
            json!({"choices": [{"index": 0, "delta": null, "finish_reason": ""}]}),
            delta(json!({"role": "assistant", "content": null, "tool_calls": null, "refusal": null})),
            json!({"choices": [{"delta": {"content": "Hi"}, "finish_reason": null}], "usage": null, "error": null}),
            json!({"choices": [{"index": 1, "delta": {"content": "second opinion"}}]}),
            delta(json!({"content": ""})),
            delta(json!({"content": [{"type": "text", "text": " you"}, {"type": "thinking"}]})),
            finish("stop"),
        ]),
    )
    .await;
    assert_eq!(events, [shown("Hi"), shown(" you")]);
    assert_eq!(reply.blocks, [text("Hi you")]);
    assert_eq!(reply.stop, Stop::End);
    assert!(reply.usage.is_estimate);
}

#[tokio::test]
async fn whole_calls_in_one_chunk() {
    let whole = |index: Value, id: &str, name: &str| json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": "{\"x\":1}"}});
    let expected = [
        call("a", "f", json!({"x": 1})),
        call("b", "g", json!({"x": 1})),
    ];
    for (what, stream) in [
        (
            "both in one",
            vec![calls(json!([
                whole(json!(0), "a", "f"),
                whole(json!(1), "b", "g")
            ]))],
        ),
        (
            "no index",
            vec![
                calls(json!([whole(Value::Null, "a", "f")])),
                calls(json!([whole(Value::Null, "b", "g")])),
            ],
        ),
        (
            "the same index",
            vec![
                calls(json!([whole(json!(0), "a", "f")])),
                calls(json!([whole(json!(0), "b", "g")])),
            ],
        ),
        (
            "indices from one",
            vec![
                calls(json!([whole(json!(1), "a", "f")])),
                calls(json!([whole(json!(2), "b", "g")])),
            ],
        ),
    ] {
        let stream = stream.into_iter().chain([finish("stop")]);
        let (reply, events) = reply_to(Format::OpenAi, chunks(stream)).await;
        assert_eq!(reply.blocks, expected, "{what}");
        assert_eq!(reply.stop, Stop::ToolUse, "{what}");
        assert_eq!(events, [started("f"), started("g")], "{what}");
    }
}

#[tokio::test]
async fn pieces_find_their_call() {
    let piece = |index: Value, id: Value, name: Value, arguments: Value| {
        calls(
            json!([{"index": index, "id": id, "function": {"name": name, "arguments": arguments}}]),
        )
    };
    let null = || Value::Null;
    let expected = [call("a", "f", json!({"x": 1})), call("b", "g", json!({}))];
    for (what, stream) in [
        (
            "interleaved",
            vec![
                piece(json!(0), json!("a"), json!("f"), json!("")),
                piece(json!(1), json!("b"), json!("g"), json!("{")),
                piece(json!(0), null(), null(), json!("{\"x\":")),
                piece(json!(1), null(), null(), json!("}")),
                piece(json!(0), null(), null(), json!("1}")),
            ],
        ),
        (
            "id and name repeated in every piece",
            vec![
                piece(json!(0), json!("a"), json!("f"), json!("{\"x\":")),
                piece(json!(0), json!("a"), json!("f"), json!("1}")),
                piece(json!(1), json!("b"), json!("g"), json!("{}")),
            ],
        ),
        (
            "a new id for every piece",
            vec![
                piece(json!(0), json!("a"), json!("f"), json!("{\"x\":")),
                piece(json!(0), json!("zzz"), null(), json!("1}")),
                piece(json!(1), json!("b"), json!("g"), null()),
            ],
        ),
        (
            "no index at all",
            vec![
                piece(null(), json!("a"), json!("f"), json!("{\"x\":")),
                piece(null(), null(), null(), json!("1}")),
                piece(null(), json!("b"), json!("g"), null()),
            ],
        ),
        (
            "arguments as an object",
            vec![
                piece(json!(0), json!("a"), json!("f"), json!({"x": 1})),
                piece(json!(1), json!("b"), json!("g"), json!({})),
            ],
        ),
        (
            "the name after the id",
            vec![
                piece(json!(0), json!("a"), json!(""), json!("")),
                piece(json!(0), json!(""), json!("f"), json!("{\"x\":1}")),
                piece(json!(1), json!("b"), json!("g"), null()),
            ],
        ),
    ] {
        let stream = stream.into_iter().chain([finish("tool_calls")]);
        let (reply, events) = reply_to(Format::OpenAi, chunks(stream)).await;
        assert_eq!(reply.blocks, expected, "{what}");
        assert_eq!(events, [started("f"), started("g")], "{what}");
    }
}

#[tokio::test]
async fn calls_without_a_usable_id_get_one_that_is_new_in_the_conversation() {
    let twice = json!([
        {"index": 0, "id": "same", "function": {"name": "f", "arguments": "{}"}},
        {"index": 1, "id": "same", "function": {"name": "g", "arguments": "{}"}},
        {"index": 2, "function": {"name": "h", "arguments": "{}"}},
    ]);
    let server = ModelServer::start(
        Format::OpenAi,
        [chunks([calls(twice), finish("tool_calls")])],
    );
    let mut prompt = prompt("go");
    prompt.messages.extend([
        void_agent::brains::Message::Assistant(vec![call("call_1", "f", json!({}))]),
        void_agent::brains::Message::ToolResults(vec![void_agent::brains::ToolResult {
            call_id: "call_1".to_owned(),
            content: String::new(),
            is_error: false,
        }]),
    ]);
    let reply = ask_for(&*brain(Format::OpenAi, &server), &prompt)
        .await
        .0
        .unwrap();
    let expected = [
        call("same", "f", json!({})),
        call("call_2", "g", json!({})),
        call("call_3", "h", json!({})),
    ];
    assert_eq!(reply.blocks, expected);
}

#[tokio::test]
async fn the_end_may_be_marked_once() {
    let only_reason = format!(
        "data: {}\n\ndata: {}",
        delta(json!({"content": "Hi"})),
        finish("length")
    );
    let (reply, _) = reply_to(Format::OpenAi, Script::raw_stream(only_reason)).await;
    assert_eq!(
        (reply.blocks, reply.stop),
        (vec![text("Hi")], Stop::OutputLimit)
    );
    let (reply, _) = reply_to(Format::OpenAi, chunks([delta(json!({"content": "Hi"}))])).await;
    assert_eq!((reply.blocks, reply.stop), (vec![text("Hi")], Stop::End));
    let (error, _, _) = error_of(Format::OpenAi, [chunks([])], patience()).await;
    assert_eq!(error.kind, Kind::BadAnswer, "an end alone is no answer");
}

#[tokio::test]
async fn errors_come_in_many_shapes() {
    let begun = delta(json!({"content": "Hi"}));
    for (what, error, kind) in [
        (
            "vllm",
            "data: {\"error\": {\"message\": \"boom\", \"type\": \"BadRequestError\", \"code\": 400}}\n\ndata: [DONE]\n\n",
            Kind::RequestRefused,
        ),
        (
            "llama.cpp, old",
            "error: {\"code\":500,\"message\":\"boom\",\"type\":\"server_error\"}\n\n",
            Kind::Failed,
        ),
        (
            "llama.cpp",
            "data: {\"error\":{\"code\":400,\"message\":\"boom: context size\",\"type\":\"exceed_context_size_error\"}}\n\n",
            Kind::PromptTooLong,
        ),
        (
            "lm studio",
            "event: error\ndata: {\"error\":\"boom\"}\n\n",
            Kind::Failed,
        ),
        (
            "a router",
            "data: {\"error\":{\"code\":502,\"message\":\"boom\"},\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\n\n",
            Kind::Failed,
        ),
        ("words only", "event: error\ndata: boom\n\n", Kind::Failed),
        (
            "a reason only",
            "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\n\n",
            Kind::Failed,
        ),
    ] {
        let script = Script::raw_stream(format!("data: {begun}\n\n{error}"));
        let (found, events, _) = error_of(Format::OpenAi, [script], patience()).await;
        assert_eq!(found.kind, kind, "{what}: {found}");
        assert_eq!(events, [shown("Hi")], "{what}");
        let has_words = !what.ends_with("only");
        assert_eq!(found.message.contains("boom"), has_words, "{what}: {found}");
    }
}

#[tokio::test]
async fn a_refusal_in_its_own_field_is_one() {
    let stream = [
        delta(json!({"refusal": "I can't "})),
        delta(json!({"refusal": "do that."})),
        finish("stop"),
    ];
    let (reply, _) = reply_to(Format::OpenAi, chunks(stream)).await;
    assert_eq!(
        (reply.blocks, reply.stop),
        (vec![text("I can't do that.")], Stop::Refused)
    );
}

#[tokio::test]
async fn reasoning_under_two_names_is_kept_once() {
    let both = delta(json!({"reasoning": "so", "reasoning_content": "so"}));
    let call = json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]);
    let stream = chunks([both.clone(), both, calls(call), finish("tool_calls")]);
    let server = ModelServer::start(Format::OpenAi, [stream, Script::says("ok")]);
    let brain = brain(Format::OpenAi, &server);
    let mut prompt = prompt("go");
    let reply = ask_for(&*brain, &prompt).await.0.unwrap();
    prompt
        .messages
        .push(void_agent::brains::Message::Assistant(reply.blocks));
    prompt
        .messages
        .push(void_agent::brains::Message::ToolResults(vec![
            void_agent::brains::ToolResult {
                call_id: "a".to_owned(),
                content: "done".to_owned(),
                is_error: false,
            },
        ]));
    ask_for(&*brain, &prompt).await.0.unwrap();
    let message = &server.bodies()[1]["messages"][2];
    assert_eq!(message["reasoning_content"], "soso");
    assert_eq!(message.get("reasoning"), None);
}
