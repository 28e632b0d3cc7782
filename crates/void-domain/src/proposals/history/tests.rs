use serde_json::{Value, json};

use super::*;
use crate::digests::Digest;
use crate::facts::NewFact;
use crate::time::Timestamp;

fn fact(verb: &'static str, actor: &str, detail: Value) -> Fact {
    let new = NewFact {
        request_id: None,
        actor: actor.to_owned(),
        verb,
        subject: None,
        detail,
        catalogue: None,
        audience: None,
    };
    Fact::seal(new, 1, Timestamp::from_ms(5), Digest::ZERO).unwrap()
}

fn told(facts: &[Fact], is_by_file: bool) -> Vec<(Option<&'static str>, &'static str, String)> {
    let steps = history(facts, is_by_file).into_iter();
    steps
        .map(|step| (step.from.map(Status::as_str), step.to.as_str(), step.by))
        .collect()
}

#[test]
fn what_policy_approves_at_once_is_one_step_and_a_check_is_none() {
    let facts = [
        fact(
            "proposal.created",
            "agent-bot",
            json!({"status": "approved"}),
        ),
        fact(
            "proposal.approved",
            "policy",
            json!({"status": "approved", "by": "policy"}),
        ),
        fact(
            "proposal.started",
            "agent-bot",
            json!({"status": "running", "by": "system"}),
        ),
        fact(
            "proposal.executed",
            "system",
            json!({"status": "executed", "by": "system"}),
        ),
        fact("proposal.verified", "system", json!({"status": "executed"})),
        fact("notification.failed", "system", json!({})),
    ];
    let steps = [
        (None, "approved", "policy".to_owned()),
        (Some("approved"), "running", "system".to_owned()),
        (Some("running"), "executed", "system".to_owned()),
    ];
    assert_eq!(told(&facts, false), steps);
}

#[test]
fn entries_of_older_versions_name_who_took_the_step() {
    for (verb, actor, detail, is_by_file, by) in [
        (
            "proposal.created",
            "agent-bot",
            json!({"status": "pending"}),
            false,
            "agent-bot",
        ),
        (
            "proposal.created",
            "agent-bot",
            Value::Null,
            false,
            "agent-bot",
        ),
        (
            "proposal.approved",
            "owner-cli",
            json!({"approved_by": "owner-cli"}),
            false,
            "owner-cli",
        ),
        ("proposal.started", "owner-cli", json!({}), false, "system"),
        ("proposal.started", "system", json!({}), true, "file"),
        ("proposal.executed", "system", json!({}), true, "file"),
        ("proposal.failed", "system", json!({}), true, "file"),
        ("proposal.failed", "owner-cli", json!({}), true, "owner-cli"),
        ("proposal.executed", "system", json!({}), false, "system"),
        (
            "proposal.rejected",
            "owner-web",
            json!({}),
            false,
            "owner-web",
        ),
        ("proposal.expired", "owner-cli", json!({}), false, "system"),
        ("proposal.unknown", "owner-cli", json!({}), true, "system"),
        (
            "proposal.cancelled",
            "agent-bot",
            json!({"why": "withdrawn"}),
            false,
            "agent-bot",
        ),
        (
            "proposal.cancelled",
            "owner-cli",
            json!({"why": "restored"}),
            false,
            "system",
        ),
        ("proposal.refused", "agent-bot", json!({}), false, "policy"),
    ] {
        let steps = told(&[fact(verb, actor, detail)], is_by_file);
        let named: Vec<&str> = steps.iter().map(|(_, _, by)| by.as_str()).collect();
        assert_eq!(named, [by], "{verb} {actor}");
    }
}
