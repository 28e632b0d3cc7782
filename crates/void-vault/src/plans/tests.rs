//! Who changed what since both agreed, and what follows from it.

use super::*;

fn path(text: &str) -> VaultPath {
    VaultPath::parse(text).unwrap()
}

fn hash(text: &str) -> ContentHash {
    ContentHash::of(text.as_bytes())
}

/// Key and path, what both agreed on, what Void has now.
type Row<'a> = (&'a str, Option<&'a str>, Option<&'a str>);

/// What is stored, what is in the folder, and the lines of the plan.
type Case<'a> = (&'a [Row<'a>], &'a [(&'a str, &'a str)], &'a [&'a str]);

fn stored(rows: &[Row<'_>]) -> Vec<StoredEntry<String>> {
    let entry = |(at, base, now): &Row<'_>| StoredEntry {
        key: format!("key of {at}"),
        path: path(at),
        kind: EntryKind::Page,
        base: base.map(hash),
        state: match now {
            Some(now) => StoredState::Present { current: hash(now) },
            None => StoredState::Deleted,
        },
    };
    rows.iter().map(entry).collect()
}

fn folder(files: &[(&str, &str)]) -> FolderState {
    let file = |(at, text): &(&str, &str)| FolderFile {
        path: path(at),
        kind: EntryKind::Page,
        hash: hash(text),
    };
    FolderState {
        files: files.iter().map(file).collect(),
        unread: Vec::new(),
    }
}

/// The plan as it is printed, without its last line.
fn lines(rows: &[Row<'_>], files: &[(&str, &str)]) -> Vec<String> {
    let plan = plan_import(&stored(rows), &folder(files)).unwrap();
    let said = plan.to_string();
    let mut lines: Vec<String> = said.lines().map(str::to_owned).collect();
    lines.pop();
    assert_eq!(plan.is_empty(), lines.is_empty());
    lines
}

#[test]
fn each_side_alone_is_followed_and_both_are_a_conflict() {
    let cases: [Case<'_>; 16] = [
        (&[], &[], &[]),
        (&[], &[("a.md", "1")], &["create    a.md (page)"]),
        (&[("a.md", Some("1"), Some("1"))], &[("a.md", "1")], &[]),
        (
            &[("a.md", Some("1"), Some("1"))],
            &[("a.md", "2")],
            &["update    a.md"],
        ),
        (&[("a.md", Some("1"), Some("2"))], &[("a.md", "1")], &[]),
        (&[("a.md", Some("1"), Some("2"))], &[("a.md", "2")], &[]),
        (
            &[("a.md", Some("1"), Some("2"))],
            &[("a.md", "3")],
            &["conflict  a.md: edited in Void and in the folder"],
        ),
        (&[("a.md", Some("1"), Some("1"))], &[], &["gone      a.md"]),
        (
            &[("a.md", Some("1"), Some("2"))],
            &[],
            &["conflict  a.md: edited in Void and gone from the folder"],
        ),
        (&[("a.md", None, Some("1"))], &[], &[]),
        (&[("a.md", None, Some("1"))], &[("a.md", "1")], &[]),
        (
            &[("a.md", None, Some("1"))],
            &[("a.md", "2")],
            &["conflict  a.md: made in Void and in the folder"],
        ),
        (&[("a.md", Some("1"), None)], &[("a.md", "1")], &[]),
        (
            &[("a.md", Some("1"), None)],
            &[("a.md", "2")],
            &["conflict  a.md: deleted in Void and edited in the folder"],
        ),
        (&[("a.md", Some("1"), None)], &[], &[]),
        (
            &[("a.md", Some("0"), None), ("a.md", Some("1"), Some("1"))],
            &[("a.md", "2")],
            &["update    a.md"],
        ),
    ];
    for (rows, files, expected) in cases {
        assert_eq!(lines(rows, files), expected, "{rows:?} {files:?}");
    }
}

#[test]
fn what_both_came_to_hold_is_the_new_base() {
    let plan = plan_import(
        &stored(&[("a.md", Some("1"), Some("2"))]),
        &folder(&[("a.md", "2")]),
    );
    assert_eq!(plan.unwrap().unchanged[0].new_base, Some(hash("2")));
    let plan = plan_import(
        &stored(&[("a.md", Some("1"), Some("2"))]),
        &folder(&[("a.md", "1")]),
    );
    assert_eq!(plan.unwrap().unchanged[0].new_base, None);
}

#[test]
fn a_rename_is_one_where_only_one_file_can_be_meant() {
    let (one, two) = (Some("1"), Some("2"));
    let cases: [Case<'_>; 9] = [
        (
            &[("a.md", one, one)],
            &[("b/c.md", "1")],
            &["rename    a.md -> b/c.md"],
        ),
        // The same bytes are still there: the other one is a copy.
        (
            &[("a.md", one, one)],
            &[("a.md", "1"), ("b.md", "1")],
            &["create    b.md (page)"],
        ),
        // Edited in Void, renamed in the folder: both hold.
        (
            &[("a.md", one, two)],
            &[("b.md", "1")],
            &["rename    a.md -> b.md"],
        ),
        (
            &[("a.md", one, one), ("b.md", one, one)],
            &[("c.md", "1")],
            &["create    c.md (page)", "gone      a.md", "gone      b.md"],
        ),
        (
            &[("a.md", one, one), ("b.md", one, one)],
            &[("x/a.md", "1"), ("x/b.md", "1")],
            &["rename    a.md -> x/a.md", "rename    b.md -> x/b.md"],
        ),
        (
            &[("a.md", one, one)],
            &[("A.md", "2")],
            &["update    A.md", "rename    a.md -> A.md"],
        ),
        (
            &[("u\u{308}.md", one, one)],
            &[("\u{fc}.md", "1")],
            &["rename    u\u{308}.md -> \u{fc}.md"],
        ),
        // Every empty file has the same bytes.
        (
            &[("a.md", Some(""), Some(""))],
            &[("b.md", "")],
            &["create    b.md (page)", "gone      a.md"],
        ),
        // A file that took the name of another is that one, edited.
        (
            &[("a.md", one, one), ("b.md", two, two)],
            &[("b.md", "1"), ("c.md", "2")],
            &["create    c.md (page)", "update    b.md", "gone      a.md"],
        ),
    ];
    for (rows, files, expected) in cases {
        assert_eq!(lines(rows, files), expected, "{rows:?} {files:?}");
    }
}

#[test]
fn what_cannot_be_read_is_never_gone_and_never_renamed() {
    let stored = stored(&[
        ("a.md", Some("1"), Some("1")),
        ("x/b.md", Some("2"), Some("2")),
        ("xy.md", Some("3"), Some("3")),
    ]);
    let mut folder = folder(&[("c.md", "2")]);
    folder.unread = vec!["a.md".to_owned(), "x".to_owned()];
    let plan = plan_import(&stored, &folder).unwrap();
    assert_eq!(
        plan.to_string(),
        "create    c.md (page)\n\
         gone      xy.md\n\
         conflict  a.md: in the folder, and it cannot be read now\n\
         conflict  x/b.md: in the folder, and it cannot be read now\n\
         1 to create, 0 to update, 0 to rename, 1 gone, 2 in conflict, 0 unchanged\n"
    );
}

#[test]
fn a_page_that_becomes_a_task_is_another_thing() {
    let mut folder = folder(&[("a.md", "2")]);
    folder.files[0].kind = EntryKind::Task;
    let plan = plan_import(&stored(&[("a.md", Some("1"), Some("1"))]), &folder).unwrap();
    assert_eq!(
        (plan.create.len(), plan.gone.len(), plan.update.len()),
        (1, 1, 0)
    );
    // With an edit of Void's own it is the owner's to say.
    let plan = plan_import(&stored(&[("a.md", Some("1"), Some("3"))]), &folder).unwrap();
    assert_eq!(plan.conflicts[0].reason, ConflictReason::BothChanged);
    // And a rename is one of the same kind.
    let mut folder = self::folder(&[("b.md", "1")]);
    folder.files[0].kind = EntryKind::Attachment;
    let plan = plan_import(&stored(&[("a.md", Some("1"), Some("1"))]), &folder).unwrap();
    assert_eq!((plan.rename.len(), plan.gone.len()), (0, 1));
}

#[test]
fn one_path_twice_is_no_plan() {
    let twice = stored(&[("a.md", None, Some("1")), ("a.md", None, Some("2"))]);
    let error = PlanError::StoredTwice(path("a.md"));
    assert_eq!(plan_import(&twice, &folder(&[])), Err(error.clone()));
    assert_eq!(plan_export(&twice, &folder(&[])), Err(error));
    let twice = folder(&[("a.md", "1"), ("a.md", "2")]);
    let error = PlanError::FoundTwice(path("a.md"));
    assert_eq!(plan_import(&stored(&[]), &twice), Err(error));
}

#[test]
fn an_export_replaces_only_what_void_knows() {
    let stored = stored(&[
        ("same.md", Some("1"), Some("1")),
        ("new.md", None, Some("1")),
        ("edited.md", Some("1"), Some("2")),
        ("changed.md", Some("1"), Some("1")),
        ("other.md", None, Some("1")),
        ("Case.md", None, Some("1")),
        ("dark/a.md", Some("1"), Some("1")),
        ("gone.md", Some("1"), Some("1")),
        ("deleted.md", Some("1"), None),
    ]);
    let mut folder = folder(&[
        ("same.md", "1"),
        ("edited.md", "1"),
        ("changed.md", "2"),
        ("other.md", "2"),
        ("case.md", "2"),
        ("deleted.md", "1"),
        ("theirs.md", "1"),
    ]);
    folder.unread = vec!["dark".to_owned()];
    let plan = plan_export(&stored, &folder).unwrap();
    assert_eq!(
        plan.to_string(),
        "replace   edited.md\n\
         write     gone.md\n\
         write     new.md\n\
         conflict  Case.md: a file with another spelling of this name is there\n\
         conflict  changed.md: the file was changed since Void last saw it\n\
         conflict  dark/a.md: what is there cannot be read\n\
         conflict  other.md: the file was changed since Void last saw it\n\
         3 to write, 4 in conflict, 1 unchanged\n"
    );
}

#[test]
fn a_name_cannot_forge_a_line_of_the_plan() {
    let plan = plan_import(
        &stored(&[]),
        &folder(&[("a\ngone b\u{1b}[2K\u{202e}.md", "1")]),
    );
    assert_eq!(
        plan.unwrap().to_string().lines().next(),
        Some("create    a\\u{a}gone b\\u{1b}[2K\\u{202e}.md (page)")
    );
}
