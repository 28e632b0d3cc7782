//! The socket: accepting, TLS, HTTP/1.1 with keep-alive, bounds, and closing everything at once.

use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::proxmox::cluster::Simulation;
use crate::proxmox::http;

/// Connections at the same time; more wait to be accepted.
pub const CONNECTIONS_MAX: usize = 256;
const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(10);
/// Requests on one connection; then it is closed, as Proxmox does.
pub const REQUESTS_PER_CONNECTION_MAX: u32 = 100;
const HEADERS_MAX: usize = 64;
/// The least that hyper takes; Proxmox reads 8 KiB of headers too.
const BUFFER_BYTES_MAX: usize = 8192;
const PAUSE_AFTER_ERROR: Duration = Duration::from_millis(20);

/// What the handle changes while the listener runs.
pub(crate) struct Switchboard {
    tls: Mutex<Arc<ServerConfig>>,
    generation: watch::Sender<u64>,
}

impl Switchboard {
    pub(crate) fn new(tls: Arc<ServerConfig>) -> Self {
        Self {
            tls: Mutex::new(tls),
            generation: watch::Sender::new(0),
        }
    }

    /// Presents another certificate from now on. Open connections end, as when a server restarts.
    pub(crate) fn present(&self, tls: Arc<ServerConfig>) {
        *self.tls.lock().unwrap_or_else(PoisonError::into_inner) = tls;
        self.generation.send_modify(|generation| *generation += 1);
    }

    fn tls(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.tls.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Accepts until told to stop; returning ends every connection, since their tasks end with the runtime.
pub(crate) async fn listen(
    listener: TcpListener,
    simulation: Arc<Simulation>,
    switchboard: Arc<Switchboard>,
    stop: oneshot::Receiver<()>,
) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut stop = pin!(stop);
    loop {
        let accepted = async {
            let permit = Arc::clone(&room).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            _ = &mut stop => return,
            accepted = accepted => accepted,
        };
        let Ok((stream, _)) = accepted else {
            sleep(PAUSE_AFTER_ERROR).await;
            continue;
        };
        let (simulation, switchboard) = (Arc::clone(&simulation), Arc::clone(&switchboard));
        tokio::spawn(async move {
            let mut generation = switchboard.generation.subscribe();
            tokio::select! {
                () = serve(stream, simulation, switchboard.tls()) => {}
                _ = generation.changed() => {}
            }
            drop(permit);
        });
    }
}

async fn serve(stream: TcpStream, simulation: Arc<Simulation>, tls: Arc<ServerConfig>) {
    // Answers are small and a client waits for each.
    let _ = stream.set_nodelay(true);
    let handshake = TlsAcceptor::from(tls).accept(stream);
    let Ok(Ok(stream)) = timeout(HANDSHAKE_TIME_MAX, handshake).await else {
        return;
    };
    let idle_time_max = simulation.idle_time_max;
    let answered = AtomicU32::new(0);
    let service = service_fn(move |request| {
        let count = answered.fetch_add(1, Ordering::Relaxed) + 1;
        let is_last = count >= REQUESTS_PER_CONNECTION_MAX;
        http::answer(Arc::clone(&simulation), request, is_last)
    });
    // How a connection ends is the client's business; what it did is in the logs of the simulation.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle_time_max)
        .max_headers(HEADERS_MAX)
        .max_buf_size(BUFFER_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
