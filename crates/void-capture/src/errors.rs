//! Why nothing was captured, in words for the person who asked, with a stable code for programs.
//!
//! Words of strangers stand in none of them: hosts are as the URL parser wrote them, the rest is ours.

use std::net::IpAddr;

use crate::addresses::AddressClass;
use crate::limits::{BODY_BYTES_MAX, CAPTURE_TIMEOUT, REDIRECTS_MAX};
use crate::targets::InvalidUrl;
use crate::{ExtractError, Unreadable};

#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    #[error(transparent)]
    Url(#[from] InvalidUrl),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error(transparent)]
    Extract(#[from] ExtractError),
    #[error("the page took longer than {} seconds", CAPTURE_TIMEOUT.as_secs())]
    TimedOut,
    #[error("too many captures are under way; try again in a moment")]
    Busy,
}

/// Where a capture does not go unless the owner's setting says so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error(
        "{}, which is not fetched from unless the settings allow it",
        placed(host, *address, *class)
    )]
    Address {
        host: String,
        address: IpAddr,
        class: AddressClass,
    },
    #[error("port {port} of {host} is not one of the web (80, 443); the settings may allow it")]
    Port { host: String, port: u16 },
}

/// What an address is; a host that is an address already is not told twice.
fn placed(host: &str, address: IpAddr, class: AddressClass) -> String {
    let is_address = host.trim_matches(['[', ']']).parse() == Ok(address);
    match is_address {
        true => format!("{host} is {class}"),
        false => format!("{host} is at {address}, {class}"),
    }
}

#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("nobody knows a host by the name {host}")]
    UnknownHost {
        host: String,
        #[source]
        cause: Option<std::io::Error>,
    },
    #[error("{host} does not answer")]
    Unreachable {
        host: String,
        #[source]
        cause: Option<std::io::Error>,
    },
    #[error("{host} cannot show that it is {host}: its certificate is not trusted")]
    Certificate {
        host: String,
        #[source]
        cause: std::io::Error,
    },
    #[error("the authorities that this machine trusts cannot be read; install ca-certificates")]
    Authorities(#[source] rustls::Error),
    #[error("the page leads on and on ({})", redirects_words(*.circle))]
    Redirects { circle: bool },
    #[error("{host} answers with status {status} and no page")]
    Status { host: String, status: u16 },
    #[error("the page is larger than {} MiB", BODY_BYTES_MAX / 1024 / 1024)]
    TooLarge,
    #[error("{host} sends the page {}, which is not read here", content_words(.content))]
    Unsupported { host: String, content: Content },
    #[error("{host} broke off or sent what is no HTTP")]
    Broken {
        host: String,
        #[source]
        cause: Option<hyper::Error>,
    },
}

/// What is sent that nobody reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Packed, although it was asked for as it is.
    Packed,
    /// Neither a page, nor text, nor a PDF.
    OfType(String),
}

fn redirects_words(circle: bool) -> String {
    if circle {
        "in a circle".to_owned()
    } else {
        format!("more than {REDIRECTS_MAX} times")
    }
}

fn content_words(content: &Content) -> String {
    match content {
        Content::Packed => "packed although it was asked for as it is".to_owned(),
        Content::OfType(essence) if essence.is_empty() => "as bytes without a type".to_owned(),
        Content::OfType(essence) => format!("as {essence}"),
    }
}

/// All words that [`CaptureError::code`] and [`ExtractError::code`] say.
pub const CODES: [&str; 20] = [
    "capture_url",
    "capture_address_refused",
    "capture_port_refused",
    "capture_host_unknown",
    "capture_unreachable",
    "capture_certificate",
    "capture_redirects",
    "capture_status",
    "capture_too_large",
    "capture_unsupported",
    "capture_broken",
    "capture_timed_out",
    "capture_busy",
    "extract_pdf_reader_missing",
    "extract_unreadable",
    "extract_not_confined",
    "extract_not_started",
    "extract_timed_out",
    "extract_died",
    "extract_garbled",
];

impl CaptureError {
    /// The same word for the same reason, in every version.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Url(_) => "capture_url",
            Self::Refused(Refusal::Address { .. }) => "capture_address_refused",
            Self::Refused(Refusal::Port { .. }) => "capture_port_refused",
            Self::Fetch(FetchError::UnknownHost { .. }) => "capture_host_unknown",
            Self::Fetch(FetchError::Unreachable { .. }) => "capture_unreachable",
            Self::Fetch(FetchError::Certificate { .. } | FetchError::Authorities(_)) => {
                "capture_certificate"
            }
            Self::Fetch(FetchError::Redirects { .. }) => "capture_redirects",
            Self::Fetch(FetchError::Status { .. }) => "capture_status",
            Self::Fetch(FetchError::TooLarge) => "capture_too_large",
            Self::Fetch(FetchError::Unsupported { .. }) => "capture_unsupported",
            Self::Fetch(FetchError::Broken { .. }) => "capture_broken",
            Self::Extract(error) => error.code(),
            Self::TimedOut => "capture_timed_out",
            Self::Busy => "capture_busy",
        }
    }
}

impl ExtractError {
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable(Unreadable::PdfReaderMissing) => "extract_pdf_reader_missing",
            Self::Unreadable(_) => "extract_unreadable",
            Self::NotConfined(_) => "extract_not_confined",
            Self::NotStarted(_) => "extract_not_started",
            Self::TimedOut => "extract_timed_out",
            Self::Died(_) => "extract_died",
            Self::Garbled => "extract_garbled",
        }
    }
}
