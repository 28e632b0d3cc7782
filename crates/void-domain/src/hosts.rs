//! Machines that are reached by SSH, as the catalogue lists them.
//!
//! Addresses and user names end up as arguments of `ssh`, so their grammar leaves no room for an
//! option, a `%` expansion or a metacharacter (SECURITY R-S9).

mod mending;

use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};

use crate::ids::is_slug;
use crate::instances::InstanceName;

pub use mending::{mending_command, with_mending_command};

/// A host's name in the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct HostName(String);

impl HostName {
    /// The machine Void lives on; it needs no entry of its own.
    pub const LOCAL: &'static str = "local";

    pub fn parse(text: &str) -> Option<Self> {
        is_slug(text).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    pub name: HostName,
    pub reach: Reach,
    /// Whose machine it is, where it is reached as `local` and the catalogue says so.
    pub instance: Option<InstanceName>,
}

impl Host {
    /// The form that is part of a definition, and so of what the owner approves.
    pub(crate) fn to_definition(&self) -> Value {
        match &self.reach {
            Reach::Local => {
                let mut local = json!({"name": self.name, "address": HostName::LOCAL});
                if let (Value::Object(local), Some(instance)) = (&mut local, &self.instance) {
                    local.insert("instance".to_owned(), json!(instance));
                }
                local
            }
            Reach::Ssh(ssh) => json!({
                "name": self.name,
                "address": ssh.address,
                "port": ssh.port,
                "user": ssh.user,
                "host_key": ssh.host_key,
            }),
        }
    }
}

/// How a host is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// `void-act` as a child process on this machine.
    Local,
    Ssh(SshAddress),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshAddress {
    pub address: String,
    pub port: u16,
    pub user: String,
    /// The pinned key, `ssh-ed25519 AAAA…`; without one the managed known-hosts file decides.
    pub host_key: Option<String>,
}

impl SshAddress {
    pub const PORT: u16 = 22;
    pub const USER: &'static str = "voidact";
}

/// A DNS name, an IPv4 or an IPv6 address.
pub fn is_address(text: &str) -> bool {
    if text.parse::<std::net::IpAddr>().is_ok() {
        return true;
    }
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    // What resolvers read as a number is no name: 192.168.1.300, 0x7f.1, 017700000001. Its last part decides.
    let is_number = |label: &str| {
        let hex = label
            .strip_prefix("0x")
            .or_else(|| label.strip_prefix("0X"));
        match hex {
            Some(digits) => digits.bytes().all(|b| b.is_ascii_hexdigit()),
            None => label.bytes().all(|b| b.is_ascii_digit()),
        }
    };
    text.len() <= 253
        && text.split('.').all(label)
        && !text.rsplit('.').next().is_some_and(is_number)
}

/// A Unix account name.
pub fn is_user(text: &str) -> bool {
    let bytes = text.as_bytes();
    (1..=32).contains(&bytes.len())
        && bytes
            .first()
            .is_some_and(|b| b.is_ascii_lowercase() || *b == b'_')
        && bytes
            .iter()
            .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
}

/// A public key line without options or comment: `type base64`.
pub fn is_host_key(text: &str) -> bool {
    let types = [
        "ssh-ed25519",
        "ssh-rsa",
        "ecdsa-sha2-nistp256",
        "ecdsa-sha2-nistp384",
        "ecdsa-sha2-nistp521",
    ];
    let mut words = text.split(' ');
    let (Some(kind), Some(blob), None) = (words.next(), words.next(), words.next()) else {
        return false;
    };
    types.contains(&kind)
        && (32..=4096).contains(&blob.len())
        && blob.starts_with("AAAA")
        && blob
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_leave_no_room_for_tricks() {
        for good in [
            "192.168.1.230",
            "::1",
            "fe80::1",
            "nas",
            "nas.lan",
            "a-b.example.org",
            "8nas",
            "0xnas",
            "10.nas",
        ] {
            assert!(is_address(good), "{good}");
        }
        let long = format!("{}.lan", "a".repeat(64));
        for bad in [
            "",
            "-oProxyCommand=x",
            "a b",
            "a;b",
            "%h",
            "a%b",
            "`id`",
            "$(id)",
            "a..b",
            ".a",
            "a.",
            "192.168.1.300",
            "1.2.3",
            "0x7f000001",
            "0X7F.1",
            "0x7f.0.0.1",
            "nas.0x1",
            "nas.1",
            "0x",
            "user@host",
            "fe80::1%eth0",
            "nas\n",
            "näs",
            long.as_str(),
            "a_b",
        ] {
            assert!(!is_address(bad), "{bad}");
        }
    }

    #[test]
    fn users_and_keys() {
        assert!(is_user("voidact") && is_user("_v-1"));
        for bad in ["", "-v", "Void", "a b", "%u", "a\n", &"a".repeat(33)] {
            assert!(!is_user(bad), "{bad}");
        }
        let blob = "AAAAC3NzaC1lZDI1NTE5AAAAIJ3ku4fOd0Dl5vXbXhbmvb3m1B8rTnKqcHv4fUXhEB1T";
        assert!(is_host_key(&format!("ssh-ed25519 {blob}")));
        for bad in [
            blob.to_owned(),
            format!("ssh-ed25519 {blob} comment"),
            format!("ssh-dss {blob}"),
            format!("ssh-ed25519  {blob}"),
            "ssh-ed25519 AAAA\nrest".to_owned(),
        ] {
            assert!(!is_host_key(&bad), "{bad}");
        }
    }
}
