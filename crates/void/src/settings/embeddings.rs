//! Where vectors for the search by meaning come from.

use void_embeddings::embedders::EmbeddingSource;

use super::merge::Values;
use super::{Reference, Sourced};
use crate::exit::CommandError;

#[derive(Clone)]
pub(crate) struct EmbeddingsSettings {
    pub source: EmbeddingSource,
    pub url: Sourced<Option<String>>,
    pub key: Sourced<Option<Reference>>,
}

pub(super) fn read(values: &Values) -> Result<EmbeddingsSettings, CommandError> {
    let source: Sourced<String> = values.get("embeddings")?;
    let parsed = source.value.parse();
    Ok(EmbeddingsSettings {
        source: parsed.map_err(|error| CommandError::config(format!("embeddings: {error}")))?,
        url: values.find("embeddings_url")?,
        key: values.find("embeddings_key")?,
    })
}
