//! How much a chat may still approve. It is counted from the record, so that no restart forgets it, and
//! over all accounts: whoever holds the bot holds them all.

use std::time::Duration;

use void_domain::actors::Surface;
use void_domain::notifications::BY_TELEGRAM;
use void_domain::policy::Allowance;
use void_domain::time::Timestamp;
use void_store::{ConflictKey, StoreError, Tx, proposals};

use crate::clock::believed_until;
use crate::control::Control;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What is left of it for whoever says yes by this surface.
pub async fn allowance(
    tx: &mut Tx,
    control: &Control,
    surface: Surface,
    now: Timestamp,
) -> Result<Allowance, StoreError> {
    let (Surface::Telegram { .. }, Some(per_day)) =
        (surface, control.listeners.outbox.approvals_per_day())
    else {
        return Ok(Allowance::Left);
    };
    take(tx, surface)?;
    let count =
        proposals::approvals_since(tx, BY_TELEGRAM, now.minus(DAY), believed_until(now)).await?;
    Ok(if count < u64::from(per_day) {
        Allowance::Left
    } else {
        Allowance::Spent { per_day }
    })
}

/// One yes by a chat after the other. Whoever writes before it asks for the allowance takes it first.
pub(crate) fn take(tx: &mut Tx, surface: Surface) -> Result<(), StoreError> {
    match surface {
        Surface::Telegram { .. } => tx.take(|| ConflictKey::ChatApprovals),
        Surface::Web | Surface::Cli | Surface::Api | Surface::File | Surface::Ntfy { .. } => Ok(()),
    }
}
