//! The table `vault_files`: where something is in the folder that it came from or went to, and what a way back without losing
//! a byte needs. One path of a space is one row; what was deleted keeps its own, so that the folder does not bring it back.

use void_domain::digests::Digest;
use void_domain::ids::SpaceId;
use void_domain::knowledge::{VaultFile, VaultItem};

use crate::errors::StoreError;
use crate::queries::{Paged, Select};
use crate::tx::Tx;
use crate::values::{Page, Row, int, values};

macro_rules! columns {
    () => {
        "space_id, path, kind, item_id, base, agreed_revision, encoding, front_matter"
    };
}

/// Each row with the state of what it is about. Exactly one of the four is joined.
const WITH_STATES: &str = "SELECT * FROM (SELECT f.space_id AS space_id, f.path AS path, f.kind AS kind, \
    f.item_id AS item_id, f.base AS base, f.agreed_revision AS agreed_revision, f.encoding AS encoding, \
    f.front_matter AS front_matter, COALESCE(p.revision, t.revision, r.revision) AS revision, \
    COALESCE(p.vouched_at, t.vouched_at, r.vouched_at) AS vouched_at, \
    COALESCE(p.deleted_at, t.deleted_at, r.deleted_at, a.deleted_at) AS deleted_at, a.hash AS hash \
    FROM vault_files f \
    LEFT JOIN pages p ON f.kind = 'page' AND p.id = f.item_id \
    LEFT JOIN tasks t ON f.kind = 'task' AND t.id = f.item_id \
    LEFT JOIN refs r ON f.kind = 'ref' AND r.id = f.item_id \
    LEFT JOIN attachments a ON f.kind = 'attachment' AND a.id = f.item_id) AS files";

/// What a row's item is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VaultItemState {
    Deleted,
    Entity {
        revision: u64,
        /// The owner's word for a text changes what its file says, and makes no revision.
        is_vouched: bool,
    },
    Attachment {
        hash: Digest,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedVaultFile {
    pub file: VaultFile,
    pub state: VaultItemState,
}

/// Puts an item at a path. Whatever was there before has no file any more.
pub async fn put(tx: &mut Tx, file: &VaultFile) -> Result<(), StoreError> {
    let sql = "DELETE FROM vault_files WHERE item_id = $1 AND kind = $2";
    tx.execute(sql, values![file.item.id(), file.item.kind()])
        .await?;
    let sql = "INSERT INTO vault_files (space_id, path, kind, item_id, base, agreed_revision, encoding, front_matter) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (space_id, path) DO UPDATE SET kind = $3, item_id = $4, \
        base = $5, agreed_revision = $6, encoding = $7, front_matter = $8";
    let row = values![
        file.space_id.to_string(),
        &file.path,
        file.item.kind(),
        file.item.id(),
        file.base,
        file.agreed_revision.map(int),
        &file.encoding,
        &file.front_matter,
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

pub async fn find(
    tx: &mut Tx,
    space: SpaceId,
    path: &str,
) -> Result<Option<VaultFile>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM vault_files WHERE space_id = $1 AND path = $2"
    );
    tx.find(
        "vault_files",
        sql,
        values![space.to_string(), path],
        vault_file,
    )
    .await
}

/// The file of an item, if it has one.
pub async fn find_of(tx: &mut Tx, item: VaultItem) -> Result<Option<VaultFile>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM vault_files WHERE item_id = $1 AND kind = $2"
    );
    tx.find(
        "vault_files",
        sql,
        values![item.id(), item.kind()],
        vault_file,
    )
    .await
}

/// `false`: nothing was at this path.
pub async fn remove(tx: &mut Tx, space: SpaceId, path: &str) -> Result<bool, StoreError> {
    let sql = "DELETE FROM vault_files WHERE space_id = $1 AND path = $2";
    Ok(tx.execute(sql, values![space.to_string(), path]).await? == 1)
}

/// In the order of their paths.
pub async fn list(
    tx: &mut Tx,
    space: SpaceId,
    after: Option<&str>,
    limit: u32,
) -> Result<Page<ListedVaultFile>, StoreError> {
    by_path(space, after)
        .page(tx, limit, |row| {
            Ok(Some(ListedVaultFile {
                file: vault_file(row)?,
                state: state(row)?,
            }))
        })
        .await
}

fn by_path(space: SpaceId, after: Option<&str>) -> Paged<'_> {
    Select::new("vault_files", WITH_STATES)
        .only_with("space_id = ?", space.to_string())
        .oldest_first("path", after)
}

fn vault_file(row: &Row) -> Result<VaultFile, StoreError> {
    let item = VaultItem::parse(row.text("kind")?, row.text("item_id")?);
    Ok(VaultFile {
        space_id: row.parse("space_id")?,
        path: row.string("path")?,
        item: item.ok_or_else(|| row.corrupt("it names nothing that has a file"))?,
        base: row.parse("base")?,
        agreed_revision: match row.opt_int("agreed_revision")? {
            Some(_) => Some(row.count("agreed_revision")?),
            None => None,
        },
        encoding: row.string("encoding")?,
        front_matter: row.string("front_matter")?,
    })
}

fn state(row: &Row) -> Result<VaultItemState, StoreError> {
    if row.opt_int("deleted_at")?.is_some() {
        return Ok(VaultItemState::Deleted);
    }
    let hash: Option<Digest> = row.opt_parse("hash")?;
    match (hash, row.opt_int("revision")?) {
        (Some(hash), None) => Ok(VaultItemState::Attachment { hash }),
        (None, Some(_)) => Ok(VaultItemState::Entity {
            revision: row.count("revision")?,
            is_vouched: row.opt_int("vouched_at")?.is_some(),
        }),
        // Thrown away long ago, and forgotten.
        (None, None) => Ok(VaultItemState::Deleted),
        (Some(_), Some(_)) => Err(row.corrupt("it is about two things")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use void_domain::time::Timestamp;

    use crate::queries::plan;

    #[test]
    fn files_are_listed_down_their_key() {
        let space = SpaceId::new(Timestamp::from_ms(1), [1; 10]);
        for after in [None, Some("notes/a.md")] {
            let plan = plan(by_path(space, after));
            let steps = plan.join("; ");
            assert!(!steps.contains("TEMP B-TREE"), "{steps}");
            assert!(!steps.contains("SCAN"), "{steps}");
        }
    }
}
