//! Server-sent events: every event the listener may hear, once, in order, from where it left off.

mod turns;

use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use futures_util::{Stream, StreamExt as _, stream};
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior};
use void_control::Control;
use void_control::callers::{self, Caller};
use void_control::events::{Lost, StoredEvent, Subscription, Told, may_hear};
use void_control::lanes::{self, Lane};
use void_domain::events::{EventId, EventKind};

use crate::metrics::Gauge;
use crate::takeovers::EndlessAnswer;

pub(crate) use self::turns::{TextAs, TurnFrom, TurnProgress, turn};

const HEARTBEAT: Duration = Duration::from_secs(15);
/// After so many events that a listener may not hear it waits a moment; the owner hears all.
const UNHEARD_PER_PAUSE: u32 = 200;
const UNHEARD_PAUSE: Duration = Duration::from_millis(50);
const STILL_HERE: Bytes = Bytes::from_static(b": still here\n\n");

/// As long as whoever listens may.
struct Watch {
    control: Control,
    caller: Caller,
    /// Its looks count for whoever listens: a body is sent by the connection's task, which is in nobody's lane.
    lane: Option<Lane>,
    revocations: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    heartbeat: Interval,
    _counted: Gauge,
}

enum Woken<T> {
    By(T),
    Heartbeat,
}

struct Listener {
    watch: Watch,
    events: Subscription,
    /// Events for others since the last one that was heard.
    unheard: u32,
}

pub(crate) fn events(
    control: &Control,
    caller: Caller,
    after: Option<EventId>,
    counted: Gauge,
) -> Response {
    let listener = Listener {
        watch: Watch::new(control, caller, counted),
        events: control.subscribe(after),
        unheard: 0,
    };
    let chunks = stream::unfold(listener, |mut listener| async move {
        let chunk = listener.next().await?;
        Some((chunk, listener))
    });
    let mut response = response(chunks);
    response.extensions_mut().insert(EndlessAnswer);
    response
}

/// An event stream of these chunks.
fn response(chunks: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    // Something is sent at once, so that proxies and clients see an open stream.
    let opening = stream::once(async { Bytes::from_static(b"retry: 2000\n\n") });
    let chunks = opening.chain(chunks).map(Ok::<_, Infallible>);
    let headers = [
        (header::CONTENT_TYPE.as_str(), "text/event-stream"),
        ("x-accel-buffering", "no"),
    ];
    (headers, Body::from_stream(chunks)).into_response()
}

impl Listener {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let telling = lanes::run_in(self.watch.lane.clone(), self.events.next_told());
            match self.watch.wait(telling).await? {
                Woken::By(told) => match told.ok()?? {
                    Told::Lost(lost) => return Some(loss(lost)),
                    Told::Event(event) => {
                        // A listener that reads from the record may be ahead of the hub.
                        let is_revoked = event.kind == EventKind::AccessRevoked;
                        if is_revoked && !self.watch.is_still_valid().await {
                            return None;
                        }
                        if may_hear(&self.watch.caller.actor, event.audience) {
                            self.unheard = 0;
                            return Some(frame(&event));
                        }
                        self.pass_over().await;
                    }
                },
                Woken::Heartbeat => return Some(STILL_HERE),
            }
        }
    }
}

impl Listener {
    /// Nothing that is sent slows down whoever reads through events for others, so this does.
    async fn pass_over(&mut self) {
        self.unheard += 1;
        if self.unheard.is_multiple_of(UNHEARD_PER_PAUSE) && self.watch.lane.is_some() {
            tokio::time::sleep(UNHEARD_PAUSE).await;
        }
    }
}

impl Watch {
    fn new(control: &Control, caller: Caller, counted: Gauge) -> Self {
        let mut revocations = control.hub().revocations();
        // The credential was checked before we began to watch: look once more.
        revocations.mark_changed();
        Self {
            revocations,
            stopping: control.stopping(),
            heartbeat: heartbeat(),
            lane: lanes::current(),
            control: control.clone(),
            caller,
            _counted: counted,
        }
    }

    /// What comes next. `None`: the caller may no longer listen, or Void stops.
    async fn wait<T>(&mut self, coming: impl Future<Output = T>) -> Option<Woken<T>> {
        let mut coming = pin!(coming);
        loop {
            let is_heartbeat = tokio::select! {
                // In this order: whoever is cut off hears nothing more, however much there is to hear,
                // and no number of events keeps the heartbeat away.
                biased;
                _ = self.stopping.wait_for(|stop| *stop) => return None,
                changed = self.revocations.changed() => {
                    changed.ok()?;
                    false
                }
                _ = self.heartbeat.tick() => true,
                came = &mut coming => return Some(Woken::By(came)),
            };
            // A credential was withdrawn somewhere; a session also ends by time, which is no event.
            if !self.is_still_valid().await {
                return None;
            }
            if is_heartbeat {
                return Some(Woken::Heartbeat);
            }
        }
    }

    /// If that cannot be told, the stream ends.
    async fn is_still_valid(&self) -> bool {
        // Boxed, so that thousands of idle listeners do not each hold room for a question to the store.
        let asking = callers::is_still_valid(&self.control, self.caller.credential);
        let asking = Box::pin(lanes::run_in(self.lane.clone(), asking));
        asking.await.unwrap_or(false)
    }
}

fn heartbeat() -> Interval {
    let mut heartbeat = tokio::time::interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    heartbeat
}

/// Whoever hears this has to read again what it shows.
fn loss(lost: Lost) -> Bytes {
    Bytes::from(format!(
        "id: {}\nevent: stream.lost\ndata: {{\"after\":{},\"next\":{}}}\n\n",
        lost.id, lost.after, lost.next
    ))
}

/// The payload is one line of JSON.
fn frame(event: &StoredEvent) -> Bytes {
    Bytes::from(format!(
        "id: {}\nevent: {}\ndata: {}\n\n",
        event.id,
        event.kind.as_str(),
        event.json
    ))
}
