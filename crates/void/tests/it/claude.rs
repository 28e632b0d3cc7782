//! The built server with the `claude` program as its brain, from the settings to the answer.

use serde_json::json;
use void_testkit::claude::ScriptedClaude;
use void_testkit::models::{Format, ModelServer, Script};

use crate::lab::{Lab, OWNER};

const KEY: &str = "sk-ant-the-real-key-0123456789";

#[test]
fn an_agent_thinks_with_the_program_and_its_key_stays_in_the_server() {
    let question = json!({
        "model": "the-dearest", "max_tokens": 100, "stream": true,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
    });
    let claude = ScriptedClaude::new(&json!([[
        {"asks": {"body": question}}, {"calls": "list_actions"},
        {"says": ["Caddy ", "is down."]}, {"result": {}},
    ]]));
    let model = ModelServer::start(Format::Anthropic, [Script::says("hello").usage(100, 20)]);
    let lab = Lab::new();
    let (program, url) = (claude.program(), model.base_url());
    let _server = lab.serve(&[
        ("VOID_BRAIN", "claude"),
        ("VOID_MODEL", "scripted-1"),
        ("CLAUDE_EXE", program.to_str().unwrap()),
        ("ANTHROPIC_API_KEY", KEY),
        ("ANTHROPIC_BASE_URL", &url),
    ]);
    let asked = lab.void(&["chat", "-m", "what is wrong?"]);
    let said = String::from_utf8(asked.stdout).unwrap();
    let error = String::from_utf8(asked.stderr).unwrap();
    assert!(
        said.contains("Caddy is down."),
        "{said}\n{error}\n{}",
        lab.log()
    );
    let request = model.requests().pop().unwrap();
    assert_eq!(request["headers"]["x-api-key"], KEY);
    assert_eq!(request["body"]["model"], "scripted-1");
    let run = claude.run(1).unwrap();
    assert_eq!(run["heard"][0]["status"], 200, "{run}");
    // Its tools are those of `void mcp`, started by it with the turn's pass, and the turn shows it.
    let listed = &run["heard"][1][1]["result"]["structuredContent"]["actions"];
    assert_eq!(listed[2]["id"], "safe-one", "{run}");
    assert!(said.contains("✓ list_actions"), "{said}");
    let whole = run.to_string();
    for secret in [KEY, OWNER] {
        assert!(!whole.contains(secret), "{whole}");
        assert!(!lab.log().contains(secret));
    }
    assert_eq!(run["stdin"], "The owner says:\n\nwhat is wrong?\n");
}

#[test]
fn without_a_key_or_a_login_it_does_not_start() {
    let lab = Lab::new();
    let mut server = lab.serve(&[("VOID_BRAIN", "claude")]);
    assert_eq!(server.has_ended().unwrap().code(), Some(3), "{}", lab.log());
    assert!(
        lab.log().contains("thinks with claude and has no key"),
        "{}",
        lab.log()
    );
}
