//! What a doctor asks about the server itself. Reads only.

use serde_json::Value;
use void_domain::digests::Digest;
use void_domain::proposals::Failure;
use void_domain::text;

use super::{Proxmox, connections};

const VERSION_BYTES_MAX: usize = 64;
/// HTTP's date counts whole seconds; on average half of one is missing.
const DATE_MISSES_MS: i64 = 500;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxmoxServer {
    /// `8.4.1`
    pub version: String,
    /// How far its clock is ahead of ours, to about a second; negative if it is behind.
    pub clock_ahead_ms: i64,
}

impl Proxmox {
    /// Answers only a token that is right.
    pub(crate) async fn server(&self) -> Result<ProxmoxServer, Failure> {
        let answer = self.client.get_with_time("/version").await;
        let answer = answer.map_err(|error| error.into_failure("its version"))?;
        let version = answer.data.get("version").and_then(Value::as_str);
        let version = version.unwrap_or_default();
        Ok(ProxmoxServer {
            version: text::escaped(text::cut(version, VERSION_BYTES_MAX)),
            clock_ahead_ms: self
                .client
                .ahead_ms(&answer)?
                .saturating_add(DATE_MISSES_MS),
        })
    }

    /// The SHA-256 of the certificate that it shows, trusted or not.
    pub(crate) async fn certificate(&self) -> Result<Digest, Failure> {
        let config = &self.client.config;
        connections::shown_by(&config.address, config.patience.connect).await
    }
}
