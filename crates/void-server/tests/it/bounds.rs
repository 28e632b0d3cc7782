//! Every bound of DESIGN 14 at its limit (I22).

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;
use void_control::Limits;

use crate::apps::{App, Engine, Setup, queue};
use crate::callers::Caller;
use crate::raw::{self, Connection};

const MIB: usize = 1024 * 1024;

/// A body of exactly this many bytes that means nothing but itself.
fn padded(body: &str, bytes: usize) -> Vec<u8> {
    let mut padded = body.as_bytes().to_vec();
    padded.resize(bytes, b' ');
    padded
}

async fn send(caller: &Caller, path: &str, body: Vec<u8>) -> (u16, String) {
    let answer = caller
        .send_bytes(Method::POST, path, Some((body, "application/json")))
        .await;
    (answer.status, answer.code())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_is_one_mebibyte_and_a_login_eight_kibibytes() {
    let app = App::start().await;
    let (owner, anonymous) = (app.owner(), app.anonymous());
    let unknown = (404, "unknown_action".to_owned());
    let too_large = (413, "too_large".to_owned());
    let run = "/api/actions/no-such/run";
    assert_eq!(send(&owner, run, padded("{}", MIB)).await, unknown);
    assert_eq!(send(&owner, run, padded("{}", MIB + 1)).await, too_large);
    let wrong = (401, "unauthenticated".to_owned());
    let login = r#"{"token":"wrong"}"#;
    assert_eq!(
        send(&anonymous, "/api/session", padded(login, 8_192)).await,
        wrong
    );
    assert_eq!(
        send(&anonymous, "/api/session", padded(login, 8_193)).await,
        too_large
    );
    // Who may not ask is told so, however much they send.
    assert_eq!(send(&anonymous, run, padded("{}", MIB)).await, wrong);
}

/// The head of a request by the owner, up to its lengths.
fn owners_head(app: &App, line: &str) -> String {
    format!(
        "{line} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n",
        app.address,
        app.owner_token()
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_without_measure_is_not_read_to_its_end() {
    let app = App::start().await;
    let head = owners_head(&app, "POST /api/actions/no-such/run");
    // Announced as too long: answered before a byte of it was sent.
    for announced in [MIB + 1, 64 * MIB, usize::MAX] {
        let request = format!("{head}content-length: {announced}\r\n\r\n");
        let start = Instant::now();
        let reply = raw::exchange(app.address, request.as_bytes())
            .await
            .unwrap();
        assert!(start.elapsed() < Duration::from_secs(1));
        assert!(
            matches!(reply.status, 400 | 413 | 431),
            "{announced}: {reply:?}"
        );
    }
    // Announced not at all, and without an end.
    let mut connection = Connection::open(app.address).await;
    connection
        .write(format!("{head}transfer-encoding: chunked\r\n\r\n").as_bytes())
        .await;
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    let mut sent = 0;
    while sent < 64 * MIB && connection.write(chunk.as_bytes()).await {
        sent += 0x10000;
    }
    assert!(sent < 32 * MIB, "{sent} bytes were taken");
    // One chunk that claims to be endless.
    let request = format!("{head}transfer-encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF0\r\n");
    let reply = raw::exchange(app.address, request.as_bytes()).await;
    assert!(reply.is_none_or(|reply| matches!(reply.status, 400 | 413 | 422)));
    app.owner().get("/api/status").await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn json_that_could_be_read_in_two_ways_is_refused() {
    let app = App::start().await;
    let owner = app.owner();
    let deep = |open: &str, close: &str| {
        format!(
            "{{\"params\":{}1{}}}",
            open.repeat(100_000),
            close.repeat(100_000)
        )
    };
    let many = |count: usize| {
        let members = (0..count).map(|n| format!("\"{n:x}\":0"));
        members.collect::<Vec<_>>().join(",")
    };
    let bodies: Vec<Vec<u8>> = [
        deep("[", "]"),
        deep("{\"a\":", "}"),
        "[".repeat(MIB - 1),
        format!("{{{}}}", many(100_000)),
        r#"{"reason":"a","reason":"b"}"#.to_owned(),
        r#"{"reason":"a","re\u0061son":"b"}"#.to_owned(),
        r#"{"params":{"replicas":1,"replicas":2}}"#.to_owned(),
        r#"{"params":{"a":[{"b":1,"b":1}]}}"#.to_owned(),
        r#"{"Reason":"a"}"#.to_owned(),
        r#"{"reason ":"a"}"#.to_owned(),
        r#"{"unknown":1}"#.to_owned(),
        r#"["x","y"]"#.to_owned(),
        r#"[null,null]"#.to_owned(),
        "\"x\"".to_owned(),
        "null".to_owned(),
        "1".to_owned(),
        "{".to_owned(),
        "{} {}".to_owned(),
        "{},".to_owned(),
        "{'reason':'a'}".to_owned(),
        "{reason:1}".to_owned(),
        "{\"reason\":1}".to_owned(),
        "{\"reason\":NaN}".to_owned(),
        "{\"reason\":\"\u{1}\"}".to_owned(),
        r#"{"reason":"\u0000"}"#.to_owned(),
        r#"{"reason":"\ud800"}"#.to_owned(),
        "\u{feff}{}".to_owned(),
        "{}\0".to_owned(),
        "/* */{}".to_owned(),
        " ".to_owned(),
    ]
    .into_iter()
    .map(String::into_bytes)
    .chain([
        b"{\"reason\":\"\xff\"}".to_vec(),
        b"\xff\xfe{\0}\0".to_vec(),
    ])
    .collect();
    let head = app.audit_head().await;
    for body in bodies {
        let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        let start = Instant::now();
        let answer = owner
            .send_bytes(
                Method::POST,
                "/api/actions/touch-a/run",
                Some((body, "application/json")),
            )
            .await;
        answer.error(422, "invalid");
        assert!(
            answer.text.len() < 1_000,
            "{shown}: {} bytes",
            answer.text.len()
        );
        assert!(start.elapsed() < Duration::from_secs(10), "{shown}");
    }
    assert_eq!(app.audit_head().await, head);
    // As many names as fit that the action does not declare: some of them are named.
    let body = format!("{{\"params\":{{{}}}}}", many(100_000)).into_bytes();
    assert!(body.len() < MIB);
    let answer = owner
        .send_bytes(
            Method::POST,
            "/api/actions/scale-a/run",
            Some((body, "application/json")),
        )
        .await;
    answer.error(422, "invalid");
    assert!(answer.text.len() < 8_000, "{} bytes", answer.text.len());
    assert_eq!(app.lab.effect_count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_are_few_and_short() {
    let app = App::start().await;
    let host = format!("host: {}\r\n", app.address);
    let get = |more: &str| format!("GET /healthz HTTP/1.1\r\n{host}{more}\r\n").into_bytes();
    let many = |count: usize| {
        (0..count)
            .map(|n| format!("x-{n}: 1\r\n"))
            .collect::<String>()
    };
    for (what, request, good) in [
        ("as many as fit", get(&many(63)), true),
        ("one more", get(&many(64)), false),
        ("a hundred thousand", get(&many(100_000)), false),
        (
            "a long one",
            get(&format!("x: {}\r\n", "x".repeat(12 * 1024))),
            true,
        ),
        (
            "one too long",
            get(&format!("x: {}\r\n", "x".repeat(17 * 1024))),
            false,
        ),
        (
            "a mebibyte",
            get(&format!("x: {}\r\n", "x".repeat(MIB))),
            false,
        ),
        (
            "a name of a mebibyte",
            get(&format!("{}: x\r\n", "x".repeat(MIB))),
            false,
        ),
        (
            "a target of a mebibyte",
            format!("GET /{} HTTP/1.1\r\n{host}\r\n", "x".repeat(MIB)).into_bytes(),
            false,
        ),
        (
            "a method of a mebibyte",
            format!("{} / HTTP/1.1\r\n{host}\r\n", "X".repeat(MIB)).into_bytes(),
            false,
        ),
        ("no line at all", vec![b'\n'; MIB], false),
        ("noise", (0..=250).cycle().take(MIB).collect(), false),
        (
            "TLS",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".repeat(20),
            false,
        ),
        (
            "HTTP/2",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
            false,
        ),
    ] {
        let start = Instant::now();
        let mut connection = Connection::open(app.address).await;
        connection.write(&request).await;
        let reply = connection.read().await;
        assert!(start.elapsed() < Duration::from_secs(1), "{what}");
        match reply {
            Some(reply) if good => assert_eq!(reply.status, 200, "{what}"),
            Some(reply) => assert!((400..500).contains(&reply.status), "{what}: {reply:?}"),
            None => assert!(!good, "{what}"),
        }
    }
    app.owner().get("/api/status").await.ok();
}

/// Who says nothing, or says it one byte at a time, is not waited for. All of it at once, because
/// each takes its full time.
#[tokio::test(flavor = "multi_thread")]
async fn the_slow_are_cut_off() {
    let app = App::start().await;
    let limit = Duration::from_secs(25);
    let silent = async { Connection::open(app.address).await.ended().await };
    let dripping = async {
        let mut connection = Connection::open(app.address).await;
        connection
            .write(format!("GET /healthz HTTP/1.1\r\nhost: {}\r\n", app.address).as_bytes())
            .await;
        let start = Instant::now();
        let mut ticks = tokio::time::interval(Duration::from_millis(500));
        while start.elapsed() < limit && connection.write(b"x: y\r\n").await {
            ticks.tick().await;
        }
        start.elapsed()
    };
    let idle = async {
        let mut connection = Connection::open(app.address).await;
        connection
            .write(format!("GET /healthz HTTP/1.1\r\nhost: {}\r\n\r\n", app.address).as_bytes())
            .await;
        assert_eq!(connection.read().await.unwrap().status, 200);
        connection.ended().await
    };
    let slow_body = async {
        let mut connection = Connection::open(app.address).await;
        let start = Instant::now();
        let head = format!(
            "POST /api/session HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{{",
            app.address
        );
        connection.write(head.as_bytes()).await;
        let reply = connection.read().await.unwrap();
        assert_eq!((reply.status, reply.code().as_str()), (408, "too_slow"));
        start.elapsed()
    };
    // Asks and asks and takes nothing of the answers, until nothing fits in between any more.
    let not_reading = async {
        let mut connection = Connection::open(app.address).await;
        let ask = format!(
            "GET /api/openapi.json HTTP/1.1\r\nhost: {}\r\n\r\n",
            app.address
        );
        let start = Instant::now();
        let asking = async { while connection.write(ask.as_bytes()).await {} };
        let _ = tokio::time::timeout(limit * 2, asking).await;
        start.elapsed()
    };
    let (silent, dripping, idle, slow_body, not_reading) =
        tokio::join!(silent, dripping, idle, slow_body, not_reading);
    assert!(not_reading < limit * 2, "not reading: {not_reading:?}");
    for (what, took) in [
        ("silent", silent),
        ("dripping", dripping),
        ("idle", idle),
        ("body", slow_body),
    ] {
        assert!(took < limit, "{what}: {took:?}");
        assert!(
            took > Duration::from_secs(5),
            "{what} was given time: {took:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reason_is_four_kibibytes() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        // Characters of several bytes: the bound is in bytes.
        let good = "é".repeat(2_048);
        let bad = format!("{good}x");
        let row = app.queue("stop-a").await;
        let id = row["id"].as_str().unwrap();
        let of = |reason: &str| json!({"digest": row["digest"], "reason": reason});
        let decide = |reason: &str| {
            let mut body = of(reason);
            body["decision"] = json!("reject");
            body
        };
        for (path, body) in [
            ("/api/actions/stop-b/run".to_owned(), json!({"reason": bad})),
            ("/api/freeze".to_owned(), json!({"reason": bad})),
            (format!("/api/actions/pending/{id}/approve"), of(&bad)),
            (format!("/api/actions/pending/{id}/reject"), of(&bad)),
            (format!("/api/proposals/{id}/decide"), decide(&bad)),
        ] {
            let error = owner.post(&path, body).await.error(422, "invalid");
            assert_eq!(
                error["fields"]["reason"], "is longer than 4096 bytes",
                "{path}"
            );
        }
        let queued = owner
            .post("/api/actions/stop-b/run", json!({"reason": good}))
            .await
            .ok();
        let path = format!(
            "/api/proposals/{}",
            queued["action_row_id"].as_str().unwrap()
        );
        assert_eq!(owner.get(&path).await.ok()["reason"], good);
        assert_eq!(
            owner
                .post("/api/freeze", json!({"reason": good}))
                .await
                .ok()["reason"],
            good
        );
        let path = format!("/api/proposals/{id}/decide");
        let rejected = owner.post(&path, decide(&good)).await.ok();
        assert_eq!(rejected["error"]["message"], good);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_and_waits_have_their_bounds_everywhere() {
    let app = App::start().await;
    let owner = app.owner();
    for path in [
        "/api/actions/pending",
        "/api/actions/recent",
        "/api/proposals",
        "/api/inbox",
        "/api/audit",
    ] {
        for (limit, status) in [
            ("1", 200),
            ("500", 200),
            ("501", 422),
            ("0", 422),
            ("4294967296", 422),
            ("-5", 422),
        ] {
            let answer = owner.get(&format!("{path}?limit={limit}")).await;
            assert_eq!(answer.status, status, "{path} {limit}");
        }
        owner
            .get(&format!("{path}?limit=1&offset=5"))
            .await
            .error(422, "invalid");
    }
    let row = app.queue("stop-a").await;
    let id = row["id"].as_str().unwrap();
    for path in [
        "/api/actions/no-such/run".to_owned(),
        format!("/api/actions/pending/{id}/approve"),
        format!("/api/proposals/{id}/decide"),
    ] {
        for wait in ["301", "-1", "x", "18446744073709551616", "1e3", ""] {
            let body = json!({});
            let answer = owner.post(&format!("{path}?wait={wait}"), body).await;
            answer.error(422, "invalid");
        }
        let answer = owner
            .post(&format!("{path}?wait=0&wait=1"), json!({}))
            .await;
        answer.error(422, "invalid");
    }
    owner
        .post_nothing("/api/actions/no-such/run?wait=300")
        .await
        .error(404, "unknown_action");
    assert_eq!(app.row(id).await, row);
}

/// R-A11: over a limit the answer is no, and it is on the record.
#[tokio::test(flavor = "multi_thread")]
async fn only_so_much_waits_at_once() {
    for engine in Engine::both().await {
        let setup = Setup {
            engine,
            limits: Limits {
                open_proposals: 5,
                open_proposals_per_agent: 2,
                ..Limits::default()
            },
            ..Setup::default()
        };
        let app = setup.start().await;
        let (owner, blue, red) = (app.owner(), app.agent("blue").await, app.agent("red").await);
        let first = queue(&blue, "stop-a").await;
        queue(&blue, "stop-b").await;
        let error = blue.run("stop-all").await.error(429, "rate_limited");
        assert_eq!(error["row"]["status"], "refused");
        assert_eq!(
            error["message"],
            "2 proposals are waiting already, which is the limit"
        );
        // The same request again takes no room.
        assert_eq!(queue(&blue, "stop-a").await["count"], 2);
        queue(&red, "stop-a").await;
        queue(&red, "stop-b").await;
        app.queue("stop-a").await;
        let error = owner.run("stop-b").await.error(429, "rate_limited");
        assert_eq!(
            error["message"],
            "5 proposals are waiting already, which is the limit"
        );
        // What is safe does not wait, so it is not held up.
        assert_eq!(red.run("touch-a").await.ok()["executed"], true);
        owner.decide(&first, "reject").await.ok();
        app.queue("stop-b").await;
        assert_eq!(app.audited("proposal.refused").await.len(), 2);
    }
}

/// An answer that comes before the body was read still arrives, and the connection goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_heard_however_much_was_sent() {
    let app = App::start().await;
    let (owner, anonymous) = (app.owner(), app.anonymous());
    for _ in 0..50 {
        let run = "/api/actions/touch-a/run";
        let refused = send(&anonymous, run, padded("{}", MIB)).await;
        assert_eq!(refused, (401, "unauthenticated".to_owned()));
        let missing = send(&owner, "/api/nowhere", padded("{}", 256 * 1024)).await;
        assert_eq!(missing, (404, "not_found".to_owned()));
        let large = send(&owner, run, padded("{}", MIB + MIB / 2)).await;
        assert_eq!(large, (413, "too_large".to_owned()));
    }
    // On one connection, one after the other, without a pause.
    let host = app.address.to_string();
    let lines = [
        ("host", host.as_str()),
        ("content-type", "application/json"),
    ];
    let request = raw::request("POST /api/freeze", &lines, &" ".repeat(100_000));
    let mut connection = Connection::open(app.address).await;
    for _ in 0..5 {
        assert!(connection.write(&request).await);
        assert_eq!(connection.read().await.unwrap().status, 401);
    }
    assert_eq!(app.lab.effect_count(), 0);
}
