//! Reads each committed event once, applies what it changes here, and hands it to the hub.

use std::time::Duration;

use void_domain::events::EventKind;
use void_store::StoreError;

use crate::control::Control;
use crate::parts::hub::read_after;
pub use crate::parts::hub::{Hub, Lost, StoredEvent, Subscription, Told};
use crate::{freezes, nodes};
pub use void_store::Newest;

const READ_AGAIN_AFTER: Duration = Duration::from_secs(1);

pub(crate) fn start(control: &Control) {
    let control = control.clone();
    tokio::spawn(async move {
        let mut committed = control.store.committed();
        let mut stopping = control.process.stopping.subscribe();
        loop {
            tokio::select! {
                changed = committed.changed() => if changed.is_err() { return },
                _ = stopping.wait_for(|stop| *stop) => return,
            }
            // What was committed is told, also when the next commit is long in coming.
            while let Err(error) = pass_on(&control).await {
                tracing::error!(%error, "events could not be read; it is tried again");
                tokio::select! {
                    () = tokio::time::sleep(READ_AGAIN_AFTER) => {}
                    _ = stopping.wait_for(|stop| *stop) => return,
                }
            }
        }
    });
}

async fn pass_on(control: &Control) -> Result<(), StoreError> {
    let hub = &control.listeners.hub;
    loop {
        let page = read_after(&control.store, hub.last()).await?;
        if hub.follow(&page.heads) {
            continue;
        }
        let Some(newest) = page.read_to else {
            return Ok(());
        };
        // What is stored is at least as new as all of the page: once is enough.
        let mut is_freeze_applied = false;
        for event in page.events {
            match event.kind {
                EventKind::AccessRevoked => hub.note_revocation(),
                EventKind::FreezeChanged if is_freeze_applied => {}
                EventKind::FreezeChanged => {
                    freezes::apply_stored(control).await?;
                    is_freeze_applied = true;
                }
                EventKind::NodeChanged => nodes::apply_change(control, &event).await?,
                // Nobody waits for a beginning, or for what is no step of a proposal.
                EventKind::ProposalCreated
                | EventKind::ProposalJoined
                | EventKind::ProposalApproved
                | EventKind::ProposalStarted
                | EventKind::NotificationFailed
                | EventKind::MuteChanged
                | EventKind::AgentChanged
                | EventKind::QuestionAsked
                | EventKind::QuestionAnswered
                | EventKind::QuestionCancelled
                | EventKind::QuestionExpired
                | EventKind::SpaceChanged
                | EventKind::ProjectChanged
                | EventKind::PageChanged
                | EventKind::TaskChanged
                | EventKind::RefChanged
                | EventKind::ServiceChanged
                | EventKind::TurnStarted
                | EventKind::TurnFinished
                | EventKind::TurnFailed => {}
                EventKind::ProposalExecuted
                | EventKind::ProposalVerified
                | EventKind::ProposalFailed
                | EventKind::ProposalRejected
                | EventKind::ProposalRefused
                | EventKind::ProposalExpired
                | EventKind::ProposalCancelled
                | EventKind::ProposalUnknown => control.listeners.waiters.wake(&event),
            }
            hub.tell(event);
        }
        hub.passed(newest);
        if newest >= page.heads.audit_seq {
            // What was committed since then wakes us again.
            return Ok(());
        }
    }
}
