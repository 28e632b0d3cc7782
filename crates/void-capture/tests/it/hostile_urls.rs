//! URLs that mean something else than they look like. Every name of this table is said to be at 127.0.0.1 by
//! the resolver, and something listens there: what is not refused would be fetched.

use void_capture::{AddressClass, CaptureError, InvalidUrl, Refusal};

use crate::names::{Names, fetcher};
use crate::servers::{Server, page};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Why {
    Url(InvalidUrl),
    At(AddressClass),
    Port,
}

#[rustfmt::skip]
fn table() -> Vec<(&'static str, Why)> {
    use AddressClass::*;
    use InvalidUrl::{Credentials, Host, Malformed, Scheme};
    use Why::{At, Port, Url};
    vec![
        // Not of the web.
        ("", Url(Malformed)), ("/etc/passwd", Url(Malformed)), ("example.org", Url(Malformed)),
        ("file:///etc/passwd", Url(Scheme)), ("FILE://localhost/etc/passwd", Url(Scheme)),
        ("ftp://example.org/", Url(Scheme)), ("gopher://127.0.0.1:6379/_x", Url(Scheme)),
        ("dict://127.0.0.1:11211/", Url(Scheme)), ("ldap://127.0.0.1/", Url(Scheme)),
        ("javascript:alert(1)", Url(Scheme)), ("data:text/html,<p>x", Url(Scheme)),
        ("jar:http://127.0.0.1!/", Url(Scheme)), ("view-source:http://127.0.0.1/", Url(Scheme)),
        ("unix:/var/run/docker.sock", Url(Scheme)), ("http+unix://%2Fvar%2Frun/", Url(Scheme)),
        ("ws://127.0.0.1/", Url(Scheme)), ("about:blank", Url(Scheme)), ("blob:http://x/1", Url(Scheme)),
        // Someone's name in it, or what looks like a host and is a name.
        ("http://user@example.org/", Url(Credentials)), ("http://user:pw@example.org/", Url(Credentials)),
        ("http://:pw@example.org/", Url(Credentials)), ("http://@127.0.0.1/", Url(Credentials)),
        ("http://example.org@127.0.0.1/", Url(Credentials)), ("http://example.org:80@127.0.0.1/", Url(Credentials)),
        ("http://example.org%40127.0.0.1/", Url(Malformed)), ("http:user@127.0.0.1/", Url(Credentials)),
        // Repaired by browsers, and different after the repair.
        ("http://example.org\\@127.0.0.1/", Url(Malformed)), ("http:\\\\127.0.0.1\\", Url(Malformed)),
        ("http://127.0.0.1\t/", Url(Malformed)), ("ht\ntp://127.0.0.1/", Url(Malformed)),
        ("http://exa mple.org/", Url(Malformed)), ("http://example.org/\r\nHost: x", Url(Malformed)),
        ("http://127.0.0.1/\u{0}", Url(Malformed)), ("http://example.org/\u{a0}x", Url(Malformed)),
        ("http://", Url(Malformed)), ("http:///", Url(Malformed)), ("http://?", Url(Malformed)),
        ("http://[::1", Url(Malformed)), ("http://[::1]x/", Url(Malformed)), ("http://[fe80::1%25eth0]/", Url(Malformed)),
        ("http://127.0.0.1:99999/", Url(Malformed)), ("http://127.0.0.1:0/", Url(Malformed)), ("http://127.0.0.1:-80/", Url(Malformed)),
        ("http://127.0.0.256/", Url(Malformed)), ("http://1.2.3.4.5/", Url(Malformed)), ("http://0x1ffffffff/", Url(Malformed)),
        ("http://exa%00mple.org/", Url(Malformed)), ("http://exa%2fmple.org/", Url(Malformed)), ("http://ex<ample/", Url(Malformed)),
        ("http://./", Url(Host)), ("http://a..b/", Url(Host)), ("http://.example.org/", Url(Host)),
        // This machine, in every spelling.
        ("http://127.0.0.1/", At(Loopback)), ("HTTP://127.0.0.1", At(Loopback)), ("https://127.0.0.1/", At(Loopback)),
        ("http://127.1/", At(Loopback)), ("http://127.0.1/", At(Loopback)), ("http://127.255.255.254/", At(Loopback)),
        ("http://2130706433/", At(Loopback)), ("http://0x7f000001/", At(Loopback)), ("http://0x7f.1/", At(Loopback)),
        ("http://017700000001/", At(Loopback)), ("http://0177.0.0.01/", At(Loopback)), ("http://127.0.0.1./", At(Loopback)),
        ("http://%31%32%37.0.0.1/", At(Loopback)), ("http://１２７.０.０.１/", At(Loopback)), ("http://①②⑦.⓪.⓪.①/", At(Loopback)),
        ("http://127。0。0。1/", At(Loopback)), ("http://127．0．0．1/", At(Loopback)), ("http:127.0.0.1", At(Loopback)),
        ("http:/127.0.0.1/", At(Loopback)), ("http:////127.0.0.1/", At(Loopback)), ("http://127.0.0.1?@example.org/", At(Loopback)),
        ("http://127.0.0.1#@example.org/", At(Loopback)), ("http://127.0.0.1:80/", At(Loopback)), ("http://127.0.0.1:443/", At(Loopback)),
        ("http://127.0.0.1:00080/", At(Loopback)), ("http://[::1]/", At(Loopback)), ("http://[0:0:0:0:0:0:0:1]/", At(Loopback)),
        ("http://[::ffff:127.0.0.1]/", At(Loopback)), ("http://[::ffff:7f00:1]/", At(Loopback)), ("http://[64:ff9b::127.0.0.1]/", At(Loopback)),
        ("http://0/", At(Unspecified)), ("http://0.0.0.0/", At(Unspecified)), ("http://[::]/", At(Unspecified)),
        ("http://[::ffff:0.0.0.0]/", At(Unspecified)), ("http://0x0/", At(Unspecified)),
        // Names that lead here.
        ("http://localhost/", At(Loopback)), ("http://LOCALHOST./", At(Loopback)), ("http://x.localhost/", At(Loopback)),
        ("http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", At(Loopback)), ("http://ｌｏｃａｌｈｏｓｔ/", At(Loopback)), ("http://local%68ost/", At(Loopback)),
        ("http://127.0.0.1.nip.io/", At(Loopback)), ("http://example.org/", At(Loopback)), ("http://exаmple.org/", At(Loopback)),
        ("http://router/", At(Loopback)), ("http://metadata.google.internal/", At(Loopback)),
        // The house, the provider, the cloud, everybody.
        ("http://10.0.0.1/", At(Private)), ("http://172.16.0.1/", At(Private)), ("http://172.31.255.254/", At(Private)),
        ("http://192.168.1.1/", At(Private)), ("http://0xc0a80101/", At(Private)), ("http://[::ffff:192.168.1.1]/", At(Private)),
        ("http://[64:ff9b::192.168.1.1]/", At(Private)), ("http://100.64.0.1/", At(SharedNat)), ("http://100.127.255.254/", At(SharedNat)),
        ("http://169.254.169.254/latest/meta-data/", At(Metadata)), ("http://2852039166/", At(Metadata)), ("http://0xa9fea9fe/", At(Metadata)),
        ("http://[::ffff:169.254.169.254]/", At(Metadata)), ("http://[fd00:ec2::254]/", At(Metadata)), ("http://100.100.100.200/", At(Metadata)),
        ("http://169.254.170.2/v2/", At(Metadata)), ("http://192.0.0.192/", At(Metadata)), ("http://168.63.129.16/", At(Metadata)),
        ("http://169.254.1.1/", At(LinkLocal)), ("http://[fe80::1]/", At(LinkLocal)), ("http://[fec0::1]/", At(SiteLocal)),
        ("http://[fc00::1]/", At(UniqueLocal)), ("http://[fd12:3456:789a::1]/", At(UniqueLocal)), ("http://[ff02::1]/", At(Multicast)),
        ("http://224.0.0.1/", At(Multicast)), ("http://239.255.255.250/", At(Multicast)), ("http://255.255.255.255/", At(Broadcast)),
        ("http://192.0.2.1/", At(Documentation)), ("http://[2001:db8::1]/", At(Documentation)), ("http://198.18.0.1/", At(Benchmark)),
        ("http://240.0.0.1/", At(Reserved)), ("http://192.0.0.8/", At(Reserved)), ("http://[100::1]/", At(Reserved)),
        ("http://[2002:7f00:1::]/", At(Tunnel)), ("http://[2002:c0a8:101::1]/", At(Tunnel)), ("http://[2001:0:7f00:1::]/", At(Tunnel)),
        ("http://[::127.0.0.1]/", At(Tunnel)), ("http://[::7f00:1]/", At(Tunnel)), ("http://[64:ff9b:1::7f00:1]/", At(Tunnel)),
        ("http://[2606:4700::5efe:127.0.0.1]/", At(Loopback)),
        // Public, and not a page's port.
        ("http://93.184.216.34:22/", Port), ("http://93.184.216.34:6379/", Port), ("https://[2606:4700::1111]:8443/", Port),
        ("http://93.184.216.34:81/", Port), ("http://1.1.1.1:53/", Port),
    ]
}

#[tokio::test]
async fn hostile_urls_reach_nothing_and_say_why() {
    let names = Names::all_at("127.0.0.1");
    let fetcher = fetcher(&["nas.lan", "10.9.0.0/16"], &names);
    let table = table();
    assert!(table.len() >= 80, "{}", table.len());
    for (url, why) in table {
        let said = match fetcher.fetch(url).await {
            Err(CaptureError::Url(why)) => Why::Url(why),
            Err(CaptureError::Refused(Refusal::Address { class, .. })) => Why::At(class),
            Err(CaptureError::Refused(Refusal::Port { .. })) => Why::Port,
            other => panic!("{url}: {other:?}"),
        };
        assert_eq!(said, why, "{url}");
    }
}

#[tokio::test]
async fn long_urls_and_names_are_refused_at_their_bound() {
    use void_capture::limits::URL_BYTES_MAX;
    let fetcher = fetcher(&[], &Names::all_at("127.0.0.1"));
    let of_length = |bytes: usize| {
        let begin = "http://example.org/";
        format!("{begin}{}", "a".repeat(bytes - begin.len()))
    };
    let refused = fetcher.fetch(&of_length(URL_BYTES_MAX)).await.unwrap_err();
    assert_eq!(refused.code(), "capture_address_refused");
    let refused = fetcher
        .fetch(&of_length(URL_BYTES_MAX + 1))
        .await
        .unwrap_err();
    assert!(matches!(refused, CaptureError::Url(InvalidUrl::TooLong)));
    // What grows by being written out is judged as it is written out.
    let growing = format!("http://example.org/{}", "ä".repeat(URL_BYTES_MAX / 3));
    let refused = fetcher.fetch(&growing).await.unwrap_err();
    assert!(matches!(refused, CaptureError::Url(InvalidUrl::TooLong)));
    for (label, fits) in [(63, true), (64, false)] {
        let url = format!("http://{}.org/", "a".repeat(label));
        let refused = fetcher.fetch(&url).await.unwrap_err();
        let is_host = matches!(refused, CaptureError::Url(InvalidUrl::Host));
        assert_eq!(is_host, !fits, "{label}: {refused:?}");
    }
    let name = format!("http://{}org/", "a.".repeat(126));
    let refused = fetcher.fetch(&name).await.unwrap_err();
    assert!(
        matches!(refused, CaptureError::Url(InvalidUrl::Host)),
        "{refused:?}"
    );
}

/// An allowed name is compared as the parser writes it: a look-alike is another name.
#[tokio::test]
async fn a_look_alike_of_an_allowed_name_is_another_name() {
    let server = Server::start(|_| page("inside")).await;
    let port = server.port();
    let names = Names::all_at("127.0.0.1");
    let fetcher = fetcher(
        &[&format!("nas.lan:{port}"), &format!("bücher.lan:{port}")],
        &names,
    );
    let of = |host: &str| format!("http://{host}:{port}/");
    for same in [
        "nas.lan",
        "NAS.lan.",
        "ｎａｓ.lan",
        "nas。lan",
        "bücher.lan",
        "xn--bcher-kva.lan",
        "BÜCHER.lan",
    ] {
        let fetched = fetcher.fetch(&of(same)).await.unwrap();
        assert_eq!(fetched.bytes, b"inside", "{same}");
    }
    for other in [
        "nаs.lan",
        "nas.Ian",
        "nas-lan",
        "n\u{200d}as.lan",
        "nas.lan.evil.test",
        "evil-nas.lan",
        "bucher.lan",
        "127.0.0.1",
    ] {
        let refused = fetcher.fetch(&of(other)).await.unwrap_err();
        let is_refused = matches!(refused, CaptureError::Refused(_) | CaptureError::Url(_));
        assert!(is_refused, "{other}: {refused:?}");
    }
}
