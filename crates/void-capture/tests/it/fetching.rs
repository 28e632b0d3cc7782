//! One hop: what is sent, what is taken, and what is not.

use std::time::Duration;

use void_capture::limits::{BODY_BYTES_MAX, HEAD_BYTES_MAX, HEADERS_MAX};
use void_capture::{CaptureError, Content, DocumentKind, FetchError, Fetched, Refusal};

use crate::names::{LONG, Names, SHORT, fetcher, fetcher_with, no_authorities};
use crate::servers::{Reply, Server, answer, page};

async fn fetch(reply: impl Fn() -> Reply + Send + Sync + 'static) -> Result<Fetched, CaptureError> {
    fetch_within(LONG, reply).await
}

async fn fetch_within(
    whole: Duration,
    reply: impl Fn() -> Reply + Send + Sync + 'static,
) -> Result<Fetched, CaptureError> {
    let server = Server::start(move |_| reply()).await;
    let allowed = server.allowance();
    let fetcher = fetcher_with(&[&allowed], &Names::none(), no_authorities(), whole);
    fetcher.fetch(&server.url("/")).await
}

#[tokio::test]
async fn a_page_is_asked_for_without_anything_about_who_asks() {
    let server = Server::start(|_| page("<p>hello</p>")).await;
    let fetcher = fetcher(&[&server.allowance()], &Names::none());
    let fetched = fetcher.fetch(&server.url("/a%20b?q=1#part")).await.unwrap();
    assert_eq!(fetched.bytes, b"<p>hello</p>");
    assert_eq!(fetched.kind, DocumentKind::Html);
    assert_eq!(fetched.charset.as_deref(), Some("utf-8"));
    assert_eq!(fetched.url, server.url("/a%20b?q=1"));
    let requests = server.requests();
    let [request] = requests.as_slice() else {
        panic!("{requests:?}");
    };
    let mut lines: Vec<String> = request
        .trim()
        .lines()
        .map(str::to_ascii_lowercase)
        .collect();
    assert_eq!(lines.remove(0), "get /a%20b?q=1 http/1.1");
    lines.sort();
    let expected = [
        "accept-encoding: identity".to_owned(),
        "accept: text/html, application/xhtml+xml, application/pdf, text/plain;q=0.9, text/markdown;q=0.9".to_owned(),
        "connection: close".to_owned(),
        format!("host: {}", server.address),
        format!("user-agent: void/{} (capture)", env!("CARGO_PKG_VERSION")),
    ];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn what_is_not_allowed_is_never_connected_to() {
    let server = Server::start(|_| page("secret")).await;
    let refused = fetcher(&[], &Names::none()).fetch(&server.url("/")).await;
    assert!(matches!(
        refused,
        Err(CaptureError::Refused(Refusal::Address { .. }))
    ));
    let refused = fetcher(&["127.0.0.1"], &Names::none())
        .fetch(&server.url("/"))
        .await;
    assert!(
        matches!(refused, Err(CaptureError::Refused(_))),
        "{refused:?}"
    );
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_body_is_taken_up_to_its_bound_and_not_a_byte_further() {
    let body = |bytes: usize| {
        fetch(move || answer("200 OK", &["Content-Type: text/plain"], &vec![b'a'; bytes]))
    };
    assert_eq!(
        body(BODY_BYTES_MAX).await.unwrap().bytes.len(),
        BODY_BYTES_MAX
    );
    let refused = body(BODY_BYTES_MAX + 1).await;
    assert!(matches!(
        refused,
        Err(CaptureError::Fetch(FetchError::TooLarge))
    ));
    // The same without a word about its length, in one piece and in many.
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
    let plain = [head.as_slice(), b"\r\n"].concat();
    let refused = fetch(move || Reply::Endless(plain.clone(), vec![b'a'; 64 * 1024])).await;
    assert!(matches!(
        refused,
        Err(CaptureError::Fetch(FetchError::TooLarge))
    ));
    let chunked = [head.as_slice(), b"Transfer-Encoding: chunked\r\n\r\n"].concat();
    let refused = fetch(move || {
        Reply::Endless(
            chunked.clone(),
            [b"10000\r\n", vec![b'a'; 0x10000].as_slice(), b"\r\n"].concat(),
        )
    })
    .await;
    assert!(matches!(
        refused,
        Err(CaptureError::Fetch(FetchError::TooLarge))
    ));
    let announced =
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 99999999999\r\n\r\n";
    let refused = fetch(|| Reply::ThenSilence(announced.to_vec())).await;
    assert!(matches!(
        refused,
        Err(CaptureError::Fetch(FetchError::TooLarge))
    ));
}

#[tokio::test]
async fn slow_servers_cost_their_time_and_no_more() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n";
    let silent = fetch_within(SHORT, || Reply::ThenSilence(Vec::new())).await;
    assert!(matches!(silent, Err(CaptureError::TimedOut)), "{silent:?}");
    let half_a_head = fetch_within(SHORT, || {
        Reply::ThenSilence(b"HTTP/1.1 200 OK\r\nX-".to_vec())
    })
    .await;
    assert!(
        matches!(half_a_head, Err(CaptureError::TimedOut)),
        "{half_a_head:?}"
    );
    let half_a_body = fetch_within(SHORT, || Reply::ThenSilence(head.to_vec())).await;
    assert!(
        matches!(half_a_body, Err(CaptureError::TimedOut)),
        "{half_a_body:?}"
    );
    let pause = Duration::from_millis(20);
    let slow_head = fetch_within(SHORT, move || Reply::Drip(head.to_vec(), pause)).await;
    assert!(
        matches!(slow_head, Err(CaptureError::TimedOut)),
        "{slow_head:?}"
    );
    let hints = b"HTTP/1.1 103 Early Hints\r\n\r\n";
    let endless_hints = fetch_within(SHORT, || Reply::Endless(Vec::new(), hints.to_vec())).await;
    assert!(endless_hints.is_err(), "{endless_hints:?}");
}

#[tokio::test]
async fn a_length_that_is_a_lie_is_no_page() {
    let short = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 500\r\n\r\nshort";
    let broken = fetch(|| Reply::Whole(short.to_vec())).await;
    assert!(
        matches!(broken, Err(CaptureError::Fetch(FetchError::Broken { .. }))),
        "{broken:?}"
    );
    // Longer than announced: what was announced is the page.
    let long = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\npageHTTP/1.1 200 OK";
    let taken = fetch(|| Reply::Whole(long.to_vec())).await.unwrap();
    assert_eq!(taken.bytes, b"page");
    for lengths in [
        "Content-Length: 4\r\nContent-Length: 5",
        "Content-Length: -1",
        "Content-Length: x",
    ] {
        let reply = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{lengths}\r\n\r\npage!");
        let broken = fetch(move || Reply::Whole(reply.clone().into_bytes())).await;
        assert!(
            matches!(broken, Err(CaptureError::Fetch(FetchError::Broken { .. }))),
            "{broken:?}"
        );
    }
    let chunk = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nx";
    let broken = fetch(|| Reply::Whole(chunk.to_vec())).await;
    assert!(
        matches!(broken, Err(CaptureError::Fetch(FetchError::Broken { .. }))),
        "{broken:?}"
    );
}

#[tokio::test]
async fn what_is_no_http_or_too_much_of_it_is_refused() {
    let many = "X-A: b\r\n".repeat(HEADERS_MAX + 1);
    let long = format!("X-A: {}\r\n", "b".repeat(4 * HEAD_BYTES_MAX));
    for reply in [
        "SSH-2.0-OpenSSH_9.2\r\n".to_owned(),
        String::new(),
        "HTTP/9.9 200 OK\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nContent Type: x\r\n\r\n".to_owned(),
        format!("HTTP/1.1 200 OK\r\n{many}\r\n"),
        format!("HTTP/1.1 200 OK\r\n{long}\r\n"),
        "\0".repeat(100),
    ] {
        let begin: String = reply.chars().take(40).collect();
        let broken = fetch(move || Reply::Whole(reply.clone().into_bytes())).await;
        let is_broken = matches!(broken, Err(CaptureError::Fetch(FetchError::Broken { .. })));
        assert!(is_broken, "{begin:?}: {broken:?}");
    }
}

#[tokio::test]
async fn packed_pages_are_not_unpacked() {
    for header in [
        "Content-Encoding: gzip",
        "Content-Encoding: identity\r\nContent-Encoding: br",
        "Content-Encoding: gzip, identity",
        "content-encoding: DEFLATE",
        "Transfer-Encoding: gzip, chunked",
    ] {
        let reply = move || {
            let bomb = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{header}\r\n\r\n");
            Reply::Whole([head.as_bytes(), &bomb].concat())
        };
        let refused = fetch(reply).await;
        let Err(CaptureError::Fetch(FetchError::Unsupported { content, .. })) = refused else {
            panic!("{header}: {refused:?}");
        };
        assert_eq!(content, Content::Packed, "{header}");
    }
    let plain = fetch(|| {
        answer(
            "200 OK",
            &["Content-Type: text/html", "Content-Encoding: identity"],
            b"x",
        )
    });
    assert_eq!(plain.await.unwrap().bytes, b"x");
}

#[tokio::test]
async fn an_answer_without_a_page_says_its_status() {
    for status in [201, 204, 206, 304, 400, 401, 404, 418, 500, 503] {
        let refused =
            fetch(move || answer(&format!("{status} X"), &["Content-Type: text/html"], b"")).await;
        let Err(CaptureError::Fetch(FetchError::Status { status: said, .. })) = refused else {
            panic!("{status}: {refused:?}");
        };
        assert_eq!(said, status);
    }
    // Moved, and not said where to.
    let refused = fetch(|| answer("302 Found", &[], b"")).await;
    assert!(matches!(
        refused,
        Err(CaptureError::Fetch(FetchError::Status { status: 302, .. }))
    ));
}

#[tokio::test]
async fn only_documents_are_taken() {
    let of_type = |essence: &'static str| {
        fetch(move || {
            answer(
                "200 OK",
                &[&format!("Content-Type: {essence}")],
                b"%PDF-1.7",
            )
        })
    };
    assert_eq!(
        of_type("application/pdf").await.unwrap().kind,
        DocumentKind::Pdf
    );
    assert_eq!(
        of_type("application/octet-stream").await.unwrap().kind,
        DocumentKind::Pdf
    );
    assert_eq!(
        of_type("text/plain").await.unwrap().kind,
        DocumentKind::Text
    );
    for essence in [
        "image/png",
        "application/zip",
        "application/javascript",
        "text/css",
        "video/mp4",
    ] {
        let refused = of_type(essence).await.unwrap_err();
        assert_eq!(refused.code(), "capture_unsupported", "{essence}");
        assert!(refused.to_string().contains(essence), "{refused}");
    }
    // What it is called is a stranger's word, and stays out of ours where it is none.
    let refused = of_type("image/\u{1b}[31m<b>")
        .await
        .unwrap_err()
        .to_string();
    assert!(
        !refused.contains('\u{1b}') && !refused.contains('<'),
        "{refused}"
    );
}

#[tokio::test]
async fn whoever_is_not_there_is_named() {
    let server = Server::start(|_| page("")).await;
    let (url, allowed) = (server.url("/"), server.allowance());
    drop(server);
    let fetcher = fetcher(&[&allowed], &Names::none());
    // The listener goes with its task, which ends when it is next looked at.
    let refused = loop {
        match fetcher.fetch(&url).await {
            Err(error) if error.code() == "capture_unreachable" => break error,
            _ => tokio::task::yield_now().await,
        }
    };
    assert_eq!(refused.to_string(), "127.0.0.1 does not answer");
}
