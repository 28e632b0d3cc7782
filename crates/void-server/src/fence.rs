//! The fence in front of everything: by which name Void was addressed, and from which page.
//!
//! A page of somebody else's may make a browser send requests here, under a name that resolves to
//! this machine (DNS rebinding) or across origins. Names and addresses are parsed and compared whole,
//! never by prefix.

use std::fmt;
use std::net::IpAddr;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, Method, header};
use axum::response::Response;
use hyper::body::Body as _;
use void_access::passkeys::Site;
use void_domain::text;

use crate::connections::Peer;
use crate::errors::ApiError;
use crate::{links, uploads};

pub(crate) struct Fence {
    /// Names and addresses by which the owner reaches Void, at any port.
    hosts: Vec<Host>,
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

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        match &self.authority.host {
            Host::Name(name) => write!(f, "{scheme}://{name}")?,
            Host::Address(IpAddr::V4(address)) => write!(f, "{scheme}://{address}")?,
            Host::Address(IpAddr::V6(address)) => write!(f, "{scheme}://[{address}]")?,
        }
        match self.authority.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

/// A setting of the fence that admits nobody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvalidNames {
    PublicUrl,
    AllowedHost(String),
}

impl fmt::Display for InvalidNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PublicUrl => {
                f.write_str("public_url is http:// or https:// and a host, without path, ? or #")
            }
            Self::AllowedHost(host) => {
                let host = text::escaped(text::cut(host, 80));
                write!(f, "allowed_hosts: \"{host}\" is not a name or address")
            }
        }
    }
}

/// What a start and `void config check` refuse alike.
pub fn check_names(public_url: Option<&str>, allowed_hosts: &[String]) -> Result<(), InvalidNames> {
    if let Some(url) = public_url {
        let bare = url.trim().strip_suffix('/').unwrap_or(url.trim());
        let authority = bare.split_once("://").map(|(_, rest)| rest);
        let is_bare = authority.is_some_and(|rest| !rest.contains(['/', '?', '#', '@']));
        if !is_bare || origin_of_url(url).is_none() {
            return Err(InvalidNames::PublicUrl);
        }
    }
    match allowed_hosts
        .iter()
        .find(|host| parse_authority(host).is_none())
    {
        Some(host) => Err(InvalidNames::AllowedHost(host.clone())),
        None => Ok(()),
    }
}

impl Fence {
    pub(crate) fn new(public_url: Option<&str>, allowed_hosts: &[String]) -> Self {
        let public = public_url.and_then(origin_of_url);
        if public.is_none() && public_url.is_some() {
            tracing::error!(
                "the public URL is not http:// or https:// with a host; it admits nobody"
            );
        }
        let mut hosts = vec![Host::Name("localhost".to_owned())];
        for allowed in allowed_hosts {
            match parse_authority(allowed) {
                Some(authority) => hosts.push(authority.host),
                None => tracing::error!(allowed, "not a name or address; it admits nobody"),
            }
        }
        hosts.extend(public.iter().map(|origin| origin.authority.host.clone()));
        Self {
            hosts,
            secure_cookie: public.as_ref().is_some_and(|origin| origin.secure),
            origins: public.into_iter().collect(),
        }
    }

    /// The site of the page that a request comes from, if passkeys can belong to it: the owner's own
    /// name over HTTPS, or this machine by its name. Browsers know none for an address.
    pub(crate) fn site(&self, headers: &HeaderMap) -> Option<Site> {
        let origin = match headers.get(header::ORIGIN) {
            Some(origin) => parse_origin(origin.to_str().ok()?)?,
            // A page's own reads do not say where it is from, but where they go.
            None => {
                let authority = parse_authority(headers.get(header::HOST)?.to_str().ok()?)?;
                let public = self
                    .origins
                    .iter()
                    .find(|ours| ours.authority.host == authority.host);
                public.cloned().unwrap_or(Origin {
                    secure: false,
                    authority,
                })
            }
        };
        let Host::Name(name) = &origin.authority.host else {
            return None;
        };
        let known = name == "localhost" || (origin.secure && self.origins.contains(&origin));
        known.then(|| Site {
            relying_party: name.clone(),
            origin: origin.to_string(),
        })
    }

    /// By which names this lab is known; they are no passwords.
    pub(crate) fn names(&self) -> Vec<String> {
        let hosts = self.origins.iter().map(|origin| &origin.authority.host);
        let hosts = hosts.filter_map(|host| match host {
            Host::Name(name) => Some(name.clone()),
            Host::Address(_) => None,
        });
        hosts.chain(["void".to_owned()]).collect()
    }

    fn admits(&self, host: &Host, local: Option<IpAddr>) -> bool {
        self.hosts.contains(host)
            || match host {
                Host::Name(_) => false,
                // An address cannot be rebound; it must be the one the connection came in by.
                Host::Address(address) => {
                    address.is_loopback()
                        || local.is_some_and(|local| local.to_canonical() == *address)
                }
            }
    }

    pub(crate) fn check(&self, request: &Request) -> Result<(), ApiError> {
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
            if !same_authority(false, &target, &addressed) {
                return Err(ApiError::unknown_host());
            }
        }
        self.check_origin(request.headers(), &addressed)?;
        check_fetch_site(request)?;
        check_content_type(request)
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
            self.origins.contains(&origin)
                || (same_authority(origin.secure, &origin.authority, addressed)
                    && !self.is_downgrade(&origin, addressed))
        });
        if ours {
            Ok(())
        } else {
            Err(ApiError::foreign_origin())
        }
    }
}

impl Fence {
    /// Whether a page of plain HTTP claims the name that is ours over HTTPS: without a port the two look
    /// the same in `Host`, and whoever is between browser and proxy can write the plain one.
    fn is_downgrade(&self, origin: &Origin, addressed: &Authority) -> bool {
        let is_ours = |own: &Origin| {
            own.secure && own.authority.port.is_none() && own.authority.host == addressed.host
        };
        !origin.secure && addressed.port.is_none() && self.origins.iter().any(is_ours)
    }
}

/// Whether a page's origin, or a request's target, is the very address that the request was sent to.
fn same_authority(secure: bool, claimed: &Authority, addressed: &Authority) -> bool {
    let default = if secure { 443 } else { 80 };
    claimed.host == addressed.host
        && claimed.port.unwrap_or(default) == addressed.port.unwrap_or(default)
}

/// Says that Void answers, so that the command line can tell it from another server on that port. It proves
/// nothing: whoever wants to be taken for Void can say it too.
const MARK: HeaderName = HeaderName::from_static("x-void");

/// What every answer carries: nothing is cached, framed, sniffed or told to other sites.
pub(crate) fn with_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (MARK, "1"),
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

/// A browser says from where a request came; other sites, even on this machine, are not us. They may
/// lead people to a page of ours, in a window of its own: the cookie stays away from such a visit.
fn check_fetch_site(request: &Request) -> Result<(), ApiError> {
    let headers = request.headers();
    let ours = headers
        .get_all("sec-fetch-site")
        .iter()
        .all(|site| site == "same-origin" || site == "none");
    let says = |name: &str, wanted: &str| {
        let mut values = headers.get_all(name).iter();
        values.next().is_some_and(|value| value == wanted) && values.next().is_none()
    };
    let is_visit = links::is_opened_by_links(request.method(), request.uri().path())
        && says("sec-fetch-mode", "navigate")
        && says("sec-fetch-dest", "document");
    if ours || is_visit {
        Ok(())
    } else {
        Err(ApiError::foreign_origin())
    }
}

/// What a form or a script without permission can send is never a change: whoever says what a
/// changing request carries says JSON. The one form of ours looks at its origin itself. Nothing at all is
/// no body, whatever it is called, where a token is shown: no form can send one along.
fn check_content_type(request: &Request) -> Result<(), ApiError> {
    let headers = request.headers();
    if is_read(request.method())
        || !headers.contains_key(header::CONTENT_TYPE)
        || is_json(headers)
        || headers.contains_key(header::AUTHORIZATION) && request.body().is_end_stream()
        || links::takes_forms(request.method(), request.uri().path())
        || uploads::is_file(headers) && uploads::takes_files(request.method(), request.uri().path())
    {
        Ok(())
    } else {
        Err(ApiError::not_json())
    }
}

pub(crate) fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// A write that a cookie vouches for must show that it comes from our own page: by its origin, which
/// browsers always send, or by a content type that no foreign form can send.
pub(crate) fn check_cookie_write(request: &Request) -> Result<(), ApiError> {
    if is_read(request.method()) {
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

/// Whether an answer is a stream of events.
pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"))
}

/// Whether the body is called JSON, and nothing else beside it.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let mut kinds = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(kind), None) = (kinds.next(), kinds.next()) else {
        return false;
    };
    kind.to_str().is_ok_and(|kind| {
        let essence = kind.split(';').next().unwrap_or_default();
        essence.trim().eq_ignore_ascii_case("application/json")
    })
}

/// The origin of a URL that the owner wrote; its path is not part of it.
fn origin_of_url(url: &str) -> Option<Origin> {
    let (scheme, rest) = url.trim().split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    parse_origin(&format!("{}://{authority}", scheme.to_ascii_lowercase()))
}

/// Whether a URL, opened on another machine, leads to that machine instead of here; also one that leads nowhere.
pub(crate) fn leads_to_its_reader(url: &str) -> bool {
    origin_of_url(url).is_none_or(|origin| match origin.authority.host {
        Host::Name(name) => name == "localhost" || name.ends_with(".localhost"),
        Host::Address(address) => address.is_loopback() || address.is_unspecified(),
    })
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
mod tests;
