//! `/api/spaces/{id}/vault…`: a folder of Markdown over HTTP, as the command line and any other client sends one.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use void_domain::digests::Digest;

use super::entities::new_space;
use crate::apps::{App, Engine};
use crate::callers::Caller;
use crate::raw::Connection;

fn line(kind: &str, path: &str, bytes: &[u8]) -> Value {
    json!(format!("{} {kind} {path}", Digest::of(bytes)))
}

/// Sends these steps, and says what became of each.
async fn take(owner: &Caller, space: &str, steps: Value) -> Vec<String> {
    let path = format!("/api/spaces/{space}/vault/import");
    let answer = owner.post(&path, json!({"steps": steps})).await.ok();
    let outcomes = answer["outcomes"].as_array().unwrap().iter();
    outcomes
        .map(|one| one["outcome"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_comes_in_and_goes_out() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let space = new_space(&owner, "Lab").await;
        let vault = |what: &str| format!("/api/spaces/{space}/vault/{what}");
        let (note, picture) = ("\u{feff}---\r\ntags: [a]\r\n---\r\nwords\r\n", b"\x89PNG\0");
        let folder = json!({"files": [
            line("page", "Lab/a b.md", note.as_bytes()),
            line("attachment", "img.png", picture),
        ]});
        let plan = owner.post(&vault("import-plan"), folder.clone()).await.ok();
        assert_eq!(
            plan["create"],
            json!([{"path": "Lab/a b.md", "kind": "page"}, {"path": "img.png", "kind": "attachment"}])
        );
        // Asked what it would do, it did nothing.
        let pages = format!("/api/spaces/{space}/pages");
        assert_eq!(owner.get(&pages).await.ok()["pages"], json!([]));
        let steps = json!([
            {"step": "put", "path": "Lab/a b.md", "text": note},
            {"step": "put", "path": "img.png", "content": STANDARD.encode(picture)},
        ]);
        assert_eq!(take(&owner, &space, steps.clone()).await, ["created"; 2]);
        assert_eq!(take(&owner, &space, steps).await, ["unchanged"; 2]);
        let page = owner.get(&pages).await.ok()["pages"][0].clone();
        assert_eq!(
            (
                &page["title"],
                &page["path"],
                &page["origin"],
                &page["foreign"]
            ),
            (
                &json!("a b"),
                &json!("Lab/a b.md"),
                &json!("import"),
                &json!(false)
            )
        );
        let plan = owner.post(&vault("import-plan"), folder).await.ok();
        assert_eq!(
            (&plan["unchanged"], &plan["create"]),
            (&json!(2), &json!([]))
        );
        // Into an empty folder all of it is written, as the same bytes.
        let plan = owner
            .post(&vault("export-plan"), json!({"files": []}))
            .await
            .ok();
        let wanted: Vec<Value> = plan["write"].as_array().unwrap().clone();
        assert_eq!(wanted.len(), 2);
        let wanted: Vec<Value> = wanted
            .iter()
            .map(|one| json!({"path": one["path"], "kind": one["kind"], "id": one["id"]}))
            .collect();
        let sent = owner
            .post(&vault("export"), json!({"files": wanted}))
            .await
            .ok();
        assert_eq!(sent["files"][0]["text"], note);
        assert_eq!(sent["files"][1]["content"], STANDARD.encode(picture));
        assert_eq!(
            sent["files"][1]["sha256"],
            json!(Digest::of(picture).to_string())
        );
        what_moves_goes_and_is_agreed_on(&owner, &space, note).await;
    }
}

async fn what_moves_goes_and_is_agreed_on(owner: &Caller, space: &str, note: &str) {
    let hash = Digest::of(note.as_bytes()).to_string();
    let steps = json!([
        {"step": "remove", "path": "img.png"},
        {"step": "move", "path": "Lab/a b.md", "to": "c.md"},
        {"step": "agree", "path": "c.md", "sha256": hash},
        {"step": "agree", "path": "c.md", "sha256": "0".repeat(64)},
        {"step": "put", "path": "task.md", "text": "---\nkind: task\nurl: x\n---\n"},
    ]);
    assert_eq!(
        take(owner, space, steps).await,
        ["removed", "moved", "agreed", "conflict", "created"]
    );
}

/// Where it goes, which member is wrong, and what is sent.
fn bad_requests(space: &str) -> Vec<(&'static str, &'static str, Value)> {
    let mut all = bad_steps();
    all.extend([
        ("import-plan", "files", json!({})),
        ("import-plan", "files", json!({"files": ["page a.md"]})),
        (
            "import-plan",
            "files",
            json!({"files": [format!("{} folder a", "0".repeat(64))]}),
        ),
        (
            "import-plan",
            "path",
            json!({"files": [line("page", "../a.md", b"")]}),
        ),
        (
            "import-plan",
            "files",
            json!({"files": [line("page", "a.md", b""), line("page", "a.md", b"x")]}),
        ),
        ("export-plan", "files", json!({})),
        ("import", "steps", json!({})),
        ("export", "files", json!({})),
        (
            "export",
            "files",
            json!({"files": [{"path": "a.md", "kind": "space", "id": space}]}),
        ),
    ]);
    all
}

fn bad_steps() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        (
            "import",
            "steps",
            json!({"steps": [{"step": "open", "path": "a.md"}]}),
        ),
        (
            "import",
            "steps",
            json!({"steps": [{"step": "put", "path": "a.md"}]}),
        ),
        (
            "import",
            "steps",
            json!({"steps": [{"step": "put", "path": "a.md", "text": "", "content": ""}]}),
        ),
        (
            "import",
            "steps",
            json!({"steps": [{"step": "put", "path": "a.md", "content": "?"}]}),
        ),
        (
            "import",
            "steps",
            json!({"steps": [{"step": "move", "path": "a.md"}]}),
        ),
        (
            "import",
            "steps",
            json!({"steps": [{"step": "agree", "path": "a.md", "sha256": "x"}]}),
        ),
        (
            "import",
            "steps",
            json!({"steps": [{"step": "agree", "path": "a.md", "sha256": "0".repeat(64), "kind": "page"}]}),
        ),
        (
            "import",
            "path",
            json!({"steps": [{"step": "put", "path": "/etc/passwd", "text": "x"}]}),
        ),
        (
            "import",
            "path",
            json!({"steps": [{"step": "put", "path": "a/../../b", "text": "x"}]}),
        ),
        (
            "import",
            "steps",
            json!({"steps": vec![json!({"step": "remove", "path": "a.md"}); 65]}),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_step_no_file_and_no_path_is_refused_by_name() {
    let app = App::start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let vault = |what: &str| format!("/api/spaces/{space}/vault/{what}");
    for (what, member, body) in bad_requests(&space) {
        let shown = body.to_string();
        let error = owner.post(&vault(what), body).await.error(422, "invalid");
        assert!(error["fields"][member].is_string(), "{shown}: {error}");
    }
    let error = owner
        .post(&vault("import"), json!({"steps": [], "folder": "/etc"}))
        .await;
    error.error(422, "invalid");
    let pages = format!("/api/spaces/{space}/pages");
    assert_eq!(owner.get(&pages).await.ok()["pages"], json!([]));
}

/// Each may be large, so few are read at a time; whoever is one too many is told to come again.
#[tokio::test(flavor = "multi_thread")]
async fn only_so_many_folders_are_read_at_a_time() {
    let app = App::start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let path = format!("/api/spaces/{space}/vault/import");
    let token = owner.shows.headers()[0].1.clone();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: {token}\r\n\
         Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
        address = app.address,
    );
    let mut open = Vec::new();
    let refused = loop {
        let mut one = Connection::open(app.address).await;
        assert!(one.write(head.as_bytes()).await);
        open.push(one);
        let answer = owner.post(&path, json!({"steps": []})).await;
        if answer.status != 200 {
            break answer;
        }
        assert!(open.len() < 50, "everybody is let in");
    };
    refused.error(429, "rate_limited");
    drop(open);
    void_testkit::eventually("a place to be free", async || {
        let answer = owner.post(&path, json!({"steps": []})).await;
        (answer.status == 200).then_some(())
    })
    .await;
}
