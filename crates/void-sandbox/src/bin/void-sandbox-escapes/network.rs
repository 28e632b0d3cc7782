//! Connections elsewhere.

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};

use crate::{Targets, Try, call};

pub(super) fn that_look(targets: &Targets) -> Vec<Try> {
    let here = Ipv4Addr::LOCALHOST;
    let by_name = SocketAddr::from_abstract_name(targets.socket_name.as_bytes());
    vec![
        (
            "connect elsewhere",
            TcpStream::connect((here, targets.other_port)).map(drop),
        ),
        ("listen", TcpListener::bind((here, 0)).map(drop)),
        ("send a datagram", UdpSocket::bind((here, 0)).map(drop)),
        ("pair Unix sockets", UnixStream::pair().map(drop)),
        ("open a Unix socket", UnixDatagram::unbound().map(drop)),
        (
            "connect to a Unix socket",
            UnixStream::connect(&targets.socket).map(drop),
        ),
        (
            "connect to an abstract socket",
            by_name
                .and_then(|name| UnixStream::connect_addr(&name))
                .map(drop),
        ),
        (
            "look up a name",
            socket(libc::AF_NETLINK, libc::SOCK_RAW, 0),
        ),
    ]
}

pub(super) fn that_change() -> Vec<Try> {
    let inet = libc::AF_INET;
    vec![
        ("connect with the first packet", fast_open()),
        (
            "open a raw socket",
            socket(inet, libc::SOCK_RAW, libc::IPPROTO_ICMP),
        ),
        ("ping", socket(inet, libc::SOCK_DGRAM, libc::IPPROTO_ICMP)),
        ("read packets", socket(libc::AF_PACKET, libc::SOCK_RAW, 0)),
        ("read packets in the old way", socket(inet, 10, 0)),
        (
            "connect by several ways",
            socket(inet, libc::SOCK_STREAM, libc::IPPROTO_MPTCP),
        ),
        (
            "talk to the hypervisor",
            socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0),
        ),
        (
            "use the kernel's ciphers",
            socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0),
        ),
        (
            "open a Bluetooth socket",
            socket(libc::AF_BLUETOOTH, libc::SOCK_STREAM, 0),
        ),
        ("listen without an address", call(libc::SYS_listen, [0; 5])),
        ("accept", call(libc::SYS_accept4, [0; 5])),
    ]
}

pub(super) fn that_are_allowed(targets: &Targets) -> Vec<Try> {
    let server = (Ipv4Addr::LOCALHOST, targets.server_port);
    vec![(
        "connect to the server",
        TcpStream::connect(server).map(drop),
    )]
}

fn socket(family: libc::c_int, kind: libc::c_int, protocol: libc::c_int) -> io::Result<()> {
    let number = |value: libc::c_int| usize::try_from(value).unwrap_or(0);
    call(
        libc::SYS_socket,
        [number(family), number(kind), number(protocol), 0, 0],
    )
}

fn fast_open() -> io::Result<()> {
    let flag = usize::try_from(libc::MSG_FASTOPEN).unwrap_or(0);
    call(libc::SYS_sendto, [0, 0, 0, flag, 0])
}
