//! What is known of vectors while the process runs: where they come from, their small codes, and how far they are.

mod held;
mod number_sets;

use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use tokio::sync::{OnceCell, Semaphore};
use void_domain::failures::FailureCode;
use void_embeddings::embedders::{Embedder, EmbeddingError, LocalEmbedder};
use void_embeddings::local::LocalModel;
use void_embeddings::vectors::Embedding;

pub(crate) use self::held::{HeldVectors, NearScope, chunk_key, code_bytes, codes_of};
pub(crate) use self::number_sets::NumberSet;

/// Searches of callers other than the owner that ask for a vector at a time.
const OTHERS_AT_ONCE: usize = 4;

/// Where vectors come from.
#[derive(Clone, Default)]
pub enum EmbeddingsConfig {
    #[default]
    Off,
    /// A folder with a model's files, which is read when the server is up.
    Folder(PathBuf),
    Ready(Arc<Embedder>),
}

impl fmt::Debug for EmbeddingsConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("Off"),
            Self::Folder(folder) => f.debug_tuple("Folder").field(folder).finish(),
            Self::Ready(embedder) => f.debug_tuple("Ready").field(&embedder.identity()).finish(),
        }
    }
}

pub(crate) struct Embeddings {
    pub(crate) source: Source,
    pub(crate) embedder: OnceCell<Arc<Embedder>>,
    pub(crate) held: RwLock<Option<HeldVectors>>,
    pub(crate) progress: Mutex<Progress>,
    /// The vectors of the queries that were asked last: pages of results ask the same again.
    pub(crate) asked: Mutex<VecDeque<(String, Embedding)>>,
    pub(crate) others: Semaphore,
}

pub(crate) enum Source {
    Folder(PathBuf),
    Ready(Arc<Embedder>),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    pub(crate) total: u64,
    pub(crate) done: u64,
    /// Texts of which the server makes no vectors. Tried again after a restart.
    pub(crate) skipped: NumberSet,
    /// Documents of spaces that were thrown away, and what went meanwhile.
    pub(crate) absent: NumberSet,
    pub(crate) trouble: Option<Trouble>,
}

/// Why there are no vectors, or not more of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) code: FailureCode,
    pub(crate) message: String,
}

impl Trouble {
    pub(crate) fn of_model(error: impl fmt::Display) -> Self {
        Self {
            code: FailureCode::EmbeddingsFailed,
            message: format!("the embeddings model cannot be read: {error}"),
        }
    }
}

/// The word for it, which programs decide by.
pub(crate) const fn failure_code(error: EmbeddingError) -> FailureCode {
    match error {
        EmbeddingError::Off => FailureCode::EmbeddingsOff,
        EmbeddingError::TimedOut(_) => FailureCode::EmbeddingsSlow,
        EmbeddingError::Unreachable | EmbeddingError::BrokenOff => FailureCode::EmbeddingsDown,
        EmbeddingError::Refused(_) => FailureCode::EmbeddingsRefused,
        EmbeddingError::Malformed
        | EmbeddingError::TooLarge(_)
        | EmbeddingError::Count { .. }
        | EmbeddingError::Vector(_) => FailureCode::EmbeddingsBadAnswer,
        EmbeddingError::Dimensions { .. } => FailureCode::EmbeddingsDimensions,
        EmbeddingError::Model => FailureCode::EmbeddingsFailed,
    }
}

impl From<EmbeddingError> for Trouble {
    fn from(error: EmbeddingError) -> Self {
        Self {
            code: failure_code(error),
            message: error.to_string(),
        }
    }
}

impl From<void_store::StoreError> for Trouble {
    fn from(error: void_store::StoreError) -> Self {
        tracing::warn!(%error, "vectors could not be read or stored; it is tried again");
        Self {
            code: FailureCode::Unavailable,
            message: "the database cannot be used right now".to_owned(),
        }
    }
}

impl Progress {
    /// Texts that will have vectors.
    pub(crate) fn not_yet(&self) -> u64 {
        let left_out = (self.skipped.len() + self.absent.len()) as u64;
        self.total
            .saturating_sub(self.done.saturating_add(left_out))
    }
}

impl Embeddings {
    /// `None`: off.
    pub(crate) fn new(config: EmbeddingsConfig) -> Option<Self> {
        let source = match config {
            EmbeddingsConfig::Off => return None,
            EmbeddingsConfig::Ready(embedder) if embedder.identity().is_none() => return None,
            EmbeddingsConfig::Ready(embedder) => Source::Ready(embedder),
            EmbeddingsConfig::Folder(folder) => Source::Folder(folder),
        };
        Some(Self {
            source,
            embedder: OnceCell::new(),
            held: RwLock::new(None),
            progress: Mutex::default(),
            asked: Mutex::default(),
            others: Semaphore::new(OTHERS_AT_ONCE),
        })
    }

    /// The model, which is read from its folder once.
    pub(crate) async fn open(&self) -> Result<&Arc<Embedder>, Trouble> {
        let opening = async || match &self.source {
            Source::Ready(embedder) => Ok(Arc::clone(embedder)),
            Source::Folder(folder) => {
                let folder = folder.clone();
                let opened = tokio::task::spawn_blocking(move || LocalModel::open(&folder)).await;
                let model = opened.map_err(Trouble::of_model)?;
                let model = model.map_err(Trouble::of_model)?;
                Ok(Arc::new(Embedder::Local(LocalEmbedder::new(model))))
            }
        };
        self.embedder.get_or_try_init(opening).await
    }

    pub(crate) fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn with_held<T>(&self, look: impl FnOnce(Option<&HeldVectors>) -> T) -> T {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        look(held.as_ref())
    }

    pub(crate) fn change_held<T>(&self, change: impl FnOnce(&mut Option<HeldVectors>) -> T) -> T {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut held)
    }
}
