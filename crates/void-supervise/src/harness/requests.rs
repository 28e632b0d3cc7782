//! HTTP as far as an agent's process needs it: one request, one answer, one connection.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::messages::{CallNumber, FileAnswer, Step, StepAnswers, TakenTurn};
use crate::orders::TokenText;

const PATIENCE: Duration = Duration::from_secs(20);
/// A step of a turn is an answer of a model; the turn's own limit is shorter.
const STEP_PATIENCE: Duration = Duration::from_secs(150);
const TOO_MANY: u16 = 429;
const PAUSE: Duration = Duration::from_secs(1);
/// So often in a row it takes a no for *later*.
const HELD_BACK_MAX: u32 = 10;
const HEAD_BYTES_MAX: usize = 16 * 1024;
const ANSWER_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Words of a refusal that its log shows.
const REFUSAL_CHARS_MAX: usize = 300;

pub(super) struct Api {
    address: SocketAddr,
    name: String,
    token: TokenText,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum ApiError {
    #[error("the server cannot be reached: {0}")]
    Unreachable(#[from] io::Error),
    #[error("the server does not know this agent")]
    Unknown,
    #[error("the server refuses ({0}): {1}")]
    Refused(u16, String),
    #[error("what answers there is no server")]
    Garbled,
}

/// A request of its own making.
struct HttpRequest<'a> {
    method: &'static str,
    path: &'a str,
    pass: Option<&'a TokenText>,
    body: Option<String>,
    patience: Duration,
}

impl Api {
    /// `None` unless the URL is `http://` with an address and a port: there is nobody here to ask for a name.
    pub(super) fn new(url: &str, name: &str, token: TokenText) -> Option<Self> {
        let address = url.strip_prefix("http://")?.trim_end_matches('/');
        let is_slug = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-';
        let name = name.chars().all(is_slug).then(|| name.to_owned())?;
        Some(Self {
            address: address.parse().ok()?,
            name,
            token,
        })
    }

    /// Whether the server knows this agent by its token. What the agent may is another question.
    pub(super) fn present_itself(&self) -> Result<(), ApiError> {
        let path = format!("/api/agents/{}/process", self.name);
        let (status, _) = self.send(&HttpRequest {
            method: "GET",
            path: &path,
            pass: None,
            body: None,
            patience: PATIENCE,
        })?;
        match status {
            401 => Err(ApiError::Unknown),
            _ => Ok(()),
        }
    }

    /// The turn that waits for this agent, if one does.
    pub(super) fn take_turn(&self) -> Result<Option<(String, TokenText)>, ApiError> {
        let path = format!("/api/agents/{}/turn", self.name);
        let taken: TakenTurn = self.post(&path, None, &serde_json::Map::new(), PATIENCE)?;
        match (taken.turn, taken.pass) {
            (Some(turn), Some(pass)) if is_id(&turn) => {
                let pass = TokenText::new(&pass).ok_or(ApiError::Garbled)?;
                Ok(Some((turn, pass)))
            }
            (None, None) => Ok(None),
            _ => Err(ApiError::Garbled),
        }
    }

    pub(super) fn step(
        &self,
        turn: &str,
        pass: &TokenText,
        answers: Vec<FileAnswer>,
    ) -> Result<Step, ApiError> {
        let path = format!("/api/agents/{}/turns/{turn}/step", self.name);
        self.post(&path, Some(pass), &StepAnswers { answers }, STEP_PATIENCE)
    }

    /// Has the server answer one of the model's calls.
    pub(super) fn call(&self, turn: &str, pass: &TokenText, call: usize) -> Result<Step, ApiError> {
        let path = format!("/api/agents/{}/turns/{turn}/calls", self.name);
        self.post(&path, Some(pass), &CallNumber { call }, STEP_PATIENCE)
    }

    fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        pass: Option<&TokenText>,
        body: &impl Serialize,
        patience: Duration,
    ) -> Result<T, ApiError> {
        let body = serde_json::to_string(body).map_err(|_| ApiError::Garbled)?;
        let asked = HttpRequest {
            method: "POST",
            path,
            pass,
            body: Some(body),
            patience,
        };
        let mut held_back = 0;
        let (status, answer) = loop {
            match self.send(&asked)? {
                // Nothing of it was done: it is asked again, later.
                (TOO_MANY, _) if held_back < HELD_BACK_MAX => {
                    held_back += 1;
                    thread::sleep(PAUSE);
                }
                answered => break answered,
            }
        };
        match status {
            200 => serde_json::from_slice(&answer).map_err(|_| ApiError::Garbled),
            401 => Err(ApiError::Unknown),
            status => {
                let said = String::from_utf8_lossy(&answer);
                let said = said.chars().take(REFUSAL_CHARS_MAX).collect();
                Err(ApiError::Refused(status, said))
            }
        }
    }

    fn send(&self, asked: &HttpRequest<'_>) -> Result<(u16, Vec<u8>), ApiError> {
        let mut stream = TcpStream::connect_timeout(&self.address, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(asked.patience))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let (host, token) = (self.address, self.token.expose());
        let mut request = format!(
            "{} {} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\naccept: application/json\r\nconnection: close\r\n",
            asked.method, asked.path
        );
        if let Some(pass) = asked.pass {
            request.push_str(&format!("x-void-turn: {}\r\n", pass.expose()));
        }
        if let Some(body) = &asked.body {
            request.push_str(&format!(
                "content-type: application/json\r\ncontent-length: {}\r\n",
                body.len()
            ));
        }
        request.push_str("\r\n");
        request.push_str(asked.body.as_deref().unwrap_or_default());
        stream.write_all(request.as_bytes())?;
        // A connection that is closed with something unread is reset: all of it is read.
        let mut answer = Vec::new();
        let read = stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer);
        match (split(&answer), read) {
            // Whoever was told how long it is has it whole, however the connection ended.
            (Some((status, body)), _) => Ok((status, body.to_vec())),
            (None, Err(error)) => Err(error.into()),
            (None, Ok(_)) => Err(ApiError::Garbled),
        }
    }
}

/// The status and the body, of as many bytes as the head says.
fn split(answer: &[u8]) -> Option<(u16, &[u8])> {
    let end = answer
        .windows(4)
        .take(HEAD_BYTES_MAX)
        .position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(answer.get(..end)?).ok()?;
    let body = answer.get(end.checked_add(4)?..)?;
    let mut lines = head.split("\r\n");
    let status = lines
        .next()?
        .strip_prefix("HTTP/1.1 ")?
        .get(..3)?
        .parse()
        .ok()?;
    let mut length: Option<usize> = None;
    for line in lines {
        let (name, value) = line.split_once(':')?;
        if name.eq_ignore_ascii_case("transfer-encoding") {
            return None;
        }
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(value.trim().parse().ok()?);
        }
    }
    match length {
        Some(length) => Some((status, body.get(..length)?)),
        None => Some((status, body)),
    }
}

/// As ids of the server are: nothing that could be another path.
fn is_id(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    (1..=64).contains(&text.len()) && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_an_address_and_an_agent_a_slug() {
        let api = |url, name| Api::new(url, name, TokenText::new("t").unwrap()).is_some();
        assert!(api("http://127.0.0.1:3000", "alice-2"));
        assert!(api("http://[::1]:3000/", "alice"));
        for url in [
            "https://127.0.0.1:3000",
            "http://void.lan:3000",
            "http://127.0.0.1",
            "",
        ] {
            assert!(!api(url, "alice"), "{url}");
        }
        for name in ["a/b", "a b", "A", "a\r\nx: y", "é"] {
            assert!(!api("http://127.0.0.1:3000", name), "{name}");
        }
    }

    #[test]
    fn an_answer_is_a_status_and_as_many_bytes_as_it_says() {
        let ok = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}more";
        assert_eq!(split(ok), Some((200, &b"{}"[..])));
        assert_eq!(split(b"HTTP/1.1 401 No\r\n\r\n"), Some((401, &b""[..])));
        for garbled in [
            &b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n{}"[..],
            b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n{}",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}",
            b"HTTP/1.0 200 OK\r\n\r\n",
            b"HTTP/1.1 2x0 OK\r\n\r\n",
            b"HTTP/1.1 200 OK\r\n",
            b"SSH-2.0-Open",
            b"",
        ] {
            assert_eq!(split(garbled), None, "{}", String::from_utf8_lossy(garbled));
        }
    }

    #[test]
    fn the_id_of_a_turn_is_no_path() {
        assert!(is_id("01999999-0000-7000-8000-000000000001"));
        for text in ["", "../x", "a/b", "a b", "a\r\n", &"a".repeat(65)] {
            assert!(!is_id(text), "{text:?}");
        }
    }
}
