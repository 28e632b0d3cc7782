//! Vectors of some texts: cut into chunks, each with the title before it, and stored if the text is still the same.

use std::time::Duration;

use void_domain::knowledge::Entity;
use void_embeddings::chunks::Chunks;
use void_embeddings::embedders::{Embedder, EmbeddingError};
use void_embeddings::index::Code;
use void_embeddings::vectors::Embedding;
use void_store::embeddings::{self, ChunkId, DocumentPlace};
use void_store::{StoreError, Tx};

use super::{Embeddings, Trouble};
use crate::control::Control;
use crate::knowledge::writing::live;
use crate::parts::embeddings::{code_bytes, failure_code};

/// So long a server may take for some texts.
pub(super) const MAKING_TIME_MAX: Duration = Duration::from_secs(60);
/// Chunks that are asked for at a time.
const CHUNKS_ASKED_AT_ONCE: usize = 32;
/// Vectors that are stored in one transaction: others wait for it.
const VECTORS_STORED_AT_ONCE: usize = 64;

/// A text, as it is to be compared.
struct Text {
    place: DocumentPlace,
    revision: u64,
    chunks: Vec<String>,
}

/// How many of these documents have vectors now.
pub(super) async fn make(
    control: &Control,
    embeddings: &Embeddings,
    embedder: &Embedder,
    numbers: &[u64],
) -> Result<usize, Trouble> {
    let texts = texts(control, numbers.to_vec()).await?;
    for number in numbers {
        if !texts.iter().any(|text| text.place.number == *number) {
            embeddings.progress().absent.insert(*number);
        }
    }
    let all: Vec<&str> = texts
        .iter()
        .flat_map(|text| text.chunks.iter().map(|chunk| &**chunk))
        .collect();
    let (mut made, mut refused) = (0, None);
    match vectors(embedder, &all).await {
        Ok(all) => {
            let mut all = all.into_iter();
            for text in &texts {
                let vectors = all.by_ref().take(text.chunks.len()).collect();
                made += usize::from(store(control, embeddings, text, vectors).await?);
            }
        }
        Err(error) if is_of_one_text(error) => {
            // One of them may be what no vector is made of; the others are not left out for it.
            for text in &texts {
                let own: Vec<&str> = text.chunks.iter().map(|chunk| &**chunk).collect();
                match vectors(embedder, &own).await {
                    Ok(vectors) => {
                        made += usize::from(store(control, embeddings, text, vectors).await?);
                    }
                    Err(error) if is_of_one_text(error) => {
                        embeddings.progress().skipped.insert(text.place.number);
                        refused = Some(error);
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Err(error) => return Err(error.into()),
    }
    if let Some(error) = refused {
        tracing::warn!(
            code = failure_code(error).as_str(),
            "some texts get no vectors: {error}"
        );
    }
    embeddings.progress().done += made as u64;
    Ok(made)
}

/// Whether another text may have a vector although this one has none.
const fn is_of_one_text(error: EmbeddingError) -> bool {
    match error {
        EmbeddingError::Refused(status) => matches!(status, 400 | 413 | 422),
        EmbeddingError::Vector(_) | EmbeddingError::Model => true,
        EmbeddingError::Off
        | EmbeddingError::TimedOut(_)
        | EmbeddingError::Unreachable
        | EmbeddingError::BrokenOff
        | EmbeddingError::Malformed
        | EmbeddingError::TooLarge(_)
        | EmbeddingError::Count { .. }
        | EmbeddingError::Dimensions { .. } => false,
    }
}

async fn texts(control: &Control, numbers: Vec<u64>) -> Result<Vec<Text>, StoreError> {
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let mut texts = Vec::new();
                for place in embeddings::places(tx, &numbers).await? {
                    if let Some(entity) = live(tx, place.id).await? {
                        texts.push(text(place, &entity));
                    }
                }
                Ok(texts)
            })
        })
        .await
}

fn text(place: DocumentPlace, entity: &Entity) -> Text {
    let (title, body) = (entity.head.title.as_str(), entity.body.as_str());
    let chunks = Chunks::of(body);
    let mut chunks: Vec<String> = chunks
        .texts(body)
        .map(|chunk| format!("{title}\n\n{chunk}"))
        .collect();
    if chunks.is_empty() {
        chunks.push(title.to_owned());
    }
    Text {
        place,
        revision: entity.head.revision.number,
        chunks,
    }
}

async fn vectors(embedder: &Embedder, texts: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
    let mut vectors = Vec::with_capacity(texts.len());
    for some in texts.chunks(CHUNKS_ASKED_AT_ONCE) {
        let some: Vec<String> = some.iter().map(|text| (*text).to_owned()).collect();
        vectors.extend(embedder.embed(&some, MAKING_TIME_MAX).await?);
    }
    Ok(vectors)
}

/// `false`: the text is another one meanwhile.
async fn store(
    control: &Control,
    embeddings: &Embeddings,
    text: &Text,
    vectors: Vec<Embedding>,
) -> Result<bool, Trouble> {
    let coded = embeddings.with_held(|held| {
        let held = held?;
        let codes = vectors.iter().map(|vector| held.coder().encode(vector));
        Some((held.coding, codes.collect::<Result<Vec<Code>, _>>()))
    });
    let Some((coding, codes)) = coded else {
        return Ok(false);
    };
    let codes = codes.map_err(|differ| EmbeddingError::Dimensions {
        expected: differ.expected,
        found: differ.found,
    })?;
    let number = text.place.number;
    let ids = (0_u16..).map(|chunk| ChunkId { number, chunk });
    let bytes = vectors.iter().map(Embedding::to_bytes);
    let mut chunks: Vec<(ChunkId, Vec<u8>)> = ids.zip(bytes).collect();
    let mut last = Some((coding, codes.len() as u64, code_bytes(&codes)));
    while last.is_some() {
        let rest = chunks.split_off(chunks.len().min(VECTORS_STORED_AT_ONCE));
        let part = std::mem::replace(&mut chunks, rest);
        let end = chunks.is_empty().then(|| last.take()).flatten();
        let (place, revision) = (text.place, text.revision);
        let is_same = control
            .store
            .write(move |tx| {
                Box::pin(async move {
                    if !is_same(tx, place, revision).await? {
                        return Ok(false);
                    }
                    embeddings::put_vectors(tx, &part).await?;
                    if let Some((coding, count, codes)) = end {
                        embeddings::put_codes(tx, place.number, coding, (count, &codes)).await?;
                    }
                    Ok::<_, StoreError>(true)
                })
            })
            .await?;
        if !is_same {
            return Ok(false);
        }
    }
    embeddings.change_held(|held| {
        if let Some(held) = held
            && held.coding == coding
        {
            held.put(&text.place, &codes);
        }
    });
    Ok(true)
}

/// Whether the document is still of this text: numbers may be given out again.
async fn is_same(tx: &mut Tx, place: DocumentPlace, revision: u64) -> Result<bool, StoreError> {
    let there = embeddings::places(tx, &[place.number]).await?;
    let entity = match there.first() == Some(&place) {
        true => live(tx, place.id).await?,
        false => None,
    };
    Ok(entity.is_some_and(|entity| entity.head.revision.number == revision))
}
