//! A turn as a stream: what happened so far, then the rest as it happens. Listening changes nothing.

mod blocks;

use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::response::Response;
use futures_util::stream;
use tokio::time::Instant;
use void_agent::turns::{ChatEvent, Live, Talk};
use void_control::callers::Caller;
use void_control::{Control, StoreError, conversations};
use void_domain::conversations::{Message, Said, TurnState};
use void_domain::ids::MessageId;

use self::blocks::BlockTeller;
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

/// Which turn somebody wants to hear, from where on, and how.
pub(crate) struct TurnFrom {
    pub message: MessageId,
    pub seen: TurnProgress,
    pub text: TextAs,
}

/// How the text of a turn is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextAs {
    Deltas,
    DeltasAndBlocks,
}

pub(crate) fn turn(
    control: &Control,
    talk: &Talk,
    caller: Caller,
    from: TurnFrom,
    counted: Gauge,
) -> Response {
    let TurnFrom {
        message,
        seen,
        text,
    } = from;
    let source = match talk.live(message) {
        Some(live) => Source::Live(live),
        None => Source::Table(control.clone(), message),
    };
    let mut blocks = (text == TextAs::DeltasAndBlocks).then(BlockTeller::default);
    if let (Some(blocks), Source::Live(live)) = (&mut blocks, &source) {
        blocks.hear(&live.text(seen.events));
    }
    let listener = TurnListener {
        watch: Watch::new(control, caller, counted),
        source,
        seen,
        blocks,
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
    /// For whoever wants blocks.
    blocks: Option<BlockTeller>,
    is_over: bool,
}

enum Source {
    Live(Arc<Live>),
    /// It ended a while ago, or runs at another instance.
    Table(Control, MessageId),
}

/// What comes after what was seen.
struct News {
    /// The text that was seen, if it was not known before.
    text_before: String,
    events: Vec<ChatEvent>,
}

impl TurnListener {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.is_over {
                return None;
            }
            let due_at = self.blocks.as_ref().and_then(BlockTeller::due_at);
            let coming = before(due_at, self.source.after(self.seen));
            let frames = match self.watch.wait(coming).await? {
                Woken::Heartbeat => return Some(STILL_HERE),
                Woken::By(None) => self.block_frame(),
                Woken::By(Some(news)) => {
                    let news = news?;
                    self.is_over = news.events.last().is_none_or(ChatEvent::is_last);
                    self.frames(&news)
                }
            };
            if !frames.is_empty() {
                return Some(Bytes::from(frames));
            }
        }
    }

    fn frames(&mut self, news: &News) -> String {
        let mut frames = String::new();
        if let Some(blocks) = &mut self.blocks {
            blocks.hear(&news.text_before);
        }
        for event in &news.events {
            match (&mut self.blocks, event) {
                (Some(blocks), ChatEvent::Delta { text }) => blocks.hear(text),
                // Whoever hears the end has all of the text.
                (Some(blocks), end) if end.is_last() => {
                    let last = blocks.last();
                    frames.extend(last.map(|data| self.frame("block", data)));
                }
                _ => {}
            }
            self.seen.add(event);
            frames.push_str(&self.frame(event.name(), event.payload()));
        }
        let due_at = self.blocks.as_ref().and_then(BlockTeller::due_at);
        if due_at.is_some_and(|at| at <= Instant::now()) {
            frames.push_str(&self.block_frame());
        }
        frames
    }

    /// What became of the blocks; empty if nothing did.
    fn block_frame(&mut self) -> String {
        let change = self.blocks.as_mut().and_then(BlockTeller::next);
        change.map_or_else(String::new, |data| self.frame("block", data))
    }

    fn frame(&self, name: &str, data: impl Display) -> String {
        let TurnProgress { events, bytes } = self.seen;
        format!("id: {events}-{bytes}\nevent: {name}\ndata: {data}\n\n")
    }
}

/// What comes, or nothing if that takes longer.
async fn before<T>(end: Option<Instant>, coming: impl Future<Output = T>) -> Option<T> {
    match end {
        Some(end) => tokio::time::timeout_at(end, coming).await.ok(),
        None => Some(coming.await),
    }
}

impl Source {
    /// What comes after what was seen. `None`: it cannot be told.
    async fn after(&self, seen: TurnProgress) -> Option<News> {
        match self {
            Self::Live(live) => Some(News {
                text_before: String::new(),
                events: live.after(seen.events).await,
            }),
            Self::Table(control, id) => match written(control, *id).await {
                Ok(message) => message.map(|message| News {
                    text_before: message
                        .body
                        .get(..seen.bytes)
                        .unwrap_or_default()
                        .to_owned(),
                    events: rest(&message, seen),
                }),
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
        events.extend(turn.trace.iter().flat_map(ChatEvent::of_step));
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
