//! What she tells of a day on which much happened: what was asked for, newest first, and how much is left out.

use serde_json::{Map, Value, json};

use super::{lab, play};

/// Fourteen refusals after four runs, one of which the owner said yes to, and something that waits.
fn busy(tool: &str, arguments: &Map<String, Value>) -> Value {
    if tool != "recent_activity" {
        return lab(tool, arguments);
    }
    let row = |code: String, status: &str, shown: &str, by: &str, minute: u32| {
        json!({"code": code, "action_id": "restart-caddy", "label": "Restart Caddy", "status": status,
            "display_state": shown, "asked_by": "little-blue", "decided_by": by,
            "asked_at": format!("2026-11-16T12:{minute:02}:00.000Z"),
            "ended_at": format!("2026-11-16T12:{minute:02}:01.000Z")})
    };
    let refusals =
        (0..14).map(|n| row(format!("REF{n:02}"), "refused", "refused", "policy", 50 - n));
    let runs = (0..4).map(|n| {
        let by = if n == 2 { "owner-web" } else { "policy" };
        row(format!("RAN{n}"), "executed", "verified", by, 30 - n)
    });
    let wants_runs = arguments.get("ended") == Some(&json!("ran"));
    let ended: Vec<Value> = match wants_runs {
        true => runs.collect(),
        // The list that ends before the last two runs.
        false => refusals.chain(runs.take(2)).collect(),
    };
    json!({"at": "2026-11-16T13:00:00.000Z", "running": [], "ended": ended, "more": !wants_runs,
        "waiting": [{"code": "7F3K", "action_id": "stop-ct107", "label": "Stop iVentoy", "status": "pending",
            "display_state": "waiting", "asked_by": "little-blue", "asked_at": "2026-11-16T12:55:00.000Z"}],
        "record": [{"at": "2026-11-16T12:58:00.000Z", "verb": "service.changed", "actor": "system",
            "service": "caddy", "from": "up", "status": "down"}]})
}

#[test]
fn what_ran_is_told_however_much_was_refused_since() {
    for said in [
        "what did you do today?",
        "what ran today?",
        "was hast du heute gemacht?",
    ] {
        let (calls, text) = play(said, true, busy);
        for code in ["RAN0", "RAN1", "RAN2", "RAN3"] {
            assert!(text.contains(code), "{said}: {text}");
        }
        assert!(!text.contains("REF"), "{said}: {text}");
        assert!(text.contains("1 waiting"), "{said}: {text}");
        assert!(calls.len() <= 3, "{calls:?}");
    }
}

#[test]
fn everything_is_newest_first_and_the_rest_is_counted() {
    let (_, text) = play("what happened today?", true, busy);
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("- ")).collect();
    assert_eq!(lines.len(), 11, "{text}");
    assert!(
        lines[0].ends_with("caddy changed from up to down, as its check saw"),
        "{text}"
    );
    assert!(lines[1].contains("**7F3K**"), "{text}");
    assert_eq!(lines[10], "- and at least 8 more, older than these");
    let mut times: Vec<&str> = lines[..10].iter().map(|line| &line[..22]).collect();
    let told = times.clone();
    times.sort_unstable();
    times.reverse();
    assert_eq!(told, times);
}

#[test]
fn as_many_are_told_as_are_asked_for() {
    let count = |said: &str| {
        let (_, text) = play(said, true, busy);
        text.lines()
            .filter(|line| line.starts_with("- 2026"))
            .count()
    };
    assert_eq!(count("show me the last 5 actions"), 5);
    assert_eq!(count("zeig mir die letzten drei aktionen"), 3);
    // At the limit, past it, and where the number counts hours.
    assert_eq!(count("show me the last 20 actions"), 17);
    assert_eq!(count("show me the last 21 actions"), 10);
    assert_eq!(count("summarize the last 24 hours"), 10);
}

#[test]
fn who_approved_what_is_told_and_what_policy_let_through_is_not() {
    let (_, text) = play("who approved what today?", true, busy);
    assert!(
        text.contains("owner (web) said yes to Restart Caddy"),
        "{text}"
    );
    assert!(text.contains("RAN2") && !text.contains("RAN1"), "{text}");
    let nobody = |tool: &str, arguments: &Map<String, Value>| {
        let mut told = busy(tool, arguments);
        if let Some(ended) = told.get_mut("ended").and_then(Value::as_array_mut) {
            ended.retain(|row| row["decided_by"] == "policy");
        }
        told
    };
    let (_, text) = play("who approved what today?", true, nobody);
    assert!(text.contains("nobody said yes to anything"), "{text}");
}
