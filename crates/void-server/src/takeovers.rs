//! Event streams are taken out of hyper once they are open: it keeps two buffers of 8 KiB for a
//! connection that will only ever carry a line now and then, and there may be thousands of these.
//!
//! The answer has gone through every layer by then. Only the first answer of a connection is taken over,
//! so that nothing of an earlier one can still be under way, and it ends with the connection.

use axum::body::Body;
use axum::http::Response;
use axum::http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use http_body_util::BodyExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Marks an answer whose body goes on until somebody leaves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndlessAnswer;

/// Writes an answer and then its body, piece by piece, until either side has had enough.
pub(crate) async fn write(mut stream: TcpStream, answer: Response<Body>) {
    let (head, body) = split(answer);
    if stream.write_all(&head).await.is_ok() {
        drop(head);
        pass_on(stream, body).await;
    }
}

/// The head as bytes, so that nothing of it stays while the body goes on.
fn split(answer: Response<Body>) -> (Vec<u8>, Body) {
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
    head.extend_from_slice(b"connection: close\r\n\r\n");
    (head, body)
}

async fn pass_on(mut stream: TcpStream, mut body: Body) {
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
