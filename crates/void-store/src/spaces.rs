//! The table `spaces`. A space's row also counts what is in it, so that its bound is looked at without counting.

use void_domain::ids::SpaceId;
use void_domain::knowledge::{EntityKind, SpaceDetails};
use void_domain::limits::{SPACE_ATTACHMENT_BYTES_MAX, SPACE_ATTACHMENTS_MAX, SPACES_MAX};

use crate::entity_tables::{EntityTable, entity_table};
use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Row, Value, int, values};

pub(crate) const TABLE: EntityTable = entity_table!("spaces", ", agent", ", $14", ", agent = $13");

pub(crate) fn own_values(space: &SpaceDetails) -> Vec<Value<'static>> {
    vec![space.agent.as_ref().map(ToString::to_string).into()]
}

pub(crate) fn details(row: &Row) -> Result<SpaceDetails, StoreError> {
    Ok(SpaceDetails {
        agent: row.opt_parse("agent")?,
    })
}

/// Whether there was ever one, also one that is deleted now.
pub async fn is_any_made(tx: &mut Tx) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM spaces LIMIT 1";
    Ok(tx.one("spaces", sql, &[]).await?.is_some())
}

/// Whether a space is there and not deleted.
pub async fn is_there(tx: &mut Tx, id: SpaceId) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM spaces WHERE id = $1 AND deleted_at IS NULL";
    let row = tx.one("spaces", sql, values![id.to_string()]).await?;
    Ok(row.is_some())
}

/// All that are there, in any order.
pub async fn ids(tx: &mut Tx) -> Result<Vec<SpaceId>, StoreError> {
    let sql = "SELECT id FROM spaces WHERE deleted_at IS NULL";
    tx.read("spaces", sql, &[], |row| row.parse("id")).await
}

/// How much is in a space, what is deleted left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpaceCounts {
    pub projects: u64,
    pub pages: u64,
    pub tasks: u64,
    pub refs: u64,
}

pub async fn counts(tx: &mut Tx, id: SpaceId) -> Result<Option<SpaceCounts>, StoreError> {
    let sql =
        "SELECT id, project_count, page_count, task_count, ref_count FROM spaces WHERE id = $1";
    tx.find("spaces", sql, values![id.to_string()], |row| {
        Ok(SpaceCounts {
            projects: row.count("project_count")?,
            pages: row.count("page_count")?,
            tasks: row.count("task_count")?,
            refs: row.count("ref_count")?,
        })
    })
    .await
}

/// Whether there may be one more space. There are few, so they are counted.
pub(crate) async fn has_room(tx: &mut Tx) -> Result<bool, StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM spaces WHERE deleted_at IS NULL";
    Ok(tx.count("spaces", sql, &[]).await? < u64::from(SPACES_MAX))
}

/// `false`: as many are in the space as may be, or the space is not. Spaces are in none.
pub(crate) async fn count_one_more(
    tx: &mut Tx,
    kind: EntityKind,
    space: SpaceId,
    max: u64,
) -> Result<bool, StoreError> {
    let sql = match kind {
        EntityKind::Space => return Ok(true),
        EntityKind::Project => {
            "UPDATE spaces SET project_count = project_count + 1 \
             WHERE id = $1 AND project_count < $2 AND deleted_at IS NULL"
        }
        EntityKind::Page => {
            "UPDATE spaces SET page_count = page_count + 1 \
             WHERE id = $1 AND page_count < $2 AND deleted_at IS NULL"
        }
        EntityKind::Task => {
            "UPDATE spaces SET task_count = task_count + 1 \
             WHERE id = $1 AND task_count < $2 AND deleted_at IS NULL"
        }
        EntityKind::Ref => {
            "UPDATE spaces SET ref_count = ref_count + 1 \
             WHERE id = $1 AND ref_count < $2 AND deleted_at IS NULL"
        }
    };
    let row = values![space.to_string(), int(max)];
    Ok(tx.execute(sql, row).await? == 1)
}

pub(crate) async fn count_one_less(
    tx: &mut Tx,
    kind: EntityKind,
    space: SpaceId,
) -> Result<(), StoreError> {
    let sql = match kind {
        EntityKind::Space => return Ok(()),
        EntityKind::Project => {
            "UPDATE spaces SET project_count = project_count - 1 WHERE id = $1 AND project_count > 0"
        }
        EntityKind::Page => {
            "UPDATE spaces SET page_count = page_count - 1 WHERE id = $1 AND page_count > 0"
        }
        EntityKind::Task => {
            "UPDATE spaces SET task_count = task_count - 1 WHERE id = $1 AND task_count > 0"
        }
        EntityKind::Ref => {
            "UPDATE spaces SET ref_count = ref_count - 1 WHERE id = $1 AND ref_count > 0"
        }
    };
    tx.execute(sql, values![space.to_string()]).await?;
    Ok(())
}

/// `false`: the space holds as many files or as many bytes as it may, or is not there.
pub(crate) async fn take_room_for_file(
    tx: &mut Tx,
    space: SpaceId,
    size_bytes: u64,
) -> Result<bool, StoreError> {
    let sql = "UPDATE spaces SET attachment_count = attachment_count + 1, attachment_bytes = attachment_bytes + $2 \
        WHERE id = $1 AND deleted_at IS NULL AND attachment_count < $3 AND attachment_bytes <= $4";
    let left = SPACE_ATTACHMENT_BYTES_MAX.saturating_sub(size_bytes);
    let row = values![
        space.to_string(),
        int(size_bytes),
        int(SPACE_ATTACHMENTS_MAX),
        int(left),
    ];
    Ok(tx.execute(sql, row).await? == 1)
}

pub(crate) async fn give_back_room_of_file(
    tx: &mut Tx,
    space: SpaceId,
    size_bytes: u64,
) -> Result<(), StoreError> {
    let sql = "UPDATE spaces SET attachment_count = attachment_count - 1, attachment_bytes = attachment_bytes - $2 \
        WHERE id = $1 AND attachment_count > 0 AND attachment_bytes >= $2";
    tx.execute(sql, values![space.to_string(), int(size_bytes)])
        .await?;
    Ok(())
}
