//! The codes of all vectors in memory: which chunks may be near to a query, without asking the database. What is gone from the
//! database is still in here until somebody looks; its vector is not, so it is not found.

use std::collections::HashMap;

use void_domain::ids::SpaceId;
use void_domain::knowledge::EntityKind;
use void_embeddings::index::{
    CODE_BYTES, ChunkKey, Code, Coder, DimensionsDiffer, EntityNumber, Index, SearchScope,
    SpaceNumber,
};
use void_embeddings::vectors::Embedding;
use void_store::embeddings::{ASKED_AT_ONCE, ChunkId, DocumentPlace};

use super::number_sets::NumberSet;

const KINDS: u64 = EntityKind::ALL.len() as u64;

pub(crate) struct HeldVectors {
    index: Index,
    /// What is of one kind in one space is looked through apart, so both are known before anything is compared.
    spaces: HashMap<SpaceId, u64>,
    /// The documents that are in it.
    pub(crate) documents: NumberSet,
    pub(crate) coding: u64,
    pub(crate) centred_on: u64,
}

/// What a search by meaning is confined to.
pub(crate) struct NearScope {
    pub spaces: Vec<SpaceId>,
    pub kinds: Vec<EntityKind>,
    /// Only these documents, if a filter names some.
    pub only: Option<std::collections::HashSet<u64>>,
}

impl HeldVectors {
    pub(crate) fn new(coder: Coder, (coding, centred_on): (u64, u64)) -> Self {
        Self {
            index: Index::new(coder),
            spaces: HashMap::new(),
            documents: NumberSet::default(),
            coding,
            centred_on,
        }
    }

    pub(crate) fn coder(&self) -> &Coder {
        self.index.coder()
    }

    pub(crate) fn chunk_count(&self) -> usize {
        self.index.len()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.index.memory_bytes()
    }

    /// The document has these codes from now on.
    pub(crate) fn put(&mut self, place: &DocumentPlace, codes: &[Code]) {
        let next = self.spaces.len() as u64;
        let space = *self.spaces.entry(place.space_id).or_insert(next);
        let space = partition(space, place.id.kind());
        match self.index.replace(space, EntityNumber(place.number), codes) {
            Ok(()) => self.documents.insert(place.number),
            Err(error) => tracing::error!(%error, "vectors of a text are not compared"),
        }
    }

    pub(crate) fn remove(&mut self, number: u64) {
        self.index.remove(EntityNumber(number));
        self.documents.remove(number);
    }

    /// The chunks whose vectors are worth reading, the most promising first.
    pub(crate) fn near(
        &self,
        scope: &NearScope,
        query: &Embedding,
    ) -> Result<Vec<ChunkId>, DimensionsDiffer> {
        let spaces = scope.spaces.iter().filter_map(|id| self.spaces.get(id));
        let partitions: Vec<SpaceNumber> = spaces
            .flat_map(|space| scope.kinds.iter().map(|kind| partition(*space, *kind)))
            .collect();
        let accepts = |entity: EntityNumber| {
            let only = scope.only.as_ref();
            only.is_none_or(|only| only.contains(&entity.0))
        };
        let scope = SearchScope {
            spaces: &partitions,
            accepts: &accepts,
        };
        let found = self.index.candidates(&scope, query, ASKED_AT_ONCE)?;
        Ok(found.into_iter().map(chunk_id).collect())
    }
}

fn partition(space: u64, kind: EntityKind) -> SpaceNumber {
    let kind = (0_u64..).zip(EntityKind::ALL).find(|(_, one)| *one == kind);
    SpaceNumber(space * KINDS + kind.map_or(0, |(at, _)| at))
}

pub(crate) const fn chunk_key(id: ChunkId) -> ChunkKey {
    ChunkKey {
        entity: EntityNumber(id.number),
        number: id.chunk,
    }
}

const fn chunk_id(key: ChunkKey) -> ChunkId {
    ChunkId {
        number: key.entity.0,
        chunk: key.number,
    }
}

/// Codes as they are stored; none if they are none.
pub(crate) fn codes_of(bytes: &[u8]) -> Option<Vec<Code>> {
    let (codes, rest) = bytes.as_chunks::<CODE_BYTES>();
    let codes: Option<Vec<Code>> = codes.iter().map(|code| Code::from_bytes(code)).collect();
    codes.filter(|codes| rest.is_empty() && !codes.is_empty())
}

pub(crate) fn code_bytes(codes: &[Code]) -> Vec<u8> {
    codes.iter().flat_map(Code::to_bytes).collect()
}
