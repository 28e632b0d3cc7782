//! Entities by their text: the index says which have the words, the domain in which order they come.

use void_domain::ids::SpaceId;
use void_domain::knowledge::ranking::{Ranked, RankedText, rank as rank_text, rarity};
use void_domain::knowledge::{SearchQuery, WordSequence};
use void_domain::limits::SEARCH_TEXTS_READ_MAX;
use void_store::search::{self, Candidate};
use void_store::{StoreError, Tx};

use super::{FoundBy, RankedHit};
use crate::knowledge::writing::live;

pub(super) async fn rank(
    tx: &mut Tx,
    query: &SearchQuery,
    space: Option<SpaceId>,
) -> Result<Vec<RankedHit>, StoreError> {
    let candidates = search::candidates(tx, query, space).await?;
    let rarities = rarities(tx, query).await?;
    let mut ranked = Vec::with_capacity(candidates.len());
    let mut texts_read = 0;
    for candidate in candidates {
        let text = RankedText {
            title: &candidate.title,
            text: &candidate.words,
        };
        let score = match rank_text(query, &rarities, text) {
            Ranked::Score(score) => Some(score),
            Ranked::No => None,
            Ranked::Unknown if texts_read < SEARCH_TEXTS_READ_MAX => {
                texts_read += 1;
                rank_whole(tx, query, &rarities, &candidate).await?
            }
            // It has the words, and is too long to be sure of their order.
            Ranked::Unknown => None,
        };
        ranked.extend(score.map(|score| RankedHit {
            score,
            kind: candidate.id.kind().into(),
            id: candidate.id.to_string(),
            found: FoundBy::Entity(candidate.id, None),
        }));
    }
    Ok(ranked)
}

/// By the whole text of an entity, which is longer than what the index keeps of its order.
async fn rank_whole(
    tx: &mut Tx,
    query: &SearchQuery,
    rarities: &[f64],
    candidate: &Candidate,
) -> Result<Option<u64>, StoreError> {
    let Some(entity) = live(tx, candidate.id).await? else {
        return Ok(None);
    };
    let text = RankedText {
        title: &candidate.title,
        text: &WordSequence::of_all(entity.body.as_str()),
    };
    Ok(match rank_text(query, rarities, text) {
        Ranked::Score(score) => Some(score),
        Ranked::No | Ranked::Unknown => None,
    })
}

/// One term alone is as rare in all results, so nothing is counted for it.
async fn rarities(tx: &mut Tx, query: &SearchQuery) -> Result<Vec<f64>, StoreError> {
    if query.wanted.len() < 2 {
        return Ok(vec![1.0; query.wanted.len()]);
    }
    let mut rarities = Vec::with_capacity(query.wanted.len());
    for term in &query.wanted {
        rarities.push(rarity(search::count_documents(tx, term).await?));
    }
    Ok(rarities)
}
