use serde_json::{Value, json};

use super::*;

fn load(service: Value) -> Result<Services, Vec<Problem>> {
    Services::parse(&json!({"services": [service]}).to_string())
}

fn only(service: Value) -> Service {
    load(service).unwrap().iter().next().unwrap().clone()
}

#[test]
fn the_contracts_forms_load() {
    let http = only(
        json!({"id": "caddy", "label": "Caddy", "host": "ct100", "check": {"kind": "http", "url": "http://192.168.1.230:8080/health?x=1", "status": 204}, "interval_s": 10, "timeout_s": 2}),
    );
    let Check::Http(check) = &http.check else {
        panic!()
    };
    assert_eq!(
        (
            check.secure,
            check.host.as_str(),
            check.port,
            check.path.as_str(),
            check.status
        ),
        (false, "192.168.1.230", 8080, "/health?x=1", Some(204))
    );
    assert_eq!((http.interval.as_secs(), http.timeout.as_secs()), (10, 2));
    let tcp = only(json!({"id": "smb", "check": {"kind": "tcp", "address": "[fe80::1]:445"}}));
    assert_eq!(
        tcp.check,
        Check::Tcp {
            host: "fe80::1".into(),
            port: 445
        }
    );
    assert_eq!(
        (tcp.label.as_str(), tcp.interval),
        ("smb", INTERVAL_DEFAULT)
    );
    let guest =
        only(json!({"id": "jellyfin", "node": "z", "vmid": 105, "check": {"kind": "guest"}}));
    assert_eq!(
        guest.place,
        Some(Location::Guest {
            node: "z".into(),
            vmid: 105
        })
    );
    let pinned = only(
        json!({"id": "pve", "check": {"kind": "http", "url": "https://z.lan:8006", "certificate": "AA:".repeat(31) + "AA"}}),
    );
    let Check::Http(check) = &pinned.check else {
        panic!()
    };
    assert_eq!(
        (
            check.secure,
            check.path.as_str(),
            check.certificate.is_some()
        ),
        (true, "/", true)
    );
    assert!(!tcp.urgent);
    let urgent = json!({"id": "x", "check": {"kind": "tcp", "address": "h:1"}, "urgent": true});
    assert!(only(urgent).urgent);
    assert!(
        Services::parse("{\"services\":[]}")
            .unwrap()
            .digest()
            .is_some()
    );
}

#[test]
fn what_is_wrong_is_named() {
    let check = || json!({"kind": "tcp", "address": "h:1"});
    let cases = [
        (json!({"id": "A", "check": check()}), "services[0].id"),
        (json!({"check": check()}), "services[0].id"),
        (json!({"id": "a"}), "services[0].check"),
        (
            json!({"id": "a", "check": check(), "urgent": "yes"}),
            "services[0].urgent",
        ),
        (
            json!({"id": "a", "check": {"kind": "ping"}}),
            "services[0].check.kind",
        ),
        (
            json!({"id": "a", "check": {"kind": "guest"}}),
            "services[0].check",
        ),
        (
            json!({"id": "a", "check": {"kind": "tcp", "address": "h"}}),
            "services[0].check.address",
        ),
        (
            json!({"id": "a", "check": {"kind": "tcp", "address": "h:0"}}),
            "services[0].check.address",
        ),
        (
            json!({"id": "a", "check": {"kind": "tcp", "address": "h:99999"}}),
            "services[0].check.address",
        ),
        (
            json!({"id": "a", "check": {"kind": "http", "url": "ftp://h/"}}),
            "services[0].check.url",
        ),
        (
            json!({"id": "a", "check": {"kind": "http", "url": "http://u:p@h/"}}),
            "services[0].check.url",
        ),
        (
            json!({"id": "a", "check": {"kind": "http", "url": "http://h/a b"}}),
            "services[0].check.url",
        ),
        (
            json!({"id": "a", "check": {"kind": "http", "url": "http://h/\r\nX: y"}}),
            "services[0].check.url",
        ),
        (
            json!({"id": "a", "check": {"kind": "http", "url": "http://h/", "status": 99}}),
            "services[0].check.status",
        ),
        (
            json!({"id": "a", "check": {"kind": "http", "url": "http://h/", "certificate": "x"}}),
            "services[0].check.certificate",
        ),
        (
            json!({"id": "a", "check": {"kind": "http", "url": "http://h/", "certificate": "a".repeat(64)}}),
            "services[0].check.certificate",
        ),
        (
            json!({"id": "a", "check": check(), "node": "z/../y", "vmid": 100}),
            "services[0].node",
        ),
        (
            json!({"id": "a", "check": check(), "interval_s": 0}),
            "services[0].interval_s",
        ),
        (
            json!({"id": "a", "check": check(), "timeout_s": 61}),
            "services[0].timeout_s",
        ),
        (
            json!({"id": "a", "check": check(), "node": "z"}),
            "services[0]",
        ),
        (
            json!({"id": "a", "check": check(), "host": "h", "node": "z", "vmid": 100}),
            "services[0]",
        ),
        (
            json!({"id": "a", "check": check(), "intervall_s": 5}),
            "services[0].intervall_s",
        ),
        (
            json!({"id": "a", "check": check(), "label": "a\u{202e}"}),
            "services[0].label",
        ),
    ];
    for (service, path) in cases {
        let problems = load(service.clone()).expect_err(&service.to_string());
        assert!(
            problems.iter().any(|problem| problem.path == path),
            "{service}: {problems:#?}"
        );
    }
    let twice = json!({"services": [{"id": "a", "check": check()}, {"id": "a", "check": check()}]});
    assert!(
        Services::parse(&twice.to_string()).unwrap_err()[0]
            .message
            .contains("used twice")
    );
}

fn reading(at_s: i64, health: Health) -> Reading {
    let answer = match health {
        Health::Up => CheckResult::Good {
            latency_ms: 1,
            code: Some(200),
        },
        Health::Down => CheckResult::Bad {
            reason: Bad::Refused,
            code: None,
        },
        Health::Unknown => CheckResult::None {
            reason: Unreadable::Proxmox,
        },
    };
    Reading {
        at: Timestamp::from_ms(at_s * 1_000),
        answer,
    }
}

#[test]
fn a_change_is_believed_when_it_is_seen_twice() {
    use Health::{Down, Unknown, Up};
    let mut monitor = Monitor::new(Timestamp::from_ms(0));
    // (reading, the change that is believed)
    let steps = [
        (Up, Some((Unknown, Up))),
        (Up, None),
        (Down, None),
        (Up, None),
        (Down, None),
        (Down, Some((Up, Down))),
        (Unknown, None),
        (Unknown, Some((Down, Unknown))),
        (Down, Some((Unknown, Down))),
        (Up, None),
        (Up, Some((Down, Up))),
    ];
    for (n, (health, expected)) in (0..).zip(steps) {
        let change = monitor.observe(reading(n * 30, health));
        assert_eq!(
            change.map(|change| (change.from, change.to)),
            expected,
            "step {n}"
        );
    }
}

#[test]
fn a_service_that_flaps_changes_less_often() {
    let mut monitor = Monitor::new(Timestamp::from_ms(0));
    let mut changes = 0;
    for n in 0..200 {
        // Two bad, two good, every second.
        let health = if n % 4 < 2 { Health::Down } else { Health::Up };
        changes += usize::from(monitor.observe(reading(n, health)).is_some());
    }
    assert!(
        (5..=10).contains(&changes),
        "{changes} changes in 200 readings"
    );
    assert!(monitor.is_flapping(Timestamp::from_ms(200_000)));
    assert!(!monitor.is_flapping(Timestamp::from_ms(200_000 + 601_000)));
}

/// A service that is never seen up is not shown up, in whatever ways it is not.
#[test]
fn readings_that_disagree_with_each_other_too_leave_it_unknown() {
    use Health::{Down, Unknown, Up};
    let mut monitor = Monitor::new(Timestamp::from_ms(0));
    monitor.observe(reading(0, Up));
    assert_eq!(monitor.observe(reading(30, Down)), None);
    let change = monitor.observe(reading(60, Unknown)).unwrap();
    assert_eq!((change.from, change.to), (Up, Unknown));
    let change = monitor.observe(reading(90, Down)).unwrap();
    assert_eq!((change.from, change.to), (Unknown, Down));
    monitor.observe(reading(120, Unknown));
    let change = monitor.observe(reading(150, Up)).unwrap();
    assert_eq!((change.from, change.to), (Down, Unknown));
}

#[test]
fn after_a_restart_what_was_believed_needs_a_reading_and_is_contradicted_by_two() {
    use Health::{Down, Unknown, Up};
    let (long_ago, fresh_for) = (Timestamp::from_ms(5), Duration::from_secs(90));
    let at = |s: i64| Timestamp::from_ms(s * 1_000);
    let said = |monitor: &Monitor, s| {
        let standing = monitor.standing(at(s), fresh_for);
        (standing.health, standing.since)
    };
    let mut agreed = Monitor::resume(Up, long_ago);
    assert_eq!(said(&agreed, 100).0, Unknown);
    assert_eq!(agreed.observe(reading(100, Up)), None);
    assert_eq!(said(&agreed, 100), (Up, long_ago));
    let mut contradicted = Monitor::resume(Up, long_ago);
    assert_eq!(contradicted.observe(reading(100, Down)), None);
    assert!(contradicted.is_in_doubt());
    assert_eq!(said(&contradicted, 101), (Unknown, at(100)));
    assert!(contradicted.observe(reading(102, Down)).is_some());
    assert_eq!(said(&contradicted, 102), (Down, at(102)));
}

#[test]
fn an_old_reading_says_nothing() {
    let mut monitor = Monitor::new(Timestamp::from_ms(0));
    let fresh_for = Duration::from_secs(90);
    let standing = |monitor: &Monitor, ms| {
        let standing = monitor.standing(Timestamp::from_ms(ms), fresh_for);
        (standing.health, standing.since.as_ms(), standing.is_stale)
    };
    assert_eq!(standing(&monitor, 0), (Health::Unknown, 0, false));
    monitor.observe(reading(10, Health::Up));
    assert_eq!(standing(&monitor, 100_000), (Health::Up, 10_000, false));
    assert_eq!(
        standing(&monitor, 100_001),
        (Health::Unknown, 100_000, true)
    );
}

#[test]
fn the_example_loads_and_the_editor_schema_agrees() {
    let schema: Value =
        serde_json::from_str(include_str!("../../../../config/services.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let example = include_str!("../../../../config/services.json");
    assert!(Services::parse(example).is_ok());
    assert!(validator.is_valid(&serde_json::from_str(example).unwrap()));
    for (service, accepted) in [
        (
            json!({"id": "a", "check": {"kind": "tcp", "address": "h:1"}}),
            true,
        ),
        (
            json!({"id": "a", "check": {"kind": "tcp", "address": "h"}}),
            false,
        ),
        (
            json!({"id": "A", "check": {"kind": "tcp", "address": "h:1"}}),
            false,
        ),
        (json!({"id": "a", "check": {"kind": "guest"}}), false),
        (
            json!({"id": "a", "node": "z", "vmid": 100, "check": {"kind": "guest"}}),
            true,
        ),
        (
            json!({"id": "a", "node": "z", "check": {"kind": "tcp", "address": "h:1"}}),
            false,
        ),
        (
            json!({"id": "a", "check": {"kind": "http", "url": "ftp://h/"}}),
            false,
        ),
        (
            json!({"id": "a", "check": {"kind": "http", "url": "http://h/", "status": 200}}),
            true,
        ),
        (
            json!({"id": "a", "check": {"kind": "http", "url": "http://h/", "body": "x"}}),
            false,
        ),
    ] {
        let file = json!({"services": [service]});
        assert_eq!(validator.is_valid(&file), accepted, "schema: {file}");
        assert_eq!(
            Services::parse(&file.to_string()).is_ok(),
            accepted,
            "{file}"
        );
    }
}

#[test]
fn another_meaning_is_another_digest() {
    let before = json!({"id": "a", "host": "ct1", "check": {"kind": "http", "url": "http://a/x"}});
    let digest = |edits: &[(&str, Value)]| {
        let mut service = before.clone();
        for (pointer, to) in edits {
            *service.pointer_mut(pointer).unwrap() = to.clone();
        }
        only(service).digest()
    };
    let same = json!({"timeout_s": 5, "interval_s": 30, "label": "a", "id": "a", "host": "ct1", "check": {"url": "http://a:80/x", "kind": "http"}});
    assert_eq!(only(same).digest(), digest(&[]));
    let others = [
        digest(&[]),
        digest(&[("/id", json!("b"))]),
        digest(&[("/host", json!("ct2"))]),
        digest(&[("/check/url", json!("http://a/y"))]),
        digest(&[("/check/url", json!("https://a/x"))]),
        digest(&[("/check", json!({"kind": "tcp", "address": "a:80"}))]),
        only(json!({"id": "a", "host": "ct1", "label": "A", "check": before["check"]})).digest(),
        only(json!({"id": "a", "host": "ct1", "timeout_s": 6, "check": before["check"]})).digest(),
        only(json!({"id": "a", "host": "ct1", "interval_s": 6, "check": before["check"]})).digest(),
        only(json!({"id": "a", "check": before["check"]})).digest(),
    ];
    let distinct: std::collections::BTreeSet<_> = others.iter().collect();
    assert_eq!(distinct.len(), others.len());
}
