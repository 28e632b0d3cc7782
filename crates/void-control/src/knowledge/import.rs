//! A folder of Markdown comes in. Whoever has the folder reads it and says what is there; this decides, and writes what it is
//! sent, in small transactions. No path that a request names is ever opened here.
//!
//! There is no job that could be left half done. Each step writes something whole, with its place in the folder, and is judged
//! again when it is done; so whatever ended in the middle is ended by the same import once more. Why: docs/adr/0029-vault.md.

mod judging;

use std::collections::BTreeSet;

use void_domain::digests::Digest;
use void_domain::ids::{AttachmentId, SpaceId};
use void_domain::knowledge::{
    Attachment, AttachmentName, Entity, Fields, Revision, VaultFile, VaultItem,
};
use void_store::{StoreError, Tx, vault_files};
use void_vault::{ImportPlan, StoredEntry, StoredState, VaultPath, plan_import};

pub use self::judging::StepConflict;
use self::judging::{Held, JudgedFile, held, judge, unfiled_item};
use super::attachments::{self, AttachmentError};
use super::create::NewEntity;
use super::update::EntityUpdate;
use super::vault_files::listing::{self, edges, entity_bytes};
use super::vault_files::notes::{NoteEdges, ReadFile, note_path, read_file, title_at};
use super::vault_files::{
    FoundFolder, RefusedFile, VAULT_STEPS_MAX, VaultError, be_there, content_hash, entry_kind,
    vault_path,
};
use super::writing::{self, EntityStep, Writing, create_in, delete_in, update_in};
use super::{KnowledgeError, TextSource, may_write};
use crate::context::Ctx;
use crate::control::Control;
use crate::random;

/// What an import of this folder would do. It changes nothing.
pub async fn review_import(
    control: &Control,
    ctx: &Ctx,
    space: SpaceId,
    folder: FoundFolder,
) -> Result<ImportPlan<VaultItem>, VaultError> {
    may_write(ctx)?;
    let folder = folder.judged()?;
    let mut stored = listing::stored(control, space).await?;
    let made_here = {
        let taken = stored.iter().map(|entry| &entry.path);
        listing::unfiled(control, space, taken).await?
    };
    let there: BTreeSet<&VaultPath> = folder.files.iter().map(|file| &file.path).collect();
    // What was made here only matters where the folder has a file of its name.
    for one in made_here
        .into_iter()
        .filter(|one| there.contains(&one.path))
    {
        let (item, path) = (one.item, one.path.clone());
        let hash = control
            .store
            .read(move |tx| Box::pin(async move { listing::unfiled_hash(tx, space, &one).await }))
            .await?;
        stored.extend(hash.map(|hash| StoredEntry {
            key: item,
            kind: entry_kind(item),
            path,
            base: None,
            state: StoredState::Present {
                current: content_hash(hash),
            },
        }));
    }
    plan_import(&stored, &folder).map_err(VaultError::Plan)
}

/// One thing to be done, as it is asked for.
#[derive(Debug, Clone)]
pub enum ImportStep {
    /// The folder has this file.
    Put { path: String, bytes: Vec<u8> },
    /// The same file is elsewhere now.
    Move { from: String, to: String },
    /// The folder does not have it any more, and the owner said that it may go.
    Remove { path: String },
    /// The folder has what Void would write. `item` is what has no file yet.
    Agree {
        path: String,
        item: Option<VaultItem>,
        hash: Digest,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepOutcome {
    Created,
    Updated,
    Moved,
    Removed,
    Agreed,
    Unchanged,
    /// Nothing was done, and nothing is lost on either side.
    Conflict(StepConflict),
    /// This file cannot be taken in.
    Refused(RefusedFile),
}

/// Does these steps, all that can be done or none; what they became stands in their order.
pub async fn apply_import(
    control: &Control,
    ctx: &Ctx,
    space: SpaceId,
    steps: Vec<ImportStep>,
) -> Result<Vec<StepOutcome>, VaultError> {
    may_write(ctx)?;
    if steps.len() > VAULT_STEPS_MAX {
        return Err(VaultError::TooManySteps);
    }
    // Reading takes time, and nobody waits for it in the transaction.
    let steps = steps.into_iter().map(ReadStep::of);
    let steps: Vec<ReadStep> = steps.collect::<Result<_, VaultError>>()?;
    let (context, at) = (control.context(ctx), control.clock.now());
    let outcomes = control
        .store
        .write(move |tx| {
            Box::pin(async move {
                be_there(tx, space).await?;
                let import = Import {
                    space,
                    writing: Writing::by_owner(&context, at),
                };
                let mut outcomes = Vec::with_capacity(steps.len());
                for step in steps {
                    outcomes.push(import.take(tx, step).await?);
                }
                Ok::<_, KnowledgeError>(outcomes)
            })
        })
        .await?;
    Ok(outcomes)
}

/// A step whose file was read.
enum ReadStep {
    Put(PutFile),
    Refused(RefusedFile),
    Move {
        from: VaultPath,
        to: VaultPath,
    },
    Remove(VaultPath),
    Agree {
        path: VaultPath,
        item: Option<VaultItem>,
        hash: Digest,
    },
}

struct PutFile {
    path: VaultPath,
    hash: Digest,
    file: ReadFile,
    /// Of an attachment.
    bytes: Vec<u8>,
}

impl ReadStep {
    fn of(step: ImportStep) -> Result<Self, VaultError> {
        Ok(match step {
            ImportStep::Put { path, bytes } => {
                let path = vault_path(path)?;
                match read_file(&path, &bytes) {
                    Ok(file) => Self::Put(PutFile {
                        path,
                        hash: Digest::of(&bytes),
                        file,
                        bytes,
                    }),
                    Err(why) => Self::Refused(why),
                }
            }
            ImportStep::Move { from, to } => Self::Move {
                from: vault_path(from)?,
                to: vault_path(to)?,
            },
            ImportStep::Remove { path } => Self::Remove(vault_path(path)?),
            ImportStep::Agree { path, item, hash } => Self::Agree {
                path: vault_path(path)?,
                item,
                hash,
            },
        })
    }
}

/// Who imports into which space, within one transaction.
struct Import<'a> {
    space: SpaceId,
    writing: Writing<'a>,
}

impl Import<'_> {
    async fn take(&self, tx: &mut Tx, step: ReadStep) -> Result<StepOutcome, KnowledgeError> {
        match step {
            ReadStep::Refused(why) => Ok(StepOutcome::Refused(why)),
            ReadStep::Put(put) => self.put(tx, put).await,
            ReadStep::Move { from, to } => self.move_to(tx, &from, &to).await,
            ReadStep::Remove(path) => self.remove(tx, &path).await,
            ReadStep::Agree { path, item, hash } => self.agree(tx, &path, (item, hash)).await,
        }
    }

    async fn put(&self, tx: &mut Tx, put: PutFile) -> Result<StepOutcome, KnowledgeError> {
        let Some(held) = held(tx, self.space, &put.path).await? else {
            return Ok(match self.create(tx, put).await? {
                true => StepOutcome::Created,
                false => StepOutcome::Refused(RefusedFile::NoRoom),
            });
        };
        Ok(match judge(&held, put.hash, put.file.kind()) {
            JudgedFile::Unchanged => StepOutcome::Unchanged,
            JudgedFile::Agreed => {
                self.note_agreed(tx, &held, put.hash).await?;
                StepOutcome::Agreed
            }
            JudgedFile::Conflict(why) => StepOutcome::Conflict(why),
            JudgedFile::Follow => match self.follow(tx, held, put).await? {
                true => StepOutcome::Updated,
                false => StepOutcome::Refused(RefusedFile::NoRoom),
            },
        })
    }

    async fn create(&self, tx: &mut Tx, put: PutFile) -> Result<bool, KnowledgeError> {
        match put.file {
            ReadFile::Attachment { .. } => self.add_file(tx, put).await,
            ReadFile::Note {
                fields,
                edges,
                is_foreign,
            } => {
                let source = source(is_foreign);
                let new = NewEntity {
                    space_id: Some(self.space),
                    fields,
                    source,
                    reason: None,
                };
                let made = create_in(tx, self.writing, new, source.origin()).await?;
                let file = self.file(&put.path, VaultItem::Entity(made.head.id), put.hash, &edges);
                self.note(tx, file, Some(&made)).await?;
                Ok(true)
            }
        }
    }

    /// A new file of the space at this path. `false`: the space has no room for it.
    async fn add_file(&self, tx: &mut Tx, put: PutFile) -> Result<bool, KnowledgeError> {
        let ReadFile::Attachment {
            name,
            path,
            media_type,
        } = put.file
        else {
            return Ok(true);
        };
        let made = Attachment {
            id: AttachmentId::new(self.writing.at, random::bytes()?),
            space_id: self.space,
            name,
            path,
            ref_id: None,
            media_type,
            hash: put.hash,
            size_bytes: put.bytes.len() as u64,
            created_at: self.writing.at,
            created_by: self.writing.audit.actor.clone(),
            deleted: None,
        };
        if !self.store_file(tx, &made, &put.bytes).await? {
            return Ok(false);
        }
        let item = VaultItem::Attachment(made.id);
        let file = self.file(&put.path, item, put.hash, &NoteEdges::plain());
        self.note(tx, file, None).await?;
        Ok(true)
    }

    async fn store_file(
        &self,
        tx: &mut Tx,
        file: &Attachment,
        bytes: &[u8],
    ) -> Result<bool, KnowledgeError> {
        let at = (self.writing.audit, self.writing.at);
        match attachments::add_in(tx, at, file, bytes).await {
            Ok(()) => Ok(true),
            Err(AttachmentError::NoRoom | AttachmentError::TooLarge) => Ok(false),
            Err(AttachmentError::Knowledge(error)) => Err(error),
        }
    }

    /// Nobody changed it here, so it becomes what the folder has.
    async fn follow(&self, tx: &mut Tx, held: Held, put: PutFile) -> Result<bool, KnowledgeError> {
        match (held, put.file) {
            (
                Held::Entity(_, entity, _),
                ReadFile::Note {
                    fields,
                    edges,
                    is_foreign,
                },
            ) => {
                let (id, base) = (entity.head.id, entity.head.revision.number);
                let source = source(is_foreign);
                let update = EntityUpdate {
                    id,
                    base,
                    fields: judging::keeping_own(fields, &entity.head.details),
                    source,
                    reason: None,
                };
                let updated = update_in(tx, self.writing, update, source.origin()).await?;
                let file = self.file(&put.path, VaultItem::Entity(id), put.hash, &edges);
                self.note(tx, file, Some(&updated)).await?;
                Ok(true)
            }
            (Held::Attachment(_, old), file @ ReadFile::Attachment { .. }) => {
                let is_added = self.add_file(tx, PutFile { file, ..put }).await?;
                if is_added {
                    self.throw_away(tx, &old).await?;
                }
                Ok(is_added)
            }
            // Judged before: both are of one kind, and it is there.
            (Held::Entity(..) | Held::Attachment(..) | Held::Deleted(_), _) => Ok(true),
        }
    }

    async fn throw_away(&self, tx: &mut Tx, old: &Attachment) -> Result<(), StoreError> {
        attachments::delete_in(tx, (self.writing.audit, self.writing.at), old).await
    }

    async fn remove(&self, tx: &mut Tx, path: &VaultPath) -> Result<StepOutcome, KnowledgeError> {
        let Some(held) = held(tx, self.space, path).await? else {
            return Ok(StepOutcome::Unchanged);
        };
        if held.is_edited() {
            return Ok(StepOutcome::Conflict(StepConflict::GoneAndEdited));
        }
        match &held {
            Held::Deleted(_) => return Ok(StepOutcome::Unchanged),
            Held::Entity(_, entity, _) => {
                let base = Some(entity.head.revision.number);
                delete_in(tx, self.writing, entity.head.id, base).await?;
            }
            Held::Attachment(_, file) => self.throw_away(tx, file).await?,
        }
        // The folder let go of the path: whatever is there next is something new.
        vault_files::remove(tx, self.space, path.as_str()).await?;
        Ok(StepOutcome::Removed)
    }

    async fn move_to(
        &self,
        tx: &mut Tx,
        from: &VaultPath,
        to: &VaultPath,
    ) -> Result<StepOutcome, KnowledgeError> {
        let is_taken = vault_files::find(tx, self.space, to.as_str()).await?;
        let Some(held) = held(tx, self.space, from).await? else {
            // Done before, if something is there.
            return Ok(match is_taken {
                Some(_) => StepOutcome::Unchanged,
                None => StepOutcome::Conflict(StepConflict::NotThere),
            });
        };
        if is_taken.is_some() {
            return Ok(StepOutcome::Conflict(StepConflict::Taken));
        }
        match held {
            Held::Deleted(_) => return Ok(StepOutcome::Conflict(StepConflict::NotThere)),
            Held::Entity(file, entity, _) => {
                let edges = edges(&file)?;
                let mut fields = entity.fields();
                // Its name was its title.
                if title_at(from, &fields, &edges).as_ref() == Some(&fields.title)
                    && let Some(title) = title_at(to, &fields, &edges)
                {
                    fields.title = title;
                }
                judging::set_path(&mut fields, note_path(to));
                let moved = self.same_words(tx, entity, fields).await?;
                let file = VaultFile {
                    path: to.as_str().to_owned(),
                    ..file
                };
                self.note(tx, file, Some(&moved)).await?;
            }
            Held::Attachment(file, old) => {
                self.throw_away(tx, &old).await?;
                let made = Attachment {
                    id: AttachmentId::new(self.writing.at, random::bytes()?),
                    name: AttachmentName::of_file(to.name()),
                    path: note_path(to),
                    created_at: self.writing.at,
                    created_by: self.writing.audit.actor.clone(),
                    ..old
                };
                // Its bytes are there, and there is the room that it has just given back.
                self.store_file(tx, &made, &[]).await?;
                vault_files::remove(tx, self.space, from.as_str()).await?;
                let file = VaultFile {
                    path: to.as_str().to_owned(),
                    item: VaultItem::Attachment(made.id),
                    ..file
                };
                self.note(tx, file, None).await?;
            }
        }
        Ok(StepOutcome::Moved)
    }

    /// The next revision of something whose words still come from where they came from.
    async fn same_words(
        &self,
        tx: &mut Tx,
        entity: Entity,
        fields: Fields,
    ) -> Result<Entity, KnowledgeError> {
        if entity.fields() == fields {
            return Ok(entity);
        }
        let revision = Revision {
            number: entity.head.revision.number.saturating_add(1),
            at: self.writing.at,
            by: self.writing.audit.actor.clone(),
            reason: None,
            ..entity.head.revision.clone()
        };
        let step = EntityStep::Changed;
        writing::revise(tx, self.writing, step, (entity, fields, revision)).await
    }

    async fn agree(
        &self,
        tx: &mut Tx,
        path: &VaultPath,
        (item, hash): (Option<VaultItem>, Digest),
    ) -> Result<StepOutcome, KnowledgeError> {
        let held = match (held(tx, self.space, path).await?, item) {
            (Some(held), _) => held,
            (None, Some(item)) => match unfiled_item(tx, self.space, item, path).await? {
                Some(held) => held,
                None => return Ok(StepOutcome::Conflict(StepConflict::NotThere)),
            },
            (None, None) => return Ok(StepOutcome::Conflict(StepConflict::NotThere)),
        };
        if held.current() != Some(hash) {
            return Ok(StepOutcome::Conflict(StepConflict::NotTheSame));
        }
        self.note_agreed(tx, &held, hash).await?;
        Ok(StepOutcome::Agreed)
    }

    async fn note_agreed(
        &self,
        tx: &mut Tx,
        held: &Held,
        hash: Digest,
    ) -> Result<(), KnowledgeError> {
        let (file, entity) = match held {
            Held::Deleted(_) => return Ok(()),
            Held::Entity(file, entity, _) => (file, Some(entity)),
            Held::Attachment(file, _) => (file, None),
        };
        let file = VaultFile {
            base: hash,
            ..file.clone()
        };
        self.note(tx, file, entity).await
    }

    fn file(
        &self,
        path: &VaultPath,
        item: VaultItem,
        base: Digest,
        edges: &NoteEdges,
    ) -> VaultFile {
        VaultFile {
            space_id: self.space,
            path: path.as_str().to_owned(),
            item,
            base,
            agreed_revision: None,
            encoding: edges.encoding.to_string(),
            front_matter: edges.front_matter.clone(),
        }
    }

    /// Stores where something is. Its revision is one that agrees only if its file would be just what the base is.
    async fn note(
        &self,
        tx: &mut Tx,
        file: VaultFile,
        entity: Option<&Entity>,
    ) -> Result<(), KnowledgeError> {
        let agreed_revision = match entity {
            Some(entity) => {
                let bytes = entity_bytes(&file, entity)?;
                let is_same = bytes.is_some_and(|bytes| Digest::of(&bytes) == file.base);
                is_same.then_some(entity.head.revision.number)
            }
            None => None,
        };
        let file = VaultFile {
            agreed_revision,
            ..file
        };
        vault_files::put(tx, &file).await?;
        Ok(())
    }
}

/// A note that says of itself that a stranger wrote it is believed; everything else is the owner's folder.
const fn source(is_foreign: bool) -> TextSource {
    match is_foreign {
        true => TextSource::Capture,
        false => TextSource::Import,
    }
}
