//! Bytes of callers other than the owner count while they are kept (I36): of a request until it has arrived,
//! of an answer until it is taken. A whole answer is handed on in small copies, so that what is still to be
//! sent holds little more than itself.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse as _, Response};
use hyper::body::{Body as _, Frame, SizeHint};

use crate::budgets::{Account, Budgets, BytesHeld, Counted};
use crate::takeovers;

/// As much as a connection buffers.
const PIECE_BYTES: usize = 16 * 1024;

struct Metered {
    body: Body,
    rest: Bytes,
    held: BytesHeld,
}

/// Counts the answer's bytes until they are sent; too many of them are not sent at all.
pub(crate) fn meter(budgets: &Budgets, account: &Arc<Account>, response: Response) -> Response {
    let Some(bytes) = response.body().size_hint().exact() else {
        return response;
    };
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    if account.is_owner() || bytes == 0 || takeovers::takes(&response) {
        return response;
    }
    budgets.charge(account, bytes);
    match budgets.answer(account, bytes) {
        Ok(held) => response.map(|body| {
            Body::new(Metered {
                body,
                rest: Bytes::new(),
                held,
            })
        }),
        Err(error) => error.into_response(),
    }
}

/// A request was given up because its token has too many bytes under way.
#[derive(Debug)]
pub(crate) struct TooManyBytes;

impl std::error::Error for TooManyBytes {}

impl std::fmt::Display for TooManyBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("too many bytes of this token are under way")
    }
}

struct Upload {
    body: Body,
    held: BytesHeld,
}

/// Counts a request's bytes from the first one until the last has arrived.
pub(crate) fn upload(budgets: &Budgets, account: &Arc<Account>, body: Body) -> Body {
    if body.is_end_stream() {
        return body;
    }
    Body::new(Upload {
        body,
        held: budgets.held(account),
    })
}

impl hyper::body::Body for Upload {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = std::task::ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(Ok(frame)) = &polled
            && let Some(data) = frame.data_ref()
            && !self.held.add(data.len())
        {
            return Poll::Ready(Some(Err(axum::Error::new(TooManyBytes))));
        }
        Poll::Ready(polled)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Whether this is why a body did not arrive.
pub(crate) fn is_too_many(error: &(dyn std::error::Error + 'static)) -> bool {
    error.is::<TooManyBytes>() || error.source().is_some_and(is_too_many)
}

/// Keeps something until a response's body is done with.
pub(crate) fn keep(response: Response, counted: Counted) -> Response {
    response.map(|body| {
        Body::new(Kept {
            body,
            _counted: counted,
        })
    })
}

struct Kept {
    body: Body,
    _counted: Counted,
}

impl hyper::body::Body for Kept {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl hyper::body::Body for Metered {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        // Held for as long as this body is; named so that it is clear.
        let _ = &self.held;
        if self.rest.is_empty() {
            match std::task::ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                other => return Poll::Ready(other),
            }
        }
        let size = self.rest.len().min(PIECE_BYTES);
        let piece = Bytes::copy_from_slice(&self.rest.split_to(size));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = u64::try_from(self.rest.len()).unwrap_or(u64::MAX);
        let of_body = self.body.size_hint().exact().unwrap_or(0);
        SizeHint::with_exact(of_body.saturating_add(rest))
    }
}
