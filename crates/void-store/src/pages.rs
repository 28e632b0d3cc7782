//! The table `pages`. A page is found by its title too, because links name it so.

use void_domain::ids::{PageId, SpaceId};
use void_domain::knowledge::{Details, EntityHead, EntityKind, NotePath, PageDetails, Title};

use crate::entity_tables::{EntityTable, entity_table, head_of, json, readable};
use crate::errors::StoreError;
use crate::queries::Select;
use crate::tx::Tx;
use crate::values::{Row, Value, values};

/// More pages of one title than anybody chooses from.
const SAME_TITLE_MAX: u32 = 20;

pub(crate) const TABLE: EntityTable = entity_table!(
    "pages",
    ", project_id, tags, path, title_key",
    ", $14, $15, $16, $17",
    ", project_id = $13, tags = $14, path = $15, title_key = $16"
);

pub(crate) fn own_values(page: &PageDetails, title: &Title) -> Vec<Value<'static>> {
    vec![
        page.project_id.map(|id| id.to_string()).into(),
        json(&page.tags).into(),
        page.path.as_ref().map(ToString::to_string).into(),
        title.key().into(),
    ]
}

pub(crate) fn details(row: &Row) -> Result<PageDetails, StoreError> {
    let path = row.opt_text("path")?.map(NotePath::parse).transpose();
    Ok(PageDetails {
        project_id: row.opt_parse("project_id")?,
        tags: row.json("tags")?,
        path: path.map_err(|_| row.corrupt("column path does not hold what it should"))?,
    })
}

/// The pages of a space that a link with this key means, oldest first. More than one: it means none of them.
pub async fn find_by_title(
    tx: &mut Tx,
    space: SpaceId,
    key: &str,
) -> Result<Vec<EntityHead>, StoreError> {
    Select::new("pages", TABLE.heads)
        .only("deleted_at IS NULL")
        .only_with("space_id = ?", space.to_string())
        .only_with("title_key = ?", key)
        .order_by("id")
        .all(tx, SAME_TITLE_MAX, |row| readable(head(row)))
        .await
}

/// More than a space ever holds: those that are there and those that were thrown away.
const LOOKED_THROUGH_MAX: i64 = 1_000_000;

/// The pages of a space whose path begins so: their paths, their ids, and whether they were thrown away.
pub async fn paths_below(
    tx: &mut Tx,
    space: SpaceId,
    folder: &str,
) -> Result<Vec<(String, PageId, bool)>, StoreError> {
    let sql =
        "SELECT id, path, deleted_at FROM pages WHERE space_id = $1 AND path LIKE $2 LIMIT $3";
    let row = values![space.to_string(), format!("{folder}%"), LOOKED_THROUGH_MAX];
    let found = tx
        .read("pages", sql, row, |row| {
            let is_deleted = row.opt_time("deleted_at")?.is_some();
            Ok((row.string("path")?, row.parse("id")?, is_deleted))
        })
        .await?;
    // On one of the engines capitals make no difference to LIKE.
    let found = found.into_iter();
    Ok(found
        .filter(|(path, ..)| path.starts_with(folder))
        .collect())
}

fn head(row: &Row) -> Result<EntityHead, StoreError> {
    head_of(EntityKind::Page, row, Details::Page(details(row)?))
}
