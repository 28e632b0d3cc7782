//! TLS in front of a server that speaks plain HTTP, with certificates of an authority that this made. It can turn
//! into somebody else's server, and then counts the bytes that anybody trusted it with.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use void_domain::digests::Digest;

use crate::listening::Listening;

/// A certificate for this machine, and who signed it.
pub struct Identity {
    config: Arc<ServerConfig>,
    /// The authority's certificate.
    pub authority_pem: String,
    /// SHA-256 of the server's own certificate.
    pub fingerprint: String,
    /// The server's own certificate and its key, for a program that reads files.
    pub certificate_pem: String,
    pub key_pem: String,
}

impl Identity {
    #[expect(
        clippy::new_without_default,
        reason = "every one is another; there is no natural default"
    )]
    pub fn new() -> Self {
        let authority_key = KeyPair::generate().expect("a key");
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let authority_pem = authority
            .self_signed(&authority_key)
            .expect("a certificate")
            .pem();
        let issuer = Issuer::new(authority, authority_key);
        let key = KeyPair::generate().expect("a key");
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let mut params = CertificateParams::new(names).expect("names");
        params.use_authority_key_identifier_extension = true;
        let certificate = params.signed_by(&key, &issuer).expect("a certificate");
        let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("protocol versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], private)
            .expect("a certificate and its key");
        Self {
            config: Arc::new(config),
            authority_pem,
            fingerprint: Digest::of(certificate.der()).to_fingerprint(),
            certificate_pem: certificate.pem(),
            key_pem: key.serialize_pem(),
        }
    }
}

/// Who answers at the address now.
#[derive(Clone)]
enum Answering {
    /// Passes everything on to the server.
    Server(Arc<ServerConfig>),
    /// Takes what it gets, and answers nothing.
    Stranger(Arc<ServerConfig>),
}

pub struct TlsFront {
    listening: Listening,
    answering: watch::Sender<Answering>,
    stolen: Arc<AtomicU64>,
    refusals: Arc<Mutex<Vec<String>>>,
}

impl TlsFront {
    pub fn start(to: SocketAddr, identity: &Identity) -> Self {
        let answering = watch::Sender::new(Answering::Server(Arc::clone(&identity.config)));
        let front = Front {
            to,
            answering: answering.subscribe(),
            stolen: Arc::default(),
            refusals: Arc::default(),
        };
        let (stolen, refusals) = (Arc::clone(&front.stolen), Arc::clone(&front.refusals));
        let listening = Listening::start(0, |listener| front.accept(listener));
        Self {
            listening,
            answering,
            stolen,
            refusals,
        }
    }

    pub fn url(&self) -> String {
        format!("https://localhost:{}", self.listening.address.port())
    }

    /// From now on somebody else answers here; open connections end.
    pub fn is_taken_over_by(&self, stranger: &Identity) {
        let stranger = Answering::Stranger(Arc::clone(&stranger.config));
        self.answering.send_replace(stranger);
    }

    pub fn is_given_back_to(&self, identity: &Identity) {
        let server = Answering::Server(Arc::clone(&identity.config));
        self.answering.send_replace(server);
    }

    /// How many bytes a stranger was trusted with.
    pub fn stolen_bytes(&self) -> u64 {
        self.stolen.load(Ordering::SeqCst)
    }

    /// Handshakes that did not come to their end, in the words of this side.
    pub fn refusals(&self) -> Vec<String> {
        let refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        refusals.clone()
    }
}

#[derive(Clone)]
struct Front {
    to: SocketAddr,
    answering: watch::Receiver<Answering>,
    stolen: Arc<AtomicU64>,
    refusals: Arc<Mutex<Vec<String>>>,
}

impl Front {
    async fn accept(self, listener: TcpListener) {
        while let Ok((stream, _)) = listener.accept().await {
            let mut front = self.clone();
            tokio::spawn(async move {
                let _ = stream.set_nodelay(true);
                let answering = front.answering.borrow_and_update().clone();
                let mut answering_changed = front.answering.clone();
                tokio::select! {
                    () = front.serve(stream, answering) => {}
                    _ = answering_changed.changed() => {}
                }
            });
        }
    }

    async fn serve(&self, stream: TcpStream, answering: Answering) {
        let config = match &answering {
            Answering::Server(config) | Answering::Stranger(config) => Arc::clone(config),
        };
        let client = match TlsAcceptor::from(config).accept(stream).await {
            Ok(client) => client,
            Err(error) => {
                let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
                refusals.push(error.to_string());
                return;
            }
        };
        match answering {
            Answering::Server(_) => self.pass_on(client).await,
            Answering::Stranger(_) => self.steal(client).await,
        }
    }

    async fn pass_on(&self, mut client: TlsStream<TcpStream>) {
        if let Ok(mut server) = TcpStream::connect(self.to).await {
            let _ = server.set_nodelay(true);
            let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
        }
    }

    async fn steal(&self, mut client: TlsStream<TcpStream>) {
        let mut taken = Vec::new();
        while let Ok(bytes @ 1..) = client.read_buf(&mut taken).await {
            self.stolen.fetch_add(bytes as u64, Ordering::SeqCst);
        }
    }
}
