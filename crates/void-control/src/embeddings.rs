//! Vectors of what the owner keeps, for the search by meaning. Off unless a source is set, and then they cost nothing.
//!
//! They are made in the background ([`refresh`]), stored beside the texts, and compared by small codes in memory ([`crate::parts::embeddings`]).
//! Texts leave this machine only for the server that the owner set. A search never waits for what is made: without vectors, or
//! with a server that is slow or down, it goes by words alone and says why.

mod queries;
mod refresh;

use void_domain::failures::FailureCode;

pub(crate) use self::queries::{Near, near, nearest_documents};
pub(crate) use self::refresh::start;
use crate::control::Control;
pub use crate::parts::embeddings::EmbeddingsConfig;
pub(crate) use crate::parts::embeddings::NearScope;

/// How far the vectors are, for the owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingsView {
    pub state: EmbeddingsState,
    /// Texts that have vectors, of all that may have some.
    pub done: u64,
    pub total: u64,
    /// Texts of which none could be made.
    pub skipped: u64,
    pub chunks: u64,
    pub memory_bytes: u64,
    /// What is in the way: a stable word and a sentence.
    pub trouble: Option<(FailureCode, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddingsState {
    /// What is stored is being read.
    Starting,
    Making,
    Ready,
    /// It is tried again by itself.
    Waiting,
}

impl EmbeddingsState {
    pub const ALL: [Self; 4] = [Self::Starting, Self::Making, Self::Ready, Self::Waiting];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Making => "making",
            Self::Ready => "ready",
            Self::Waiting => "waiting",
        }
    }
}

/// `None`: they are off.
pub fn view(control: &Control) -> Option<EmbeddingsView> {
    let embeddings = control.embeddings.as_ref()?;
    let progress = embeddings.progress().clone();
    let (chunks, memory) = embeddings
        .with_held(|held| held.map_or((0, 0), |held| (held.chunk_count(), held.memory_bytes())));
    let is_started = embeddings.with_held(|held| held.is_some());
    let state = match (&progress.trouble, is_started) {
        (Some(_), _) => EmbeddingsState::Waiting,
        (None, false) => EmbeddingsState::Starting,
        (None, true) if progress.not_yet() > 0 => EmbeddingsState::Making,
        (None, true) => EmbeddingsState::Ready,
    };
    Some(EmbeddingsView {
        state,
        done: progress.done,
        total: progress.total,
        skipped: progress.skipped.len() as u64,
        chunks: chunks as u64,
        memory_bytes: memory as u64,
        trouble: progress
            .trouble
            .map(|trouble| (trouble.code, trouble.message)),
    })
}
