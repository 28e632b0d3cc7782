//! What is written for contributors names things that are there: items of the glossary, files of the how-tos,
//! links between documents.

use std::fs;
use std::path::{Path, PathBuf};

use crate::tree::{root, sources};

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What stands between backquotes, outside of blocks of code.
fn quoted(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    prose
        .flat_map(|part| part.split('`').skip(1).step_by(2))
        .collect()
}

#[test]
fn the_glossary_names_items_that_exist() {
    let text = read("docs/glossary.md");
    let rows: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| word"))
        .collect();
    assert!(rows.len() >= 70, "{}", rows.len());
    let mut words = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.split(" | ").collect();
        let [word, _, place] = cells.as_slice() else {
            panic!("word, meaning and place: {row}");
        };
        words.push(word.trim_start_matches("| ").to_owned());
        let names = quoted(place);
        let [item, file] = names.as_slice() else {
            panic!("`item` in `file`: {row}");
        };
        let source = read(&format!("crates/{file}"));
        assert!(is_defined(&source, item), "{file} defines no {item}: {row}");
    }
    let mut once = words.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), words.len(), "a word is explained twice");
}

/// Whether a line of the source begins the definition of this item.
fn is_defined(source: &str, item: &str) -> bool {
    let kinds = [
        "struct", "enum", "trait", "type", "fn", "const", "static", "mod",
    ];
    source.lines().any(|line| {
        kinds.iter().any(|kind| {
            let head = format!("{kind} {item}");
            let rest = line.split_once(&head).map(|(before, rest)| {
                let is_item = !before.contains("//") && !before.contains('"');
                is_item && !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_')
            });
            rest == Some(true)
        })
    })
}

fn guides() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(root().join("docs/howto"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| format!("docs/howto/{name}"))
        .collect();
    names.sort();
    names
}

/// A path that is quoted: it begins with a folder of the tree and has no blank and no place-holder.
fn paths(text: &str) -> Vec<&str> {
    let folders = [
        "crates/", "config/", "docs/", "scripts/", "tests/", "deploy/", ".github/",
    ];
    quoted(text)
        .into_iter()
        .filter(|name| folders.iter().any(|folder| name.starts_with(folder)))
        .filter(|name| !name.contains([' ', '{', '*', '…']))
        .collect()
}

#[test]
fn the_howtos_name_files_that_exist() {
    let guides = guides();
    let index = read("docs/howto/README.md");
    assert!(guides.len() >= 7, "{guides:?}");
    for guide in &guides {
        let name = guide.rsplit('/').next().unwrap();
        assert!(
            name == "README.md" || index.contains(&format!("({name})")),
            "docs/howto/README.md does not list {name}"
        );
        let text = read(guide);
        let paths = paths(&text);
        assert!(
            name == "README.md" || paths.len() >= 5,
            "{guide}: {paths:?}"
        );
        for path in paths {
            assert!(root().join(path).exists(), "{guide} names {path}");
        }
    }
}

#[test]
fn documents_for_contributors_name_files_that_exist() {
    for name in ["CONTRIBUTING.md", "SECURITY.md", "docs/glossary.md"] {
        let text = read(name);
        for path in paths(&text) {
            assert!(root().join(path).exists(), "{name} names {path}");
        }
    }
}

/// One compiler: for who clones it, in CI, in the container.
#[test]
fn the_toolchain_is_the_same_everywhere() {
    let toolchain: toml::Table = read("rust-toolchain.toml").parse().unwrap();
    let channel = toolchain["toolchain"]["channel"].as_str().unwrap();
    let workspace: toml::Table = read("Cargo.toml").parse().unwrap();
    let oldest = workspace["workspace"]["package"]["rust-version"].as_str();
    assert_eq!(channel.rsplit_once('.').map(|(minor, _)| minor), oldest);
    let image = format!("rust:{channel}-bookworm");
    for name in [".github/workflows/test.yml", "deploy/Dockerfile"] {
        assert!(
            read(name).contains(&image),
            "{name} is not built on {image}"
        );
    }
}

/// A test that has another name now would be run where it cannot.
#[test]
fn what_the_quick_check_leaves_out_exists() {
    let tests: String = sources(&root().join("crates/void-store/tests"))
        .into_iter()
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    let check = read("scripts/check");
    let names: Vec<&str> = check
        .split("--skip ")
        .skip(1)
        .filter_map(|rest| rest.split([' ', ')', '\n']).next())
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    for name in names {
        assert!(tests.contains(&format!("fn {name}(")), "{name}");
    }
}

/// CI elsewhere does what CI here does.
#[test]
fn the_workflow_runs_the_one_test_command() {
    let workflow = read(".github/workflows/test.yml");
    let last = workflow
        .lines()
        .rev()
        .find_map(|line| line.trim().strip_prefix("- run: "));
    assert_eq!(last, Some("scripts/test"));
    assert!(read(".ci/run").contains("scripts/test"));
}

/// Every relative link of every document leads to a file.
#[test]
fn links_between_documents_lead_somewhere() {
    let mut links = 0;
    for document in documents(&root()) {
        let text = fs::read_to_string(&document).unwrap();
        for target in text.split("](").skip(1) {
            let target = target.split(')').next().unwrap();
            let target = target.split('#').next().unwrap();
            if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            links += 1;
            let file = document.parent().unwrap().join(target);
            assert!(file.exists(), "{} links to {target}", document.display());
        }
    }
    assert!(links >= 40, "{links}");
}

fn documents(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in [
        "",
        "docs",
        "docs/adr",
        "docs/howto",
        ".github/ISSUE_TEMPLATE",
    ] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found
}

/// The packages whose tests a line of `scripts/check` runs on SQLite alone.
fn packages_without_postgres(script: &str) -> Vec<String> {
    let line = script
        .lines()
        .find(|line| line.starts_with("VOID_TEST_ENGINES=sqlite cargo test "))
        .expect("a line of scripts/check leaves PostgreSQL out");
    let words: Vec<&str> = line.split(' ').collect();
    let named = words.windows(2).filter(|pair| pair[0] == "-p");
    named.map(|pair| pair[1].to_owned()).collect()
}

/// A newcomer has Rust, a C compiler and no PostgreSQL: what asks for one asks first whether there is one.
#[test]
fn what_is_run_while_working_needs_no_postgres() {
    let packages = packages_without_postgres(&read("scripts/check"));
    assert!(packages.len() >= 6, "{packages:?}");
    let mut asking = 0;
    for package in packages {
        let files = sources(&root().join("crates").join(&package));
        assert!(!files.is_empty(), "{package}");
        for file in files {
            let source = fs::read_to_string(&file).unwrap();
            let asks = ["postgres_database", "PostgresCluster::start"];
            if asks.iter().any(|ask| source.contains(ask)) {
                asking += 1;
                let name = file.display();
                assert!(
                    source.contains("if !has_postgres()") || source.contains("if has_postgres()"),
                    "{name}"
                );
            }
        }
    }
    assert!(asking >= 8, "{asking} files");
}
