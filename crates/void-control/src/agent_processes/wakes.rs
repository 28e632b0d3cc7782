//! Something new in a mailbox wakes its agent's process, whichever instance took the message: what is listened to are the
//! events of the record, and each instance wakes those that it looks after.

use std::sync::Arc;
use std::time::Duration;

use void_domain::events::EventKind;
use void_domain::told::Payload;
use void_supervise::ProcessState;

use super::Inner;
use crate::control::Control;

const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Until the server stops, or nobody looks after processes any more.
pub(super) fn follow(control: &Control, inner: &Arc<Inner>) {
    let (control, inner) = (control.clone(), Arc::downgrade(inner));
    let mut events = control.subscribe(None);
    tokio::spawn(async move {
        let mut stopping = control.stopping();
        loop {
            let next = tokio::select! {
                next = events.next() => next,
                _ = stopping.wait_for(|stop| *stop) => return,
            };
            match next {
                Ok(Some(event)) if event.kind == EventKind::MessageSent => {
                    let Some(inner) = inner.upgrade() else { return };
                    if let Payload::Message(message) = &event.payload {
                        wake(&inner, &message.to).await;
                    }
                }
                Ok(Some(_)) => {}
                Ok(None) => return,
                Err(error) => {
                    tracing::warn!(%error, "messages could not be followed; it is tried again");
                    tokio::time::sleep(AGAIN_AFTER).await;
                }
            }
        }
    });
}

/// Whoever does not run finds its mailbox when it starts.
async fn wake(inner: &Inner, to: &str) {
    match inner.supervisor.status(to).state {
        ProcessState::Running | ProcessState::Asleep | ProcessState::Starting => {
            // The server ends: nobody is to wake up any more.
            let _ = inner.supervisor.wake(to).await;
        }
        ProcessState::Stopped | ProcessState::Crashed { .. } | ProcessState::GivenUp { .. } => {}
    }
}
