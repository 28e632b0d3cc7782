//! Files of a space. The owner adds them; who may read the space may read them.

use serde_json::json;
use void_domain::digests::Digest;
use void_domain::ids::{AttachmentId, RefId, SpaceId};
use void_domain::knowledge::{Attachment, AttachmentName, Deletion, MediaType, NotePath};
use void_domain::limits::{
    ATTACHMENT_BYTES_MAX, ATTACHMENT_DELETED_DAYS, SPACE_ATTACHMENT_BYTES_MAX,
    SPACE_ATTACHMENTS_MAX,
};
use void_domain::time::Timestamp;
use void_store::attachments::FileUndeleted;
use void_store::{Page, StoreError, Tx, attachments as files, spaces};

use super::{KnowledgeError, may_read, may_write};
use crate::context::Ctx;
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::random;

const MS_PER_DAY: i64 = 24 * 60 * 60 * 1000;
/// How many files one transaction forgets, and how many such there are at a time; the next round goes on.
const FORGOTTEN_AT_ONCE_MAX: u32 = 16;
const FORGOTTEN_ROUNDS_MAX: u32 = 100;

#[derive(Debug, thiserror::Error)]
pub enum AttachmentError {
    #[error("a file may have {} MiB at most", ATTACHMENT_BYTES_MAX / 1024 / 1024)]
    TooLarge,
    #[error(
        "the space has no room for it: a space holds {SPACE_ATTACHMENTS_MAX} files, and {} GiB",
        SPACE_ATTACHMENT_BYTES_MAX / 1024 / 1024 / 1024
    )]
    NoRoom,
    #[error(transparent)]
    Knowledge(#[from] KnowledgeError),
}

impl From<StoreError> for AttachmentError {
    fn from(error: StoreError) -> Self {
        Self::Knowledge(KnowledgeError::Store(error))
    }
}

#[derive(Debug, Clone)]
pub struct NewAttachment {
    pub space_id: SpaceId,
    pub name: AttachmentName,
    pub path: Option<NotePath>,
    pub media_type: MediaType,
    pub content: Vec<u8>,
}

pub async fn add_attachment(
    control: &Control,
    ctx: &Ctx,
    new: NewAttachment,
) -> Result<Attachment, AttachmentError> {
    may_write(ctx)?;
    if new.content.len() > ATTACHMENT_BYTES_MAX {
        return Err(AttachmentError::TooLarge);
    }
    let (context, at) = (control.context(ctx), control.clock.now());
    let (file, content) = new_file(new, at, &context)?;
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                if !spaces::is_there(tx, file.space_id).await? {
                    return Err(KnowledgeError::NotFound.into());
                }
                add_in(tx, (&context, at), &file, &content).await?;
                Ok(file)
            })
        })
        .await
}

/// A file with its bytes, before it is stored: their hash takes a moment that no transaction waits for.
pub(super) fn new_file(
    new: NewAttachment,
    at: Timestamp,
    context: &AuditContext,
) -> Result<(Attachment, Vec<u8>), StoreError> {
    let file = Attachment {
        id: AttachmentId::new(at, random::bytes()?),
        space_id: new.space_id,
        name: new.name,
        path: new.path,
        ref_id: None,
        media_type: new.media_type,
        hash: Digest::of(&new.content),
        size_bytes: new.content.len() as u64,
        created_at: at,
        created_by: context.actor.clone(),
        deleted: None,
    };
    Ok((file, new.content))
}

/// Stores a file, in the transaction of whoever may.
pub(super) async fn add_in(
    tx: &mut Tx,
    (context, at): (&AuditContext, Timestamp),
    file: &Attachment,
    content: &[u8],
) -> Result<(), AttachmentError> {
    if !files::insert(tx, file, content).await? {
        return Err(AttachmentError::NoRoom);
    }
    record(tx, context, at, "attachment.added", file).await?;
    Ok(())
}

/// The file that a ref was made from, if it is kept.
pub async fn ref_source(
    control: &Control,
    ctx: &Ctx,
    id: RefId,
) -> Result<Option<Attachment>, KnowledgeError> {
    may_read(ctx)?;
    let found = control
        .store
        .read(move |tx| Box::pin(async move { files::list_of_ref(tx, id).await }))
        .await?;
    Ok(found.into_iter().next())
}

/// A file that is there, and so is its space.
async fn live(tx: &mut Tx, id: AttachmentId) -> Result<Attachment, KnowledgeError> {
    let found = files::find(tx, id).await?;
    let found = found.filter(|file| file.deleted.is_none());
    let file = found.ok_or(KnowledgeError::NotFound)?;
    match spaces::is_there(tx, file.space_id).await? {
        true => Ok(file),
        false => Err(KnowledgeError::NotFound),
    }
}

pub async fn attachment(
    control: &Control,
    ctx: &Ctx,
    id: AttachmentId,
) -> Result<Attachment, KnowledgeError> {
    may_read(ctx)?;
    control.store.read(move |tx| Box::pin(live(tx, id))).await
}

/// The file that an embed of this name means.
pub async fn attachment_named(
    control: &Control,
    ctx: &Ctx,
    space: SpaceId,
    name: AttachmentName,
) -> Result<Attachment, KnowledgeError> {
    may_read(ctx)?;
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                if !spaces::is_there(tx, space).await? {
                    return Err(KnowledgeError::NotFound);
                }
                let found = files::find_by_name(tx, space, &name).await?;
                found.ok_or(KnowledgeError::NotFound)
            })
        })
        .await
}

pub async fn attachment_content(
    control: &Control,
    ctx: &Ctx,
    id: AttachmentId,
) -> Result<(Attachment, Vec<u8>), KnowledgeError> {
    may_read(ctx)?;
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let file = live(tx, id).await?;
                let content = files::content(tx, file.hash).await?;
                let content = content.ok_or_else(|| {
                    StoreError::corrupt("attachments", file.id, "its bytes are gone")
                })?;
                Ok((file, content))
            })
        })
        .await
}

/// Newest first.
pub async fn attachments(
    control: &Control,
    ctx: &Ctx,
    space: SpaceId,
    cursor: Option<AttachmentId>,
    limit: u32,
) -> Result<Page<Attachment>, KnowledgeError> {
    may_read(ctx)?;
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                match spaces::is_there(tx, space).await? {
                    true => Ok(files::list(tx, space, cursor, limit).await?),
                    false => Err(KnowledgeError::NotFound),
                }
            })
        })
        .await
}

pub async fn delete_attachment(
    control: &Control,
    ctx: &Ctx,
    id: AttachmentId,
) -> Result<(), KnowledgeError> {
    may_write(ctx)?;
    let (context, at) = (control.context(ctx), control.clock.now());
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let file = live(tx, id).await?;
                delete_in(tx, (&context, at), &file).await?;
                Ok(())
            })
        })
        .await
}

pub(super) async fn delete_in(
    tx: &mut Tx,
    (context, at): (&AuditContext, Timestamp),
    file: &Attachment,
) -> Result<(), StoreError> {
    let deletion = Deletion {
        at,
        by: context.actor.clone(),
    };
    if files::delete(tx, file, &deletion).await? {
        record(tx, context, at, "attachment.deleted", file).await?;
    }
    Ok(())
}

pub async fn restore_attachment(
    control: &Control,
    ctx: &Ctx,
    id: AttachmentId,
) -> Result<Attachment, AttachmentError> {
    may_write(ctx)?;
    let (context, at) = (control.context(ctx), control.clock.now());
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let found = files::find(tx, id).await?;
                let found = found.ok_or(KnowledgeError::NotFound)?;
                match files::undelete(tx, &found).await? {
                    FileUndeleted::NoRoom if spaces::is_there(tx, found.space_id).await? => {
                        return Err(AttachmentError::NoRoom);
                    }
                    FileUndeleted::NoRoom => return Err(KnowledgeError::NotFound.into()),
                    FileUndeleted::WasThere => {}
                    FileUndeleted::Yes => {
                        record(tx, &context, at, "attachment.restored", &found).await?;
                    }
                }
                Ok(live(tx, id).await?)
            })
        })
        .await
}

/// Forgets files that were thrown away long ago, and bytes that no file has any more.
pub async fn forget_deleted(control: &Control) -> Result<(), StoreError> {
    let before = control.clock.now().as_ms() - ATTACHMENT_DELETED_DAYS * MS_PER_DAY;
    let before = Timestamp::from_ms(before);
    for _ in 0..FORGOTTEN_ROUNDS_MAX {
        let forgotten: u64 = control
            .store
            .write_closing(move |tx| Box::pin(files::prune(tx, before, FORGOTTEN_AT_ONCE_MAX)))
            .await?;
        if forgotten == 0 || control.is_stopping() {
            return Ok(());
        }
    }
    Ok(())
}

async fn record(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    verb: &'static str,
    file: &Attachment,
) -> Result<(), StoreError> {
    let detail = json!({
        "space_id": file.space_id,
        "sha256": file.hash,
        "size_bytes": file.size_bytes,
        "name_sha256": Digest::of(file.name.as_str().as_bytes()),
    });
    let subject = Some(file.id.to_string());
    facts::audit(tx, context, at, verb, subject, detail).await
}
