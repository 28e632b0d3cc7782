//! The turns of whoever drafts a change: reading what was sent takes a processor for a while, so one draft is read at
//! a time, and a requester has at most one under way (I36).

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use void_domain::ids::RequesterId;

use super::row_budgets::TooManyRows;

const READ_AT_ONCE_MAX: usize = 1;
/// A draft within its bounds is read in less.
const RETRY_AFTER: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub(crate) struct Drafting {
    pub(crate) turns: Arc<Semaphore>,
    requesters: Arc<Mutex<HashSet<RequesterId>>>,
}

impl Default for Drafting {
    fn default() -> Self {
        Self {
            turns: Arc::new(Semaphore::new(READ_AT_ONCE_MAX)),
            requesters: Arc::default(),
        }
    }
}

impl Drafting {
    /// The only draft of this requester until it is dropped.
    pub(crate) fn begin(&self, id: RequesterId) -> Result<UnderWay, TooManyRows> {
        let mut requesters = self.lock();
        if !requesters.insert(id) {
            return Err(TooManyRows {
                retry_after: RETRY_AFTER,
            });
        }
        Ok(UnderWay {
            drafting: self.clone(),
            id,
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<RequesterId>> {
        self.requesters
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// A draft that is being read.
pub(crate) struct UnderWay {
    drafting: Drafting,
    id: RequesterId,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.drafting.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use void_domain::time::Timestamp;

    use super::*;

    #[test]
    fn a_requester_has_one_draft_under_way() {
        let drafting = Drafting::default();
        let id = |n: u8| RequesterId::new(Timestamp::from_ms(0), [n; 10]);
        let (one, other) = (id(1), id(2));
        let under_way = drafting.begin(one).unwrap();
        assert!(drafting.begin(one).is_err());
        assert!(drafting.begin(other).is_ok());
        drop(under_way);
        assert!(drafting.begin(one).is_ok());
    }
}
