//! What is near by its meaning, beside what has the words: where is looked, and one list of both. Filters hold for both, and a
//! phrase is asked for word by word, so meaning finds nothing that does not have it.

use std::collections::BTreeMap;

use void_domain::knowledge::{EntityKind, SearchKind, SearchQuery, SearchTerm};
use void_embeddings::fusion::fuse;
use void_store::{StoreError, Tx, search, spaces};

use super::{FoundBy, RankedHit, SearchWithin};
use crate::context::Ctx;
use crate::control::Control;
use crate::embeddings::{self, Near, NearScope};

/// The newest documents that a filter of tags or words leaves; older ones are not found by meaning.
const FILTERED_MAX: u32 = 20_000;

/// `Err`: why nothing is looked for by meaning, if that is worth a word.
pub(super) async fn near(
    control: &Control,
    ctx: &Ctx,
    query: &SearchQuery,
    within: SearchWithin,
) -> Result<Result<Near, Option<String>>, StoreError> {
    let words = words(query);
    let kinds = EntityKind::ALL.into_iter();
    let kinds: Vec<EntityKind> = kinds.filter(|kind| query.may_be((*kind).into())).collect();
    if words.is_empty() || kinds.is_empty() {
        return Ok(Err(None));
    }
    let mut scope = NearScope {
        spaces: within.space_id().into_iter().collect(),
        kinds,
        only: None,
    };
    if control.embeddings.is_some() {
        let filter = filter(query, &scope.kinds);
        let space = within.space_id();
        let reading = control.store.read(move |tx| {
            Box::pin(async move {
                let all = match space {
                    Some(space) => vec![space],
                    None => spaces::ids(tx).await?,
                };
                let only = match filter {
                    Some(filter) => Some(search::numbers(tx, &filter, space, FILTERED_MAX).await?),
                    None => None,
                };
                Ok::<_, StoreError>((all, only))
            })
        });
        let (spaces, only) = reading.await?;
        scope.spaces = spaces;
        scope.only = only.map(|only| only.into_iter().collect());
    }
    let near = embeddings::near(control, ctx, &words, scope).await;
    Ok(near.map_err(Some))
}

/// What was typed, without filters and without what is unwanted.
fn words(query: &SearchQuery) -> String {
    let words = query.wanted.iter().map(|term| match term {
        SearchTerm::Word(word) | SearchTerm::Prefix(word) => word.clone(),
        SearchTerm::Phrase(words) => words.join(" "),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// What holds however a text was found. Kinds and spaces are looked through apart, so they are no reason to ask.
fn filter(query: &SearchQuery, kinds: &[EntityKind]) -> Option<SearchQuery> {
    let is_phrase = |term: &SearchTerm| matches!(term, SearchTerm::Phrase(_));
    let has_filter = !query.tags.is_empty()
        || !query.unwanted_tags.is_empty()
        || !query.unwanted.iter().all(is_phrase);
    has_filter.then(|| SearchQuery {
        wanted: Vec::new(),
        kinds: kinds.iter().map(|kind| (*kind).into()).collect(),
        unwanted_kinds: Vec::new(),
        ..query.clone()
    })
}

/// Both lists as one: what is found by words, the best first, and what is near.
pub(super) async fn fused(
    tx: &mut Tx,
    query: &SearchQuery,
    near: &Near,
    ranked: Vec<RankedHit>,
) -> Result<Vec<RankedHit>, StoreError> {
    let mut found: BTreeMap<(SearchKind, String), FoundBy> = BTreeMap::new();
    let mut by_words = Vec::with_capacity(ranked.len());
    for hit in ranked {
        let key = (hit.kind, hit.id);
        by_words.push(key.clone());
        found.insert(key, hit.found);
    }
    let terms = query.wanted.iter().chain(&query.unwanted);
    let has_phrase = terms
        .into_iter()
        .any(|term| matches!(term, SearchTerm::Phrase(_)));
    let mut by_meaning = Vec::new();
    for (place, chunk) in embeddings::nearest_documents(tx, near).await? {
        let key = (SearchKind::from(place.id.kind()), place.id.to_string());
        if has_phrase && !found.contains_key(&key) {
            continue;
        }
        let entity = FoundBy::Entity(place.id, Some(chunk));
        found.entry(key.clone()).or_insert(entity);
        by_meaning.push(key);
    }
    let all = by_words.len().saturating_add(by_meaning.len());
    let fused = fuse(&[&by_words, &by_meaning], all).into_iter();
    let hits = fused.filter_map(|fused| {
        let score = fused.points();
        let found = found.remove(&fused.id)?;
        let (kind, id) = fused.id;
        Some(RankedHit {
            score,
            kind,
            id,
            found,
        })
    });
    Ok(hits.collect())
}
