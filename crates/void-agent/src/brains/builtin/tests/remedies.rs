//! A lab in which one thing has a safe remedy, one a risky one, and one was stopped by the owner.

use serde_json::{Map, Value, json};

use super::{hers, owners, play, play_after};

const NOW: &str = "2026-11-16T20:00:00.000Z";

struct Lab {
    photos: &'static str,
    hello: &'static str,
    cooling: Option<&'static str>,
    waiting: Value,
}

const BOTH_DOWN: Lab = Lab {
    photos: "down",
    hello: "down",
    cooling: None,
    waiting: Value::Null,
};

impl Lab {
    fn tool(&self, tool: &str, arguments: &Map<String, Value>) -> Value {
        match tool {
            "service_status" => json!({"at": NOW, "services": [
                {"id": "photos", "label": "Photos", "status": self.photos, "reason": "refused"},
                {"id": "hello", "label": "Hello", "status": self.hello, "reason": "refused"},
                {"id": "iventoy", "label": "iVentoy", "status": "down", "reason": "refused", "runs_on": "107 on pve1",
                 "stopped_by_owner_at": "2026-11-16T19:10:00.000Z"},
            ]}),
            "list_actions" => json!({"at": NOW, "actions": [
                {"id": "restart-photos", "label": "Restart Photos", "tier": "safe", "op": "restart", "target": "host:local/photos",
                 "confirmed_by": "photos", "cooling_until": self.cooling},
                {"id": "restart-hello", "label": "Restart Hello", "tier": "risky", "op": "restart", "target": "host:local/hello", "confirmed_by": "hello"},
                {"id": "stop-ct107", "label": "Stop iVentoy", "tier": "risky", "op": "stop", "target": "guest:pve1/107", "guest": "CT 107", "inverse": "start-ct107"},
                {"id": "start-ct107", "label": "Start iVentoy", "tier": "safe", "op": "start", "target": "guest:pve1/107", "guest": "CT 107"},
            ]}),
            "recent_activity" => {
                json!({"at": NOW, "waiting": self.waiting, "ended": [], "record": []})
            }
            "propose_action" if arguments["action_id"] == json!("restart-hello") => {
                json!({"outcome": "queued", "display_state": "waiting", "code": "M14M", "meaning": "It waits."})
            }
            "propose_action" => {
                json!({"outcome": "refused", "display_state": "refused", "reason": "cooling_down", "until": "2026-11-16T23:54:00.000Z", "meaning": "."})
            }
            "withdraw_proposal" => {
                json!({"outcome": "refused", "display_state": "withdrawn", "code": "M14M", "meaning": "It was withdrawn."})
            }
            _ => {
                json!({"outcome": "queued", "display_state": "waiting", "label": "Restart Hello", "code": "M14M"})
            }
        }
    }

    fn hear(&self, said: &str) -> (Vec<String>, String) {
        play(said, true, |tool, arguments| self.tool(tool, arguments))
    }
}

#[test]
fn a_risky_remedy_is_offered_as_what_it_is() {
    let lab = Lab {
        photos: "up",
        ..BOTH_DOWN
    };
    for said in ["why is hello down?", "hello is down", "what is wrong?"] {
        let (calls, text) = lab.hear(said);
        assert!(
            text.ends_with("Shall I ask for `restart-hello`? It waits for your yes then."),
            "{said}: {text}"
        );
        assert!(
            calls.iter().all(|call| !call.starts_with("propose")),
            "{calls:?}"
        );
        let before = [owners(said), hers(&text)];
        let tools = |tool: &str, arguments: &Map<String, Value>| lab.tool(tool, arguments);
        let (calls, text) = play_after(&before, "yes", true, tools);
        assert_eq!(calls, ["list_actions", "propose_action restart-hello"]);
        assert!(text.contains("It waits for your yes: **M14M**."), "{text}");
        let (calls, _) = play_after(&before, "no", true, tools);
        assert!(calls.is_empty(), "{calls:?}");
    }
}

#[test]
fn a_safe_and_a_risky_remedy_are_offered_together() {
    let (_, text) = BOTH_DOWN.hear("what is wrong?");
    assert!(
        text.contains("`restart-hello` would wait for your yes.")
            && text.ends_with("Which one do you mean: `restart-photos`, `restart-hello`, or both?"),
        "{text}"
    );
    assert!(!text.contains("iVentoy"), "{text}");
    let before = [owners("what is wrong?"), hers(&text)];
    let done = |tool: &str, arguments: &Map<String, Value>| match tool {
        "propose_action" if arguments["action_id"] == json!("restart-photos") => {
            json!({"outcome": "executed", "display_state": "verified", "verification": "verified", "code": "AAAA"})
        }
        _ => BOTH_DOWN.tool(tool, arguments),
    };
    let (calls, _) = play_after(&before, "both", true, done);
    assert_eq!(
        calls[1..],
        [
            "propose_action restart-photos",
            "propose_action restart-hello"
        ]
    );
}

#[test]
fn what_waits_already_is_named_and_not_offered() {
    let waiting = json!([{"code": "YH1K", "action_id": "restart-hello", "label": "Restart Hello", "asked_by": "nightly"}]);
    let lab = Lab {
        photos: "up",
        waiting,
        ..BOTH_DOWN
    };
    let (_, text) = lab.hear("why is hello down?");
    assert!(
        text.contains("waits for your yes already: **YH1K**"),
        "{text}"
    );
    assert!(!text.ends_with("yes then."), "{text}");
    let before = [owners("why is hello down?"), hers(&text)];
    let tools = |tool: &str, arguments: &Map<String, Value>| lab.tool(tool, arguments);
    let (calls, text) = play_after(&before, "yes", true, tools);
    assert_eq!(calls, ["proposal_status"]);
    assert!(text.contains("`void inbox approve YH1K`"), "{text}");
    // It is somebody else's: a no leaves it.
    for said in ["no", "cancel that", "reject it", "cancel YH1K"] {
        let (calls, text) = play_after(&before, said, true, tools);
        assert!(
            calls
                .iter()
                .all(|call| call != "withdraw_proposal" && !call.starts_with("propose")),
            "{said}: {text}"
        );
    }
}

#[test]
fn what_the_owner_stopped_is_no_worry() {
    let lab = Lab {
        photos: "up",
        hello: "up",
        ..BOTH_DOWN
    };
    let (_, text) = lab.hear("what is wrong?");
    assert!(text.starts_with("Nothing is wrong"), "{text}");
    assert!(text.contains("- iVentoy is stopped by you"), "{text}");
    assert!(!text.contains("Shall I"), "{text}");
    for said in ["why is iventoy down?", "is iventoy up?"] {
        let (_, text) = lab.hear(said);
        assert!(
            text.contains("is stopped by you, since ") && !text.contains("process"),
            "{said}: {text}"
        );
        assert!(
            text.ends_with("Shall I run `start-ct107`?"),
            "{said}: {text}"
        );
    }
}

#[test]
fn what_is_cooling_down_is_told_with_its_time_and_not_offered() {
    let lab = Lab {
        hello: "up",
        cooling: Some("2026-11-16T20:14:00.000Z"),
        ..BOTH_DOWN
    };
    let (_, text) = lab.hear("why is photos down?");
    assert!(
        text.contains("cooling down: again from ") && text.contains(":14"),
        "{text}"
    );
    assert!(!text.contains("Shall I"), "{text}");
    let (_, text) = lab.hear("restart photos");
    assert!(
        text.contains("It did not run (cooling down): again from ") && text.contains(":54"),
        "{text}"
    );
    // Nearer than two minutes it is counted: a clock without seconds would say that it is over.
    let soon = Lab {
        cooling: Some("2026-11-16T20:00:23.000Z"),
        ..lab
    };
    let (_, text) = soon.hear("why is photos down?");
    assert!(text.contains("is cooling down: again in 23 s."), "{text}");
}

#[test]
fn half_an_order_is_never_acted_on() {
    for said in [
        "restart photos and hello",
        "restart photos, hello",
        "restart photos hello",
        "restart photos & hello",
        "restart hello, photos",
        "please restart photos and hello now",
    ] {
        let (calls, text) = BOTH_DOWN.hear(said);
        assert!(
            calls.iter().all(|call| !call.starts_with("propose")),
            "{said}: {text}"
        );
        assert!(text.ends_with("or both?"), "{said}: {text}");
    }
    for said in ["hello, restart photos", "Hello! restart photos"] {
        let (calls, text) = BOTH_DOWN.hear(said);
        assert!(
            calls.contains(&"propose_action restart-photos".to_owned()),
            "{said}: {text}"
        );
    }
}

#[test]
fn examples_are_of_this_lab() {
    for said in ["hi", "colourless green ideas sleep"] {
        let (_, text) = BOTH_DOWN.hear(said);
        assert!(
            text.contains("*restart photos*") && !text.contains("caddy"),
            "{said}: {text}"
        );
    }
}
