//! What an entry opens and, more so, what it does not.

use super::*;

fn opens(entries: &[&str], host: &str, address: &str, port: u16) -> bool {
    let allowances = Allowances::parse(entries).unwrap();
    allowances.open(host, address.parse().unwrap(), port)
}

#[test]
fn without_entries_only_public_addresses_at_the_ports_of_the_web() {
    assert!(opens(&[], "example.com", "93.184.216.34", 80));
    assert!(opens(&[], "example.com", "93.184.216.34", 443));
    assert!(opens(&[], "example.com", "2606:2800:220::1", 443));
    for port in [1, 22, 79, 81, 442, 444, 8080, 65535] {
        assert!(!opens(&[], "example.com", "93.184.216.34", port), "{port}");
    }
    for address in [
        "127.0.0.1",
        "192.168.1.1",
        "::1",
        "169.254.169.254",
        "fd00::1",
    ] {
        assert!(!opens(&[], "example.com", address, 80), "{address}");
    }
}

#[test]
fn a_name_opens_itself_in_the_house_and_nothing_else() {
    let entries = ["nas.lan"];
    assert!(opens(&entries, "nas.lan", "192.168.1.5", 80));
    assert!(opens(&entries, "nas.lan.", "fd12::5", 443));
    assert!(opens(&entries, "nas.lan", "127.0.0.1", 443));
    assert!(!opens(&entries, "nas.lan", "192.168.1.5", 8080));
    assert!(!opens(&entries, "other.lan", "192.168.1.5", 80));
    assert!(!opens(&entries, "sub.nas.lan", "192.168.1.5", 80));
    assert!(!opens(&entries, "nas.lan.evil.example", "192.168.1.5", 80));
    for address in [
        "169.254.169.254",
        "169.254.1.1",
        "fe80::1",
        "0.0.0.0",
        "::",
        "224.0.0.1",
    ] {
        assert!(!opens(&entries, "nas.lan", address, 80), "{address}");
    }
}

#[test]
fn an_entry_with_a_port_opens_that_port_alone() {
    assert!(opens(&["nas.lan:8080"], "nas.lan", "192.168.1.5", 8080));
    assert!(!opens(&["nas.lan:8080"], "nas.lan", "192.168.1.5", 80));
    assert!(opens(
        &["example.com:8443"],
        "example.com",
        "93.184.216.34",
        8443
    ));
    assert!(!opens(
        &["example.com:8443"],
        "example.com",
        "93.184.216.34",
        8444
    ));
    assert!(opens(&["[fd00::/8]:3000"], "any", "fd12::1", 3000));
    assert!(opens(&["[::1]:3000"], "any", "::1", 3000));
    assert!(opens(&["127.0.0.1:3000"], "any", "127.0.0.1", 3000));
    assert!(!opens(&["127.0.0.1:3000"], "any", "127.0.0.2", 3000));
}

#[test]
fn a_network_opens_its_addresses_but_metadata_only_one_by_one() {
    let entries = ["192.168.1.0/24", "169.254.0.0/16"];
    assert!(opens(&entries, "any", "192.168.1.0", 80));
    assert!(opens(&entries, "any", "192.168.1.255", 443));
    assert!(!opens(&entries, "any", "192.168.2.0", 80));
    assert!(opens(&entries, "any", "169.254.7.7", 80));
    assert!(!opens(&entries, "any", "169.254.169.254", 80));
    assert!(opens(&["169.254.169.254"], "any", "169.254.169.254", 80));
    // An address of version 6 that leads to one of these is another address.
    assert!(!opens(&entries, "any", "64:ff9b::c0a8:105", 80));
    assert!(!opens(&["0.0.0.0/8"], "any", "0.0.0.0", 80));
    assert!(!opens(&["224.0.0.0/8"], "any", "224.0.0.1", 80));
}

#[test]
fn what_is_written_wrongly_opens_nothing_and_says_why() {
    use InvalidAllowanceWhy::*;
    for (entry, why) in [
        ("", Scope),
        (".", Scope),
        ("*.lan", Pattern),
        ("192.168.1.5/24", HostBits),
        ("fd00::1/8", HostBits),
        ("0.0.0.0/0", TooWide),
        ("::/0", TooWide),
        ("10.0.0.0/7", TooWide),
        ("10.0.0.0/33", Scope),
        ("10.0.0.0/-1", Scope),
        ("10.0.0/8", Scope),
        ("nas.lan:", Port),
        ("nas.lan:0", Port),
        ("nas.lan:+80", Port),
        ("nas.lan:65536", Port),
        ("[::1", Scope),
        ("[::1]8080", Port),
        ("http://nas.lan", Port),
        ("a b", Scope),
        ("nas/lan", Scope),
    ] {
        let refused = Allowances::parse([entry]).unwrap_err();
        assert_eq!(refused.why, why, "{entry}");
    }
}

#[test]
fn it_is_shown_as_it_is_understood() {
    let entries = [
        "NAS.lan.",
        "192.168.1.7",
        "[fd00::/8]:81",
        "b\u{fc}cher.example",
    ];
    let shown = Allowances::parse(entries).unwrap().to_string();
    let expected = "nas.lan, 192.168.1.7/32, [fd00::/8]:81, xn--bcher-kva.example";
    assert_eq!(shown, expected);
}
