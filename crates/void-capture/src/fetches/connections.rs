//! A connection to one judged address, with TLS where the target says https: then, and only then, there is something to
//! check its certificate with.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use url::Host;

use crate::errors::FetchError;
use crate::targets::Target;

pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

pub(super) type Connection = Box<dyn Stream>;

pub(super) async fn open(
    target: &Target,
    address: SocketAddr,
    tls: Option<&Arc<ClientConfig>>,
    patience: Duration,
) -> Result<Connection, FetchError> {
    let opening = async {
        let stream = TcpStream::connect(address).await;
        let stream = stream.map_err(|cause| unreachable(target, Some(cause)))?;
        let Some(tls) = tls else {
            return Ok::<Connection, FetchError>(Box::new(stream));
        };
        let name = server_name(target)?;
        let shaken = TlsConnector::from(Arc::clone(tls)).connect(name, stream);
        let shaken = shaken.await.map_err(|cause| refused(target, cause))?;
        Ok(Box::new(shaken))
    };
    let opened = tokio::time::timeout(patience, opening).await;
    opened.unwrap_or_else(|_| Err(unreachable(target, None)))
}

fn server_name(target: &Target) -> Result<ServerName<'static>, FetchError> {
    let name = match target.host() {
        Host::Ipv4(address) => return Ok(ServerName::IpAddress((*address).into())),
        Host::Ipv6(address) => return Ok(ServerName::IpAddress((*address).into())),
        Host::Domain(name) => name.trim_end_matches('.').to_owned(),
    };
    let name = ServerName::try_from(name);
    name.map_err(|error| unreachable(target, Some(io::Error::other(error))))
}

/// A certificate that is not trusted is told from a connection that broke.
fn refused(target: &Target, cause: io::Error) -> FetchError {
    let inner = cause.get_ref();
    let inner = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::InvalidCertificate(_)) => FetchError::Certificate {
            host: target.host().to_string(),
            cause,
        },
        _ => unreachable(target, Some(cause)),
    }
}

fn unreachable(target: &Target, cause: Option<io::Error>) -> FetchError {
    FetchError::Unreachable {
        host: target.host().to_string(),
        cause,
    }
}
