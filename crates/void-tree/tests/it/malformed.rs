//! Whatever stands in the file: nobody gains anything by it, and all that is wrong is told.

use void_domain::agents::AgentName;
use void_domain::relations::Relation;
use void_tree::{DEPTH_MAX, Index, TOPOLOGY_BYTES_MAX, Topology, TreeProblem};

use crate::forests::name;

/// The text, whom the root still stands above, and what is told.
fn check(text: &str, kept: &[&str], told: &[&str]) {
    let reading = Topology::read(Some(text));
    let index = Index::of(&reading.topology);
    let mut below: Vec<&str> = index
        .descendants(&name("root"))
        .iter()
        .map(AgentName::as_str)
        .collect();
    below.sort_unstable();
    assert_eq!(below, kept, "{text}");
    let said: Vec<String> = reading.problems.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), told.len(), "{text}: {said:#?}");
    for (said, told) in said.iter().zip(told) {
        assert!(
            said.contains(told),
            "{text}: {said:?} does not say {told:?}"
        );
        assert!(said.chars().all(|one| !one.is_control()), "{said:?}");
    }
}

#[test]
fn the_source_documents_form_is_read() {
    check(
        r#"{"root": null, "alice": "root", "bob": "alice"}"#,
        &["alice", "bob"],
        &[],
    );
    check(r#"{"root": null}"#, &[], &[]);
}

#[test]
fn a_file_that_says_nothing_gives_nobody_anything() {
    let nobody = ["nobody stands above anybody"];
    for text in [
        "",
        " ",
        "null",
        "[]",
        "7",
        "\"root\"",
        "{",
        r#"{"root": null"#,
        r#"{"root": null,}"#,
        r#"{"root": null} x"#,
        "{}",
        r#"{"alice": "root"}"#,
        r#"{"alice": null}"#,
        r#"{"root": "alice", "alice": "root"}"#,
        r#"{"root": "root"}"#,
        r#"{root: null}"#,
    ] {
        check(text, &[], &nobody);
        let topology = Topology::read(Some(text)).topology;
        assert!(topology.is_empty(), "{text}");
    }
    let missing = Topology::read(None);
    assert!(missing.topology.is_empty());
    assert_eq!(missing.problems, [TreeProblem::Missing]);
    let deep = "[".repeat(100_000);
    check(
        &format!("{{\"root\": null, \"alice\": {deep}"),
        &[],
        &nobody,
    );
}

#[test]
fn what_is_wrong_has_no_position_and_what_is_right_keeps_its_own() {
    check(
        r#"{"root": null, "a": "b", "b": "a", "c": "a", "d": "root"}"#,
        &["d"],
        &[
            "a stands, over others, under itself",
            "b stands, over others, under itself",
            "c stands below a, which has no position",
        ],
    );
    check(
        r#"{"root": null, "a": "a", "d": "root"}"#,
        &["d"],
        &["a stands, over others, under itself"],
    );
    check(
        r#"{"root": null, "a": "gone", "b": "a", "c": "b"}"#,
        &[],
        &[
            "a stands under gone, who is not in the tree",
            "b stands below a",
            "c stands below a",
        ],
    );
    check(
        r#"{"root": null, "a": null, "b": "a", "d": "root"}"#,
        &["d"],
        &["a has no parent; only root has none", "b stands below a"],
    );
    check(
        r#"{"root": null, "a": "root", "a": "d", "d": "root"}"#,
        &["d"],
        &["a stands there twice"],
    );
    check(
        r#"{"root": null, "a": "root", "b": "a", "a": "root"}"#,
        &[],
        &["a stands there twice", "b stands under a, who is not"],
    );
    check(
        r#"{"root": null, "a": 7, "b": {"x": 1}, "c": true, "d": "D", "e": "root"}"#,
        &["e"],
        &[
            "a has a parent that is neither a name nor null: 7",
            "b has a parent",
            "c has a parent",
            "d has a parent that is neither a name nor null: D",
        ],
    );
    // Twice is twice also for the root.
    check(
        r#"{"root": null, "root": null, "a": "root"}"#,
        &[],
        &["nobody stands above anybody", "root stands there twice"],
    );
}

#[test]
fn names_that_only_look_like_names_are_none() {
    for odd in [
        "Alice",
        "alice ",
        "-alice",
        "",
        "al\\u0069ce\\u0000",
        "\\u0430lice",
        "a/b",
        "..",
        "alice\\u202e",
    ] {
        let text = format!("{{\"root\": null, \"{odd}\": \"root\", \"bob\": \"root\"}}");
        check(&text, &["bob"], &["is no name of an agent"]);
        let text = format!("{{\"root\": null, \"carol\": \"{odd}\", \"bob\": \"root\"}}");
        check(&text, &["bob"], &["carol has a parent"]);
    }
    let long = "x".repeat(65);
    check(
        &format!("{{\"root\": null, \"{long}\": \"root\"}}"),
        &[],
        &["is no name of an agent"],
    );
    check(
        r#"{"root": null, "alice": "root", "a1ice": "root", "bob": "alice"}"#,
        &[],
        &[
            "bob stands below alice",
            "a1ice reads like alice",
            "alice reads like a1ice",
        ],
    );
    // The root is the root whoever reads like it.
    check(
        r#"{"root": null, "r00t": "root", "ro-ot": "r00t", "bob": "root"}"#,
        &["bob"],
        &["r00t reads like", "ro-ot reads like"],
    );
}

#[test]
fn the_bounds_hold_at_the_limit_and_not_beyond() {
    let chain = |count: usize| {
        let mut text = String::from("{\"root\": null");
        for depth in 1..=count {
            let own = "n".repeat(depth.min(64));
            let own = if depth > 64 { format!("m{depth}") } else { own };
            let above = if depth == 65 {
                "n".repeat(64)
            } else if depth > 65 {
                format!("m{}", depth - 1)
            } else {
                "n".repeat(depth - 1)
            };
            let above = if depth == 1 { "root".to_owned() } else { above };
            text.push_str(&format!(",\"{own}\":\"{above}\""));
        }
        text.push('}');
        Topology::read(Some(&text))
    };
    let deepest = usize::from(DEPTH_MAX);
    assert_eq!(chain(deepest).problems, []);
    assert_eq!(chain(deepest).topology.len(), deepest + 1);
    let over = chain(deepest + 2);
    assert_eq!(over.topology.len(), deepest + 1);
    let (deep, below) = (name("m65"), name("m66"));
    let below = TreeProblem::BelowWrong {
        name: below,
        wrong: deep.clone(),
    };
    assert_eq!(over.problems, [below, TreeProblem::TooDeep(deep)]);
    let padded = |bytes: usize| {
        let mut text = r#"{"root": null, "a": "root"}"#.to_owned();
        text.push_str(&" ".repeat(bytes - text.len()));
        Topology::read(Some(&text))
    };
    assert_eq!(padded(TOPOLOGY_BYTES_MAX).topology.len(), 2);
    assert_eq!(
        padded(TOPOLOGY_BYTES_MAX + 1).problems,
        [TreeProblem::TooLong]
    );
}

#[test]
fn hostile_text_of_any_kind_is_taken() {
    for bytes in 0..2_000_u64 {
        let mut random = crate::forests::Random(bytes);
        let pieces = [
            "{", "}", "\"root\"", ":", "null", ",", "\"a\"", "[", "]", "\\", "\u{0}", "1e999",
            "\"", "\u{202e}", " ",
        ];
        let text: String = (0..random.below(24))
            .map(|_| *random.pick(&pieces))
            .collect();
        let reading = Topology::read(Some(&text));
        let index = Index::of(&reading.topology);
        if reading.topology.is_empty() {
            assert!(!reading.problems.is_empty(), "{text:?}");
            assert_eq!(
                index.relation(&name("root"), &name("a")),
                Relation::Stranger
            );
        }
    }
}

#[test]
fn what_is_written_is_read_back() {
    let text = "{\n  \"alice\": \"root\",\n  \"bob\": \"alice\",\n  \"root\": null\n}\n";
    let reading = Topology::read(Some(text));
    assert_eq!(reading.topology.to_json(), text);
    assert_eq!(Topology::empty().to_json(), "{}\n");
    for seed in 0..100 {
        let written = crate::forests::forest(&mut crate::forests::Random(seed), 60);
        let read = Topology::read(Some(&crate::forests::json(&written))).topology;
        assert_eq!(Topology::read(Some(&read.to_json())).topology, read);
        assert_eq!(read.len(), written.len());
    }
}
