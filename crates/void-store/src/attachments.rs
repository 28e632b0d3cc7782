//! The tables `attachments` and `attachment_contents`: files of a space, and their bytes, which are stored once for all files
//! that contain the same.

use void_domain::digests::Digest;
use void_domain::ids::{AttachmentId, RefId, SpaceId};
use void_domain::knowledge::{Attachment, AttachmentName, Deletion, MediaType, NotePath};
use void_domain::time::Timestamp;

use crate::entity_tables::deletion;
use crate::errors::StoreError;
use crate::queries::Select;
use crate::spaces;
use crate::tx::Tx;
use crate::values::{Page, Row, int, values};

/// More sources than a ref ever has.
const SOURCES_MAX: u32 = 100;

macro_rules! columns {
    () => {
        "id, space_id, name, path, ref_id, media_type, hash, size_bytes, created_at, created_by, deleted_at, deleted_by"
    };
}

/// Stores a file. Its hash is of these bytes: the caller has just made it of them. `false`: its space holds as much as it may,
/// or is not there.
pub async fn insert(
    tx: &mut Tx,
    attachment: &Attachment,
    content: &[u8],
) -> Result<bool, StoreError> {
    if !spaces::take_room_for_file(tx, attachment.space_id, attachment.size_bytes).await? {
        return Ok(false);
    }
    let known = "SELECT hash FROM attachment_contents WHERE hash = $1";
    let hash = values![attachment.hash];
    if tx.one("attachment_contents", known, hash).await?.is_none() {
        let sql = "INSERT INTO attachment_contents (hash, size_bytes, content) VALUES ($1, $2, $3)";
        let row = values![attachment.hash, int(attachment.size_bytes), content];
        tx.execute(sql, row).await?;
    }
    let sql = "INSERT INTO attachments (id, space_id, name, path, media_type, hash, size_bytes, created_at, created_by, ref_id) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let row = values![
        attachment.id.to_string(),
        attachment.space_id.to_string(),
        attachment.name.as_str(),
        attachment.path.as_ref().map(NotePath::as_str),
        attachment.media_type.as_str(),
        attachment.hash,
        int(attachment.size_bytes),
        attachment.created_at,
        &attachment.created_by,
        attachment.ref_id.map(|id| id.to_string()),
    ];
    tx.execute(sql, row).await?;
    Ok(true)
}

pub async fn find(tx: &mut Tx, id: AttachmentId) -> Result<Option<Attachment>, StoreError> {
    let sql = concat!("SELECT ", columns!(), " FROM attachments WHERE id = $1");
    tx.find("attachments", sql, values![id.to_string()], attachment)
        .await
}

/// The newest file of a space by its name: what an embed names.
pub async fn find_by_name(
    tx: &mut Tx,
    space: SpaceId,
    name: &AttachmentName,
) -> Result<Option<Attachment>, StoreError> {
    let found = Select::new(
        "attachments",
        concat!("SELECT ", columns!(), " FROM attachments"),
    )
    .only("deleted_at IS NULL")
    .only_with("space_id = ?", space.to_string())
    .only_with("name = ?", name.as_str())
    .order_by("id DESC")
    .all(tx, 1_u32, |row| attachment(row).map(Some))
    .await?;
    Ok(found.into_iter().next())
}

/// Newest first.
pub async fn list(
    tx: &mut Tx,
    space: SpaceId,
    cursor: Option<AttachmentId>,
    limit: u32,
) -> Result<Page<Attachment>, StoreError> {
    Select::new(
        "attachments",
        concat!("SELECT ", columns!(), " FROM attachments"),
    )
    .only("deleted_at IS NULL")
    .only_with("space_id = ?", space.to_string())
    .newest_first("id", cursor.map(|id| id.to_string()))
    .page(tx, limit, |row| attachment(row).map(Some))
    .await
}

/// What has no file in a vault, newest first.
pub async fn list_without_file(
    tx: &mut Tx,
    space: SpaceId,
    cursor: Option<AttachmentId>,
    limit: u32,
) -> Result<Page<Attachment>, StoreError> {
    Select::new(
        "attachments",
        concat!("SELECT ", columns!(), " FROM attachments"),
    )
    .only("deleted_at IS NULL")
    .only("NOT EXISTS (SELECT 1 FROM vault_files f WHERE f.item_id = id)")
    .only_with("space_id = ?", space.to_string())
    .newest_first("id", cursor.map(|id| id.to_string()))
    .page(tx, limit, |row| attachment(row).map(Some))
    .await
}

/// The bytes. What was changed behind Void's back is damage, not content.
pub async fn content(tx: &mut Tx, hash: Digest) -> Result<Option<Vec<u8>>, StoreError> {
    let sql = "SELECT hash, content FROM attachment_contents WHERE hash = $1";
    tx.find("attachment_contents", sql, values![hash], |row| {
        let content = row.blob("content")?;
        match Digest::of(content) == hash {
            true => Ok(content.to_vec()),
            false => Err(row.corrupt("the bytes are not those that were stored")),
        }
    })
    .await
}

/// The files that are the source of a ref, newest first. There is one, unless somebody else wrote here.
pub async fn list_of_ref(tx: &mut Tx, id: RefId) -> Result<Vec<Attachment>, StoreError> {
    Select::new(
        "attachments",
        concat!("SELECT ", columns!(), " FROM attachments"),
    )
    .only("deleted_at IS NULL")
    .only_with("ref_id = ?", id.to_string())
    .order_by("id DESC")
    .all(tx, SOURCES_MAX, |row| attachment(row).map(Some))
    .await
}

/// The newest file of a space that holds these bytes and is the source of a ref.
pub async fn find_source(
    tx: &mut Tx,
    space: SpaceId,
    hash: Digest,
) -> Result<Option<Attachment>, StoreError> {
    let found = Select::new(
        "attachments",
        concat!("SELECT ", columns!(), " FROM attachments"),
    )
    .only("deleted_at IS NULL AND ref_id IS NOT NULL")
    .only_with("hash = ?", hash.to_string())
    .only_with("space_id = ?", space.to_string())
    .order_by("id DESC")
    .all(tx, 1_u32, |row| attachment(row).map(Some))
    .await?;
    Ok(found.into_iter().next())
}

/// `false`: it is away already, or never was.
pub async fn delete(
    tx: &mut Tx,
    file: &Attachment,
    deletion: &Deletion,
) -> Result<bool, StoreError> {
    let sql = "UPDATE attachments SET deleted_at = $2, deleted_by = $3 WHERE id = $1 AND deleted_at IS NULL";
    let row = values![file.id.to_string(), deletion.at, &deletion.by];
    if tx.execute(sql, row).await? == 0 {
        return Ok(false);
    }
    spaces::give_back_room_of_file(tx, file.space_id, file.size_bytes).await?;
    Ok(true)
}

/// What became of taking a file back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileUndeleted {
    Yes,
    /// Nobody had thrown it away.
    WasThere,
    /// Its space holds as much as it may, or is not there.
    NoRoom,
}

pub async fn undelete(tx: &mut Tx, file: &Attachment) -> Result<FileUndeleted, StoreError> {
    if file.deleted.is_none() {
        return Ok(FileUndeleted::WasThere);
    }
    if !spaces::take_room_for_file(tx, file.space_id, file.size_bytes).await? {
        return Ok(FileUndeleted::NoRoom);
    }
    let sql = "UPDATE attachments SET deleted_at = NULL, deleted_by = NULL WHERE id = $1 AND deleted_at IS NOT NULL";
    tx.execute(sql, values![file.id.to_string()]).await?;
    Ok(FileUndeleted::Yes)
}

/// Forgets files that were thrown away before a moment, `max` at most, and bytes that no file has any more. How many files went.
pub async fn prune(tx: &mut Tx, before: Timestamp, max: u32) -> Result<u64, StoreError> {
    let sql =
        "SELECT id, hash FROM attachments WHERE deleted_at < $1 ORDER BY deleted_at, id LIMIT $2";
    let old = tx
        .read("attachments", sql, values![before, i64::from(max)], |row| {
            Ok((row.string("id")?, row.parse::<Digest>("hash")?))
        })
        .await?;
    let mut gone = 0;
    for (id, hash) in old {
        let sql = "DELETE FROM attachments WHERE id = $1";
        gone += tx.execute(sql, values![id]).await?;
        let sql = "DELETE FROM attachment_contents WHERE hash = $1 \
            AND NOT EXISTS (SELECT 1 FROM attachments AS a WHERE a.hash = $1)";
        tx.execute(sql, values![hash]).await?;
    }
    Ok(gone)
}

fn attachment(row: &Row) -> Result<Attachment, StoreError> {
    let path = row.opt_text("path")?.map(NotePath::parse).transpose();
    Ok(Attachment {
        id: row.parse("id")?,
        space_id: row.parse("space_id")?,
        name: row.parsed("name", |name| AttachmentName::parse(name).ok())?,
        path: path.map_err(|_| row.corrupt("column path does not hold what it should"))?,
        ref_id: row.opt_parse("ref_id")?,
        media_type: row.parsed("media_type", |kind| MediaType::parse(kind).ok())?,
        hash: row.parse("hash")?,
        size_bytes: row.count("size_bytes")?,
        created_at: row.time("created_at")?,
        created_by: row.string("created_by")?,
        deleted: deletion(row)?,
    })
}
