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

/// What a diff says of the file that it is for has to be true.
#[test]
fn headers_name_this_file_or_it_is_refused() {
    let paths = [
        "/etc/void/actions.json".into(),
        "/srv/lab/config/all.json".into(),
    ];
    let hunk = "@@ -1 +1 @@\n-one\n+1\n";
    let file = PatchedFile {
        paths: &paths,
        is_new: false,
    };
    let apply = |header: &str| apply_to(file, "one\n", &format!("{header}{hunk}"));
    for header in [
        "",
        "--- actions.json\n+++ actions.json\n",
        "--- a/actions.json\n+++ b/actions.json\n",
        "--- ./actions.json\n+++ ./actions.json\n",
        "--- /etc/void/actions.json\t2026-11-18 12:00:00.000 +0100\n+++ /etc/void/actions.json\t2026-11-18 12:00:01 +0100\n",
        "--- i/config/all.json\r\n+++ w/config/all.json\r\n",
        "diff --git a/config/all.json b/config/all.json\nindex 1..2 100644\n--- a/config/all.json\n+++ b/config/all.json\n",
    ] {
        assert_eq!(apply(header).as_deref(), Ok("1\n"), "{header}");
    }
    for (header, line) in [
        ("--- a/services.json\n+++ b/services.json\n", 1),
        ("--- a/actions.json\n+++ b/actions.json.new\n", 2),
        ("--- a/actions.json\n+++ b/../actions.json\n", 2),
        ("--- a/../void/actions.json\n+++ b/actions.json\n", 1),
        ("--- /tmp/actions.json\n+++ actions.json\n", 1),
        ("--- x/actions.json\n+++ x/actions.json\n", 1),
        ("--- actions.json 2026-11-18\n+++ actions.json\n", 1),
        ("--- \"a/actions.json\"\n+++ b/actions.json\n", 1),
        ("--- a/\n+++ b/\n", 1),
        ("--- /\n", 1),
        ("--- \t2026-11-18\n", 1),
        ("+++ etc\n", 1),
        // It is there, and stays.
        ("--- /dev/null\n+++ b/actions.json\n", 1),
        ("--- a/actions.json\n+++ /dev/null\n", 2),
        ("new file mode 100644\n", 1),
        ("diff --git a/actions.json b/etc/passwd\n", 1),
        ("diff --git a/etc/passwd b/actions.json\n", 1),
        ("diff --git a/actions.json\n", 1),
    ] {
        let refused = apply(header);
        let is_it =
            matches!(refused, Err(InvalidPatch::AnotherFile { line: at, .. }) if at == line);
        assert!(is_it, "{header}: {refused:?}");
    }
}

#[test]
fn a_new_file_is_this_one_and_no_second_one_follows() {
    let paths = ["/etc/void/actions.json".into()];
    let hunk = "@@ -1 +1 @@\n-one\n+1\n";
    let file = |is_new: bool| PatchedFile {
        paths: &paths,
        is_new,
    };
    let apply_new =
        |header: &str| apply_to(file(true), "", &format!("{header}@@ -0,0 +1 @@\n+1\n"));
    let new = "diff --git a/actions.json b/actions.json\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/actions.json\n";
    assert_eq!(apply_new(new).as_deref(), Ok("1\n"));
    let elsewhere = "--- /dev/null\n+++ b/passwd\n";
    assert_eq!(
        apply_new(elsewhere),
        Err(InvalidPatch::AnotherFile {
            line: 2,
            name: "b/passwd".to_owned()
        })
    );
    // A second file that comes without a first header.
    let second = format!("{hunk}--- a/actions.json\n+++ b/actions.json\n@@ -2 +2 @@\n-two\n+2\n");
    assert_eq!(
        apply_to(file(false), "one\ntwo\n", &second),
        Err(InvalidPatch::SeveralFiles)
    );
    // What is shown of a name deceives nobody and is short.
    let long = format!("--- \u{202e}{}\n", "x".repeat(10_000));
    let long = apply_to(file(false), "one\n", &format!("{long}{hunk}"));
    let Err(InvalidPatch::AnotherFile { name, .. }) = long else {
        panic!("it is another file")
    };
    assert!(
        name.starts_with("\\u{202e}xxx") && name.len() < 300,
        "{name}"
    );
}
