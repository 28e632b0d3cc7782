//! The one HTTP client of each channel: no redirects, no proxy but the one that was set, bounded
//! answers, and errors without the address, which may hold a secret.

use std::error::Error as _;
use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Client, Url};
use void_domain::text;

use super::InvalidNotifier;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
const USER_AGENT: &str = concat!("void/", env!("CARGO_PKG_VERSION"));

#[derive(Clone)]
pub(crate) struct Http(Client);

pub(crate) struct HttpResponse {
    pub status: u16,
    pub body: Vec<u8>,
}

/// Nobody can say whether it arrived.
#[derive(Debug)]
pub(crate) struct NoAnswer(pub String);

impl Http {
    pub(crate) fn new(proxy: Option<&str>) -> Result<Self, InvalidNotifier> {
        let mut builder = Client::builder()
            .user_agent(USER_AGENT)
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy();
        if let Some(proxy) = proxy {
            let proxy = reqwest::Proxy::all(proxy).map_err(|_| InvalidNotifier::Client)?;
            builder = builder.proxy(proxy);
        }
        builder
            .build()
            .map(Self)
            .map_err(|_| InvalidNotifier::Client)
    }

    pub(crate) async fn post(
        &self,
        url: Url,
        headers: HeaderMap,
        body: String,
        patience: Duration,
    ) -> Result<HttpResponse, NoAnswer> {
        let sent = self
            .0
            .post(url)
            .header("content-type", "application/json")
            .headers(headers)
            .body(body);
        match tokio::time::timeout(patience, read(sent)).await {
            Ok(answered) => answered,
            Err(_) => Err(NoAnswer("no answer in time".to_owned())),
        }
    }
}

async fn read(request: reqwest::RequestBuilder) -> Result<HttpResponse, NoAnswer> {
    let mut response = request.send().await.map_err(no_answer)?;
    let status = response.status().as_u16();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(no_answer)? {
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(NoAnswer("the answer is too long".to_owned()));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(HttpResponse { status, body })
}

fn no_answer(error: reqwest::Error) -> NoAnswer {
    let error = error.without_url();
    let mut words = if error.is_connect() {
        "cannot be reached".to_owned()
    } else {
        "closed the connection without an answer".to_owned()
    };
    let mut cause = error.source();
    while let Some(deeper) = cause {
        if deeper.source().is_none() {
            words = format!(
                "{words}: {}",
                text::escaped(text::cut(&deeper.to_string(), 200))
            );
        }
        cause = deeper.source();
    }
    NoAnswer(words)
}

/// An address of the owner's own choosing; machines on the owner's network are fine.
pub(crate) fn parse_url(text: &str, what: &'static str) -> Result<Url, InvalidNotifier> {
    let problem = || InvalidNotifier::Address(what);
    let url = Url::parse(text.trim()).map_err(|_| problem())?;
    let plain = matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.username().is_empty()
        && url.password().is_none()
        && url.fragment().is_none();
    if plain { Ok(url) } else { Err(problem()) }
}
