use super::*;

const OLD: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

#[test]
fn what_is_made_is_applied_to_the_letter() {
    let texts = [
        "",
        "one\n",
        "one",
        OLD,
        "one\ntwo\nthree\nfour\n5\nsix\nseven\neight\nnine\n",
        "zero\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine",
        "nine\neight\n",
        "\n\n\n",
        "- not a removal\n+ nor an addition\n@@ -1 +1 @@\n\\ No newline at end of file\n",
        "with\r\ncarriage\r\nreturns\r\n",
    ];
    for old in texts {
        for new in texts {
            let patch = unified(old, new).unwrap();
            if old == new {
                assert_eq!(patch, "");
                assert_eq!(apply(old, &patch), Err(InvalidPatch::Empty));
            } else {
                assert_eq!(apply(old, &patch).as_deref(), Ok(new), "{patch}");
            }
        }
    }
}

#[test]
fn a_diff_that_does_not_fit_exactly_is_refused() {
    let new = OLD.replace("five", "5");
    let patch = unified(OLD, &new).unwrap();
    // The same place one line further down, another text there, twice.
    for moved in [
        format!("zero\n{OLD}"),
        OLD.replace("three", "drei"),
        OLD.replace("five", "FIVE"),
        OLD.replace("six\n", ""),
        String::new(),
        new.clone(),
    ] {
        assert!(
            matches!(apply(&moved, &patch), Err(InvalidPatch::DoesNotFit { .. })),
            "{moved}"
        );
    }
}

#[test]
fn what_is_no_diff_is_named() {
    let hunk = "@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    assert_eq!(apply(OLD, hunk).unwrap(), OLD.replace("two", "2"));
    let git = format!("diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n{hunk}");
    assert_eq!(apply(OLD, &git).unwrap(), OLD.replace("two", "2"));
    for (patch, wrong) in [
        ("", InvalidPatch::Empty),
        ("--- a\n+++ b\n", InvalidPatch::Empty),
        ("restart caddy\n", InvalidPatch::NotADiff { line: 1 }),
        ("@@ -x +1 @@\n", InvalidPatch::NotADiff { line: 1 }),
        (
            "@@ -1,2 +1,2 @@\n one\n",
            InvalidPatch::WrongCount { line: 1 },
        ),
        (
            "@@ -1,1 +1,1 @@\n one\n-two\n+2\n",
            InvalidPatch::NotADiff { line: 3 },
        ),
        (
            "@@ -1,3 +1,2 @@\n one\n-two\n+2\n",
            InvalidPatch::WrongCount { line: 1 },
        ),
        (
            "@@ -99999999999999999999 +1 @@\n",
            InvalidPatch::NotADiff { line: 1 },
        ),
        (
            "--- a\n+++ b\n@@ -1 +1 @@\n-one\n+1\n--- c\n+++ d\n@@ -2 +2 @@\n-two\n+2\n",
            InvalidPatch::SeveralFiles,
        ),
        (
            "@@ -5,1 +5,1 @@\n-five\n+5\n@@ -2,1 +2,1 @@\n-two\n+2\n",
            InvalidPatch::DoesNotFit { line: 4, at: 2 },
        ),
        (
            "@@ -90,0 +91 @@\n+late\n",
            InvalidPatch::DoesNotFit { line: 1, at: 91 },
        ),
    ] {
        assert_eq!(apply(OLD, patch), Err(wrong), "{patch}");
    }
}

#[test]
fn texts_that_differ_too_much_are_not_compared() {
    let many = |word: &str| {
        (0..2_500)
            .map(|i| format!("{word}{i}\n"))
            .collect::<String>()
    };
    assert_eq!(unified(&many("a"), &many("b")), Err(TooDifferent));
    assert!(unified(&many("a"), &format!("{}last\n", many("a"))).is_ok());
}
