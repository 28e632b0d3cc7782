//! Pages of the web on loopback, byte by byte as a test says, and what a server of a test may capture of them.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use void_capture::{
    Allowances, Captures, Extractor, FetchPatience, Fetcher, Isolation, Resolution, Resolve,
};
use void_testkit::programs::capture_confined;

/// Long for what comes.
const LONG: Duration = Duration::from_secs(60);

/// What may be captured, and by which names: nothing by none.
pub struct Reading {
    pub allowed: Vec<String>,
    pub names: BTreeMap<&'static str, Vec<&'static str>>,
    pub whole: Duration,
    pub pdf_readers: Vec<PathBuf>,
    /// What is started to read; the built one otherwise.
    pub program: Option<PathBuf>,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            allowed: Vec::new(),
            names: BTreeMap::new(),
            whole: LONG,
            pdf_readers: Vec::new(),
            program: None,
        }
    }
}

impl Reading {
    /// The pages of this web, and nothing else.
    pub fn of(web: &Web) -> Self {
        Self {
            allowed: vec![web.address.clone()],
            ..Self::default()
        }
    }

    pub fn build(self) -> Captures {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        let patience = FetchPatience {
            connect: self.whole,
            whole: self.whole,
        };
        let fetcher = Fetcher::new(
            Allowances::parse(&self.allowed).unwrap(),
            Arc::new(Names(self.names)),
            Arc::new(tls),
            patience,
        );
        // Built when something is to be read, so that other tests do not wait for it.
        let program = self
            .program
            .unwrap_or_else(|| match self.allowed.is_empty() {
                true => PathBuf::from("/nowhere"),
                false => capture_confined().to_owned(),
            });
        let extractor = Extractor {
            isolation: Isolation::Full,
            patience: LONG,
            pdf_readers: self.pdf_readers,
            ..Extractor::new(program, vec!["extract".into()])
        };
        Captures::new(fetcher, extractor)
    }
}

struct Names(BTreeMap<&'static str, Vec<&'static str>>);

impl Resolve for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolution<'a> {
        let known = self.0.get(host.trim_end_matches('.'));
        let found = known.map(|all| all.iter().map(|one| one.parse::<IpAddr>().unwrap()));
        let found = found.map(Iterator::collect);
        Box::pin(async move { found.ok_or_else(|| io::Error::other("no such name")) })
    }
}

pub enum Reply {
    Page(&'static str, Vec<u8>),
    Moved(String),
    Status(u16),
    /// The head of a page, and then nothing, without an end.
    Silence,
    /// A page that goes on and on.
    Endless,
}

pub fn page(text: &str) -> Reply {
    Reply::Page("text/html; charset=utf-8", text.as_bytes().to_vec())
}

pub struct Web {
    /// Its address and port, as an owner allows them.
    pub address: String,
    pub port: u16,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Web {
    /// The reply is made of the path that was asked for.
    pub async fn start(reply: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let (counted, reply) = (Arc::clone(&connections), Arc::new(reply));
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                let reply = Arc::clone(&reply);
                tokio::spawn(async move { serve(stream, &*reply).await });
            }
        });
        Self {
            address: address.to_string(),
            port: address.port(),
            connections,
            task,
        }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, reply: &(impl Fn(&str) -> Reply + Sync)) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        match stream.read(&mut byte).await {
            Ok(1..) => head.extend(byte),
            _ => return,
        }
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap();
    let line = |status: u16, rest: &str| format!("HTTP/1.1 {status} x\r\n{rest}\r\n");
    match reply(path) {
        Reply::Page(kind, bytes) => {
            let rest = format!(
                "Content-Type: {kind}\r\nContent-Length: {}\r\n",
                bytes.len()
            );
            let _ = stream.write_all(line(200, &rest).as_bytes()).await;
            let _ = stream.write_all(&bytes).await;
        }
        Reply::Moved(to) => {
            let rest = format!("Location: {to}\r\nContent-Length: 0\r\n");
            let _ = stream.write_all(line(302, &rest).as_bytes()).await;
        }
        Reply::Status(status) => {
            let rest = "Content-Length: 0\r\n";
            let _ = stream.write_all(line(status, rest).as_bytes()).await;
        }
        Reply::Silence => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
            std::future::pending::<()>().await;
        }
        Reply::Endless => {
            let head = line(200, "Content-Type: text/html\r\n");
            let _ = stream.write_all(head.as_bytes()).await;
            while stream.write_all(&[b'x'; 64 * 1024]).await.is_ok() {}
        }
    }
}
