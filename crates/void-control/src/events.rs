//! Reads each committed event once, applies what it changes here, and hands it to the hub.

use std::time::Duration;

use void_domain::actors::Actor;
use void_domain::events::{Audience, EventKind};
use void_store::{StoreError, agents};
use void_tree::{Operation, Right};

use crate::context::Ctx;
use crate::control::Control;
use crate::parts::hub::read_after;
pub use crate::parts::hub::{Hub, Lost, StoredEvent, Subscription, Told};
use crate::{freezes, nodes, tree};
pub use void_store::Newest;

const READ_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Whether somebody hears what is told to this audience, by who they are alone.
pub fn may_hear(actor: &Actor, audience: Audience) -> bool {
    match (actor, audience) {
        (Actor::Owner { .. }, _) => true,
        (Actor::Viewer { .. }, Audience::Everyone | Audience::People | Audience::Requester(_)) => {
            true
        }
        (Actor::Agent { .. }, Audience::Everyone) => true,
        (Actor::Agent { id, .. }, Audience::Requester(requester)) => requester == (*id).into(),
        (Actor::Viewer { .. }, Audience::OwnerOnly)
        | (Actor::Agent { .. }, Audience::People | Audience::OwnerOnly)
        | (Actor::Node { .. } | Actor::System, _) => false,
    }
}

/// The same also by where they stand now: an agent that acts inside hears of those below it, by the tree in force at this
/// moment, and nothing more of whoever was moved away.
pub async fn hears(control: &Control, ctx: &Ctx, audience: Audience) -> Result<bool, StoreError> {
    let (Actor::Agent { .. }, Audience::Requester(about)) = (&ctx.actor, audience) else {
        return Ok(may_hear(&ctx.actor, audience));
    };
    if may_hear(&ctx.actor, audience) || ctx.is_from_outside {
        return Ok(may_hear(&ctx.actor, audience));
    }
    let named = control
        .store
        .read(move |tx| Box::pin(agents::name_of(tx, about)))
        .await?;
    let Some(name) = named else {
        return Ok(false);
    };
    let right = tree::right_now(control, ctx, Operation::SeeProposals, &name).await?;
    Ok(right == Right::Alone)
}

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
                | EventKind::ProposalHeld
                | EventKind::NotificationFailed
                | EventKind::MuteChanged
                | EventKind::AgentChanged
                | EventKind::MessageSent
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
