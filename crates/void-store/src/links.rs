//! The table `links`: what the newest revision of an entity names. A link by title means the page of that title at the
//! moment somebody asks, so a page that is made later or gets another name has its links at once.

use void_domain::ids::{PageId, SpaceId};
use void_domain::knowledge::{
    Attachment, AttachmentName, Body, EntityHead, EntityId, EntityKind, LinkTarget, Links, Title,
};

use crate::entities::find_head;
use crate::errors::StoreError;
use crate::queries::Select;
use crate::tx::Tx;
use crate::values::{int, values};
use crate::{attachments, pages};

/// More than anybody reads below a page.
pub const BACKLINKS_MAX: u32 = 200;

pub(crate) async fn replace(tx: &mut Tx, head: &EntityHead, body: &Body) -> Result<(), StoreError> {
    let (kind, id) = (head.id.kind().as_str(), head.id.to_string());
    if head.revision.number > 1 {
        let sql = "DELETE FROM links WHERE from_kind = $1 AND from_id = $2";
        tx.execute(sql, values![kind, &id]).await?;
    }
    let sql = "INSERT INTO links (from_kind, from_id, place, space_id, to_kind, to_id, to_title) \
        VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let links = Links::of(body.as_str());
    for (place, target) in (1..).zip(links.targets()) {
        let entity = match target {
            LinkTarget::Entity(id) => Some(id),
            LinkTarget::Title(_) => None,
        };
        let row = values![
            kind,
            &id,
            int(place),
            head.space_id.to_string(),
            entity.map(|id| id.kind().as_str()),
            entity.map(ToString::to_string),
            target.title_key(),
        ];
        tx.execute(sql, row).await?;
    }
    Ok(())
}

/// What a text names, as it stands now.
#[derive(Debug, Clone, PartialEq)]
pub enum ResolvedLink {
    To(Box<EntityHead>),
    /// No page is called so, and a file of the space is.
    ToFile(Box<Attachment>),
    /// Nothing is called so, or it is deleted.
    Nothing(LinkTarget),
    /// Several pages are called so.
    Several(LinkTarget, Vec<PageId>),
}

/// Finds what links mean. A link of the form `[[Title]]` means a page of the same space.
pub async fn resolve(
    tx: &mut Tx,
    space: SpaceId,
    targets: &[LinkTarget],
) -> Result<Vec<ResolvedLink>, StoreError> {
    let mut resolved = Vec::with_capacity(targets.len());
    for target in targets {
        resolved.push(resolve_one(tx, space, target).await?);
    }
    Ok(resolved)
}

async fn resolve_one(
    tx: &mut Tx,
    space: SpaceId,
    target: &LinkTarget,
) -> Result<ResolvedLink, StoreError> {
    let mut found = match target {
        LinkTarget::Entity(id) => {
            let found = find_head(tx, *id).await?;
            let found = found.filter(|head| head.space_id == space && head.deleted.is_none());
            found.into_iter().collect()
        }
        LinkTarget::Title(_) => {
            let key = target.title_key().unwrap_or_default();
            pages::find_by_title(tx, space, &key).await?
        }
    };
    Ok(match (found.len(), found.pop()) {
        (1, Some(one)) => ResolvedLink::To(Box::new(one)),
        (0, _) | (_, None) => match file_of(tx, space, target).await? {
            Some(file) => ResolvedLink::ToFile(Box::new(file)),
            None => ResolvedLink::Nothing(target.clone()),
        },
        (_, Some(last)) => {
            let pages = found.into_iter().chain([last]);
            let ids = pages.filter_map(|page| match page.id {
                EntityId::Page(id) => Some(id),
                EntityId::Space(_)
                | EntityId::Project(_)
                | EntityId::Task(_)
                | EntityId::Ref(_) => None,
            });
            ResolvedLink::Several(target.clone(), ids.collect())
        }
    })
}

/// A file by its name, or by a path that ends with it.
async fn file_of(
    tx: &mut Tx,
    space: SpaceId,
    target: &LinkTarget,
) -> Result<Option<Attachment>, StoreError> {
    let LinkTarget::Title(text) = target else {
        return Ok(None);
    };
    let name = text.rsplit('/').next().unwrap_or_default();
    // Every name of a page that is still to be written would be looked up.
    let Some(name) = AttachmentName::parse(name)
        .ok()
        .filter(|_| name.contains('.'))
    else {
        return Ok(None);
    };
    attachments::find_by_name(tx, space, &name).await
}

/// Who names an entity of a space: by its id, or a page by its title. Each once, what is deleted left out, up to
/// [`BACKLINKS_MAX`].
pub async fn backlinks(tx: &mut Tx, head: &EntityHead) -> Result<Vec<EntityHead>, StoreError> {
    let mut from = by_id(tx, head).await?;
    if head.id.kind() == EntityKind::Page {
        for id in by_title(tx, head.space_id, &head.title).await? {
            if !from.contains(&id) {
                from.push(id);
            }
        }
    }
    let mut heads = Vec::new();
    for id in from.into_iter().take(BACKLINKS_MAX as usize) {
        let found = find_head(tx, id).await?;
        heads.extend(found.filter(|found| found.deleted.is_none() && found.id != head.id));
    }
    Ok(heads)
}

async fn by_id(tx: &mut Tx, head: &EntityHead) -> Result<Vec<EntityId>, StoreError> {
    Select::new("links", FROM)
        .only_with("to_id = ?", head.id.to_string())
        .only_with("to_kind = ?", head.id.kind().as_str())
        .only_with("space_id = ?", head.space_id.to_string())
        .order_by("from_id DESC")
        .all(tx, BACKLINKS_MAX, from)
        .await
}

async fn by_title(tx: &mut Tx, space: SpaceId, title: &Title) -> Result<Vec<EntityId>, StoreError> {
    Select::new("links", FROM)
        .only_with("space_id = ?", space.to_string())
        .only_with("to_title = ?", title.key())
        .order_by("from_id DESC")
        .all(tx, BACKLINKS_MAX, from)
        .await
}

const FROM: &str = "SELECT from_id, from_kind FROM links";

fn from(row: &crate::values::Row) -> Result<Option<EntityId>, StoreError> {
    let kind = row.parsed("from_kind", EntityKind::parse)?;
    let id = row.parsed("from_id", |id| EntityId::parse(kind, id).ok())?;
    Ok(Some(id))
}
