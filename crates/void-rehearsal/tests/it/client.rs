//! An HTTPS client that hides nothing: one TLS socket, the status line and the body as they came.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;
use void_rehearsal::proxmox::ProxmoxServer;

const PATIENCE: Duration = Duration::from_secs(8);

#[derive(Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    pub(crate) reason: String,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl HttpResponse {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// What a successful answer carries.
    pub(crate) fn data(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()["data"].clone()
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.to_owned())
    }

    /// Status and reason in one, for comparing.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.status, self.reason)
    }
}

#[derive(Clone)]
pub(crate) struct Client {
    port: u16,
    tls: Arc<ClientConfig>,
    authorization: Option<String>,
}

impl Client {
    /// Trusts the lab's authority and shows this token, `user@realm!name=secret`.
    pub(crate) fn new(server: &ProxmoxServer, token: &str) -> Self {
        let stranger = Self::stranger(server);
        Self {
            authorization: Some(format!("PVEAPIToken={token}")),
            ..stranger
        }
    }

    pub(crate) fn stranger(server: &ProxmoxServer) -> Self {
        let mut roots = RootCertStore::empty();
        let ca = CertificateDer::from_pem_slice(server.ca_pem().as_bytes()).unwrap();
        roots.add(ca).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self {
            port: server.port(),
            tls: Arc::new(tls),
            authorization: None,
        }
    }

    pub(crate) fn with_header(mut self, authorization: &str) -> Self {
        self.authorization = Some(authorization.to_owned());
        self
    }

    pub(crate) fn get(&self, path: &str) -> HttpResponse {
        self.send("GET", path, "").unwrap()
    }

    pub(crate) fn post(&self, path: &str, form: &str) -> HttpResponse {
        self.send("POST", path, form).unwrap()
    }

    /// One request on a connection of its own. `path` is below `/api2/json`.
    pub(crate) fn send(&self, method: &str, path: &str, form: &str) -> io::Result<HttpResponse> {
        self.connect()?.send(method, path, form)
    }

    pub(crate) fn connect(&self) -> io::Result<Connection> {
        let socket = TcpStream::connect(("127.0.0.1", self.port))?;
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let session = ClientConnection::new(Arc::clone(&self.tls), name).unwrap();
        Ok(Connection {
            stream: StreamOwned::new(session, socket),
            authorization: self.authorization.clone(),
        })
    }
}

pub(crate) struct Connection {
    stream: StreamOwned<ClientConnection, TcpStream>,
    authorization: Option<String>,
}

impl Connection {
    pub(crate) fn send(
        &mut self,
        method: &str,
        path: &str,
        form: &str,
    ) -> io::Result<HttpResponse> {
        let mut head = format!("{method} /api2/json{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n");
        if let Some(authorization) = &self.authorization {
            head += &format!("Authorization: {authorization}\r\n");
        }
        if !form.is_empty() {
            let length = form.len();
            head += "Content-Type: application/x-www-form-urlencoded\r\n";
            head += &format!("Content-Length: {length}\r\n");
        }
        self.send_raw(&format!("{head}\r\n{form}"))?;
        self.read_answer()
    }

    pub(crate) fn send_raw(&mut self, text: &str) -> io::Result<()> {
        self.stream.write_all(text.as_bytes())?;
        self.stream.flush()
    }

    pub(crate) fn read_answer(&mut self) -> io::Result<HttpResponse> {
        let mut read = Vec::new();
        let head_end = loop {
            if let Some(at) = read.windows(4).position(|four| four == b"\r\n\r\n") {
                break at;
            }
            self.read_some(&mut read)?;
        };
        let head = String::from_utf8(read[..head_end].to_vec()).unwrap();
        let mut body = read[head_end + 4..].to_vec();
        let (version, rest) = head.split_once(' ').unwrap();
        assert_eq!(version, "HTTP/1.1");
        let (status, reason) = rest.lines().next().unwrap().split_once(' ').unwrap();
        let answer = HttpResponse {
            status: status.parse().unwrap(),
            reason: reason.to_owned(),
            head: head.clone(),
            body: Vec::new(),
        };
        let length = answer.header("content-length");
        let length: usize = length.map_or(usize::MAX, |text| text.parse().unwrap());
        while body.len() < length {
            self.read_some(&mut body)?;
        }
        Ok(HttpResponse { body, ..answer })
    }

    /// Everything until the connection ends, cleanly or not.
    pub(crate) fn read_until_end(&mut self) -> String {
        let mut read = Vec::new();
        while self.read_some(&mut read).is_ok() {}
        String::from_utf8_lossy(&read).into_owned()
    }

    /// Everything that arrives in this time; the connection must not end before.
    pub(crate) fn read_for(&mut self, time: Duration) -> String {
        let begun = Instant::now();
        let mut read = Vec::new();
        while begun.elapsed() < time {
            self.read_some(&mut read).unwrap();
        }
        String::from_utf8_lossy(&read).into_owned()
    }

    fn read_some(&mut self, read: &mut Vec<u8>) -> io::Result<()> {
        let mut buffer = [0; 4096];
        match self.stream.read(&mut buffer)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                read.extend_from_slice(&buffer[..count]);
                Ok(())
            }
        }
    }
}
