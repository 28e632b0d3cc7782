//! What waits for the owner, in one list.

use std::any::Any;
use std::sync::Arc;

use void_domain::ids::ProposalId;
use void_domain::nodes::Node;
use void_domain::proposals::Status;
use void_domain::questions::Question;
use void_store::{StoreError, nodes, notifications, proposals, questions};

use crate::control::Control;
use crate::proposals::{Listed, with_history};

/// Unknown outcomes stay until somebody settles them; more than this at once is a different problem.
const FAILURES_SHOWN: u32 = 100;
const JOINS_SHOWN: u32 = 100;
const QUESTIONS_SHOWN: u32 = 200;

#[derive(Debug, Clone)]
pub struct Inbox {
    /// Oldest first.
    pub waiting: Vec<Listed>,
    pub next: Option<String>,
    /// Outcomes that nobody knows.
    pub unknown: Vec<Listed>,
    /// Machines that ask to be nodes; on the first page.
    pub joins: Vec<Node>,
    pub waiting_count: u64,
    /// Of those that wait, how many are drafts of a change.
    pub draft_count: u64,
    pub unknown_count: u64,
    /// Of those that wait, how many nobody could be told about.
    pub untold_count: u64,
    pub join_count: u64,
    /// What agents ask the owner, oldest first; on the first page.
    pub questions: Vec<Question>,
    pub question_count: u64,
}

/// It is made of the tables alone, so it is the same until somebody commits.
pub async fn look(
    control: &Control,
    cursor: Option<ProposalId>,
    limit: u32,
) -> Result<Arc<Inbox>, StoreError> {
    let reading = async {
        let inbox = read(control, cursor, limit).await?;
        Ok(Some(Arc::new(inbox) as Arc<dyn Any + Send + Sync>))
    };
    let inboxes = &control.remembered.inboxes;
    let found = inboxes
        .find(&control.store, (cursor, limit), reading)
        .await?;
    let inbox = found.and_then(|found| found.downcast().ok());
    inbox.ok_or_else(|| StoreError::Internal("an inbox was not read".to_owned()))
}

async fn read(
    control: &Control,
    cursor: Option<ProposalId>,
    limit: u32,
) -> Result<Inbox, StoreError> {
    let (this, tells) = (control.clone(), control.listeners.outbox.tells());
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
                let asked = match cursor {
                    None => questions::list_open_to_owner(tx, QUESTIONS_SHOWN).await?,
                    Some(_) => Vec::new(),
                };
                Ok(Inbox {
                    questions: asked,
                    question_count: questions::count_open_to_owner(tx).await?,
                    joins,
                    waiting: with_history(tx, &this, page.items, tells).await?,
                    next: page.next,
                    unknown: with_history(tx, &this, unknown, tells).await?,
                    waiting_count: proposals::count_by_status(tx, Status::Pending).await?,
                    draft_count: proposals::count_waiting_changes(tx).await?,
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
