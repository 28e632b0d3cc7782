//! Every way to write the same thing, against the lock-out guard and against "one at a time".

use serde_json::{Value, json};

use super::*;

/// `a` and `b` are two names of one address; `near` and `here` are this machine.
fn catalogue(actions: &[Value], lockout: &Lockout) -> Catalogue {
    let hosts = json!({
        "a": "10.0.0.5", "b": {"address": "10.0.0.5", "user": "root"}, "c": {"address": "10.0.0.5", "port": 2222},
        "d": "Lab.Example", "e": "lab.example", "dns": "10.0.0.9", "via-dns": "dns", "six": "::ffff:10.0.0.5",
        "near": "127.0.0.1", "near2": "127.9.9.9", "near6": "::1", "near-name": "localhost", "here": "local",
    });
    let text = json!({"hosts": hosts, "actions": actions}).to_string();
    Catalogue::parse(&text, lockout).unwrap()
}

fn restart(id: &str, host: &str, service: &str) -> Value {
    json!({"id": id, "kind": "service_restart", "host": host, "service": service, "tier": "safe"})
}

fn on_node(id: &str, node: &str, service: &str) -> Value {
    json!({"id": id, "kind": "restart_service", "node": node, "service": service, "tier": "safe"})
}

fn target(action: Value) -> String {
    let catalogue = catalogue(&[action], &Lockout::default());
    catalogue.actions().next().unwrap().target.clone()
}

const LOCAL: [&str; 6] = ["local", "near", "near2", "near6", "near-name", "here"];

#[test]
fn one_thing_has_one_target_however_it_is_written() {
    for host in LOCAL {
        for service in ["caddy", "caddy.service", "Caddy", "CADDY.SERVICE"] {
            assert_eq!(
                target(restart("x", host, service)),
                "host:local/caddy",
                "{host} {service}"
            );
        }
    }
    for host in ["a", "b", "six"] {
        assert_eq!(
            target(restart("x", host, "caddy")),
            "host:a/caddy",
            "{host}"
        );
    }
    assert_eq!(
        target(restart("x", "d", "caddy")),
        target(restart("x", "e", "caddy"))
    );
    for node in ["a", "A", "b", "B"] {
        assert_eq!(
            target(on_node("x", node, "caddy.service")),
            "host:a/caddy",
            "{node}"
        );
    }
    // Other things stay other things.
    let guest = |node: &str| json!({"id": "x", "kind": "guest_power", "node": node, "vmid": 107, "op": "stop", "tier": "risky"});
    assert_eq!(target(guest("Z")), target(guest("z")));
    let others = [
        target(restart("x", "c", "caddy")),
        target(restart("x", "d", "caddy")),
        target(restart("x", "a", "caddy.socket")),
        target(restart("x", "a", "caddy@1")),
        target(on_node("x", "n1", "caddy")),
        target(guest("z")),
        target(restart("x", "a", "caddy")),
        target(restart("x", "local", "caddy")),
    ];
    let distinct: std::collections::BTreeSet<&String> = others.iter().collect();
    assert_eq!(distinct.len(), others.len(), "{others:?}");
}

#[test]
fn rows_of_older_versions_are_found_by_every_spelling() {
    let actions = [
        restart("one", "a", "caddy"),
        restart("two", "b", "caddy.service"),
        restart("other", "a", "nginx"),
    ];
    let catalogue = catalogue(&actions, &Lockout::default());
    let two = catalogue.get(&ActionId::parse("two").unwrap()).unwrap();
    assert_eq!(
        catalogue.target_spellings(two),
        ["host:a/caddy", "host:b/caddy.service"]
    );
}

#[test]
fn the_guard_knows_every_spelling() {
    // (entry of [self] hosts, host, service, raised)
    let mut cases: Vec<(&str, &str, &str, bool)> = Vec::new();
    for entry in [
        "local",
        "LOCAL",
        "127.0.0.1",
        "::1",
        "localhost",
        "near",
        "here",
    ] {
        for host in LOCAL {
            cases.push((entry, host, "postgresql", true));
        }
        cases.push((entry, "a", "postgresql", false));
    }
    // Another port of a protected address is taken for the protected machine.
    for entry in ["a", "A", "b", "c", "10.0.0.5", "six"] {
        for host in ["a", "b", "c", "six"] {
            cases.push((entry, host, "x", true));
        }
        cases.push((entry, "d", "x", false));
    }
    // One host has the name that another one has as its address.
    cases.extend([("d", "e", "x", true), ("lab.example", "d", "x", true)]);
    cases.extend([("dns", "via-dns", "x", true), ("via-dns", "dns", "x", true)]);
    for entry in [
        "a/caddy",
        "b/caddy.service",
        "10.0.0.5/CADDY",
        "A/Caddy.Service",
    ] {
        cases.extend([
            (entry, "a", "caddy", true),
            (entry, "b", "caddy.service", true),
            (entry, "c", "caddy", true),
            (entry, "c", "nginx", false),
            (entry, "b", "Caddy", true),
            (entry, "b", "Caddy.socket", true),
            (entry, "a", "reboot.target", true),
            (entry, "a", "system.slice", true),
            (entry, "a", "nginx.socket", false),
            (entry, "local", "reboot.target", false),
            (entry, "a", "nginx", false),
            (entry, "local", "caddy", false),
        ]);
    }
    for (entry, host, service, raised) in cases {
        let lockout = Lockout::parse(&[], &[entry.to_owned()], &[]).unwrap();
        for action in [restart("x", host, service), on_node("x", host, service)] {
            let catalogue = catalogue(&[action], &lockout);
            let read = catalogue.actions().next().unwrap();
            let seen = read.risk == Risk::Critical;
            assert_eq!(seen, raised, "[self] {entry} against {host}/{service}");
        }
    }
    let lockout = Lockout::parse(&["Z/311".to_owned()], &[], &[]).unwrap();
    // Wherever it runs by now; its number is one in a cluster.
    for (node, vmid, raised) in [("z", 311, true), ("other", 311, true), ("z", 312, false)] {
        let stop = json!({"id": "x", "kind": "guest_power", "node": node, "vmid": vmid, "op": "stop", "tier": "risky"});
        let catalogue = catalogue(&[stop], &lockout);
        let risk = catalogue.actions().next().unwrap().risk;
        assert_eq!(risk == Risk::Critical, raised, "{node}/{vmid}");
    }
}

#[test]
fn an_entry_that_guards_nothing_is_a_warning() {
    let actions = [restart("x", "a", "caddy"), on_node("y", "n1", "grafana")];
    for (entry, is_idle) in [
        ("a", false),
        ("local", false),
        ("127.0.0.1", false),
        ("d", false),
        ("n1", false),
        ("b/caddy.service", false),
        ("ct10", true),
        ("10.0.0.6", true),
        ("a/cady", true),
        ("z/311", true),
    ] {
        let lockout = Lockout::parse(&[], &[], &[entry.to_owned()]).unwrap();
        let catalogue = catalogue(&actions, &lockout);
        let said: Vec<&str> = catalogue
            .warnings()
            .iter()
            .map(|warning| warning.path.as_str())
            .collect();
        let expected: &[&str] = if is_idle { &["[self] protected"] } else { &[] };
        assert_eq!(said, expected, "{entry}");
    }
}
