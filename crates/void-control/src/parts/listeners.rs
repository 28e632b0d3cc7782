//! Who hears of what was committed: whoever listens here, whoever waits for one proposal, and the owner.

use super::hub::Hub;
use super::waiters::Waiters;
use crate::outbox::Outbox;

pub(crate) struct Listeners {
    pub(crate) hub: Hub,
    pub(crate) waiters: Waiters,
    /// Where the owner is told.
    pub(crate) outbox: Outbox,
}
