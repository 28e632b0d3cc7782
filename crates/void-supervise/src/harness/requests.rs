//! HTTP as far as a sleeping agent needs it: one request, one status, one connection.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::orders::TokenText;

const PATIENCE: Duration = Duration::from_secs(20);
/// `HTTP/1.1 200`.
const STATUS_BYTES: usize = 12;
/// What an answer says beyond it is read to its end and thrown away, up to this.
const ANSWER_BYTES_MAX: u64 = 1024 * 1024;

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
    #[error("what answers there is no server")]
    Garbled,
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
        match self.get(&format!("/api/agents/{}/process", self.name))? {
            401 => Err(ApiError::Unknown),
            _ => Ok(()),
        }
    }

    fn get(&self, path: &str) -> Result<u16, ApiError> {
        let mut stream = TcpStream::connect_timeout(&self.address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let (host, token) = (self.address, self.token.expose());
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\naccept: application/json\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes())?;
        let mut head = [0_u8; STATUS_BYTES];
        stream.read_exact(&mut head)?;
        // A connection that is closed with something unread is reset.
        io::copy(&mut stream.take(ANSWER_BYTES_MAX), &mut io::sink())?;
        status(&head).ok_or(ApiError::Garbled)
    }
}

fn status(head: &[u8; STATUS_BYTES]) -> Option<u16> {
    let text = std::str::from_utf8(head).ok()?;
    text.strip_prefix("HTTP/1.1 ")?.parse().ok()
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
    fn a_status_is_three_digits_of_this_version() {
        assert_eq!(status(b"HTTP/1.1 200"), Some(200));
        assert_eq!(status(b"HTTP/1.0 200"), None);
        assert_eq!(status(b"HTTP/1.1 2x0"), None);
        assert_eq!(status(b"SSH-2.0-Open"), None);
    }
}
