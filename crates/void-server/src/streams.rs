//! Server-sent events: every event the listener may hear, once, in order, from where it left off.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior};
use void_control::Control;
use void_control::access::{self, Caller};
use void_control::events::{StoredEvent, Subscription};
use void_domain::actors::Actor;
use void_domain::events::Audience;

use crate::metrics::Gauge;
use crate::takeovers::EndlessAnswer;

const HEARTBEAT: Duration = Duration::from_secs(15);

struct Listener {
    control: Control,
    caller: Caller,
    events: Subscription,
    revocations: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    heartbeat: Interval,
    _counted: Gauge,
}

pub(crate) fn events(
    control: &Control,
    caller: Caller,
    after: Option<u64>,
    counted: Gauge,
) -> Response {
    let mut revocations = control.hub().revocations();
    // The credential was checked before we began to watch: look once more.
    revocations.mark_changed();
    let listener = Listener {
        events: control.hub().subscribe(control, after),
        revocations,
        stopping: control.stopping(),
        heartbeat: heartbeat(),
        control: control.clone(),
        caller,
        _counted: counted,
    };
    // Something is sent at once, so that proxies and clients see an open stream.
    let opening =
        stream::once(async { Ok::<_, Infallible>(Bytes::from_static(b"retry: 2000\n\n")) });
    let rest = stream::unfold(listener, |mut listener| async move {
        let chunk = listener.next().await?;
        Some((Ok::<_, Infallible>(chunk), listener))
    });
    let body = Body::from_stream(stream::StreamExt::chain(opening, rest));
    let headers = [
        (header::CONTENT_TYPE.as_str(), "text/event-stream"),
        ("x-accel-buffering", "no"),
    ];
    let mut response = (headers, body).into_response();
    response.extensions_mut().insert(EndlessAnswer);
    response
}

impl Listener {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let woken = tokio::select! {
                // In this order: whoever is cut off hears nothing more, however much there is to hear,
                // and no number of events keeps the heartbeat away.
                biased;
                _ = self.stopping.wait_for(|stop| *stop) => return None,
                changed = self.revocations.changed() => {
                    changed.ok()?;
                    Woken::Revocation
                }
                _ = self.heartbeat.tick() => Woken::Heartbeat,
                event = self.events.next() => Woken::Event(event.ok()??),
            };
            match woken {
                Woken::Event(event) if may_hear(&self.caller.actor, event.audience) => {
                    return Some(frame(&event));
                }
                Woken::Event(_) => {}
                // A session also ends by time, which is no event.
                Woken::Heartbeat if self.is_still_valid().await => {
                    return Some(Bytes::from_static(b": still here\n\n"));
                }
                // A credential was withdrawn somewhere.
                Woken::Revocation if self.is_still_valid().await => {}
                Woken::Heartbeat | Woken::Revocation => return None,
            }
        }
    }

    /// If that cannot be told, the stream ends.
    async fn is_still_valid(&self) -> bool {
        // Boxed, so that thousands of idle listeners do not each hold room for a question to the store.
        let asking = access::is_still_valid(&self.control, self.caller.credential);
        Box::pin(asking).await.unwrap_or(false)
    }
}

fn heartbeat() -> Interval {
    let mut heartbeat = tokio::time::interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    heartbeat
}

enum Woken {
    Event(Arc<StoredEvent>),
    Heartbeat,
    Revocation,
}

fn may_hear(actor: &Actor, audience: Audience) -> bool {
    match (actor, audience) {
        (Actor::Owner { .. }, _) => true,
        (Actor::Viewer { .. }, Audience::Everyone | Audience::People | Audience::Requester(_)) => {
            true
        }
        (Actor::Agent { .. }, Audience::Everyone) => true,
        (Actor::Agent { id, .. }, Audience::Requester(requester)) => *id == requester,
        (Actor::Viewer { .. }, Audience::OwnerOnly)
        | (Actor::Agent { .. }, Audience::People | Audience::OwnerOnly)
        | (Actor::Node { .. } | Actor::System, _) => false,
    }
}

/// The payload is stored as one line of JSON.
fn frame(event: &StoredEvent) -> Bytes {
    Bytes::from(format!(
        "id: {}\nevent: {}\ndata: {}\n\n",
        event.seq,
        event.kind.as_str(),
        event.payload
    ))
}
