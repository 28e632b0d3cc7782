use super::*;

fn text(value: &str) -> ParamValue {
    ParamValue::Text(value.to_owned())
}

fn pattern(pattern: &str, max_len: usize) -> ParamSpec {
    ParamSpec::Pattern {
        pattern: pattern.to_owned(),
        max_len,
    }
}

#[test]
fn values_are_judged_at_the_limit() {
    let replicas = ParamSpec::Integer { min: 0, max: 5 };
    let mode = ParamSpec::Enum {
        values: vec!["a".into(), "-b".into()],
    };
    let image = pattern("^[a-z0-9./:-]+$", 8);
    let either = pattern("^a|b$", 8);
    let table = [
        (&replicas, ParamValue::Integer(0), true),
        (&replicas, ParamValue::Integer(5), true),
        (&replicas, ParamValue::Integer(-1), false),
        (&replicas, ParamValue::Integer(6), false),
        (&replicas, text("3"), false),
        (&mode, text("a"), true),
        (&mode, text("-b"), true),
        (&mode, text("A"), false),
        (&mode, text(""), false),
        (&mode, ParamValue::Integer(1), false),
        (&image, text("app:1.2"), true),
        (&image, text("12345678"), true),
        (&image, text("123456789"), false),
        (&image, text(""), false),
        (&image, text("-rf"), false),
        (&image, text("app;id"), false),
        (&image, text("app\n"), false),
        (&image, text("a b"), false),
        (&image, ParamValue::Integer(7), false),
        (&either, text("a"), true),
        (&either, text("b"), true),
        (&either, text("ax"), false),
        (&either, text("xb"), false),
        (&pattern("^.*$", 8), text("a\0b"), false),
        (&pattern("^(?s:.*)$", 8), text("a\u{85}"), false),
    ];
    for (spec, value, good) in table {
        assert_eq!(spec.accepts(&value), good, "{spec:?} {value:?}");
    }
}

#[test]
fn declarations_that_cannot_hold_are_found() {
    let table = [
        (ParamSpec::Integer { min: 1, max: 1 }, true),
        (ParamSpec::Integer { min: 2, max: 1 }, false),
        (ParamSpec::Enum { values: vec![] }, false),
        (
            ParamSpec::Enum {
                values: vec![String::new()],
            },
            false,
        ),
        (
            ParamSpec::Enum {
                values: vec!["a\n".into()],
            },
            false,
        ),
        (
            ParamSpec::Enum {
                values: vec!["a".into(); 257],
            },
            false,
        ),
        (pattern("^a$", 1), true),
        (pattern("^a$", 1024), true),
        (pattern("^a$", 1025), false),
        (pattern("^a$", 0), false),
        (pattern("a$", 1), false),
        (pattern("^a", 1), false),
        (pattern("^", 1), false),
        (pattern("^a\\$", 1), false),
        (pattern("^($", 1), false),
        (pattern("^a)|(?:b$", 1), false),
        (pattern(&format!("^{}$", "a".repeat(1022)), 1), true),
        (pattern(&format!("^{}$", "a".repeat(1023)), 1), false),
    ];
    for (spec, good) in table {
        assert_eq!(spec.finding().is_none(), good, "{spec:?}");
    }
}

#[test]
fn all_declared_parameters_and_no_others() {
    let declared = BTreeMap::from([
        ("n".to_owned(), ParamSpec::Integer { min: 0, max: 1 }),
        ("m".to_owned(), ParamSpec::Integer { min: 0, max: 1 }),
    ]);
    let given = |names: &[&str]| -> Params {
        names
            .iter()
            .map(|name| ((*name).to_owned(), ParamValue::Integer(1)))
            .collect()
    };
    assert_eq!(check(&declared, &given(&["n", "m"])), Ok(()));
    assert!(check(&declared, &given(&["n"])).is_err());
    assert!(check(&declared, &given(&[])).is_err());
    let refusal = check(&declared, &given(&["n", "m", "\u{1b}[2J"])).unwrap_err();
    assert_eq!(refusal, r"parameter \x1b[2J is not declared");
    assert_eq!(check(&BTreeMap::new(), &given(&[])), Ok(()));
}

#[test]
fn a_value_is_a_string_or_a_whole_number() {
    for good in ["1", "-1", "9223372036854775807", "\"\"", "\"a\""] {
        assert!(serde_json::from_str::<ParamValue>(good).is_ok(), "{good}");
    }
    for bad in [
        "1.0",
        "1e3",
        "9223372036854775808",
        "null",
        "true",
        "[]",
        "{}",
        "-0",
    ] {
        assert!(serde_json::from_str::<ParamValue>(bad).is_err(), "{bad}");
    }
}
