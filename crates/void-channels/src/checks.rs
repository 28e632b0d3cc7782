//! Looking at services: one connection, at most one small request, and typed answers. Nothing that a
//! service writes is kept but its status code.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use void_domain::services::{Bad, Check, CheckResult, HttpCheck, Service, Unreadable};

use crate::tls::{Trust, wrong_certificate};

/// A status line is shorter than this, or it is none.
const STATUS_LINE_BYTES_MAX: usize = 512;

/// Asks services. Cheap to share.
pub struct Checker {
    /// For services whose certificate an authority of this machine signed.
    system: Option<Arc<ClientConfig>>,
}

impl Checker {
    /// `system` is what this machine trusts, if it trusts anybody.
    pub fn new(system: Option<&Trust>) -> Self {
        let system = system.and_then(|trust| trust.client_config().ok());
        Self { system }
    }

    /// One look at a service, within its time; `None` for a guest, which Proxmox is asked about.
    pub async fn check(&self, service: &Service) -> Option<CheckResult> {
        match &service.check {
            Check::Http(check) => Some(self.http(check, service.timeout).await),
            Check::Tcp { host, port } => Some(self.tcp(host, *port, service.timeout).await),
            Check::Guest => None,
        }
    }

    async fn tcp(&self, host: &str, port: u16, timeout: Duration) -> CheckResult {
        let start = Instant::now();
        match tokio::time::timeout(timeout, connect(host, port)).await {
            Err(_) => bad(Bad::TimedOut),
            Ok(Err(answer)) => answer,
            Ok(Ok(_)) => CheckResult::Good {
                latency_ms: elapsed_ms(start),
                code: None,
            },
        }
    }

    async fn http(&self, check: &HttpCheck, timeout: Duration) -> CheckResult {
        let start = Instant::now();
        match tokio::time::timeout(timeout, self.ask(check)).await {
            Err(_) => bad(Bad::TimedOut),
            Ok(Err(answer)) => answer,
            Ok(Ok(code)) => {
                let good = check
                    .status
                    .map_or((100..400).contains(&code), |wanted| wanted == code);
                if good {
                    CheckResult::Good {
                        latency_ms: elapsed_ms(start),
                        code: Some(code),
                    }
                } else {
                    CheckResult::Bad {
                        reason: Bad::WrongStatus,
                        code: Some(code),
                    }
                }
            }
        }
    }

    async fn ask(&self, check: &HttpCheck) -> Result<u16, CheckResult> {
        let stream = connect(&check.host, check.port).await?;
        if !check.secure {
            return status_of(stream, check).await;
        }
        let untrusted = CheckResult::None {
            reason: Unreadable::Certificate,
        };
        let config = match check.certificate {
            Some(pinned) => Trust::Pinned(pinned)
                .client_config()
                .map_err(|_| untrusted)?,
            None => self.system.clone().ok_or(untrusted)?,
        };
        let name = ServerName::try_from(check.host.clone()).map_err(|_| untrusted)?;
        match TlsConnector::from(config).connect(name, stream).await {
            Ok(stream) => status_of(stream, check).await,
            Err(error) if wrong_certificate(&error).is_some() => Err(untrusted),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(bad(Bad::NotHttp)),
            Err(error) => Err(failed(&error)),
        }
    }
}

async fn connect(host: &str, port: u16) -> Result<TcpStream, CheckResult> {
    let found = tokio::net::lookup_host((host, port)).await;
    let addresses: Vec<_> = found
        .map_err(|_| CheckResult::None {
            reason: Unreadable::UnknownName,
        })?
        .collect();
    let mut last = CheckResult::None {
        reason: Unreadable::UnknownName,
    };
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = failed(&error),
        }
    }
    Err(last)
}

async fn status_of(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    check: &HttpCheck,
) -> Result<u16, CheckResult> {
    let host = if check.host.contains(':') {
        format!("[{}]", check.host)
    } else {
        check.host.clone()
    };
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: {host}:{}\r\nUser-Agent: void\r\nAccept: */*\r\nConnection: close\r\n\r\n",
        check.path, check.port
    );
    stream
        .write_all(request.as_bytes())
        .await
        .map_err(|error| failed(&error))?;
    let mut line = Vec::with_capacity(64);
    let mut chunk = [0_u8; 64];
    while !line.contains(&b'\n') && line.len() < STATUS_LINE_BYTES_MAX {
        match stream.read(&mut chunk).await {
            Ok(0) => break,
            Ok(count) => line.extend_from_slice(chunk.get(..count).unwrap_or_default()),
            Err(error) => return Err(failed(&error)),
        }
    }
    parse_status(&line).ok_or(if line.is_empty() {
        bad(Bad::Reset)
    } else {
        bad(Bad::NotHttp)
    })
}

/// `HTTP/1.1 200 OK`
fn parse_status(line: &[u8]) -> Option<u16> {
    let line = line.split(|byte| *byte == b'\n').next()?;
    let text = std::str::from_utf8(line).ok()?;
    let mut words = text.split(' ');
    let version = words.next()?;
    let code = words.next()?.trim_end();
    let plain = version.starts_with("HTTP/1.")
        && code.len() == 3
        && code.bytes().all(|b| b.is_ascii_digit());
    if plain { code.parse().ok() } else { None }
}

const fn bad(reason: Bad) -> CheckResult {
    CheckResult::Bad { reason, code: None }
}

fn failed(error: &io::Error) -> CheckResult {
    use io::ErrorKind as Kind;
    match error.kind() {
        Kind::ConnectionRefused => bad(Bad::Refused),
        Kind::HostUnreachable | Kind::NetworkUnreachable => bad(Bad::Unreachable),
        Kind::TimedOut => bad(Bad::TimedOut),
        Kind::ConnectionReset
        | Kind::ConnectionAborted
        | Kind::BrokenPipe
        | Kind::UnexpectedEof => bad(Bad::Reset),
        // Out of descriptors or memory: that is our own trouble, not the service's.
        _ => CheckResult::None {
            reason: Unreadable::Local,
        },
    }
}

fn elapsed_ms(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_line_is_read_strictly() {
        for (line, code) in [
            ("HTTP/1.1 200 OK\r\n", 200),
            ("HTTP/1.0 404\r\n", 404),
            ("HTTP/1.1 503 x y z\n", 503),
        ] {
            assert_eq!(parse_status(line.as_bytes()), Some(code), "{line:?}");
        }
        for line in [
            "",
            "HTTP/2 200\r\n",
            "SSH-2.0-OpenSSH\r\n",
            "HTTP/1.1 2000 OK\r\n",
            "HTTP/1.1 +20 OK\r\n",
            "HTTP/1.1\r\n",
            "\u{fffd}",
        ] {
            assert_eq!(parse_status(line.as_bytes()), None, "{line:?}");
        }
    }
}
