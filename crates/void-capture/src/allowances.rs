//! What the owner's setting opens: exact hosts and networks, each with a port or without.
//!
//! `nas.lan` opens ports 80 and 443 of that name wherever it lives in the house; `nas.lan:8080` opens that
//! port alone; `192.168.1.0/24` and `[fd00::/8]:8080` open addresses, whatever they are called. A name is
//! compared as the URL parser wrote it, so a look-alike is another name. A name that an owner allowed may be
//! at an address of the house (private, unique local, behind the provider's NAT, loopback), and nowhere
//! stranger: for a link-local address a network has to say so, and for cloud metadata that one address.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use url::Host;

use crate::addresses::{AddressClass, v4_contains, v6_contains};

/// The widest network that an entry may open: 10.0.0.0/8 is one, the whole Internet is none.
const V4_PREFIX_MIN: u32 = 8;
/// fc00::/7, all unique local addresses.
const V6_PREFIX_MIN: u32 = 7;
/// What a page is served at.
pub(crate) const WEB_PORTS: [u16; 2] = [80, 443];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowances(Vec<Allowance>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Allowance {
    scope: Scope,
    /// `None`: those of the web.
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Scope {
    /// As the URL parser writes it, without a dot at its end.
    Name(String),
    Network {
        first: IpAddr,
        prefix: u32,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{entry}` allows nothing: {why}")]
pub struct InvalidAllowance {
    pub entry: String,
    pub why: InvalidAllowanceWhy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAllowanceWhy {
    #[error(
        "it is no host, address or network; write `nas.lan`, `nas.lan:8080` or `192.168.1.0/24`"
    )]
    Scope,
    #[error("its port is not a number from 1 to 65535")]
    Port,
    #[error("there are no patterns, only exact hosts and networks")]
    Pattern,
    #[error("bits after the prefix are set; for one address leave the prefix away")]
    HostBits,
    #[error("the network is too wide")]
    TooWide,
}

impl Allowances {
    pub fn parse<I>(entries: I) -> Result<Self, InvalidAllowance>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let parsed = entries.into_iter().map(|entry| {
            let entry = entry.as_ref();
            entry.parse().map_err(|why| InvalidAllowance {
                entry: entry.to_owned(),
                why,
            })
        });
        parsed.collect::<Result<_, _>>().map(Self)
    }

    /// Whether this host at this address and port may be asked.
    pub(crate) fn open(&self, host: &str, address: IpAddr, port: u16) -> bool {
        let class = AddressClass::of(address);
        if class == AddressClass::Public && WEB_PORTS.contains(&port) {
            return true;
        }
        let mut entries = self.0.iter().filter(|entry| entry.opens_port(port));
        entries.any(|entry| entry.scope.opens(host, address, class))
    }
}

impl Allowance {
    fn opens_port(&self, port: u16) -> bool {
        self.port
            .map_or(WEB_PORTS.contains(&port), |own| own == port)
    }
}

impl Scope {
    fn opens(&self, host: &str, address: IpAddr, class: AddressClass) -> bool {
        use AddressClass as Class;
        match self {
            Self::Name(name) => {
                let in_the_house = match class {
                    Class::Public
                    | Class::Loopback
                    | Class::Private
                    | Class::SharedNat
                    | Class::UniqueLocal
                    | Class::SiteLocal => true,
                    Class::Unspecified
                    | Class::LinkLocal
                    | Class::Metadata
                    | Class::Documentation
                    | Class::Benchmark
                    | Class::Multicast
                    | Class::Broadcast
                    | Class::Tunnel
                    | Class::Reserved => false,
                };
                in_the_house && name == host.trim_end_matches('.')
            }
            Self::Network { first, prefix } => {
                let (contains, whole) = match (first, address) {
                    (IpAddr::V4(first), IpAddr::V4(it)) => (v4_contains(*first, *prefix, it), 32),
                    (IpAddr::V6(first), IpAddr::V6(it)) => (v6_contains(*first, *prefix, it), 128),
                    (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => (false, 0),
                };
                let is_fit = match class {
                    Class::Unspecified | Class::Multicast | Class::Broadcast => false,
                    Class::Metadata => *prefix == whole,
                    Class::Public
                    | Class::Loopback
                    | Class::Private
                    | Class::SharedNat
                    | Class::LinkLocal
                    | Class::Documentation
                    | Class::Benchmark
                    | Class::UniqueLocal
                    | Class::SiteLocal
                    | Class::Tunnel
                    | Class::Reserved => true,
                };
                contains && is_fit
            }
        }
    }
}

impl FromStr for Allowance {
    type Err = InvalidAllowanceWhy;

    fn from_str(entry: &str) -> Result<Self, Self::Err> {
        if entry.contains('*') {
            return Err(InvalidAllowanceWhy::Pattern);
        }
        let (scope, port) = split_port(entry)?;
        let scope = match scope.split_once('/') {
            Some((address, prefix)) => network(address, prefix)?,
            None => single(scope)?,
        };
        Ok(Self { scope, port })
    }
}

/// An address of version 6 has colons of its own: with a port it stands in brackets.
fn split_port(entry: &str) -> Result<(&str, Option<u16>), InvalidAllowanceWhy> {
    let (scope, port) = match entry.strip_prefix('[') {
        Some(rest) => {
            let (inside, after) = rest.split_once(']').ok_or(InvalidAllowanceWhy::Scope)?;
            match after {
                "" => (inside, None),
                _ => {
                    let port = after.strip_prefix(':').ok_or(InvalidAllowanceWhy::Port)?;
                    (inside, Some(port))
                }
            }
        }
        None => match entry.split_once(':') {
            Some((scope, port)) if !port.contains(':') => (scope, Some(port)),
            _ => (entry, None),
        },
    };
    let Some(port) = port else {
        return Ok((scope, None));
    };
    match port.parse::<u16>() {
        Ok(number @ 1..) if port.bytes().all(|b| b.is_ascii_digit()) => Ok((scope, Some(number))),
        _ => Err(InvalidAllowanceWhy::Port),
    }
}

fn network(address: &str, prefix: &str) -> Result<Scope, InvalidAllowanceWhy> {
    let first: IpAddr = address.parse().map_err(|_| InvalidAllowanceWhy::Scope)?;
    let prefix: u32 = prefix.parse().map_err(|_| InvalidAllowanceWhy::Scope)?;
    let (whole, least) = match first {
        IpAddr::V4(_) => (32, V4_PREFIX_MIN),
        IpAddr::V6(_) => (128, V6_PREFIX_MIN),
    };
    if prefix > whole {
        return Err(InvalidAllowanceWhy::Scope);
    }
    if prefix < least {
        return Err(InvalidAllowanceWhy::TooWide);
    }
    let has_host_bits = match first {
        IpAddr::V4(it) => it
            .to_bits()
            .checked_shl(prefix)
            .is_some_and(|rest| rest != 0),
        IpAddr::V6(it) => it
            .to_bits()
            .checked_shl(prefix)
            .is_some_and(|rest| rest != 0),
    };
    if has_host_bits {
        return Err(InvalidAllowanceWhy::HostBits);
    }
    Ok(Scope::Network { first, prefix })
}

fn single(text: &str) -> Result<Scope, InvalidAllowanceWhy> {
    if let Ok(address) = text.parse::<IpAddr>() {
        let prefix = match address {
            IpAddr::V4(_) => 32,
            IpAddr::V6(_) => 128,
        };
        let first = address;
        return Ok(Scope::Network { first, prefix });
    }
    match Host::parse(text) {
        Ok(Host::Domain(name)) if !name.trim_end_matches('.').is_empty() => {
            Ok(Scope::Name(name.trim_end_matches('.').to_owned()))
        }
        _ => Err(InvalidAllowanceWhy::Scope),
    }
}

impl fmt::Display for Allowances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, entry) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}")?;
            match &entry.scope {
                Scope::Name(name) => write!(f, "{name}")?,
                Scope::Network { first, prefix } if first.is_ipv6() => {
                    write!(f, "[{first}/{prefix}]")?;
                }
                Scope::Network { first, prefix } => write!(f, "{first}/{prefix}")?,
            }
            if let Some(port) = entry.port {
                write!(f, ":{port}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
