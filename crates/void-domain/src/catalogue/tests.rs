//! What loads, what does not, and what a changed definition does to the digests.

use serde_json::{Value, json};

use super::*;

fn load(value: &Value) -> Result<Catalogue, Vec<Problem>> {
    Catalogue::parse(&value.to_string(), &Lockout::default())
}

fn with_action(action: Value) -> Value {
    json!({"hosts": {"ct100": "192.168.1.230", "n1": "10.0.0.5"}, "actions": [action]})
}

fn restart() -> Value {
    json!({"id": "restart-caddy", "label": "Restart Caddy", "kind": "service_restart", "host": "ct100", "service": "caddy", "tier": "safe"})
}

fn stop() -> Value {
    json!({"id": "stop-ct107", "label": "Stop", "kind": "guest_power", "node": "z", "vmid": 107, "op": "stop", "tier": "risky"})
}

fn scale() -> Value {
    json!({"id": "scale-grafana", "kind": "scale", "node": "n1", "service": "grafana", "tier": "risky",
           "params": {"replicas": {"type": "integer", "min": 0, "max": 5}}})
}

fn changed(mut action: Value, key: &str, to: Value) -> Value {
    action[key] = to;
    action
}

fn only(catalogue: &Catalogue) -> &Arc<Action> {
    catalogue.actions().next().unwrap()
}

#[test]
fn the_source_documents_format_loads_unchanged() {
    let text = r#"{
  "hosts": { "ct100": "192.168.1.230", "z": "192.168.1.124" },
  "actions": [
    { "id": "restart-caddy-ct100", "label": "Restart Caddy", "kind": "service_restart", "host": "ct100", "service": "caddy", "tier": "safe" },
    { "id": "stop-ct107", "label": "Stop CT107", "kind": "guest_power", "node": "z", "vmid": 107, "op": "stop", "kindPath": "lxc", "tier": "risky" }
  ]
}"#;
    let catalogue = Catalogue::parse(text, &Lockout::default()).unwrap();
    assert_eq!(catalogue.actions().len(), 2);
    assert!(catalogue.warnings().is_empty());
    assert!(load(&json!({"hosts": {}, "actions": []})).is_ok());
}

#[test]
fn the_example_catalogue_loads() {
    let text = include_str!("../../../../config/actions.json");
    let catalogue = Catalogue::parse(text, &Lockout::default()).unwrap();
    assert_eq!(catalogue.warnings(), []);
}

/// One refused variant per rule: (action, path of the complaint, part of the message).
fn refused() -> Vec<(Value, &'static str, &'static str)> {
    let bad_param = |spec: Value| changed(scale(), "params", json!({"replicas": spec}));
    vec![
        (json!("x"), "actions[0]", "expected an object"),
        (
            changed(restart(), "id", json!("-rf")),
            "actions[0].id",
            "invalid action id",
        ),
        (
            changed(restart(), "id", json!("void-list")),
            "actions[0].id",
            "reserved",
        ),
        (
            changed(restart(), "id", json!(7)),
            "actions[0].id",
            "expected a string",
        ),
        (
            changed(restart(), "label", json!("a\u{202e}b")),
            "actions[0].label",
            "printable",
        ),
        (
            changed(restart(), "label", json!("x".repeat(201))),
            "actions[0].label",
            "1 to 200",
        ),
        (
            changed(restart(), "kind", json!("service_restrat")),
            "actions[0].kind",
            "unknown kind",
        ),
        (
            changed(restart(), "tier", json!("saef")),
            "actions[0].tier",
            "unknown tier",
        ),
        (
            changed(restart(), "risk", json!("guarded")),
            "actions[0].risk",
            "a safe action cannot be guarded",
        ),
        (
            changed(restart(), "risk", json!("critical")),
            "actions[0].risk",
            "a safe action cannot be critical",
        ),
        (
            changed(stop(), "risk", json!("nominal")),
            "actions[0].risk",
            "a risky action cannot be nominal",
        ),
        (
            changed(restart(), "host", json!("ct10")),
            "actions[0].host",
            "unknown host",
        ),
        (
            changed(restart(), "service", json!("a b")),
            "actions[0].service",
            "a service is",
        ),
        (
            changed(restart(), "service", json!("-x")),
            "actions[0].service",
            "a service is",
        ),
        (
            changed(restart(), "vmid", json!(1)),
            "actions[0].vmid",
            "unknown key",
        ),
        (
            changed(restart(), "cooldwon_s", json!(1)),
            "actions[0].cooldwon_s",
            "unknown key",
        ),
        (
            changed(restart(), "cooldown_s", json!(-1)),
            "actions[0].cooldown_s",
            "whole number",
        ),
        (
            changed(restart(), "cooldown_s", json!("60")),
            "actions[0].cooldown_s",
            "whole number",
        ),
        (
            changed(restart(), "max_per_hour", json!(0)),
            "actions[0].max_per_hour",
            "whole number",
        ),
        (
            changed(restart(), "timeout_s", json!(3601)),
            "actions[0].timeout_s",
            "whole number",
        ),
        (
            changed(restart(), "expires_s", json!(59)),
            "actions[0].expires_s",
            "whole number",
        ),
        (
            changed(restart(), "agents", json!([])),
            "actions[0].agents",
            "names nobody",
        ),
        (
            changed(restart(), "agents", json!(["A B"])),
            "actions[0].agents",
            "not an agent's name",
        ),
        (
            changed(restart(), "via", json!("file")),
            "actions[0].via",
            "only deploy_service",
        ),
        (
            changed(restart(), "via", json!("hots")),
            "actions[0].via",
            "unknown via",
        ),
        (
            changed(
                restart(),
                "params",
                json!({"a": {"type": "integer", "min": 0, "max": 1}}),
            ),
            "actions[0].params",
            "takes no parameters",
        ),
        (
            changed(restart(), "verify", json!({"service": "a b"})),
            "actions[0].verify.service",
            "not a service",
        ),
        (
            changed(restart(), "verify", json!({"sevice": "caddy"})),
            "actions[0].verify.sevice",
            "unknown key",
        ),
        (
            changed(restart(), "inverse", json!("restart-caddy")),
            "actions[0].inverse",
            "its own inverse",
        ),
        (
            changed(restart(), "inverse", json!("start-x")),
            "actions[0].inverse",
            "unknown action",
        ),
        (
            changed(restart(), "examples", json!([])),
            "actions[0].examples",
            "not yet",
        ),
        (
            changed(restart(), "windows", json!([])),
            "actions[0].windows",
            "not yet",
        ),
        (
            changed(restart(), "depends_on", json!([])),
            "actions[0].depends_on",
            "not yet",
        ),
        (
            changed(restart(), "cuts", json!([])),
            "actions[0].cuts",
            "not yet",
        ),
        (
            changed(stop(), "op", json!("nuke")),
            "actions[0].op",
            "unknown op",
        ),
        (
            changed(stop(), "vmid", json!(99)),
            "actions[0].vmid",
            "whole number",
        ),
        (
            changed(stop(), "vmid", json!("107")),
            "actions[0].vmid",
            "whole number",
        ),
        (
            changed(stop(), "node", json!("../z")),
            "actions[0].node",
            "a node's name",
        ),
        (
            changed(stop(), "guest", json!("docker")),
            "actions[0].guest",
            "unknown guest",
        ),
        (
            changed(
                changed(stop(), "guest", json!("qemu")),
                "kindPath",
                json!("lxc"),
            ),
            "actions[0].kindPath",
            "disagrees",
        ),
        (
            changed(restart(), "host", json!("CT 100")),
            "actions[0].host",
            "unknown host",
        ),
        (
            changed(changed(stop(), "via", json!("host")), "node", json!("Z")),
            "actions[0].node",
            "unknown host",
        ),
        (
            changed(stop(), "via", json!("host")),
            "actions[0].node",
            "unknown host",
        ),
        (
            bad_param(json!({"type": "string"})),
            "actions[0].params.replicas.type",
            "unknown type",
        ),
        (
            bad_param(json!({"min": 0, "max": 5})),
            "actions[0].params.replicas.type",
            "is missing",
        ),
        (
            bad_param(json!({"type": "integer", "min": 0})),
            "actions[0].params.replicas",
            "needs min and max",
        ),
        (
            bad_param(json!({"type": "integer", "min": 6, "max": 5})),
            "actions[0].params.replicas",
            "greater",
        ),
        (
            bad_param(json!({"type": "enum", "values": []})),
            "actions[0].params.replicas",
            "1 to 64",
        ),
        (
            bad_param(json!({"type": "enum", "values": ["-x"]})),
            "actions[0].params.replicas.values",
            "dash",
        ),
        (
            bad_param(json!({"type": "pattern", "pattern": "[a-z]+", "max_len": 9})),
            "actions[0].params.replicas.pattern",
            "begins with ^",
        ),
        (
            bad_param(json!({"type": "pattern", "pattern": "^[a-z+$", "max_len": 9})),
            "actions[0].params.replicas.pattern",
            "valid pattern",
        ),
        (
            bad_param(json!({"type": "pattern", "pattern": "^a$"})),
            "actions[0].params.replicas",
            "needs max_len",
        ),
        (
            bad_param(json!({"type": "integer", "min": 0, "max": 5, "step": 1})),
            "actions[0].params.replicas.step",
            "unknown key",
        ),
        (
            changed(
                scale(),
                "params",
                json!({"Bad-Name": {"type": "integer", "min": 0, "max": 1}}),
            ),
            "actions[0].params.Bad-Name",
            "parameter's name",
        ),
    ]
}

#[test]
fn every_rule_refuses_with_place_and_reason() {
    for (action, path, message) in refused() {
        let problems = load(&with_action(action.clone())).expect_err(&format!("{action} loaded"));
        let found = problems
            .iter()
            .any(|p| p.path == path && p.message.contains(message));
        assert!(
            found,
            "{action}\nwanted {path}: {message}\ngot {problems:#?}"
        );
    }
    for key in ["id", "kind", "tier", "host", "service"] {
        let mut action = restart();
        action.as_object_mut().unwrap().remove(key);
        let problems = load(&with_action(action)).unwrap_err();
        assert!(
            problems
                .iter()
                .any(|p| p.path == format!("actions[0].{key}") && p.message.contains("missing")),
            "{key}"
        );
    }
}

#[test]
fn hosts_are_checked_too() {
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3ku4fOd0Dl5vXbXhbmvb3m1B8rTnKqcHv4fUXhEB1T";
    let cases = [
        (json!("-oProxyCommand=id"), false),
        (json!("a b"), false),
        (json!(7), false),
        (json!({"address": "nas.lan", "port": 0}), false),
        (json!({"address": "nas.lan", "user": "Root"}), false),
        (json!({"address": "nas.lan", "host_key": "AAAA"}), false),
        (json!({"address": "nas.lan", "hostkey": key}), false),
        (json!({"port": 22}), false),
        (json!("fe80::1"), true),
        (
            json!({"address": "nas.lan", "port": 2222, "user": "voidact", "host_key": key}),
            true,
        ),
        (json!("local"), true),
    ];
    for (host, loads) in cases {
        let result = load(&json!({"hosts": {"h": host}, "actions": []}));
        assert_eq!(result.is_ok(), loads, "{host}: {result:?}");
    }
    assert!(load(&json!({"hosts": {"local": "10.0.0.1"}, "actions": []})).is_err());
    assert!(load(&json!({"hosts": {"-x": "10.0.0.1"}, "actions": []})).is_err());
}

#[test]
fn all_problems_come_at_once_with_line_and_suggestion() {
    let text = "{\n \"hosts\": {},\n \"acitons\": 1,\n \"actions\": [\n  {\"id\": \"a\", \"kind\": \"guest_power\", \"node\": \"z\", \"vmid\": 107,\n   \"op\": \"stopp\", \"tier\": \"riksy\"},\n  {\"id\": \"a b\", \"kind\": \"service_restart\",\n   \"host\": \"nowhere\", \"service\": \"x\", \"tier\": \"safe\"}\n ]\n}";
    let problems = Catalogue::parse(text, &Lockout::default()).unwrap_err();
    let seen: Vec<(u32, &str, Option<&str>)> = problems
        .iter()
        .map(|p| (p.line, p.path.as_str(), p.hint.as_deref()))
        .collect();
    assert_eq!(
        seen,
        [
            (3, "acitons", Some("did you mean \"actions\"?")),
            (6, "actions[0].op", Some("did you mean \"stop\"?")),
            (6, "actions[0].tier", Some("did you mean \"risky\"?")),
            (7, "actions[1].id", None),
            (8, "actions[1].host", Some("known: local")),
        ]
    );
    let twice = json!({"hosts": {"ct100": "10.0.0.1"}, "actions": [restart(), restart()]});
    assert!(load(&twice).unwrap_err()[0].message.contains("used twice"));
}

#[test]
fn truncated_at_any_length_nothing_loads() {
    let text = with_action(restart()).to_string();
    for length in 0..text.len() {
        assert!(
            Catalogue::parse(&text[..length], &Lockout::default()).is_err(),
            "{length}"
        );
    }
    let huge = format!(
        "{{\"actions\":[]}}{}",
        " ".repeat(crate::limits::CATALOGUE_BYTES_MAX)
    );
    assert!(Catalogue::parse(&huge, &Lockout::default()).is_err());
}

#[test]
fn a_tier_below_the_convention_is_a_warning() {
    let catalogue = load(&with_action(changed(stop(), "tier", json!("safe")))).unwrap();
    assert_eq!(catalogue.warnings().len(), 1);
    assert_eq!(only(&catalogue).tier, Tier::Safe, "the file's tier wins");
}

#[test]
fn what_would_cut_the_owner_off_is_critical_whatever_the_file_says() {
    let lockout = Lockout::parse(
        &["z/311".into()],
        &["local".into()],
        &["z/100".into(), "ct100/caddy".into()],
    )
    .unwrap();
    let guest = |vmid: u32, op: &str, tier: &str| json!({"id": "x", "kind": "guest_power", "node": "z", "vmid": vmid, "op": op, "tier": tier});
    let on_local = json!({"id": "x", "kind": "service_restart", "host": "local", "service": "postgresql", "tier": "safe"});
    let cases = [
        (guest(311, "stop", "risky"), Risk::Critical),
        (guest(311, "reboot", "safe"), Risk::Critical),
        (guest(100, "shutdown", "risky"), Risk::Critical),
        (guest(311, "start", "safe"), Risk::Nominal),
        (guest(107, "stop", "risky"), Risk::Guarded),
        (on_local, Risk::Critical),
        (restart(), Risk::Critical),
        (changed(restart(), "service", json!("nginx")), Risk::Nominal),
    ];
    for (action, risk) in cases {
        let text = with_action(action.clone()).to_string();
        let catalogue = Catalogue::parse(&text, &lockout).unwrap();
        let action_read = only(&catalogue);
        assert_eq!(action_read.risk, risk, "{action}");
        assert_eq!(
            action_read.raised.is_some(),
            risk == Risk::Critical,
            "{action}"
        );
        assert_eq!(
            action_read.tier == Tier::Safe,
            risk == Risk::Nominal,
            "{action}"
        );
    }
    for bad in ["z", "z/x", "/311", "z/311/1", ""] {
        assert!(Lockout::parse(&[bad.into()], &[], &[]).is_err(), "{bad}");
    }
}

#[test]
fn every_field_of_a_definition_is_in_the_digest() {
    let before = load(&with_action(restart())).unwrap();
    let edits = [
        ("label", json!("Restart")),
        ("service", json!("nginx")),
        ("host", json!("n1")),
        ("tier", json!("risky")),
        ("cooldown_s", json!(5)),
        ("max_per_hour", json!(5)),
        ("timeout_s", json!(5)),
        ("expires_s", json!(600)),
        ("agents", json!(["little-blue"])),
        ("verify", json!({"service": "caddy"})),
        ("via", json!("host")),
        ("id", json!("restart-caddy-2")),
    ];
    for (key, to) in edits {
        let after = load(&with_action(changed(restart(), key, to))).unwrap();
        assert_ne!(only(&before).digest(), only(&after).digest(), "{key}");
        assert_ne!(before.digest(), after.digest(), "{key}");
    }
    // The machine behind the name is part of what is approved.
    let moved = json!({"hosts": {"ct100": "192.168.1.231"}, "actions": [restart()]});
    assert_ne!(
        only(&before).digest(),
        only(&load(&moved).unwrap()).digest()
    );
}

/// The default is the server's, not the file's: no digest knows it.
#[test]
fn a_written_0_is_another_definition_than_none_and_the_same_for_the_host() {
    let none = load(&with_action(restart())).unwrap();
    let zero = load(&with_action(changed(restart(), "cooldown_s", json!(0)))).unwrap();
    assert_eq!(only(&none).cooldown, None);
    assert_eq!(only(&zero).cooldown, Some(Duration::ZERO));
    assert_ne!(only(&none).digest(), only(&zero).digest());
    assert_eq!(only(&none).exec_digest(), only(&zero).exec_digest());
}

#[test]
fn the_host_checks_id_kind_target_op_params_tier_and_risk() {
    let exec = |action: Value| only(&load(&with_action(action)).unwrap()).exec_digest();
    let same = [
        ("label", json!("x")),
        ("cooldown_s", json!(9)),
        ("timeout_s", json!(9)),
        ("agents", json!(["a"])),
    ];
    for (key, to) in same {
        assert_eq!(exec(restart()), exec(changed(restart(), key, to)), "{key}");
    }
    let other = [
        ("id", json!("b")),
        ("service", json!("b")),
        ("host", json!("n1")),
        ("tier", json!("risky")),
    ];
    for (key, to) in other {
        assert_ne!(exec(restart()), exec(changed(restart(), key, to)), "{key}");
    }
    for (key, to) in [
        ("op", json!("reboot")),
        ("vmid", json!(108)),
        ("guest", json!("qemu")),
        ("risk", json!("critical")),
    ] {
        assert_ne!(exec(stop()), exec(changed(stop(), key, to)), "{key}");
    }
    let wider = json!({"replicas": {"type": "integer", "min": 0, "max": 6}});
    assert_ne!(exec(scale()), exec(changed(scale(), "params", wider)));
}

#[test]
fn order_and_white_space_change_no_digest() {
    let compact =
        Catalogue::parse(&with_action(restart()).to_string(), &Lockout::default()).unwrap();
    let spread = "{\"actions\":[{\n\"tier\":\"safe\",\"service\":\"caddy\",\"host\":\"ct100\",\"kind\":\"service_restart\",\"label\":\"Restart\\u0020Caddy\",\"id\":\"restart-caddy\"}],\n\t\"hosts\":{\"n1\":\"10.0.0.5\",\"ct100\":\"192.168.1.230\"}, \"$schema\": \"x\"}";
    let spread = Catalogue::parse(spread, &Lockout::default()).unwrap();
    assert_eq!(compact.digest(), spread.digest());
    assert_eq!(only(&compact).digest(), only(&spread).digest());
}

#[test]
fn parameters_pass_only_as_declared() {
    let specs = json!({
        "replicas": {"type": "integer", "min": 0, "max": 5},
        "mode": {"type": "enum", "values": ["rolling", "all"]},
        "image": {"type": "pattern", "pattern": "^[a-z]+(:[0-9.]+)?|latest$", "max_len": 12},
    });
    let catalogue = load(&with_action(changed(scale(), "params", specs))).unwrap();
    let action = only(&catalogue);
    let good = json!({"replicas": 5, "mode": "all", "image": "nginx:1.2"});
    let checked = action.params.check(&good).unwrap();
    assert_eq!(checked.to_value(), good);
    assert_ne!(action.digest_with(&checked).unwrap(), action.digest());

    let bad = [
        ("replicas", json!(6)),
        ("replicas", json!(-1)),
        ("replicas", json!("5")),
        ("replicas", json!(1.0)),
        ("replicas", json!(null)),
        ("mode", json!("ALL")),
        ("mode", json!("")),
        ("image", json!("nginx; id")),
        ("image", json!("nginx\n")),
        ("image", json!("abcdefghijklm")),
        ("image", json!("--x")),
        ("image", json!("x latest")),
        ("image", json!("a\u{0}")),
        ("ot_extra", json!(1)),
    ];
    for (key, to) in bad {
        let InvalidParams(complaints) = action
            .params
            .check(&changed(good.clone(), key, to.clone()))
            .unwrap_err();
        assert_eq!(complaints.keys().collect::<Vec<_>>(), [key], "{to}");
    }
    assert_eq!(action.params.check(&Value::Null).unwrap_err().0.len(), 3);
    assert!(action.params.check(&json!([])).is_err());
}

/// Editors and Void agree: what the schema refuses does not load, and what loads fits the schema.
#[test]
fn the_editor_schema_agrees_with_the_loader() {
    let schema: Value = serde_json::from_str(JSON_SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for action in [
        restart(),
        stop(),
        scale(),
        changed(scale(), "via", json!("file")),
    ] {
        let catalogue = with_action(action);
        assert!(
            load(&catalogue).is_ok() && validator.is_valid(&catalogue),
            "{catalogue}"
        );
    }
    // References between entries, look-alikes and convention are beyond a schema.
    let beyond = [
        "unknown host",
        "its own inverse",
        "unknown action",
        "printable",
        "disagrees",
        "greater",
        "valid pattern",
    ];
    for (action, path, message) in refused() {
        let catalogue = with_action(action);
        if !beyond.iter().any(|word| message.contains(word)) {
            assert!(
                !validator.is_valid(&catalogue),
                "the schema accepts {catalogue}, refused for {path}: {message}"
            );
        }
    }
}
