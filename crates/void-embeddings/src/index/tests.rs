use std::collections::BTreeMap;

use super::*;
use crate::corpora::{Corpus, CorpusShape, exact};

const HOME: SpaceNumber = SpaceNumber(1);
const WORK: SpaceNumber = SpaceNumber(2);

/// Pages of eight chunks, each with its vectors.
struct Pages {
    vectors: Vec<Embedding>,
    corpus: Corpus,
}

impl Pages {
    fn new(shape: CorpusShape) -> Self {
        let corpus = Corpus::new(shape, 5);
        let vectors = corpus.chunks().map(Result::unwrap).collect();
        Self { vectors, corpus }
    }

    fn texts(count: usize) -> Self {
        Self::new(CorpusShape::texts(count))
    }

    fn coder(&self) -> Coder {
        Coder::centred(self.vectors.iter().take(1_000)).unwrap()
    }

    fn page(&self, index: &Index, number: usize) -> Vec<Code> {
        let vectors = self.vectors.chunks(8).nth(number).unwrap();
        let codes = vectors
            .iter()
            .map(|vector| index.coder().encode(vector).unwrap());
        codes.collect()
    }

    fn put(&self, index: &mut Index, space: SpaceNumber, number: usize) {
        let codes = self.page(index, number);
        index
            .replace(space, EntityNumber(number as u64), &codes)
            .unwrap();
    }

    fn index(&self) -> Index {
        let mut index = Index::new(self.coder());
        (0..self.vectors.len().div_ceil(8)).for_each(|page| self.put(&mut index, HOME, page));
        index
    }

    fn read(&self, chunks: &[ChunkKey]) -> Result<Vec<(ChunkKey, Embedding)>, ()> {
        Ok(chunks
            .iter()
            .map(|chunk| (*chunk, self.vectors[position(*chunk)].clone()))
            .collect())
    }

    fn search(&self, index: &Index, query: &Embedding) -> Vec<usize> {
        let found = index.search(&SearchScope::spaces(&[HOME]), query, 10, |chunks| {
            self.read(chunks)
        });
        let chunks = found.unwrap().chunks.into_iter().map(|scored| scored.chunk);
        chunks.map(position).collect()
    }

    fn recall(&self, queries: usize) -> f64 {
        let index = self.index();
        let mut found = 0;
        for number in 0..queries {
            let query = self.corpus.query(number).unwrap();
            let expected = exact(&self.vectors, &query, 10);
            let results = self.search(&index, &query);
            found += results
                .iter()
                .filter(|position| expected.contains(position))
                .count();
        }
        found as f64 / (queries * 10) as f64
    }
}

fn position(chunk: ChunkKey) -> usize {
    usize::try_from(chunk.entity.0).unwrap() * 8 + usize::from(chunk.number)
}

fn keys(index: &Index, spaces: &[SpaceNumber], query: &Embedding, count: usize) -> Vec<ChunkKey> {
    index
        .candidates(&SearchScope::spaces(spaces), query, count)
        .unwrap()
}

#[test]
fn ten_of_the_exact_best_ten_are_nearly_always_found() {
    let recall = Pages::texts(30_000).recall(60);
    assert!(recall >= 0.97, "{recall}");
}

/// Nothing but topics of a thousand chunks that are all equally far from each other: nothing is harder.
#[test]
fn chunks_without_pages_are_found_too() {
    let shape = CorpusShape {
        page: 0.0,
        own: 0.75,
        ..CorpusShape::texts(20_000)
    };
    let recall = Pages::new(shape).recall(40);
    assert!(recall >= 0.95, "{recall}");
}

#[test]
fn wider_vectors_are_found_too() {
    for dimensions in [256, 768, 1_024] {
        let shape = CorpusShape {
            dimensions,
            ..CorpusShape::texts(8_000)
        };
        let recall = Pages::new(shape).recall(30);
        // Of wider vectors a code keeps a part.
        let expected = if dimensions <= 384 { 0.97 } else { 0.93 };
        assert!(recall >= expected, "{dimensions} {recall}");
    }
}

#[test]
fn a_chunk_costs_at_most_64_bytes() {
    let pages = Pages::texts(20_000);
    let index = pages.index();
    assert_eq!(index.len(), 20_000);
    let per_chunk = index.memory_bytes() as f64 / 20_000.0;
    assert!(per_chunk <= 64.0, "{per_chunk}");
    // Each entity one chunk, as tasks are: no table makes these dearer.
    let mut index = Index::new(pages.coder());
    for (number, vector) in pages.vectors.iter().enumerate() {
        let code = index.coder().encode(vector).unwrap();
        index
            .replace(HOME, EntityNumber(number as u64), &[code])
            .unwrap();
    }
    let per_chunk = index.memory_bytes() as f64 / 20_000.0;
    assert!(per_chunk <= 64.0, "{per_chunk}");
}

#[test]
fn nothing_costs_nothing() {
    let pages = Pages::texts(800);
    let mut index = Index::new(pages.coder());
    assert!(index.is_empty());
    assert_eq!((index.len(), index.memory_bytes()), (0, 0));
    (0..100).for_each(|page| pages.put(&mut index, HOME, page));
    assert!(index.memory_bytes() > 0);
    (0..100).for_each(|page| assert_eq!(index.remove(EntityNumber(page)), 8));
    assert!(index.is_empty());
    assert_eq!(index.memory_bytes(), 0);
}

#[test]
fn a_search_sees_the_spaces_that_it_names_and_no_other() {
    let pages = Pages::texts(160);
    let mut index = Index::new(pages.coder());
    (0..10).for_each(|page| pages.put(&mut index, HOME, page));
    (10..20).for_each(|page| pages.put(&mut index, WORK, page));
    let query = &pages.vectors[0];
    let entities = |spaces: &[SpaceNumber]| {
        let mut entities: Vec<u64> = keys(&index, spaces, query, 1_000)
            .iter()
            .map(|key| key.entity.0)
            .collect();
        entities.sort_unstable();
        entities.dedup();
        entities
    };
    assert_eq!(entities(&[]), [0; 0]);
    assert_eq!(entities(&[SpaceNumber(3)]), [0; 0]);
    assert_eq!(entities(&[HOME]), (0..10).collect::<Vec<_>>());
    assert_eq!(entities(&[WORK]), (10..20).collect::<Vec<_>>());
    assert_eq!(entities(&[WORK, HOME, WORK]), (0..20).collect::<Vec<_>>());
    assert_eq!(
        keys(&index, &[HOME, HOME], query, 1_000).len(),
        80,
        "named twice, found once"
    );
}

#[test]
fn an_entity_that_moves_is_in_one_space() {
    let pages = Pages::texts(80);
    let mut index = pages.index();
    pages.put(&mut index, WORK, 3);
    assert_eq!(index.len(), 80);
    let query = &pages.vectors[24];
    let here = |space| {
        keys(&index, &[space], query, 100)
            .iter()
            .any(|key| key.entity == EntityNumber(3))
    };
    assert_eq!((here(HOME), here(WORK)), (false, true));
    assert_eq!(index.remove_space(WORK), 8);
    assert_eq!(index.remove_space(WORK), 0);
    assert_eq!(index.len(), 72);
}

#[test]
fn only_what_the_filter_accepts_is_found() {
    let pages = Pages::texts(8_000);
    let index = pages.index();
    let query = pages.corpus.query(0).unwrap();
    let accepts = |entity: EntityNumber| entity.0 % 500 == 7;
    let scope = SearchScope {
        spaces: &[HOME],
        accepts: &accepts,
    };
    let found = index.candidates(&scope, &query, 1_000).unwrap();
    assert_eq!(found.len(), 16, "both pages, however far");
    assert!(found.iter().all(|chunk| accepts(chunk.entity)));
}

/// What is in it decides, and not the way there: inserted in turns, replaced, removed, inserted again.
#[test]
fn the_same_chunks_give_the_same_order() {
    let pages = Pages::texts(6_000);
    let straight = pages.index();
    let mut crooked = Index::new(pages.coder());
    for page in (0..750).rev() {
        pages.put(&mut crooked, if page % 3 == 0 { WORK } else { HOME }, page);
    }
    (0..750)
        .step_by(7)
        .for_each(|page| assert_eq!(crooked.remove(EntityNumber(page)), 8));
    (0..750)
        .step_by(3)
        .for_each(|page| pages.put(&mut crooked, HOME, page));
    (0..750)
        .step_by(7)
        .for_each(|page| pages.put(&mut crooked, HOME, page));
    assert_eq!(crooked.len(), straight.len());
    for number in 0..20 {
        let query = pages.corpus.query(number).unwrap();
        assert_eq!(
            keys(&crooked, &[HOME], &query, 300),
            keys(&straight, &[HOME], &query, 300)
        );
    }
}

/// Ties everywhere: all chunks are the same.
#[test]
fn equal_chunks_are_ordered_by_their_keys() {
    let vector = Embedding::normalised(vec![1.0; 384]).unwrap();
    let mut index = Index::new(Coder::new(384).unwrap());
    let code = index.coder().encode(&vector).unwrap();
    for entity in (0..5_000).rev() {
        index
            .replace(HOME, EntityNumber(entity), &[code, code])
            .unwrap();
    }
    let expected: Vec<ChunkKey> = (0..25)
        .flat_map(|entity| {
            [0, 1].map(|number| ChunkKey {
                entity: EntityNumber(entity),
                number,
            })
        })
        .collect();
    assert_eq!(keys(&index, &[HOME], &vector, 50), expected);
}

#[test]
fn a_replaced_entity_is_found_by_its_new_chunks_only() {
    let pages = Pages::texts(800);
    let mut index = pages.index();
    let codes = pages.page(&index, 50);
    index.replace(HOME, EntityNumber(7), &codes[..3]).unwrap();
    assert_eq!(index.len(), 800 - 5);
    let of_seven = |query: &Embedding| -> Vec<u16> {
        let best = keys(&index, &[HOME], query, 16).into_iter();
        best.filter(|key| key.entity == EntityNumber(7))
            .map(|key| key.number)
            .collect()
    };
    let mut new = of_seven(&pages.vectors[400]);
    new.sort_unstable();
    assert_eq!(new, [0, 1, 2]);
    index.replace(HOME, EntityNumber(7), &[]).unwrap();
    assert_eq!(index.remove(EntityNumber(7)), 0, "removed twice");
    assert_eq!(index.len(), 792);
}

#[test]
fn an_entity_has_a_largest_number_of_chunks() {
    let pages = Pages::texts(16);
    let mut index = pages.index();
    let code = pages.page(&index, 0)[0];
    let most = vec![code; CHUNKS_PER_ENTITY_MAX];
    index.replace(HOME, EntityNumber(0), &most).unwrap();
    assert_eq!(index.len(), CHUNKS_PER_ENTITY_MAX + 8);
    let more = vec![code; CHUNKS_PER_ENTITY_MAX + 1];
    let refused = index.replace(HOME, EntityNumber(1), &more);
    assert_eq!(refused, Err(IndexFull::Entity(CHUNKS_PER_ENTITY_MAX + 1)));
    assert_eq!(
        index.len(),
        CHUNKS_PER_ENTITY_MAX + 8,
        "what was there is still there"
    );
}

#[test]
fn candidates_have_a_largest_number() {
    let pages = Pages::texts(4_000);
    let index = pages.index();
    let query = pages.corpus.query(1).unwrap();
    assert_eq!(keys(&index, &[HOME], &query, 0), []);
    assert_eq!(keys(&index, &[HOME], &query, 1).len(), 1);
    assert_eq!(
        keys(&index, &[HOME], &query, CANDIDATES_MAX).len(),
        CANDIDATES_MAX
    );
    assert_eq!(
        keys(&index, &[HOME], &query, usize::MAX).len(),
        CANDIDATES_MAX
    );
}

#[test]
fn stale_foreign_and_repeated_vectors_do_not_count() {
    let pages = Pages::texts(80);
    let index = pages.index();
    let query = &pages.vectors[0];
    let found = index.search(&SearchScope::spaces(&[HOME]), query, 5, |chunks| {
        assert_eq!(chunks.len(), 80);
        let mut read = pages.read(chunks)?;
        // Two are gone, one is of another model, one comes twice, one was not asked for.
        read.retain(|(chunk, _)| chunk.entity != EntityNumber(0) || chunk.number >= 2);
        let other_model = Embedding::normalised(vec![1.0; 8]).unwrap();
        read.iter_mut()
            .filter(|(chunk, _)| chunk.entity.0 == 0 && chunk.number == 2)
            .for_each(|one| one.1 = other_model.clone());
        let twice = read
            .iter()
            .find(|(chunk, _)| chunk.entity.0 == 0 && chunk.number == 3)
            .unwrap()
            .clone();
        read.push(twice);
        let stranger = ChunkKey {
            entity: EntityNumber(99),
            number: 0,
        };
        read.push((stranger, query.clone()));
        Ok::<_, ()>(read)
    });
    let found = found.unwrap();
    assert_eq!((found.chunks.len(), found.missing), (5, 3));
    let mut times: BTreeMap<ChunkKey, usize> = BTreeMap::new();
    found
        .chunks
        .iter()
        .for_each(|scored| *times.entry(scored.chunk).or_default() += 1);
    assert!(times.values().all(|times| *times == 1));
    assert!(
        found
            .chunks
            .iter()
            .all(|scored| scored.chunk.entity.0 != 99)
    );
    assert!(
        found
            .chunks
            .windows(2)
            .all(|pair| pair[0].score >= pair[1].score)
    );
    assert_eq!(best_of_entities(&found.chunks)[0], EntityNumber(0));
}

#[test]
fn a_query_of_another_model_and_a_failed_read_are_errors() {
    let pages = Pages::texts(80);
    let index = pages.index();
    let scope = SearchScope::spaces(&[HOME]);
    let other = Embedding::normalised(vec![1.0; 768]).unwrap();
    let error = DimensionsDiffer {
        expected: 384,
        found: 768,
    };
    assert_eq!(
        index.search(&scope, &other, 5, |_| Err::<Vec<_>, _>(())),
        Err(SearchError::Dimensions(error))
    );
    let failed = index.search(&scope, &pages.vectors[0], 5, |_| Err("the disk is gone"));
    assert_eq!(failed, Err(SearchError::Read("the disk is gone")));
}

#[test]
fn an_entity_is_named_once_by_its_best_chunk() {
    let scored = |entity, number, score| Scored {
        chunk: ChunkKey {
            entity: EntityNumber(entity),
            number,
        },
        score,
    };
    let chunks = [
        scored(4, 1, 0.9),
        scored(2, 0, 0.8),
        scored(4, 0, 0.7),
        scored(1, 0, 0.6),
    ];
    assert_eq!(best_of_entities(&chunks), [4, 2, 1].map(EntityNumber));
}
