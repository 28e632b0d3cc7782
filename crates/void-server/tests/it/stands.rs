//! Services of a test: real sockets that are put up, taken down and made to misbehave. Each has a
//! loopback address of its own, so that a port that is given up is taken by nobody.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use void_domain::services::Services;

use crate::apps::random;

/// What a stand does with whoever connects.
#[derive(Debug, Clone)]
pub enum Says {
    /// This, and closes.
    All(Vec<u8>),
    /// This, and then the same over and over.
    Endless(Vec<u8>, Vec<u8>),
    /// One byte of this at a time, slowly.
    Drip(Vec<u8>),
    /// Nothing, and keeps the connection.
    Nothing,
}

pub const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

pub struct Stand {
    pub address: SocketAddr,
    asked: Arc<AtomicUsize>,
    /// Connections that are open now.
    open: Arc<AtomicUsize>,
    serving: Option<JoinHandle<()>>,
}

impl Stand {
    /// An address where nobody listens.
    pub fn down() -> Self {
        let [a, b, c, ..] = random().to_le_bytes();
        let ip = Ipv4Addr::new(127, a.max(1), b, c.clamp(1, 254));
        Self {
            address: (ip, 8_080).into(),
            asked: Arc::default(),
            open: Arc::default(),
            serving: None,
        }
    }

    /// One that answers 200.
    pub async fn up() -> Self {
        Self::saying(Says::All(OK.to_vec())).await
    }

    pub async fn saying(says: Says) -> Self {
        let mut stand = Self::down();
        stand.put_up(says, usize::MAX).await;
        stand
    }

    /// Listens from here on; after so many answers it falls over.
    pub async fn put_up(&mut self, says: Says, answers_max: usize) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        let (asked, open) = (Arc::clone(&self.asked), Arc::clone(&self.open));
        self.serving = Some(tokio::spawn(async move {
            for _ in 0..answers_max {
                let Ok((stream, _)) = listener.accept().await else {
                    return;
                };
                asked.fetch_add(1, Ordering::SeqCst);
                open.fetch_add(1, Ordering::SeqCst);
                let (says, open) = (says.clone(), Arc::clone(&open));
                tokio::spawn(async move {
                    answer(stream, says).await;
                    open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        }));
    }

    pub async fn take_down(&mut self) {
        if let Some(serving) = self.serving.take() {
            serving.abort();
            // Once it has ended its listener is closed.
            let _ = serving.await;
        }
    }

    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    pub fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }

    /// As an entry of the services file, which is looked at once and then not for long.
    pub fn service(&self, id: &str) -> Value {
        let url = format!("http://{}/", self.address);
        let check = json!({"kind": "http", "url": url});
        json!({"id": id, "label": format!("The {id}"), "check": check, "interval_s": 3_600, "timeout_s": 5})
    }

    /// The same, looked at every second.
    pub fn watched(&self, id: &str) -> Value {
        let mut service = self.service(id);
        service["interval_s"] = json!(1);
        service
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        if let Some(serving) = &self.serving {
            serving.abort();
        }
    }
}

async fn answer(mut stream: TcpStream, says: Says) {
    const DRIP: Duration = Duration::from_millis(50);
    let mut asked = [0; 1_024];
    if stream.read(&mut asked).await.is_err() {
        return;
    }
    match says {
        // Whoever has heard enough hangs up; that is no error here.
        Says::All(bytes) => _ = stream.write_all(&bytes).await,
        Says::Endless(bytes, more) => {
            let mut written = stream.write_all(&bytes).await;
            while written.is_ok() {
                written = stream.write_all(&more).await;
            }
        }
        Says::Drip(bytes) => {
            for byte in bytes.iter().cycle() {
                if stream.write_all(&[*byte]).await.is_err() {
                    return;
                }
                tokio::time::sleep(DRIP).await;
            }
        }
        Says::Nothing => _ = stream.read(&mut asked).await,
    }
}

pub fn services(list: &[Value]) -> Services {
    Services::parse(&json!({"services": list}).to_string()).unwrap()
}
