use super::*;
use crate::limits::{FRONT_MATTER_BYTES_MAX, RUNBOOK_NAMES_MAX};

fn service(name: &str) -> RunbookName {
    RunbookName::parse("service", name).unwrap()
}

fn action(name: &str) -> RunbookName {
    RunbookName::parse("action", name).unwrap()
}

fn written(body: &str, about: &[RunbookName]) -> String {
    with_runbooks(body, about).unwrap().as_str().to_owned()
}

#[test]
fn a_head_is_written_and_what_else_it_says_stays() {
    let both = [service("caddy"), action("restart-caddy")];
    for (body, expected) in [
        (
            "text\n",
            "---\nservices: [caddy]\nactions: [restart-caddy]\n---\ntext\n",
        ),
        (
            "",
            "---\nservices: [caddy]\nactions: [restart-caddy]\n---\n",
        ),
        (
            "---\ntags: [a]\n# note\n---\ntext",
            "---\ntags: [a]\n# note\nservices: [caddy]\nactions: [restart-caddy]\n---\ntext",
        ),
        (
            "---\nservices:\n  - old\n  - older\ntags: a\nservices: twice\nactions: [x]\n---\ntext",
            "---\ntags: a\nservices: [caddy]\nactions: [restart-caddy]\n---\ntext",
        ),
        (
            "\u{feff}---\r\ntags: a\r\n---\r\ntext",
            "\u{feff}---\r\ntags: a\r\nservices: [caddy]\r\nactions: [restart-caddy]\r\n---\r\ntext",
        ),
        (
            "---\nnever closed\n",
            "---\nservices: [caddy]\nactions: [restart-caddy]\n---\n---\nnever closed\n",
        ),
    ] {
        let new = written(body, &both);
        assert_eq!(new, expected, "{body:?}");
        assert_eq!(FrontMatter::of(&new).runbooks, both);
        assert_eq!(written(&new, &both), new, "said twice is said once");
    }
}

#[test]
fn a_page_that_is_about_nothing_has_no_head_for_it() {
    for (body, expected) in [
        ("---\nservices: [caddy]\n---\ntext\n", "text\n"),
        (
            "---\nservices: [caddy]\ntags: a\n---\ntext",
            "---\ntags: a\n---\ntext",
        ),
        ("text", "text"),
        ("\u{feff}text", "\u{feff}text"),
    ] {
        assert_eq!(written(body, &[]), expected, "{body:?}");
    }
}

#[test]
fn what_does_not_fit_into_a_head_is_refused() {
    let many: Vec<RunbookName> = (0..=RUNBOOK_NAMES_MAX)
        .map(|n| service(&format!("s{n}")))
        .collect();
    assert_eq!(with_runbooks("text", &many), Err(NoRunbook::Head));
    assert!(with_runbooks("text", &many[1..]).is_ok());
    let long = format!(
        "---\nx: {}\n---\ntext",
        "y".repeat(FRONT_MATTER_BYTES_MAX - 20)
    );
    assert_eq!(
        with_runbooks(&long, &[service("caddy")]),
        Err(NoRunbook::Head)
    );
}

#[test]
fn the_line_that_names_an_action_is_found() {
    let body = "---\nactions: [restart-caddy]\n---\n# Caddy\n\nrestart-caddy-now is another.\nThen `restart-caddy`, once.\n";
    let line = line_about(body, &action("restart-caddy"), Some("Restart Caddy")).unwrap();
    assert_eq!(
        (line.number, line.text.as_str()),
        (7, "Then `restart-caddy`, once.")
    );
    // By what people call it, whatever the capitals.
    let called = line_about(
        "a\nFirst restart CADDY.\n",
        &action("rc"),
        Some("Restart Caddy"),
    );
    assert_eq!(called.map(|line| line.number), Some(2));
    for (body, label) in [
        ("nothing about it", Some("Restart Caddy")),
        ("", None),
        ("  \n", Some(" ")),
    ] {
        assert_eq!(
            line_about(body, &action("restart-caddy"), label),
            None,
            "{body:?}"
        );
    }
    let long = format!("caddy {}", "x".repeat(LINE_BYTES_MAX));
    assert_eq!(
        line_about(&long, &service("caddy"), None)
            .unwrap()
            .text
            .len(),
        LINE_BYTES_MAX
    );
}
