//! Ports for services: below the range from which the kernel gives ports to outgoing connections, which
//! could otherwise take one while its service is down, or connect to themselves.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

const FIRST: u16 = 10_240;
const COUNT: u16 = 9_760;
/// Labs of different processes begin this far apart.
const STRIDE: u32 = 131;

/// A port that is free now and was not given before by this process.
pub(crate) fn free() -> Option<u16> {
    static GIVEN: AtomicU16 = AtomicU16::new(0);
    let begin = std::process::id().wrapping_mul(STRIDE) % u32::from(COUNT);
    (0..COUNT).find_map(|_| {
        let tried = u32::from(GIVEN.fetch_add(1, Ordering::Relaxed));
        let offset = u16::try_from((begin + tried) % u32::from(COUNT)).ok()?;
        let port = FIRST + offset;
        TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .ok()
            .map(|_| port)
    })
}
