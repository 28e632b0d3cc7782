//! From a name to the address that is connected to: one look-up, and every address of it judged.

use std::net::IpAddr;

use void_capture::{AddressClass, CaptureError, FetchError, Refusal, Resolve as _};

use crate::names::{Names, fetcher};
use crate::servers::{Server, page};

#[tokio::test]
async fn a_name_is_looked_up_once_and_connected_to_where_it_was_judged() {
    let server = Server::start(|_| page("<p>here")).await;
    // Whoever asks again is sent to where nobody may go.
    let names = Names::of("site.test", &[&["127.0.0.1"], &["169.254.169.254"]]);
    let port = server.port();
    let fetcher = fetcher(&[&format!("site.test:{port}")], &names);
    let fetched = fetcher
        .fetch(&format!("http://SITE.test:{port}/"))
        .await
        .unwrap();
    assert_eq!(fetched.bytes, b"<p>here");
    assert_eq!(names.asked(), ["site.test"]);
    assert!(server.requests()[0].contains(&format!("host: site.test:{port}\r\n")));
}

#[tokio::test]
async fn one_address_that_is_not_allowed_refuses_the_whole_name() {
    for (answer, class) in [
        (["93.184.216.34", "127.0.0.1"], AddressClass::Loopback),
        (["10.0.0.1", "93.184.216.34"], AddressClass::Private),
        (["2606:4700::1111", "fd00::1"], AddressClass::UniqueLocal),
        (
            ["93.184.216.34", "::ffff:192.168.1.1"],
            AddressClass::Private,
        ),
        (
            ["93.184.216.34", "64:ff9b::a9fe:a9fe"],
            AddressClass::Metadata,
        ),
    ] {
        let fetcher = fetcher(&[], &Names::of("mixed.test", &[&answer]));
        let refused = fetcher.fetch("http://mixed.test/").await.unwrap_err();
        let CaptureError::Refused(Refusal::Address {
            class: said, host, ..
        }) = refused
        else {
            panic!("{answer:?}: {refused:?}");
        };
        assert_eq!((said, host.as_str()), (class, "mixed.test"));
    }
}

#[tokio::test]
async fn the_next_address_is_tried_where_one_does_not_answer() {
    let server = Server::start(|_| page("<p>here")).await;
    let port = server.port();
    let names = Names::of("site.test", &[&["127.0.0.9", "::ffff:127.0.0.1"]]);
    let fetcher = fetcher(&[&format!("site.test:{port}")], &names);
    let fetched = fetcher
        .fetch(&format!("http://site.test:{port}/"))
        .await
        .unwrap();
    assert_eq!(fetched.bytes, b"<p>here");
}

#[tokio::test]
async fn a_name_without_addresses_is_unknown() {
    for names in [Names::none(), Names::of("empty.test", &[&[]])] {
        let refused = fetcher(&[], &names)
            .fetch("http://empty.test/")
            .await
            .unwrap_err();
        let is_unknown = matches!(refused, CaptureError::Fetch(FetchError::UnknownHost { .. }));
        assert!(is_unknown, "{refused:?}");
        assert_eq!(
            refused.to_string(),
            "nobody knows a host by the name empty.test"
        );
    }
}

#[tokio::test]
async fn the_machines_own_resolver_knows_this_machine() {
    let found = void_capture::SystemResolver
        .resolve("localhost")
        .await
        .unwrap();
    assert!(
        found.iter().all(IpAddr::is_loopback) && !found.is_empty(),
        "{found:?}"
    );
}
