//! Capturing, attaching and importing with the real program: the server starts itself once more to read foreign bytes.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Output;
use std::thread;

use serde_json::{Value, json};

use crate::lab::{Lab, Server, word};

const PAGE: &str = "<title>Backups</title><p>Copy <b>it</b>. <a href='javascript:alert(1)'>x</a>";

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A page of the web on loopback, until the test ends. Its address and port.
pub fn web() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{PAGE}",
                PAGE.len()
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address.to_string()
}

/// With this in the settings beside what a lab has.
fn serve_with(settings: &str) -> (Lab, Server) {
    let lab = Lab::new();
    let file = lab.data().join("void.toml");
    let own = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{own}{settings}")).unwrap();
    let server = lab.serve(&[]);
    lab.json(&["kb", "new", "Garage", "--kind", "space"], 0);
    (lab, server)
}

fn in_garage(lab: &Lab, args: &[&str]) -> Output {
    let mut all = vec!["kb"];
    all.extend(args);
    all.extend(["--space", "Garage"]);
    lab.void(&all)
}

fn in_garage_json(lab: &Lab, args: &[&str], code: i32) -> Value {
    let mut all = vec!["kb"];
    all.extend(args);
    all.extend(["--space", "Garage"]);
    lab.json(&all, code)
}

#[test]
fn a_page_is_captured_from_where_the_settings_allow_and_from_nowhere_else() {
    let (open, closed) = (web(), web());
    let (lab, _server) = serve_with(&format!("[captures]\nallowed = [\"{open}\"]\n"));
    let url = format!("http://{open}/a");
    let said = in_garage(&lab, &["capture", &url, "--tag", "read"]);
    assert!(said.status.success(), "{}", err(&said));
    assert!(
        out(&said).starts_with("Captured the ref Backups   revision 1"),
        "{}",
        out(&said)
    );
    let kept = lab.json(&["kb", "show", "Backups"], 0);
    assert_eq!(
        (&kept["foreign"], &kept["tags"]),
        (&json!(true), &json!(["read"]))
    );
    assert!(word(&kept, "body").contains("Copy") && !word(&kept, "body").contains("<b>"));
    // Its source is a file of the space.
    let source = word(&kept["source"], "id").to_owned();
    let file = lab.path("source.html");
    let saved = lab.void(&[
        "kb",
        "get",
        &source,
        "--output",
        &file.display().to_string(),
    ]);
    assert!(saved.status.success(), "{}", err(&saved));
    assert_eq!(fs::read_to_string(&file).unwrap(), PAGE);
    let refused = in_garage_json(&lab, &["capture", &format!("http://{closed}/a")], 2);
    assert_eq!(
        word(&refused["error"], "code"),
        "capture_address_refused",
        "{refused}"
    );
    assert!(
        word(&refused["error"], "next").contains("allowed under [captures] in void.toml"),
        "{refused}"
    );
    let listed = in_garage_json(&lab, &["ls", "refs"], 0);
    assert_eq!(listed["refs"].as_array().unwrap().len(), 1);
}

#[test]
fn a_file_is_attached_listed_and_saved_again_and_nothing_is_overwritten() {
    let (lab, _server) = serve_with("");
    let file = lab.path("plan.txt");
    fs::write(&file, "a plan").unwrap();
    let path = file.display().to_string();
    let said = in_garage(&lab, &["attach", &path]);
    assert!(
        out(&said).starts_with("Kept the file plan.txt"),
        "{}{}",
        out(&said),
        err(&said)
    );
    let listed = out(&in_garage(&lab, &["attachments"]));
    assert!(
        listed.contains("plan.txt") && listed.contains("6 B"),
        "{listed}"
    );
    let printed = in_garage(&lab, &["get", "plan.txt", "--output", "-"]);
    assert_eq!(out(&printed), "a plan");
    // It is there already.
    let refused = in_garage(&lab, &["get", "plan.txt", "--output", &path]);
    assert!(!refused.status.success());
    assert_eq!(fs::read_to_string(&file).unwrap(), "a plan");
    let missing = in_garage_json(&lab, &["get", "nothing.txt"], 5);
    assert_eq!(word(&missing["error"], "code"), "not_found");
    // A text that can be found by its words.
    let kept = in_garage_json(&lab, &["attach", &path, "--ref", "--title", "The plan"], 0);
    assert_eq!(
        (word(&kept, "title"), word(&kept, "body")),
        ("The plan", "a plan")
    );
    // What is too large is not even sent.
    let large = lab.path("large.bin");
    fs::File::create(&large)
        .unwrap()
        .set_len(21 * 1024 * 1024)
        .unwrap();
    let refused = in_garage_json(&lab, &["attach", &large.display().to_string()], 1);
    assert_eq!(word(&refused["error"], "code"), "too_large");
}

#[test]
fn an_export_of_karakeep_is_imported_after_a_dry_run() {
    let (lab, _server) = serve_with("");
    let file = lab.path("karakeep.json");
    let export = json!({"bookmarks": [
        {"createdAt": 1, "title": "One", "tags": ["a b"], "content": {"type": "link", "url": "https://example.org/1"}},
        {"createdAt": 2, "title": "Two", "tags": [], "content": {"type": "text", "text": "words"}},
    ]});
    fs::write(&file, export.to_string()).unwrap();
    let path = file.display().to_string();
    let import = ["import", "--karakeep", path.as_str()];
    let dry = out(&in_garage(
        &lab,
        &["import", "--karakeep", &path, "--dry-run"],
    ));
    assert!(
        dry.contains("Nothing was written") && dry.contains("2 bookmarks new"),
        "{dry}"
    );
    let listed = |noun| {
        in_garage_json(&lab, &["ls", noun], 0)[noun]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!((listed("refs"), listed("pages")), (0, 0));
    assert_eq!(in_garage_json(&lab, &import, 0)["created"], 2);
    assert_eq!((listed("refs"), listed("pages")), (1, 1));
    assert_eq!(in_garage_json(&lab, &import, 0)["unchanged"], 2);
    // How far it is, is told to programs too; where nothing is new there is nothing to tell.
    let progress = |import: &[&str]| -> Vec<Value> {
        let args = [import, &["--json"]].concat();
        let said = String::from_utf8(in_garage(&lab, &args).stderr).unwrap();
        let lines = said.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.map(|line: Value| line["progress"].clone()).collect()
    };
    assert!(progress(&import).is_empty());
    let more: Vec<Value> = (0..150)
        .map(|n| {
            json!({"createdAt": 9, "title": format!("More {n}"), "tags": [],
                "content": {"type": "link", "url": format!("https://example.org/more/{n}")}})
        })
        .collect();
    fs::write(&file, json!({"bookmarks": more}).to_string()).unwrap();
    let told = progress(&import);
    let of_all = |done: u64| json!({"what": "imported", "done": done, "of": 150});
    assert_eq!(told.first(), Some(&of_all(0)), "{told:?}");
    assert_eq!(told.last(), Some(&of_all(150)), "{told:?}");
    let done: Vec<u64> = told
        .iter()
        .map(|one| one["done"].as_u64().unwrap())
        .collect();
    assert!(done.is_sorted(), "{done:?}");
    fs::write(&file, "{").unwrap();
    let broken = in_garage_json(&lab, &import, 2);
    assert_eq!(
        word(&broken["error"], "code"),
        "extract_unreadable",
        "{broken}"
    );
}

#[test]
fn the_doctor_says_whether_foreign_bytes_can_be_read() {
    let (lab, _server) = serve_with("");
    let report: Value = serde_json::from_str(&out(&lab.void(&["doctor", "--json"]))).unwrap();
    let of = |check: &str| {
        let all = report["findings"].as_array().unwrap().iter();
        all.filter(|finding| word(finding, "check") == check)
            .cloned()
            .collect::<Vec<_>>()
    };
    for check in ["captures", "pdfs"] {
        let [finding] = &of(check)[..] else {
            panic!("{check}: {report}");
        };
        assert_eq!(word(finding, "level"), "ok", "{finding}");
    }
}

/// Whoever starts the hidden subcommand by hand gets what the server would: a process that gives everything away.
#[test]
fn the_reader_answers_nobody_who_asks_for_something_else() {
    let lab = Lab::new();
    for words in [
        &["extract"][..],
        &["extract", "shell", "full"],
        &["extract", "html", "none"],
    ] {
        let output = lab.void(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(output.stdout.is_empty());
    }
}
