use serde_json::{Value, json};

use super::*;
use crate::digests::Digest;
use crate::facts::NewFact;

const PROPOSAL: &str = "01a1eedc-8e29-73c7-a469-0bf3318d04cc";

fn fact(verb: &str, subject: Option<&str>, detail: &Value) -> Fact {
    let new = NewFact {
        request_id: None,
        actor: "system".to_owned(),
        verb: "",
        subject: subject.map(str::to_owned),
        detail: detail.clone(),
        catalogue: None,
        audience: Some(Audience::OwnerOnly),
    };
    let fact = Fact::seal(new, 9, Timestamp::from_ms(0), Digest::ZERO).unwrap();
    Fact {
        verb: verb.to_owned(),
        ..fact
    }
}

fn heard(fact: &Fact) -> Value {
    let event = told(fact).unwrap().unwrap();
    serde_json::from_str(&event.payload.to_json()).unwrap()
}

const AT: &str = "1970-01-01T00:00:00.000Z";
const UNTIL: &str = "1970-01-01T01:00:00.000Z";

/// A verb, what its entry is about, the detail, and what listeners hear.
type Example = (&'static str, Option<&'static str>, Value, Value);

/// An entry of each verb that is told, with what else its detail says.
fn examples() -> Vec<Example> {
    [
        services_and_turns(),
        freezes_and_access(),
        mutes_and_nodes(),
        agents(),
        messages(),
        questions(),
        entities(),
        proposals(),
    ]
    .concat()
}

fn proposals() -> Vec<Example> {
    let step = json!({
        "code": "AB12", "action_id": "restart-a", "label": "Restart A", "tier": "risky", "risk": "guarded",
        "status": "executed", "verification": "verified", "revision": 2, "waited_ms": 7,
        "params": {"image": "x"}, "reason": "words", "result": {"stdout": "secret"}, "by": "system",
        "requested_by": "bot",
    });
    let heard = json!({
        "id": PROPOSAL, "code": "AB12", "subject": "action", "action_id": "restart-a", "label": "Restart A",
        "tier": "risky", "risk": "guarded", "status": "executed", "verification": "verified", "revision": 2,
        "at": AT, "waited_ms": 7,
    });
    let kinds = EventKind::ALL
        .into_iter()
        .filter(|kind| kind.is_of_proposal());
    kinds
        .flat_map(EventKind::verbs)
        .map(|verb| (*verb, Some(PROPOSAL), step.clone(), heard.clone()))
        .collect()
}

fn questions() -> Vec<Example> {
    let example = |verb: &'static str, status: &str| {
        let asked = json!({
            "code": "Q-AB12", "asker": "alice", "asked": "owner", "status": status, "reason": "words",
            "taint": ["page"],
        });
        let heard = json!({
            "id": PROPOSAL, "code": "Q-AB12", "asker": "alice", "asked": "owner", "status": status, "at": AT,
        });
        (verb, Some(PROPOSAL), asked, heard)
    };
    vec![
        example("question.asked", "open"),
        example("question.answered", "answered"),
        example("question.cancelled", "cancelled"),
        example("question.expired", "expired"),
    ]
}

fn services_and_turns() -> Vec<Example> {
    let turn = json!({"agent": "blue", "conversation_id": "c", "failure": null, "usage": {}, "tainted_by": ["x"]});
    let turn_heard = json!({"message_id": "m", "conversation_id": "c", "agent": "blue", "at": AT});
    let failed = json!({"agent": "blue", "conversation_id": "c", "failure": "timeout"});
    let failed_heard = json!({"message_id": "m", "conversation_id": "c", "agent": "blue", "at": AT, "code": "timeout"});
    let service =
        json!({"label": "Web", "from": "up", "status": "down", "detail": {"answer": "bad"}});
    let service_heard = json!({
        "id": "web", "label": "Web", "from": "up", "status": "down", "at": AT, "detail": {"answer": "bad"},
    });
    vec![
        (
            "service.changed",
            Some("service:web"),
            service,
            service_heard,
        ),
        ("turn.started", Some("m"), turn.clone(), turn_heard.clone()),
        ("turn.finished", Some("m"), turn, turn_heard),
        ("turn.failed", Some("m"), failed, failed_heard),
    ]
}

fn freezes_and_access() -> Vec<Example> {
    let frozen = json!({"frozen": true, "by": "agent-bot", "reason": "words", "until": null});
    let frozen_heard = json!({"frozen": true, "by": "agent-bot", "reason": null, "until": null});
    let held = json!({"frozen": true, "by": "owner-cli", "reason": "mine", "until": UNTIL});
    let ended = json!({"count": 3, "because": "x"});
    vec![
        ("freeze.set", None, frozen, frozen_heard),
        ("freeze.lengthened", None, held.clone(), held),
        (
            "freeze.lifted",
            None,
            json!({"frozen": false}),
            json!({"frozen": false}),
        ),
        ("token.revoked", Some("t"), json!({}), json!({"token": "t"})),
        (
            "session.closed",
            Some("s"),
            json!({}),
            json!({"session": "s"}),
        ),
        (
            "session.revoked",
            Some("s"),
            json!({}),
            json!({"session": "s"}),
        ),
        ("session.others_ended", None, ended, json!({"sessions": 3})),
        (
            "quarantine.set",
            None,
            json!({"quarantined": 4}),
            json!({"quarantine": true}),
        ),
    ]
}

fn agents() -> Vec<Example> {
    let verbs = EventKind::AgentChanged.verbs().iter();
    verbs
        .map(|&verb| {
            let detail = json!({"name": "alice", "why": "signal 9 ended it", "log": "words"});
            let heard =
                json!({"name": "alice", "what": verb, "why": "signal 9 ended it", "at": AT});
            (verb, Some("019d4f00"), detail, heard)
        })
        .collect()
}

fn messages() -> Vec<Example> {
    let detail = json!({"from": "alice", "to": "bob", "kind": "text", "sha256": "d", "bytes": 5, "text": "words", "taint": ["page"]});
    let heard = json!({"id": PROPOSAL, "from": "alice", "to": "bob", "kind": "text", "at": AT});
    vec![("message.sent", Some(PROPOSAL), detail, heard)]
}

fn mutes_and_nodes() -> Vec<Example> {
    let failed = json!({"notification": "n", "target": "ntfy", "why": "x"});
    let failed_heard = json!({"notification": "n", "target": "ntfy", "why": "x", "proposal_id": PROPOSAL, "at": AT});
    let mut all = vec![("notification.failed", Some(PROPOSAL), failed, failed_heard)];
    for verb in EventKind::NodeChanged.verbs() {
        let heard = json!({"name": "n1", "what": verb, "at": AT});
        all.push((verb, Some("node:n1"), json!({"fingerprint": "x"}), heard));
    }
    for verb in EventKind::MuteChanged.verbs() {
        let mute =
            json!({"mute": "u", "subject": "service:web", "until": UNTIL, "reason": "words"});
        let heard =
            json!({"mute": "u", "subject": "service:web", "what": verb, "until": UNTIL, "at": AT});
        all.push((verb, Some("service:web"), mute, heard));
    }
    all
}

fn entities() -> Vec<Example> {
    let (id, space) = (PROPOSAL, "01a1eedc-8e29-73c7-a469-0bf3318d0000");
    let mut all = Vec::new();
    for kind in EntityKind::ALL {
        let event = EventKind::of_verb(&format!("{kind}.changed")).unwrap();
        for verb in event.verbs() {
            let said = json!({"kind": kind, "space_id": space, "revision": 2, "title_bytes": 5, "reason": "words"});
            let heard = json!({"kind": kind, "id": id, "space_id": space, "what": verb, "revision": 2, "at": AT});
            all.push((*verb, Some(id), said, heard));
        }
    }
    all
}

#[test]
fn listeners_hear_the_members_of_the_contract_and_nothing_else_of_an_entry() {
    let examples = examples();
    for kind in EventKind::ALL {
        for verb in kind.verbs() {
            let example = examples.iter().find(|(of, ..)| of == verb);
            let (_, subject, detail, expected) = example.unwrap_or_else(|| panic!("{verb}"));
            let fact = fact(verb, *subject, detail);
            assert_eq!(heard(&fact), *expected, "{verb}");
            assert_eq!(told(&fact).unwrap().unwrap().kind, kind);
        }
    }
}

#[test]
fn nobody_hears_an_entry_without_an_audience_or_with_a_verb_of_another_version() {
    let untold = Fact {
        audience: None,
        ..fact("token.revoked", Some("t"), &json!({}))
    };
    assert_eq!(told(&untold), Ok(None));
    for verb in [
        "",
        "proposal",
        "proposal.postponed",
        "incident.opened",
        "backup.created",
    ] {
        assert_eq!(told(&fact(verb, Some("t"), &json!({}))), Ok(None), "{verb}");
    }
}

#[test]
fn an_entry_that_does_not_say_what_its_event_tells_is_named() {
    for (verb, subject, detail, _) in examples() {
        let needs_detail = !matches!(
            EventKind::of_verb(verb),
            Some(EventKind::NodeChanged | EventKind::AccessRevoked)
        );
        for (subject, detail) in [(subject, json!([])), (None, detail)] {
            let damaged = fact(verb, subject, &detail);
            if needs_detail && detail == json!([]) {
                let named = told(&damaged).unwrap_err();
                assert_eq!((named.seq, named.verb.as_str()), (9, verb));
            } else {
                // With or without its subject, it is an event or an error and never a guess.
                let _ = told(&damaged);
            }
        }
    }
    let other = fact("proposal.created", Some("not an id"), &proposals()[0].2);
    assert!(told(&other).is_err());
}

#[test]
fn every_verb_is_one_event_and_every_step_of_a_proposal_has_its_own() {
    for kind in EventKind::ALL {
        for verb in kind.verbs() {
            assert_eq!(EventKind::of_verb(verb), Some(kind));
        }
        let noun = kind.as_str().split_once('.').map(|(noun, _)| noun);
        assert_eq!(kind.is_of_proposal(), noun == Some("proposal"), "{kind:?}");
        // What is done to a request from above moves it nowhere, and is one event.
        if kind.is_of_proposal() && kind != EventKind::ProposalHeld {
            assert_eq!(kind.verbs(), [kind.as_str()]);
        }
    }
}
