//! Telling the owner, and hearing back.
//!
//! What is to be told is written by the transaction that causes it (`outbox`) and sent afterwards by
//! the one instance that holds the lease (`worker`). What comes back carries a random key and nothing
//! else; what it stands for is looked up here (`keys`), who sent it is checked by one gate per
//! channel, and the decision goes through the same use case as every other.

mod acts;
mod lists;
mod ntfy;
mod pairs;
pub(crate) mod rollbacks;
mod telegram;
mod trials;
mod webhooks;
mod worker;

use void_domain::notifications::Target;
use void_domain::notifications::messages::{self, Frame, Message, Room};
use void_domain::proposals::Proposal;
use void_domain::time::Timestamp;
use void_store::{StoreError, facts as table};

use crate::control::Control;
use crate::health;
use crate::notification_keys as keys;
use crate::proposals::shown_now;

pub use acts::{ActError, Acted, act_by_token};
pub use lists::{ChannelProblem, Listing, NotificationPlace, Reach, list, reach, retry};
pub use pairs::{Invitation, PairError, invite, unpair};
pub use trials::{Tried, try_out};

/// Begins to send and to listen, if there is anything to send to.
pub(crate) fn start(control: &Control) -> Result<(), StoreError> {
    if let Some(bot) = control.notifiers.telegram() {
        // The policy in force, said once where somebody can compare it with what they meant.
        tracing::info!(
            users = %bot.policy_words(),
            "telegram: private chats only; critical is never approved there"
        );
    }
    if !control.notifiers.channels().is_empty() {
        worker::start(control)?;
    }
    Ok(())
}

/// Drops what nobody can use any more.
pub(crate) async fn forget_old(control: &Control) -> Result<(), StoreError> {
    if !control.notifiers.tells() {
        return Ok(());
    }
    keys::forget_old(control).await
}

/// A moment by the owner's clock, with its zone, as a page shows it that has no clock of its own.
pub fn moment(control: &Control, at: Timestamp) -> String {
    void_domain::notifications::moment(at, &control.notifiers.zone)
}

/// What every message needs beside its proposal.
async fn frame(control: &Control) -> Result<Frame, StoreError> {
    let head = control.store.read(|tx| Box::pin(table::head(tx))).await?;
    Ok(Frame {
        zone: control.notifiers.zone.clone(),
        rehearsal: control.rehearsal,
        head: Some(head),
        eyes: health::eyes(control),
    })
}

/// What a channel with this much room says about a proposal, as it stands now.
async fn message_about(
    control: &Control,
    proposal: &Proposal,
    room: Room,
) -> Result<Message, StoreError> {
    let shown = shown_now(control, proposal).await?;
    let frame = frame(control).await?;
    Ok(messages::about(proposal, shown, &frame, room))
}

/// A target of this installation, or `None` for one that the settings no longer know.
fn is_known(control: &Control, target: &Target) -> bool {
    match target {
        Target::Telegram { .. } => control.notifiers.telegram().is_some(),
        Target::Ntfy => control.notifiers.ntfy().is_some(),
        Target::Webhook { name } => control.notifiers.webhook(name).is_some(),
    }
}
