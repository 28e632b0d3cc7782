//! Streams are taken out of hyper once they are open. For event streams it keeps two buffers of 8 KiB for
//! a connection that will only ever carry a line now and then, and there may be thousands of these; an
//! upgraded connection no longer speaks HTTP.
//!
//! The answer has gone through every layer by then. An upgrade is taken over as the first answer of a connection only;
//! a stream as a later one too, if nothing of an earlier one is still under way. It ends with the connection.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, Bytes};
use axum::http::Response;
use axum::http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use axum::response::IntoResponse as _;
use http_body_util::BodyExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::errors::ApiError;
use crate::patience::Patient;

/// Marks an answer whose body goes on until somebody leaves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndlessAnswer;

/// Marks an answer after which the connection speaks something else. Whoever takes it over gets what was
/// read too early, and hears when the server stops.
#[derive(Clone)]
pub(crate) struct Upgrade(Arc<Mutex<Option<Speaking>>>);

type Speaking = Box<dyn FnOnce(TcpStream, Bytes, watch::Receiver<bool>) -> Spoken + Send>;
type Spoken = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Upgrade {
    pub(crate) fn to<F>(
        speaking: impl FnOnce(TcpStream, Bytes, watch::Receiver<bool>) -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let speaking: Speaking =
            Box::new(move |stream, early, stop| Box::pin(speaking(stream, early, stop)));
        Self(Arc::new(Mutex::new(Some(speaking))))
    }

    pub(crate) async fn speak(
        &self,
        mut stream: TcpStream,
        answer: Response<Body>,
        early: Bytes,
        stop: watch::Receiver<bool>,
    ) {
        let speaking = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (head, _) = split(answer, "upgrade");
        if let Some(speaking) = speaking
            && stream.write_all(&head).await.is_ok()
        {
            drop(head);
            speaking(stream, early, stop).await;
        }
    }
}

/// Whether the connection is handed over with this answer.
pub(crate) fn takes(answer: &Response<Body>) -> bool {
    let marks = answer.extensions();
    marks.get::<EndlessAnswer>().is_some() || marks.get::<Upgrade>().is_some()
}

/// Whether the body goes on until somebody leaves.
pub(crate) fn is_endless(answer: &Response<Body>) -> bool {
    answer.extensions().get::<EndlessAnswer>().is_some()
}

/// An answer on a connection that is not handed over: one that has carried another before.
pub(crate) fn kept(answer: Response<Body>) -> Response<Body> {
    if answer.extensions().get::<Upgrade>().is_some() {
        return ApiError::upgrade_late().into_response();
    }
    answer
}

/// Writes an answer and then its body, piece by piece, until either side has had enough.
pub(crate) async fn write(mut stream: Patient<TcpStream>, answer: Response<Body>) {
    let (head, body) = split(answer, "close");
    if stream.write_all(&head).await.is_ok() {
        drop(head);
        pass_on(stream, body).await;
    }
}

/// The head as bytes, so that nothing of it stays while the body goes on.
fn split(answer: Response<Body>, connection: &str) -> (Vec<u8>, Body) {
    let (parts, body) = answer.into_parts();
    let mut head = format!(
        "HTTP/1.1 {} {}\r\n",
        parts.status.as_u16(),
        parts.status.canonical_reason().unwrap_or_default()
    )
    .into_bytes();
    for (name, value) in &parts.headers {
        if !matches!(*name, CONNECTION | CONTENT_LENGTH | TRANSFER_ENCODING) {
            head.extend_from_slice(name.as_str().as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value.as_bytes());
            head.extend_from_slice(b"\r\n");
        }
    }
    head.extend_from_slice(format!("connection: {connection}\r\n\r\n").as_bytes());
    (head, body)
}

async fn pass_on(mut stream: Patient<TcpStream>, mut body: Body) {
    let mut ignored = [0_u8; 64];
    loop {
        let frame = tokio::select! {
            frame = body.frame() => frame,
            // Whoever leaves shows it by an end; nobody has anything to say here.
            read = stream.read(&mut ignored) => match read {
                Ok(0) | Err(_) => return,
                Ok(_) => continue,
            },
        };
        let Some(Ok(frame)) = frame else { break };
        if let Ok(piece) = frame.into_data()
            && stream.write_all(&piece).await.is_err()
        {
            return;
        }
    }
    let _ = stream.shutdown().await;
}
