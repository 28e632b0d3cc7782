//! What a search asks: which texts are near to the words that were typed. In two steps: the codes in memory say which vectors are
//! worth reading, and the stored vectors, read in the transaction of the search, say what is nearest.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use void_domain::knowledge::NO_EMBEDDINGS;
use void_embeddings::index::{Scored, best_of_entities, score};
use void_embeddings::vectors::Embedding;
use void_store::embeddings::{self, ASKED_AT_ONCE, ChunkId, DocumentPlace};
use void_store::{StoreError, Tx};

use crate::context::Ctx;
use crate::control::Control;
use crate::parts::embeddings::{Embeddings, NearScope, Trouble, chunk_key};

/// So long a search waits for the vector of its words.
pub(crate) const QUERY_TIME_MAX: Duration = Duration::from_secs(2);
/// Vectors of queries that are kept.
const ASKED_KEPT_MAX: usize = 32;
/// What is less alike is not found by meaning: of any texts some are the nearest.
const LEAST_COSINE: f32 = 0.2;
/// Nor what is so much less alike than the best.
const LEAST_SHARE_OF_BEST: f32 = 0.6;
/// What meaning adds to a search at most.
const NEAREST_MAX: usize = 100;

/// The vector of a query, and the chunks that may be near.
pub(crate) struct Near {
    query: Embedding,
    chunks: Vec<ChunkId>,
    /// Texts that have no vectors yet.
    pub(crate) not_yet: u64,
}

/// `Err`: why nothing is found by meaning, as a sentence.
pub(crate) async fn near(
    control: &Control,
    ctx: &Ctx,
    words: &str,
    scope: NearScope,
) -> Result<Near, String> {
    let Some(embeddings) = &control.embeddings else {
        return Err(NO_EMBEDDINGS.to_owned());
    };
    if embeddings.with_held(|held| held.is_none()) {
        let progress = embeddings.progress();
        let trouble = progress.trouble.as_ref();
        return Err(trouble.map_or_else(
            || "the stored vectors are still being read".to_owned(),
            |trouble| trouble.message.clone(),
        ));
    }
    let is_owner = ctx.actor.is_owner();
    let asking = async {
        let turn = match is_owner {
            true => None,
            false => Some(embeddings.others.acquire().await),
        };
        let vector = vector_of(embeddings, words).await;
        drop(turn);
        vector
    };
    let query = tokio::time::timeout(QUERY_TIME_MAX, asking).await;
    let query = match query {
        Ok(query) => query.map_err(|trouble| trouble.message)?,
        Err(_) => {
            let seconds = QUERY_TIME_MAX.as_secs();
            return Err(format!("the words had no vector within {seconds} seconds"));
        }
    };
    let (this, vector) = (Arc::clone(embeddings), query.clone());
    let looking = tokio::task::spawn_blocking(move || {
        this.with_held(|held| held.map(|held| held.near(&scope, &vector)))
    });
    let found = match looking.await {
        Ok(Some(found)) => found.map_err(|error| error.to_string())?,
        Ok(None) | Err(_) => return Err("the stored vectors are still being read".to_owned()),
    };
    let not_yet = embeddings.progress().not_yet();
    Ok(Near {
        query,
        chunks: found,
        not_yet,
    })
}

async fn vector_of(embeddings: &Embeddings, words: &str) -> Result<Embedding, Trouble> {
    let known = || {
        let asked = embeddings.asked.lock();
        let asked = asked.unwrap_or_else(PoisonError::into_inner);
        let known = asked.iter().find(|(text, _)| text == words);
        known.map(|(_, vector)| vector.clone())
    };
    if let Some(vector) = known() {
        return Ok(vector);
    }
    let embedder = embeddings.open().await?;
    let made = embedder.embed(&[words.to_owned()], QUERY_TIME_MAX).await?;
    let Some(vector) = made.into_iter().next() else {
        return Err(Trouble::of_model("it made no vector"));
    };
    let asked = embeddings.asked.lock();
    let mut asked = asked.unwrap_or_else(PoisonError::into_inner);
    asked.truncate(ASKED_KEPT_MAX - 1);
    asked.push_front((words.to_owned(), vector.clone()));
    Ok(vector)
}

/// The nearest documents that are there, the best first, each with the chunk that is nearest.
pub(crate) async fn nearest_documents(
    tx: &mut Tx,
    near: &Near,
) -> Result<Vec<(DocumentPlace, u16)>, StoreError> {
    let stored = embeddings::vectors(tx, &near.chunks).await?;
    // One that cannot be read is one that is not there.
    let vectors = stored.into_iter().filter_map(|(id, bytes)| {
        let vector = Embedding::from_bytes(&bytes).ok()?;
        Some((chunk_key(id), vector))
    });
    let keys: Vec<_> = near.chunks.iter().map(|id| chunk_key(*id)).collect();
    let mut scored = score(&near.query, &keys, vectors.collect(), ASKED_AT_ONCE).chunks;
    let best = scored.first().map_or(0.0, |best| best.score);
    let least = LEAST_COSINE.max(best * LEAST_SHARE_OF_BEST);
    scored.retain(|chunk| chunk.score >= least);
    let numbers: Vec<u64> = best_of_entities(&scored).iter().map(|one| one.0).collect();
    let mut found = Vec::new();
    for place in embeddings::places(tx, &numbers).await? {
        // The first one is its best.
        let of_it = |one: &&Scored| one.chunk.entity.0 == place.number;
        found.extend(scored.iter().find(of_it).map(|best| (best, place)));
    }
    // Of equals by what they are, as in the other list: numbers are each engine's own.
    found.sort_unstable_by(|(a, one), (b, other)| {
        let by_score = b.score.total_cmp(&a.score);
        by_score.then_with(|| one.id.cmp(&other.id))
    });
    found.truncate(NEAREST_MAX);
    let found = found.into_iter();
    Ok(found
        .map(|(best, place)| (place, best.chunk.number))
        .collect())
}
