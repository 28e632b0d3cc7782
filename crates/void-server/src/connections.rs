//! Accepting connections: bounded in number, header size and time, with `TCP_NODELAY`, and ended
//! gracefully.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tower::ServiceExt as _;

use crate::patience::Patient;
use crate::takeovers::Upgrade;
use crate::{bodies, takeovers};

/// Also bounds open event streams.
const CONNECTIONS_MAX: usize = 16_384;
/// What is open beside connections: the database, logs, programs that are run, what they are asked.
const OTHER_FILES: u64 = 256;
/// Places that only programs on this machine get: the owner's command line, a proxy.
const LOCAL_PLACES: usize = 64;
/// Whoever takes nothing of an answer for so long is gone.
const WRITE_PATIENCE: Duration = Duration::from_secs(20);
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
    let max = places_max();
    let places = Arc::new(Semaphore::new(max));
    let local_places = Arc::new(Semaphore::new(LOCAL_PLACES));
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
        let free = Arc::clone(&places).try_acquire_owned();
        let place = free.or_else(|full| match remote.ip().to_canonical().is_loopback() {
            true => Arc::clone(&local_places).try_acquire_owned(),
            false => Err(full),
        });
        let Ok(place) = place else {
            continue;
        };
        let (router, stop) = (router.clone(), stop.clone());
        tokio::spawn(connection(stream, remote, router, stop, place));
    }
    for (places, all) in [(places, max), (local_places, LOCAL_PLACES)] {
        let all = u32::try_from(all).unwrap_or(u32::MAX);
        let _ = places.acquire_many(all).await;
    }
}

/// As many as there may be open files, of which the system lets most programs have few unless they ask.
fn places_max() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let hard = limit.maximum.unwrap_or(u64::MAX);
    let wanted = hard.min(CONNECTIONS_MAX as u64 + OTHER_FILES);
    let mut files = limit.current.unwrap_or(u64::MAX);
    if files < wanted {
        let raised = Rlimit {
            current: Some(wanted),
            maximum: limit.maximum,
        };
        match setrlimit(Resource::Nofile, raised) {
            Ok(()) => files = wanted,
            Err(error) => tracing::warn!(%error, files, "the limit of open files stays low"),
        }
    }
    let places = files.saturating_sub(OTHER_FILES + LOCAL_PLACES as u64);
    usize::try_from(places).map_or(CONNECTIONS_MAX, |places| {
        places.clamp(LOCAL_PLACES, CONNECTIONS_MAX)
    })
}

async fn connection(
    stream: TcpStream,
    remote: SocketAddr,
    router: Router,
    mut stop: watch::Receiver<bool>,
    place: OwnedSemaphorePermit,
) {
    // Without it an answer of two small writes waits for the peer's acknowledgement.
    let _ = stream.set_nodelay(true);
    let Ok(local) = stream.local_addr() else {
        return;
    };
    let peer = Peer { remote, local };
    let (endless, mut taken) = mpsc::channel(1);
    let first = AtomicBool::new(true);
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        let answering = router.clone().oneshot(bodies::linger(request));
        let is_first = first.swap(false, Ordering::Relaxed);
        let endless = endless.clone();
        async move {
            let answer = answering.await?;
            if is_first && takeovers::takes(&answer) {
                return match endless.send(answer).await {
                    // Whoever has received it ends this one.
                    Ok(()) => std::future::pending().await,
                    Err(back) => Ok(back.0),
                };
            }
            Ok::<_, Infallible>(takeovers::kept(answer))
        }
    });
    let mut serving = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEADER_BYTES_MAX)
        .serve_connection(TokioIo::new(Patient::new(stream, WRITE_PATIENCE)), service);
    let mut answer: Option<Response<Body>> = tokio::select! {
        // A peer that breaks off is nothing to report.
        _ = &mut serving => return,
        answer = taken.recv() => answer,
        _ = stop.wait_for(|stop| *stop) => None,
    };
    if answer.is_none() {
        taken.close();
        answer = taken.try_recv().ok();
    }
    if let Some(answer) = answer {
        let parts = serving.into_parts();
        let (stream, early) = (parts.io.into_inner().into_inner(), parts.read_buf);
        // A task of its own is as small as it can be.
        tokio::spawn(async move {
            let _place = place;
            match answer.extensions().get::<Upgrade>().cloned() {
                Some(upgrade) => upgrade.speak(stream, answer, early, stop).await,
                None => takeovers::write(Patient::new(stream, WRITE_PATIENCE), answer).await,
            }
        });
        return;
    }
    Pin::new(&mut serving).graceful_shutdown();
    let _ = serving.await;
}
