//! What is left of a body that was answered before it was read.
//!
//! A connection that is closed with bytes unread takes its answer with it: whoever sent too much, or
//! to the wrong place, would see a broken line instead of the reason. So the rest is read and dropped,
//! for a moment and up to a bound.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{Request, header};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::runtime::Handle;
use void_domain::limits::REQUEST_BODY_BYTES_MAX;

const LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES_MAX: usize = 4 * REQUEST_BODY_BYTES_MAX;

/// A body whose rest is dropped politely.
pub(crate) struct Lingering(Option<Incoming>);

/// Who waits to be asked for the body (`Expect`) has not sent any.
pub(crate) fn linger(request: Request<Incoming>) -> Request<axum::body::Body> {
    if request.headers().contains_key(header::EXPECT) {
        return request.map(axum::body::Body::new);
    }
    request.map(|body| axum::body::Body::new(Lingering(Some(body))))
}

impl Body for Lingering {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.0 {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.0
            .as_ref()
            .map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl Drop for Lingering {
    fn drop(&mut self) {
        let rest = self.0.take().filter(|rest| !rest.is_end_stream());
        if let (Some(rest), Ok(runtime)) = (rest, Handle::try_current()) {
            runtime.spawn(tokio::time::timeout(LINGER, drop_rest(rest)));
        }
    }
}

async fn drop_rest(mut rest: Incoming) {
    let mut bytes: usize = 0;
    while let Some(Ok(frame)) = rest.frame().await {
        bytes = bytes.saturating_add(frame.data_ref().map_or(0, Bytes::len));
        if bytes > LINGER_BYTES_MAX {
            return;
        }
    }
}
