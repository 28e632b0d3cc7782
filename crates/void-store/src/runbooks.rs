//! The table `runbooks`: which services and actions the newest revision of a page says that it is about.

use void_domain::ids::PageId;
use void_domain::knowledge::{Body, Entity, EntityId, FrontMatter, RunbookName};

use crate::entities;
use crate::errors::StoreError;
use crate::queries::Select;
use crate::tx::Tx;
use crate::values::values;

/// More runbooks than one looks into for one thing.
pub const RUNBOOKS_MAX: u32 = 20;

pub(crate) async fn replace(
    tx: &mut Tx,
    id: PageId,
    body: &Body,
    is_new: bool,
) -> Result<(), StoreError> {
    if !is_new {
        let delete = "DELETE FROM runbooks WHERE page_id = $1";
        tx.execute(delete, values![id.to_string()]).await?;
    }
    let insert = "INSERT INTO runbooks (kind, name, page_id) VALUES ($1, $2, $3)";
    for runbook in FrontMatter::of(body.as_str()).runbooks {
        let row = values![runbook.kind(), runbook.name(), id.to_string()];
        tx.execute(insert, row).await?;
    }
    Ok(())
}

/// The names of this kind that some page is about, each with such a page, oldest first.
pub async fn list_of_kind(
    tx: &mut Tx,
    kind: &str,
    limit: u32,
) -> Result<Vec<(RunbookName, PageId)>, StoreError> {
    const ROWS: &str = "SELECT runbooks.kind AS kind, runbooks.name AS name, runbooks.page_id AS page_id FROM runbooks \
        JOIN pages ON pages.id = runbooks.page_id JOIN spaces ON spaces.id = pages.space_id";
    Select::new("runbooks", ROWS)
        .only("pages.deleted_at IS NULL")
        .only("spaces.deleted_at IS NULL")
        .only_with("runbooks.kind = ?", kind.to_owned())
        .order_by("runbooks.page_id, runbooks.name")
        .all(tx, limit, |row| {
            let (kind, page) = (row.string("kind")?, row.parse("page_id")?);
            let name = row.parsed("name", |name| RunbookName::parse(&kind, name))?;
            Ok(Some((name, page)))
        })
        .await
}

/// The pages that are about this, oldest first, of every space that is there.
pub async fn list_about(tx: &mut Tx, about: &RunbookName) -> Result<Vec<Entity>, StoreError> {
    const PAGES: &str = "SELECT runbooks.page_id AS page_id FROM runbooks \
        JOIN pages ON pages.id = runbooks.page_id JOIN spaces ON spaces.id = pages.space_id";
    let ids: Vec<PageId> = Select::new("runbooks", PAGES)
        .only("pages.deleted_at IS NULL")
        .only("spaces.deleted_at IS NULL")
        .only_with("runbooks.kind = ?", about.kind())
        .only_with("runbooks.name = ?", about.name().to_owned())
        .order_by("runbooks.page_id")
        .all(tx, RUNBOOKS_MAX, |row| row.parse("page_id").map(Some))
        .await?;
    let mut pages = Vec::with_capacity(ids.len());
    for id in ids {
        pages.extend(entities::find(tx, EntityId::Page(id)).await?);
    }
    Ok(pages)
}
