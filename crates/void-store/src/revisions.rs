//! The table `revisions`: every text that an entity ever had. Rows are added and never changed, but for the owner's word that
//! a text is good.

use void_domain::knowledge::{
    Body, Details, Entity, EntityId, EntityKind, Fields, Revision, Title, Vouched,
};

use crate::entity_tables::{json, vouched};
use crate::errors::StoreError;
use crate::queries::Select;
use crate::tx::Tx;
use crate::values::{Page, Row, int, values};

macro_rules! columns {
    () => {
        "number, at, by_whom, origin, reason, vouched_at, vouched_by, title"
    };
}

pub(crate) async fn insert(tx: &mut Tx, entity: &Entity) -> Result<(), StoreError> {
    let sql = "INSERT INTO revisions (kind, entity_id, number, at, by_whom, origin, reason, vouched_at, vouched_by, title, \
        details, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    let (head, revision) = (&entity.head, &entity.head.revision);
    let row = values![
        head.id.kind().as_str(),
        head.id.to_string(),
        int(revision.number),
        revision.at,
        &revision.by,
        json(&revision.origin),
        revision.reason.as_ref(),
        revision.vouched.as_ref().map(|vouched| vouched.at),
        revision.vouched.as_ref().map(|vouched| &vouched.by),
        head.title.as_str(),
        json(&head.details),
        entity.body.as_str(),
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

pub(crate) async fn vouch(
    tx: &mut Tx,
    id: EntityId,
    number: u64,
    vouched: &Vouched,
) -> Result<(), StoreError> {
    let sql = "UPDATE revisions SET vouched_at = $4, vouched_by = $5 WHERE kind = $1 AND entity_id = $2 AND number = $3";
    let row = values![
        id.kind().as_str(),
        id.to_string(),
        int(number),
        vouched.at,
        &vouched.by
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// A revision with all that it says.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRevision {
    pub revision: Revision,
    pub fields: Fields,
}

pub async fn find(
    tx: &mut Tx,
    id: EntityId,
    number: u64,
) -> Result<Option<StoredRevision>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        ", details, body FROM revisions WHERE kind = $1 AND entity_id = $2 AND number = $3"
    );
    let values = values![id.kind().as_str(), id.to_string(), int(number)];
    tx.find("revisions", sql, values, |row| stored(id.kind(), row))
        .await
}

fn stored(kind: EntityKind, row: &Row) -> Result<StoredRevision, StoreError> {
    let details: Details = row.json("details")?;
    if details.kind() != kind {
        return Err(row.corrupt("it has the details of another kind"));
    }
    Ok(StoredRevision {
        revision: revision(row)?,
        fields: Fields {
            title: row.parsed("title", |title| Title::parse(title).ok())?,
            body: row.parse_body()?,
            details,
        },
    })
}

/// A revision in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct RevisionHead {
    pub revision: Revision,
    pub title: Title,
}

/// Newest first, before the number that the cursor is.
pub async fn list(
    tx: &mut Tx,
    id: EntityId,
    before: Option<u64>,
    limit: u32,
) -> Result<Page<RevisionHead>, StoreError> {
    Select::new(
        "revisions",
        concat!("SELECT ", columns!(), " FROM revisions"),
    )
    .only_with("kind = ?", id.kind().as_str())
    .only_with("entity_id = ?", id.to_string())
    .newest_first("number", before.map(int))
    .page(tx, limit, |row| {
        Ok(Some(RevisionHead {
            revision: revision(row)?,
            title: row.parsed("title", |title| Title::parse(title).ok())?,
        }))
    })
    .await
}

fn revision(row: &Row) -> Result<Revision, StoreError> {
    Ok(Revision {
        number: row.count("number")?,
        at: row.time("at")?,
        by: row.string("by_whom")?,
        origin: row.json("origin")?,
        vouched: vouched(row)?,
        reason: row.opt_string("reason")?,
    })
}

impl Row {
    /// The column `body` of an entity or a revision.
    pub(crate) fn parse_body(&self) -> Result<Body, StoreError> {
        Body::new(self.string("body")?)
            .map_err(|_| self.corrupt("column body does not hold what it should"))
    }
}
