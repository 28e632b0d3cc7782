//! Accepting connections: bounded in number, header size and time, with `TCP_NODELAY`, and ended
//! gracefully.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt as _;

use crate::bodies;

/// Also bounds open event streams.
const CONNECTIONS_MAX: usize = 16_384;
const HEADER_TIMEOUT: Duration = Duration::from_secs(20);
const HEADERS_MAX: usize = 64;
/// Strangers may fill this much per connection before anything is known about them.
const HEADER_BYTES_MAX: usize = 16 * 1024;
/// After a failed accept (too many open files) it is tried again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Both ends of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer {
    pub remote: SocketAddr,
    pub local: SocketAddr,
}

/// A listener that has its address.
pub struct Bound {
    listener: TcpListener,
    pub address: SocketAddr,
}

impl Bound {
    pub async fn to(address: SocketAddr) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }
}

/// Serves until `stop` becomes true, then lets open requests end.
pub async fn serve(bound: Bound, router: Router, mut stop: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let accepted = tokio::select! {
            accepted = bound.listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let Ok((stream, remote)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        // No place: the connection is closed at once, which costs nobody anything.
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            continue;
        };
        let (router, stop) = (router.clone(), stop.clone());
        tokio::spawn(async move {
            let _place = place;
            connection(stream, remote, router, stop).await;
        });
    }
    let _ = places
        .acquire_many(u32::try_from(CONNECTIONS_MAX).unwrap_or(u32::MAX))
        .await;
}

async fn connection(
    stream: TcpStream,
    remote: SocketAddr,
    router: Router,
    mut stop: watch::Receiver<bool>,
) {
    // Without it an answer of two small writes waits for the peer's acknowledgement.
    let _ = stream.set_nodelay(true);
    let Ok(local) = stream.local_addr() else {
        return;
    };
    let peer = Peer { remote, local };
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        router.clone().oneshot(bodies::linger(request))
    });
    let serving = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEADER_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(serving);
    tokio::select! {
        // A peer that breaks off is nothing to report.
        _ = serving.as_mut() => return,
        _ = stop.wait_for(|stop| *stop) => serving.as_mut().graceful_shutdown(),
    }
    let _ = serving.await;
}
