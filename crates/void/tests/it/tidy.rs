//! What keeps the tree readable, checked by a program: sizes of files and functions, names that say
//! nothing, files that no binary contains, long lines of the page.
//!
//! Exceptions are in `tidy/exceptions.rs`. Their lists only get shorter: what no longer needs its place in a
//! list has to leave it, and each list has a bound.

mod exceptions;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use self::exceptions::{
    LONG_FILES, LONG_FILES_MAX, LONG_FUNCTIONS, LONG_FUNCTIONS_MAX, LONG_LINES_OF_THE_PAGE,
};
use crate::tree::{root, sources};

const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 70;
const PAGE_LINE_CHARS_MAX: usize = 120;

/// Names that could hold anything, and in time do.
const FORBIDDEN: &[&str] = &[
    "core", "common", "shared", "util", "utils", "helper", "helpers", "misc", "manager", "managers",
];

/// Names that say little: at most one crate has a type of each, so that whoever reads one knows which it is.
const OF_ONE_CRATE: [&str; 5] = ["Answer", "Place", "Seen", "Line", "Problem"];

fn rust_files() -> Vec<(String, String)> {
    let files = sources(&root().join("crates"));
    let read = files.into_iter().map(|file| {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.strip_prefix(root()).unwrap().display().to_string();
        (name, text)
    });
    read.collect()
}

/// Fails on what is too long and not listed, and on what is listed and no longer too long.
fn compare(what: &str, found: &BTreeSet<String>, listed: &[&str]) {
    let listed: BTreeSet<String> = listed.iter().map(|name| (*name).to_owned()).collect();
    let new: Vec<&String> = found.difference(&listed).collect();
    assert!(new.is_empty(), "{what}: {new:#?}");
    let gone: Vec<&String> = listed.difference(found).collect();
    assert!(
        gone.is_empty(),
        "take these off the list in tidy/exceptions.rs, they are short now or gone: {gone:#?}"
    );
}

#[test]
fn files_fit_a_sitting() {
    let mut files = rust_files();
    let all = files.len();
    files.extend(page_files());
    assert!(
        files.len() > all + 100,
        "{} files of the page",
        files.len() - all
    );
    let long = files
        .into_iter()
        .filter(|(_, text)| text.lines().count() > FILE_LINES_MAX);
    let long = long.map(|(name, _)| name).collect();
    let what = format!("these files have more than {FILE_LINES_MAX} lines");
    compare(&what, &long, LONG_FILES);
    assert!(LONG_FILES.len() <= LONG_FILES_MAX);
}

#[test]
fn functions_fit_a_screen() {
    let mut long = BTreeSet::new();
    let mut all = 0;
    for (file, text) in rust_files() {
        for (name, lines) in functions(&text) {
            all += 1;
            if lines > FUNCTION_LINES_MAX {
                long.insert(format!("{file} {name}"));
            }
        }
    }
    assert!(all > 5_000, "{all} functions were found");
    let listed: Vec<&str> = LONG_FUNCTIONS
        .iter()
        .flat_map(|(_reason, names)| names.iter().copied())
        .collect();
    let what = format!("these functions have more than {FUNCTION_LINES_MAX} lines");
    compare(&what, &long, &listed);
    assert!(listed.len() <= LONG_FUNCTIONS_MAX);
}

/// Name and number of lines of each function. The text is as rustfmt leaves it: a function ends at the first
/// brace that stands alone below its `fn`.
fn functions(text: &str) -> Vec<(&str, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else {
            continue;
        };
        let indent = &line[..line.len() - line.trim_start().len()];
        let ends = |line: &&str| {
            let rest = line.strip_prefix(indent).unwrap_or("");
            rest == "}" || rest.starts_with(')') && rest.ends_with(';')
        };
        let is_one_line = line.ends_with('}') || line.ends_with(';');
        let length = match lines[at..].iter().position(ends) {
            Some(end) if !is_one_line => end + 1,
            _ => 1,
        };
        found.push((name, length));
    }
    found
}

fn function_name(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("fn ")?;
    let is_head = before.split_whitespace().all(|word| {
        let qualifiers = ["const", "async", "unsafe", "extern", "\"C\""];
        word.starts_with("pub") || qualifiers.contains(&word)
    });
    let end = rest.find(['(', '<'])?;
    is_head.then_some(&rest[..end])
}

#[test]
fn the_counter_of_lines_counts() {
    let text = "
fn short() {}

pub(crate) async fn wrapped(
    one: u8,
) -> u8 {
    let inner = || {
        one
    };
    inner()
}

trait Some {
    fn declared(
        &self,
    );
    fn defined(&self) {
        // fn none(
    }
}
";
    let expected = [
        ("short", 1),
        ("wrapped", 8),
        ("declared", 3),
        ("defined", 3),
    ];
    assert_eq!(functions(text), expected);
}

#[test]
fn no_name_could_hold_anything() {
    let page = files_below(&root().join("crates/void-server/ui"));
    let rust = sources(&root().join("crates"));
    for file in rust.iter().chain(&page) {
        let path = file.strip_prefix(root()).unwrap().with_extension("");
        let parts = path.components().map(|part| part.as_os_str().to_str());
        for part in parts.flatten() {
            assert!(!FORBIDDEN.contains(&part), "{}", file.display());
        }
    }
    for (file, text) in rust_files() {
        let inline = text.lines().filter_map(module_name);
        for name in inline {
            assert!(!FORBIDDEN.contains(&name), "{file}: mod {name}");
        }
    }
}

/// The name in `mod name;` or `mod name {`.
fn module_name(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("mod ")?;
    let is_head = before
        .split_whitespace()
        .all(|word| word.starts_with("pub") || word.starts_with("in"));
    let name = rest.strip_suffix(';').or(rest.strip_suffix(" {"))?;
    is_head.then_some(name)
}

/// Cargo compiles what a `mod` names; a file that nobody names is a test that never runs.
#[test]
fn every_file_is_a_module_of_a_binary_or_library() {
    let mut reached = BTreeSet::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let tests: Vec<PathBuf> = fs::read_dir(folder.join("tests"))
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
            .collect();
        // One binary per crate: linking each costs as much as running it.
        assert!(
            tests.is_empty() || tests == [folder.join("tests/it")],
            "{tests:?}"
        );
        let mut starts = vec![folder.join("src/lib.rs"), folder.join("src/main.rs")];
        starts.extend([folder.join("tests/it/main.rs"), folder.join("build.rs")]);
        starts.extend(sources(&folder.join("src/bin")));
        starts.extend(sources(&folder.join("examples")));
        for start in starts.iter().filter(|start| start.exists()) {
            reach(start, start.parent().unwrap(), &mut reached);
        }
    }
    for file in sources(&root().join("crates")) {
        assert!(
            reached.contains(&file),
            "no `mod` leads to {}",
            file.display()
        );
    }
}

/// The file and every file that its modules are in: those of `x.rs` are in `x/`, unless `#[path]` says where.
fn reach(file: &Path, children: &Path, reached: &mut BTreeSet<PathBuf>) {
    assert!(file.exists(), "{}", file.display());
    assert!(
        file.file_name().is_some_and(|name| name != "mod.rs"),
        "{}: x.rs beside x/, never mod.rs",
        file.display()
    );
    reached.insert(file.to_owned());
    let text = fs::read_to_string(file).unwrap();
    let mut before = "";
    for line in text.lines() {
        let path = before.trim().strip_prefix("#[path = \"");
        let path = path.and_then(|rest| rest.strip_suffix("\"]"));
        before = line;
        let Some(name) = module_name(line).filter(|_| line.ends_with(';')) else {
            continue;
        };
        let next = match path {
            Some(path) => file.parent().unwrap().join(path).canonicalize().unwrap(),
            None => children.join(format!("{name}.rs")),
        };
        reach(&next, &children.join(name), reached);
    }
}

#[test]
fn lines_of_the_page_fit_a_window() {
    let mut long = Vec::new();
    for (name, text) in page_files() {
        let too_long = |(_, line): &(usize, &str)| line.chars().count() > PAGE_LINE_CHARS_MAX;
        for (at, _) in text.lines().enumerate().filter(too_long) {
            long.push(format!("{name}:{}", at + 1));
        }
    }
    assert!(
        long.len() <= LONG_LINES_OF_THE_PAGE,
        "{} lines have more than {PAGE_LINE_CHARS_MAX} characters, {LONG_LINES_OF_THE_PAGE} were known: {long:#?}",
        long.len()
    );
}

/// Every script and style of the page, with its name below the root.
fn page_files() -> Vec<(String, String)> {
    let files = files_below(&root().join("crates/void-server/ui")).into_iter();
    let is_source = |file: &PathBuf| {
        let kind = file.extension().and_then(|kind| kind.to_str());
        matches!(kind, Some("js" | "css"))
    };
    let read = files.filter(is_source).map(|file| {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.strip_prefix(root()).unwrap().display().to_string();
        (name, text)
    });
    read.collect()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn a_name_that_says_little_is_of_one_crate() {
    let mut crates: BTreeSet<(String, String)> = BTreeSet::new();
    for (file, text) in rust_files() {
        let Some((member, _)) = file.split_once("/src/") else {
            continue;
        };
        for line in text.lines() {
            if let Some(name) = declared(line).filter(|name| OF_ONE_CRATE.contains(name)) {
                crates.insert((name.to_owned(), member.to_owned()));
            }
        }
    }
    assert!(crates.len() >= 3, "{crates:?}");
    for name in OF_ONE_CRATE {
        let of: Vec<_> = crates.iter().filter(|(one, _)| one == name).collect();
        assert!(of.len() <= 1, "{name} is a type of {of:?}");
    }
}

/// Whoever reads a name in a crate knows which type it is. Tests are their own readers.
#[test]
fn a_name_stands_for_one_type_of_its_crate() {
    let mut places: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for (file, text) in rust_files() {
        let Some((member, path)) = file
            .strip_prefix("crates/")
            .and_then(|file| file.split_once("/src/"))
        else {
            continue;
        };
        if path.ends_with("tests.rs") || path.contains("tests/") {
            continue;
        }
        // An associated type is its trait's.
        let shipped = text.split("#[cfg(test)]\nmod tests {").next();
        let lines = shipped.unwrap_or_default().lines();
        for line in lines.filter(|line| !line.starts_with("    type ")) {
            // A macro's own is named where it is used.
            if let Some(name) = declared(line).filter(|name| !name.is_empty()) {
                let name = (member.to_owned(), name.to_owned());
                places.entry(name).or_default().insert(path.to_owned());
            }
        }
    }
    assert!(places.len() > 1_000, "{} types were found", places.len());
    places.retain(|_, files| files.len() > 1);
    assert!(
        places.is_empty(),
        "these names stand for several: {places:#?}"
    );
}

/// The name of the type that a line declares.
fn declared(line: &str) -> Option<&str> {
    let words = line.trim_start();
    let words = match words.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.trim_start(),
        None => words,
    };
    let name = ["struct ", "enum ", "type ", "trait ", "union "]
        .into_iter()
        .find_map(|word| words.strip_prefix(word))?;
    name.split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
}

#[test]
fn declarations_are_read_whatever_sees_them() {
    for line in [
        "struct Seen;",
        "    pub enum Seen<'a> {",
        "pub(in crate::x) struct Seen(u8);",
        "pub(crate) type Seen = u8;",
    ] {
        assert_eq!(declared(line), Some("Seen"), "{line}");
    }
    for line in [
        "// struct Seen",
        "use x::Seen;",
        "    seen: Seen,",
        "pub fn seen() {}",
    ] {
        assert_eq!(declared(line), None, "{line}");
    }
}
