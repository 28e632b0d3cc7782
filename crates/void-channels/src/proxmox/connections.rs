//! One connection to Proxmox: its address, its time, its certificate. Closed hard, so that nothing of
//! ours is delivered after we gave up or were killed.

use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use void_domain::digests::Digest;
use void_domain::failures::FailureCode;
use void_domain::proposals::Failure;

use super::config::{Address, Patience};
use crate::tls::{Trust, WrongCertificate, wrong_certificate};

/// Why there is no connection.
pub(super) enum NotOpen {
    Unreachable(String),
    Certificate(WrongCertificate),
}

impl NotOpen {
    pub(super) fn into_failure(self, address: &Address) -> Failure {
        match self {
            Self::Unreachable(why) => {
                let message = format!("Proxmox at {address} cannot be reached: {why}");
                Failure::new(FailureCode::Unreachable, message)
            }
            Self::Certificate(wrong) => wrong.to_failure(&format!("Proxmox at {address}")),
        }
    }
}

pub(super) async fn open(
    address: &Address,
    tls: &Arc<ClientConfig>,
    limit: Duration,
) -> Result<TlsStream<TcpStream>, NotOpen> {
    let late = |what: &str| NotOpen::Unreachable(format!("{what} takes longer than {limit:?}"));
    let broken = |error: std::io::Error| NotOpen::Unreachable(error.to_string());
    let connecting = TcpStream::connect((address.host.as_str(), address.port));
    let stream = tokio::time::timeout(limit, connecting).await;
    let stream = stream.map_err(|_| late("connecting"))?.map_err(broken)?;
    stream.set_nodelay(true).map_err(broken)?;
    // On close, also when we are killed, the kernel forgets what it has not sent.
    stream.set_zero_linger().map_err(broken)?;
    let shaking = TlsConnector::from(Arc::clone(tls)).connect(address.name.clone(), stream);
    match tokio::time::timeout(limit, shaking).await {
        Err(_) => Err(late("TLS")),
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(match wrong_certificate(&error) {
            Some(wrong) => NotOpen::Certificate(wrong),
            None => NotOpen::Unreachable(format!("TLS: {error}")),
        }),
    }
}

/// The SHA-256 of the certificate that a server shows, for its owner to compare. Nothing is sent, and
/// nothing is trusted by it.
pub async fn certificate_shown(url: &str) -> Result<Digest, Failure> {
    let invalid = |what: String| Failure::new(FailureCode::NotConfigured, what);
    let address = Address::parse(url).map_err(|error| invalid(error.to_string()))?;
    shown_by(&address, Patience::default().connect).await
}

pub(super) async fn shown_by(address: &Address, limit: Duration) -> Result<Digest, Failure> {
    // No certificate has this digest, so each one is refused and named.
    let nobody = Trust::Pinned(Digest::ZERO).client_config();
    let nobody =
        nobody.map_err(|error| Failure::new(FailureCode::NotConfigured, error.to_string()))?;
    match open(address, &nobody, limit).await {
        Err(NotOpen::Certificate(wrong)) => Ok(wrong.shown),
        Err(unreachable @ NotOpen::Unreachable(_)) => Err(unreachable.into_failure(address)),
        Ok(_) => {
            let message = format!("{address} showed no certificate");
            Err(Failure::new(FailureCode::BadAnswer, message))
        }
    }
}
