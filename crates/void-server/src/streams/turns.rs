//! A turn as a stream: what happened so far, then the rest as it happens. Listening changes nothing.

use std::fmt::Write as _;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::response::Response;
use futures_util::stream;
use void_agent::turns::{ChatEvent, Live, Talk};
use void_control::access::Caller;
use void_control::{Control, StoreError, conversations};
use void_domain::conversations::{Message, Said, TurnState};
use void_domain::ids::MessageId;

use super::{STILL_HERE, Watch, Woken, response};
use crate::metrics::Gauge;

/// How often a turn is looked at that runs at another instance.
const ELSEWHERE_EVERY: Duration = Duration::from_millis(500);

/// How much of a turn somebody has seen: its events, and the bytes of its text. It is the id of each
/// event. The bytes let a client go on when the events themselves are no longer kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TurnProgress {
    events: usize,
    bytes: usize,
}

impl FromStr for TurnProgress {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (events, bytes) = text.split_once('-').ok_or(())?;
        let number = |text: &str| text.parse().map_err(|_| ());
        Ok(Self {
            events: number(events)?,
            bytes: number(bytes)?,
        })
    }
}

impl TurnProgress {
    fn add(&mut self, event: &ChatEvent) {
        self.events += 1;
        if let ChatEvent::Delta { text } = event {
            self.bytes += text.len();
        }
    }
}

pub(crate) fn turn(
    control: &Control,
    talk: &Talk,
    caller: Caller,
    message_id: MessageId,
    seen: TurnProgress,
    counted: Gauge,
) -> Response {
    let listener = TurnListener {
        watch: Watch::new(control, caller, counted),
        source: talk
            .live(message_id)
            .map_or_else(|| Source::Table(control.clone(), message_id), Source::Live),
        seen,
        is_over: false,
    };
    response(stream::unfold(listener, |mut listener| async move {
        let chunk = listener.next().await?;
        Some((chunk, listener))
    }))
}

struct TurnListener {
    watch: Watch,
    source: Source,
    seen: TurnProgress,
    is_over: bool,
}

enum Source {
    Live(Arc<Live>),
    /// It ended a while ago, or runs at another instance.
    Table(Control, MessageId),
}

impl TurnListener {
    async fn next(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        match self.watch.wait(self.source.after(self.seen)).await? {
            Woken::Heartbeat => Some(STILL_HERE),
            Woken::By(events) => {
                let events = events?;
                self.is_over = events.last().is_none_or(ChatEvent::is_last);
                (!events.is_empty()).then(|| self.frames(&events))
            }
        }
    }

    fn frames(&mut self, events: &[ChatEvent]) -> Bytes {
        let mut frames = String::new();
        for event in events {
            self.seen.add(event);
            let TurnProgress { events, bytes } = self.seen;
            let (name, payload) = (event.name(), event.payload());
            // Writing to a string cannot fail.
            let _ = write!(
                frames,
                "id: {events}-{bytes}\nevent: {name}\ndata: {payload}\n\n"
            );
        }
        Bytes::from(frames)
    }
}

impl Source {
    /// What comes after what was seen. `None`: it cannot be told.
    async fn after(&self, seen: TurnProgress) -> Option<Vec<ChatEvent>> {
        match self {
            Self::Live(live) => Some(live.after(seen.events).await),
            Self::Table(control, id) => match written(control, *id).await {
                Ok(message) => message.map(|message| rest(&message, seen)),
                Err(error) => {
                    tracing::error!(%error, "a turn could not be read");
                    None
                }
            },
        }
    }
}

/// The message once its turn is over.
async fn written(control: &Control, id: MessageId) -> Result<Option<Message>, StoreError> {
    loop {
        let found = conversations::message(control, id).await?;
        let is_running = found.as_ref().is_some_and(|message| {
            matches!(&message.said, Said::ByAgent(turn) if turn.state == TurnState::Running)
        });
        if !is_running {
            return Ok(found);
        }
        tokio::time::sleep(ELSEWHERE_EVERY).await;
    }
}

/// A finished turn for somebody who has seen the beginning of it.
fn rest(message: &Message, seen: TurnProgress) -> Vec<ChatEvent> {
    let Said::ByAgent(turn) = &message.said else {
        return Vec::new();
    };
    let mut events = Vec::new();
    if seen == TurnProgress::default() {
        events.extend(turn.trace.iter().map(ChatEvent::of_step));
    }
    if let Some(text) = message
        .body
        .get(seen.bytes..)
        .filter(|text| !text.is_empty())
    {
        events.push(ChatEvent::Delta {
            text: text.to_owned(),
        });
    }
    events.push(ChatEvent::end_of(message.id, turn));
    events
}
