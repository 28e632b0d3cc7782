//! Something new in a mailbox, a question and its end wake an agent's process, whichever instance it came to: what is
//! listened to are the events of the record, and each instance wakes those that it looks after.

use std::sync::Arc;
use std::time::Duration;

use void_domain::events::EventKind;
use void_domain::told::Payload;
use void_supervise::ProcessState;

use super::Inner;
use crate::control::Control;

const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// Who asks or is asked and is no agent.
const OWNER: &str = "owner";

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
                Ok(Some(event)) => {
                    if let Some(name) = woken_by(event.kind, &event.payload) {
                        let Some(inner) = inner.upgrade() else { return };
                        wake(&inner, name).await;
                    }
                }
                Ok(None) => return,
                Err(error) => {
                    tracing::warn!(%error, "what wakes agents could not be followed; it is tried again");
                    tokio::time::sleep(AGAIN_AFTER).await;
                }
            }
        }
    });
}

/// Who is to look; the owner is nobody's process.
fn woken_by(kind: EventKind, payload: &Payload) -> Option<&str> {
    match (payload, kind) {
        (Payload::Message(message), _) => Some(&message.to),
        (Payload::Question(question), EventKind::QuestionAsked) => Some(&question.asked),
        (Payload::Question(question), _) => Some(&question.asker),
        _ => None,
    }
    .filter(|name| *name != OWNER)
    .map(String::as_str)
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

#[cfg(test)]
mod tests {
    use void_domain::ids::QuestionId;
    use void_domain::time::Timestamp;
    use void_domain::told::{MessageEvent, QuestionEvent};

    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_762_000_000_000);

    fn question(asker: &str, asked: &str) -> Payload {
        let question = QuestionEvent {
            id: QuestionId::new(NOW, [1; 10]),
            code: "abc123".to_owned(),
            asker: asker.to_owned(),
            asked: asked.to_owned(),
            status: "open".to_owned(),
            at: NOW,
        };
        Payload::Question(question)
    }

    #[test]
    fn whoever_is_asked_wakes_then_whoever_asked_and_never_the_owner() {
        let asked = EventKind::QuestionAsked;
        for (kind, is_asked) in [
            (asked, true),
            (EventKind::QuestionAnswered, false),
            (EventKind::QuestionCancelled, false),
            (EventKind::QuestionExpired, false),
        ] {
            let [asker, to] = ["alice", "bob"];
            let woken = if is_asked { to } else { asker };
            assert_eq!(woken_by(kind, &question(asker, to)), Some(woken));
            let by_owner = question(OWNER, to);
            assert_eq!(woken_by(kind, &by_owner), is_asked.then_some(to));
            let to_owner = question(asker, OWNER);
            assert_eq!(woken_by(kind, &to_owner), (!is_asked).then_some(asker));
        }
        let message = MessageEvent {
            id: "m-1".to_owned(),
            from: "alice".to_owned(),
            to: "bob".to_owned(),
            kind: "text".to_owned(),
            at: NOW,
        };
        let sent = Payload::Message(message);
        assert_eq!(woken_by(EventKind::MessageSent, &sent), Some("bob"));
    }
}
