//! The tables `search_documents` and `search_index`: what entities are found by, written in the transaction of the entity.
//!
//! The engines only intersect sets of lexemes; which words there are and what comes first is decided by the domain, so both
//! find the same and in the same order. A document has a new number with each revision: the newest are looked at first.

mod expressions;

use void_domain::ids::SpaceId;
use void_domain::knowledge::search_documents::WordSequence;
use void_domain::knowledge::{
    Entity, EntityHead, EntityId, EntityKind, SearchDocument, SearchQuery, SearchTerm,
};
use void_domain::limits::{
    SEARCH_CANDIDATES_BYTES_MAX, SEARCH_CANDIDATES_MAX, SEARCH_RARITY_MAX,
    SEARCH_TITLE_CANDIDATES_MAX,
};

use self::expressions::{Expression, Within};
use crate::errors::StoreError;
use crate::tx::{Engine, Tx};
use crate::values::{Row, Value, int, values};

/// Makes the newest revision of an entity what it is found by.
pub async fn replace(tx: &mut Tx, entity: &Entity) -> Result<(), StoreError> {
    let head = &entity.head;
    if head.revision.number > 1 {
        remove(tx, head).await?;
    }
    let document = SearchDocument::of(head.space_id, &entity.fields());
    let sql = "INSERT INTO search_documents (kind, entity_id, space_id, title, word_count, words) \
        VALUES ($1, $2, $3, $4, $5, $6) RETURNING number";
    let row = values![
        head.id.kind().as_str(),
        head.id.to_string(),
        head.space_id.to_string(),
        head.title.as_str(),
        int(document.sequence.word_count()),
        document.sequence.bytes(),
    ];
    let inserted = tx.one("search_documents", sql, row).await?;
    let inserted = inserted.ok_or_else(|| {
        StoreError::Internal("a row was inserted and did not say its number".to_owned())
    })?;
    let sql = match dialect(tx) {
        Dialect::Sqlite => "INSERT INTO search_index (rowid, lexemes) VALUES ($1, $2)",
        Dialect::Postgres => {
            "INSERT INTO search_index (number, lexemes) VALUES ($1, array_to_tsvector(string_to_array($2, ' ')))"
        }
    };
    let row = values![inserted.int("number")?, &document.lexemes];
    tx.execute(sql, row).await?;
    Ok(())
}

/// Makes an entity one that is not found. One that was not is left alone.
pub async fn remove(tx: &mut Tx, head: &EntityHead) -> Result<(), StoreError> {
    let sql = "DELETE FROM search_documents WHERE entity_id = $1 AND kind = $2 RETURNING number";
    let row = values![head.id.to_string(), head.id.kind().as_str()];
    let Some(removed) = tx.one("search_documents", sql, row).await? else {
        return Ok(());
    };
    let sql = match dialect(tx) {
        Dialect::Sqlite => "DELETE FROM search_index WHERE rowid = $1",
        Dialect::Postgres => "DELETE FROM search_index WHERE number = $1",
    };
    tx.execute(sql, values![removed.int("number")?]).await?;
    Ok(())
}

/// Something that has all the words, if not in the order that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub id: EntityId,
    pub space_id: SpaceId,
    pub title: String,
    pub words: WordSequence,
}

/// Each once. What is deleted, or in a space that is, is none of them.
pub async fn candidates(
    tx: &mut Tx,
    query: &SearchQuery,
    space: Option<SpaceId>,
) -> Result<Vec<Candidate>, StoreError> {
    let mut found = Vec::new();
    let anywhere = Expression::of(query, space, Within::Anywhere);
    let Some(expression) = anywhere.text(dialect(tx)) else {
        return Ok(found);
    };
    read(tx, &expression, SEARCH_CANDIDATES_MAX, &mut found).await?;
    // There may be older ones that are about it by their title.
    let is_cut = found.len() >= SEARCH_CANDIDATES_MAX as usize;
    if is_cut && !query.wanted.is_empty() {
        let in_title = Expression::of(query, space, Within::Title);
        if let Some(expression) = in_title.text(dialect(tx)) {
            read(tx, &expression, SEARCH_TITLE_CANDIDATES_MAX, &mut found).await?;
        }
        found.sort_unstable_by_key(|candidate| candidate.id);
        found.dedup_by_key(|candidate| candidate.id);
    }
    Ok(found)
}

async fn read(
    tx: &mut Tx,
    expression: &str,
    max: u32,
    found: &mut Vec<Candidate>,
) -> Result<(), StoreError> {
    let sql = match dialect(tx) {
        Dialect::Sqlite => {
            "SELECT d.entity_id, d.kind, d.space_id, d.title, d.word_count, d.words \
             FROM search_index JOIN search_documents d ON d.number = search_index.rowid \
             WHERE search_index MATCH $1 \
             AND d.space_id NOT IN (SELECT id FROM spaces WHERE deleted_at IS NOT NULL) \
             ORDER BY search_index.rowid DESC LIMIT $2"
        }
        // The words are looked up first, whatever the planner thinks of going down the numbers.
        Dialect::Postgres => {
            "WITH found AS MATERIALIZED (SELECT number FROM search_index WHERE lexemes @@ $1::text::tsquery) \
             SELECT d.entity_id, d.kind, d.space_id, d.title, d.word_count, d.words \
             FROM found JOIN search_documents d ON d.number = found.number \
             WHERE d.space_id NOT IN (SELECT id FROM spaces WHERE deleted_at IS NOT NULL) \
             ORDER BY d.number DESC LIMIT $2"
        }
    };
    let values = &[Value::from(expression), Value::from(i64::from(max))];
    let listing = tx
        .list_up_to("search_documents", sql, values, SEARCH_CANDIDATES_BYTES_MAX)
        .await?;
    for row in &listing.rows {
        match candidate(row) {
            Ok(candidate) => found.push(candidate),
            Err(error @ StoreError::Corrupt { .. }) => {
                tracing::error!(%error, "an entity is not found");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn candidate(row: &Row) -> Result<Candidate, StoreError> {
    let kind = row.parsed("kind", EntityKind::parse)?;
    let words = WordSequence::stored(row.blob("words")?.to_vec(), row.count("word_count")?);
    Ok(Candidate {
        id: row.parsed("entity_id", |id| EntityId::parse(kind, id).ok())?,
        space_id: row.parse("space_id")?,
        title: row.string("title")?,
        words: words.ok_or_else(|| row.corrupt("its words are not as many as it says"))?,
    })
}

/// The numbers of the newest documents that fit a query, up to so many: what a filter leaves of them.
pub async fn numbers(
    tx: &mut Tx,
    query: &SearchQuery,
    space: Option<SpaceId>,
    limit: u32,
) -> Result<Vec<u64>, StoreError> {
    let expression = Expression::of(query, space, Within::Anywhere);
    let Some(expression) = expression.text(dialect(tx)) else {
        return Ok(Vec::new());
    };
    let sql = match dialect(tx) {
        Dialect::Sqlite => {
            "SELECT rowid AS number FROM search_index WHERE search_index MATCH $1 ORDER BY rowid DESC LIMIT $2"
        }
        Dialect::Postgres => {
            "WITH found AS MATERIALIZED (SELECT number FROM search_index WHERE lexemes @@ $1::text::tsquery) \
             SELECT number FROM found ORDER BY number DESC LIMIT $2"
        }
    };
    let values = &[Value::from(expression), Value::from(i64::from(limit))];
    tx.read("search_index", sql, values, |row| row.count("number"))
        .await
}

/// In how many documents a term is, counted up to [`SEARCH_RARITY_MAX`].
pub async fn count_documents(tx: &mut Tx, term: &SearchTerm) -> Result<u64, StoreError> {
    let query = SearchQuery {
        wanted: vec![term.clone()],
        ..SearchQuery::default()
    };
    let expression = Expression::of(&query, None, Within::Anywhere);
    let Some(expression) = expression.text(dialect(tx)) else {
        return Ok(0);
    };
    let sql = match dialect(tx) {
        Dialect::Sqlite => {
            "SELECT COUNT(*) AS total FROM (SELECT rowid FROM search_index WHERE search_index MATCH $1 LIMIT $2)"
        }
        Dialect::Postgres => {
            "SELECT COUNT(*) AS total FROM \
             (SELECT number FROM search_index WHERE lexemes @@ $1::text::tsquery LIMIT $2) AS found"
        }
    };
    let values = &[
        Value::from(expression),
        Value::from(i64::from(SEARCH_RARITY_MAX)),
    ];
    tx.count("search_index", sql, values).await
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Sqlite,
    Postgres,
}

const fn dialect(tx: &mut Tx) -> Dialect {
    match tx.engine() {
        Engine::Sqlite(_) => Dialect::Sqlite,
        Engine::Postgres(_) | Engine::Flight(_) => Dialect::Postgres,
    }
}
