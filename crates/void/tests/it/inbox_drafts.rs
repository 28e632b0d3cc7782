//! Drafts of what is kept, decided by the command: with the owner's own words in them, and several at once.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::lab::{Lab, Server, call, word};

struct Drafts {
    lab: Lab,
    server: Server,
    space: String,
    token: String,
}

impl Drafts {
    fn new() -> Self {
        let lab = Lab::new();
        let server = lab.serve(&[]);
        let post = |path: &str, body: Value| server.call("POST", path, Some(&body)).1;
        let space = word(&post("/api/spaces", json!({"title": "Garage"})), "id").to_owned();
        let agent = json!({"kind": "agent", "name": "drafter", "capabilities": ["suggest"]});
        let token = word(&post("/api/tokens", agent), "token").to_owned();
        Self {
            lab,
            server,
            space,
            token,
        }
    }

    /// A draft that waits; its code.
    fn draft(&self, draft: &Value) -> String {
        let path = format!("/api/spaces/{}/drafts", self.space);
        let made = call(self.lab.address, "POST", &path, &self.token, Some(draft));
        let (status, row) = made.expect("an answer");
        assert_eq!(status, 200, "{row}");
        word(&row, "code").to_owned()
    }

    fn page(&self, title: &str) -> String {
        let fields = json!({"title": title, "body": "As drafted.\n"});
        self.draft(&json!({"entity": "page", "op": "create", "fields": fields}))
    }

    fn status(&self, code: &str) -> String {
        let (_, row) = self
            .server
            .call("GET", &format!("/api/proposals/{code}"), None);
        word(&row, "status").to_owned()
    }

    /// Titles and texts of the space's pages.
    fn pages(&self) -> Vec<(String, String)> {
        let path = format!("/api/spaces/{}/pages", self.space);
        let (_, listed) = self.server.call("GET", &path, None);
        let pages = listed["pages"].as_array().unwrap().iter().map(|page| {
            let path = format!("/api/pages/{}", word(page, "id"));
            let (_, page) = self.server.call("GET", &path, None);
            (
                word(&page, "title").to_owned(),
                word(&page, "body").to_owned(),
            )
        });
        let mut pages: Vec<_> = pages.collect();
        pages.sort();
        pages
    }
}

fn pair(title: &str, body: &str) -> (String, String) {
    (title.to_owned(), body.to_owned())
}

#[test]
fn a_draft_is_stored_with_the_owners_own_words_in_it() {
    let drafts = Drafts::new();
    let lab = &drafts.lab;
    let file = lab.path("mine.md");
    fs::write(&file, "As I say.\n").unwrap();
    let file = file.display().to_string();
    let first = drafts.page("First");
    let row = lab.json(&["inbox", "edit", &first, "--file", &file, "--yes"], 0);
    assert_eq!(word(&row, "status"), "executed", "{row}");
    assert_eq!(drafts.pages(), [pair("First", "As I say.\n")]);

    // Only its title; the text stays as it was drafted.
    let second = drafts.page("Second");
    lab.json(&["inbox", "edit", &second, "--title", "Mine", "--yes"], 0);
    let both = [pair("First", "As I say.\n"), pair("Mine", "As drafted.\n")];
    assert_eq!(drafts.pages(), both);

    // In the owner's editor, which is given what the draft makes of what is there.
    let editor = lab.path("editor");
    fs::write(&editor, "#!/bin/sh\ncat \"$1\" > \"$1.seen\"\nprintf 'Third hand.\\n' > \"$1\"\ncp \"$1.seen\" /dev/stderr\nrm \"$1.seen\"\n").unwrap();
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("/api/spaces/{}/pages", drafts.space);
    let (_, listed) = drafts.server.call("GET", &path, None);
    let all = listed["pages"].as_array().unwrap();
    let mine = all
        .iter()
        .find(|page| word(page, "title") == "Mine")
        .unwrap();
    let edits = json!([{"find": "drafted", "replace": "redrafted"}]);
    let update = json!({"entity": "page", "op": "update", "id": mine["id"], "edits": edits});
    let third = drafts.draft(&update);
    let mut command = lab.command();
    let edited = command
        .env("VISUAL", &editor)
        .args(["inbox", "edit", &third, "--yes"])
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&edited.stderr);
    assert!(edited.status.success(), "{shown}");
    assert!(shown.contains("As redrafted."), "{shown}");
    let both = [pair("First", "As I say.\n"), pair("Mine", "Third hand.\n")];
    assert_eq!(drafts.pages(), both);
}

#[test]
fn an_edit_that_says_nothing_or_of_what_has_no_text_stores_nothing() {
    let drafts = Drafts::new();
    let lab = &drafts.lab;
    let file = lab.path("same.md");
    fs::write(&file, "As drafted.\n").unwrap();
    let file = file.display().to_string();
    let code = drafts.page("First");
    let edit = |code: &str, more: &[&str]| {
        let args = ["inbox", "edit", code, "--file", &file];
        lab.void(&[&args[..], more, &["--json"]].concat())
    };
    assert!(
        !edit(&code, &["--yes"]).status.success(),
        "nothing was edited"
    );
    fs::write(lab.path("same.md"), "Edited.\n").unwrap();
    assert!(!edit(&code, &[]).status.success(), "nobody said yes");
    assert_eq!(drafts.status(&code), "pending");
    // Neither what acts nor what is decided already has a text to edit.
    let (_, asked) = drafts
        .server
        .call("POST", "/api/actions/risky-one/run", None);
    assert!(
        !edit(word(&asked, "action_row_id"), &["--yes"])
            .status
            .success()
    );
    assert!(edit(&code, &["--yes"]).status.success());
    assert!(!edit(&code, &["--yes"]).status.success(), "twice");
    assert_eq!(drafts.pages(), [pair("First", "Edited.\n")]);
}

#[test]
fn several_drafts_are_decided_at_once_each_for_itself() {
    let drafts = Drafts::new();
    let lab = &drafts.lab;
    let codes = ["One", "Two", "Three"].map(|title| drafts.page(title));
    let [one, two, three] = &codes;
    // Nobody is here to be asked.
    lab.json(&["inbox", "approve", one, two], 2);
    assert!(drafts.pages().is_empty());
    // Neither a digest of one nor what acts goes with others.
    lab.json(
        &["inbox", "approve", one, two, "--digest", "00", "--yes"],
        2,
    );
    let (_, asked) = drafts
        .server
        .call("POST", "/api/actions/risky-one/run", None);
    let acts = word(&asked, "action_row_id");
    lab.json(&["inbox", "approve", one, acts, "--yes"], 2);
    assert_eq!(drafts.status(one), "pending");
    assert_eq!(drafts.status(acts), "pending");

    let said = lab.void(&["inbox", "approve", one, two, "--yes"]);
    let lines = String::from_utf8(said.stdout).unwrap();
    assert!(said.status.success(), "{lines}");
    assert!(
        lines.contains(one.as_str()) && lines.contains(two.as_str()),
        "{lines}"
    );
    assert_eq!(drafts.pages().len(), 2);
    // One that is decided already keeps nobody else from it, and is told.
    let mixed = lab.void(&["inbox", "reject", one, three, "--reason", "not this"]);
    let lines = String::from_utf8(mixed.stdout).unwrap();
    assert!(!mixed.status.success(), "{lines}");
    assert!(lines.contains("not decided"), "{lines}");
    assert_eq!(drafts.status(three), "rejected");
    assert_eq!(drafts.status(one), "executed");
}
