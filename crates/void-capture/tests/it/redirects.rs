//! Hop by hop: each is judged as if it were the first.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use void_capture::limits::REDIRECTS_MAX;
use void_capture::{AddressClass, CaptureError, FetchError, InvalidUrl, Refusal};

use crate::names::{Names, fetcher};
use crate::servers::{Server, answer, moved, page};

/// A server that sends on to where its path says, `/to/…`.
async fn signpost() -> Server {
    Server::start(|head| {
        let path = head.split(' ').nth(1).unwrap();
        match path.strip_prefix("/to/") {
            Some(target) => moved(target),
            None => page(path),
        }
    })
    .await
}

#[tokio::test]
async fn a_redirect_is_followed_to_its_page() {
    let server = signpost().await;
    let fetcher = fetcher(&[&server.allowance()], &Names::none());
    for target in [
        server.url("/page"),
        "/page".to_owned(),
        "../page#part".to_owned(),
        format!("//{}/page", server.address),
    ] {
        let begin = server.url(&format!("/to/{target}"));
        let fetched = fetcher.fetch(&begin).await.unwrap();
        assert_eq!(fetched.url, server.url("/page"), "{target}");
        assert_eq!(fetched.bytes, b"/page");
    }
}

#[tokio::test]
async fn all_five_kinds_of_moved_are_followed_by_a_get() {
    let server = Server::start(|head| {
        let path = head.split(' ').nth(1).unwrap();
        match path.strip_prefix("/by/") {
            Some(status) => answer(&format!("{status} Moved"), &["Location: /page"], b"body"),
            None => page(head.split(' ').next().unwrap()),
        }
    })
    .await;
    let fetcher = fetcher(&[&server.allowance()], &Names::none());
    for status in [301, 302, 303, 307, 308] {
        let fetched = fetcher
            .fetch(&server.url(&format!("/by/{status}")))
            .await
            .unwrap();
        assert_eq!(fetched.bytes, b"GET", "{status}");
    }
}

#[tokio::test]
async fn five_redirects_are_followed_and_a_sixth_is_not() {
    let server = Server::start(|head| {
        let path = head.split(' ').nth(1).unwrap();
        match path.trim_start_matches('/').parse::<usize>().unwrap() {
            0 => page("arrived"),
            left => moved(&format!("/{}", left - 1)),
        }
    })
    .await;
    let fetcher = fetcher(&[&server.allowance()], &Names::none());
    let hops = |count: usize| server.url(&format!("/{count}"));
    assert_eq!(
        fetcher.fetch(&hops(REDIRECTS_MAX)).await.unwrap().bytes,
        b"arrived"
    );
    let before = server.connections();
    let refused = fetcher.fetch(&hops(REDIRECTS_MAX + 1)).await.unwrap_err();
    assert!(matches!(
        refused,
        CaptureError::Fetch(FetchError::Redirects { circle: false })
    ));
    assert_eq!(server.connections() - before, REDIRECTS_MAX + 1);
}

#[tokio::test]
async fn a_circle_ends_where_it_closes() {
    let server = Server::start(|head| {
        if head.starts_with("GET /a ") {
            moved("/b#x")
        } else {
            moved("/a#y")
        }
    })
    .await;
    let fetcher = fetcher(&[&server.allowance()], &Names::none());
    let refused = fetcher.fetch(&server.url("/a")).await.unwrap_err();
    assert!(matches!(
        refused,
        CaptureError::Fetch(FetchError::Redirects { circle: true })
    ));
    assert_eq!(server.connections(), 2);
    assert_eq!(
        refused.to_string(),
        "the page leads on and on (in a circle)"
    );
}

#[tokio::test]
async fn a_redirect_into_the_house_is_refused_before_it_is_connected_to() {
    let inside = Server::start(|_| page("secret")).await;
    let server = signpost().await;
    let fetcher = fetcher(
        &[&server.allowance()],
        &Names::of("inside.test", &[&["127.0.0.1"]]),
    );
    let port = inside.port();
    for target in [
        inside.url("/"),
        format!("//127.0.0.1:{port}/"),
        format!("http://inside.test:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://0x7f000001:{port}/"),
        format!("http://0177.0.0.1:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://0:{port}/"),
    ] {
        let refused = fetcher
            .fetch(&server.url(&format!("/to/{target}")))
            .await
            .unwrap_err();
        let is_address = matches!(
            &refused,
            CaptureError::Refused(Refusal::Address { class, .. })
                if matches!(class, AddressClass::Loopback | AddressClass::Unspecified)
        );
        assert!(is_address, "{target}: {refused:?}");
    }
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn a_redirect_to_what_is_no_page_of_the_web_is_refused() {
    use InvalidUrl::*;
    for (target, why) in [
        ("file:///etc/passwd", Scheme),
        ("gopher://127.0.0.1/", Scheme),
        ("javascript:alert(1)", Scheme),
        ("data:text/html,x", Scheme),
        ("ftp://example.org/", Scheme),
        ("http://user:secret@example.org/", Credentials),
        ("//user@example.org/", Credentials),
        ("http://", Malformed),
        ("http://exa%20mple/", Malformed),
        ("http://example.org\\@127.0.0.1/", Malformed),
    ] {
        let server = Server::start(move |_| moved(target)).await;
        let fetcher = fetcher(&[&server.allowance()], &Names::none());
        let refused = fetcher.fetch(&server.url("/")).await.unwrap_err();
        let CaptureError::Url(said) = refused else {
            panic!("{target}: {refused:?}");
        };
        assert_eq!(said, why, "{target}");
    }
}

#[tokio::test]
async fn a_name_that_moves_between_hops_is_judged_at_every_hop() {
    let hops = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&hops);
    let server = Server::start(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        moved("/again?x=1")
    })
    .await;
    let port = server.port();
    // First at an address that the owner allowed, then at the machine's metadata.
    let names = Names::of("site.test", &[&["127.0.0.1"], &["169.254.169.254"]]);
    let fetcher = fetcher(&[&format!("127.0.0.1:{port}")], &names);
    let refused = fetcher
        .fetch(&format!("http://site.test:{port}/"))
        .await
        .unwrap_err();
    let CaptureError::Refused(Refusal::Address { class, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(class, AddressClass::Metadata);
    assert_eq!(hops.load(Ordering::SeqCst), 1);
    assert_eq!(names.asked(), ["site.test", "site.test"]);
}
