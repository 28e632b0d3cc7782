//! Response bodies: whole ones, and the two that a fault makes.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

/// A cut body waits so long after its first half, so that the half is on its way.
const CUT_AFTER: Duration = Duration::from_millis(30);
const DRIP_INTERVAL: Duration = Duration::from_millis(100);
/// An endless body ends after all, if its reader does not.
const DRIP_TIME_MAX: Duration = Duration::from_secs(600);

pub(crate) enum Sent {
    Whole(Option<Bytes>),
    /// The first half, then a broken connection. Its length is announced in full.
    Cut {
        half: Option<Bytes>,
        announced: u64,
        pause: Pin<Box<Sleep>>,
    },
    /// A byte from time to time, without end.
    Drip {
        first: Option<Bytes>,
        until: Instant,
        pause: Pin<Box<Sleep>>,
    },
}

impl Sent {
    pub(crate) fn whole(body: Bytes) -> Self {
        Self::Whole(Some(body).filter(|body| !body.is_empty()))
    }

    pub(crate) fn cut(body: &Bytes) -> Self {
        Self::Cut {
            half: Some(body.slice(..body.len() / 2)),
            announced: body.len() as u64,
            pause: Box::pin(sleep(CUT_AFTER)),
        }
    }

    pub(crate) fn drip() -> Self {
        Self::Drip {
            first: Some(Bytes::from_static(b"{\"data\":[")),
            until: Instant::now() + DRIP_TIME_MAX,
            pause: Box::pin(sleep(DRIP_INTERVAL)),
        }
    }
}

impl Body for Sent {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let broken = || Poll::Ready(Some(Err(io::ErrorKind::ConnectionAborted.into())));
        match self.get_mut() {
            Self::Whole(body) => Poll::Ready(body.take().map(|body| Ok(Frame::data(body)))),
            Self::Cut { half, pause, .. } => match half.take() {
                Some(half) if !half.is_empty() => Poll::Ready(Some(Ok(Frame::data(half)))),
                Some(_) | None => pause
                    .as_mut()
                    .poll(cx)
                    .is_ready()
                    .then(broken)
                    .unwrap_or(Poll::Pending),
            },
            Self::Drip {
                first,
                until,
                pause,
            } => {
                if let Some(first) = first.take() {
                    return Poll::Ready(Some(Ok(Frame::data(first))));
                }
                if pause.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                let now = Instant::now();
                if now >= *until {
                    return broken();
                }
                pause.as_mut().reset(now + DRIP_INTERVAL);
                Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b" ")))))
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => SizeHint::with_exact(body.as_ref().map_or(0, Bytes::len) as u64),
            Self::Cut { announced, .. } => SizeHint::with_exact(*announced),
            Self::Drip { .. } => SizeHint::default(),
        }
    }
}
