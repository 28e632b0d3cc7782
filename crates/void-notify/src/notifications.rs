//! The handle of this crate, and what every message needs of the control plane beside its own content.

use void_control::Control;
use void_control::health;
use void_control::proposals::shown_now;
use void_domain::notifications::Target;
use void_domain::notifications::messages::{self, Frame, NotificationMessage, Room};
use void_domain::proposals::Proposal;
use void_domain::time::Timestamp;
use void_store::{Store, StoreError, facts as table, holds};

use crate::notifiers::Notifiers;

/// Telling the owner of one control plane, and hearing back. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub struct Notifications {
    control: Control,
    pub(crate) notifiers: Notifiers,
}

impl Notifications {
    pub(crate) fn new(control: &Control, notifiers: Notifiers) -> Self {
        Self {
            control: control.clone(),
            notifiers,
        }
    }

    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    pub(crate) fn store(&self) -> &Store {
        self.control.store()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.control.clock().now()
    }

    /// A moment by the owner's clock, with its zone, as a page shows it that has no clock of its own.
    pub fn moment(&self, at: Timestamp) -> String {
        void_domain::notifications::moment(at, &self.notifiers.zone)
    }
}

/// What every message needs beside its proposal.
pub(crate) async fn frame(notify: &Notifications) -> Result<Frame, StoreError> {
    let head = notify.store().read(|tx| Box::pin(table::head(tx))).await?;
    Ok(Frame {
        zone: notify.notifiers.zone.clone(),
        rehearsal: notify.control().is_rehearsal(),
        head: Some(head),
        eyes: health::eyes(notify.control()),
    })
}

/// What a channel with this much room says about a proposal, as it stands now.
pub(crate) async fn message_about(
    notify: &Notifications,
    proposal: &Proposal,
    room: Room,
) -> Result<NotificationMessage, StoreError> {
    let shown = shown_now(notify.control(), proposal).await?;
    let id = proposal.id;
    let reading = notify.store().read(move |tx| Box::pin(holds::list(tx, id)));
    let holds = reading.await?;
    let frame = frame(notify).await?;
    Ok(messages::about(proposal, (shown, &holds), &frame, room))
}

/// A target of this installation, or `None` for one that the settings no longer know.
pub(crate) fn is_known(notify: &Notifications, target: &Target) -> bool {
    match target {
        Target::Telegram { .. } => notify.notifiers.telegram().is_some(),
        Target::Ntfy => notify.notifiers.ntfy().is_some(),
        Target::Webhook { name } => notify.notifiers.webhook(name).is_some(),
    }
}
