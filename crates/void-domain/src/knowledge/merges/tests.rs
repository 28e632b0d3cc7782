use super::*;
use crate::knowledge::{Body, Details, PageDetails, Tags, Title};

fn page(title: &str, tags: &[&str], body: &str) -> Fields {
    Fields {
        title: Title::parse(title).unwrap(),
        body: Body::parse(body).unwrap(),
        details: Details::Page(PageDetails {
            tags: Tags::parse(tags.iter().copied()).unwrap(),
            ..PageDetails::default()
        }),
    }
}

fn text(body: &str) -> Fields {
    page("Caddy", &[], body)
}

fn merged(base: &str, draft: &str, now: &str) -> Result<String, NoMerge> {
    let merged = merge(&text(base), &text(draft), &text(now))?;
    Ok(merged.body.as_str().to_owned())
}

fn conflicts(base: &str, draft: &str, now: &str) -> Vec<MergeConflict> {
    match merged(base, draft, now) {
        Err(NoMerge::Conflicts { conflicts, .. }) => conflicts,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_one_side_changed_is_taken_from_it() {
    for (base, draft, now, expected) in [
        ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n"),
        (
            "a\nb\nc\n",
            "a\nb\nc\nd\n",
            "z\na\nb\nc\n",
            "z\na\nb\nc\nd\n",
        ),
        ("a\nb\nc\n", "a\nc\n", "a\nb\nc\nd\n", "a\nc\nd\n"),
        ("a\nb\n", "a\nx\n", "a\nx\n", "a\nx\n"),
        ("a\nb\n", "a\nb\n", "a\nx\n", "a\nx\n"),
        ("", "a", "", "a"),
        ("a", "a", "", ""),
    ] {
        assert_eq!(
            merged(base, draft, now),
            Ok(expected.to_owned()),
            "{base:?} {draft:?} {now:?}"
        );
    }
}

#[test]
fn where_both_changed_the_same_nothing_is_guessed() {
    let one = conflicts("a\nb\nc\n", "a\ndraft\nc\n", "a\nnow\nc\n");
    let expected = MergeConflict {
        line: 7,
        base: "b\n".to_owned(),
        draft: "draft\n".to_owned(),
        now: "now\n".to_owned(),
    };
    assert_eq!(one, [expected]);
    // Beside each other, at one place, and gone on one side.
    for (base, draft, now) in [
        ("a\nb\n", "A\nb\n", "a\nB\n"),
        ("a\n", "a\nx\n", "a\ny\n"),
        ("a\nb\n", "a\n", "a\nB\n"),
        ("a", "a\nb", "a\nc"),
    ] {
        assert_eq!(
            conflicts(base, draft, now).len(),
            1,
            "{base:?} {draft:?} {now:?}"
        );
    }
}

#[test]
fn each_property_is_merged_for_itself() {
    let base = page("Caddy", &["web"], "a\n");
    let draft = page("Caddy", &["web", "proxy"], "a\n");
    let now = page("The proxy", &["web"], "b\n");
    let expected = page("The proxy", &["web", "proxy"], "b\n");
    assert_eq!(merge(&base, &draft, &now), Ok(expected));
    let other = page("Another", &["web"], "a\n");
    let Err(NoMerge::Conflicts { conflicts, .. }) = merge(&base, &other, &now) else {
        panic!()
    };
    assert_eq!(
        (
            conflicts[0].line,
            conflicts[0].draft.as_str(),
            conflicts[0].now.as_str()
        ),
        (1, "title: Another\n", "title: The proxy\n")
    );
}

#[test]
fn so_many_conflicts_are_told_and_the_others_counted() {
    let lines = |word: &str| -> String {
        (0..=MERGE_CONFLICTS_TOLD_MAX)
            .map(|n| format!("same {n}\n\n{word} {n}\n\n"))
            .collect()
    };
    let answer = merged(&lines("base"), &lines("draft"), &lines("now"));
    let Err(NoMerge::Conflicts {
        conflicts,
        left_out,
    }) = answer
    else {
        panic!()
    };
    assert_eq!((conflicts.len(), left_out), (MERGE_CONFLICTS_TOLD_MAX, 1));
}

#[test]
fn what_differs_too_much_is_not_compared() {
    let lines = |word: &str| -> String { (0..3_000).map(|n| format!("{word} {n}\n")).collect() };
    let answer = merged(&lines("a"), &lines("b"), &lines("c"));
    assert_eq!(answer, Err(NoMerge::TooDifferent(TooDifferent)));
}
