//! Asking a service as a health check would.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use crate::services::ServiceKind;

const TIME_MAX: Duration = Duration::from_secs(1);
const STATUS_LINE: &[u8] = b"HTTP/1.1 200 OK\r\n";

pub(crate) fn answers(port: u16, kind: ServiceKind) -> bool {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let Ok(stream) = TcpStream::connect_timeout(&address, TIME_MAX) else {
        return false;
    };
    match kind {
        ServiceKind::Tcp => true,
        ServiceKind::Http => says_200(stream).is_ok_and(|yes| yes),
    }
}

fn says_200(mut stream: TcpStream) -> std::io::Result<bool> {
    stream.set_read_timeout(Some(TIME_MAX))?;
    stream.set_write_timeout(Some(TIME_MAX))?;
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n")?;
    let mut line = [0; STATUS_LINE.len()];
    stream.read_exact(&mut line)?;
    Ok(line == *STATUS_LINE)
}
