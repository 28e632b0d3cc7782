//! Whatever makes vectors of texts, behind one function: nothing, a model in process, or an endpoint.
//!
//! A search whose vectors are off, slow or down goes on with words alone and says why: [`EmbeddingError`] has
//! a stable code for that. Nothing is asked twice here; who refreshes in the background tries again later.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::endpoints::Endpoint;
use crate::local::LocalModel;
use crate::vectors::{Embedding, InvalidEmbedding};

/// Each takes a core. A search that comes while a batch is computed waits for one text of it.
const LOCAL_TEXTS_AT_ONCE: usize = 1;

/// The value of the setting `embeddings`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbeddingSource {
    Off,
    /// A folder with a model's files.
    Local(PathBuf),
    /// A model of the Ollama server that is set elsewhere.
    Ollama(String),
    /// A model of the OpenAI-compatible server that is set elsewhere.
    OpenAi(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("embeddings are off, local:FOLDER, ollama:MODEL or openai:MODEL")]
pub struct InvalidSource;

impl FromStr for EmbeddingSource {
    type Err = InvalidSource;

    fn from_str(text: &str) -> Result<Self, InvalidSource> {
        let text = text.trim();
        if text == "off" {
            return Ok(Self::Off);
        }
        let (kind, of) = text.split_once(':').ok_or(InvalidSource)?;
        if of.is_empty() || of.chars().any(char::is_control) {
            return Err(InvalidSource);
        }
        match kind {
            "local" => Ok(Self::Local(of.into())),
            "ollama" => Ok(Self::Ollama(of.to_owned())),
            "openai" => Ok(Self::OpenAi(of.to_owned())),
            _ => Err(InvalidSource),
        }
    }
}

/// Why there are no vectors. Nothing that the other side wrote is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EmbeddingError {
    #[error("vectors are off")]
    Off,
    #[error("no vectors within {0:?}")]
    TimedOut(Duration),
    #[error("the embeddings server cannot be reached")]
    Unreachable,
    #[error("the embeddings server closed the connection in the middle of its answer")]
    BrokenOff,
    #[error("the embeddings server refuses with status {0}")]
    Refused(u16),
    #[error("the embeddings server answers something else than vectors")]
    Malformed,
    #[error("the embeddings server's answer is longer than {0} bytes")]
    TooLarge(usize),
    #[error("{found} vectors for {expected} texts")]
    Count { expected: usize, found: usize },
    #[error("a vector of {found} dimensions where the others have {expected}")]
    Dimensions { expected: usize, found: usize },
    #[error(transparent)]
    Vector(#[from] InvalidEmbedding),
    #[error("the model in process failed")]
    Model,
}

impl EmbeddingError {
    /// Whether the same question may get an answer later, without anybody changing a setting.
    pub fn is_temporary(self) -> bool {
        match self {
            Self::TimedOut(_) | Self::Unreachable | Self::BrokenOff => true,
            Self::Refused(status) => matches!(status, 408 | 429 | 500..=599),
            Self::Off
            | Self::Malformed
            | Self::TooLarge(_)
            | Self::Count { .. }
            | Self::Dimensions { .. }
            | Self::Vector(_)
            | Self::Model => false,
        }
    }
}

pub enum Embedder {
    Off,
    Local(LocalEmbedder),
    Endpoint(Endpoint),
}

pub struct LocalEmbedder {
    model: Arc<LocalModel>,
    turns: Arc<Semaphore>,
}

impl LocalEmbedder {
    pub fn new(model: LocalModel) -> Self {
        Self {
            model: Arc::new(model),
            turns: Arc::new(Semaphore::new(LOCAL_TEXTS_AT_ONCE)),
        }
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Embedding>, EmbeddingError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            let turn = Arc::clone(&self.turns).acquire_owned().await;
            let (model, text) = (Arc::clone(&self.model), text.clone());
            // The turn ends with the computing, also when nobody waits for it any more.
            let computed = tokio::task::spawn_blocking(move || {
                let vector = model.embed(&text);
                drop(turn);
                vector
            });
            let vector = computed.await.map_err(|_| EmbeddingError::Model)?;
            vectors.push(vector.map_err(|_| EmbeddingError::Model)?);
        }
        Ok(vectors)
    }
}

impl Embedder {
    /// Vectors of one model have one identity and can be compared; it is stored with them. None if off.
    pub fn identity(&self) -> Option<String> {
        match self {
            Self::Off => None,
            Self::Local(local) => Some(format!("local:{}", local.model.fingerprint())),
            Self::Endpoint(endpoint) => Some(endpoint.identity()),
        }
    }

    /// One vector for each text, in their order, within `patience` or not at all.
    pub async fn embed(
        &self,
        texts: &[String],
        patience: Duration,
    ) -> Result<Vec<Embedding>, EmbeddingError> {
        let vectors = async {
            match self {
                Self::Off => Err(EmbeddingError::Off),
                Self::Local(local) => local.embed(texts).await,
                Self::Endpoint(endpoint) => endpoint.embed(texts).await,
            }
        };
        let in_time = tokio::time::timeout(patience, vectors).await;
        in_time.unwrap_or(Err(EmbeddingError::TimedOut(patience)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_one_of_four() {
        for (text, source) in [
            ("off", EmbeddingSource::Off),
            (
                " local:/srv/minilm ",
                EmbeddingSource::Local("/srv/minilm".into()),
            ),
            (
                "ollama:nomic-embed-text:v1.5",
                EmbeddingSource::Ollama("nomic-embed-text:v1.5".to_owned()),
            ),
            (
                "openai:text-embedding-3-small",
                EmbeddingSource::OpenAi("text-embedding-3-small".to_owned()),
            ),
        ] {
            assert_eq!(text.parse(), Ok(source));
        }
        for text in [
            "",
            "on",
            "local",
            "local:",
            "ollama:",
            "OFF",
            "local:a\nb",
            "cohere:x",
        ] {
            assert_eq!(
                text.parse::<EmbeddingSource>(),
                Err(InvalidSource),
                "{text:?}"
            );
        }
    }

    #[test]
    fn only_what_can_pass_is_temporary() {
        for (status, temporary) in [
            (400, false),
            (401, false),
            (404, false),
            (408, true),
            (429, true),
            (500, true),
            (503, true),
            (302, false),
        ] {
            assert_eq!(
                EmbeddingError::Refused(status).is_temporary(),
                temporary,
                "{status}"
            );
        }
        assert!(!EmbeddingError::Off.is_temporary());
        assert!(EmbeddingError::Unreachable.is_temporary());
    }
}
