//! How Proxmox is reached, from the settings: address, token, and why its certificate is trusted.

use std::sync::Arc;

use void_channels::{ProxmoxConfig, Trust};
use void_control::Clock;
use void_domain::digests::Digest;

use crate::exit::CommandError;
use crate::settings::{Environment, Settings};

/// `None` without an address. With one, everything else must be there: there is no unverified TLS.
pub(crate) fn config(
    settings: &Settings,
    environment: &Environment,
) -> Result<Option<ProxmoxConfig>, CommandError> {
    let proxmox = &settings.proxmox;
    let Some(url) = &proxmox.url.value else {
        return Ok(None);
    };
    let Some(token) = &proxmox.token.value else {
        return Err(
            CommandError::config("PROXMOX_API_URL is set and PROXMOX_API_TOKEN is not")
                .next("void provision proxmox prints how to make a token"),
        );
    };
    let token = token.resolve(environment, "proxmox.token")?;
    let clock = Clock::system();
    let now = Arc::new(move || clock.now());
    ProxmoxConfig::new(url, &token, &trust(settings)?, now)
        .map(Some)
        .map_err(|error| CommandError::config(error.to_string()))
}

fn trust(settings: &Settings) -> Result<Trust, CommandError> {
    let proxmox = &settings.proxmox;
    match (&proxmox.fingerprint.value, &proxmox.ca_file.value) {
        (Some(text), None) => Digest::parse_fingerprint(text).map(Trust::Pinned).ok_or_else(|| {
            CommandError::config("PROXMOX_FINGERPRINT is not a SHA-256: 64 hex digits, colons or not")
        }),
        (None, Some(path)) => {
            Trust::from_file(path).map_err(|error| CommandError::config(error.to_string()))
        }
        (Some(_), Some(_)) => Err(CommandError::config(
            "PROXMOX_FINGERPRINT and PROXMOX_CA_FILE are both set; say which one counts",
        )),
        (None, None) => Err(CommandError::config(
            "Proxmox' certificate is not trusted by anything: set PROXMOX_FINGERPRINT or PROXMOX_CA_FILE",
        )
        .next("void doctor shows the fingerprint that it presents")),
    }
}
