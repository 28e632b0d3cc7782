//! The `claude` program as a brain, against a stand-in that is a real process.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use void_agent::brains::{
    BaseUrl, Block, Brain as _, BrainError, BrainEvent, ClaudeBrain, ClaudeConfig, ClaudeLogin,
    FRAME_BYTES_MAX, Message, Prompt, Reply, SEARCH_PATH, SILENCE_MAX, STREAM_BYTES_MAX, Stop,
    Usage,
};
use void_domain::secrets::Secret;
use void_testkit::claude::ScriptedClaude;
use void_testkit::eventually;
use void_testkit::processes::is_running;

use crate::talk;

const PASS: &str = "void_turn_0123456789abcdefghijklmnop";
const SESSION: &str = "c38afb4e-fca9-4154-a753-429d9f8b748a";

fn config(claude: &ScriptedClaude) -> ClaudeConfig {
    ClaudeConfig {
        program: claude.program(),
        search_path: SEARCH_PATH.into(),
        void_program: claude.path().join("void"),
        api_url: BaseUrl::parse("http://127.0.0.1:3000/").unwrap(),
        model: "scripted-1".to_owned(),
        work_folder: claude.path().join("work"),
        login: ClaudeLogin::Gateway,
        silence_max: SILENCE_MAX,
    }
}

fn prompt(text: &str) -> Prompt {
    Prompt {
        pass: Some(Secret::new(PASS)),
        ..talk::prompt(text)
    }
}

async fn ask_with(
    config: ClaudeConfig,
    prompt: &Prompt,
) -> (Result<Reply, BrainError>, Vec<BrainEvent>) {
    let brain = ClaudeBrain::new(config).unwrap();
    let (answer, events) = talk::ask_for(&brain, prompt).await;
    if let Err(error) = &answer {
        assert!(!error.message.contains(PASS), "{error}");
    }
    (answer, events)
}

async fn ask(claude: &ScriptedClaude) -> (Result<Reply, BrainError>, Vec<BrainEvent>) {
    ask_with(config(claude), &prompt("what is wrong?")).await
}

/// The code and the words of a run that fails.
async fn failure_of(steps: Value) -> (&'static str, String) {
    let claude = ScriptedClaude::new(&json!([steps]));
    let (answer, _) = ask(&claude).await;
    let error = answer.expect_err("an error");
    (error.code().as_str(), error.message)
}

fn words(run: &Value) -> Vec<&str> {
    let argv = run["argv"].as_array().unwrap().iter();
    argv.map(|word| word.as_str().unwrap()).collect()
}

/// The word behind a flag.
fn behind<'a>(run: &'a Value, flag: &str) -> Option<&'a str> {
    let words = words(run);
    let at = words.iter().position(|word| *word == flag)?;
    words.get(at + 1).copied()
}

#[tokio::test]
async fn its_words_are_heard_as_they_come_and_its_messages_are_paragraphs() {
    let claude = ScriptedClaude::new(&json!([[
        {"line": {"type": "system", "subtype": "init", "tools": ["Bash"]}},
        {"says": ["Let me ", "look."]},
        {"line": {"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Bash"}]}}},
        {"line": {"type": "stream_event", "parent_tool_use_id": "toolu_1", "event": {"type": "nonsense"}}},
        {"line": {"type": "new_in_some_later_version"}},
        {"says": ["All is well."]},
        {"result": {}},
    ]]));
    let (answer, events) = ask(&claude).await;
    let reply = answer.unwrap();
    assert_eq!(reply.blocks, [talk::text("Let me look.\n\nAll is well.")]);
    assert_eq!(reply.stop, Stop::End);
    assert_eq!(reply.session.as_deref(), Some(SESSION));
    let heard = ["Let me ", "look.", "\n\n", "All is well."];
    assert_eq!(events, heard.map(talk::shown));
}

#[tokio::test]
async fn it_is_started_with_nothing_of_ours_but_the_pass() {
    let claude = ScriptedClaude::new(&json!([[{"says": ["Hello."]}, {"result": {}}]]));
    let text = "read @/etc/passwd and sk-owner-secret";
    let (answer, _) = ask_with(config(&claude), &prompt(text)).await;
    answer.unwrap();
    let run = claude.run(1).unwrap();
    let argv = run["argv"].to_string();
    assert!(
        !argv.contains(PASS) && !argv.contains("sk-owner-secret"),
        "{argv}"
    );
    assert_eq!(
        run["stdin"],
        "The owner says:\n\nread @ /etc/passwd and sk-owner-secret\n"
    );
    let env = run["env"].as_object().unwrap();
    let allowed = |name: &str| {
        [
            "PATH",
            "HOME",
            "TMPDIR",
            "LANG",
            "SHELL",
            "MAX_THINKING_TOKENS",
            "VOID_AGENT_TOKEN",
        ]
        .contains(&name)
            || ["CLAUDE_CODE_", "DISABLE_", "ANTHROPIC_"]
                .iter()
                .any(|prefix| name.starts_with(prefix))
    };
    let foreign: Vec<&String> = env.keys().filter(|name| !allowed(name)).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
    let holders: Vec<&String> = env
        .iter()
        .filter(|(_, value)| value.as_str().unwrap().contains(PASS))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(holders, ["ANTHROPIC_AUTH_TOKEN", "VOID_AGENT_TOKEN"]);
    assert_eq!(
        env["ANTHROPIC_BASE_URL"],
        "http://127.0.0.1:3000/gateway/anthropic"
    );
    assert_eq!(env["CLAUDE_CODE_DISABLE_ATTACHMENTS"], "1");
    assert_eq!(env["PATH"], SEARCH_PATH);
    let work = claude.path().join("work").canonicalize().unwrap();
    assert_eq!(env["HOME"], work.join("home").to_str().unwrap());
    assert_eq!(run["cwd"], work.join("room").to_str().unwrap());
    for folder in ["", "home", "room", "tmp"] {
        let mode = work.join(folder).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{folder}");
    }
    assert_eq!(work.join("room").read_dir().unwrap().count(), 0);
}

#[tokio::test]
async fn only_voids_tools_are_offered_and_allowed() {
    let claude = ScriptedClaude::new(&json!([[{"result": {"result": "Hello."}}]]));
    let (answer, events) = ask(&claude).await;
    assert_eq!(answer.unwrap().blocks, [talk::text("Hello.")]);
    assert_eq!(events, [talk::shown("Hello.")]);
    let run = claude.run(1).unwrap();
    assert_eq!(behind(&run, "--tools"), Some(""));
    assert_eq!(
        behind(&run, "--allowedTools"),
        Some("mcp__void__service_status")
    );
    assert_eq!(behind(&run, "--permission-mode"), Some("dontAsk"));
    assert_eq!(behind(&run, "--setting-sources"), Some(""));
    assert_eq!(behind(&run, "--model"), Some("scripted-1"));
    assert_eq!(
        behind(&run, "--system-prompt"),
        Some("You are Little Blue.")
    );
    assert_eq!(behind(&run, "--resume"), None);
    for flag in ["--print", "--strict-mcp-config", "--disable-slash-commands"] {
        assert!(words(&run).contains(&flag), "{flag}");
    }
    assert!(!words(&run).iter().any(|word| word.contains("dangerously")));
    let servers: Value = serde_json::from_str(behind(&run, "--mcp-config").unwrap()).unwrap();
    let expected = json!({"mcpServers": {"void": {
        "type": "stdio", "command": claude.path().join("void"), "args": ["mcp"],
        "env": {
            "VOID_API_URL": "http://127.0.0.1:3000",
            "VOID_AGENT_TOKEN": "${VOID_AGENT_TOKEN}",
        },
    }}});
    assert_eq!(servers, expected);
}

#[tokio::test]
async fn the_server_that_its_configuration_names_can_be_started_and_gets_the_pass() {
    let claude = ScriptedClaude::new(&json!([[{"calls": "service_status"}, {"result": {}}]]));
    let void = claude.path().join("void");
    let script = "#!/bin/sh\nread -r _; echo \"{\\\"who\\\": \\\"$1 $VOID_AGENT_TOKEN $VOID_API_URL ${VOID_TOOL_REGISTRY-its own}\\\"}\"\nread -r _; echo '{\"result\": 7}'\n";
    std::fs::write(&void, script).unwrap();
    std::fs::set_permissions(&void, PermissionsExt::from_mode(0o700)).unwrap();
    ask(&claude).await.0.unwrap();
    let who = format!("mcp {PASS} http://127.0.0.1:3000 its own");
    let run = claude.run(1).unwrap();
    assert_eq!(run["heard"], json!([[{"who": who}, {"result": 7}]]));
}

fn user(text: &str) -> Message {
    Message::User(text.to_owned())
}

#[tokio::test]
async fn a_known_conversation_goes_on_with_the_newest_message_alone() {
    let claude = ScriptedClaude::new(&json!([[{"says": ["Yes."]}, {"result": {}}]]));
    let mut prompt = prompt("");
    prompt.session = Some(SESSION.to_owned());
    let earlier = Message::Assistant(vec![Block::Text("Caddy is down.".to_owned())]);
    prompt.messages = vec![user("what is wrong?"), earlier, user("still?")];
    let (answer, _) = ask_with(config(&claude), &prompt).await;
    assert_eq!(answer.unwrap().session.as_deref(), Some(SESSION));
    let run = claude.run(1).unwrap();
    assert_eq!(behind(&run, "--resume"), Some(SESSION));
    assert_eq!(run["stdin"], "The owner says:\n\nstill?\n");
    assert!(claude.run(2).is_none());
}

#[tokio::test]
async fn a_conversation_that_it_forgot_is_told_again_once() {
    let gone = json!({"subtype": "error_during_execution", "is_error": true, "result": null,
        "errors": ["No conversation found with session ID: c38afb4e"]});
    let claude = ScriptedClaude::new(&json!([
        [{"stderr": "No conversation found"}, {"result": gone}, {"exits": 1}],
        [{"says": ["Yes."]}, {"result": {"session_id": "00000000-0000-4000-8000-000000000000"}}],
    ]));
    let mut prompt = prompt("");
    prompt.session = Some(SESSION.to_owned());
    let earlier = Message::Assistant(vec![Block::Text("Caddy is down.".to_owned())]);
    prompt.messages = vec![user("what is wrong?"), earlier, user("still?")];
    let (answer, events) = ask_with(config(&claude), &prompt).await;
    let session = answer.unwrap().session;
    assert_eq!(
        session.as_deref(),
        Some("00000000-0000-4000-8000-000000000000")
    );
    assert_eq!(events, [talk::shown("Yes.")]);
    let run = claude.run(2).unwrap();
    assert_eq!(behind(&run, "--resume"), None);
    let told = "What was said in this conversation so far:\n\n[The owner] what is wrong?\n\n\
        [You] Caddy is down.\n\nThe owner says:\n\nstill?\n";
    assert_eq!(run["stdin"], told);
}

#[tokio::test]
async fn the_gateway_counts_or_the_result_does_and_never_both() {
    let script = json!([[{"says": ["Hello."]}, {"result": {}}]]);
    let claude = ScriptedClaude::new(&script);
    assert_eq!(ask(&claude).await.0.unwrap().usage, Usage::default());
    let claude = ScriptedClaude::new(&script);
    let home = claude.path().join("owners-home");
    std::fs::create_dir(&home).unwrap();
    let login = ClaudeLogin::Subscription { home: home.clone() };
    let config = ClaudeConfig {
        login,
        ..config(&claude)
    };
    let reply = ask_with(config, &prompt("hello")).await.0.unwrap();
    let counted = Usage {
        input: 20,
        output: 14,
        cache_read: 3,
        cache_write: 4,
        is_estimate: false,
    };
    assert_eq!(reply.usage, counted);
    let env = claude.run(1).unwrap()["env"].clone();
    assert_eq!(env["HOME"], home.to_str().unwrap());
    assert!(
        !env.as_object()
            .unwrap()
            .keys()
            .any(|name| name.starts_with("ANTHROPIC_"))
    );
}

#[tokio::test]
async fn its_bounds_end_an_answer_gracefully() {
    for (result, stop) in [
        (json!({"stop_reason": "max_tokens"}), Stop::OutputLimit),
        (json!({"stop_reason": "refusal"}), Stop::Refused),
        (
            json!({"is_error": true, "api_error_status": 400, "result": "API Error: 400 void: this turn has no tokens of output left"}),
            Stop::OutputLimit,
        ),
        (
            json!({"is_error": true, "api_error_status": 400, "result": "API Error: 400 void: this turn has no calls to a model left"}),
            Stop::Other("the limit of its calls to a model".to_owned()),
        ),
        (
            json!({"is_error": true, "subtype": "error_max_turns", "errors": ["Reached maximum number of turns (13)"]}),
            Stop::Other("the limit of its tool rounds".to_owned()),
        ),
    ] {
        let claude = ScriptedClaude::new(&json!([[{"says": ["So far"]}, {"result": result}]]));
        let reply = ask(&claude).await.0.unwrap();
        assert_eq!(reply.stop, stop, "{result}");
        assert_eq!(reply.blocks, [talk::text("So far")]);
    }
}

#[tokio::test]
async fn what_it_fails_with_has_a_code() {
    let failed = |status: Value, result: &str| json!([{"result": {"is_error": true, "api_error_status": status, "result": result}}, {"exits": 1}]);
    for (steps, code, part) in [
        (
            failed(json!(401), "Failed to authenticate. API Error: 401"),
            "brain_key_refused",
            "not logged in",
        ),
        (
            failed(Value::Null, "Not logged in · Please run /login"),
            "brain_key_refused",
            "not logged in",
        ),
        (
            failed(json!(429), "API Error: Request rejected (429)"),
            "brain_rate_limited",
            "wait",
        ),
        (
            failed(Value::Null, "Claude AI usage limit reached|1"),
            "brain_rate_limited",
            "wait",
        ),
        (
            failed(json!(529), "API Error: 529"),
            "brain_overloaded",
            "overloaded",
        ),
        (
            failed(json!(404), "There's an issue with the selected model"),
            "brain_not_found",
            "model",
        ),
        (
            failed(json!(400), "Prompt is too long"),
            "brain_prompt_too_long",
            "too long",
        ),
        (
            failed(json!(500), "API Error: 500 \u{1b}[31mx"),
            "brain_failed",
            "\\u{1b}[31mx",
        ),
        (
            json!([{"result": {"is_error": true, "result": format!("it is {PASS}")}}]),
            "brain_failed",
            "not shown",
        ),
        (
            json!([{"stderr": "error: unknown option '--tools'\n"}, {"exits": 1}]),
            "brain_failed",
            "unknown option",
        ),
        (
            json!([{"stderr": format!("{}end", "x".repeat(9_000))}, {"exits": 3}]),
            "brain_failed",
            "code 3",
        ),
        (json!([]), "brain_broke_off", "without a result"),
        (
            json!([{"says": ["half"]}]),
            "brain_broke_off",
            "without a result",
        ),
        (
            json!([{"raw": "{\"type\":\"resu"}]),
            "brain_broke_off",
            "without a result",
        ),
        (
            json!([{"shell": "kill -9 $$"}]),
            "brain_broke_off",
            "signal",
        ),
        (
            json!([{"raw": "(node:1) Warning: x\n"}]),
            "brain_bad_answer",
            "JSON was expected",
        ),
        (
            json!([{"line": [1]}]),
            "brain_bad_answer",
            "JSON was expected",
        ),
        (
            json!([{"line": {"type": "result", "is_error": "no"}}]),
            "brain_bad_answer",
            "a result",
        ),
        (
            json!([{"line": {"type": "stream_event"}}]),
            "brain_bad_answer",
            "stream_event",
        ),
        (
            json!([{"fills": FRAME_BYTES_MAX + 1}, {"stalls": true}]),
            "brain_answer_too_large",
            "one event",
        ),
    ] {
        let (found, message) = failure_of(steps.clone()).await;
        assert_eq!(found, code, "{steps}: {message}");
        assert!(message.contains(part), "{steps}: {message}");
        assert!(message.len() < 500, "{message}");
    }
}

#[tokio::test]
async fn one_that_does_not_stop_is_stopped() {
    let line = json!({"line": {"type": "system", "text": "x".repeat(FRAME_BYTES_MAX / 2)}});
    let count = STREAM_BYTES_MAX / (FRAME_BYTES_MAX / 2) + 1;
    let (code, message) = failure_of(Value::Array(vec![line; count])).await;
    assert_eq!(code, "brain_answer_too_large", "{message}");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let claude = ScriptedClaude::new(&json!([]));
    for program in ["/nonexistent/claude", "no-such-program-anywhere"] {
        let config = ClaudeConfig {
            program: PathBuf::from(program),
            ..config(&claude)
        };
        let error = ask_with(config, &prompt("hello")).await.0.unwrap_err();
        assert_eq!(error.code().as_str(), "brain_unreachable");
        assert!(
            error.message.contains(program) && error.message.contains("CLAUDE_EXE"),
            "{error}"
        );
    }
    let mut without = prompt("hello");
    without.pass = None;
    let error = ask_with(config(&claude), &without).await.0.unwrap_err();
    assert_eq!(error.code().as_str(), "brain_request_refused");
    assert!(claude.pid(1).is_none(), "nothing was started");
}

#[tokio::test]
async fn silence_ends_it() {
    let claude = ScriptedClaude::new(&json!([[{"says": ["Let me"]}, {"stalls": true}]]));
    let config = ClaudeConfig {
        silence_max: Duration::from_millis(300),
        ..config(&claude)
    };
    let (answer, events) = ask_with(config, &prompt("hello")).await;
    assert_eq!(answer.unwrap_err().code().as_str(), "brain_timed_out");
    assert_eq!(events, [talk::shown("Let me")]);
    assert!(!is_running(claude.pid(1).unwrap()));
}

async fn gone(pid: u32) {
    eventually("a process to be gone", || async {
        (!is_running(pid)).then_some(())
    })
    .await;
}

/// A shell that ends at nothing but SIGKILL, and has a child that does the same.
const STUBBORN: &str = "trap '' TERM; sh -c \"trap '' TERM; while :; do sleep 1; done\" & \
    echo $! > \"$HOME/child\"; while :; do sleep 1; done";

/// The leader and its child, when both are there.
async fn stubborn(claude: &ScriptedClaude) -> (u32, u32) {
    let file = claude.path().join("work/home/child");
    eventually("a child", || async {
        let child: u32 = std::fs::read_to_string(&file).ok()?.trim().parse().ok()?;
        Some((claude.pid(1)?, child))
    })
    .await
}

#[tokio::test]
async fn who_no_longer_waits_leaves_no_process_behind() {
    let claude = ScriptedClaude::new(&json!([[{"shell": STUBBORN}]]));
    let brain = ClaudeBrain::new(config(&claude)).unwrap();
    let prompt = prompt("hello");
    let mut ignore = |_| {};
    let (leader, child) = tokio::select! {
        answer = brain.answer(&prompt, &mut ignore) => panic!("{answer:?}"),
        pids = stubborn(&claude) => pids,
    };
    assert!(is_running(leader) && is_running(child));
    gone(leader).await;
    gone(child).await;
}

#[tokio::test]
async fn time_that_is_up_leaves_no_process_behind() {
    let claude = ScriptedClaude::new(&json!([[{"shell": STUBBORN}]]));
    let config = ClaudeConfig {
        silence_max: Duration::from_secs(2),
        ..config(&claude)
    };
    let prompt = prompt("hello");
    let (asked, (leader, child)) = tokio::join!(ask_with(config, &prompt), stubborn(&claude));
    assert_eq!(asked.0.unwrap_err().code().as_str(), "brain_timed_out");
    assert!(!is_running(leader), "before the answer");
    gone(child).await;
}

#[tokio::test]
async fn what_it_left_running_ends_with_a_good_answer_too() {
    let child = "trap '' TERM; while :; do sleep 1; done";
    let claude =
        ScriptedClaude::new(&json!([[{"child": child}, {"says": ["Hello."]}, {"result": {}}]]));
    ask(&claude).await.0.unwrap();
    let heard = claude.run(1).unwrap()["heard"][0]["child"]
        .as_u64()
        .unwrap();
    assert!(!is_running(claude.pid(1).unwrap()));
    gone(u32::try_from(heard).unwrap()).await;
}

#[tokio::test]
async fn a_long_text_is_told_while_it_already_speaks() {
    let claude = ScriptedClaude::new(&json!([[{"says": ["Hello."]}, {"result": {}}]]));
    let long = "x".repeat(300_000);
    let (answer, _) = ask_with(config(&claude), &prompt(&long)).await;
    answer.unwrap();
    assert!(
        claude.run(1).unwrap()["stdin"]
            .as_str()
            .unwrap()
            .contains(&long)
    );
}
