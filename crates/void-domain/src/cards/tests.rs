//! I35: what the digest binds can be read on the card, and nothing that the requester chose can be missing
//! from its sentence.

use serde_json::{Value, json};

use super::*;
use crate::catalogue::{Catalogue, Lockout};
use crate::proposals::{ProposedAction, SubjectKind};

fn deploy() -> Value {
    json!({
        "hosts": {"ct100": "192.168.1.230"},
        "actions": [{
            "id": "deploy-grafana", "label": "Deploy Grafana", "kind": "deploy_service", "node": "n1",
            "service": "grafana", "tier": "risky", "inverse": "roll-back-grafana", "timeout_s": 90, "cooldown_s": 5,
            "max_per_hour": 7, "expires_s": 600, "agents": ["little-blue", "nightly"], "verify": {"service": "grafana"},
            "params": {"image": {"type": "pattern", "pattern": "^[a-z0-9./:-]+$", "max_len": 90}}
        }, {
            "id": "roll-back-grafana", "label": "Roll back", "kind": "rollback", "node": "n1", "service": "grafana",
            "tier": "risky"
        }]
    })
}

fn subject(catalogue: &Value, params: Value) -> Subject {
    let catalogue = Catalogue::parse(&catalogue.to_string(), &Lockout::default()).unwrap();
    let action = catalogue.actions().next().unwrap();
    let checked = action.params.check(&params).unwrap();
    Subject {
        label: action.label.clone(),
        tier: action.tier,
        risk: action.risk,
        target: action.execution.kind.target(),
        digest: action.digest_with(&checked).unwrap(),
        kind: SubjectKind::Action(ProposedAction {
            action_id: action.id.clone(),
            definition: action.definition().clone(),
            execution: Some(action.execution.clone()),
            params,
            exec_digest: action.exec_digest(),
        }),
    }
}

/// What a stored definition of this action does; `h` is a host here.
fn execution(action: Value) -> Option<Execution> {
    let host = match action.get("kind").and_then(Value::as_str) {
        Some("service_restart") => json!({"name": "h", "address": "local"}),
        _ => Value::Null,
    };
    Execution::from_definition(&json!({"action": action, "host": host}))
}

const EVIL: &str = "registry.evil.example/backdoor:1";

#[test]
fn what_is_chosen_is_part_of_the_sentence() {
    let evil = subject(&deploy(), json!({"image": EVIL}));
    let said = format!("deploys grafana with image {EVIL} on n1");
    assert_eq!(consequence(&evil), said);
    let mut scale = evil.clone();
    scale.action_mut().unwrap().execution =
        execution(json!({"kind": "scale", "node": "n1", "service": "web"}));
    scale.action_mut().unwrap().params = json!({"pool": "a b\", and nothing else", "replicas": 3});
    assert_eq!(
        consequence(&scale),
        "changes how many copies of web run on n1 with pool \"a b\\\", and nothing else\" and replicas 3"
    );
    // Spaces have many shapes, and letters of other alphabets look like ours: all of it is in quotes.
    for space in [
        "\u{a0}", "\u{2003}", "\u{3000}", "\u{2800}", "\t", "'", "(", "\u{430}",
    ] {
        let value = format!("ok{space}and n 10{space}on{space}test");
        scale.action_mut().unwrap().params = json!({"image": value, "n": 3});
        let said = consequence(&scale);
        let (_, rest) = said
            .split_once("with image \"")
            .unwrap_or_else(|| panic!("{said}"));
        assert!(rest.ends_with("test\" and n 3"), "{said}");
    }
    // Whatever the kind is.
    for kind in [
        "service_restart",
        "guest_power",
        "deploy_service",
        "restart_service",
        "rollback",
        "scale",
        "new",
    ] {
        for op in ["start", "stop", "shutdown", "reboot", "other"] {
            scale.action_mut().unwrap().execution = execution(
                json!({"kind": kind, "op": op, "node": "n1", "service": "web", "host": "h", "vmid": 107}),
            );
            let is_known = kind != "new" && (kind != "guest_power" || op != "other");
            assert_eq!(scale.execution().is_some(), is_known, "{kind} {op}");
            scale.action_mut().unwrap().params = json!({"image": EVIL});
            let said = consequence(&scale);
            assert!(
                said.contains(&format!("with image {EVIL}")),
                "{kind} {op}: {said}"
            );
        }
    }
}

/// Whatever a yes can do can also be told when it is over; a verb without a past would read as present.
#[test]
fn every_consequence_has_a_past() {
    let mut subject = subject(&deploy(), json!({"image": EVIL}));
    for kind in [
        "service_restart",
        "guest_power",
        "deploy_service",
        "restart_service",
        "rollback",
        "scale",
        "new",
    ] {
        for op in ["start", "stop", "shutdown", "reboot"] {
            subject.action_mut().unwrap().execution = execution(
                json!({"kind": kind, "op": op, "node": "n1", "service": "web", "host": "h", "vmid": 107}),
            );
            assert_eq!(subject.execution().is_some(), kind != "new", "{kind} {op}");
            let now = consequence(&subject);
            let then = past(&now);
            assert_ne!(now.split(' ').next(), then.split(' ').next(), "{now}");
            assert!(!then.contains("; ") && then.contains(EVIL), "{then}");
        }
    }
    assert_eq!(
        past("shuts down CT 107 on z; it stays off until it is started"),
        "shut down CT 107 on z"
    );
}

/// Issue 7.5: the card says what checks it, for every kind, and promises no check that does not come.
#[test]
fn what_is_looked_at_afterwards_is_told_for_every_kind() {
    let nothing = "Nothing looks afterwards; it will end as “not confirmed”.";
    let said = |action: Value| checked_by(execution(action).as_ref());
    for (op, state) in [
        ("start", "runs"),
        ("reboot", "runs"),
        ("stop", "is stopped"),
        ("shutdown", "is stopped"),
    ] {
        let power =
            json!({"kind": "guest_power", "op": op, "vmid": 107, "node": "pve1", "guest": "lxc"});
        let asked = format!("Proxmox is asked afterwards whether CT 107 {state}.");
        assert_eq!(said(power.clone()), asked);
        // A service that is named decides, also for a guest.
        let mut named = power.clone();
        named["verify"] = json!({"service": "web"});
        let wanted = if state == "runs" { "up" } else { "down" };
        assert_eq!(
            said(named),
            format!("Void looks afterwards whether web is {wanted}.")
        );
        let mut machine = power;
        machine["guest"] = json!("qemu");
        assert!(said(machine).contains("whether VM 107 "));
    }
    for kind in [
        "service_restart",
        "restart_service",
        "deploy_service",
        "rollback",
    ] {
        let plain = json!({"kind": kind, "node": "n1", "service": "web", "host": "h"});
        assert_eq!(said(plain.clone()), nothing, "{kind}");
        let mut named = execution(plain).unwrap();
        named.verify = Some("web\u{202e}".to_owned());
        assert_eq!(
            checked_by(Some(&named)),
            "Void looks afterwards whether web\\u{202e} is up.",
            "{kind}"
        );
    }
    // What cannot be read is not run, so nothing is looked at.
    let unknown = json!({"kind": "new", "node": "n1", "verify": {"service": "web"}});
    assert_eq!(said(unknown), nothing);
    assert_eq!(said(json!({})), nothing);
    // As the catalogue writes it, and not only as a test does.
    let deploy = subject(&deploy(), json!({"image": EVIL}));
    assert_eq!(
        checked_by(deploy.execution()),
        "Void looks afterwards whether grafana is up."
    );
}

#[test]
fn no_check_is_promised_of_what_nobody_watches() {
    let eyes = |services: &[&str], has_proxmox| Eyes {
        services: services.iter().map(|id| (*id).to_owned()).collect(),
        has_proxmox,
    };
    let said = |action: Value, eyes: &Eyes| checked_with(execution(action).as_ref(), eyes);
    let restart = json!({"kind": "service_restart", "host": "h", "service": "caddy", "verify": {"service": "caddy"}});
    assert_eq!(
        said(restart.clone(), &eyes(&["caddy"], false)),
        "Void looks afterwards whether caddy is up."
    );
    for others in [&[][..], &["web"]] {
        assert_eq!(
            said(restart.clone(), &eyes(others, true)),
            "Nothing looks afterwards: no service caddy is watched. It will end as “not confirmed”."
        );
    }
    let stop =
        json!({"kind": "guest_power", "op": "stop", "vmid": 107, "node": "pve1", "guest": "lxc"});
    assert!(said(stop.clone(), &eyes(&[], true)).starts_with("Proxmox is asked afterwards"));
    assert!(said(stop, &eyes(&[], false)).starts_with("Nothing looks afterwards;"));
}

#[test]
fn every_value_of_a_definition_is_bound_and_shown_whole() {
    let mut subject = subject(&deploy(), json!({"image": EVIL}));
    subject.risk = Risk::Critical;
    let all = bound(&subject);
    let value = |name: &str| {
        let found: Vec<&str> = (all.iter())
            .filter(|bound| bound.name == name)
            .map(|bound| bound.value.as_str())
            .collect();
        found.join("|")
    };
    let digest = subject.digest.to_string();
    for (name, expected) in [
        ("image", EVIL),
        ("action", "deploy-grafana"),
        ("target", subject.target.as_str()),
        ("tier", "risky"),
        ("risk", "critical"),
        ("risk in the catalogue", "guarded"),
        ("kind", "deploy_service"),
        ("node", "n1"),
        ("service", "grafana"),
        ("inverse", "roll-back-grafana"),
        ("verify.service", "grafana"),
        ("timeout_s", "90"),
        ("cooldown_s", "5"),
        ("max_per_hour", "7"),
        ("expires_s", "600"),
        ("agents", "[\"little-blue\",\"nightly\"]"),
        ("params.image.pattern", "^[a-z0-9./:-]+$"),
        ("params.image.max_len", "90"),
        ("digest", &digest),
    ] {
        assert_eq!(value(name), expected, "{name}: {all:?}");
    }
    assert!(all.first().is_some_and(|bound| bound.is_param));
}

/// Two requests with different digests never look the same, even to who does not compare digests.
#[test]
fn whatever_changes_the_digest_changes_the_card() {
    let shown = |subject: &Subject| -> (String, Vec<Bound>) {
        let all = bound(subject)
            .into_iter()
            .filter(|bound| bound.name != "digest");
        (subject.label.clone(), all.collect())
    };
    let before = subject(&deploy(), json!({"image": EVIL}));
    let edits = [
        ("/actions/0/label", json!("Deploy")),
        ("/actions/0/service", json!("loki")),
        ("/actions/0/node", json!("n2")),
        ("/actions/0/id", json!("deploy-it")),
        ("/actions/0/timeout_s", json!(91)),
        ("/actions/0/cooldown_s", json!(6)),
        ("/actions/0/max_per_hour", json!(8)),
        ("/actions/0/expires_s", json!(601)),
        ("/actions/0/agents", json!(["little-blue"])),
        ("/actions/0/verify/service", json!("loki")),
        ("/actions/0/params/image/max_len", json!(91)),
        (
            "/actions/0/params/image/pattern",
            json!("^[a-z0-9./:]+$|^.*$"),
        ),
    ];
    for (place, to) in edits {
        let mut catalogue = deploy();
        *catalogue.pointer_mut(place).unwrap() = to;
        let after = subject(&catalogue, json!({"image": EVIL}));
        assert_ne!(before.digest, after.digest, "{place}");
        assert_ne!(shown(&before), shown(&after), "{place}");
    }
    let other = subject(
        &deploy(),
        json!({"image": "registry.evil.example/backdoor:2"}),
    );
    assert_ne!(shown(&before), shown(&other));
}

/// What is chosen is one element wherever it is shown: it cannot draw the rows of a card beside itself.
#[test]
fn a_chosen_value_that_is_not_plain_is_in_quotes() {
    let mut subject = subject(&deploy(), json!({"image": EVIL}));
    for (value, shown) in [
        (EVIL, EVIL),
        ("web:1 action: none", r#""web:1 action: none""#),
        ("web:1  risk: nominal", r#""web:1 \u{20}risk: nominal""#),
        ("web:1 ", r#""web:1\u{20}""#),
        ("web:1\u{a0}", r#""web:1\u{a0}""#),
        (
            "web:1\" · risk nominal · \"",
            r#""web:1\" · risk nominal · \"""#,
        ),
        ("", r#""""#),
    ] {
        subject.action_mut().unwrap().params = json!({"image": value});
        let chosen = bound(&subject).into_iter().find(|bound| bound.is_param);
        assert_eq!(chosen.unwrap().value, shown);
        assert!(
            consequence(&subject).contains(&format!("image {shown} on n1")),
            "{value:?}"
        );
    }
    // What the owner wrote into the catalogue stays as it is there, unless something of it would not be seen.
    let mut catalogue = deploy();
    catalogue["actions"][0]["params"]["image"]["pattern"] = json!("^ a  b$");
    let written = bound(&self::subject(&catalogue, json!({"image": " a  b"})));
    let pattern = written
        .iter()
        .find(|bound| bound.name == "params.image.pattern");
    assert_eq!(pattern.unwrap().value, r#""^ a \u{20}b$""#);
}

#[test]
fn nothing_in_a_bound_value_makes_a_line_or_deceives() {
    let mut subject = subject(&deploy(), json!({"image": EVIL}));
    subject.action_mut().unwrap().params =
        json!({"a\nb": "x\nIf yes: nothing\u{202e}", "n": [1, "\u{200b}"]});
    for bound in bound(&subject) {
        let text = format!("{}{}", bound.name, bound.value);
        assert!(
            text.chars()
                .all(|c| !c.is_control() && !text::is_deceptive(c)),
            "{text:?}"
        );
    }
    assert!(!consequence(&subject).contains('\n'));
    assert_eq!(words_of("a\nb"), "words of a\\u{a}b, not checked");
}
