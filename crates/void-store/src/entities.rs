//! The rows of spaces, projects, pages, tasks and refs: what is alike in all five. Each noun has its own table and its own
//! file with what only it has; whoever writes goes through here, so that no row is without its revision, its links and its
//! place in the counts of its space.
//!
//! Updates are guarded by the revision that they were made against. Losing is an answer, not an error.

use void_domain::ids::{ProjectId, SpaceId};
use void_domain::knowledge::{
    Deletion, Details, Entity, EntityHead, EntityId, EntityKind, TaskState, Vouched,
};
use void_domain::limits::SPACE_ENTITIES_MAX;

use crate::entity_tables::{EntityTable, head_of, json, readable};
use crate::errors::StoreError;
use crate::queries::Select;
use crate::tx::Tx;
use crate::values::{Page, Row, Value, int, values};
use crate::{links, pages, projects, refs, revisions, runbooks, search, spaces, tasks};

const fn table(kind: EntityKind) -> &'static EntityTable {
    match kind {
        EntityKind::Space => &spaces::TABLE,
        EntityKind::Project => &projects::TABLE,
        EntityKind::Page => &pages::TABLE,
        EntityKind::Task => &tasks::TABLE,
        EntityKind::Ref => &refs::TABLE,
    }
}

/// What only this kind has, in the order of its own columns.
fn own_values(head: &EntityHead) -> Vec<Value<'static>> {
    match &head.details {
        Details::Space(space) => spaces::own_values(space),
        Details::Project => Vec::new(),
        Details::Page(page) => pages::own_values(page, &head.title),
        Details::Task(task) => tasks::own_values(task, head.id),
        Details::Ref(kept) => refs::own_values(kept),
    }
}

/// Stores a new entity and its first revision. `false`: its space is full, deleted or never was.
pub async fn insert(tx: &mut Tx, entity: &Entity) -> Result<bool, StoreError> {
    let head = &entity.head;
    if !take_room(tx, head).await? {
        return Ok(false);
    }
    let revision = &head.revision;
    let mut row = values![
        head.id.to_string(),
        head.space_id.to_string(),
        head.title.as_str(),
        int(revision.number),
        revision.at,
        &revision.by,
        json(&revision.origin),
        revision.reason.as_ref(),
        revision.vouched.as_ref().map(|vouched| vouched.at),
        revision.vouched.as_ref().map(|vouched| &vouched.by),
        head.created_at,
        recency(head),
        entity.body.as_str(),
    ]
    .to_vec();
    row.extend(own_values(head));
    tx.execute(table(head.id.kind()).insert, &row).await?;
    write_text(tx, entity).await?;
    Ok(true)
}

/// Stores the next revision, if the row is still at `base` and not deleted. `false`: somebody was faster.
pub async fn update(tx: &mut Tx, base: u64, entity: &Entity) -> Result<bool, StoreError> {
    let (head, revision) = (&entity.head, &entity.head.revision);
    let mut row = values![
        head.id.to_string(),
        int(base),
        head.title.as_str(),
        int(revision.number),
        revision.at,
        &revision.by,
        json(&revision.origin),
        revision.reason.as_ref(),
        revision.vouched.as_ref().map(|vouched| vouched.at),
        revision.vouched.as_ref().map(|vouched| &vouched.by),
        recency(head),
        entity.body.as_str(),
    ]
    .to_vec();
    row.extend(own_values(head));
    if tx.execute(table(head.id.kind()).update, &row).await? == 0 {
        return Ok(false);
    }
    write_text(tx, entity).await?;
    Ok(true)
}

/// The revision, what its text names, and what it is found by.
async fn write_text(tx: &mut Tx, entity: &Entity) -> Result<(), StoreError> {
    revisions::insert(tx, entity).await?;
    links::replace(tx, &entity.head, &entity.body).await?;
    search::replace(tx, entity).await?;
    if let EntityId::Page(id) = entity.head.id {
        let is_new = entity.head.revision.number == 1;
        runbooks::replace(tx, id, &entity.body, is_new).await?;
    }
    Ok(())
}

/// Also what is deleted, which says so.
pub async fn find(tx: &mut Tx, id: EntityId) -> Result<Option<Entity>, StoreError> {
    let table = table(id.kind());
    tx.find(table.name, table.find, values![id.to_string()], |row| {
        Ok(Entity {
            head: head(id.kind(), row)?,
            body: row.parse_body()?,
        })
    })
    .await
}

/// The same without its text.
pub async fn find_head(tx: &mut Tx, id: EntityId) -> Result<Option<EntityHead>, StoreError> {
    let table = table(id.kind());
    let read = |row: &Row| head(id.kind(), row);
    tx.find(table.name, table.find_head, values![id.to_string()], read)
        .await
}

/// Throws an entity away, if it is still at this revision. `false`: it is not, or it is away already.
pub async fn delete(
    tx: &mut Tx,
    head: &EntityHead,
    deletion: &Deletion,
) -> Result<bool, StoreError> {
    let row = values![
        head.id.to_string(),
        int(head.revision.number),
        deletion.at,
        &deletion.by
    ];
    if tx.execute(table(head.id.kind()).delete, row).await? == 0 {
        return Ok(false);
    }
    spaces::count_one_less(tx, head.id.kind(), head.space_id).await?;
    search::remove(tx, head).await?;
    Ok(true)
}

/// What became of taking something back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undeleted {
    Yes,
    /// Nobody had thrown it away.
    WasThere,
    /// Its space is full, or deleted itself.
    NoRoom,
}

/// Takes back what was thrown away, as the caller has just found it.
pub async fn undelete(tx: &mut Tx, head: &EntityHead) -> Result<Undeleted, StoreError> {
    if head.deleted.is_none() {
        return Ok(Undeleted::WasThere);
    }
    if !take_room(tx, head).await? {
        return Ok(Undeleted::NoRoom);
    }
    let row = values![head.id.to_string()];
    if tx.execute(table(head.id.kind()).undelete, row).await? == 0 {
        let what = "a row changed under its own transaction";
        return Err(StoreError::Internal(what.to_owned()));
    }
    if let Some(back) = find(tx, head.id).await? {
        search::replace(tx, &back).await?;
    }
    Ok(Undeleted::Yes)
}

/// Counts one more in its space, if there is room for it.
async fn take_room(tx: &mut Tx, head: &EntityHead) -> Result<bool, StoreError> {
    match head.id.kind() {
        EntityKind::Space => spaces::has_room(tx).await,
        kind => spaces::count_one_more(tx, kind, head.space_id, SPACE_ENTITIES_MAX).await,
    }
}

/// Notes that the owner answers for the text of this revision. `false`: it is not the newest, or was vouched for before.
pub async fn vouch(
    tx: &mut Tx,
    id: EntityId,
    revision: u64,
    vouched: &Vouched,
) -> Result<bool, StoreError> {
    let row = values![id.to_string(), int(revision), vouched.at, &vouched.by];
    if tx.execute(table(id.kind()).vouch, row).await? == 0 {
        return Ok(false);
    }
    revisions::vouch(tx, id, revision, vouched).await?;
    Ok(true)
}

/// Which entities a list shows: of spaces all, of everything else those of one space.
#[derive(Debug, Clone, Copy)]
pub struct EntityFilter {
    pub kind: EntityKind,
    pub space_id: Option<SpaceId>,
    pub project_id: Option<ProjectId>,
    /// Of tasks.
    pub state: Option<TaskState>,
    /// What was thrown away instead of what is there.
    pub is_deleted: bool,
}

impl EntityFilter {
    pub const fn spaces() -> Self {
        Self::of(EntityKind::Space, None)
    }

    /// Everything of one kind in a space.
    pub const fn within(space_id: SpaceId, kind: EntityKind) -> Self {
        Self::of(kind, Some(space_id))
    }

    const fn of(kind: EntityKind, space_id: Option<SpaceId>) -> Self {
        Self {
            kind,
            space_id,
            project_id: None,
            state: None,
            is_deleted: false,
        }
    }
}

/// What was changed last comes first.
pub async fn list(
    tx: &mut Tx,
    filter: EntityFilter,
    cursor: Option<&str>,
    limit: u32,
) -> Result<Page<EntityHead>, StoreError> {
    filtered(filter, cursor)
        .page(tx, limit, |row| readable(head(filter.kind, row)))
        .await
}

/// What is of a kind that has files and has none, what was changed last first.
pub async fn list_without_file(
    tx: &mut Tx,
    space: SpaceId,
    kind: EntityKind,
    cursor: Option<&str>,
    limit: u32,
) -> Result<Page<EntityHead>, StoreError> {
    let table = table(kind);
    Select::new(table.name, table.heads)
        .only("deleted_at IS NULL")
        .only("NOT EXISTS (SELECT 1 FROM vault_files f WHERE f.item_id = id)")
        .only_with("space_id = ?", space.to_string())
        .newest_first("recency", cursor)
        .page(tx, limit, |row| readable(head(kind, row)))
        .await
}

fn filtered(filter: EntityFilter, cursor: Option<&str>) -> crate::queries::Paged<'_> {
    let table = table(filter.kind);
    let is_task = filter.kind == EntityKind::Task;
    let state = filter.state.filter(|_| is_task);
    Select::new(table.name, table.heads)
        .only(match filter.is_deleted {
            true => "deleted_at IS NOT NULL",
            false => "deleted_at IS NULL",
        })
        .only_with_some("space_id = ?", filter.space_id.map(|id| id.to_string()))
        .only_with_some("project_id = ?", filter.project_id.map(|id| id.to_string()))
        .only_with_some("state = ?", state.map(TaskState::as_str))
        .newest_first("recency", cursor)
}

/// Unique, and in the order of time; the time has as many digits as it will ever have.
fn recency(head: &EntityHead) -> String {
    format!("{:015}-{}", head.revision.at.as_ms().max(0), head.id)
}

fn head(kind: EntityKind, row: &Row) -> Result<EntityHead, StoreError> {
    let details = match kind {
        EntityKind::Space => Details::Space(spaces::details(row)?),
        EntityKind::Project => Details::Project,
        EntityKind::Page => Details::Page(pages::details(row)?),
        EntityKind::Task => Details::Task(tasks::details(row)?),
        EntityKind::Ref => Details::Ref(refs::details(row)?),
    };
    head_of(kind, row, details)
}

#[cfg(test)]
mod tests {
    use super::*;
    use void_domain::time::Timestamp;

    use crate::queries::plan;

    /// A page of a list reads what it shows, however much a space holds.
    #[test]
    fn a_list_goes_down_an_index() {
        let space = SpaceId::new(Timestamp::from_ms(1), [1; 10]);
        let project = ProjectId::new(Timestamp::from_ms(1), [2; 10]);
        let mut filters = vec![EntityFilter::spaces()];
        for kind in EntityKind::ALL.into_iter().skip(1) {
            filters.push(EntityFilter::within(space, kind));
        }
        for kind in [EntityKind::Page, EntityKind::Task, EntityKind::Ref] {
            filters.push(EntityFilter {
                project_id: Some(project),
                ..EntityFilter::within(space, kind)
            });
        }
        for filter in filters {
            for is_deleted in [false, true] {
                for cursor in [None, Some("000000000000001-x")] {
                    let filter = EntityFilter {
                        is_deleted,
                        ..filter
                    };
                    let plan = plan(filtered(filter, cursor));
                    let steps = plan.join("; ");
                    assert!(steps.contains("USING INDEX"), "{filter:?}: {steps}");
                    assert!(!steps.contains("TEMP B-TREE"), "{filter:?}: {steps}");
                }
            }
        }
    }
}
