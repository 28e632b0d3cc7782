//! A mailbox as the owner sees it.

use void_domain::agent_messages::AgentMessage;
use void_domain::agents::AgentName;
use void_store::agent_messages::{self as table, MailboxCounts, MailboxFilter};
use void_store::{Page, StoreError};

use crate::agents;
use crate::context::Ctx;
use crate::control::Control;

#[derive(Debug, Clone)]
pub struct MailboxQuery {
    pub agent: AgentName,
    pub filter: MailboxFilter,
    /// Older than this one.
    pub before: Option<u64>,
    pub limit: u32,
}

#[derive(Debug)]
pub struct Mailbox {
    pub counts: MailboxCounts,
    /// The newest first.
    pub messages: Page<AgentMessage>,
}

#[derive(Debug, thiserror::Error)]
pub enum MailboxError {
    #[error("only the owner reads other mailboxes than their own")]
    OwnerOnly,
    #[error("there is no agent of that name, and there was none")]
    Unknown,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Also of an agent that was withdrawn or has left the tree.
pub async fn list(
    control: &Control,
    ctx: &Ctx,
    query: MailboxQuery,
) -> Result<Mailbox, MailboxError> {
    if !ctx.actor.is_owner() {
        return Err(MailboxError::OwnerOnly);
    }
    let tree = control.in_force.tree.opened().await;
    let is_known = tree.members.contains_key(&query.agent)
        || agents::find(control, &query.agent).await?.is_some();
    if !is_known {
        return Err(MailboxError::Unknown);
    }
    let read = control.store.read(move |tx| {
        Box::pin(async move {
            let MailboxQuery {
                agent,
                filter,
                before,
                limit,
            } = query;
            let counts = table::counts(tx, &agent).await?;
            let messages = table::list(tx, &agent, filter, before, limit).await?;
            Ok::<_, StoreError>(Mailbox { counts, messages })
        })
    });
    Ok(read.await?)
}
