//! All of a space that is a file, with what it would be written as now. What has a file already is as its base unless it was
//! revised since; only then is its text read. What has none yet gets a name, the same one each time until it has a file.

use std::collections::HashMap;

use void_domain::digests::Digest;
use void_domain::ids::{ProjectId, SpaceId};
use void_domain::knowledge::{
    Attachment, Details, Entity, EntityHead, EntityId, EntityKind, Origin, VaultFile, VaultItem,
};
use void_store::vault_files::{self, ListedVaultFile, VaultItemState};
use void_store::{StoreError, Tx, attachments, entities};
use void_vault::{FileNames, StoredEntry, StoredState, VaultPath};

use super::notes::{NoteEdges, note_bytes};
use super::{be_there, content_hash, entry_kind, stored_path};
use crate::control::Control;
use crate::knowledge::KnowledgeError;

/// Rows of one look; others read between two of them.
const ROWS_AT_ONCE: u32 = 500;
/// Where things go that have no project and are no page.
const TASKS: &str = "Tasks";
const REFS: &str = "Refs";
const ATTACHMENTS: &str = "Attachments";

/// Everything that has a file, in the order of the paths.
pub(crate) async fn stored(
    control: &Control,
    space: SpaceId,
) -> Result<Vec<StoredEntry<VaultItem>>, KnowledgeError> {
    let mut all = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let from = after.take();
        let (entries, next) = control
            .store
            .read(move |tx| {
                Box::pin(async move {
                    be_there(tx, space).await?;
                    let page = vault_files::list(tx, space, from.as_deref(), ROWS_AT_ONCE).await?;
                    let mut entries = Vec::with_capacity(page.items.len());
                    for listed in &page.items {
                        entries.push(entry(tx, listed).await?);
                    }
                    Ok::<_, KnowledgeError>((entries, page.next))
                })
            })
            .await?;
        all.extend(entries);
        match next {
            Some(next) => after = Some(next),
            None => return Ok(all),
        }
    }
}

async fn entry(
    tx: &mut Tx,
    listed: &ListedVaultFile,
) -> Result<StoredEntry<VaultItem>, StoreError> {
    let file = &listed.file;
    let current = match listed.state {
        VaultItemState::Deleted => None,
        VaultItemState::Attachment { hash } => Some(hash),
        VaultItemState::Entity {
            revision,
            is_vouched: false,
        } if file.agreed_revision == Some(revision) => Some(file.base),
        VaultItemState::Entity { .. } => match file.item {
            VaultItem::Entity(id) => entities::find(tx, id)
                .await?
                .and_then(|entity| entity_bytes(file, &entity).transpose())
                .transpose()?
                .map(|bytes| Digest::of(&bytes)),
            VaultItem::Attachment(_) => None,
        },
    };
    Ok(StoredEntry {
        key: file.item,
        path: stored_path(&file.path)?,
        kind: entry_kind(file.item),
        base: Some(content_hash(file.base)),
        state: match current {
            Some(hash) => StoredState::Present {
                current: content_hash(hash),
            },
            None => StoredState::Deleted,
        },
    })
}

/// The bytes of its file as they would be written now.
pub(crate) fn entity_bytes(
    file: &VaultFile,
    entity: &Entity,
) -> Result<Option<Vec<u8>>, StoreError> {
    let path = stored_path(&file.path)?;
    Ok(bytes_at(&path, entity, &edges(file)?))
}

pub(crate) fn edges(file: &VaultFile) -> Result<NoteEdges, StoreError> {
    let encoding = file.encoding.parse();
    Ok(NoteEdges {
        encoding: encoding.map_err(|why| StoreError::corrupt("vault_files", &file.path, why))?,
        front_matter: file.front_matter.clone(),
    })
}

/// The same where it has no row.
pub(crate) fn bytes_at(path: &VaultPath, entity: &Entity, edges: &NoteEdges) -> Option<Vec<u8>> {
    let head = &entity.head;
    let origin = &head.revision.origin;
    // An import that is foreign says so in its own front matter.
    let is_foreign = head.is_foreign() && *origin != Origin::Import;
    let captured_at = (*origin == Origin::Capture).then_some(head.created_at);
    note_bytes(path, &entity.fields(), edges, (is_foreign, captured_at))
}

/// Something without a file, and the one that it would get.
#[derive(Debug, Clone)]
pub(crate) struct Unfiled {
    pub item: VaultItem,
    pub path: VaultPath,
}

/// What a name is made of.
struct Nameless {
    item: VaultItem,
    title: String,
    project: Option<ProjectId>,
    /// Where the owner said that it is.
    wished: Option<VaultPath>,
}

/// Everything without a file. `taken`: the paths that something has, and what is there in the folder.
pub(crate) async fn unfiled<'a>(
    control: &Control,
    space: SpaceId,
    taken: impl IntoIterator<Item = &'a VaultPath>,
) -> Result<Vec<Unfiled>, KnowledgeError> {
    let (mut nameless, projects) = control
        .store
        .read(move |tx| Box::pin(all_nameless(tx, space)))
        .await?;
    // The oldest first, so that what comes later changes nobody's name.
    nameless.sort_by_key(|one| (one.item.id(), one.item));
    let mut names = FileNames::new(taken);
    let mut all = Vec::with_capacity(nameless.len());
    for one in nameless {
        let path = match one.wished.clone().and_then(|path| names.at(path)) {
            Some(path) => path,
            None => made_up(&mut names, &one, &projects)?,
        };
        let item = one.item;
        all.push(Unfiled { item, path });
    }
    Ok(all)
}

type ProjectTitles = HashMap<ProjectId, String>;

fn made_up(
    names: &mut FileNames,
    one: &Nameless,
    projects: &ProjectTitles,
) -> Result<VaultPath, StoreError> {
    let unfit = |why: void_vault::PathError| StoreError::Internal(format!("a name: {why}"));
    let project = one.project.and_then(|id| projects.get(&id));
    let folder = match (project, one.item.kind()) {
        (Some(title), _) => Some(title.as_str()),
        (None, "task") => Some(TASKS),
        (None, "ref") => Some(REFS),
        (None, VaultItem::ATTACHMENT) => Some(ATTACHMENTS),
        (None, _) => None,
    };
    let folder = folder.map(FileNames::shared_folder).transpose();
    let folder = folder.map_err(unfit)?;
    let made = match one.item {
        VaultItem::Entity(_) => names.note(folder.as_ref(), &one.title),
        VaultItem::Attachment(_) => names.attachment(folder.as_ref(), &one.title),
    };
    made.map_err(unfit)
}

async fn all_nameless(
    tx: &mut Tx,
    space: SpaceId,
) -> Result<(Vec<Nameless>, ProjectTitles), StoreError> {
    let mut all = Vec::new();
    let mut projects = ProjectTitles::new();
    for kind in [EntityKind::Page, EntityKind::Task, EntityKind::Ref] {
        let mut cursor: Option<String> = None;
        loop {
            let from = cursor.take();
            let page =
                entities::list_without_file(tx, space, kind, from.as_deref(), ROWS_AT_ONCE).await?;
            for head in &page.items {
                if let Some(id) = head.details.project_id()
                    && !projects.contains_key(&id)
                {
                    let found = entities::find_head(tx, EntityId::Project(id)).await?;
                    projects.extend(found.map(|head| (id, head.title.to_string())));
                }
                all.push(nameless(head));
            }
            match page.next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
    }
    let mut cursor = None;
    loop {
        let page = attachments::list_without_file(tx, space, cursor, ROWS_AT_ONCE).await?;
        cursor = page.items.last().map(|last| last.id);
        all.extend(page.items.iter().map(nameless_attachment));
        if page.next.is_none() {
            return Ok((all, projects));
        }
    }
}

fn nameless(head: &EntityHead) -> Nameless {
    let wished = match &head.details {
        Details::Page(page) => page.path.as_ref(),
        Details::Space(_) | Details::Project | Details::Task(_) | Details::Ref(_) => None,
    };
    let wished = wished.and_then(|path| VaultPath::parse(path.as_str()).ok());
    Nameless {
        item: VaultItem::Entity(head.id),
        title: head.title.to_string(),
        project: head.details.project_id(),
        wished: wished.filter(VaultPath::is_markdown),
    }
}

fn nameless_attachment(file: &Attachment) -> Nameless {
    let wished = file.path.as_ref();
    Nameless {
        item: VaultItem::Attachment(file.id),
        title: file.name.to_string(),
        project: None,
        wished: wished.and_then(|path| VaultPath::parse(path.as_str()).ok()),
    }
}

/// What an item without a file would be written as; nothing if it is thrown away meanwhile.
pub(crate) async fn unfiled_hash(
    tx: &mut Tx,
    space: SpaceId,
    unfiled: &Unfiled,
) -> Result<Option<Digest>, StoreError> {
    Ok(match unfiled.item {
        VaultItem::Entity(id) => {
            let found = entities::find(tx, id).await?;
            let found = found.filter(|one| is_of(&one.head, space));
            let bytes = found.and_then(|one| bytes_at(&unfiled.path, &one, &NoteEdges::plain()));
            bytes.map(|bytes| Digest::of(&bytes))
        }
        VaultItem::Attachment(id) => {
            let found = attachments::find(tx, id).await?;
            let found = found.filter(|file| file.deleted.is_none() && file.space_id == space);
            found.map(|file| file.hash)
        }
    })
}

pub(crate) fn is_of(head: &EntityHead, space: SpaceId) -> bool {
    head.deleted.is_none() && head.space_id == space
}
