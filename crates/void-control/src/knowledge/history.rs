//! What something said before. It is for the owner: an older text may have been taken back for a reason, and its mark is not
//! the mark of what is there now.

use void_domain::diffs;
use void_domain::knowledge::{EntityId, Revision, WordDiff};
use void_store::Page;
use void_store::revisions::{self, RevisionHead, StoredRevision};

use super::{KnowledgeError, may_write};
use crate::context::Ctx;
use crate::control::Control;

/// Newest first, before the number that the cursor is. Also of what was thrown away.
pub async fn history(
    control: &Control,
    ctx: &Ctx,
    id: EntityId,
    before: Option<u64>,
    limit: u32,
) -> Result<Page<RevisionHead>, KnowledgeError> {
    may_write(ctx)?;
    let page = control
        .store
        .read(move |tx| Box::pin(revisions::list(tx, id, before, limit)))
        .await?;
    match page.items.is_empty() && before.is_none() {
        true => Err(KnowledgeError::NotFound),
        false => Ok(page),
    }
}

pub async fn revision(
    control: &Control,
    ctx: &Ctx,
    id: EntityId,
    number: u64,
) -> Result<StoredRevision, KnowledgeError> {
    may_write(ctx)?;
    let found = control
        .store
        .read(move |tx| Box::pin(revisions::find(tx, id, number)))
        .await?;
    found.ok_or(KnowledgeError::NotFound)
}

/// What differs between two revisions, in two forms.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    pub from: Revision,
    pub to: Revision,
    /// By lines; `None` if too many differ for one.
    pub unified: Option<String>,
    pub words: WordDiff,
}

pub async fn diff(
    control: &Control,
    ctx: &Ctx,
    id: EntityId,
    from: u64,
    to: u64,
) -> Result<Difference, KnowledgeError> {
    let old = revision(control, ctx, id, from).await?;
    let new = revision(control, ctx, id, to).await?;
    // Comparing long texts takes a processor for a while.
    let comparing = void_store::lanes::work_away(move || {
        let (before, after) = (old.fields.written(), new.fields.written());
        Difference {
            unified: diffs::unified_exact(&before, &after).ok(),
            words: WordDiff::between(&before, &after),
            from: old.revision,
            to: new.revision,
        }
    });
    Ok(comparing.await?)
}
