//! The one table of exit codes and failure codes: the page of the documents, the command line's lists and the web page
//! all have its words.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use void_domain::failures::{self, Exit, FailureCode};

use crate::lab::Lab;

const COMMAND: &str = "VOID_WRITE_DOCS=1 cargo test -p void --test it failure_codes";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_page_of_the_documents_is_made_from_the_table() {
    let path = root().join("docs/failures.md");
    let page = failures::page();
    for code in FailureCode::ALL {
        let row = format!("| `{code}` | {} |", code.meaning());
        assert_eq!(page.matches(&row).count(), 1, "{row}");
    }
    if std::env::var_os("VOID_WRITE_DOCS").is_some() {
        fs::write(&path, page).unwrap();
    } else {
        let text = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            text, page,
            "docs/failures.md is not up to date; run: {COMMAND}"
        );
    }
}

#[test]
fn the_command_line_lists_the_table() {
    let lab = Lab::new();
    let codes = FailureCode::ALL.iter().map(|code| {
        json!({"code": code.as_str(), "meaning": code.meaning(), "exit": code.exit().number(), "http": code.http()})
    });
    let codes: Vec<_> = codes.collect();
    assert_eq!(lab.json(&["help-codes"], 0)["failure_codes"], json!(codes));
    let exits = Exit::ALL.map(|exit| json!({"code": exit.number(), "meaning": exit.meaning()}));
    assert_eq!(
        lab.json(&["help-exit-codes"], 0)["exit_codes"],
        json!(exits)
    );
    let said = String::from_utf8(lab.void(&["help-codes"]).stdout).unwrap();
    for code in FailureCode::ALL {
        let begins = |line: &&str| line.split_whitespace().next() == Some(code.as_str());
        let line = said.lines().find(begins);
        let line = line.unwrap_or_else(|| panic!("{code} is not listed"));
        assert!(line.ends_with(code.meaning()), "{line}");
    }
}

/// The words in a piece of the page's source that stand in quotes.
fn quoted(source: &str) -> Vec<&str> {
    let parts = source.split('"').skip(1).step_by(2);
    parts.collect()
}

/// The page decides by codes as well; each is one of the table.
#[test]
fn the_codes_that_the_page_knows_are_in_the_table() {
    let outcomes = root().join("crates/void-server/ui/parts/outcomes.js");
    let outcomes = fs::read_to_string(outcomes).unwrap();
    for list in ["const ABOUT_HOST = [", "const ABOUT_SETUP = ["] {
        let (_, after) = outcomes.split_once(list).unwrap();
        let words = quoted(after.split_once(']').unwrap().0);
        assert!(words.len() > 2, "{words:?}");
        for word in words {
            assert!(FailureCode::parse(word).is_some(), "{word}");
        }
    }
}
