//! A space goes out as a folder of Markdown. Whoever has the folder says what is there; this decides what is to be written and
//! gives the bytes. That a file was written is told by a step of the import ([`ImportStep::Agree`](super::ImportStep)).

use std::collections::BTreeSet;

use void_domain::digests::Digest;
use void_domain::ids::SpaceId;
use void_domain::knowledge::VaultItem;
use void_store::{StoreError, Tx, attachments as files, entities, spaces, vault_files};
use void_vault::{ExportConflict, StoredEntry, StoredState, VaultPath, WriteStep, plan_export};

use super::vault_files::listing::{self, Unfiled, bytes_at, entity_bytes, is_of, unfiled_hash};
use super::vault_files::notes::NoteEdges;
use super::vault_files::{
    FoundFolder, VAULT_STEPS_MAX, VaultError, be_there, content_hash, digest, entry_kind,
    vault_path,
};
use super::{KnowledgeError, may_write};
use crate::context::Ctx;
use crate::control::Control;

/// What one answer holds of files; one file is always whole.
pub const VAULT_CONTENT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Texts of one look; others read between two of them.
const HASHED_AT_ONCE: usize = 64;

/// What an export would do to a folder. Nothing is ever removed from it.
#[derive(Debug, Clone)]
pub struct ExportReview {
    pub write: Vec<WriteStep<VaultItem>>,
    /// The folder has these as Void has them, and Void has not noted that.
    pub agree: Vec<(VaultPath, VaultItem, Digest)>,
    pub conflicts: Vec<(VaultPath, ExportConflict)>,
    pub unchanged: usize,
    /// Projects are folders; what is written about one has no file.
    pub projects_left_out: u64,
}

pub async fn review_export(
    control: &Control,
    ctx: &Ctx,
    space: SpaceId,
    folder: FoundFolder,
) -> Result<ExportReview, VaultError> {
    may_write(ctx)?;
    let folder = folder.judged()?;
    let mut stored = listing::stored(control, space).await?;
    let made_here = {
        let taken = stored.iter().map(|entry| &entry.path);
        listing::unfiled(control, space, taken).await?
    };
    for some in made_here.chunks(HASHED_AT_ONCE) {
        stored.extend(hashed(control, space, some.to_vec()).await?);
    }
    let plan = plan_export(&stored, &folder).map_err(VaultError::Plan)?;
    let counts = control
        .store
        .read(move |tx| Box::pin(spaces::counts(tx, space)))
        .await?;
    // Both are in the order of paths, and a plan names each path once.
    let same: BTreeSet<&VaultPath> = plan.unchanged.iter().collect();
    let agree = stored.iter().filter_map(|entry| match entry.state {
        StoredState::Present { current }
            if entry.base != Some(current) && same.contains(&entry.path) =>
        {
            Some((entry.path.clone(), entry.key, digest(current)))
        }
        StoredState::Present { .. } | StoredState::Deleted => None,
    });
    Ok(ExportReview {
        agree: agree.collect(),
        unchanged: plan.unchanged.len(),
        write: plan.write,
        conflicts: plan.conflicts,
        projects_left_out: counts.map_or(0, |counts| counts.projects),
    })
}

async fn hashed(
    control: &Control,
    space: SpaceId,
    some: Vec<Unfiled>,
) -> Result<Vec<StoredEntry<VaultItem>>, StoreError> {
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let mut entries = Vec::with_capacity(some.len());
                for one in some {
                    let hash = unfiled_hash(tx, space, &one).await?;
                    entries.extend(hash.map(|hash| StoredEntry {
                        key: one.item,
                        kind: entry_kind(one.item),
                        path: one.path,
                        base: None,
                        state: StoredState::Present {
                            current: content_hash(hash),
                        },
                    }));
                }
                Ok(entries)
            })
        })
        .await
}

/// A file that is wanted: what it is of, and where it goes if it has no place yet.
#[derive(Debug, Clone)]
pub struct WantedFile {
    pub item: VaultItem,
    pub path: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContent {
    pub path: String,
    /// Nothing: it was thrown away meanwhile, or is elsewhere now.
    pub bytes: Option<Vec<u8>>,
}

/// The bytes of these files, as many of them as fit into one answer, from the first on.
pub async fn export_content(
    control: &Control,
    ctx: &Ctx,
    space: SpaceId,
    wanted: Vec<WantedFile>,
) -> Result<Vec<FileContent>, VaultError> {
    may_write(ctx)?;
    if wanted.len() > VAULT_STEPS_MAX {
        return Err(VaultError::TooManySteps);
    }
    let wanted = wanted
        .into_iter()
        .map(|one| Ok((one.item, vault_path(one.path)?)));
    let wanted: Vec<(VaultItem, VaultPath)> = wanted.collect::<Result<_, VaultError>>()?;
    let found = control
        .store
        .read(move |tx| {
            Box::pin(async move {
                be_there(tx, space).await?;
                let (mut found, mut size) = (Vec::new(), 0_usize);
                for (item, path) in wanted {
                    let bytes = content(tx, space, (item, &path)).await?;
                    size = size.saturating_add(bytes.as_ref().map_or(0, Vec::len));
                    if size > VAULT_CONTENT_BYTES_MAX && !found.is_empty() {
                        break;
                    }
                    found.push(FileContent {
                        path: path.as_str().to_owned(),
                        bytes,
                    });
                }
                Ok::<_, KnowledgeError>(found)
            })
        })
        .await?;
    Ok(found)
}

async fn content(
    tx: &mut Tx,
    space: SpaceId,
    (item, path): (VaultItem, &VaultPath),
) -> Result<Option<Vec<u8>>, StoreError> {
    let file = vault_files::find_of(tx, item).await?;
    if file.as_ref().is_some_and(|file| file.path != path.as_str()) {
        return Ok(None);
    }
    match item {
        VaultItem::Entity(id) => {
            let found = entities::find(tx, id).await?;
            let Some(entity) = found.filter(|found| is_of(&found.head, space)) else {
                return Ok(None);
            };
            match &file {
                Some(file) => entity_bytes(file, &entity),
                None => Ok(bytes_at(path, &entity, &NoteEdges::plain())),
            }
        }
        VaultItem::Attachment(id) => {
            let found = files::find(tx, id).await?;
            let found = found.filter(|file| file.deleted.is_none() && file.space_id == space);
            match found {
                Some(found) => files::content(tx, found.hash).await,
                None => Ok(None),
            }
        }
    }
}
