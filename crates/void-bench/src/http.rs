//! A client so lean that it does not bound what it measures: HTTP/1.1 on one kept connection, one
//! request at a time, no allocation per answer. The same one calls Void and the floor.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::subject::OWNER_TOKEN;

const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A whole request, ready to be sent.
pub(crate) fn request(method: &str, path: &str, body: &str) -> Vec<u8> {
    request_as(OWNER_TOKEN, method, path, body)
}

/// The same by somebody else.
pub(crate) fn request_as(token: &str, method: &str, path: &str, body: &str) -> Vec<u8> {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

pub(crate) struct HttpResponse<'a> {
    pub status: u16,
    pub body: &'a [u8],
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::with_capacity(4096),
        })
    }

    pub(crate) async fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.stream.write_all(request).await
    }

    /// Reads on until the text has been seen: for streams, which have no length.
    pub(crate) async fn read_until(&mut self, text: &[u8]) -> io::Result<()> {
        self.buffer.clear();
        while !contains(&self.buffer, text) {
            self.read_more().await?;
        }
        self.buffer = Vec::new();
        Ok(())
    }

    pub(crate) async fn call(&mut self, request: &[u8]) -> io::Result<HttpResponse<'_>> {
        self.send(request).await?;
        self.buffer.clear();
        let head = loop {
            self.read_more().await?;
            if let Some(head) = Head::parse(&self.buffer)? {
                break head;
            }
        };
        while !head.ends(&self.buffer) {
            self.read_more().await?;
        }
        let body = self.buffer.get(head.length..).unwrap_or_default();
        let status = head.status;
        Ok(HttpResponse { status, body })
    }

    async fn read_more(&mut self) -> io::Result<()> {
        if self.buffer.len() > ANSWER_BYTES_MAX {
            return Err(io::Error::other("an answer is too long"));
        }
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

pub(crate) fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

struct Head {
    status: u16,
    length: usize,
    /// `None` if it comes in pieces that say where it ends.
    body_bytes: Option<usize>,
}

impl Head {
    /// Whether this is the whole answer. Nothing else follows it on our connections.
    fn ends(&self, bytes: &[u8]) -> bool {
        match self.body_bytes {
            Some(body_bytes) => bytes.len() >= self.length + body_bytes,
            None => bytes.ends_with(b"\r\n0\r\n\r\n"),
        }
    }

    /// `None` until the head is there in full.
    fn parse(bytes: &[u8]) -> io::Result<Option<Self>> {
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            return Ok(None);
        };
        let text = bytes.get(..end).and_then(|head| str::from_utf8(head).ok());
        let strange = || io::Error::other("an answer that is not HTTP with an end");
        let mut lines = text.ok_or_else(strange)?.split("\r\n");
        let status = lines
            .next()
            .and_then(|line| line.split(' ').nth(1)?.parse().ok())
            .ok_or_else(strange)?;
        let (mut body_bytes, mut in_pieces) = (None, false);
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            if name.eq_ignore_ascii_case("content-length") {
                body_bytes = value.trim().parse().ok();
            }
            in_pieces |= name.eq_ignore_ascii_case("transfer-encoding");
        }
        if body_bytes.is_none() && !in_pieces {
            return Err(strange());
        }
        Ok(Some(Self {
            status,
            length: end + 4,
            body_bytes,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_when_it_is_whole_and_only_with_an_end() {
        assert!(Head::parse(b"HTTP/1.1 200 OK\r\n").unwrap().is_none());
        let head = Head::parse(b"HTTP/1.1 409 Conflict\r\nContent-Length: 7\r\n\r\n{}")
            .unwrap()
            .unwrap();
        assert_eq!(
            (head.status, head.length, head.body_bytes),
            (409, 44, Some(7))
        );
        assert!(!head.ends(&[0; 50]) && head.ends(&[0; 51]));
        let pieces = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n";
        let head = Head::parse(pieces).unwrap().unwrap();
        assert!(!head.ends(pieces) && head.ends(&[pieces, &b"0\r\n\r\n"[..]].concat()));
        assert!(Head::parse(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
        assert!(Head::parse(b"\xff\xff\r\n\r\n").is_err());
    }
}
