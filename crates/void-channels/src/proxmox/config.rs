//! How Proxmox is reached: parsed and checked once, so that a channel with a wrong address, token or
//! trust never exists.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hyper::header::HeaderValue;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use void_domain::hosts::is_address;
use void_domain::secrets::Secret;
use void_domain::time::Timestamp;

use crate::tls::Trust;

const PORT_DEFAULT: u16 = 8006;

/// What the time is, for comparing with what Proxmox says it is.
pub type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

#[derive(Clone)]
pub struct ProxmoxConfig {
    pub(super) address: Address,
    pub(super) token: Token,
    pub(super) tls: Arc<ClientConfig>,
    pub(super) now: Now,
    pub(super) patience: Patience,
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For a connection, and again for its TLS.
    pub connect: Duration,
    /// From the first byte of a request to the last of its answer.
    pub call: Duration,
    /// How long a lost run is looked for before its outcome is called unknown.
    pub settle: Duration,
    /// How long after its sending a request may still become a task. Proxmox' own proxy waits 30 s
    /// for a node.
    pub arrival: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            call: Duration::from_secs(20),
            settle: Duration::from_secs(10),
            arrival: Duration::from_secs(60),
        }
    }
}

/// A setting for Proxmox that cannot be used. Says which, never its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidProxmox(String);

impl fmt::Display for InvalidProxmox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidProxmox {}

impl ProxmoxConfig {
    /// `https://192.168.1.124:8006` and `user@realm!name=secret`.
    pub fn new(url: &str, token: &Secret, trust: &Trust, now: Now) -> Result<Self, InvalidProxmox> {
        let tls = trust.client_config();
        Ok(Self {
            address: Address::parse(url)?,
            token: Token::parse(token)?,
            tls: tls.map_err(|error| InvalidProxmox(format!("TLS cannot be set up: {error}")))?,
            now,
            patience: Patience::default(),
        })
    }

    #[must_use]
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }
}

impl fmt::Debug for ProxmoxConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxmoxConfig")
            .field("address", &self.address.to_string())
            .field("token", &self.token.id)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    pub host: String,
    pub port: u16,
    pub name: ServerName<'static>,
}

impl Address {
    pub(super) fn parse(url: &str) -> Result<Self, InvalidProxmox> {
        split(url)
            .and_then(|(host, port)| {
                let name = ServerName::try_from(host.clone()).ok()?;
                Some(Self { host, port, name })
            })
            .ok_or_else(|| {
                let message =
                    "PROXMOX_API_URL must be https://host:port, such as https://192.168.1.124:8006";
                InvalidProxmox(message.to_owned())
            })
    }
}

/// As in a URL.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

fn split(url: &str) -> Option<(String, u16)> {
    let rest = url.strip_prefix("https://")?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let rest = rest.strip_suffix("/api2/json").unwrap_or(rest);
    let (host, after) = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => rest.split_at(rest.find(':').unwrap_or(rest.len())),
    };
    let port = match after {
        "" => PORT_DEFAULT,
        after => after.strip_prefix(':')?.parse().ok()?,
    };
    let fits = is_address(host) && host.contains(':') == url.contains('[') && port != 0;
    fits.then(|| (host.to_owned(), port))
}

#[derive(Clone)]
pub(super) struct Token {
    /// `user@realm!name`, as task lists show it.
    pub id: String,
    pub authorization: HeaderValue,
    secret: Secret,
}

impl Token {
    /// The text of a wrong token is not repeated.
    fn parse(token: &Secret) -> Result<Self, InvalidProxmox> {
        let invalid =
            || InvalidProxmox("PROXMOX_API_TOKEN must be user@realm!name=secret".to_owned());
        let text = token.expose();
        let (id, secret) = text.split_once('=').ok_or_else(invalid)?;
        let (user, name) = id.split_once('!').ok_or_else(invalid)?;
        let (login, realm) = user.rsplit_once('@').ok_or_else(invalid)?;
        let plain = text.bytes().all(|b| b.is_ascii_graphic() && b != b';');
        if [login, realm, name, secret].contains(&"") || id.contains([':', '/']) || !plain {
            return Err(invalid());
        }
        let header = HeaderValue::from_str(&format!("PVEAPIToken={text}"));
        let mut authorization = header.map_err(|_| invalid())?;
        authorization.set_sensitive(true);
        Ok(Self {
            id: id.to_owned(),
            authorization,
            secret: Secret::new(secret),
        })
    }

    /// Whether an answer repeats the secret, so that its words must go nowhere.
    pub(super) fn is_repeated_in(&self, bytes: &[u8]) -> bool {
        const GUESSABLE_BYTES_MAX: usize = 7;
        let secret = self.secret.expose().as_bytes();
        secret.len() > GUESSABLE_BYTES_MAX && bytes.windows(secret.len()).any(|part| part == secret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_https_and_nothing_else() {
        for (url, shown) in [
            ("https://192.168.1.124:8006", "192.168.1.124:8006"),
            ("https://pve.lan", "pve.lan:8006"),
            ("https://pve.lan:443/", "pve.lan:443"),
            ("https://pve.lan:8006/api2/json", "pve.lan:8006"),
            ("https://pve.lan:8006/api2/json/", "pve.lan:8006"),
            ("https://[fe80::1]:8006", "[fe80::1]:8006"),
        ] {
            assert_eq!(Address::parse(url).unwrap().to_string(), shown);
        }
        for url in [
            "",
            "http://pve.lan:8006",
            "pve.lan:8006",
            "https://",
            "https://pve.lan:0",
            "https://pve.lan:65536",
            "https://pve.lan:8006/other",
            "https://user@pve.lan",
            "https://pve.lan\r\nHost: x",
            "https://fe80::1",
            "https://[pve.lan]:8006",
            "https://[fe80::1",
            "https://[fe80::1]8006",
        ] {
            assert!(Address::parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_token_is_whole_and_is_never_shown() {
        let secret = "8b6ad8a5-1d2c-4b8e-9a57-6f1f7d0c2e11";
        let token = Token::parse(&Secret::new(format!("void@pve!actions={secret}"))).unwrap();
        assert_eq!(token.id, "void@pve!actions");
        assert!(!format!("{:?}", token.authorization).contains(secret));
        assert!(token.is_repeated_in(format!("you sent {secret}!").as_bytes()));
        assert!(!token.is_repeated_in(b"you sent something"));
        for bad in [
            "",
            "void@pve!actions",
            "void@pve!actions=",
            "void!actions=hunter22",
            "void@pve=hunter22",
            "void@pve!a:b=hunter22",
            "void@pve!a=hunter22\r\nX: y",
            "void@pve!a=hunter22;",
        ] {
            let error = Token::parse(&Secret::new(bad)).err().unwrap();
            assert!(!error.to_string().contains("hunter"), "{error}");
        }
    }
}
