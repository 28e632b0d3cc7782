//! What kind of address it is: one that everybody can reach, or one that means something else from here than
//! from anywhere else. A capture goes to the first kind; every other one has to be allowed by name.
//!
//! The invariant: what is not known to be public is not public. An address that carries another one inside
//! (mapped, NAT64, ISATAP) is judged by the one inside; tunnels that route to whatever they carry are refused.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressClass {
    Public,
    Unspecified,
    Loopback,
    Private,
    /// Behind a provider's NAT, 100.64.0.0/10.
    SharedNat,
    LinkLocal,
    /// Where clouds hand out credentials to whoever asks from inside.
    Metadata,
    Documentation,
    Benchmark,
    Multicast,
    Broadcast,
    UniqueLocal,
    SiteLocal,
    /// 6to4, Teredo, a provider's own NAT64: where it ends is not written on it.
    Tunnel,
    Reserved,
}

impl fmt::Display for AddressClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "a public address",
            Self::Unspecified => "an unspecified address",
            Self::Loopback => "a loopback address",
            Self::Private => "a private address",
            Self::SharedNat => "an address behind a provider's NAT",
            Self::LinkLocal => "a link-local address",
            Self::Metadata => "an address of cloud metadata",
            Self::Documentation => "an address for documentation",
            Self::Benchmark => "an address for benchmarks",
            Self::Multicast => "a multicast address",
            Self::Broadcast => "a broadcast address",
            Self::UniqueLocal => "a unique local address",
            Self::SiteLocal => "a site-local address",
            Self::Tunnel => "an address of a tunnel",
            Self::Reserved => "a reserved address",
        })
    }
}

type V4Row = ([u8; 4], u32, AddressClass);
type V6Row = ([u16; 8], u32, AddressClass);

/// The first row that contains the address counts; what is in none is public.
const V4: &[V4Row] = &[
    ([169, 254, 169, 0], 24, AddressClass::Metadata),
    ([169, 254, 170, 0], 24, AddressClass::Metadata),
    ([168, 63, 129, 16], 32, AddressClass::Metadata),
    ([100, 100, 100, 200], 32, AddressClass::Metadata),
    ([192, 0, 0, 192], 32, AddressClass::Metadata),
    ([0, 0, 0, 0], 8, AddressClass::Unspecified),
    ([10, 0, 0, 0], 8, AddressClass::Private),
    ([100, 64, 0, 0], 10, AddressClass::SharedNat),
    ([127, 0, 0, 0], 8, AddressClass::Loopback),
    ([169, 254, 0, 0], 16, AddressClass::LinkLocal),
    ([172, 16, 0, 0], 12, AddressClass::Private),
    ([192, 0, 0, 0], 24, AddressClass::Reserved),
    ([192, 0, 2, 0], 24, AddressClass::Documentation),
    ([192, 88, 99, 0], 24, AddressClass::Tunnel),
    ([192, 168, 0, 0], 16, AddressClass::Private),
    ([198, 18, 0, 0], 15, AddressClass::Benchmark),
    ([198, 51, 100, 0], 24, AddressClass::Documentation),
    ([203, 0, 113, 0], 24, AddressClass::Documentation),
    ([224, 0, 0, 0], 4, AddressClass::Multicast),
    ([255, 255, 255, 255], 32, AddressClass::Broadcast),
    ([240, 0, 0, 0], 4, AddressClass::Reserved),
];

/// The same; only the last row is public. Mapped and NAT64 addresses were judged before.
const V6: &[V6Row] = &[
    ([0; 8], 128, AddressClass::Unspecified),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, AddressClass::Loopback),
    (
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0],
        32,
        AddressClass::Metadata,
    ),
    (
        [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254],
        128,
        AddressClass::Metadata,
    ),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, AddressClass::UniqueLocal),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, AddressClass::LinkLocal),
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, AddressClass::SiteLocal),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, AddressClass::Multicast),
    ([0; 8], 96, AddressClass::Tunnel),
    ([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, AddressClass::Tunnel),
    ([0x2001, 2, 0, 0, 0, 0, 0, 0], 48, AddressClass::Benchmark),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, AddressClass::Tunnel),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, AddressClass::Reserved),
    (
        [0x2001, 0xdb8, 0, 0, 0, 0, 0, 0],
        32,
        AddressClass::Documentation,
    ),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, AddressClass::Tunnel),
    (
        [0x3fff, 0, 0, 0, 0, 0, 0, 0],
        20,
        AddressClass::Documentation,
    ),
    ([0x2000, 0, 0, 0, 0, 0, 0, 0], 3, AddressClass::Public),
];

/// The well-known prefix of NAT64 (RFC 6052): the last 32 bits are where it goes.
const NAT64: [u16; 6] = [0x64, 0xff9b, 0, 0, 0, 0];

impl AddressClass {
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(address) => of_v6(address),
        }
    }
}

fn of_v4(address: Ipv4Addr) -> AddressClass {
    let found = V4
        .iter()
        .find(|(network, prefix, _)| v4_contains(Ipv4Addr::from(*network), *prefix, address));
    found.map_or(AddressClass::Public, |(_, _, class)| *class)
}

fn of_v6(address: Ipv6Addr) -> AddressClass {
    let segments = address.segments();
    let bits = address.to_bits();
    // The low half of the bits is the address inside.
    let inside = Ipv4Addr::from_bits(u32::try_from(bits & 0xffff_ffff).unwrap_or_default());
    if segments.starts_with(&NAT64) {
        return of_v4(inside);
    }
    let found = V6
        .iter()
        .find(|(network, prefix, _)| v6_contains(Ipv6Addr::from(*network), *prefix, address));
    let class = found.map_or(AddressClass::Reserved, |(_, _, class)| *class);
    // ISATAP (RFC 5214): an interface that is named after an IPv4 address and reaches it.
    let is_isatap = matches!(segments, [_, _, _, _, 0 | 0x200, 0x5efe, _, _]);
    match of_v4(inside) {
        inside if class == AddressClass::Public && is_isatap => inside,
        _ => class,
    }
}

pub(crate) fn v4_contains(network: Ipv4Addr, prefix: u32, address: Ipv4Addr) -> bool {
    let mask = u32::MAX.checked_shl(32 - prefix.min(32)).unwrap_or(0);
    network.to_bits() & mask == address.to_bits() & mask
}

pub(crate) fn v6_contains(network: Ipv6Addr, prefix: u32, address: Ipv6Addr) -> bool {
    let mask = u128::MAX.checked_shl(128 - prefix.min(128)).unwrap_or(0);
    network.to_bits() & mask == address.to_bits() & mask
}

#[cfg(test)]
mod tests;
