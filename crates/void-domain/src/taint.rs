//! Whether what a requester has read could have been written by a stranger.

use serde::{Deserialize, Serialize};

use crate::limits::TAINT_SOURCES_MAX;

/// Marks of foreign content in the requester's context. From the first mark on, nothing is run
/// without a person's nod, however safe it is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Taint {
    sources: Vec<String>,
}

impl Taint {
    pub const fn clean() -> Self {
        Self {
            sources: Vec::new(),
        }
    }

    pub const fn from_sources(sources: Vec<String>) -> Self {
        Self { sources }
    }

    /// Also read: one more source.
    pub fn add(&mut self, source: &str) {
        if !self.sources.iter().any(|known| known == source) {
            self.sources.push(source.to_owned());
        }
    }

    /// Stands for the sources beyond the bound; they are on the record.
    pub const MORE: &'static str = "and more, see the record";

    /// Also read: everything that another request had read. Whether anything of it is new.
    pub fn unite(&mut self, other: &Self) -> bool {
        let before = self.sources.len();
        for source in &other.sources {
            if self.sources.contains(source) {
                continue;
            }
            if self.sources.len() < TAINT_SOURCES_MAX {
                self.sources.push(source.clone());
            } else {
                self.add(Self::MORE);
            }
        }
        self.sources.len() > before
    }

    /// Whether it has no source that the other has not.
    pub fn is_within(&self, other: &Self) -> bool {
        self.sources
            .iter()
            .all(|source| other.sources.contains(source))
    }

    pub fn is_clean(&self) -> bool {
        self.sources.is_empty()
    }

    pub fn sources(&self) -> &[String] {
        &self.sources
    }
}
