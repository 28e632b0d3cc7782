use serde_json::{Map, Value, json};

use super::{Next, next};
use crate::brains::{Arguments, Block, Message, Prompt, ToolCall, ToolResult, ToolSpec};

/// Plays a turn against fixed tools; the calls it made and what it said.
fn play(
    said: &str,
    may_act: bool,
    tools: impl Fn(&str, &Map<String, Value>) -> Value,
) -> (Vec<String>, String) {
    let names = [
        "service_status",
        "list_actions",
        "propose_action",
        "proposal_status",
    ];
    let spec = |name: &&str| ToolSpec {
        name: (*name).to_owned(),
        description: String::new(),
        schema: json!({}),
    };
    let offered = names
        .iter()
        .filter(|name| may_act || **name != "propose_action");
    let mut prompt = Prompt {
        system: String::new(),
        messages: vec![Message::User(said.to_owned())],
        tools: offered.map(spec).collect(),
        output_tokens_max: 100,
        ..Prompt::default()
    };
    let mut calls = Vec::new();
    for round in 0..6 {
        match next(&prompt) {
            Next::Say(text) => return (calls, text),
            Next::Use { tool, arguments } => {
                let result = tools(tool, &arguments);
                let named = arguments.get("action_id").and_then(Value::as_str);
                calls.push(named.map_or(tool.to_owned(), |id| format!("{tool} {id}")));
                let id = format!("call-{round}");
                prompt
                    .messages
                    .push(Message::Assistant(vec![Block::ToolCall(ToolCall {
                        id: id.clone(),
                        name: tool.to_owned(),
                        arguments: Arguments::Object(arguments),
                    })]));
                prompt.messages.push(Message::ToolResults(vec![ToolResult {
                    call_id: id,
                    content: result.to_string(),
                    is_error: false,
                }]));
            }
        }
    }
    panic!("{said}: it never comes to an end: {calls:?}");
}

fn lab(tool: &str, arguments: &Map<String, Value>) -> Value {
    match tool {
        "service_status" => json!({"services": [
            {"id": "caddy", "label": "Caddy", "status": "down", "reason": "refused", "actions": ["restart-caddy"]},
            {"id": "grafana", "label": "Grafana", "status": "up", "actions": []},
        ]}),
        "list_actions" => json!({"actions": [
            {"id": "restart-caddy", "label": "Restart Caddy", "tier": "safe", "target": "local/caddy", "confirmed_by": "caddy"},
            {"id": "stop-ct107", "label": "Stop iVentoy", "tier": "risky", "target": "guest:z/107"},
            {"id": "start-ct107", "label": "Start iVentoy", "tier": "safe", "target": "guest:z/107"},
            {"id": "reboot-ct100", "label": "Reboot the media stack", "tier": "risky", "target": "guest:z/100"},
        ]}),
        "propose_action" if arguments["action_id"] == json!("stop-ct107") => {
            json!({"outcome": "queued", "code": "7F3K", "meaning": "It waits."})
        }
        "propose_action" => {
            json!({"outcome": "executed", "code": "AAAA", "verification": "verified", "meaning": "It ran."})
        }
        _ => {
            json!({"outcome": "executed", "label": "Stop iVentoy", "code": "7F3K", "verification": "verified"})
        }
    }
}

#[test]
fn everyday_sentences_do_what_they_say() {
    for (said, last_call, heard) in [
        (
            "what is wrong?",
            "propose_action restart-caddy",
            "confirmed",
        ),
        (
            "What's broken?",
            "propose_action restart-caddy",
            "confirmed",
        ),
        (
            "is anything down",
            "propose_action restart-caddy",
            "confirmed",
        ),
        ("restart caddy", "propose_action restart-caddy", "confirmed"),
        (
            "could you please restart Cady?",
            "propose_action restart-caddy",
            "confirmed",
        ),
        ("stop iventoy", "propose_action stop-ct107", "7F3K"),
        (
            "shut down iVentoy, please",
            "propose_action stop-ct107",
            "7F3K",
        ),
        ("start iventoy", "propose_action start-ct107", "confirmed"),
        (
            "restart the media stack",
            "propose_action reboot-ct100",
            "confirmed",
        ),
        ("why is caddy down?", "service_status", "Nothing listens"),
        ("is grafana up?", "service_status", "Grafana is up"),
        ("how is everything", "service_status", "Grafana is up"),
        ("what can you do?", "list_actions", "rule brain"),
    ] {
        let (calls, text) = play(said, true, lab);
        assert_eq!(
            calls.last().map(String::as_str),
            Some(last_call),
            "{said}: {text}"
        );
        assert!(text.contains(heard), "{said}: {text}");
    }
}

#[test]
fn without_the_right_to_act_it_only_looks() {
    for said in ["what is wrong?", "restart caddy", "stop iventoy"] {
        let (calls, text) = play(said, false, lab);
        assert!(
            !calls.iter().any(|call| call.contains("propose")),
            "{said}: {calls:?}"
        );
        assert!(text.contains("I may only look"), "{said}: {text}");
    }
}

#[test]
fn what_it_does_not_understand_and_what_is_not_its_to_do_it_says() {
    for said in [
        "sing me a song",
        "restart nextcloud",
        "approve 7F3K",
        "yes, go ahead and approve it",
        "",
    ] {
        let (calls, text) = play(said, true, lab);
        assert!(
            !calls.iter().any(|call| call.contains("propose")),
            "{said}: {calls:?}"
        );
        assert!(!text.is_empty(), "{said}");
    }
}

/// It never says more than the tool did.
#[test]
fn it_does_not_call_done_what_was_not_confirmed() {
    for (outcome, verification) in [
        ("executed", "unverified"),
        ("executed", "failed"),
        ("running", ""),
        ("unknown", ""),
        ("refused", ""),
    ] {
        let tools = |tool: &str, arguments: &Map<String, Value>| match tool {
            "propose_action" => {
                json!({"outcome": outcome, "verification": verification, "code": "AAAA", "meaning": "."})
            }
            _ => lab(tool, arguments),
        };
        for said in ["restart caddy", "what is wrong?"] {
            let (_, text) = play(said, true, tools);
            assert!(
                !text.contains("check confirmed") && !text.contains("Done"),
                "{outcome} {verification}: {text}"
            );
        }
    }
}
