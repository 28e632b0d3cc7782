//! First and last of every range, and the neighbours outside it.

use super::*;

fn class(text: &str) -> AddressClass {
    AddressClass::of(text.parse().unwrap())
}

type Row = (AddressClass, &'static [&'static str]);

#[rustfmt::skip]
fn ranges() -> Vec<Row> {
    use AddressClass::*;
    vec![
        (Unspecified, &["0.0.0.0", "0.255.255.255", "::"]),
        (Loopback, &["127.0.0.0", "127.0.0.1", "127.255.255.255", "::1"]),
        (Private, &["10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255"]),
        (Private, &["192.168.0.0", "192.168.255.255"]),
        (SharedNat, &["100.64.0.0", "100.127.255.255"]),
        (LinkLocal, &["169.254.0.0", "169.254.168.255", "169.254.255.255", "fe80::1", "febf::1"]),
        (Metadata, &["169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192"]),
        (Metadata, &["168.63.129.16", "fd00:ec2::254", "fd20:ce::254"]),
        (Documentation, &["192.0.2.0", "192.0.2.255", "198.51.100.7", "203.0.113.255"]),
        (Documentation, &["2001:db8::1", "2001:db8:ffff::", "3fff::1", "3fff:fff::1"]),
        (Benchmark, &["198.18.0.0", "198.19.255.255", "2001:2::1"]),
        (Multicast, &["224.0.0.0", "239.255.255.255", "ff02::1", "ffff::1"]),
        (Broadcast, &["255.255.255.255"]),
        (UniqueLocal, &["fc00::", "fdff:ffff::1", "fd12:3456::1"]),
        (SiteLocal, &["fec0::1", "feff::1"]),
        (Tunnel, &["192.88.99.1", "2002:7f00:1::", "2002:808:808::1", "2001::1", "64:ff9b:1::1"]),
        (Tunnel, &["::127.0.0.1", "::8.8.8.8"]),
        (Reserved, &["192.0.0.8", "240.0.0.0", "255.255.255.254", "2001:10::1", "2001:1ff::1"]),
        (Reserved, &["100::1", "::ffff:0:7f00:1", "5f00::1", "4000::1", "64:ff9b:0:1::1"]),
        (Public, &["1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0"]),
        (Public, &["126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0"]),
        (Public, &["172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0"]),
        (Public, &["198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111"]),
        (Public, &["2001:200::1", "2001:db7::1", "2001:db9::1", "2003::1", "3ffe::1"]),
    ]
}

#[test]
fn every_range_begins_and_ends_where_its_registry_says() {
    let rows = ranges();
    assert!(rows.len() >= 24, "{}", rows.len());
    for (expected, addresses) in rows {
        for address in addresses {
            assert_eq!(class(address), expected, "{address}");
        }
    }
}

#[test]
fn an_address_inside_another_one_is_judged_by_where_it_goes() {
    use AddressClass::*;
    for (address, expected) in [
        ("::ffff:127.0.0.1", Loopback),
        ("::ffff:169.254.169.254", Metadata),
        ("::ffff:8.8.8.8", Public),
        ("64:ff9b::10.0.0.1", Private),
        ("64:ff9b::a9fe:a9fe", Metadata),
        ("64:ff9b::8.8.8.8", Public),
        ("2606:4700::5efe:192.168.0.1", Private),
        ("2606:4700::200:5efe:127.0.0.1", Loopback),
        ("2606:4700::5efe:8.8.8.8", Public),
        ("fe80::5efe:8.8.8.8", LinkLocal),
    ] {
        assert_eq!(class(address), expected, "{address}");
    }
}
