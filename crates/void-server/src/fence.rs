//! The fence in front of everything: by which name Void was addressed, and from which page.
//!
//! A page of somebody else's may make a browser send requests here, under a name that resolves to
//! this machine (DNS rebinding) or across origins. Names and addresses are parsed and compared whole,
//! never by prefix.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::app::App;
use crate::connections::Peer;
use crate::errors::ApiError;

pub(crate) struct Fence {
    /// Lower-case names without port.
    names: Vec<String>,
    /// Origins that are ours beside the one a request came by.
    origins: Vec<Origin>,
    pub secure_cookie: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    secure: bool,
    authority: Authority,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Authority {
    host: Host,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Name(String),
    Address(IpAddr),
}

impl Fence {
    pub(crate) fn new(public_url: Option<&str>, allowed_hosts: &[String]) -> Self {
        let public = public_url.and_then(parse_origin);
        let mut names = vec!["localhost".to_owned()];
        names.extend(allowed_hosts.iter().map(|name| name.to_ascii_lowercase()));
        if let Some(Origin {
            authority:
                Authority {
                    host: Host::Name(name),
                    ..
                },
            ..
        }) = &public
        {
            names.push(name.clone());
        }
        Self {
            names,
            secure_cookie: public.as_ref().is_some_and(|origin| origin.secure),
            origins: public.into_iter().collect(),
        }
    }

    fn admits(&self, host: &Host, local: Option<IpAddr>) -> bool {
        match host {
            Host::Name(name) => self.names.contains(name),
            // An address cannot be rebound; it must be the one the connection came in by.
            Host::Address(address) => {
                address.is_loopback() || local.is_some_and(|local| local.to_canonical() == *address)
            }
        }
    }

    fn check(&self, request: &Request) -> Result<(), ApiError> {
        let local = request
            .extensions()
            .get::<Peer>()
            .map(|peer| peer.local.ip());
        let addressed = addressed_as(request).ok_or_else(ApiError::unknown_host)?;
        if !self.admits(&addressed.host, local) {
            return Err(ApiError::unknown_host());
        }
        if let Some(authority) = request.uri().authority() {
            let target = parse_authority(authority.as_str()).ok_or_else(ApiError::unknown_host)?;
            if target.host != addressed.host {
                return Err(ApiError::unknown_host());
            }
        }
        self.check_origin(request.headers(), &addressed)?;
        check_fetch_site(request.headers())
    }

    fn check_origin(&self, headers: &HeaderMap, addressed: &Authority) -> Result<(), ApiError> {
        let mut values = headers.get_all(header::ORIGIN).iter();
        let Some(value) = values.next() else {
            return Ok(());
        };
        let origin = value
            .to_str()
            .ok()
            .and_then(parse_origin)
            .filter(|_| values.next().is_none());
        let ours = origin.is_some_and(|origin| {
            self.origins.contains(&origin) || same_authority(&origin, addressed)
        });
        if ours {
            Ok(())
        } else {
            Err(ApiError::foreign_origin())
        }
    }
}

/// Whether the page's origin is the very address that the request was sent to.
fn same_authority(origin: &Origin, addressed: &Authority) -> bool {
    let default = if origin.secure { 443 } else { 80 };
    origin.authority.host == addressed.host
        && origin.authority.port.unwrap_or(default) == addressed.port.unwrap_or(default)
}

pub(crate) async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    match app.shared().fence.check(&request) {
        Ok(()) => with_headers(next.run(request).await),
        Err(error) => with_headers(error.into_response()),
    }
}

/// What every answer carries: nothing is cached, framed, sniffed or told to other sites.
fn with_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; frame-ancestors 'none'",
        ),
    ] {
        headers
            .entry(name)
            .or_insert(axum::http::HeaderValue::from_static(value));
    }
    response
}

/// The one `Host` header. None, two, or one that does not parse are all nobody's address.
fn addressed_as(request: &Request) -> Option<Authority> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let host = hosts.next()?.to_str().ok()?;
    if hosts.next().is_some() {
        return None;
    }
    parse_authority(host)
}

/// A browser says from where a request came; other sites, even on this machine, are not us.
fn check_fetch_site(headers: &HeaderMap) -> Result<(), ApiError> {
    match headers.get("sec-fetch-site").map(|value| value.as_bytes()) {
        None | Some(b"same-origin" | b"none") => Ok(()),
        Some(_) => Err(ApiError::foreign_origin()),
    }
}

/// A write that a cookie vouches for must show that it comes from our own page: by its origin, which
/// browsers always send, or by a content type that no foreign form can send.
pub(crate) fn check_cookie_write(request: &Request) -> Result<(), ApiError> {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(());
    }
    let headers = request.headers();
    let same_origin = headers
        .get("sec-fetch-site")
        .is_some_and(|site| site == "same-origin");
    // The fence has already refused every origin but ours.
    if headers.contains_key(header::ORIGIN) || same_origin || is_json(headers) {
        Ok(())
    } else {
        Err(ApiError::foreign_origin())
    }
}

pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
    else {
        return false;
    };
    value
        .split(';')
        .next()
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

fn parse_origin(text: &str) -> Option<Origin> {
    let (secure, rest) = match text.split_once("://")? {
        ("https", rest) => (true, rest),
        ("http", rest) => (false, rest),
        _ => return None,
    };
    let authority = parse_authority(rest.strip_suffix('/').unwrap_or(rest))?;
    Some(Origin { secure, authority })
}

fn parse_authority(text: &str) -> Option<Authority> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, rest) = rest.split_once(']')?;
            let address = address.parse::<std::net::Ipv6Addr>().ok()?;
            let port = match rest {
                "" => None,
                rest => Some(rest.strip_prefix(':')?),
            };
            (Host::Address(IpAddr::V6(address).to_canonical()), port)
        }
        None => {
            let (host, port) = match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            };
            let host = match host.parse::<IpAddr>() {
                Ok(address) => Host::Address(address),
                Err(_) => Host::Name(parse_name(host)?),
            };
            (host, port)
        }
    };
    let port = match port {
        None => None,
        Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => Some(digits.parse().ok()?),
        Some(_) => return None,
    };
    Some(Authority { host, port })
}

fn parse_name(host: &str) -> Option<String> {
    let plain = !host.is_empty()
        && host.len() <= 253
        && host
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'));
    plain.then(|| host.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(fence: &Fence, host: &str, local: &str) -> bool {
        let local = local.parse().unwrap();
        parse_authority(host).is_some_and(|authority| fence.admits(&authority.host, Some(local)))
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
        // An address is fine if the connection came in by it.
        assert!(admits(&fence, "192.168.1.9:3000", "192.168.1.9"));
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
        assert!(
            check("http://localhost:3000")
                && check("https://void.lan")
                && check("https://void.lan:443") == false
        );
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
}
