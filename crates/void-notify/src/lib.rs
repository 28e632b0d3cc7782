//! Telling the owner, and hearing back.
//!
//! What is to be told is written by the transaction that causes it (`void_control::outbox`) and sent afterwards by
//! the one instance that holds the lease (`worker`). What comes back carries a random key and nothing
//! else; what it stands for is looked up (`void_control::notification_keys`), who sent it is checked by one gate per
//! channel, and the decision goes through the same use case as every other.

mod acts;
mod contents;
mod lists;
mod notifications;
pub mod notifiers;
mod ntfy;
mod pairs;
mod rollbacks;
mod telegram;
mod trials;
mod webhooks;
mod worker;

use void_control::Control;
use void_store::StoreError;

pub use acts::{ActError, Acted, act_by_token};
pub use lists::{ChannelProblem, Listing, NotificationPlace, Reach, list, reach, retry};
pub use notifications::Notifications;
pub use pairs::{Invitation, PairError, invite, unpair};
pub use trials::{Tried, try_out};

use crate::notifiers::Notifiers;

impl Notifications {
    /// Begins to send and to listen, if there is anything to send to. The control plane has to know the places:
    /// what happens is written for them into its outbox.
    pub fn start(control: &Control, notifiers: Notifiers) -> Result<Self, StoreError> {
        let notify = Self::new(control, notifiers);
        if let Some(bot) = notify.notifiers.telegram() {
            // The policy in force, said once where somebody can compare it with what they meant.
            tracing::info!(
                users = %bot.policy_words(),
                "telegram: private chats only; critical is never approved there"
            );
        }
        if !notify.notifiers.channels().is_empty() {
            worker::start(&notify)?;
        }
        Ok(notify)
    }
}
