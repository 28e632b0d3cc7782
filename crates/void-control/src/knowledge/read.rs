//! Reading what the owner keeps. What is thrown away, and everything in a space that is, is not there.

use void_domain::ids::SpaceId;
use void_domain::knowledge::{Entity, EntityHead, EntityId, EntityKind, LinkTarget, Links, RefUrl};
use void_store::entities::{self, EntityFilter};
use void_store::links::{self, BACKLINKS_MAX, ResolvedLink};
use void_store::spaces::{self, SpaceCounts};
use void_store::{Page, Tx, refs, tasks};

use super::writing::live;
use super::{KnowledgeError, may_read, may_write};
use crate::context::Ctx;
use crate::control::Control;

/// How many links of one text are looked up; the others stay text.
pub(super) const LINKS_RESOLVED_MAX: usize = BACKLINKS_MAX as usize;

pub async fn find(control: &Control, ctx: &Ctx, id: EntityId) -> Result<Entity, KnowledgeError> {
    may_read(ctx)?;
    let found = control.store.read(move |tx| Box::pin(live(tx, id))).await?;
    found.ok_or(KnowledgeError::NotFound)
}

/// What was changed last comes first. What is thrown away is for the owner alone.
pub async fn list(
    control: &Control,
    ctx: &Ctx,
    filter: EntityFilter,
    cursor: Option<String>,
    limit: u32,
) -> Result<Page<EntityHead>, KnowledgeError> {
    may_read(ctx)?;
    if filter.is_deleted {
        may_write(ctx)?;
    }
    // Of spaces all are listed, of everything else what is in one.
    if (filter.kind == EntityKind::Space) != filter.space_id.is_none() {
        return Err(KnowledgeError::NotFound);
    }
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                if let Some(space) = filter.space_id {
                    be_there(tx, space).await?;
                }
                Ok(entities::list(tx, filter, cursor.as_deref(), limit).await?)
            })
        })
        .await
}

/// What is open in a space, by day; those without a day last.
pub async fn list_open_tasks(
    control: &Control,
    ctx: &Ctx,
    space: SpaceId,
    cursor: Option<String>,
    limit: u32,
) -> Result<Page<EntityHead>, KnowledgeError> {
    may_read(ctx)?;
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                be_there(tx, space).await?;
                Ok(tasks::list_open(tx, space, cursor.as_deref(), limit).await?)
            })
        })
        .await
}

/// How much is in a space.
pub async fn space_counts(
    control: &Control,
    ctx: &Ctx,
    space: SpaceId,
) -> Result<SpaceCounts, KnowledgeError> {
    may_read(ctx)?;
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                be_there(tx, space).await?;
                let counts = spaces::counts(tx, space).await?;
                counts.ok_or(KnowledgeError::NotFound)
            })
        })
        .await
}

pub(super) async fn be_there(tx: &mut Tx, space: SpaceId) -> Result<(), KnowledgeError> {
    match spaces::is_there(tx, space).await? {
        true => Ok(()),
        false => Err(KnowledgeError::NotFound),
    }
}

/// The newest ref of a space with this address, so that the same page is not kept twice.
pub async fn find_ref(
    control: &Control,
    ctx: &Ctx,
    space: SpaceId,
    url: RefUrl,
) -> Result<Option<EntityHead>, KnowledgeError> {
    may_read(ctx)?;
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                be_there(tx, space).await?;
                Ok(refs::find_by_url(tx, space, &url).await?)
            })
        })
        .await
}

/// What an entity names, and who names it.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityLinks {
    pub links: Vec<ResolvedLink>,
    pub backlinks: Vec<EntityHead>,
    /// There are more of one or the other than are told.
    pub is_cut: bool,
}

pub async fn linked(
    control: &Control,
    ctx: &Ctx,
    id: EntityId,
) -> Result<EntityLinks, KnowledgeError> {
    may_read(ctx)?;
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let entity = live(tx, id).await?.ok_or(KnowledgeError::NotFound)?;
                let found = Links::of(entity.body.as_str());
                let mut targets: Vec<LinkTarget> = found.targets().into_iter().cloned().collect();
                let is_cut = found.is_cut || targets.len() > LINKS_RESOLVED_MAX;
                targets.truncate(LINKS_RESOLVED_MAX);
                let backlinks = links::backlinks(tx, &entity.head).await?;
                Ok(EntityLinks {
                    links: links::resolve(tx, entity.head.space_id, &targets).await?,
                    is_cut: is_cut || backlinks.len() >= BACKLINKS_MAX as usize,
                    backlinks,
                })
            })
        })
        .await
}
