//! Which machine a name means: two names for one address are one machine, loopback is `local`, and the
//! case of letters says nothing. The lock-out guard and "one at a time" compare what is meant here, not
//! how it is written. Another port of an address is another machine for "one at a time" only: the guard
//! cannot know what is behind it.
//!
//! Doubt counts as the same machine: what is compared too widely waits or asks once more, what is compared
//! too narrowly runs beside its twin or cuts the owner off.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::ActionKind;
use crate::hosts::{Host, HostName, Reach};

/// systemd's own suffix: `caddy` and `caddy.service` are one unit.
const UNIT_SUFFIX: &str = ".service";

#[derive(Debug, Clone, Default)]
pub(super) struct Machines {
    /// Host names, and addresses that only one machine has, to the name that stands for the machine.
    names: BTreeMap<String, String>,
    /// Host names to the address behind them, without the port.
    addresses: BTreeMap<String, String>,
}

impl Machines {
    pub(super) fn of<'a>(hosts: impl IntoIterator<Item = &'a Host>) -> Self {
        let mut hosts: Vec<&Host> = hosts.into_iter().collect();
        // The first name in order stands for all names of a machine.
        hosts.sort_by(|one, other| one.name.cmp(&other.name));
        let mut places: BTreeMap<(String, u16), String> = BTreeMap::new();
        let mut names = BTreeMap::new();
        let mut addresses = BTreeMap::new();
        for host in hosts {
            let own = host.name.as_str().to_ascii_lowercase();
            let machine = match &host.reach {
                Reach::Local => HostName::LOCAL.to_owned(),
                Reach::Ssh(ssh) if is_loopback(&ssh.address) => HostName::LOCAL.to_owned(),
                Reach::Ssh(ssh) => {
                    let address = plain_address(&ssh.address);
                    // Behind one address, ports can lead to different machines; accounts cannot.
                    let place = (address.clone(), ssh.port);
                    let machine = places.entry(place).or_insert_with(|| own.clone()).clone();
                    addresses.insert(own.clone(), address.clone());
                    names.entry(address).or_insert_with(|| machine.clone());
                    machine
                }
            };
            names.insert(own, machine);
        }
        Self { names, addresses }
    }

    /// The name that stands for the machine of this name or address, if a host of the catalogue is meant.
    pub(super) fn named(&self, name: &str) -> Option<&str> {
        let plain = plain_address(name);
        if plain == HostName::LOCAL || is_loopback(name) {
            return Some(HostName::LOCAL);
        }
        self.names.get(&plain).map(String::as_str)
    }

    /// The machine, or the name itself in one spelling where no host has it.
    fn machine(&self, name: &str) -> String {
        let named = self.named(name).map(str::to_owned);
        named.unwrap_or_else(|| plain_address(name))
    }

    /// Whether the lock-out guard takes them for one machine: by name, or by address whatever the port.
    pub(super) fn may_be_one(&self, name: &str, other: &str) -> bool {
        let (one, other) = (self.meanings(name), self.meanings(other));
        one.iter().any(|meaning| other.contains(meaning))
    }

    /// The name, and the address of the host that has it.
    fn meanings(&self, name: &str) -> [String; 2] {
        let machine = match self.named(name) {
            Some(HostName::LOCAL) => HostName::LOCAL.to_owned(),
            _ => plain_address(name),
        };
        let address = self.addresses.get(&machine).cloned();
        [address.unwrap_or_else(|| machine.clone()), machine]
    }

    /// What at most one proposal may work on at a time, in one spelling.
    pub(super) fn target(&self, kind: &ActionKind) -> String {
        match kind {
            ActionKind::ServiceRestart { host, service } => {
                let machine = self.machine(host.name.as_str());
                format!("host:{machine}/{}", plain_service(service))
            }
            ActionKind::GuestPower { power, .. } => {
                format!("guest:{}/{}", power.node.to_ascii_lowercase(), power.vmid)
            }
            ActionKind::OnNode { node, service, .. } => {
                let service = plain_service(service);
                match self.named(node) {
                    // A node that has the name of a host is that machine.
                    Some(machine) => format!("host:{machine}/{service}"),
                    None => format!("node:{}/{service}", node.to_ascii_lowercase()),
                }
            }
        }
    }
}

/// A unit in one spelling. Different units that differ in case only are taken for one.
pub(super) fn plain_service(service: &str) -> String {
    let lower = service.to_ascii_lowercase();
    let stem = lower.strip_suffix(UNIT_SUFFIX);
    stem.filter(|stem| !stem.is_empty())
        .map_or(lower.clone(), str::to_owned)
}

/// An address or name in one spelling: `::ffff:10.0.0.5` is `10.0.0.5`, a final dot says nothing.
fn plain_address(address: &str) -> String {
    let bare = address.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().to_string(),
        Err(_) => bare.trim_end_matches('.').to_ascii_lowercase(),
    }
}

/// Whether it leads to the machine Void lives on, whatever resolves it.
fn is_loopback(address: &str) -> bool {
    let plain = plain_address(address);
    match plain.parse::<IpAddr>() {
        // Connecting to the unspecified address reaches this machine too.
        Ok(address) => address.is_loopback() || address.is_unspecified(),
        Err(_) => {
            let names = ["localhost", "ip6-localhost", "ip6-loopback"];
            names.contains(&plain.as_str())
                || plain.ends_with(".localhost")
                || plain == "localhost.localdomain"
        }
    }
}
