//! `void kb import` and `void kb export`: the real program with a real folder in front of a real server, whatever the folder
//! holds and whoever dies on the way.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use void_testkit::eventually_blocking;
use void_testkit::vaults::{Tree, vault};

use crate::lab::{Lab, OWNER, Server, call, word};

const AS_LARGE_AS_IT_GETS: usize = 100 * 1024 * 1024;

fn put(folder: &Path, tree: &Tree) {
    for (path, bytes) in tree {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Every file below a folder, read by nobody of ours.
fn tree_of(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap();
                tree.insert(name.to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    tree
}

struct Vaults {
    lab: Lab,
    server: Server,
    space: String,
}

impl Vaults {
    fn new() -> Self {
        let lab = Lab::new();
        let server = lab.serve(&[]);
        let space = lab.json(&["kb", "new", "Notes", "--kind", "space"], 0);
        let space = word(&space, "id").to_owned();
        Self { lab, server, space }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.lab.path(name)
    }

    /// With `--json`, ending with this code.
    fn kb(&self, verb: &str, folder: &str, more: &[&str], code: i32) -> Value {
        let folder = self.path(folder);
        let args = ["kb", verb, folder.to_str().unwrap(), "--space", "Notes"];
        self.lab.json(&[&args[..], more].concat(), code)
    }

    fn import(&self, folder: &str) -> Value {
        self.kb("import", folder, &["--yes"], 0)
    }

    fn pages(&self) -> u64 {
        let path = format!("/api/spaces/{}", self.space);
        let (status, space) = call(self.lab.address, "GET", &path, OWNER, None).unwrap();
        assert_eq!(status, 200, "{space}");
        space["page_count"].as_u64().unwrap()
    }

    fn export_of(&self, folder: &str) -> Tree {
        self.kb("export", folder, &[], 0);
        tree_of(&self.path(folder))
    }
}

fn count(said: &Value, list: &str) -> usize {
    said["plan"][list].as_array().unwrap().len()
}

/// What a vault may hold, and what is no file of one or leads out of it; only the first is given back.
fn odd_vault(vaults: &Vaults) -> Tree {
    let mut there = vault();
    there.insert("million links.md".to_owned(), b"[[a]]".repeat(1_000_000));
    let folder = vaults.path("vault");
    put(&folder, &there);
    // What is no file of a vault, and what leads out of it.
    fs::create_dir_all(folder.join(".obsidian")).unwrap();
    fs::write(folder.join(".obsidian/app.json"), "{}").unwrap();
    fs::write(vaults.path("secret.md"), "secret").unwrap();
    symlink(vaults.path("secret.md"), folder.join("out.md")).unwrap();
    symlink(vaults.path(""), folder.join("outside")).unwrap();
    symlink(&folder, folder.join("itself")).unwrap();
    fs::write(folder.join(OsStr::from_bytes(b"caf\xe9.md")), "x").unwrap();
    let huge = fs::File::create(folder.join("huge page.md")).unwrap();
    huge.set_len(AS_LARGE_AS_IT_GETS as u64).unwrap();
    there
}

fn says_what_is_odd(planned: &Value) {
    let remarks = planned["remarks"].to_string();
    for said in [
        "skipped  out.md: it is a symbolic link",
        "skipped  outside: it is a symbolic link",
        "skipped  itself: it is a symbolic link",
        "skipped  huge page.md: it is too large for an attachment",
        "its name is no UTF-8",
        "look at  links.md: it has more links than are read",
        "look at  latin1.md: named like a note, kept as an attachment: it is no UTF-8 from byte 3 on",
        "look at  long front.md: line 1: the front matter has more than 16384 bytes",
        "look at  broken front.md: line 3",
    ] {
        assert!(remarks.contains(said), "{said}: {remarks}");
    }
}

#[test]
fn a_vault_comes_out_as_it_went_in_twice() {
    let vaults = Vaults::new();
    let folder = vaults.path("vault");
    let there = odd_vault(&vaults);
    // It says what it would do, and does nothing.
    let planned = vaults.kb("import", "vault", &["--dry-run"], 0);
    assert_eq!(count(&planned, "create"), there.len());
    assert_eq!(vaults.pages(), 0);
    says_what_is_odd(&planned);
    let done = vaults.import("vault");
    assert_eq!(done["done"]["created"], there.len());
    let listed = vaults.lab.json(
        &["kb", "ls", "pages", "--space", "Notes", "--limit", "500"],
        0,
    );
    assert!(!listed.to_string().contains("secret"));
    assert_eq!(vaults.export_of("back"), there);
    // A second time there is nothing to do, in either direction.
    let again = vaults.import("vault");
    assert_eq!(again["done"], serde_json::json!({}));
    assert_eq!(again["plan"]["unchanged"], there.len());
    assert_eq!(vaults.kb("export", "back", &[], 0)["written"], 0);
    // One file is edited, one goes, one moves.
    fs::write(folder.join("windows.md"), "one\r\nand two\r\n").unwrap();
    fs::remove_file(folder.join("mixed.md")).unwrap();
    fs::rename(folder.join("loop a.md"), folder.join("loop c.md")).unwrap();
    let third = vaults.import("vault");
    let done = BTreeMap::from([("moved", 1), ("updated", 1)]);
    assert_eq!(third["done"], serde_json::json!(done));
    assert_eq!(count(&third, "gone"), 1);
    // What is gone stays until the owner says otherwise.
    vaults
        .lab
        .json(&["kb", "show", "mixed", "--space", "Notes"], 0);
    let fourth = vaults.kb("import", "vault", &["--yes", "--remove-gone"], 0);
    assert_eq!(fourth["done"], serde_json::json!({"removed": 1}));
    vaults
        .lab
        .json(&["kb", "show", "mixed", "--space", "Notes"], 5);
    // Nothing is removed from a folder, and what is there already is not written again. A space goes with one folder: what
    // another one has is not overwritten with what came from this one.
    let written = vaults.kb("export", "vault", &["--yes"], 0);
    assert_eq!(written["written"], 0);
    let written = vaults.kb("export", "back", &["--yes"], 6);
    assert_eq!(written["written"], 1);
    assert_eq!(written["plan"]["conflicts"][0]["path"], "windows.md");
    let now = tree_of(&vaults.path("back"));
    let mut expected = there;
    let moved = expected["loop a.md"].clone();
    expected.insert("loop c.md".to_owned(), moved);
    assert_eq!(now, expected);
}

#[test]
fn what_both_sides_edited_is_shown_and_left_alone() {
    let vaults = Vaults::new();
    let folder = vaults.path("vault");
    put(&folder, &Tree::from([("a.md".to_owned(), b"one".to_vec())]));
    vaults.import("vault");
    vaults
        .lab
        .json(&["kb", "edit", "a", "--text", "from Void"], 0);
    fs::write(folder.join("a.md"), "from the folder").unwrap();
    let said = vaults.kb("import", "vault", &["--yes"], 6);
    assert_eq!(said["plan"]["conflicts"][0]["reason"], "both_changed");
    let said = vaults.kb("export", "vault", &["--yes"], 6);
    assert_eq!(said["plan"]["conflicts"][0]["reason"], "changed_in_folder");
    assert_eq!(fs::read(folder.join("a.md")).unwrap(), b"from the folder");
    let page = vaults.lab.json(&["kb", "show", "a"], 0);
    assert_eq!(word(&page, "body"), "from Void");
    // People are told in words; nobody answers where there is no terminal.
    fs::write(folder.join("b.md"), "b").unwrap();
    let path = folder.to_str().unwrap().to_owned();
    let told = vaults
        .lab
        .void(&["kb", "import", &path, "--space", "Notes"]);
    let (out, err) = (
        String::from_utf8(told.stdout).unwrap(),
        String::from_utf8(told.stderr).unwrap(),
    );
    assert_eq!(told.status.code(), Some(2), "{err}");
    assert!(
        out.contains("conflict  a.md: edited in Void and in the folder"),
        "{out}"
    );
    assert!(
        out.contains("1 to create, 0 to update, 0 to rename, 0 gone, 1 in conflict, 0 unchanged"),
        "{out}"
    );
    assert!(err.contains("--yes"), "{err}");
}

#[test]
fn an_agents_token_neither_imports_nor_exports() {
    let vaults = Vaults::new();
    let folder = vaults.path("vault");
    put(&folder, &Tree::from([("a.md".to_owned(), b"one".to_vec())]));
    let caps = ["--cap", "read", "--cap", "suggest", "--cap", "act"];
    let args = ["token", "new", "--kind", "agent", "--name", "blue"];
    let token = vaults.lab.json(&[&args[..], &caps].concat(), 0);
    let token = word(&token, "token").to_owned();
    for verb in ["import", "export"] {
        let mut command = vaults.lab.command();
        let empty = vaults.path("no data of its own");
        let tried = command
            .env_remove("OWNER_TOKEN")
            .env("VOID_DATA", &empty)
            .env("VOID_API_URL", format!("http://{}", vaults.lab.address))
            .env("VOID_AGENT_TOKEN", &token)
            .args([
                "kb",
                verb,
                folder.to_str().unwrap(),
                "--space",
                "Notes",
                "--yes",
            ])
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&tried.stderr).into_owned();
        assert_eq!(tried.status.code(), Some(4), "{verb}: {err}");
        assert!(err.contains("only the owner"), "{verb}: {err}");
    }
    assert_eq!(vaults.pages(), 0);
}

/// Many small notes and a few larger ones, so that there is a middle.
fn many() -> Tree {
    let note = |at: usize| {
        let text = format!("# Note {at}\n\n{}[[{}]]\n", "words ".repeat(at), at + 1);
        (format!("{}/{at}.md", at % 7), text.into_bytes())
    };
    (0..600).map(note).collect()
}

#[test]
fn an_import_that_was_killed_is_finished_by_the_same_command() {
    let mut vaults = Vaults::new();
    let there = many();
    put(&vaults.path("vault"), &there);
    let begin = |vaults: &Vaults| {
        let folder = vaults.path("vault");
        vaults
            .lab
            .command()
            .args(["kb", "import", folder.to_str().unwrap()])
            .args(["--space", "Notes", "--yes", "--json"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let all = there.len() as u64;
    // The command dies.
    let mut import = begin(&vaults);
    let seen = eventually_blocking("the import to begin", || {
        let pages = vaults.pages();
        (pages > 0).then_some(pages)
    });
    import.kill().unwrap();
    import.wait().unwrap();
    assert!(seen < all, "there was no middle: {seen}");
    // The server dies.
    let before = vaults.pages();
    if before < all {
        let mut import = begin(&vaults);
        eventually_blocking("the import to go on", || {
            (vaults.pages() > before || before == all).then_some(())
        });
        vaults.server.kill();
        let end = import.wait().unwrap();
        assert!(!end.success() || before + 64 >= all, "{end}");
        vaults.server = vaults.lab.serve(&[]);
    }
    let last = vaults.import("vault");
    assert_eq!(last["left"], serde_json::json!([]));
    assert_eq!(vaults.pages(), all, "each is there once");
    assert_eq!(vaults.export_of("back"), there);
    assert_eq!(vaults.import("vault")["plan"]["unchanged"], all);
}

#[test]
fn progress_is_shown_on_a_terminal_and_told_to_programs() {
    let vaults = Vaults::new();
    let folder = vaults.path("vault");
    let some: Tree = many().into_iter().take(200).collect();
    put(&folder, &some);
    let path = folder.to_str().unwrap();
    let args = ["kb", "import", path, "--space", "Notes", "--yes"];
    let said = vaults.lab.void(&[&args[..], &["--json"]].concat());
    let lines = String::from_utf8(said.stderr).unwrap();
    let mut told = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let last = told.next_back().unwrap();
    assert_eq!(
        last["progress"],
        serde_json::json!({"what": "imported", "done": 200, "of": 200})
    );
    let more: Tree = many().into_iter().skip(200).collect();
    put(&folder, &more);
    let seen = vaults.lab.on_terminal(&args, 100);
    assert!(
        seen.contains("imported ") && seen.contains(" of 400"),
        "{seen}"
    );
    assert!(
        seen.contains("Imported: 400 created, 0 updated, 0 renamed, 0 thrown away"),
        "{seen}"
    );
}
