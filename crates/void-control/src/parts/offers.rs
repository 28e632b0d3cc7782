//! Whether a file bridge offers what was approved to foreign executors, and how its worker hears that there is
//! something to offer.

use tokio::sync::Notify;

pub(crate) struct Offers {
    wake: Option<Notify>,
}

impl Offers {
    pub(crate) fn new(is_on: bool) -> Self {
        Self {
            wake: is_on.then(Notify::new),
        }
    }

    /// Whether files are offered at all.
    pub(crate) const fn are_made(&self) -> bool {
        self.wake.is_some()
    }

    /// Something was approved that a foreign executor executes.
    pub(crate) fn wake(&self) {
        if let Some(wake) = &self.wake {
            wake.notify_one();
        }
    }

    /// Until there is something to offer. Without a bridge that is never.
    pub(crate) async fn woken(&self) {
        match &self.wake {
            Some(wake) => wake.notified().await,
            None => std::future::pending().await,
        }
    }
}
