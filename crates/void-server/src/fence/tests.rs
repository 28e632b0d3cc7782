use super::*;

fn admits(fence: &Fence, host: &str, local: &str) -> bool {
    let local = local.parse().unwrap();
    parse_authority(host).is_some_and(|authority| fence.admits(&authority.host, Some(local)))
}

#[test]
fn what_admits_nobody_is_refused() {
    for url in [
        "https://void.lan",
        "http://void.lan:8080/",
        "https://[::1]:3000",
        "HTTPS://void.lan",
    ] {
        assert_eq!(check_names(Some(url), &[]), Ok(()), "{url}");
    }
    for url in [
        "void.lan",
        "ftp://void.lan",
        "https://",
        "https://void.lan/void",
        "https://void.lan/?a",
        "https://void.lan#a",
        "https://me@void.lan",
    ] {
        assert_eq!(
            check_names(Some(url), &[]),
            Err(InvalidNames::PublicUrl),
            "{url}"
        );
    }
    for (host, is_right) in [
        ("nas.lan", true),
        ("10.0.0.5", true),
        ("https://nas.lan", false),
        ("*", false),
        ("", false),
    ] {
        assert_eq!(
            check_names(None, &[host.to_owned()]).is_ok(),
            is_right,
            "{host}"
        );
    }
}

#[test]
fn names_are_compared_whole() {
    let fence = Fence::new(Some("https://void.lan"), &["nas.lan".to_owned()]);
    let good = [
        "localhost",
        "localhost:3000",
        "LOCALHOST",
        "127.0.0.1",
        "127.0.0.1:3000",
        "127.8.8.8",
        "[::1]",
        "[::1]:3000",
        "void.lan",
        "VOID.lan:443",
        "nas.lan:1",
    ];
    for host in good {
        assert!(admits(&fence, host, "127.0.0.1"), "{host}");
    }
    let bad = [
        "127.evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "evil.example",
        "xlocalhost",
        "void.lan.evil.example",
        "192.168.1.9",
        "[::2]",
        "0x7f.1",
        "",
        ":3000",
        "[::1",
        "::1",
        "local host",
        "localhost:x",
        "localhost:99999",
        "user@localhost",
        "localhost/",
        "void.lan.",
        "127.0.0.1\u{0}",
    ];
    for host in bad {
        assert!(!admits(&fence, host, "127.0.0.1"), "{host}");
    }
    // An address is fine if the connection came in by it, or if the owner named it.
    assert!(admits(&fence, "192.168.1.9:3000", "192.168.1.9"));
    let named = Fence::new(
        Some("http://192.168.1.9:3000/"),
        &["[fd00::9]:80".to_owned()],
    );
    assert!(admits(&named, "192.168.1.9:3000", "172.17.0.2"));
    assert!(admits(&named, "[fd00::9]", "172.17.0.2"));
    assert!(!admits(&named, "192.168.1.8", "172.17.0.2"));
}

#[test]
fn a_public_url_may_have_a_path_and_decides_about_the_cookie() {
    for (url, secure, host) in [
        ("https://void.lan", true, "void.lan"),
        ("HTTPS://Void.lan/", true, "void.lan"),
        ("https://void.lan:8443/a/path?x#y", true, "void.lan"),
        ("http://void.lan", false, "void.lan"),
    ] {
        let fence = Fence::new(Some(url), &[]);
        assert_eq!(fence.secure_cookie, secure, "{url}");
        assert!(admits(&fence, host, "127.0.0.1"), "{url}");
    }
    for bad in [
        "void.lan",
        "ftp://void.lan",
        "https://",
        "https://user@void.lan",
    ] {
        let fence = Fence::new(Some(bad), &[]);
        assert!(!fence.secure_cookie && !admits(&fence, "void.lan", "127.0.0.1"));
    }
}

#[test]
fn passkeys_belong_to_the_owners_name_over_https_or_to_localhost() {
    let fence = Fence::new(Some("https://void.lan:8443"), &["nas.lan".to_owned()]);
    let site = |host: &str, origin: Option<&str>| {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        fence
            .site(&headers)
            .map(|site| (site.relying_party, site.origin))
    };
    let some = |name: &str, origin: &str| Some((name.to_owned(), origin.to_owned()));
    let public = some("void.lan", "https://void.lan:8443");
    assert_eq!(site("void.lan:8443", Some("https://void.lan:8443")), public);
    assert_eq!(site("void.lan:8443", None), public);
    // A proxy may address us in its own way; the page says where it is.
    assert_eq!(
        site("127.0.0.1:3000", Some("https://void.lan:8443")),
        public
    );
    let local = some("localhost", "http://localhost:3000");
    assert_eq!(site("localhost:3000", None), local);
    assert_eq!(site("localhost:3000", Some("http://localhost:3000")), local);
    for (host, origin) in [
        ("127.0.0.1:3000", None),
        ("[::1]:3000", Some("http://[::1]:3000")),
        ("nas.lan", None),
        ("nas.lan", Some("https://nas.lan")),
        ("void.lan", Some("http://void.lan:8443")),
        ("void.lan", Some("https://void.lan")),
        ("void.lan", Some("null")),
    ] {
        assert_eq!(site(host, origin), None, "{host} {origin:?}");
    }
    let plain = Fence::new(Some("http://void.lan"), &[]);
    let mut headers = HeaderMap::new();
    headers.insert(header::HOST, "void.lan".parse().unwrap());
    assert_eq!(plain.site(&headers), None, "browsers want https");
}

#[test]
fn only_our_own_origin_is_ours() {
    let fence = Fence::new(Some("https://void.lan"), &[]);
    let addressed = parse_authority("localhost:3000").unwrap();
    let check = |origin: &'static str| {
        let mut headers = HeaderMap::new();
        headers.insert(header::ORIGIN, origin.parse().unwrap());
        fence.check_origin(&headers, &addressed).is_ok()
    };
    assert!(check("http://localhost:3000") && check("https://void.lan"));
    assert!(!check("https://void.lan:443"), "no browser writes it so");
    for foreign in [
        "null",
        "http://localhost",
        "http://localhost:8080",
        "https://localhost",
        "http://localhost.evil.example:3000",
        "http://evil.example",
        "http://void.lan",
        "https://void.lan.evil.example",
        "file://",
        "localhost:3000",
        "http://localhost:3000@evil.example",
        "",
    ] {
        assert!(!check(foreign), "{foreign}");
    }
}
