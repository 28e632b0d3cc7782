//! Accepting connections: bounded in number, header size and time, with `TCP_NODELAY`, and ended
//! gracefully.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd as _, OwnedFd};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tower::ServiceExt as _;

use crate::budgets::{Account, Budgets, Counted};
use crate::errors::ApiError;
use crate::holders::{Holder, Holders, Leave};
use crate::patience::Patient;
use crate::rate_limits::network;
use crate::takeovers::Upgrade;
use crate::{bodies, takeovers};

/// Also bounds open event streams.
const CONNECTIONS_MAX: usize = 16_384;
/// What is open beside connections: the database, logs, programs that are run, what they are asked.
const OTHER_FILES: u64 = 256;
/// However few files may be open.
const CONNECTIONS_MIN: usize = 64;
/// How long a new connection waits for the place of one that gives way.
const GIVE_WAY_TIMEOUT: Duration = Duration::from_secs(1);
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

/// Whose a connection is.
#[derive(Clone)]
pub(crate) struct Slot(Arc<SlotState>);

struct SlotState {
    number: u64,
    holders: Arc<Mutex<Holders>>,
    holding: Mutex<Holding>,
}

struct Holding {
    holder: Holder,
    counted: Option<Counted>,
}

impl Slot {
    fn new(holders: &Arc<Mutex<Holders>>, number: u64, address: IpAddr) -> (Self, Leave) {
        let leave = lock(holders).arrive(number, address);
        let slot = Self(Arc::new(SlotState {
            number,
            holders: Arc::clone(holders),
            holding: Mutex::new(Holding {
                holder: Holder::Address(address),
                counted: None,
            }),
        }));
        (slot, leave)
    }

    /// The connection is this account's from now on.
    pub(crate) fn claim(&self, budgets: &Budgets, account: &Arc<Account>) -> Result<(), ApiError> {
        let mut holding = lock(&self.0.holding);
        let counted = holding.counted.as_ref();
        if counted.is_some_and(|counted| counted.is_of(account)) {
            return Ok(());
        }
        holding.counted = Some(budgets.connection(account)?);
        let to = Holder::Account(account.principal);
        let from = std::mem::replace(&mut holding.holder, to);
        lock(&self.0.holders).pass(self.0.number, from, to);
        Ok(())
    }
}

impl Drop for SlotState {
    fn drop(&mut self) {
        let holder = lock(&self.holding).holder;
        lock(&self.holders).depart(self.number, holder);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Becomes ready when the connection is to give way.
async fn told_to_leave(leave: Leave) {
    if leave.await.is_err() {
        std::future::pending::<()>().await;
    }
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

    /// A socket that listens already.
    pub fn from_listener(listener: std::net::TcpListener) -> std::io::Result<Self> {
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// The same socket once more, for whoever listens next.
    pub fn socket(&self) -> std::io::Result<OwnedFd> {
        self.listener.as_fd().try_clone_to_owned()
    }
}

/// Serves until `stop` becomes true, then lets open requests end.
pub async fn serve(bound: Bound, router: Router, mut stop: watch::Receiver<bool>) {
    let max = places_max();
    let places = Arc::new(Semaphore::new(max));
    let holders = Arc::<Mutex<Holders>>::default();
    let mut number = 0;
    loop {
        let accepted = tokio::select! {
            accepted = bound.listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let Ok((stream, remote)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        number += 1;
        let (slot, leave) = Slot::new(&holders, number, network(remote.ip()));
        // Whoever comes next waits outside meanwhile, so nobody holds a file without a place.
        let Some(place) = place_for(number, &places, &holders, max).await else {
            continue;
        };
        let (router, stop) = (router.clone(), stop.clone());
        tokio::spawn(connection(stream, remote, router, stop, place, slot, leave));
    }
    let all = u32::try_from(max).unwrap_or(u32::MAX);
    let _ = places.acquire_many(all).await;
}

/// A place for the newest connection, if need be that of one which gives way. `None`: only the owner is here.
async fn place_for(
    number: u64,
    places: &Arc<Semaphore>,
    holders: &Mutex<Holders>,
    max: usize,
) -> Option<OwnedSemaphorePermit> {
    if let Ok(place) = Arc::clone(places).try_acquire_owned() {
        return Some(place);
    }
    if !lock(holders).make_room(number, max) {
        return None;
    }
    let freed = Arc::clone(places).acquire_owned();
    let freed = tokio::time::timeout(GIVE_WAY_TIMEOUT, freed).await;
    freed.ok()?.ok()
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
    let places = files.saturating_sub(OTHER_FILES);
    usize::try_from(places).map_or(CONNECTIONS_MAX, |places| {
        places.clamp(CONNECTIONS_MIN, CONNECTIONS_MAX)
    })
}

/// What was read too early, without the rest of the buffer that it was read into.
fn own_bytes(early: &Bytes) -> Bytes {
    match early.is_empty() {
        true => Bytes::new(),
        false => Bytes::copy_from_slice(early),
    }
}

/// Goes on until it is done or the connection is to give way; what is held is held as long.
async fn until_told<T>(
    leave: impl Future<Output = ()>,
    held: T,
    speaking: impl Future<Output = ()>,
) {
    let _held = held;
    tokio::select! {
        () = speaking => {}
        () = leave => {}
    }
}

async fn connection(
    stream: TcpStream,
    remote: SocketAddr,
    router: Router,
    mut stop: watch::Receiver<bool>,
    place: OwnedSemaphorePermit,
    slot: Slot,
    leave: Leave,
) {
    // Without it an answer of two small writes waits for the peer's acknowledgement.
    let _ = stream.set_nodelay(true);
    let Ok(local) = stream.local_addr() else {
        return;
    };
    let peer = Peer { remote, local };
    let (endless, mut taken) = mpsc::channel(1);
    let first = AtomicBool::new(true);
    let (stream, drained) = Patient::watched(stream, WRITE_PATIENCE);
    let kept = slot.clone();
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        request.extensions_mut().insert(slot.clone());
        let answering = router.clone().oneshot(bodies::linger(request));
        let is_first = first.swap(false, Ordering::Relaxed);
        let (endless, drained) = (endless.clone(), drained.clone());
        async move {
            let answer = answering.await?;
            // A later one only if nothing of an earlier one waits in hyper's buffer, which would be lost.
            let is_next = takeovers::is_endless(&answer) && drained.is_so();
            if (is_first && takeovers::takes(&answer)) || is_next {
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
        .serve_connection(TokioIo::new(stream), service);
    let mut leave = Box::pin(told_to_leave(leave));
    let mut answer: Option<Response<Body>> = tokio::select! {
        // A peer that breaks off is nothing to report.
        _ = &mut serving => return,
        () = &mut leave => return,
        answer = taken.recv() => answer,
        _ = stop.wait_for(|stop| *stop) => None,
    };
    if answer.is_none() {
        taken.close();
        answer = taken.try_recv().ok();
    }
    if let Some(answer) = answer {
        // The count of the connection stays with it when its service is gone.
        let held = kept;
        let parts = serving.into_parts();
        let stream = parts.io.into_inner().into_inner();
        let upgrade = answer.extensions().get::<Upgrade>().cloned();
        // Tasks of their own, each as small as it can be: there may be thousands.
        match upgrade {
            Some(upgrade) => {
                let early = own_bytes(&parts.read_buf);
                tokio::spawn(until_told(leave, (place, held), async move {
                    upgrade.speak(stream, answer, early, stop).await;
                }));
            }
            None => {
                let stream = Patient::new(stream, WRITE_PATIENCE);
                let writing = takeovers::write(stream, answer);
                tokio::spawn(until_told(leave, (place, held), writing));
            }
        }
        return;
    }
    Pin::new(&mut serving).graceful_shutdown();
    let _ = serving.await;
}
