//! The tables `embedding_models`, `embedding_documents` and `embedding_chunks`: vectors of what entities are found by.
//!
//! A vector belongs to a document of the search index, whose number goes when its text does, and every row here goes with it: no
//! text that is gone is compared. A document has its row here when all its vectors are there. Nothing here knows what a vector or
//! a code is.

use std::sync::LazyLock;

use void_domain::ids::SpaceId;
use void_domain::knowledge::{EntityId, EntityKind};

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Row, Value, int, values};

/// More than an entity has chunks; the number of a document times this, and that of a chunk, is the key of a vector.
pub const CHUNKS_PER_DOCUMENT: u64 = 2_048;
/// How many vectors or documents one statement looks for.
pub const ASKED_AT_ONCE: usize = 384;
/// Codes that are read at a time.
const CODED_PAGE: u32 = 512;

/// The model that all vectors are of, and what their codes were made with.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredModel {
    pub identity: String,
    /// Codes of another number are of another centre.
    pub coding: u64,
    pub centre: Vec<u8>,
    /// How many chunks there were when the centre was made.
    pub centred_on: u64,
}

pub async fn model(tx: &mut Tx) -> Result<Option<StoredModel>, StoreError> {
    let sql = "SELECT identity, coding, centre, centred_on FROM embedding_models WHERE slot = 1";
    tx.find("embedding_models", sql, &[], |row| {
        Ok(StoredModel {
            identity: row.string("identity")?,
            coding: row.count("coding")?,
            centre: row.blob("centre")?.to_vec(),
            centred_on: row.count("centred_on")?,
        })
    })
    .await
}

pub async fn set_model(tx: &mut Tx, model: &StoredModel) -> Result<(), StoreError> {
    let sql = "INSERT INTO embedding_models (slot, identity, coding, centre, centred_on) VALUES (1, $1, $2, $3, $4) \
        ON CONFLICT (slot) DO UPDATE SET identity = excluded.identity, coding = excluded.coding, \
        centre = excluded.centre, centred_on = excluded.centred_on";
    let row = values![
        &model.identity,
        int(model.coding),
        model.centre.as_slice(),
        int(model.centred_on),
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// From now on the vectors are of nobody knows which model: they are to be forgotten.
pub async fn forget_model(tx: &mut Tx) -> Result<(), StoreError> {
    let sql = "DELETE FROM embedding_models WHERE slot = 1";
    tx.execute(sql, &[]).await.map(|_| ())
}

/// Vectors of any documents, up to so many. How many there were.
pub async fn forget_some(tx: &mut Tx, limit: u32) -> Result<u64, StoreError> {
    let limit = values![i64::from(limit)];
    let sql = "DELETE FROM embedding_documents WHERE number IN \
        (SELECT number FROM embedding_documents ORDER BY number LIMIT $1)";
    let documents = tx.execute(sql, limit).await?;
    let sql = "DELETE FROM embedding_chunks WHERE id IN (SELECT id FROM embedding_chunks ORDER BY id LIMIT $1)";
    let chunks = tx.execute(sql, limit).await?;
    Ok(documents.saturating_add(chunks))
}

/// The vectors of one document.
pub async fn forget(tx: &mut Tx, number: u64) -> Result<(), StoreError> {
    let number = values![int(number)];
    let sql = "DELETE FROM embedding_documents WHERE number = $1";
    tx.execute(sql, number).await?;
    let sql = "DELETE FROM embedding_chunks WHERE number = $1";
    tx.execute(sql, number).await.map(|_| ())
}

/// The numbers of everything that is found by words, in any order.
pub async fn each_document(tx: &mut Tx, see: impl FnMut(u64) + Send) -> Result<(), StoreError> {
    each_number(tx, "SELECT number FROM search_documents", see).await
}

/// The numbers of those that have vectors, in any order.
pub async fn each_embedded(tx: &mut Tx, see: impl FnMut(u64) + Send) -> Result<(), StoreError> {
    each_number(tx, "SELECT number FROM embedding_documents", see).await
}

async fn each_number(
    tx: &mut Tx,
    sql: &'static str,
    mut see: impl FnMut(u64) + Send,
) -> Result<(), StoreError> {
    tx.each("search_documents", sql, &[], |row| {
        // A number that is none of ours is nobody's.
        if let Some(Value::Int(number)) = row.first()
            && let Ok(number) = u64::try_from(*number)
        {
            see(number);
        }
        Ok(())
    })
    .await
}

/// What a document is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentPlace {
    pub number: u64,
    pub id: EntityId,
    pub space_id: SpaceId,
}

fn place(row: &Row) -> Result<DocumentPlace, StoreError> {
    let kind = row.parsed("kind", EntityKind::parse)?;
    Ok(DocumentPlace {
        number: row.count("number")?,
        id: row.parsed("entity_id", |id| EntityId::parse(kind, id).ok())?,
        space_id: row.parse("space_id")?,
    })
}

/// As many placeholders as are asked for at once: one text for any number of values.
fn asked(sql: &str) -> String {
    let places: Vec<String> = (1..=ASKED_AT_ONCE).map(|n| format!("${n}")).collect();
    sql.replace("ASKED", &places.join(", "))
}

static PLACES: LazyLock<String> = LazyLock::new(|| {
    asked(
        "SELECT number, kind, entity_id, space_id FROM search_documents WHERE number IN (ASKED) \
         AND space_id NOT IN (SELECT id FROM spaces WHERE deleted_at IS NOT NULL)",
    )
});
static VECTORS: LazyLock<String> =
    LazyLock::new(|| asked("SELECT id, vector FROM embedding_chunks WHERE id IN (ASKED)"));

/// The first of these, up to [`ASKED_AT_ONCE`]; the last one again where they are less.
fn padded(numbers: &[u64]) -> Vec<Value<'static>> {
    let last = numbers.last().copied().unwrap_or_default();
    let all = numbers.iter().copied().chain(std::iter::repeat(last));
    let all = all.take(ASKED_AT_ONCE);
    all.map(|number| Value::from(int(number))).collect()
}

/// Of these documents those that are there, and not in a space that was thrown away; in any order.
pub async fn places(tx: &mut Tx, numbers: &[u64]) -> Result<Vec<DocumentPlace>, StoreError> {
    let mut found = Vec::with_capacity(numbers.len());
    for some in numbers.chunks(ASKED_AT_ONCE) {
        let sql: &'static str = &PLACES;
        found.extend(
            tx.read("search_documents", sql, &padded(some), place)
                .await?,
        );
    }
    Ok(found)
}

/// A chunk of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkId {
    pub number: u64,
    pub chunk: u16,
}

impl ChunkId {
    fn key(self) -> u64 {
        self.number
            .saturating_mul(CHUNKS_PER_DOCUMENT)
            .saturating_add(u64::from(self.chunk))
    }

    fn of_key(key: u64) -> Option<Self> {
        Some(Self {
            number: key / CHUNKS_PER_DOCUMENT,
            chunk: u16::try_from(key % CHUNKS_PER_DOCUMENT).ok()?,
        })
    }
}

/// Of these chunks the vectors that are there, in any order.
pub async fn vectors(
    tx: &mut Tx,
    chunks: &[ChunkId],
) -> Result<Vec<(ChunkId, Vec<u8>)>, StoreError> {
    let keys: Vec<u64> = chunks.iter().map(|chunk| chunk.key()).collect();
    let mut found = Vec::with_capacity(chunks.len());
    for some in keys.chunks(ASKED_AT_ONCE) {
        let sql: &'static str = &VECTORS;
        let rows = tx.all("embedding_chunks", sql, &padded(some)).await?;
        for row in &rows {
            let id = ChunkId::of_key(row.count("id")?);
            let id = id.ok_or_else(|| row.corrupt("it is no chunk of a document"))?;
            found.push((id, row.blob("vector")?.to_vec()));
        }
    }
    Ok(found)
}

/// All vectors of a document, in the order of its chunks.
pub async fn vectors_of(tx: &mut Tx, number: u64) -> Result<Vec<Vec<u8>>, StoreError> {
    let sql = "SELECT id, vector FROM embedding_chunks WHERE number = $1 ORDER BY id LIMIT $2";
    let values = values![int(number), int(CHUNKS_PER_DOCUMENT)];
    tx.read("embedding_chunks", sql, values, |row| {
        row.blob("vector").map(<[u8]>::to_vec)
    })
    .await
}

/// The newest vectors.
pub async fn newest_vectors(tx: &mut Tx, limit: u32) -> Result<Vec<Vec<u8>>, StoreError> {
    let sql = "SELECT id, vector FROM embedding_chunks ORDER BY id DESC LIMIT $1";
    tx.read("embedding_chunks", sql, values![i64::from(limit)], |row| {
        row.blob("vector").map(<[u8]>::to_vec)
    })
    .await
}

/// The codes of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodedDocument {
    pub place: DocumentPlace,
    pub coding: u64,
    pub codes: Vec<u8>,
}

/// Documents with codes after this number, in their order; none: there are no more.
pub async fn coded(tx: &mut Tx, after: u64) -> Result<Vec<CodedDocument>, StoreError> {
    let sql = "SELECT e.number, e.coding, e.codes, d.kind, d.entity_id, d.space_id FROM embedding_documents e \
        JOIN search_documents d ON d.number = e.number WHERE e.number > $1 ORDER BY e.number LIMIT $2";
    let values = values![int(after), i64::from(CODED_PAGE)];
    tx.read("embedding_documents", sql, values, |row| {
        Ok(CodedDocument {
            place: place(row)?,
            coding: row.count("coding")?,
            codes: row.blob("codes")?.to_vec(),
        })
    })
    .await
}

/// Stores vectors of chunks, or others in their place. The document has to be there.
pub async fn put_vectors(tx: &mut Tx, chunks: &[(ChunkId, Vec<u8>)]) -> Result<(), StoreError> {
    let sql = "INSERT INTO embedding_chunks (id, number, vector) VALUES ($1, $2, $3) \
        ON CONFLICT (id) DO UPDATE SET vector = excluded.vector";
    for (id, vector) in chunks {
        let row = values![int(id.key()), int(id.number), vector.as_slice()];
        tx.execute(sql, row).await?;
    }
    Ok(())
}

/// From now on the document has all its vectors, or other codes.
pub async fn put_codes(
    tx: &mut Tx,
    number: u64,
    coding: u64,
    (chunk_count, codes): (u64, &[u8]),
) -> Result<(), StoreError> {
    let sql = "INSERT INTO embedding_documents (number, coding, chunk_count, codes) VALUES ($1, $2, $3, $4) \
        ON CONFLICT (number) DO UPDATE SET coding = excluded.coding, chunk_count = excluded.chunk_count, codes = excluded.codes";
    let row = values![int(number), int(coding), int(chunk_count), codes];
    tx.execute(sql, row).await.map(|_| ())
}
