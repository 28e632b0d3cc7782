//! Capturing pages of the web through the real route, by addresses that lead where nobody should be led, from servers that lie,
//! stall and flood. What fails leaves nothing.

use std::time::Duration;

use serde_json::{Value, json};

use crate::apps::{App, Engine, Setup};
use crate::callers::Caller;
use crate::routes::entities::new_space;
use crate::webs::{Reading, Reply, Web, page};

struct Stage {
    app: App,
    space: String,
}

impl Stage {
    async fn new(engine: Engine, captures: Reading) -> Self {
        let setup = Setup {
            engine,
            captures,
            ..Setup::default()
        };
        let app = setup.start().await;
        let space = new_space(&app.owner(), "Lab").await;
        Self { app, space }
    }

    fn refs(&self) -> String {
        format!("/api/spaces/{}/refs", self.space)
    }

    /// What is kept: refs and files.
    async fn kept(&self) -> (usize, usize) {
        let owner = self.app.owner();
        let refs = owner.get(&self.refs()).await.ok();
        let files = format!("/api/spaces/{}/attachments", self.space);
        let files = owner.get(&files).await.ok();
        let count = |list: &Value| list.as_array().unwrap().len();
        (count(&refs["refs"]), count(&files["attachments"]))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_alone_is_captured_with_its_text_and_its_source() {
    for engine in Engine::both().await {
        let web = Web::start(|_| page("<title>Backups</title><p>Copy <b>it</b>.")).await;
        let stage = Stage::new(engine, Reading::of(&web)).await;
        let owner = stage.app.owner();
        let url = web.url("/a?b");
        let kept = owner
            .post(&stage.refs(), json!({"url": url, "tags": ["read"]}))
            .await
            .ok();
        assert_eq!(
            (
                &kept["title"],
                &kept["url"],
                &kept["tags"],
                &kept["revision"]
            ),
            (&json!("Backups"), &json!(url), &json!(["read"]), &json!(1))
        );
        assert_eq!(
            (&kept["origin"], &kept["foreign"]),
            (&json!("capture"), &json!(true))
        );
        assert!(kept["body"].as_str().unwrap().contains("Copy"), "{kept}");
        let source = &kept["source"];
        assert_eq!(
            (&source["media_type"], &source["ref_id"]),
            (&json!("text/html"), &kept["id"])
        );
        let bytes = format!(
            "/api/attachments/{}/content",
            source["id"].as_str().unwrap()
        );
        let bytes = owner.get(&bytes).await;
        assert_eq!(bytes.text, "<title>Backups</title><p>Copy <b>it</b>.");
        assert_eq!(stage.kept().await, (1, 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_address_gets_a_new_revision_and_the_owners_title_stays() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let web = Web::start(move |path| match path {
        "/same" => page("<title>T</title><p>words"),
        _ => {
            let nth = count.fetch_add(1, Ordering::SeqCst);
            page(&format!("<title>Title {nth}</title><p>text {nth}"))
        }
    })
    .await;
    let stage = Stage::new(Engine::Sqlite, Reading::of(&web)).await;
    let owner = stage.app.owner();
    let capture = async |path: &str, tags: Value| {
        let body = json!({"url": web.url(path), "tags": tags});
        owner.post(&stage.refs(), body).await.ok()
    };
    let first = capture("/a", json!(["one"])).await;
    let second = capture("/a", json!(["two"])).await;
    assert_eq!(
        (&second["id"], &second["revision"]),
        (&first["id"], &json!(2))
    );
    assert_eq!(
        (&second["title"], &second["body"]),
        (&json!("Title 1"), &json!("text 1"))
    );
    assert_eq!(second["tags"], json!(["one", "two"]));
    // The newest source alone is kept; the older one can still be taken back.
    assert_ne!(second["source"]["id"], first["source"]["id"]);
    assert_eq!(stage.kept().await, (1, 1));
    let path = format!("/api/refs/{}", first["id"].as_str().unwrap());
    let edit = json!({"base_revision": 2, "title": "My own title"});
    owner.put(&path, edit).await.ok();
    let third = capture("/a", json!([])).await;
    assert_eq!(
        (&third["title"], &third["body"]),
        (&json!("My own title"), &json!("text 2"))
    );
    let history = owner.get(&format!("{path}/revisions")).await.ok();
    assert_eq!(history["revisions"].as_array().unwrap().len(), 4);
    // The same again is said once.
    let same = capture("/same", json!([])).await;
    let again = capture("/same", json!([])).await;
    assert_eq!(again, same);
    // What was thrown away is not known any more.
    owner.delete(&path).await.ok();
    assert_eq!(capture("/a", json!([])).await["revision"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_words_of_the_owner_is_kept_without_being_fetched() {
    let web = Web::start(|_| page("<p>never asked for")).await;
    let stage = Stage::new(Engine::Sqlite, Reading::of(&web)).await;
    let owner = stage.app.owner();
    for body in [
        json!({"url": web.url("/a"), "title": "mine"}),
        json!({"url": web.url("/b"), "body": "mine"}),
    ] {
        let kept = owner.post(&stage.refs(), body).await.ok();
        assert_eq!(
            (&kept["origin"], &kept["source"]),
            (&json!("owner"), &Value::Null)
        );
    }
    assert_eq!(web.connections(), 0);
}

/// Whoever fetches decides whom Void talks to.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_but_the_owner_makes_void_fetch_anything() {
    let web = Web::start(|_| page("<p>words")).await;
    let stage = Stage::new(Engine::Sqlite, Reading::of(&web)).await;
    let all = [
        "read",
        "act",
        "suggest",
        "audit.read",
        "spawn",
        "meta.read",
        "meta.update",
    ];
    let agent = stage.app.holder("agent", "scout", &all).await.caller;
    let viewer = stage.app.holder("viewer", "eve", &[]).await.caller;
    let body = json!({"url": web.url("/")});
    for caller in [&agent, &viewer] {
        let refused = caller.post(&stage.refs(), body.clone()).await;
        refused.error(403, "owner_only");
        for path in [
            "refs/file?name=a.txt",
            "import/karakeep",
            "attachments?name=a",
        ] {
            let path = format!("/api/spaces/{}/{path}", stage.space);
            let bytes = Some((b"words".to_vec(), "application/octet-stream"));
            let refused = caller.send_bytes(reqwest::Method::POST, &path, bytes).await;
            refused.error(403, "owner_only");
        }
    }
    stage
        .app
        .anonymous()
        .post(&stage.refs(), body.clone())
        .await
        .error(401, "unauthenticated");
    // A draft of a ref is a wish: it fetches nothing, not even when the owner approves it.
    let drafts = format!("/api/spaces/{}/drafts", stage.space);
    let fields = json!({"url": web.url("/"), "title": "A page"});
    let wish = json!({"entity": "ref", "op": "create", "fields": fields, "reason": "look"});
    let row = agent.post(&drafts, wish).await.ok();
    assert_eq!(stage.kept().await, (0, 0));
    let approve = format!(
        "/api/pending-changes/{}/approve",
        row["id"].as_str().unwrap()
    );
    let digest = json!({"digest": row["digest"]});
    stage.app.owner().post(&approve, digest).await.ok();
    assert_eq!(stage.kept().await, (1, 0));
    assert_eq!(web.connections(), 0);
}

/// An address, and the code that refuses it. `PORT` is one that something of this machine listens on.
const HOSTILE: &[(&str, &str)] = &[
    ("http://127.0.0.1:PORT/", "capture_address_refused"),
    ("http://localhost:PORT/", "capture_address_refused"),
    ("http://LOCALHOST.:PORT/", "capture_address_refused"),
    ("http://127.1:PORT/", "capture_address_refused"),
    ("http://2130706433:PORT/", "capture_address_refused"),
    ("http://0x7f000001:PORT/", "capture_address_refused"),
    ("http://0177.0.0.1:PORT/", "capture_address_refused"),
    ("http://%31%32%37.0.0.1:PORT/", "capture_address_refused"),
    ("http://0.0.0.0:PORT/", "capture_address_refused"),
    ("http://[::1]:PORT/", "capture_address_refused"),
    ("http://[::]:PORT/", "capture_address_refused"),
    ("http://[::ffff:127.0.0.1]:PORT/", "capture_address_refused"),
    ("http://[::ffff:7f00:1]:PORT/", "capture_address_refused"),
    (
        "http://[64:ff9b::127.0.0.1]:PORT/",
        "capture_address_refused",
    ),
    ("http://[2002:7f00:1::]:PORT/", "capture_address_refused"),
    ("http://10.0.0.1/", "capture_address_refused"),
    ("http://172.16.0.1/", "capture_address_refused"),
    ("http://192.168.1.1/", "capture_address_refused"),
    ("http://100.64.0.1/", "capture_address_refused"),
    ("http://169.254.1.1/", "capture_address_refused"),
    (
        "http://169.254.169.254/latest/meta-data/",
        "capture_address_refused",
    ),
    (
        "http://[::ffff:169.254.169.254]/",
        "capture_address_refused",
    ),
    ("http://[fd00:ec2::254]/", "capture_address_refused"),
    ("http://[fe80::1]/", "capture_address_refused"),
    ("http://[fc00::1]/", "capture_address_refused"),
    ("http://[ff02::1]/", "capture_address_refused"),
    ("http://224.0.0.1/", "capture_address_refused"),
    ("http://255.255.255.255/", "capture_address_refused"),
    // Names that lead into the house, wholly or among others.
    ("http://here.example:PORT/", "capture_address_refused"),
    ("http://metadata.example/", "capture_address_refused"),
    ("http://mixed.example/", "capture_address_refused"),
    ("http://mapped.example/", "capture_address_refused"),
    ("https://private.example/", "capture_address_refused"),
    ("http://nobody.example/", "capture_host_unknown"),
    // Public, and not a port of the web.
    ("http://93.184.216.34:22/", "capture_port_refused"),
    ("http://93.184.216.34:6379/", "capture_port_refused"),
    ("http://public.example:25/", "capture_port_refused"),
    // Repaired by browsers into something else.
    ("http://127.0.0.1:0/", "capture_url"),
    ("http://127.0.0.256/", "capture_url"),
    ("http://a..b/", "capture_url"),
];

/// Not even an address that could be kept.
const MALFORMED: &[&str] = &[
    "file:///etc/passwd",
    "ftp://127.0.0.1/",
    "gopher://127.0.0.1:6379/_x",
    "javascript:alert(1)",
    "data:text/html,x",
    "unix:/var/run/docker.sock",
    "void:attachment/019a0000-0000-7000-8000-000000000000",
    "http://user:password@93.184.216.34/",
    "http://93.184.216.34@127.0.0.1/",
    "http://example.org\\@127.0.0.1/",
    "http://127.0.0.1\t/",
    "http://example.org/\r\nHost: x",
    "http:///",
    "//127.0.0.1/",
];

fn hostile_names(mut reading: Reading) -> Reading {
    reading.names.extend([
        ("localhost", vec!["127.0.0.1"]),
        ("here.example", vec!["127.0.0.1"]),
        ("metadata.example", vec!["169.254.169.254"]),
        ("mixed.example", vec!["93.184.216.34", "10.0.0.1"]),
        ("mapped.example", vec!["::ffff:192.168.0.1"]),
        ("private.example", vec!["192.168.0.1"]),
        ("public.example", vec!["93.184.216.34"]),
    ]);
    reading
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_that_lead_into_the_house_reach_nothing_and_leave_nothing() {
    let inside = Web::start(|_| page("<p>a secret of the house")).await;
    let stage = Stage::new(Engine::Sqlite, hostile_names(Reading::default())).await;
    let owner = stage.app.owner();
    for (url, code) in HOSTILE {
        let url = url.replace("PORT", &inside.port.to_string());
        let refused = owner.post(&stage.refs(), json!({"url": url})).await;
        assert_eq!(refused.code(), *code, "{url}: {}", refused.text);
    }
    for url in MALFORMED {
        let refused = owner.post(&stage.refs(), json!({"url": url})).await;
        assert_eq!(refused.code(), "invalid", "{url}: {}", refused.text);
    }
    assert_eq!(inside.connections(), 0);
    assert_eq!(stage.kept().await, (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_into_the_house_are_not_followed() {
    let inside = Web::start(|_| page("<p>a secret of the house")).await;
    let port = inside.port;
    // The path says where to.
    let web = Web::start(move |path| {
        let nth: usize = path.trim_start_matches('/').parse().unwrap();
        let all = HOSTILE
            .iter()
            .map(|(url, _)| *url)
            .chain(MALFORMED.iter().copied());
        let to = all
            .filter(|url| !url.contains(['\r', '\t']))
            .nth(nth)
            .unwrap();
        Reply::Moved(to.replace("PORT", &port.to_string()))
    })
    .await;
    let stage = Stage::new(Engine::Sqlite, hostile_names(Reading::of(&web))).await;
    let owner = stage.app.owner();
    let count = HOSTILE.len()
        + MALFORMED
            .iter()
            .filter(|url| !url.contains(['\r', '\t']))
            .count();
    for nth in 0..count {
        let url = web.url(&format!("/{nth}"));
        let refused = owner.post(&stage.refs(), json!({"url": url})).await;
        // A path of the same server, which is allowed, leads on to the next one at most.
        assert!(refused.status >= 400, "{nth}: {}", refused.text);
        assert!(
            refused.code().starts_with("capture_"),
            "{nth}: {}",
            refused.text
        );
    }
    assert_eq!(inside.connections(), 0);
    assert_eq!(stage.kept().await, (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_lead_on_stall_flood_and_lie_cost_one_failed_capture() {
    let web = Web::start(|path| match path {
        "/circle" => Reply::Moved("/circle".to_owned()),
        "/slow" => Reply::Silence,
        "/flood" => Reply::Endless,
        "/gone" => Reply::Status(404),
        "/error" => Reply::Status(500),
        "/picture" => Reply::Page("image/png", b"\x89PNG".to_vec()),
        "/zip" => Reply::Page("application/zip", b"PK\x03\x04".to_vec()),
        "/charset" => Reply::Page("text/html; charset=shift_jis", b"<p>\x83e\x83X".to_vec()),
        "/empty" => page(""),
        on => {
            let nth: u32 = on.trim_start_matches("/on").parse().unwrap_or_default();
            Reply::Moved(format!("/on{}", nth + 1))
        }
    })
    .await;
    let reading = Reading {
        whole: Duration::from_secs(5),
        ..Reading::of(&web)
    };
    let stage = Stage::new(Engine::Sqlite, reading).await;
    let owner = stage.app.owner();
    for (path, status, code) in [
        ("/circle", 502, "capture_redirects"),
        ("/on0", 502, "capture_redirects"),
        ("/slow", 502, "capture_timed_out"),
        ("/flood", 502, "capture_too_large"),
        ("/gone", 502, "capture_status"),
        ("/error", 502, "capture_status"),
        ("/picture", 502, "capture_unsupported"),
        ("/zip", 502, "capture_unsupported"),
        ("/charset", 422, "extract_unreadable"),
    ] {
        let refused = owner
            .post(&stage.refs(), json!({"url": web.url(path)}))
            .await;
        let error = refused.error(status, code);
        assert!(error["message"].as_str().unwrap().len() > 10, "{error}");
    }
    assert_eq!(stage.kept().await, (0, 0));
    // A page without words is a page.
    let empty = owner
        .post(&stage.refs(), json!({"url": web.url("/empty")}))
        .await
        .ok();
    assert_eq!(
        (&empty["body"], &empty["title"]),
        (&json!(""), &json!(web.url("/empty")))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_cannot_start_costs_one_failed_capture() {
    let web = Web::start(|_| page("<p>words")).await;
    let reading = Reading {
        program: Some("/does/not/exist".into()),
        ..Reading::of(&web)
    };
    let stage = Stage::new(Engine::Sqlite, reading).await;
    let body = json!({"url": web.url("/")});
    stage
        .app
        .owner()
        .post(&stage.refs(), body)
        .await
        .error(503, "extract_not_started");
    assert_eq!(stage.kept().await, (0, 0));
}

/// Wrong wishes are said before anybody is asked for anything.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_fetched_for_a_space_or_a_project_that_is_not_there() {
    const NOBODY: &str = "019a0000-0000-7000-8000-000000000000";
    let web = Web::start(|_| page("<p>words")).await;
    let stage = Stage::new(Engine::Sqlite, Reading::of(&web)).await;
    let owner: Caller = stage.app.owner();
    let url = web.url("/");
    let nowhere = format!("/api/spaces/{NOBODY}/refs");
    owner
        .post(&nowhere, json!({"url": url}))
        .await
        .error(404, "not_found");
    let body = json!({"url": url, "project_id": NOBODY});
    owner.post(&stage.refs(), body).await.error(422, "invalid");
    let body = json!({"url": url, "reason": "x".repeat(5_000)});
    owner.post(&stage.refs(), body).await.error(422, "invalid");
    let body = json!({"url": url, "tags": ["a b"]});
    owner.post(&stage.refs(), body).await.error(422, "invalid");
    let space = format!("/api/spaces/{}", stage.space);
    owner.delete(&space).await.ok();
    owner
        .post(&stage.refs(), json!({"url": url}))
        .await
        .error(404, "not_found");
    assert_eq!(web.connections(), 0);
}
