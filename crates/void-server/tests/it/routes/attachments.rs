//! `/api/spaces/{id}/attachments` and `/api/attachments`: bytes in, the same bytes out, and nothing that happens by them.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use void_domain::limits::ATTACHMENT_BYTES_MAX;

use super::entities::{id, new, new_space};
use crate::apps::{App, Engine};
use crate::callers::{Caller, HttpResponse, Shows};

const FILE: &str = "application/octet-stream";
/// What is asked about a file that is there, here and nowhere else.
pub const OPERATIONS: [&str; 4] = [
    "getAttachment",
    "getAttachmentContent",
    "deleteAttachment",
    "undeleteAttachment",
];

/// Whether bytes are answered as something that nothing happens by.
pub fn assert_inert(kind: &str, context: &str) {
    let inert = [FILE, "image/", "text/plain; charset=utf-8"];
    assert!(
        inert.iter().any(|known| kind.starts_with(known)),
        "{context}"
    );
}

async fn send(caller: &Caller, path: &str, bytes: &[u8], kind: &str) -> HttpResponse {
    let body = Some((bytes.to_vec(), kind));
    caller.send_bytes(Method::POST, path, body).await
}

async fn attach(owner: &Caller, space: &str, name: &str, bytes: &[u8]) -> Value {
    let path = format!("/api/spaces/{space}/attachments?name={name}");
    send(owner, &path, bytes, FILE).await.ok()
}

fn header<'a>(answer: &'a HttpResponse, name: &str) -> &'a str {
    let value = answer.headers.get(name);
    value.map_or("", |value| value.to_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_comes_back_as_it_was_sent_and_is_thrown_away_and_taken_back() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let space = new_space(&owner, "Lab").await;
        let bytes = "größe\n".repeat(1_000);
        let path = format!("/api/spaces/{space}/attachments?name=notes.txt&path=a/notes.txt");
        let kept = send(&owner, &path, bytes.as_bytes(), FILE).await.ok();
        assert_eq!(
            (
                &kept["name"],
                &kept["path"],
                &kept["media_type"],
                &kept["size_bytes"],
                &kept["ref_id"]
            ),
            (
                &json!("notes.txt"),
                &json!("a/notes.txt"),
                &json!("text/plain"),
                &json!(bytes.len()),
                &Value::Null
            )
        );
        let one = format!("/api/attachments/{}", id(&kept));
        let list = format!("/api/spaces/{space}/attachments");
        assert_eq!(owner.get(&one).await.ok(), kept);
        assert_eq!(owner.get(&list).await.ok()["attachments"], json!([kept]));
        let content = owner.get(&format!("{one}/content")).await;
        assert_eq!(content.text, bytes);
        assert_eq!(header(&content, "content-type"), FILE);
        let gone = owner.delete(&one).await.ok();
        assert_eq!(gone["undo"], format!("{one}/undelete"));
        owner
            .get(&format!("{one}/content"))
            .await
            .error(404, "not_found");
        owner.delete(&one).await.error(404, "not_found");
        assert_eq!(owner.get(&list).await.ok()["attachments"], json!([]));
        for _ in 0..2 {
            let back = owner.post_nothing(&format!("{one}/undelete")).await.ok();
            assert_eq!(back, kept);
        }
        // Empty, and the same name twice: the newest is meant by it.
        assert_eq!(attach(&owner, &space, "empty", b"").await["size_bytes"], 0);
        let newer = attach(&owner, &space, "notes.txt", b"newer").await;
        assert_ne!(newer["id"], kept["id"]);
        assert_eq!(
            owner.get(&list).await.ok()["attachments"]
                .as_array()
                .unwrap()
                .len(),
            3
        );
        let first = owner.get(&format!("{list}?limit=1")).await.ok();
        assert_eq!(first["attachments"], json!([newer]));
        let next = format!("{list}?limit=1&cursor={}", first["next"].as_str().unwrap());
        assert_eq!(
            owner.get(&next).await.ok()["attachments"][0]["name"],
            "empty"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_may_be_as_large_as_its_bound_and_other_bodies_may_not() {
    let app = App::start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let most = vec![7; ATTACHMENT_BYTES_MAX];
    let kept = attach(&owner, &space, "most.bin", &most).await;
    assert_eq!(kept["size_bytes"], json!(ATTACHMENT_BYTES_MAX));
    let path = format!("/api/spaces/{space}/attachments?name=more.bin");
    for bytes in [ATTACHMENT_BYTES_MAX + 1, 100 * 1024 * 1024] {
        // Said by its head alone; nobody sends all of it to hear that.
        let request = owner
            .request(Method::POST, &path)
            .header("content-type", FILE);
        let body = reqwest::Body::wrap_stream(futures_util::stream::iter(
            std::iter::repeat_n(vec![7_u8; 64 * 1024], bytes.div_ceil(64 * 1024))
                .map(Ok::<_, std::io::Error>),
        ));
        match request.body(body).send().await {
            Ok(refused) => assert_eq!(refused.status().as_u16(), 413),
            // It hung up on a body that had no end.
            Err(error) => assert!(!error.is_timeout(), "{error}"),
        }
    }
    let pages = format!("/api/spaces/{space}/attachments");
    assert_eq!(
        owner.get(&pages).await.ok()["attachments"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    // The larger bound is that of files alone.
    let tokens = send(&owner, "/api/tokens", &most, "application/json").await;
    tokens.error(413, "too_large");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_sent_as_raw_bytes_with_a_name_that_is_one() {
    let app = App::start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let path = format!("/api/spaces/{space}/attachments");
    for name in ["", "..", "a/b", "a%5Cb", "a%0Ab", &"a".repeat(256)] {
        let refused = send(&owner, &format!("{path}?name={name}"), b"x", FILE).await;
        let error = refused.error(422, "invalid");
        assert!(error["fields"]["name"].is_string(), "{name}: {error}");
    }
    send(&owner, &path, b"x", FILE).await.error(422, "invalid");
    for bad in ["../x", "/etc/passwd", "a//b"] {
        let refused = send(&owner, &format!("{path}?name=a&path={bad}"), b"x", FILE).await;
        refused.error(422, "invalid");
    }
    let named = format!("{path}?name=a");
    for kind in [
        "application/json",
        "text/plain",
        "multipart/form-data",
        "image/png",
    ] {
        let refused = send(&owner, &named, b"x", kind).await;
        refused.error(415, "unsupported_media_type");
    }
    // Elsewhere raw bytes are no body.
    let pages = format!("/api/spaces/{space}/pages");
    send(&owner, &pages, b"{}", FILE)
        .await
        .error(415, "unsupported_media_type");
    let nowhere = "/api/spaces/019a0000-0000-7000-8000-000000000000/attachments?name=a";
    send(&owner, nowhere, b"x", FILE)
        .await
        .error(404, "not_found");
    assert_eq!(owner.get(&path).await.ok()["attachments"], json!([]));
}

/// What a foreign page can make the owner's browser send keeps no file.
#[tokio::test(flavor = "multi_thread")]
async fn no_foreign_page_sends_a_file_in_the_owners_name() {
    let app = App::start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let path = format!("/api/spaces/{space}/attachments?name=a");
    let session = app.session().await;
    let Shows::Cookie(cookie) = session.shows.clone() else {
        panic!("a session shows a cookie")
    };
    let own = send(&session, &path, b"x", FILE).await;
    assert_eq!(own.status, 200, "{}", own.text);
    for (header, value) in [
        ("origin", "https://evil.example"),
        ("sec-fetch-site", "cross-site"),
        ("x-nothing", "said"),
    ] {
        let shows = Shows::Headers(vec![("cookie", cookie.clone()), (header, value.to_owned())]);
        for kind in ["", FILE, "text/plain"] {
            let refused = send(&app.caller(shows.clone()), &path, b"x", kind).await;
            assert!(
                matches!(refused.status, 403 | 415),
                "{header} {kind}: {}",
                refused.text
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_pictures_and_plain_text_are_shown_in_place_and_nothing_runs() {
    let app = App::start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let text = "text/plain; charset=utf-8";
    for (name, bytes, shown) in [
        ("a.png", &b"\x89PNG\r\n\x1a\n"[..], "image/png"),
        ("lie.png", b"<svg onload=alert(1)>", text),
        ("page.html", b"<script>alert(1)</script>", text),
        ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", text),
        ("a.pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", FILE),
        ("a.zip", b"PK\x03\x04\0", FILE),
    ] {
        let kept = attach(&owner, &space, name, bytes).await;
        let path = format!("/api/attachments/{}/content", id(&kept));
        let saved = owner.get(&path).await;
        assert_eq!(header(&saved, "content-type"), FILE, "{name}");
        let inline = owner.get(&format!("{path}?inline=true")).await;
        assert_eq!(header(&inline, "content-type"), shown, "{name}");
        for (answer, is_saved) in [(&saved, true), (&inline, shown == FILE)] {
            let disposition = header(answer, "content-disposition");
            let expected = if is_saved {
                format!("attachment; filename*=UTF-8''{name}")
            } else {
                "inline".to_owned()
            };
            assert_eq!(disposition, expected, "{name}");
            assert_eq!(header(answer, "x-content-type-options"), "nosniff");
            assert!(header(answer, "content-security-policy").contains("default-src 'none'"));
        }
    }
}

/// An agent reads what a stranger wrote where it is marked by it, and a file's bytes nowhere.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_sees_which_files_there_are_and_changes_none() {
    let app = App::start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let kept = attach(&owner, &space, "a.txt", b"words").await;
    let one = format!("/api/attachments/{}", id(&kept));
    let agent = app
        .holder("agent", "scout", &["read", "suggest", "act"])
        .await
        .caller;
    assert_eq!(agent.get(&one).await.ok(), kept);
    agent
        .get(&format!("{one}/content"))
        .await
        .error(403, "owner_only");
    agent.delete(&one).await.error(403, "owner_only");
    agent
        .post_nothing(&format!("{one}/undelete"))
        .await
        .error(403, "owner_only");
    let viewer = app.holder("viewer", "eve", &[]).await.caller;
    viewer.get(&one).await.error(403, "forbidden");
    assert_eq!(owner.get(&one).await.ok(), kept);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_embed_of_a_file_leads_to_it() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let space = new_space(&owner, "Lab").await;
        let kept = attach(&owner, &space, "plan.png", b"x").await;
        let body = "![[plan.png]] [[img/plan.png|the plan]] ![[none.png]] [[plan]]";
        let page = new(&owner, &space, "pages", json!({"title": "P", "body": body})).await;
        let found = |n: usize| {
            (
                page["links"][n]["found"].clone(),
                page["links"][n]["kind"].clone(),
                page["links"][n]["id"].clone(),
            )
        };
        let file = (json!("one"), json!("attachment"), kept["id"].clone());
        assert_eq!((found(0), found(1)), (file.clone(), file));
        for n in [2, 3] {
            assert_eq!(page["links"][n]["found"], "none", "{page}");
        }
        let path = format!("/api/pages/{}?blocks=true", id(&page));
        let blocks = owner.get(&path).await.ok()["blocks"].to_string();
        let to = format!("#/knowledge/attachments/{}", id(&kept));
        assert_eq!(blocks.matches(&to).count(), 2, "{blocks}");
        // A page of that name is meant before a file is.
        new(
            &owner,
            &space,
            "pages",
            json!({"title": "plan.png", "body": ""}),
        )
        .await;
        let again = owner.get(&format!("/api/pages/{}", id(&page))).await.ok();
        assert_eq!(again["links"][0]["kind"], "page");
        // Not from another space.
        let other = new_space(&owner, "Other").await;
        let page = new(
            &owner,
            &other,
            "pages",
            json!({"title": "P", "body": "![[plan.png]]"}),
        )
        .await;
        assert_eq!(page["links"][0]["found"], "none");
    }
}

/// A file that was thrown away can be taken back for thirty days; then its bytes are gone.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_thrown_away_long_ago_is_forgotten() {
    let app = App::with_clock().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let kept = attach(&owner, &space, "a.txt", b"words").await;
    let one = format!("/api/attachments/{}", id(&kept));
    owner.delete(&one).await.ok();
    app.pass(Duration::from_secs(29 * 24 * 60 * 60));
    void_control::knowledge::forget_deleted_files(&app.control)
        .await
        .unwrap();
    owner.post_nothing(&format!("{one}/undelete")).await.ok();
    owner.delete(&one).await.ok();
    app.pass(Duration::from_secs(31 * 24 * 60 * 60));
    void_control::knowledge::forget_deleted_files(&app.control)
        .await
        .unwrap();
    owner
        .post_nothing(&format!("{one}/undelete"))
        .await
        .error(404, "not_found");
}
