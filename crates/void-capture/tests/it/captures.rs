//! From a URL to text: the whole way, and how many go it at once.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use void_capture::limits::{CAPTURES_AT_ONCE_MAX, CAPTURES_WAITING_MAX};
use void_capture::{CaptureError, Captures, DocumentKind};

use crate::names::{LONG, Names, fetcher, fetcher_with, no_authorities};
use crate::reading::extractor;
use crate::servers::{Reply, Server, answer, page};

#[tokio::test]
async fn a_url_becomes_text_with_its_title_and_its_source() {
    let server =
        Server::start(|_| page("<title>Backups</title><p>Copy <a href='/db'>it</a>.")).await;
    let fetcher = fetcher(&[&server.allowance()], &Names::none());
    let captured = Captures::new(fetcher, extractor())
        .capture(&server.url("/x"))
        .await
        .unwrap();
    assert_eq!(captured.url, server.url("/x"));
    assert_eq!(captured.kind, DocumentKind::Html);
    let extracted = captured.extracted.unwrap();
    assert_eq!(extracted.title.as_deref(), Some("Backups"));
    assert_eq!(extracted.text, format!("Copy it ({}).", server.url("/db")));
    assert!(captured.source.starts_with(b"<title>"));
}

#[tokio::test]
async fn a_pdf_without_a_reader_is_a_reason_and_not_a_page() {
    let server =
        Server::start(|_| answer("200 OK", &["Content-Type: application/pdf"], b"%PDF-1.7")).await;
    let fetcher = fetcher(&[&server.allowance()], &Names::none());
    let refused = Captures::new(fetcher, extractor())
        .capture(&server.url("/"))
        .await
        .unwrap_err();
    assert_eq!(refused.code(), "extract_pdf_reader_missing");
}

#[tokio::test]
async fn eight_go_at_once_others_wait_and_too_many_are_sent_away() {
    let server = Server::start(|head| {
        if head.starts_with("GET /slow") {
            Reply::ThenSilence(Vec::new())
        } else {
            page("<p>quick")
        }
    })
    .await;
    let fetcher = fetcher(&[&server.allowance()], &Names::none());
    let captures = Captures::new(fetcher, extractor());
    let start = |path: &str| {
        let (captures, url) = (captures.clone(), server.url(path));
        tokio::spawn(async move { captures.capture(&url).await })
    };
    let mut slow: Vec<_> = (0..CAPTURES_AT_ONCE_MAX).map(|_| start("/slow")).collect();
    while server.requests().len() < CAPTURES_AT_ONCE_MAX {
        tokio::task::yield_now().await;
    }
    let waiting: Vec<_> = (0..CAPTURES_WAITING_MAX).map(|_| start("/quick")).collect();
    while captures.under_way() < CAPTURES_AT_ONCE_MAX + CAPTURES_WAITING_MAX {
        tokio::task::yield_now().await;
    }
    let refused = captures.capture(&server.url("/next")).await.unwrap_err();
    assert!(matches!(refused, CaptureError::Busy), "{refused:?}");
    assert_eq!(server.connections(), CAPTURES_AT_ONCE_MAX);
    // One place becomes free, by somebody who stops waiting; all that waited get through it.
    slow.pop().unwrap().abort();
    for waiting in waiting {
        let extracted = waiting.await.unwrap().unwrap().extracted;
        assert_eq!(extracted.unwrap().text, "quick");
    }
    for slow in slow {
        slow.abort();
    }
}

#[tokio::test]
async fn a_capture_ends_in_time_wherever_it_is() {
    let server = Server::start(|_| Reply::ThenSilence(b"HTTP/1.1 200 OK\r\n".to_vec())).await;
    let whole = Duration::from_millis(300);
    let allowed = server.allowance();
    let fetcher = fetcher_with(&[&allowed], &Names::none(), no_authorities(), whole);
    let captures = Captures::new(fetcher, extractor());
    let late = captures.capture(&server.url("/")).await.unwrap_err();
    assert!(matches!(late, CaptureError::TimedOut), "{late:?}");
    // And its place is free again.
    let all = Arc::new(Semaphore::new(0));
    for _ in 0..2 * CAPTURES_AT_ONCE_MAX {
        let (captures, url, all) = (captures.clone(), server.url("/"), Arc::clone(&all));
        tokio::spawn(async move {
            let _ = captures.capture(&url).await;
            all.add_permits(1);
        });
    }
    let ended = all.acquire_many(u32::try_from(2 * CAPTURES_AT_ONCE_MAX).unwrap());
    tokio::time::timeout(LONG, ended)
        .await
        .unwrap()
        .unwrap()
        .forget();
}
