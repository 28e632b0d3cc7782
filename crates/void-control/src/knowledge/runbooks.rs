//! The owner's pages about services and actions: who asks for one is told which there are, and the owner says what a page is
//! about without writing its head by hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use void_domain::ids::PageId;
use void_domain::knowledge::runbooks::NoRunbook;
use void_domain::knowledge::{Entity, EntityId, Fields, RunbookName, with_runbooks};
use void_store::{Store, StoreError, entities, runbooks as books};

use super::update::EntityUpdate;
use super::{KnowledgeError, TextSource, find, may_read, may_write, update};
use crate::context::Ctx;
use crate::control::Control;

/// How many names are looked through for those of a list, and how many pages are read for it.
const NAMES_LISTED_MAX: u32 = 200;
const PAGES_READ_MAX: usize = 32;

/// Actions, each with a page about it.
pub type ActionRunbooks = Vec<(RunbookName, Entity)>;

/// The pages that say that they are about a service or an action.
pub async fn runbooks(
    control: &Control,
    ctx: &Ctx,
    about: RunbookName,
) -> Result<Vec<Entity>, KnowledgeError> {
    may_read(ctx)?;
    Ok(control
        .store
        .read(move |tx| Box::pin(async move { books::list_about(tx, &about).await }))
        .await?)
}

/// The oldest page about each action that has one, as far as few enough pages are read for it. Who lists actions asks at every
/// call, so they are read once until anybody commits.
pub async fn runbooks_of_actions(
    control: &Control,
    ctx: &Ctx,
) -> Result<Arc<ActionRunbooks>, KnowledgeError> {
    // What is remembered is nobody's in particular: who asks is judged each time.
    may_read(ctx)?;
    let reading = async { Ok(Some(Arc::new(read_of_actions(&control.store).await?))) };
    let remembered = &control.remembered.action_runbooks;
    let found = remembered.find(&control.store, (), reading).await?;
    Ok(found.unwrap_or_default())
}

async fn read_of_actions(store: &Store) -> Result<ActionRunbooks, StoreError> {
    store
        .read(|tx| {
            Box::pin(async move {
                let listed = books::list_of_kind(tx, "action", NAMES_LISTED_MAX).await?;
                let mut pages: BTreeMap<PageId, Entity> = BTreeMap::new();
                let mut found = ActionRunbooks::new();
                for (name, id) in listed {
                    if found.iter().any(|(known, _)| *known == name) {
                        continue;
                    }
                    if !pages.contains_key(&id) {
                        if pages.len() == PAGES_READ_MAX {
                            break;
                        }
                        let page = entities::find(tx, EntityId::Page(id)).await?;
                        pages.extend(page.map(|page| (id, page)));
                    }
                    found.extend(pages.get(&id).map(|page| (name, page.clone())));
                }
                Ok(found)
            })
        })
        .await
}

/// Writes into the head of a page that it is about exactly these. A text that a stranger could have written is answered for
/// first: to become a runbook would not be read as that, and to write a line into it is no word of the owner's about the rest.
pub async fn set_runbooks(
    control: &Control,
    ctx: &Ctx,
    page: PageId,
    base: u64,
    about: Vec<RunbookName>,
) -> Result<Entity, KnowledgeError> {
    may_write(ctx)?;
    let id = EntityId::Page(page);
    let current = find(control, ctx, id).await?;
    if current.head.revision.number != base {
        return Err(KnowledgeError::Conflict(Box::new(current)));
    }
    if current.head.is_foreign() {
        return Err(KnowledgeError::ForeignText);
    }
    let fields = current.fields();
    let body = with_runbooks(fields.body.as_str(), &about).map_err(|wrong| match wrong {
        NoRunbook::Head => KnowledgeError::RunbookHead,
        NoRunbook::Text(wrong) => KnowledgeError::Invalid("body", wrong),
    })?;
    let change = EntityUpdate {
        id,
        base,
        fields: Fields { body, ..fields },
        source: TextSource::Owner,
        reason: None,
    };
    update(control, ctx, change).await
}
