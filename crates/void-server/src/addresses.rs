//! By which addresses the page is opened: on this machine, and from elsewhere.
//!
//! Loopback leads a phone to itself, so a link for a phone needs an address that leads here from there. Names are
//! not guessed: the fence takes only those that the owner gave.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

use crate::fence;

/// Addresses of this machine that a link is made for.
const ADDRESSES_MAX: usize = 8;
/// The kernel's routing table, which knows the addresses of all interfaces.
const ROUTES: &str = "/proc/net/fib_trie";
/// An address for documents: nothing is sent to it, only the way there is looked up.
const SOMEWHERE: (Ipv4Addr, u16) = (Ipv4Addr::new(198, 51, 100, 1), 9);

/// Where a browser finds the page: the name that the owner gave, or the address that is listened on.
/// On this machine that is `localhost`: passkeys belong to a name, never to an address.
pub fn page_url(public_url: Option<&str>, address: SocketAddr) -> String {
    match public_url {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None if address.ip().is_loopback() || address.ip().is_unspecified() => {
            format!("http://localhost:{}", address.port())
        }
        None => format!("http://{address}"),
    }
}

/// Where other machines find the page, the likeliest first; nothing if only this machine does.
pub fn page_urls_elsewhere(public_url: Option<&str>, listens_on: SocketAddr) -> Vec<String> {
    match public_url {
        Some(url) if fence::leads_to_its_reader(url) => Vec::new(),
        None if listens_on.ip().is_loopback() => Vec::new(),
        None if listens_on.ip().is_unspecified() => {
            let urls = own_addresses().into_iter();
            urls.map(|own| format!("http://{own}:{}", listens_on.port()))
                .collect()
        }
        Some(_) | None => vec![page_url(public_url, listens_on)],
    }
}

/// The addresses of this machine's interfaces that others can use; first the one that others are reached by.
fn own_addresses() -> Vec<Ipv4Addr> {
    let table = std::fs::read_to_string(ROUTES).unwrap_or_default();
    let mut found = addresses_in(&table);
    let likeliest = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))
        .and_then(|socket| socket.connect(SOMEWHERE).and_then(|()| socket.local_addr()));
    if let Ok(IpAddr::V4(address)) = likeliest.map(|address| address.ip()) {
        found.sort_by_key(|own| *own != address);
    }
    found.truncate(ADDRESSES_MAX);
    found
}

/// The kernel's table names an address in one line and says in the next what it is.
fn addresses_in(table: &str) -> Vec<Ipv4Addr> {
    let mut found = Vec::new();
    for (line, next) in table.lines().zip(table.lines().skip(1)) {
        let address = line.trim().strip_prefix("|-- ");
        let address = address.and_then(|text| text.parse::<Ipv4Addr>().ok());
        if let Some(address) = address
            && next.trim() == "/32 host LOCAL"
            && !address.is_loopback()
            && !address.is_link_local()
            && !found.contains(&address)
        {
            found.push(address);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{addresses_in, page_url, page_urls_elsewhere};

    #[test]
    fn only_own_addresses_that_others_can_use_are_named() {
        let table = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n     |-- 127.0.0.1\n        /32 host LOCAL\n     |-- 169.254.7.7\n        /32 host LOCAL\n           |-- 192.0.2.2\n              /32 host LOCAL\n        |-- 192.0.2.255\n           /32 link BROADCAST\nLocal:\n           |-- 192.0.2.2\n              /32 host LOCAL\n";
        let found: Vec<String> = addresses_in(table)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found, ["192.0.2.2"]);
        assert!(addresses_in("").is_empty());
        assert!(addresses_in("|-- 192.0.2.2").is_empty());
    }

    #[test]
    fn elsewhere_is_never_an_address_that_leads_a_phone_to_itself() {
        let elsewhere = |public_url: Option<&str>, listens_on: &str| {
            page_urls_elsewhere(public_url, listens_on.parse().unwrap())
        };
        for here in ["127.0.0.1:3000", "127.8.8.8:3000", "[::1]:3000"] {
            assert!(elsewhere(None, here).is_empty(), "{here}");
        }
        for own in [
            "http://localhost:3000",
            "https://LOCALHOST/",
            "https://void.localhost",
            "http://127.0.0.1",
            "http://[::1]:3000",
            "http://0.0.0.0:3000",
            "ftp://void.lan",
            "void.lan",
        ] {
            assert!(elsewhere(Some(own), "0.0.0.0:3000").is_empty(), "{own}");
        }
        // A proxy in front may be reached although Void itself is not.
        assert_eq!(
            elsewhere(Some("https://void.lan/"), "127.0.0.1:3000"),
            ["https://void.lan"]
        );
        assert_eq!(elsewhere(None, "192.0.2.7:3000"), ["http://192.0.2.7:3000"]);
        assert_eq!(elsewhere(None, "[fd00::2]:3000"), ["http://[fd00::2]:3000"]);
        for url in elsewhere(None, "0.0.0.0:3000") {
            assert!(
                url.ends_with(":3000") && !url.contains("127.") && !url.contains("0.0.0.0"),
                "{url}"
            );
        }
        assert_eq!(
            page_url(None, "0.0.0.0:3000".parse().unwrap()),
            "http://localhost:3000"
        );
    }
}
