//! The source of vectors, from the settings; its key is resolved here.

use std::path::Path;
use std::sync::Arc;

use void_control::embeddings::EmbeddingsConfig;
use void_embeddings::embedders::{Embedder, EmbeddingSource};
use void_embeddings::endpoints::{Endpoint, EndpointConfig, EndpointFormat};

use crate::exit::CommandError;
use crate::settings::{Environment, Settings};

const OLLAMA_URL: &str = "http://127.0.0.1:11434";
const OPENAI_URL: &str = "https://api.openai.com/v1";

pub(crate) fn config(
    settings: &Settings,
    environment: &Environment,
) -> Result<EmbeddingsConfig, CommandError> {
    let (format, usual, model) = match &settings.embeddings.source {
        EmbeddingSource::Off => return Ok(EmbeddingsConfig::Off),
        EmbeddingSource::Local(folder) => {
            // As seen from the file that it stands in.
            let beside = settings.config_file.value.parent();
            let folder = beside.unwrap_or(Path::new("")).join(folder);
            return Ok(EmbeddingsConfig::Folder(folder));
        }
        EmbeddingSource::Ollama(model) => (EndpointFormat::Ollama, OLLAMA_URL, model),
        EmbeddingSource::OpenAi(model) => (EndpointFormat::OpenAi, OPENAI_URL, model),
    };
    let url = settings.embeddings.url.value.as_deref();
    let key = match &settings.embeddings.key.value {
        Some(key) => Some(key.resolve(environment, "embeddings_key")?),
        None => None,
    };
    let endpoint = Endpoint::new(EndpointConfig {
        format,
        base: url.unwrap_or(usual).to_owned(),
        key: key.map(|key| key.expose().to_owned()),
        model: model.clone(),
        dimensions: None,
    });
    let endpoint = endpoint.map_err(|error| CommandError::config(error.to_string()))?;
    Ok(EmbeddingsConfig::Ready(Arc::new(Embedder::Endpoint(
        endpoint,
    ))))
}
