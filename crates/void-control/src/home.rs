//! What the first page begins with besides the Inbox and the summary, as far as the tables say it: read in one go, and once
//! until anybody commits.

use std::sync::Arc;

use void_store::{StoreError, proposals};

use crate::control::Control;
use crate::proposals::{Listed, with_history};

/// What ended lately, as far as the first page shows it.
const ENDED_SHOWN: u32 = 12;

#[derive(Debug, Clone)]
pub struct HomeRows {
    /// Newest first.
    pub ended: Vec<Listed>,
    /// Whether the owner has ever decided anything.
    pub is_any_decided: bool,
}

pub async fn rows(control: &Control) -> Result<Arc<HomeRows>, StoreError> {
    let (this, tells) = (control.clone(), control.listeners.outbox.tells());
    let read = control.store.read(move |tx| {
        Box::pin(async move {
            let ended = proposals::list_ended(tx, ENDED_SHOWN).await?;
            Ok::<_, StoreError>(HomeRows {
                ended: with_history(tx, &this, ended, tells).await?,
                is_any_decided: proposals::is_any_decided(tx).await?,
            })
        })
    });
    control.read_once(read).await
}
