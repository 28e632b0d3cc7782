//! Little servers that answer as they are told, with or without TLS, and remember what they were sent.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rcgen::{CertificateParams, KeyPair};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::{self, ServerConfig, pki_types as rustls_pki_types};
use void_domain::digests::Digest;

/// From the head of a request to what is written.
type Answers = dyn Fn(&str) -> Vec<u8> + Send + Sync;

/// What a server does with a connection, when it has read a request's head.
#[derive(Clone)]
pub(crate) enum Does {
    /// Writes this and closes.
    Says(Arc<Answers>),
    /// Writes this at once, as a mail server does.
    Greets(&'static [u8]),
    /// Never says anything.
    Nothing,
    /// Resets the connection.
    Resets,
}

pub(crate) fn says(text: &str) -> Does {
    let text = text.as_bytes().to_vec();
    Does::Says(Arc::new(move |_| text.clone()))
}

/// A listening server; dropping it ends it.
pub(crate) struct Canned {
    pub(crate) port: u16,
    /// The heads of all requests so far.
    received: Arc<Mutex<Vec<String>>>,
    accepting: JoinHandle<()>,
}

impl Canned {
    pub(crate) async fn plain(does: Does) -> Self {
        Self::start(does, None).await
    }

    pub(crate) async fn secure(does: Does, identity: &Identity) -> Self {
        Self::start(does, Some(TlsAcceptor::from(Arc::clone(&identity.tls)))).await
    }

    async fn start(does: Does, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = Arc::default();
        let heads = Arc::clone(&received);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, tls.clone(), does.clone(), Arc::clone(&heads)));
            }
        });
        Self {
            port,
            received,
            accepting,
        }
    }

    pub(crate) fn received(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }
}

impl Drop for Canned {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    does: Does,
    heads: Arc<Mutex<Vec<String>>>,
) {
    if matches!(does, Does::Resets) {
        stream.set_zero_linger().unwrap();
    }
    match tls {
        None => answer(stream, does, heads).await,
        Some(tls) => {
            if let Ok(stream) = tls.accept(stream).await {
                answer(stream, does, heads).await;
            }
        }
    }
}

async fn answer(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    does: Does,
    heads: Arc<Mutex<Vec<String>>>,
) {
    if let Does::Greets(greeting) = does {
        let _ = stream.write_all(greeting).await;
        let _ = stream.flush().await;
        // What is read is not reset.
        let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
        return;
    }
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let Ok(byte) = stream.read_u8().await else {
            return;
        };
        head.push(byte);
    }
    let head = String::from_utf8(head).unwrap();
    heads.lock().unwrap().push(head.clone());
    match does {
        Does::Says(make) => {
            let _ = stream.write_all(&make(&head)).await;
            let _ = stream.shutdown().await;
        }
        Does::Nothing => tokio::time::sleep(Duration::from_secs(600)).await,
        Does::Resets | Does::Greets(_) => {}
    }
}

/// A certificate of its own making.
pub(crate) struct Identity {
    tls: Arc<ServerConfig>,
    pub(crate) fingerprint: Digest,
    pub(crate) pem: String,
}

impl Identity {
    pub(crate) fn new(names: &[&str]) -> Self {
        let key = KeyPair::generate().unwrap();
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let certificate = CertificateParams::new(names).unwrap().self_signed(&key);
        let certificate = certificate.unwrap();
        let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], private)
            .unwrap();
        Self {
            tls: Arc::new(tls),
            fingerprint: Digest::of(certificate.der()),
            pem: certificate.pem(),
        }
    }
}
