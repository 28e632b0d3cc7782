//! The table `refs`: pages of the web that were kept.

use void_domain::ids::SpaceId;
use void_domain::knowledge::{Details, EntityHead, EntityKind, RefDetails, RefUrl};

use crate::entity_tables::{EntityTable, entity_table, head_of, json, readable};
use crate::errors::StoreError;
use crate::queries::Select;
use crate::tx::Tx;
use crate::values::{Row, Value, values};

pub(crate) const TABLE: EntityTable = entity_table!(
    "refs",
    ", project_id, tags, url",
    ", $14, $15, $16",
    ", project_id = $13, tags = $14, url = $15"
);

pub(crate) fn own_values(kept: &RefDetails) -> Vec<Value<'static>> {
    vec![
        kept.project_id.map(|id| id.to_string()).into(),
        json(&kept.tags).into(),
        kept.url.to_string().into(),
    ]
}

pub(crate) fn details(row: &Row) -> Result<RefDetails, StoreError> {
    Ok(RefDetails {
        project_id: row.opt_parse("project_id")?,
        url: row.parsed("url", |url| RefUrl::parse(url).ok())?,
        tags: row.json("tags")?,
    })
}

/// The newest ref of a space with this address.
pub async fn find_by_url(
    tx: &mut Tx,
    space: SpaceId,
    url: &RefUrl,
) -> Result<Option<EntityHead>, StoreError> {
    let found = Select::new("refs", TABLE.heads)
        .only("deleted_at IS NULL")
        .only_with("space_id = ?", space.to_string())
        .only_with("url = ?", url.as_str())
        .order_by("recency DESC")
        .all(tx, 1_u32, |row| readable(head(row)))
        .await?;
    Ok(found.into_iter().next())
}

/// More than a space ever holds of one kind: those that are there and those that were thrown away.
const LOOKED_THROUGH_MAX: i64 = 1_000_000;

/// The addresses of the refs of a space that were thrown away.
pub async fn deleted_urls(tx: &mut Tx, space: SpaceId) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT id, url FROM refs WHERE space_id = $1 AND deleted_at IS NOT NULL LIMIT $2";
    let row = values![space.to_string(), LOOKED_THROUGH_MAX];
    tx.read("refs", sql, row, |row| row.string("url")).await
}

fn head(row: &Row) -> Result<EntityHead, StoreError> {
    head_of(EntityKind::Ref, row, Details::Ref(details(row)?))
}
