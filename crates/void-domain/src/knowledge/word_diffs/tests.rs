use super::*;

fn sides(diff: &WordDiff) -> (String, String) {
    let side = |without: SpanKind| -> String {
        let spans = diff.spans.iter().filter(|span| span.kind != without);
        spans.map(|span| span.text.as_str()).collect()
    };
    (side(SpanKind::Added), side(SpanKind::Removed))
}

fn shown(old: &str, new: &str) -> String {
    let diff = WordDiff::between(old, new);
    assert_eq!(sides(&diff), (old.to_owned(), new.to_owned()));
    let span = |span: &WordSpan| match span.kind {
        SpanKind::Same => span.text.clone(),
        SpanKind::Added => format!("{{+{}+}}", span.text),
        SpanKind::Removed => format!("[-{}-]", span.text),
    };
    diff.spans.iter().map(span).collect()
}

#[test]
fn words_that_stay_are_told_from_words_that_change() {
    for (old, new, expected) in [
        ("", "", ""),
        ("a b c", "a b c", "a b c"),
        ("", "new text", "{+new text+}"),
        ("keep this", "", "[-keep this-]"),
        (
            "restart caddy now",
            "restart nginx now",
            "restart [-caddy-]{+nginx+} now",
        ),
        ("a b", "a, b", "a{+,+} b"),
        ("one\ntwo\n", "one\nthree\n", "one\n[-two-]{+three+}\n"),
        ("größer 東京", "größer 大阪", "größer [-東京-]{+大阪+}"),
        ("state: open", "state: done", "state: [-open-]{+done+}"),
    ] {
        assert_eq!(shown(old, new), expected);
    }
}

#[test]
fn a_change_that_hides_is_marked() {
    use Hiding::{Bidirectional, BlanksOnly, Invisible, LookAlike};
    for (old, new, expected) in [
        ("copy", "copied", vec![]),
        ("copy that", "copy  that", vec![BlanksOnly]),
        ("a\nb", "a\r\nb", vec![BlanksOnly]),
        ("a", "a\n", vec![BlanksOnly]),
        ("rm", "r\u{200b}m", vec![Invisible, LookAlike]),
        ("a b", "a \u{202e}b", vec![Bidirectional]),
        ("a", "a\u{1b}[2J", vec![Invisible]),
        ("copy", "\u{441}\u{43e}\u{440}\u{443}", vec![LookAlike]),
        ("copy", "c\u{43e}py", vec![LookAlike]),
        ("host", "h\u{3bf}st", vec![LookAlike]),
        ("1l", "ll", vec![LookAlike]),
        ("caf\u{e9}", "cafe\u{301}", vec![LookAlike]),
        ("a-b", "a\u{2011}b", vec![LookAlike]),
        ("ab", "\u{ff41}b", vec![LookAlike]),
        ("a b", "a\u{a0}b", vec![BlanksOnly, LookAlike]),
        ("Grüße", "Größe", vec![]),
        ("см. ниже", "см. выше", vec![]),
    ] {
        let diff = WordDiff::between(old, new);
        assert_eq!(diff.hidings(), expected, "{old:?} {new:?} {:?}", diff.spans);
    }
    // What stays was there before and is not marked.
    assert!(
        WordDiff::between("\u{202e}a b", "\u{202e}a c")
            .hidings()
            .is_empty()
    );
}

#[test]
fn counts_are_of_words_and_places() {
    let diff = WordDiff::between("a b c d e", "a X c Y Z e f");
    assert_eq!(
        (diff.words_added, diff.words_removed, diff.places()),
        (4, 2, 3)
    );
}

#[test]
fn what_is_too_different_is_coarser_and_still_whole() {
    let text = |word: &str, lines: usize| -> String {
        (0..lines).map(|n| format!("{word} {n} {word}\n")).collect()
    };
    let grain = |old: &str, new: &str| {
        let diff = WordDiff::between(old, new);
        assert_eq!(sides(&diff), (old.to_owned(), new.to_owned()));
        diff.grain
    };
    assert_eq!(grain(&text("a", 10), &text("b", 10)), DiffGrain::Words);
    assert_eq!(
        grain(&text("a", 1_500), &text("b", 1_500)),
        DiffGrain::Lines
    );
    assert_eq!(
        grain(&text("a", 5_000), &text("b", 5_000)),
        DiffGrain::Whole
    );
    let most = "a ".repeat(DIFFERENT_WORDS_MAX / 4);
    let other = "b ".repeat(DIFFERENT_WORDS_MAX / 4);
    assert_eq!(grain(most.trim_end(), other.trim_end()), DiffGrain::Words);
    // A long text with one other word in it is compared by words.
    let (old, new) = (text("a", 20_000), text("a", 20_000).replace("19000", "x"));
    assert_eq!(grain(&old, &new), DiffGrain::Words);
}
