use super::*;
use crate::changes::{ChangeEffect, ChangeOp};
use crate::digests::Digest;
use crate::limits::CHANGE_PATCH_BYTES_MAX;

fn change(old: &str, new: &str) -> Change {
    Change {
        target: ChangeTarget::Knowledge,
        entity: "page".to_owned(),
        entity_id: None,
        op: ChangeOp::Update,
        base: None,
        patch: diffs::unified_exact(old, new).unwrap(),
        result: Digest::of(new.as_bytes()),
        summary: Vec::new(),
        effect: ChangeEffect::Stored,
        about: None,
    }
}

fn words(old: &str, new: &str) -> WordDifference {
    difference(&change(old, new)).unwrap()
}

fn drawn(difference: &WordDifference) -> String {
    let span = |span: &WordSpan| match span.kind {
        SpanKind::Same => span.text.clone(),
        SpanKind::Added => format!("{{+{}+}}", span.text),
        SpanKind::Removed => format!("[-{}-]", span.text),
    };
    let parts = difference.parts.iter();
    parts.flat_map(|part| part.spans.iter().map(span)).collect()
}

#[test]
fn words_that_change_stand_among_those_that_stay() {
    for (old, new, expected) in [
        (
            "Restart it.\nThen wait.\n",
            "Restart it gently.\nThen wait.\n",
            "Restart it{+ gently+}.\nThen wait.\n",
        ),
        (
            "state: open\n\ntext\n",
            "state: done\n\ntext\n",
            "state: [-open-]{+done+}\n\ntext\n",
        ),
        ("", "new\n", "{+new\n+}"),
        ("one\n", "one", "one[-\\u{a}\n-]"),
    ] {
        assert_eq!(drawn(&words(old, new)), expected, "{old:?}");
    }
}

#[test]
fn the_spans_of_a_difference_are_all_of_it_in_every_part() {
    let lines = |mark: &str| -> String {
        let all = (0..60).map(|n| format!("line {n} {}\n", if n % 20 == 3 { mark } else { "" }));
        all.collect()
    };
    let difference = words(&lines("old word"), &lines("new"));
    assert_eq!(difference.parts.len(), 3);
    assert_eq!(
        (
            difference.words_added,
            difference.words_removed,
            difference.places
        ),
        (3, 6, 3)
    );
    let begins: Vec<usize> = difference.parts.iter().map(|part| part.line).collect();
    assert_eq!(begins, [1, 21, 41]);
    assert_eq!(drawn(&difference).matches("[-old word-]{+new+}").count(), 3);
}

#[test]
fn nothing_that_hides_is_shown_as_itself() {
    for (old, new, said, hiding) in [
        (
            "rm it\n",
            "r\u{200b}m it\n",
            "r\\u{200b}m",
            Hiding::Invisible,
        ),
        ("a b\n", "a \u{202e}b\n", "\\u{202e}", Hiding::Bidirectional),
        ("a b\n", "a  b\n", "\\u{20}\\u{20}", Hiding::BlanksOnly),
        (
            "copy\n",
            "\u{441}\u{43e}\u{440}\u{443}\n",
            "\\u{441}\\u{43e}",
            Hiding::LookAlike,
        ),
        ("host\n", "h\u{3bf}st\n", "h\\u{3bf}st", Hiding::LookAlike),
        ("a\n", "a\r\n", "\\u{d}", Hiding::BlanksOnly),
    ] {
        let difference = words(old, new);
        let drawn = drawn(&difference);
        assert!(drawn.contains(said), "{drawn:?}");
        assert!(difference.hidings.contains(&hiding), "{difference:?}");
        let is_seen = |c: char| c == '\n' || !(c.is_control() || text::is_deceptive(c));
        assert!(drawn.chars().all(is_seen), "{drawn:?}");
    }
    // What stays is escaped too, and a line that ends in blanks says so.
    assert!(drawn(&words("x\u{202e}y\na\n", "x\u{202e}y\nb\n")).starts_with("x\\u{202e}y\n"));
    assert!(drawn(&words("a\n", "a b  \n")).contains(" b\\u{20}\\u{20}"));
}

#[test]
fn what_is_huge_is_coarser_and_never_less() {
    let text = |word: &str| format!("{word} ").repeat(CHANGE_PATCH_BYTES_MAX / 20);
    let (old, new) = (text("old"), text("other"));
    let difference = words(&old, &new);
    assert!(
        difference
            .parts
            .iter()
            .all(|part| part.grain != DiffGrain::Words)
    );
    let side = |kind: SpanKind| -> usize {
        let spans = difference.parts.iter().flat_map(|part| &part.spans);
        let of_kind = spans.filter(|span| span.kind == kind);
        of_kind
            .map(|span| span.text.split_whitespace().count())
            .sum()
    };
    let words = CHANGE_PATCH_BYTES_MAX / 20;
    assert_eq!(
        (side(SpanKind::Removed), side(SpanKind::Added)),
        (words, words)
    );
    assert_eq!(
        (difference.words_removed, difference.words_added),
        (words, words)
    );
}

#[test]
fn a_deletion_and_what_is_no_knowledge_have_no_words() {
    let mut gone = change("a\n", "b\n");
    gone.patch.clear();
    assert_eq!(difference(&gone), None);
    let catalogue = Change {
        target: ChangeTarget::Catalogue,
        ..change("a\n", "b\n")
    };
    assert_eq!(difference(&catalogue), None);
    let damaged = Change {
        patch: "no diff".to_owned(),
        ..change("a\n", "b\n")
    };
    assert_eq!(difference(&damaged), None);
}
