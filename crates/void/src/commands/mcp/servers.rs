//! The server that the bridge leads to, and asking it for a connection.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use serde::Deserialize as _;
use serde_json::Value;
use void_api::errors::ErrorResponse;
use void_domain::failures::FailureCode;
use void_domain::ids::is_slug;
use void_domain::secrets::Secret;

use crate::client;
use crate::exit::CommandError;
use crate::settings::Environment;

pub(crate) const URL_DEFAULT: &str = "http://127.0.0.1:3000";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
const HEAD_BYTES_MAX: usize = 16 * 1024;
const BODY_BYTES_MAX: usize = 16 * 1024;

pub(super) struct Server {
    pub base: String,
    pub token: Secret,
    pub registry: Option<String>,
}

/// What came of asking for a connection.
pub(super) enum Opened {
    /// It is ours, and this much has been read from it.
    Stream(TcpStream, Vec<u8>),
    /// The server is asked message by message.
    OnlyRequests,
    /// Not now; the words are for the client.
    Unreachable(String),
}

impl Server {
    pub(super) fn new(url: Option<&str>, environment: &Environment) -> Result<Self, CommandError> {
        let set = |name: &str| environment.get(name).filter(|value| !value.is_empty());
        let base = url.or_else(|| set("VOID_API_URL")).unwrap_or(URL_DEFAULT);
        let base = client::server_url(base)?;
        let token = set("VOID_AGENT_TOKEN").ok_or_else(|| {
            not_allowed("VOID_AGENT_TOKEN is not set: a client of MCP needs an agent's token")
        })?;
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(not_allowed("VOID_AGENT_TOKEN is not a token of Void's"));
        }
        client::plain_http::judge(&base, environment)?;
        let registry = set("VOID_TOOL_REGISTRY").map(str::to_owned);
        if registry.as_deref().is_some_and(|name| !is_slug(name)) {
            return Err(CommandError::usage(
                "VOID_TOOL_REGISTRY is not a registry's name",
            ));
        }
        Ok(Self {
            base,
            token: Secret::new(token),
            registry,
        })
    }

    /// Asks for a connection. A problem is one that asking again will not solve.
    pub(super) fn open(&self) -> Result<Opened, CommandError> {
        let Some(rest) = self.base.strip_prefix("http://") else {
            return Ok(Opened::OnlyRequests);
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let asked = self.ask(authority, path);
        let (socket, answer) = match asked {
            Ok(asked) => asked,
            Err(error) => return Ok(Opened::Unreachable(self.unreachable(&error.to_string()))),
        };
        match answer.status {
            101 => Ok(Opened::Stream(socket, answer.rest)),
            400 | 404 | 405 | 426 | 501 => Ok(Opened::OnlyRequests),
            status => self
                .refused(status, &answer.body())
                .map(Opened::Unreachable),
        }
    }

    /// What a refusal means: the end, or words about something that may pass.
    pub(super) fn refused(&self, status: u16, body: &Value) -> Result<String, CommandError> {
        let said = ErrorResponse::deserialize(body).map(|answer| answer.error.message);
        let said = said.unwrap_or_else(|_| format!("it answered {status}"));
        match status {
            401 | 403 => Err(not_allowed(&format!(
                "{} refuses this token: {said}",
                self.base
            ))),
            421 | 422 => Err(CommandError::usage(format!(
                "{} refuses: {said}",
                self.base
            ))),
            _ => Ok(self.unreachable(&said)),
        }
    }

    pub(super) fn unreachable(&self, reason: &str) -> String {
        let base = &self.base;
        format!(
            "Void cannot be reached at {base} ({reason}); nothing was done. Is void serve running?"
        )
    }

    fn ask(&self, authority: &str, path: &str) -> io::Result<(TcpStream, HttpResponse)> {
        let mut socket = connect(authority)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        let slash = if path.is_empty() { "" } else { "/" };
        let mut head = format!(
            "GET /{path}{slash}mcp HTTP/1.1\r\nHost: {authority}\r\nAuthorization: Bearer {}\r\n",
            self.token.expose()
        );
        if let Some(registry) = &self.registry {
            head.push_str(&format!("X-Void-Registry: {registry}\r\n"));
        }
        head.push_str("Connection: Upgrade\r\nUpgrade: void-mcp\r\n\r\n");
        socket.write_all(head.as_bytes())?;
        let answer = HttpResponse::read(&mut socket)?;
        socket.set_read_timeout(None)?;
        Ok((socket, answer))
    }
}

fn not_allowed(message: &str) -> CommandError {
    CommandError::new(FailureCode::Unauthenticated, message)
        .next("void token new --kind agent --name NAME --cap read --cap act")
}

fn connect(authority: &str) -> io::Result<TcpStream> {
    let bare = authority.rsplit_once(':').is_none_or(|(_, port)| {
        // A bare IPv6 address ends with its bracket.
        port.ends_with(']')
    });
    let resolved = if bare {
        format!("{authority}:80").to_socket_addrs()
    } else {
        authority.to_socket_addrs()
    };
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in resolved? {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}

struct HttpResponse {
    status: u16,
    rest: Vec<u8>,
}

impl HttpResponse {
    fn read(socket: &mut TcpStream) -> io::Result<Self> {
        let strange = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        let mut bytes = Vec::new();
        let end = loop {
            if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
            if bytes.len() > HEAD_BYTES_MAX || read_some(socket, &mut bytes)? == 0 {
                return Err(strange("it does not answer as Void does"));
            }
        };
        let mut rest = bytes.split_off(end);
        let head = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or_else(|| strange("it does not answer as Void does"))?;
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"));
        let length = length.and_then(|length| length.trim().parse::<usize>().ok());
        if status != 101 {
            let length = length.unwrap_or_default().min(BODY_BYTES_MAX);
            while rest.len() < length && read_some(socket, &mut rest)? > 0 {}
        }
        Ok(Self { status, rest })
    }

    fn body(&self) -> Value {
        serde_json::from_slice(&self.rest).unwrap_or_default()
    }
}

fn read_some(socket: &mut TcpStream, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let mut some = [0; 1_024];
    let read = socket.read(&mut some)?;
    bytes.extend_from_slice(some.get(..read).unwrap_or_default());
    Ok(read)
}
