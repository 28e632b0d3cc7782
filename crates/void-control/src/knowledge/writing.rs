//! The writes themselves, in the transaction of whoever may write: the owner's use cases, and a decision that applies a
//! draft. None of these asks who the caller is; each leaves one entry of the record.

use serde_json::{Map, Value, json};
use void_domain::digests::Digest;
use void_domain::events::Audience;
use void_domain::ids::{ProjectId, SpaceId};
use void_domain::knowledge::{
    Deletion, Details, Entity, EntityHead, EntityId, EntityKind, Fields, InvalidField, Origin,
    Revision,
};
use void_domain::time::Timestamp;
use void_store::entities::{self, Undeleted};
use void_store::{StoreError, Tx, spaces};

use super::create::NewEntity;
use super::update::EntityUpdate;
use super::{KnowledgeError, check_reason, may_write};
use crate::context::Ctx;
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::random;

/// How many writes go into one transaction; others wait for it meanwhile, and a database on another machine is asked some ten
/// times for each.
pub const WRITE_AT_ONCE_MAX: usize = 64;

/// One of several writes that happen together or not at all.
#[derive(Debug, Clone)]
pub enum Write {
    Create(NewEntity),
    Update(EntityUpdate),
}

/// For imports: so many writes at once, all of them or none. What they became stands in the order of the request.
pub async fn write_many(
    control: &Control,
    ctx: &Ctx,
    writes: Vec<Write>,
) -> Result<Vec<Entity>, KnowledgeError> {
    may_write(ctx)?;
    if writes.len() > WRITE_AT_ONCE_MAX {
        return Err(KnowledgeError::Full);
    }
    for one in &writes {
        match one {
            Write::Create(new) => check_reason(new.reason.as_ref())?,
            Write::Update(update) => check_reason(update.reason.as_ref())?,
        }
    }
    let (context, at) = (control.context(ctx), control.clock.now());
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let writing = Writing::by_owner(&context, at);
                let mut written = Vec::with_capacity(writes.len());
                for one in writes {
                    written.push(match one {
                        Write::Create(new) => {
                            let origin = new.source.origin();
                            create_in(tx, writing, new, origin).await?
                        }
                        Write::Update(update) => {
                            let origin = update.source.origin();
                            update_in(tx, writing, update, origin).await?
                        }
                    });
                }
                Ok(written)
            })
        })
        .await
}

/// Who writes when, and what a draft that is applied showed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Writing<'a> {
    pub audit: &'a AuditContext,
    pub at: Timestamp,
    pub diff: Option<&'a str>,
}

impl<'a> Writing<'a> {
    pub(super) const fn by_owner(audit: &'a AuditContext, at: Timestamp) -> Self {
        Self {
            audit,
            at,
            diff: None,
        }
    }
}

/// What happened to an entity, as the record calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntityStep {
    Created,
    Changed,
    Deleted,
    Restored,
    Vouched,
}

const fn verb(kind: EntityKind, step: EntityStep) -> &'static str {
    match (kind, step) {
        (EntityKind::Space, EntityStep::Created) => "space.created",
        (EntityKind::Space, EntityStep::Changed) => "space.changed",
        (EntityKind::Space, EntityStep::Deleted) => "space.deleted",
        (EntityKind::Space, EntityStep::Restored) => "space.restored",
        (EntityKind::Space, EntityStep::Vouched) => "space.vouched",
        (EntityKind::Project, EntityStep::Created) => "project.created",
        (EntityKind::Project, EntityStep::Changed) => "project.changed",
        (EntityKind::Project, EntityStep::Deleted) => "project.deleted",
        (EntityKind::Project, EntityStep::Restored) => "project.restored",
        (EntityKind::Project, EntityStep::Vouched) => "project.vouched",
        (EntityKind::Page, EntityStep::Created) => "page.created",
        (EntityKind::Page, EntityStep::Changed) => "page.changed",
        (EntityKind::Page, EntityStep::Deleted) => "page.deleted",
        (EntityKind::Page, EntityStep::Restored) => "page.restored",
        (EntityKind::Page, EntityStep::Vouched) => "page.vouched",
        (EntityKind::Task, EntityStep::Created) => "task.created",
        (EntityKind::Task, EntityStep::Changed) => "task.changed",
        (EntityKind::Task, EntityStep::Deleted) => "task.deleted",
        (EntityKind::Task, EntityStep::Restored) => "task.restored",
        (EntityKind::Task, EntityStep::Vouched) => "task.vouched",
        (EntityKind::Ref, EntityStep::Created) => "ref.created",
        (EntityKind::Ref, EntityStep::Changed) => "ref.changed",
        (EntityKind::Ref, EntityStep::Deleted) => "ref.deleted",
        (EntityKind::Ref, EntityStep::Restored) => "ref.restored",
        (EntityKind::Ref, EntityStep::Vouched) => "ref.vouched",
    }
}

/// On the record: which one and which revision, how long its texts are and what a title's digest is, and no text. Of a draft
/// it holds how the difference begins, with its digest.
pub(crate) async fn record(
    tx: &mut Tx,
    writing: Writing<'_>,
    step: EntityStep,
    head: &EntityHead,
    body_bytes: Option<usize>,
) -> Result<(), StoreError> {
    let revision = &head.revision;
    let mut detail = Map::new();
    detail.insert("kind".to_owned(), json!(head.id.kind()));
    detail.insert("space_id".to_owned(), json!(head.space_id));
    detail.insert("revision".to_owned(), json!(revision.number));
    detail.insert("origin".to_owned(), json!(revision.origin.as_str()));
    let title = head.title.as_str();
    detail.insert("title_bytes".to_owned(), json!(title.len()));
    let digest = Digest::of(title.as_bytes());
    detail.insert("title_sha256".to_owned(), json!(digest));
    if let Some(bytes) = body_bytes {
        detail.insert("body_bytes".to_owned(), json!(bytes));
    }
    if let Origin::Draft { proposal, .. } = &revision.origin {
        detail.insert("proposal".to_owned(), json!(proposal));
    }
    let says_why = matches!(step, EntityStep::Created | EntityStep::Changed);
    if let Some(reason) = revision.reason.as_ref().filter(|_| says_why) {
        facts::tell(&mut detail, "reason", reason);
    }
    if let Some(diff) = writing.diff {
        facts::tell(&mut detail, "diff", diff);
    }
    let subject = Some(head.id.to_string());
    let fact = (verb(head.id.kind(), step), subject, Value::Object(detail));
    facts::tell_of(tx, writing.audit, writing.at, Audience::OwnerOnly, fact).await
}

/// An entity that is there: neither it nor its space is deleted.
pub(crate) async fn live(tx: &mut Tx, id: EntityId) -> Result<Option<Entity>, StoreError> {
    let Some(found) = entities::find(tx, id).await? else {
        return Ok(None);
    };
    let is_there =
        found.head.deleted.is_none() && spaces::is_there(tx, found.head.space_id).await?;
    Ok(is_there.then_some(found))
}

pub(crate) async fn create_in(
    tx: &mut Tx,
    writing: Writing<'_>,
    new: NewEntity,
    origin: Origin,
) -> Result<Entity, KnowledgeError> {
    let kind = new.fields.kind();
    let (at, by) = (writing.at, writing.audit.actor.clone());
    let id = EntityId::new(kind, at, random::bytes()?);
    let space_id = match (id, new.space_id) {
        (EntityId::Space(id), None) => id,
        (EntityId::Space(_), Some(_)) | (_, None) => return Err(KnowledgeError::NotFound),
        (_, Some(space)) => space,
    };
    check_project(tx, space_id, &new.fields).await?;
    let entity = Entity {
        head: EntityHead {
            id,
            space_id,
            title: new.fields.title,
            details: new.fields.details,
            revision: Revision {
                number: 1,
                at,
                by,
                origin,
                vouched: None,
                reason: new.reason,
            },
            created_at: at,
            deleted: None,
        },
        body: new.fields.body,
    };
    if kind != EntityKind::Space && !spaces::is_there(tx, space_id).await? {
        return Err(KnowledgeError::NotFound);
    }
    if !entities::insert(tx, &entity).await? {
        return Err(KnowledgeError::Full);
    }
    let bytes = Some(entity.body.as_str().len());
    record(tx, writing, EntityStep::Created, &entity.head, bytes).await?;
    Ok(entity)
}

pub(crate) async fn update_in(
    tx: &mut Tx,
    writing: Writing<'_>,
    update: EntityUpdate,
    writer: Origin,
) -> Result<Entity, KnowledgeError> {
    let current = live(tx, update.id).await?.ok_or(KnowledgeError::NotFound)?;
    if update.fields.kind() != update.id.kind() {
        return Err(KnowledgeError::NotFound);
    }
    if current.head.revision.number != update.base {
        return Err(KnowledgeError::Conflict(Box::new(current)));
    }
    // Said twice is said once.
    if current.fields() == update.fields {
        return Ok(current);
    }
    check_project(tx, current.head.space_id, &update.fields).await?;
    let (origin, vouched) = current.next_origin(&update.fields, writer);
    let revision = Revision {
        number: update.base.saturating_add(1),
        at: writing.at,
        by: writing.audit.actor.clone(),
        origin,
        vouched,
        reason: update.reason,
    };
    revise(
        tx,
        writing,
        EntityStep::Changed,
        (current, update.fields, revision),
    )
    .await
}

/// Stores the next revision of what was read in this transaction.
pub(super) async fn revise(
    tx: &mut Tx,
    writing: Writing<'_>,
    step: EntityStep,
    (current, fields, revision): (Entity, Fields, Revision),
) -> Result<Entity, KnowledgeError> {
    let base = current.head.revision.number;
    let next = current.clone().revised(fields, revision);
    if !entities::update(tx, base, &next).await? {
        return Err(KnowledgeError::Conflict(Box::new(current)));
    }
    let bytes = Some(next.body.as_str().len());
    record(tx, writing, step, &next.head, bytes).await?;
    Ok(next)
}

pub(crate) async fn delete_in(
    tx: &mut Tx,
    writing: Writing<'_>,
    id: EntityId,
    base: Option<u64>,
) -> Result<EntityHead, KnowledgeError> {
    let current = live(tx, id).await?.ok_or(KnowledgeError::NotFound)?;
    if base.is_some_and(|base| base != current.head.revision.number) {
        return Err(KnowledgeError::Conflict(Box::new(current)));
    }
    let deletion = Deletion {
        at: writing.at,
        by: writing.audit.actor.clone(),
    };
    if !entities::delete(tx, &current.head, &deletion).await? {
        return Err(KnowledgeError::Conflict(Box::new(current)));
    }
    let head = EntityHead {
        deleted: Some(deletion),
        ..current.head
    };
    record(tx, writing, EntityStep::Deleted, &head, None).await?;
    Ok(head)
}

pub(super) async fn undelete_in(
    tx: &mut Tx,
    writing: Writing<'_>,
    id: EntityId,
) -> Result<Entity, KnowledgeError> {
    let found = entities::find(tx, id)
        .await?
        .ok_or(KnowledgeError::NotFound)?;
    match entities::undelete(tx, &found.head).await? {
        Undeleted::WasThere => Ok(found),
        Undeleted::NoRoom if !spaces::is_there(tx, found.head.space_id).await? => {
            Err(KnowledgeError::NotFound)
        }
        Undeleted::NoRoom => Err(KnowledgeError::Full),
        Undeleted::Yes => {
            let back = Entity {
                head: EntityHead {
                    deleted: None,
                    ..found.head
                },
                body: found.body,
            };
            record(tx, writing, EntityStep::Restored, &back.head, None).await?;
            Ok(back)
        }
    }
}

/// A project belongs to the same space, and is there.
async fn check_project(tx: &mut Tx, space: SpaceId, fields: &Fields) -> Result<(), KnowledgeError> {
    let Some(id) = fields.details.project_id() else {
        return Ok(());
    };
    match is_project_of(tx, space, id).await? {
        true => Ok(()),
        false => Err(KnowledgeError::NoProject),
    }
}

pub(super) async fn is_project_of(
    tx: &mut Tx,
    space: SpaceId,
    id: ProjectId,
) -> Result<bool, StoreError> {
    let found = entities::find_head(tx, EntityId::Project(id)).await?;
    Ok(found.is_some_and(|head| {
        matches!(head.details, Details::Project) && head.space_id == space && head.deleted.is_none()
    }))
}

impl From<(&'static str, InvalidField)> for KnowledgeError {
    fn from((field, wrong): (&'static str, InvalidField)) -> Self {
        Self::Invalid(field, wrong)
    }
}
