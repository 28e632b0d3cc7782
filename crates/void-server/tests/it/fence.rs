//! Foreign pages cannot drive anything (I19): by which name Void was addressed, from which page, with
//! which content. The expectations come from lists of what is ours, not from a parser.

use serde_json::json;

use crate::apps::{App, Setup};
use crate::callers::Shows;
use crate::raw::{self, Connection};

const PUBLIC: &str = "https://void.example";

async fn start() -> App {
    let setup = Setup {
        public_url: Some(PUBLIC),
        allowed_hosts: vec!["NAS.lan".to_owned(), "10.9.8.7".to_owned()],
        ..Setup::default()
    };
    setup.start().await
}

/// `Host` headers and whether they are ours.
fn hosts(port: u16) -> Vec<(String, bool)> {
    let with_port = |host: &str| format!("{host}:{port}");
    let mut hosts: Vec<(String, bool)> = ["127.0.0.1", "localhost", "LocalHost", "[::1]"]
        .into_iter()
        .map(|host| (with_port(host), true))
        .collect();
    for ours in [
        "127.0.0.1",
        "localhost:1",
        "void.example",
        "nas.lan:99",
        "10.9.8.7",
    ] {
        hosts.push((ours.to_owned(), true));
    }
    for foreign in [
        "evil.example",
        "127.0.0.1.evil.example",
        "127.evil.example",
        "localhost.evil.example",
        "void.example.evil.example",
        "xvoid.example",
        "0.0.0.0",
        "10.9.8.8",
        "2130706433",
        "0x7f.1",
        "[::2]",
    ] {
        hosts.push((with_port(foreign), false));
    }
    hosts
}

/// `Origin` headers for a request to this host, and whether they are ours.
fn origins(host: &str, port: u16) -> Vec<(Option<String>, bool)> {
    let owned = |text: &str| Some(text.to_owned());
    vec![
        (None, true),
        // Without a port `Host` does not tell plain HTTP from HTTPS, and that name is ours over HTTPS.
        (
            Some(format!("http://{host}")),
            format!("https://{host}") != PUBLIC,
        ),
        (owned(PUBLIC), true),
        (owned("null"), false),
        (owned("http://evil.example"), false),
        (Some(format!("http://evil.example:{port}")), false),
        (Some(format!("http://{host}.evil.example")), false),
        (Some(format!("http://{host}@evil.example")), false),
        (Some(format!("ftp://{host}")), false),
        (owned("http://localhost:2"), false),
        (owned("https://void.example.evil.example"), false),
        (owned("void.example"), false),
    ]
}

/// `Sec-Fetch-Site` headers and whether a request from there is ours.
const SITES: [(Option<&str>, bool); 6] = [
    (None, true),
    (Some("same-origin"), true),
    (Some("none"), true),
    (Some("same-site"), false),
    (Some("cross-site"), false),
    (Some("Same-Origin"), false),
];

const KINDS: [(Option<&str>, bool); 8] = [
    (None, true),
    (Some("application/json"), true),
    (Some("Application/JSON; charset=utf-8"), true),
    (Some("text/plain"), false),
    (Some("text/plain; application/json"), false),
    (Some("application/x-www-form-urlencoded"), false),
    (
        Some("multipart/form-data; boundary=application/json"),
        false,
    ),
    (Some("application/jsonp"), false),
];

fn headers<'a>(
    host: &'a str,
    origin: Option<&'a str>,
    site: Option<&'a str>,
    more: &[(&'a str, &'a str)],
) -> Vec<(&'a str, &'a str)> {
    let mut headers = vec![("host", host)];
    headers.extend(origin.map(|origin| ("origin", origin)));
    headers.extend(site.map(|site| ("sec-fetch-site", site)));
    headers.extend_from_slice(more);
    headers
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_come_from_our_own_pages_under_our_own_names() {
    let app = start().await;
    let bearer = format!("Bearer {}", app.owner_token());
    let port = app.address.port();
    let mut connection = Connection::open(app.address).await;
    let mut combinations = 0;
    for (host, host_is_ours) in hosts(port) {
        for (origin, origin_is_ours) in origins(&host, port) {
            for (site, site_is_ours) in SITES {
                for path in ["/api/status", "/api/events", "/healthz", "/nowhere"] {
                    let more = [("authorization", bearer.as_str())];
                    let lines = headers(&host, origin.as_deref(), site, &more);
                    let request = raw::request(&format!("GET {path}"), &lines, "");
                    let (status, code) = match (host_is_ours, origin_is_ours && site_is_ours) {
                        (false, _) => (421, "unknown_host"),
                        (true, false) => (403, "foreign_origin"),
                        (true, true) if path == "/nowhere" => (404, "not_found"),
                        (true, true) => (200, ""),
                    };
                    connection.write(&request).await;
                    let reply = connection.read().await.unwrap();
                    let context = format!("{path} {lines:?}: {reply:?}");
                    assert_eq!(
                        (reply.status, reply.code().as_str()),
                        (status, code),
                        "{context}"
                    );
                    assert!(!reply.head.contains("access-control-"), "{context}");
                    assert!(reply.head.contains("x-frame-options: deny"), "{context}");
                    assert!(reply.head.contains("frame-ancestors 'none'"), "{context}");
                    if status == 200 && path == "/api/events" {
                        connection = Connection::open(app.address).await;
                    }
                    combinations += 1;
                }
            }
        }
    }
    assert!(combinations >= 300, "{combinations}");
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_come_from_our_own_pages_and_say_that_they_are_json() {
    let app = start().await;
    let owner = app.owner();
    // Over HTTPS the cookie has the name that only this very host can set.
    let opened = owner
        .post("/api/session", json!({"token": app.owner_token()}))
        .await;
    let cookie = opened.headers["set-cookie"].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    app.secrets.add(cookie.split_once('=').unwrap().1);
    let bearer = format!("Bearer {}", app.owner_token());
    let port = app.address.port();
    let (good, bad) = (format!("localhost:{port}"), format!("evil.example:{port}"));
    let mut connection = Connection::open(app.address).await;
    let (mut combinations, mut changes) = (0, 0);
    for (host, host_is_ours) in [(&good, true), (&bad, false)] {
        for (origin, origin_is_ours) in origins(host, port) {
            for (site, site_is_ours) in SITES {
                for (kind, kind_is_ours) in KINDS {
                    for credential in [
                        Some(("authorization", bearer.as_str())),
                        Some(("cookie", cookie.as_str())),
                        None,
                    ] {
                        for (line, body) in [("POST /api/freeze", "{}"), ("POST /api/freeze", "")] {
                            let mut more: Vec<(&str, &str)> = credential.into_iter().collect();
                            more.extend(kind.map(|kind| ("content-type", kind)));
                            let lines = headers(host, origin.as_deref(), site, &more);
                            let by_cookie = credential.is_some_and(|(name, _)| name == "cookie");
                            let proven = origin.is_some()
                                || site == Some("same-origin")
                                || kind.is_some() && kind_is_ours;
                            let (status, code) = if !host_is_ours {
                                (421, "unknown_host")
                            } else if !origin_is_ours || !site_is_ours {
                                (403, "foreign_origin")
                            // Nothing is no body; no form can send a token along with it.
                            } else if !(kind_is_ours
                                || body.is_empty() && credential.is_some() && !by_cookie)
                            {
                                (415, "unsupported_media_type")
                            } else if credential.is_none() {
                                (401, "unauthenticated")
                            } else if by_cookie && !proven {
                                (403, "foreign_origin")
                            } else if kind.is_none() && !body.is_empty() {
                                (415, "unsupported_media_type")
                            } else {
                                (200, "")
                            };
                            connection.write(&raw::request(line, &lines, body)).await;
                            let reply = connection.read().await.unwrap();
                            let seen = (reply.status, reply.code());
                            assert_eq!(seen, (status, code.to_owned()), "{line} {lines:?} {body}");
                            if reply.head.contains("connection: close") {
                                connection = Connection::open(app.address).await;
                            }
                            combinations += 1;
                            changes += usize::from(status == 200);
                        }
                    }
                }
            }
        }
    }
    assert!(
        combinations >= 300 && changes > 0,
        "{combinations} {changes}"
    );
    assert_eq!(app.audited("freeze.set").await.len(), changes);
}

/// A form, an image, a script of another site: whatever a browser sends without asking us first
/// changes nothing on any route, even with every credential.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_form_can_send_changes_nothing_on_any_route() {
    let app = App::start().await;
    let owner = app.owner();
    let session = app.session().await;
    let row = app.queue("stop-a").await;
    let token = app.holder("viewer", "v", &[]).await;
    let head = app.audit_head().await;
    for caller in [&owner, &session] {
        for kind in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
        ] {
            for body in ["", "{}", "{\"digest\":\"x\"}", "a=b"] {
                for route in void_server::routes::ROUTES {
                    // Nothing at all is no body; what shows a token is no form.
                    if route.method == "GET" || body.is_empty() && std::ptr::eq(caller, &owner) {
                        continue;
                    }
                    let id = match route.operation {
                        "runAction" => "touch-a",
                        "revokeToken" | "clearToken" => &token.id,
                        _ => row["id"].as_str().unwrap(),
                    };
                    let path = route
                        .path
                        .replace("{id}", id)
                        .replace("{rowId}", id)
                        .replace("{name}", "local");
                    let method = route.method.parse().unwrap();
                    let body = Some((body.as_bytes().to_vec(), kind));
                    let answer = caller.send_bytes(method, &path, body).await;
                    answer.error(415, "unsupported_media_type");
                }
            }
        }
    }
    assert_eq!(app.audit_head().await, head);
    assert_eq!(app.lab.effect_count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_not_clear_about_its_host_is_refused() {
    let app = App::start().await;
    let port = app.address.port();
    let bearer = format!("authorization: Bearer {}\r\n", app.owner_token());
    let ours = format!("host: 127.0.0.1:{port}\r\n");
    let get = |target: &str, lines: &str| {
        format!("GET {target} HTTP/1.1\r\n{bearer}{lines}\r\n").into_bytes()
    };
    let host = |value: &str| get("/api/status", &format!("host: {value}\r\n"));
    let evil = format!("host: evil.example:{port}\r\n");
    let to = |target: String| get(&target, &ours);
    let cases: Vec<(&str, Vec<u8>, &[u16])> = vec![
        ("as it should be", get("/api/status", &ours), &[200]),
        ("no Host", get("/api/status", ""), &[400, 421]),
        ("an empty Host", host(""), &[421]),
        (
            "two equal Hosts",
            get("/api/status", &format!("{ours}{ours}")),
            &[421],
        ),
        (
            "two Hosts, ours first",
            get("/api/status", &format!("{ours}{evil}")),
            &[421],
        ),
        (
            "two Hosts, ours last",
            get("/api/status", &format!("{evil}{ours}")),
            &[421],
        ),
        (
            "absolute, same authority",
            to(format!("http://127.0.0.1:{port}/api/status")),
            &[200],
        ),
        (
            "absolute, another host",
            to(format!("http://evil.example:{port}/api/status")),
            &[421],
        ),
        (
            "absolute, another port",
            to(format!("http://127.0.0.1:{}/api/status", port ^ 1)),
            &[421],
        ),
        (
            "absolute, another name of ours",
            to(format!("http://localhost:{port}/api/status")),
            &[421],
        ),
        (
            "absolute, with a user",
            to(format!("http://127.0.0.1:{port}@evil.example/api/status")),
            &[400, 421],
        ),
        (
            "absolute, evil Host",
            get(&format!("http://127.0.0.1:{port}/api/status"), &evil),
            &[421],
        ),
        ("a user", host(&format!("user@127.0.0.1:{port}")), &[421]),
        (
            "a user that is ours",
            host(&format!("127.0.0.1:{port}@evil.example")),
            &[421],
        ),
        ("a port that is none", host("127.0.0.1:port"), &[421]),
        ("a port that is too high", host("127.0.0.1:65536"), &[421]),
        ("a signed port", host("127.0.0.1:+80"), &[421]),
        ("a second colon", host("127.0.0.1:80:80"), &[421]),
        ("IPv6 without brackets", host("::1"), &[421]),
        ("IPv6, open bracket", host("[::1"), &[421]),
        ("IPv6 with a zone", host("[::1%25lo]"), &[421]),
        (
            "IPv6, mapped",
            host(&format!("[::ffff:127.0.0.1]:{port}")),
            &[200],
        ),
        ("IPv6, ours", host(&format!("[::1]:{port}")), &[200]),
        ("a trailing dot", host("localhost."), &[421]),
        ("a path", host("localhost/"), &[421]),
        ("octal", host("0177.0.0.1"), &[421]),
        ("a short address", host("127.1"), &[421]),
        ("a look-alike", host("loc\u{430}lhost"), &[400, 421]),
        ("full-width digits", host("\u{ff11}27.0.0.1"), &[400, 421]),
        ("a NUL in Host", host("127.0.0.1\0.evil.example"), &[400]),
        ("a control byte in Host", host("127.0.0.1\u{1}"), &[400]),
        ("a tab in Host", host("127.0.0.1\tevil"), &[421]),
        ("a space in Host", host("127.0.0.1 evil"), &[421]),
        (
            "a folded Host",
            get(
                "/api/status",
                &format!("host: evil\r\n 127.0.0.1:{port}\r\n"),
            ),
            &[400],
        ),
        (
            "a space before the colon",
            get("/api/status", &format!("host : 127.0.0.1:{port}\r\n")),
            &[400],
        ),
        ("a NUL in the target", get("/api/sta\0tus", &ours), &[400]),
        (
            "another protocol",
            format!("GET /api/status HTTP/1.0\r\n{bearer}\r\n").into_bytes(),
            &[421],
        ),
        (
            "two Origins",
            get(
                "/api/status",
                &format!(
                    "{ours}origin: http://127.0.0.1:{port}\r\norigin: http://evil.example\r\n"
                ),
            ),
            &[403],
        ),
        (
            "two equal Origins",
            get(
                "/api/status",
                &format!(
                    "{ours}origin: http://127.0.0.1:{port}\r\norigin: http://127.0.0.1:{port}\r\n"
                ),
            ),
            &[403],
        ),
        (
            "an empty Origin",
            get("/api/status", &format!("{ours}origin: \r\n")),
            &[403],
        ),
        (
            "two sites, ours first",
            get(
                "/api/status",
                &format!("{ours}sec-fetch-site: same-origin\r\nsec-fetch-site: cross-site\r\n"),
            ),
            &[403],
        ),
        (
            "a CONNECT",
            format!("CONNECT evil.example:80 HTTP/1.1\r\n{bearer}{ours}\r\n").into_bytes(),
            &[404, 421],
        ),
        (
            "an OPTIONS *",
            format!("OPTIONS * HTTP/1.1\r\n{bearer}{ours}\r\n").into_bytes(),
            &[404, 405],
        ),
    ];
    for (what, request, expected) in cases {
        let reply = raw::exchange(app.address, &request).await;
        let status = reply.as_ref().map(|reply| reply.status);
        let fits = status.is_some_and(|status| expected.contains(&status));
        assert!(fits, "{what}: {expected:?} expected, {reply:?}");
    }
}

/// Two requests in one: whoever reads lengths otherwise than the proxy in front lets one through.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_as_long_as_it_says_or_refused() {
    let app = App::start().await;
    let start = format!(
        "POST /api/freeze HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n",
        app.address,
        app.owner_token()
    );
    let hidden = "GET /api/status HTTP/1.1\r\nhost: evil.example\r\n\r\n";
    for lengths in [
        "content-length: 2\r\ncontent-length: 40\r\n",
        "content-length: +2\r\n",
        "content-length: 0x2\r\n",
        "content-length: 2, 3\r\n",
        "transfer-encoding: chunked, identity\r\n",
        "transfer-encoding: xchunked\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 2\r\n",
    ] {
        let request = format!("{start}{lengths}\r\n{{}}{hidden}");
        let mut connection = Connection::open(app.address).await;
        connection.write(request.as_bytes()).await;
        while let Some(reply) = connection.read().await {
            assert_ne!(reply.status, 200, "{lengths:?}: {reply:?}");
        }
    }
    assert_eq!(app.audited("freeze.set").await.len(), 0);
}

/// A cookie of the plain name, which a neighbouring host could plant, does not count over HTTPS; and
/// a planted one does not hide the real one.
#[tokio::test(flavor = "multi_thread")]
async fn over_https_only_the_cookie_that_names_this_host_counts() {
    let app = start().await;
    let body = json!({"token": app.owner_token()});
    let opened = app.anonymous().post("/api/session", body).await;
    let cookie = opened.headers["set-cookie"].to_str().unwrap().to_owned();
    let value = cookie.split(';').next().unwrap().split_once('=').unwrap().1;
    app.secrets.add(value);
    let with = |cookies: String| app.caller(Shows::Headers(vec![("cookie", cookies)]));
    let good = with(format!("void_session=planted; __Host-void_session={value}"));
    assert_eq!(good.get("/api/session").await.ok()["kind"], "owner");
    let plain = with(format!("void_session={value}"));
    plain
        .get("/api/session")
        .await
        .error(401, "unauthenticated");
}
