use super::*;
use serde_json::{Value, json};

fn entry(changes: &Value) -> Value {
    let mut entry = json!({"id": "a", "argv": ["/bin/a"], "tier": "safe"});
    for (key, value) in changes.as_object().unwrap() {
        entry[key] = value.clone();
    }
    entry
}

fn parse(list: &Value) -> Result<List, Vec<String>> {
    List::parse(list.to_string().as_bytes())
}

fn of(entries: &[Value]) -> Value {
    json!({"version": 1, "host": "h", "stop_file": "/stop", "entries": entries})
}

#[test]
fn entries_at_their_limits() {
    let params = json!({"n": {"type": "integer", "min": 0, "max": 5}});
    let good = [
        json!({}),
        json!({"def": "a".repeat(64), "cooldown_s": 1, "max_per_hour": 0, "max_per_day": 9, "timeout_s": 3600}),
        json!({"argv": ["/bin/a", {"param": "n"}, "{\"param\":\"n\"}"], "params": params}),
        json!({"argv": vec!["/bin/a"; 256]}),
        json!({"signed": true, "tier": "risky"}),
    ];
    for changes in good {
        assert!(parse(&of(&[entry(&changes)])).is_ok(), "{changes}");
    }
    let bad = [
        json!({"id": "void-a"}),
        json!({"id": "-a"}),
        json!({"id": "A"}),
        json!({"argv": []}),
        json!({"argv": ["bin/a"]}),
        json!({"argv": [""]}),
        json!({"argv": [{"param": "n"}], "params": params}),
        json!({"argv": ["/bin/a", {"param": "m"}], "params": params}),
        json!({"argv": ["/bin/a", {"param": "n", "x": 1}], "params": params}),
        json!({"argv": ["/bin/a", {"param": "n"}]}),
        json!({"argv": ["/bin/a", 1]}),
        json!({"argv": ["/bin/a", "\u{0}"]}),
        json!({"argv": vec!["/bin/a"; 257]}),
        json!({"argv": "/bin/a"}),
        json!({"tier": "critical"}),
        json!({"tier": "Safe"}),
        json!({"def": "a".repeat(63)}),
        json!({"def": "A".repeat(64)}),
        json!({"cooldown_s": 0}),
        json!({"bare_cooldown_s": 0}),
        json!({"cooldown_s": -1}),
        json!({"cooldown_s": 1.5}),
        json!({"max_per_day": -1}),
        json!({"timeout_s": 0}),
        json!({"timeout_s": 3601}),
        json!({"signed": "yes"}),
        json!({"shell": true}),
        json!({"params": {"n": {"type": "string"}}}),
        json!({"params": {"n": {"type": "integer", "min": 0, "max": 5, "step": 1}}}),
        json!({"params": {"n": {"type": "integer", "min": 0}}}),
        json!({"params": {"n": {"type": "pattern", "pattern": "^a$"}}}),
        json!({"params": {"n n": {"type": "integer", "min": 0, "max": 5}}}),
    ];
    for changes in bad {
        assert!(parse(&of(&[entry(&changes)])).is_err(), "{changes}");
    }
}

#[test]
fn the_list_itself_at_its_limits() {
    let many = |count: usize| {
        (0..count)
            .map(|n| entry(&json!({"id": format!("a{n}")})))
            .collect::<Vec<_>>()
    };
    assert!(parse(&of(&[])).is_ok());
    assert!(parse(&of(&many(1000))).is_ok());
    assert!(parse(&of(&many(1001))).is_err());
    assert!(parse(&of(&[entry(&json!({})), entry(&json!({"tier": "risky"}))])).is_err());
    for (key, value) in [
        ("version", json!(2)),
        ("version", json!("1")),
        ("host", json!("")),
        ("host", json!("a\nb")),
        ("stop_file", json!("stop")),
        ("stop_file", json!(null)),
        ("entries", json!({})),
        ("extra", json!(1)),
    ] {
        let mut list = of(&[]);
        list[key] = value;
        assert!(parse(&list).is_err(), "{list}");
    }
    let text = of(&[entry(&json!({}))]).to_string();
    for (from, to) in [
        ("\"version\":1", "\"version\":1,\"version\":1"),
        ("\"id\":\"a\"", "\"id\":\"a\",\"id\":\"a\""),
        ("\"tier\":\"safe\"", "\"tier\":\"risky\",\"tier\":\"safe\""),
    ] {
        assert!(text.contains(from));
        assert!(
            List::parse(text.replace(from, to).as_bytes()).is_err(),
            "{to}"
        );
    }
}

#[test]
fn what_is_written_is_read_back() {
    let text = json!({"version": 1, "host": "ct100", "stop_file": "/etc/void-act/stop", "entries": [
        {"id": "scale", "argv": ["/usr/bin/scale", {"param": "n"}, {"param": "m"}, {"param": "i"}], "tier": "risky",
         "def": "a".repeat(64), "cooldown_s": 60, "params": {
            "n": {"type": "integer", "min": 0, "max": 5},
            "m": {"type": "enum", "values": ["a", "b"]},
            "i": {"type": "pattern", "pattern": "^[a-z0-9./:-]+$", "max_len": 128}}},
    ]});
    let list = parse(&text).unwrap();
    assert_eq!(serde_json::to_value(&list).unwrap(), text);
    let given = serde_json::from_value(json!({"n": 3, "m": "b", "i": "app:1"})).unwrap();
    assert_eq!(
        list.entries[0].invocation(&given, |_| None).unwrap().argv,
        ["/usr/bin/scale", "3", "b", "app:1"]
    );
    assert!(
        list.entries[0]
            .invocation(&Params::new(), |_| None)
            .is_err()
    );
}
