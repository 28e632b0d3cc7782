//! What is at a path, and what a file means for it: three values decide. What changed on one side is followed, what changed on
//! both is a conflict, and nobody's words are overwritten.

use void_domain::digests::Digest;
use void_domain::ids::SpaceId;
use void_domain::knowledge::{
    Attachment, Details, Entity, Fields, NotePath, PageDetails, RefDetails, TaskDetails, VaultFile,
    VaultItem,
};
use void_store::{StoreError, Tx, attachments as files, entities, vault_files};
use void_vault::{ConflictReason, EntryKind, VaultPath};

use super::super::vault_files::entry_kind;
use super::super::vault_files::listing::{bytes_at, entity_bytes, is_of};
use super::super::vault_files::notes::NoteEdges;

/// Why a step was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StepConflict {
    #[error("{}", ConflictReason::BothChanged)]
    BothChanged,
    #[error("{}", ConflictReason::DeletedInVoid)]
    DeletedInVoid,
    #[error("{}", ConflictReason::GoneFromFolder)]
    GoneAndEdited,
    #[error("it is of another kind here, which has to go first")]
    OtherKind,
    #[error("something else is at this path here")]
    Taken,
    #[error("nothing is at this path here")]
    NotThere,
    #[error("it was changed here meanwhile")]
    NotTheSame,
}

impl StepConflict {
    /// The word of the API for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BothChanged => "both_changed",
            Self::DeletedInVoid => "deleted_here",
            Self::GoneAndEdited => "gone_and_edited",
            Self::OtherKind => "other_kind",
            Self::Taken => "taken",
            Self::NotThere => "not_there",
            Self::NotTheSame => "not_the_same",
        }
    }
}

/// What has a path.
pub(super) enum Held {
    Deleted(VaultFile),
    /// With what its file would be written as now.
    Entity(VaultFile, Entity, Digest),
    Attachment(VaultFile, Attachment),
}

impl Held {
    fn file(&self) -> &VaultFile {
        match self {
            Self::Deleted(file) | Self::Entity(file, ..) | Self::Attachment(file, _) => file,
        }
    }

    pub(super) fn current(&self) -> Option<Digest> {
        match self {
            Self::Deleted(_) => None,
            Self::Entity(_, _, current) => Some(*current),
            Self::Attachment(_, file) => Some(file.hash),
        }
    }

    pub(super) fn is_edited(&self) -> bool {
        self.current()
            .is_some_and(|current| current != self.file().base)
    }
}

pub(super) async fn held(
    tx: &mut Tx,
    space: SpaceId,
    path: &VaultPath,
) -> Result<Option<Held>, StoreError> {
    let Some(file) = vault_files::find(tx, space, path.as_str()).await? else {
        return Ok(None);
    };
    let held = match file.item {
        VaultItem::Entity(id) => {
            let found = entities::find(tx, id).await?;
            match found.filter(|found| is_of(&found.head, space)) {
                None => Held::Deleted(file),
                Some(entity) => {
                    let bytes = entity_bytes(&file, &entity)?.unwrap_or_default();
                    Held::Entity(file, entity, Digest::of(&bytes))
                }
            }
        }
        VaultItem::Attachment(id) => {
            let found = files::find(tx, id).await?;
            match found.filter(|found| found.deleted.is_none()) {
                None => Held::Deleted(file),
                Some(found) => Held::Attachment(file, found),
            }
        }
    };
    Ok(Some(held))
}

/// Something of this space that has no file yet, as it would be at this path.
pub(super) async fn unfiled_item(
    tx: &mut Tx,
    space: SpaceId,
    item: VaultItem,
    path: &VaultPath,
) -> Result<Option<Held>, StoreError> {
    if vault_files::find_of(tx, item).await?.is_some() {
        return Ok(None);
    }
    let edges = NoteEdges::plain();
    let file = |base| VaultFile {
        space_id: space,
        path: path.as_str().to_owned(),
        item,
        base,
        agreed_revision: None,
        encoding: edges.encoding.to_string(),
        front_matter: String::new(),
    };
    Ok(match item {
        VaultItem::Entity(id) => {
            let found = entities::find(tx, id).await?;
            let found = found.filter(|found| is_of(&found.head, space));
            found.and_then(|entity| {
                let hash = Digest::of(&bytes_at(path, &entity, &edges)?);
                Some(Held::Entity(file(hash), entity, hash))
            })
        }
        VaultItem::Attachment(id) => {
            let found = files::find(tx, id).await?;
            let found = found.filter(|file| file.deleted.is_none() && file.space_id == space);
            found.map(|found| Held::Attachment(file(found.hash), found))
        }
    })
}

/// What a file means for what is there.
pub(super) enum JudgedFile {
    Unchanged,
    /// Both came to hold the same without each other.
    Agreed,
    Follow,
    Conflict(StepConflict),
}

pub(super) fn judge(held: &Held, hash: Digest, kind: EntryKind) -> JudgedFile {
    let file = held.file();
    let Some(current) = held.current() else {
        // As it was it stays deleted; otherwise somebody has to say.
        return match file.base == hash {
            true => JudgedFile::Unchanged,
            false => JudgedFile::Conflict(StepConflict::DeletedInVoid),
        };
    };
    let is_known = file.base == hash;
    match (current == hash, current == file.base) {
        _ if is_known => JudgedFile::Unchanged,
        (true, _) => JudgedFile::Agreed,
        (false, false) => JudgedFile::Conflict(StepConflict::BothChanged),
        (false, true) if entry_kind(file.item) != kind => {
            JudgedFile::Conflict(StepConflict::OtherKind)
        }
        (false, true) => JudgedFile::Follow,
    }
}

/// What the file says, in the project that only Void knows of. Tags of a page are in its file, or it would be an edited one.
pub(super) fn keeping_own(fields: Fields, own: &Details) -> Fields {
    let details = match (fields.details, own) {
        (Details::Page(read), Details::Page(own)) => Details::Page(PageDetails {
            project_id: own.project_id,
            ..read
        }),
        (Details::Task(read), Details::Task(own)) => Details::Task(TaskDetails {
            project_id: own.project_id,
            ..read
        }),
        (Details::Ref(read), Details::Ref(own)) => Details::Ref(RefDetails {
            project_id: own.project_id,
            ..read
        }),
        (read, _) => read,
    };
    Fields { details, ..fields }
}

pub(super) fn set_path(fields: &mut Fields, path: Option<NotePath>) {
    match &mut fields.details {
        Details::Page(page) => page.path = path,
        Details::Space(_) | Details::Project | Details::Task(_) | Details::Ref(_) => {}
    }
}
