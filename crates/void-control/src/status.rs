//! What a summary of the whole says, as far as the tables say it: read in one go, and once until anybody commits.

use std::sync::Arc;

use void_domain::digests::Digest;
use void_domain::mutes::Mute;
use void_domain::nodes::Node;
use void_domain::proposals::Status;
use void_domain::time::Timestamp;
use void_store::{StoreError, facts, mutes, nodes, proposals, quarantine};

use crate::control::Control;
use crate::nodes::NODES_MAX;

#[derive(Debug, Clone)]
pub struct StatusRows {
    pub running: u64,
    pub quarantined: u64,
    /// The number and the hash of the newest entry of the record.
    pub head: (u64, Digest),
    /// How they are reached now is not in the tables: [`crate::nodes::view`].
    pub nodes: Vec<Node>,
    /// Newest first, whether or not their time is over.
    mutes: Vec<Mute>,
}

impl StatusRows {
    /// What is muted now, newest first. That a mute ends is no commit.
    pub fn mutes_at(&self, now: Timestamp) -> impl Iterator<Item = &Mute> {
        self.mutes.iter().filter(move |mute| mute.holds_at(now))
    }
}

pub async fn rows(control: &Control) -> Result<Arc<StatusRows>, StoreError> {
    let read = control.store.read(|tx| {
        Box::pin(async move {
            Ok::<_, StoreError>(StatusRows {
                running: proposals::count_by_status(tx, Status::Running).await?,
                quarantined: quarantine::count(tx).await?,
                head: facts::head(tx).await?,
                nodes: nodes::list(tx, NODES_MAX).await?,
                mutes: mutes::list(tx).await?,
            })
        })
    });
    control.read_once(read).await
}
