//! What waits for the owner, in one list.

use void_domain::ids::ProposalId;
use void_domain::nodes::Node;
use void_domain::proposals::{Proposal, Status};
use void_store::{StoreError, nodes, notifications, proposals};

use crate::control::Control;

/// Unknown outcomes stay until somebody settles them; more than this at once is a different problem.
const FAILURES_SHOWN: u32 = 100;
const JOINS_SHOWN: u32 = 100;

#[derive(Debug, Clone)]
pub struct Inbox {
    /// Oldest first.
    pub waiting: Vec<Proposal>,
    pub next: Option<String>,
    /// Outcomes that nobody knows.
    pub unknown: Vec<Proposal>,
    /// Machines that ask to be nodes; on the first page.
    pub joins: Vec<Node>,
    pub waiting_count: u64,
    pub unknown_count: u64,
    /// Of those that wait, how many nobody could be told about.
    pub untold_count: u64,
    pub join_count: u64,
}

pub async fn look(
    control: &Control,
    cursor: Option<ProposalId>,
    limit: u32,
) -> Result<Inbox, StoreError> {
    let tells = control.listeners.outbox.tells();
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let page = proposals::list_waiting(tx, cursor, limit).await?;
                let unknown = match cursor {
                    None => proposals::list_in(tx, Status::Unknown, FAILURES_SHOWN).await?,
                    Some(_) => Vec::new(),
                };
                let joins = match cursor {
                    None => nodes::list_waiting(tx, JOINS_SHOWN).await?,
                    Some(_) => Vec::new(),
                };
                Ok(Inbox {
                    joins,
                    waiting: page
                        .items
                        .into_iter()
                        .map(|stored| stored.proposal)
                        .collect(),
                    next: page.next,
                    unknown: unknown.into_iter().map(|stored| stored.proposal).collect(),
                    waiting_count: proposals::count_by_status(tx, Status::Pending).await?,
                    unknown_count: proposals::count_by_status(tx, Status::Unknown).await?,
                    untold_count: match tells {
                        true => notifications::count_untold(tx).await?,
                        false => 0,
                    },
                    join_count: nodes::count_waiting(tx).await?,
                })
            })
        })
        .await
}
