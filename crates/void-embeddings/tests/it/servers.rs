//! An embeddings server on a socket that answers as a test tells it to, and keeps what it was sent.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, Once};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use void_embeddings::embedders::{Embedder, EmbeddingError};
use void_embeddings::endpoints::{Endpoint, EndpointConfig, EndpointFormat};
use void_embeddings::vectors::Embedding;

pub(crate) const KEY: &str = "sk-test-0123456789";
/// As long as a slow machine needs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) enum Reply {
    Json(Value),
    Body(Vec<u8>),
    Status(u16, &'static str),
    /// The connection stays open and nothing comes until the client goes.
    Silence,
    /// Half of the answer, then the same.
    Stall,
    /// Half of the answer, then the end.
    Cut,
    /// The end before any answer.
    Hangup,
    /// An answer that does not end.
    Endless,
}

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub head: String,
    pub body: Value,
}

pub(crate) struct Server {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Each connection gets the next reply, and no second one.
    pub(crate) fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        thread::spawn(move || {
            for reply in replies {
                let Ok((stream, _)) = listener.accept() else {
                    return;
                };
                // What the client does to the connection is its own business.
                let _ = serve(stream, reply, &kept);
            }
        });
        Self { address, requests }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, reply: Reply, kept: &Mutex<Vec<Request>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = String::new();
    while reader.read_line(&mut head)? > 2 {}
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let body = serde_json::from_slice(&body).unwrap();
    kept.lock().unwrap().push(Request { head, body });
    write(stream, reply, &mut reader)
}

fn write(mut stream: TcpStream, reply: Reply, client: &mut impl Read) -> std::io::Result<()> {
    let mut until_gone = || client.read_to_end(&mut Vec::new()).map(|_| ());
    let head = |status: u16, length: usize| {
        format!(
            "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
        )
    };
    match reply {
        Reply::Json(value) => {
            let body = value.to_string();
            stream.write_all(head(200, body.len()).as_bytes())?;
            stream.write_all(body.as_bytes())
        }
        Reply::Body(body) => {
            stream.write_all(head(200, body.len()).as_bytes())?;
            stream.write_all(&body)
        }
        Reply::Status(status, body) => {
            let location = "location: http://127.0.0.1:1/elsewhere\r\ncontent-length";
            let head = head(status, body.len()).replace("content-length", location);
            stream.write_all(head.as_bytes())?;
            stream.write_all(body.as_bytes())
        }
        Reply::Silence => until_gone(),
        Reply::Stall => {
            stream.write_all(head(200, 1_000).as_bytes())?;
            stream.write_all(b"{\"embeddings\":[[0.5,")?;
            until_gone()
        }
        Reply::Cut => {
            stream.write_all(head(200, 1_000).as_bytes())?;
            stream.write_all(b"{\"embeddings\":[[0.5,")
        }
        Reply::Hangup => Ok(()),
        Reply::Endless => {
            stream.write_all(b"HTTP/1.1 200 x\r\nconnection: close\r\n\r\n{\"embeddings\":[[")?;
            loop {
                stream.write_all(&b"0.5,".repeat(10_000))?;
            }
        }
    }
}

/// A client of this server.
pub(crate) fn client(format: EndpointFormat, address: SocketAddr) -> Embedder {
    client_for(format, address, None)
}

pub(crate) fn client_for(
    format: EndpointFormat,
    address: SocketAddr,
    dimensions: Option<usize>,
) -> Embedder {
    install_tls();
    let path = match format {
        EndpointFormat::Ollama => "",
        EndpointFormat::OpenAi => "/v1/",
    };
    let config = EndpointConfig {
        format,
        base: format!("http://{address}{path}"),
        key: Some(KEY.to_owned()),
        model: "mini".to_owned(),
        dimensions,
    };
    Embedder::Endpoint(Endpoint::new(config).unwrap())
}

pub(crate) fn install_tls() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// The right answer in this format.
pub(crate) fn answer(format: EndpointFormat, vectors: &Value) -> Value {
    match format {
        EndpointFormat::Ollama => {
            json!({"model": "mini", "embeddings": vectors, "total_duration": 1})
        }
        EndpointFormat::OpenAi => {
            let vectors = vectors.as_array().unwrap().iter().enumerate();
            let data = vectors.map(|(index, vector)| json!({"object": "embedding", "index": index, "embedding": vector}));
            json!({"object": "list", "data": data.collect::<Vec<_>>(), "usage": {"total_tokens": 1}})
        }
    }
}

pub(crate) const FORMATS: [EndpointFormat; 2] = [EndpointFormat::Ollama, EndpointFormat::OpenAi];

pub(crate) fn texts(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("text {number}")).collect()
}

/// What this reply to two texts becomes.
pub(crate) async fn outcome(
    format: EndpointFormat,
    reply: Reply,
) -> Result<Vec<Embedding>, EmbeddingError> {
    let server = Server::start(vec![reply]);
    client(format, server.address)
        .embed(&texts(2), PATIENCE)
        .await
}
