//! Embeddings from a server: Ollama's `POST /api/embed`, or `POST …/embeddings` as OpenAI defined it and
//! llama.cpp, vLLM, LM Studio and others speak it.
//!
//! The key goes to this one address: redirects are not followed, no proxy is taken from the environment, and
//! nothing prints it. An answer is bounded while it comes, and counts only whole: as many vectors as texts,
//! each of finite numbers, all of the dimensions that the first one had.

mod answers;

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Client, Response, Url};
use serde_json::{Value, json};

use crate::embedders::EmbeddingError;
use crate::vectors::Embedding;

/// A model that is asked for more at once takes longer for each search that waits beside it.
pub const BATCH_TEXTS_MAX: usize = 64;
/// What is behind them is left away: more than any of these models reads.
pub const TEXT_BYTES_MAX: usize = 32 * 1024;
/// Three times what a full batch of the longest vectors takes.
pub const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const USER_AGENT: &str = concat!("void/", env!("CARGO_PKG_VERSION"));

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointFormat {
    /// The base is the server: `http://127.0.0.1:11434`.
    Ollama,
    /// The base ends with the version: `https://api.openai.com/v1`.
    OpenAi,
}

pub struct EndpointConfig {
    pub format: EndpointFormat,
    pub base: String,
    pub key: Option<String>,
    pub model: String,
    /// Of the vectors that are stored; none where there are none yet.
    pub dimensions: Option<usize>,
}

/// The words say nothing of the text, which may hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEndpoint {
    #[error(
        "the address of the embeddings server begins with http:// or https:// and names a host"
    )]
    Address,
    #[error("the address of the embeddings server has a user name or password in it; use a key")]
    Credentials,
    #[error("the address of the embeddings server ends with its path; it has no ? or #")]
    Query,
    #[error("the key of the embeddings server has characters that no header can carry")]
    Key,
    #[error("the embeddings model has no name")]
    Model,
    #[error("the HTTP client cannot start; is there a TLS provider?")]
    Client,
}

pub struct Endpoint {
    client: Client,
    url: Url,
    key: Option<HeaderValue>,
    format: EndpointFormat,
    model: String,
    /// Set by the first answer, or before it.
    dimensions: OnceLock<usize>,
}

impl Endpoint {
    pub fn new(config: EndpointConfig) -> Result<Self, InvalidEndpoint> {
        if config.model.trim().is_empty() {
            return Err(InvalidEndpoint::Model);
        }
        let client = Client::builder()
            .user_agent(USER_AGENT)
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build();
        let dimensions = config.dimensions.map_or_else(OnceLock::new, OnceLock::from);
        Ok(Self {
            url: url(&config.base, config.format)?,
            key: config.key.as_deref().map(bearer).transpose()?,
            client: client.map_err(|_| InvalidEndpoint::Client)?,
            format: config.format,
            model: config.model,
            dimensions,
        })
    }

    /// The model by the name that it has on this server.
    pub(crate) fn identity(&self) -> String {
        let format = match self.format {
            EndpointFormat::Ollama => "ollama",
            EndpointFormat::OpenAi => "openai",
        };
        format!("{format}:{}", self.model)
    }

    /// In batches, one after the other. The first that fails ends it.
    pub(crate) async fn embed(&self, texts: &[String]) -> Result<Vec<Embedding>, EmbeddingError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH_TEXTS_MAX) {
            vectors.extend(self.embed_batch(batch).await?);
        }
        Ok(vectors)
    }

    async fn embed_batch(&self, texts: &[String]) -> Result<Vec<Embedding>, EmbeddingError> {
        let body = self.request(texts).to_string();
        let mut request = self.client.post(self.url.clone()).body(body);
        request = request.header("content-type", "application/json");
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key.clone());
        }
        let response = request.send().await.map_err(|error| not_answered(&error))?;
        let status = response.status();
        if !status.is_success() {
            return Err(EmbeddingError::Refused(status.as_u16()));
        }
        let body = bounded_body(response).await?;
        let vectors = match self.format {
            EndpointFormat::Ollama => answers::ollama(&body, texts.len()),
            EndpointFormat::OpenAi => answers::openai(&body, texts.len()),
        };
        let vectors = vectors?;
        self.check_dimensions(&vectors)?;
        Ok(vectors)
    }

    fn request(&self, texts: &[String]) -> Value {
        let texts: Vec<&str> = texts.iter().map(|text| cut(text)).collect();
        match self.format {
            EndpointFormat::Ollama => {
                json!({"model": self.model, "input": texts, "truncate": true})
            }
            EndpointFormat::OpenAi => {
                json!({"model": self.model, "input": texts, "encoding_format": "float"})
            }
        }
    }

    fn check_dimensions(&self, vectors: &[Embedding]) -> Result<(), EmbeddingError> {
        let Some(first) = vectors.first().map(Embedding::dimensions) else {
            return Ok(());
        };
        let differs = |expected| {
            let found = vectors
                .iter()
                .map(Embedding::dimensions)
                .find(|one| *one != expected);
            found.map_or(Ok(()), |found| {
                Err(EmbeddingError::Dimensions { expected, found })
            })
        };
        // An answer that does not agree with itself sets nothing.
        differs(first)?;
        differs(*self.dimensions.get_or_init(|| first))
    }
}

/// Without the key.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.identity(), self.url)
    }
}

fn url(base: &str, format: EndpointFormat) -> Result<Url, InvalidEndpoint> {
    let url = Url::parse(base.trim()).map_err(|_| InvalidEndpoint::Address)?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(InvalidEndpoint::Address);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(InvalidEndpoint::Credentials);
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(InvalidEndpoint::Query);
    }
    let path = match format {
        EndpointFormat::Ollama => "/api/embed",
        EndpointFormat::OpenAi => "/embeddings",
    };
    let base = url.as_str().trim_end_matches('/');
    Url::parse(&format!("{base}{path}")).map_err(|_| InvalidEndpoint::Address)
}

fn bearer(key: &str) -> Result<HeaderValue, InvalidEndpoint> {
    let mut value =
        HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| InvalidEndpoint::Key)?;
    value.set_sensitive(true);
    Ok(value)
}

fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(TEXT_BYTES_MAX))
        .unwrap_or(text)
}

async fn bounded_body(mut response: Response) -> Result<Vec<u8>, EmbeddingError> {
    let mut body = Vec::new();
    loop {
        let chunk = response.chunk().await;
        let Some(chunk) = chunk.map_err(|_| EmbeddingError::BrokenOff)? else {
            return Ok(body);
        };
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(EmbeddingError::TooLarge(ANSWER_BYTES_MAX));
        }
        body.extend_from_slice(&chunk);
    }
}

fn not_answered(error: &reqwest::Error) -> EmbeddingError {
    if error.is_connect() {
        EmbeddingError::Unreachable
    } else {
        EmbeddingError::BrokenOff
    }
}
