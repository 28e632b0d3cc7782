//! A stream that does not wait for ever for a peer who takes nothing of what is sent.
//!
//! Silence on the way in is bounded elsewhere and is no fault of an event stream's listener; on the way out
//! a peer that reads nothing holds memory and a place.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

pub(crate) struct Patient<S> {
    stream: S,
    patience: Duration,
    /// Runs while the peer takes nothing. Made when it is first needed, which mostly is never.
    waiting: Option<Pin<Box<Sleep>>>,
    is_waiting: bool,
    drained: Option<Drained>,
}

/// Whether whoever writes here has nothing left to write: its last word was a flush, and it was done. A writer that keeps a
/// buffer flushes only when that is empty, and tries to empty it before it reads again.
#[derive(Clone)]
pub(crate) struct Drained(Arc<AtomicBool>);

impl Drained {
    pub(crate) fn is_so(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn note(&self, is_so: bool) {
        self.0.store(is_so, Ordering::Release);
    }
}

impl<S> Patient<S> {
    pub(crate) const fn new(stream: S, patience: Duration) -> Self {
        Self {
            stream,
            patience,
            waiting: None,
            is_waiting: false,
            drained: None,
        }
    }

    /// The same, and how one sees that nothing waits to be written to it.
    pub(crate) fn watched(stream: S, patience: Duration) -> (Self, Drained) {
        let drained = Drained(Arc::new(AtomicBool::new(true)));
        let seen = drained.clone();
        let patient = Self {
            drained: Some(drained),
            ..Self::new(stream, patience)
        };
        (patient, seen)
    }

    fn note_drained(&self, is_so: bool) {
        if let Some(drained) = &self.drained {
            drained.note(is_so);
        }
    }

    pub(crate) fn into_inner(self) -> S {
        self.stream
    }

    /// The outcome of a write: progress starts the clock anew, a wait that takes too long is an error.
    fn judge<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.is_waiting = false;
            return written;
        }
        let until = Instant::now() + self.patience;
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        if !self.is_waiting {
            self.is_waiting = true;
            waiting.as_mut().reset(until);
        }
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.note_drained(false);
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.note_drained(false);
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.judge(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.note_drained(matches!(flushed, Poll::Ready(Ok(()))));
        self.judge(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.judge(context, shut)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn it_is_drained_after_a_flush_and_before_a_write() {
        let (near, _far) = tokio::io::duplex(16);
        let (mut near, drained) = Patient::watched(near, Duration::from_secs(9));
        assert!(drained.is_so());
        near.write_all(&[0; 8]).await.unwrap();
        assert!(!drained.is_so(), "nobody said that this was all");
        near.flush().await.unwrap();
        assert!(drained.is_so());
        // Of this the other side takes a part only.
        let full = tokio::time::timeout(Duration::from_millis(1), near.write_all(&[0; 64]));
        assert!(full.await.is_err());
        assert!(!drained.is_so());
    }

    #[tokio::test]
    async fn who_takes_nothing_is_given_up_and_who_takes_a_little_is_not() {
        const PATIENCE: Duration = Duration::from_millis(400);
        let (near, far) = tokio::io::duplex(16);
        let mut near = Patient::new(near, PATIENCE);
        let begun = Instant::now();
        let error = near.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(begun.elapsed() >= PATIENCE);
        drop(far);

        let (near, mut far) = tokio::io::duplex(16);
        let mut near = Patient::new(near, PATIENCE);
        let reading = tokio::spawn(async move {
            let mut some = [0; 8];
            // All in all longer than anybody waits at once.
            for _ in 0..8 {
                tokio::time::sleep(PATIENCE / 4).await;
                far.read_exact(&mut some).await.unwrap();
            }
        });
        near.write_all(&[0; 64]).await.unwrap();
        reading.await.unwrap();
    }
}
