//! What a text would name if it were kept in a space: for showing it before it is stored. It only reads.

use void_domain::ids::SpaceId;
use void_domain::knowledge::{LinkTarget, Links};
use void_store::links::{self, ResolvedLink};

use super::read::{LINKS_RESOLVED_MAX, be_there};
use super::{KnowledgeError, may_write};
use crate::context::Ctx;
use crate::control::Control;

/// Each target once, in the order of the text, and what it means there.
pub async fn resolve_links(
    control: &Control,
    ctx: &Ctx,
    space: SpaceId,
    text: &str,
) -> Result<Vec<(LinkTarget, ResolvedLink)>, KnowledgeError> {
    may_write(ctx)?;
    let found = Links::of(text);
    let mut targets: Vec<LinkTarget> = found.targets().into_iter().cloned().collect();
    targets.truncate(LINKS_RESOLVED_MAX);
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                be_there(tx, space).await?;
                let resolved = links::resolve(tx, space, &targets).await?;
                Ok(targets.into_iter().zip(resolved).collect())
            })
        })
        .await
}
