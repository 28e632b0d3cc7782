//! The way to the server: HTTPS with a pinned certificate or named authorities. Plain HTTP only within one machine,
//! unless the owner of the machine says that the network between may be read.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use reqwest::StatusCode;
use serde::Serialize;
use serde_json::Value;
use void_api::errors::ErrorResponse;
use void_channels::Trust;
use void_domain::digests::Digest;
use void_domain::failures::FailureCode;
use void_domain::secrets::Secret;

use crate::exit::CommandError;
use crate::node::folder::JoinedServer;
use crate::services::AUTHORITIES;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

pub(crate) struct Link {
    http: reqwest::Client,
    base: String,
}

#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// Nobody answered, or not in time.
    Unreachable(String),
    /// The server said no.
    Refused {
        status: u16,
        code: String,
        message: String,
    },
}

impl Link {
    pub(crate) fn new(server: &JoinedServer) -> Result<Self, CommandError> {
        let builder = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_nodelay(true)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none());
        let builder = if server.url.starts_with("https://") {
            let config = trust(server)?.client_config().map_err(|error| {
                CommandError::config(format!(
                    "the server's certificate cannot be checked: {error}"
                ))
            })?;
            builder.tls_backend_preconfigured(Arc::unwrap_or_clone(config))
        } else {
            builder
        };
        let http = builder.build().map_err(|error| {
            CommandError::failed(
                FailureCode::Internal,
                format!("the HTTP client cannot start: {error}"),
            )
        })?;
        Ok(Self {
            http,
            base: server.url.clone(),
        })
    }

    pub(crate) async fn post(
        &self,
        path: &str,
        secret: Option<&Secret>,
        body: &impl Serialize,
        limit: Duration,
    ) -> Result<Value, NoAnswer> {
        let mut request = self
            .http
            .post(format!("{}{path}", self.base))
            .timeout(limit)
            .json(body);
        if let Some(secret) = secret {
            request = request.bearer_auth(secret.expose());
        }
        let response = request.send().await.map_err(|error| unreachable(&error))?;
        let status = response.status();
        let text = response
            .bytes()
            .await
            .map_err(|error| unreachable(&error))?;
        if text.len() > ANSWER_BYTES_MAX {
            return Err(NoAnswer::Unreachable("the answer is too long".to_owned()));
        }
        let value: Value = serde_json::from_slice(&text)
            .map_err(|_| NoAnswer::Unreachable(format!("no answer of Void ({status})")))?;
        if status == StatusCode::OK {
            return Ok(value);
        }
        let (code, message) = serde_json::from_value::<ErrorResponse>(value)
            .map(|told| (told.error.code.into_owned(), told.error.message))
            .unwrap_or_default();
        Err(NoAnswer::Refused {
            status: status.as_u16(),
            code,
            message,
        })
    }
}

/// The innermost reason, which says most.
fn unreachable(error: &reqwest::Error) -> NoAnswer {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    NoAnswer::Unreachable(cause.to_string())
}

fn trust(server: &JoinedServer) -> Result<Trust, CommandError> {
    if let Some(pin) = &server.pin {
        let pin = Digest::parse_fingerprint(pin);
        return pin.map(Trust::Pinned).ok_or_else(|| {
            CommandError::usage("a certificate's fingerprint is 64 hexadecimal digits")
        });
    }
    let path = server.ca_file.as_deref();
    match path {
        Some(path) => Trust::from_file(path),
        None => Trust::from_bundle(Path::new(AUTHORITIES)),
    }
    .map_err(|error| {
        CommandError::config(error.to_string())
            .next("--fingerprint pins the server's certificate, --ca names who signed it")
    })
}

/// The address as it is kept: without a trailing slash, and not readable on the way unless that was wished.
pub(crate) fn checked_url(url: &str, plain_http: bool) -> Result<String, CommandError> {
    let url = url.trim_end_matches('/');
    let parsed = reqwest::Url::parse(url)
        .map_err(|_| CommandError::usage("the server's address begins with https://"))?;
    let host = parsed.host_str().unwrap_or_default();
    let loopback = host == "localhost"
        || host
            .trim_matches(['[', ']'])
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback());
    match parsed.scheme() {
        "https" => Ok(url.to_owned()),
        "http" if loopback || plain_http => Ok(url.to_owned()),
        "http" => Err(CommandError::usage(
            "over plain http everybody on the way can read this machine's secret and use it",
        )
        .next("use https://, or --plain-http where the network itself is encrypted")),
        _ => Err(CommandError::usage(
            "the server's address begins with https://",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_stays_on_this_machine() {
        for good in [
            "https://void.lan",
            "http://127.0.0.1:3000/",
            "http://[::1]:3000",
            "http://localhost:3000",
        ] {
            assert!(checked_url(good, false).is_ok(), "{good}");
        }
        for bad in [
            "http://void.lan",
            "http://10.0.0.1",
            "http://127.0.0.1.evil.org",
        ] {
            assert!(checked_url(bad, false).is_err(), "{bad}");
            assert!(checked_url(bad, true).is_ok(), "{bad}");
        }
        for bad in ["ftp://void.lan", "void.lan", ""] {
            assert!(checked_url(bad, true).is_err(), "{bad}");
        }
    }
}
