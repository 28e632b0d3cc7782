//! Where a model is, with which key, and how long to wait for it.
//!
//! The key goes to this one address: redirects are not followed, no proxy is taken from the
//! environment, and the header that carries it is marked so that nothing prints it.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, Url};
use void_domain::secrets::Secret;
use void_domain::text;

use super::errors::{BrainError, BrainErrorKind};
use super::{Usage, refusals};

const OLLAMA_PORT: u16 = 11434;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const USER_AGENT: &str = concat!("void/", env!("CARGO_PKG_VERSION"));

#[derive(Debug, Clone)]
pub struct BrainConfig {
    pub http: Http,
    pub base: BaseUrl,
    pub key: Option<Secret>,
    pub model: String,
    pub patience: Patience,
}

/// One client for all brains: making one reads the system's certificates, and it keeps connections.
#[derive(Debug, Clone)]
pub struct Http(Client);

impl Http {
    pub fn new() -> Result<Self, InvalidBrain> {
        let client = Client::builder()
            .user_agent(USER_AGENT)
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build();
        client.map(Self).map_err(|_| InvalidBrain::Client)
    }
}

/// The address in front of a format's own path: `https://api.anthropic.com`,
/// `http://localhost:8080/v1`, `http://127.0.0.1:11434`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

/// The words say nothing of the text, which may hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBrain {
    #[error("the model's address begins with http:// or https:// and names a host")]
    Address,
    #[error("the model's address has a user name or password in it; use a key")]
    Credentials,
    #[error("the model's address ends with its path; it has no ? or #")]
    Query,
    #[error("the model's key has characters that no header can carry")]
    Key,
    #[error("the model has no name")]
    Model,
    #[error("the HTTP client cannot start; is there a TLS provider?")]
    Client,
}

/// A number from the system's random source; spreads retries of many turns over time.
pub type Random = fn() -> u64;

/// How long to wait, and how often to ask again.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Until the answer begins. Local servers load the model in this time.
    pub answer: Duration,
    /// Between two pieces of the answer. There is no limit on the whole: that is the turn's.
    pub read: Duration,
    pub retries_max: u32,
    pub backoff: Duration,
    /// Who asks for a longer pause than this gets none: the error says how long.
    pub pause_max: Duration,
    pub random: Random,
}

impl Patience {
    pub fn new(random: Random) -> Self {
        Self {
            answer: Duration::from_secs(120),
            read: Duration::from_secs(60),
            retries_max: 2,
            backoff: Duration::from_millis(500),
            pause_max: Duration::from_secs(10),
            random,
        }
    }
}

impl BaseUrl {
    pub fn parse(text: &str) -> Result<Self, InvalidBrain> {
        let url = Url::parse(text.trim()).map_err(|_| InvalidBrain::Address)?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(InvalidBrain::Address);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(InvalidBrain::Credentials);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(InvalidBrain::Query);
        }
        Ok(Self(url))
    }

    /// `OLLAMA_HOST` as Ollama reads it: scheme and port may be missing, and an address to listen on
    /// everywhere means this machine.
    pub fn parse_ollama_host(text: &str) -> Result<Self, InvalidBrain> {
        let text = text.trim();
        if text.contains("://") {
            return Self::parse(text);
        }
        let mut base = Self::parse(&format!("http://{text}"))?;
        let authority = text.split('/').next().unwrap_or_default();
        let names_port = authority
            .rsplit_once(':')
            .is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()));
        let listens_everywhere = matches!(base.0.host_str(), Some("0.0.0.0" | "[::]"));
        if !names_port && base.0.set_port(Some(OLLAMA_PORT)).is_err() {
            return Err(InvalidBrain::Address);
        }
        if listens_everywhere && base.0.set_host(Some("127.0.0.1")).is_err() {
            return Err(InvalidBrain::Address);
        }
        Ok(base)
    }

    pub(super) fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    fn join(&self, path: &str) -> Result<Url, InvalidBrain> {
        let base = self.0.as_str().trim_end_matches('/');
        Url::parse(&format!("{base}{path}")).map_err(|_| InvalidBrain::Address)
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

/// How a format carries its key.
pub(crate) enum KeyHeader {
    Bearer,
    Named(&'static str),
}

#[derive(Debug)]
pub(crate) struct Endpoint {
    /// "Anthropic at https://api.anthropic.com"
    pub who: String,
    pub model: String,
    pub patience: Patience,
    url: Url,
    headers: HeaderMap,
    key: Option<Secret>,
    client: Client,
}

impl Endpoint {
    pub(crate) fn new(
        name: &str,
        path: &str,
        config: BrainConfig,
        key_header: &KeyHeader,
    ) -> Result<Self, InvalidBrain> {
        let BrainConfig {
            http: Http(client),
            base,
            key,
            model,
            patience,
        } = config;
        if model.trim().is_empty() {
            return Err(InvalidBrain::Model);
        }
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &key {
            let (header, value) = key_header.carry(key)?;
            headers.insert(header, value);
        }
        Ok(Self {
            who: format!("{name} at {base}"),
            url: base.join(path)?,
            model,
            patience,
            headers,
            key,
            client,
        })
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: &'static str) -> Self {
        let name = HeaderName::from_static(name);
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }

    /// An answer that began well. Every other one is an error.
    pub(super) async fn send(&self, body: Vec<u8>) -> Result<Response, BrainError> {
        let response = self.forward(HeaderMap::new(), body).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(refusals::read(self, response).await)
    }

    /// Whatever is answered, for somebody who reads refusals themselves. Our own headers win.
    pub(crate) async fn forward(
        &self,
        mut headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response, BrainError> {
        headers.extend(self.headers.clone());
        let request = self.client.post(self.url.clone());
        let sent = request.headers(headers).body(body).send();
        match tokio::time::timeout(self.patience.answer, sent).await {
            Err(_) => {
                let words = format!("did not begin to answer in {:?}", self.patience.answer);
                Err(self.error(BrainErrorKind::TimedOut, &words, None))
            }
            Ok(Err(error)) => Err(self.not_answered(error)),
            Ok(Ok(response)) => Ok(response),
        }
    }

    /// Whether strangers' words have the key in them.
    pub(crate) fn key_is_in(&self, words: &str) -> bool {
        let key = self.key.as_ref();
        key.is_some_and(|key| refusals::repeats(words, key))
    }

    /// `words` follow the name of the other side; `said` is what it wrote about it.
    pub(super) fn error(
        &self,
        kind: BrainErrorKind,
        words: &str,
        said: Option<&str>,
    ) -> BrainError {
        let mut message = format!("{} {words}", self.who);
        if let Some(said) = said.filter(|said| !said.trim().is_empty()) {
            message = format!("{message}: {}", refusals::presentable(said, &self.key));
        }
        BrainError {
            kind,
            message,
            retry: kind.retry(None),
            usage: Usage::default(),
        }
    }

    fn not_answered(&self, error: reqwest::Error) -> BrainError {
        let error = error.without_url();
        let why = root_cause(&error);
        if error.is_connect() {
            self.error(
                BrainErrorKind::Unreachable,
                "cannot be reached",
                Some(why.as_str()),
            )
        } else {
            let words = "closed the connection without an answer";
            self.error(BrainErrorKind::BrokenOff, words, Some(why.as_str()))
        }
    }
}

impl KeyHeader {
    fn carry(&self, key: &Secret) -> Result<(HeaderName, HeaderValue), InvalidBrain> {
        let (name, value) = match self {
            Self::Bearer => (
                AUTHORIZATION,
                HeaderValue::from_str(&format!("Bearer {}", key.expose())),
            ),
            Self::Named(name) => (
                HeaderName::from_static(name),
                HeaderValue::from_str(key.expose()),
            ),
        };
        let mut value = value.map_err(|_| InvalidBrain::Key)?;
        value.set_sensitive(true);
        Ok((name, value))
    }
}

fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    text::escaped(&cause.to_string())
}

#[cfg(test)]
mod tests;
