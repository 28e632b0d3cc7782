//! What the tables of spaces, projects, pages, tasks and refs have in common: the statements of one noun's table, made from
//! the columns that only it has, and how the columns that all have are read. It knows none of the nouns.

use void_domain::knowledge::{
    Deletion, Details, EntityHead, EntityId, EntityKind, Revision, Title, Vouched,
};
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::values::Row;

/// Each a constant: the engines find the statement that they prepared.
pub(crate) struct EntityTable {
    pub name: &'static str,
    pub insert: &'static str,
    pub update: &'static str,
    /// The row with its text, and without.
    pub find: &'static str,
    pub find_head: &'static str,
    /// What a list selects.
    pub heads: &'static str,
    pub delete: &'static str,
    pub undelete: &'static str,
    pub vouch: &'static str,
}

/// `$own`: the noun's own columns, each with a comma before it; `$places` their values in an insert, from `$14` on; `$sets`
/// what an update writes to them, from `$13` on.
macro_rules! entity_table {
    ($table:literal, $own:literal, $places:literal, $sets:literal) => {
        $crate::entity_tables::entity_table!(@
            $table,
            $own,
            $places,
            $sets,
            "id, space_id, title, revision, updated_at, updated_by, origin, reason, vouched_at, vouched_by, created_at, \
             deleted_at, deleted_by, recency"
        )
    };
    (@ $table:literal, $own:literal, $places:literal, $sets:literal, $columns:literal) => {
        $crate::entity_tables::EntityTable {
            name: $table,
            insert: concat!(
                "INSERT INTO ",
                $table,
                " (id, space_id, title, revision, updated_at, updated_by, origin, reason, vouched_at, vouched_by, \
                 created_at, recency, body",
                $own,
                ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13",
                $places,
                ")"
            ),
            update: concat!(
                "UPDATE ",
                $table,
                " SET title = $3, revision = $4, updated_at = $5, updated_by = $6, origin = $7, reason = $8, \
                 vouched_at = $9, vouched_by = $10, recency = $11, body = $12",
                $sets,
                " WHERE id = $1 AND revision = $2 AND deleted_at IS NULL"
            ),
            find: concat!(
                "SELECT ",
                $columns,
                $own,
                ", body FROM ",
                $table,
                " WHERE id = $1"
            ),
            find_head: concat!(
                "SELECT ",
                $columns,
                $own,
                " FROM ",
                $table,
                " WHERE id = $1"
            ),
            heads: concat!(
                "SELECT ",
                $columns,
                $own,
                " FROM ",
                $table
            ),
            delete: concat!(
                "UPDATE ",
                $table,
                " SET deleted_at = $3, deleted_by = $4 WHERE id = $1 AND revision = $2 AND deleted_at IS NULL"
            ),
            undelete: concat!(
                "UPDATE ",
                $table,
                " SET deleted_at = NULL, deleted_by = NULL WHERE id = $1 AND deleted_at IS NOT NULL"
            ),
            vouch: concat!(
                "UPDATE ",
                $table,
                " SET vouched_at = $3, vouched_by = $4 \
                 WHERE id = $1 AND revision = $2 AND deleted_at IS NULL AND vouched_at IS NULL"
            ),
        }
    };
}
pub(crate) use entity_table;

/// A row that cannot exist is named in the log and left out: one damaged row must not hide the others. Asked for by its id, it
/// is an error.
pub(crate) fn readable(
    head: Result<EntityHead, StoreError>,
) -> Result<Option<EntityHead>, StoreError> {
    match head {
        Ok(head) => Ok(Some(head)),
        Err(error @ StoreError::Corrupt { .. }) => {
            tracing::error!(%error, "an entity is left out");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The columns that all have, beside what only this noun has.
pub(crate) fn head_of(
    kind: EntityKind,
    row: &Row,
    details: Details,
) -> Result<EntityHead, StoreError> {
    Ok(EntityHead {
        id: row.parsed("id", |id| EntityId::parse(kind, id).ok())?,
        space_id: row.parse("space_id")?,
        title: row.parsed("title", |title| Title::parse(title).ok())?,
        details,
        revision: Revision {
            number: row.count("revision")?,
            at: row.time("updated_at")?,
            by: row.string("updated_by")?,
            origin: row.json("origin")?,
            vouched: vouched(row)?,
            reason: row.opt_string("reason")?,
        },
        created_at: row.time("created_at")?,
        deleted: deletion(row)?,
    })
}

pub(crate) fn vouched(row: &Row) -> Result<Option<Vouched>, StoreError> {
    both(row, "vouched_at", "vouched_by", |at, by| Vouched { by, at })
}

pub(crate) fn deletion(row: &Row) -> Result<Option<Deletion>, StoreError> {
    both(row, "deleted_at", "deleted_by", |at, by| Deletion {
        at,
        by,
    })
}

/// A moment and a name that are there together or not at all.
fn both<T>(
    row: &Row,
    at: &str,
    by: &str,
    make: impl Fn(Timestamp, String) -> T,
) -> Result<Option<T>, StoreError> {
    match (row.opt_time(at)?, row.opt_string(by)?) {
        (None, None) => Ok(None),
        (Some(at), Some(by)) => Ok(Some(make(at, by))),
        (Some(_), None) | (None, Some(_)) => Err(row.corrupt(format!("{at} without {by}"))),
    }
}

/// Our own types, which always have a JSON form.
pub(crate) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
