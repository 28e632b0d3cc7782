//! The allow-list of mailboxes: all of it counts or nothing.

use void_domain::agents::AgentName;
use void_tree::{ROUTES_BYTES_MAX, ROUTES_MAX, RouteProblem, Routes};

fn name(text: &str) -> AgentName {
    text.parse().unwrap()
}

#[test]
fn a_list_is_one_way_and_names_only_whom_it_names() {
    let text = r#"{"alice": ["bob", "carol"], "bob": [], "dave": ["bob"]}"#;
    let routes = Routes::read(text).unwrap();
    let all: Vec<String> = routes
        .iter()
        .map(|route| format!("{} {}", route.from, route.to))
        .collect();
    assert_eq!(all, ["alice bob", "alice carol", "dave bob"]);
    for (from, to, expected) in [
        ("alice", "bob", true),
        ("alice", "carol", true),
        ("dave", "bob", true),
        ("bob", "alice", false),
        ("carol", "alice", false),
        ("alice", "dave", false),
        ("alice", "alice", false),
        ("eve", "bob", false),
    ] {
        assert_eq!(
            routes.has(&name(from), &name(to)),
            expected,
            "{from} to {to}"
        );
    }
    assert_eq!(routes.names().len(), 4);
    assert_eq!(Routes::read("{}").unwrap(), Routes::none());
    assert!(!Routes::none().has(&name("alice"), &name("bob")));
}

#[test]
fn anything_wrong_and_none_of_it_counts() {
    for (text, told) in [
        ("", "no JSON object"),
        ("[]", "no JSON object"),
        (r#"{"alice": ["bob"]"#, "no JSON object"),
        (r#"{"alice": ["bob"]} x"#, "no JSON object"),
        (r#"{"alice": "bob"}"#, "alice has no list"),
        (r#"{"alice": null, "carol": ["bob"]}"#, "alice has no list"),
        (r#"{"Alice": ["bob"]}"#, "\"Alice\" is no name"),
        (r#"{"alice": ["bob", "*"]}"#, "\"*\" is no name"),
        (r#"{"alice": ["bob", 7]}"#, "\"7\" is no name"),
        (r#"{"alice": [["bob"]]}"#, "is no name"),
        (
            r#"{"alice": ["bob"], "alice": ["carol"]}"#,
            "alice stands there twice",
        ),
        (r#"{"*": ["bob"], "alice": ["bob"]}"#, "\"*\" is no name"),
    ] {
        let problems = Routes::read(text).unwrap_err();
        assert!(
            problems.iter().any(|one| one.to_string().contains(told)),
            "{text}: {problems:?}"
        );
    }
}

#[test]
fn a_list_has_bounds() {
    let of = |count: usize| {
        let names: Vec<String> = (0..count).map(|at| format!("\"a{at}\"")).collect();
        format!("{{\"alice\": [{}]}}", names.join(","))
    };
    assert_eq!(
        Routes::read(&of(ROUTES_MAX)).unwrap().iter().count(),
        ROUTES_MAX
    );
    assert_eq!(
        Routes::read(&of(ROUTES_MAX + 1)),
        Err(vec![RouteProblem::TooMany])
    );
    let padded = |bytes: usize| format!("{{}}{}", " ".repeat(bytes - 2));
    assert!(Routes::read(&padded(ROUTES_BYTES_MAX)).is_ok());
    assert_eq!(
        Routes::read(&padded(ROUTES_BYTES_MAX + 1)),
        Err(vec![RouteProblem::TooLong])
    );
}
