//! The clock of a PostgreSQL server: what its clients share, and a second witness where it is another machine's.

use std::net::IpAddr;

use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;

/// The server's clock, in milliseconds.
macro_rules! now_ms {
    () => {
        "CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS bigint)"
    };
}
pub(crate) use now_ms;

pub(crate) async fn of_another_machine(tx: &mut Tx) -> Result<Option<Timestamp>, StoreError> {
    let sql = concat!(
        "SELECT ",
        now_ms!(),
        " AS now, host(inet_server_addr()) AS server, host(inet_client_addr()) AS client"
    );
    let Some(row) = tx.one("clock", sql, &[]).await? else {
        return Ok(None);
    };
    let elsewhere = is_elsewhere(row.opt_text("server")?, row.opt_text("client")?);
    Ok(elsewhere.then_some(row.time("now")?))
}

/// Both ends of the connection, as the server sees them: none by a local socket, and the same where a machine
/// talks to itself.
fn is_elsewhere(server: Option<&str>, client: Option<&str>) -> bool {
    let address = |text: Option<&str>| text?.parse::<IpAddr>().ok().map(|ip| ip.to_canonical());
    match (address(server), address(client)) {
        (Some(server), Some(client)) => {
            server != client && !server.is_loopback() && !client.is_loopback()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_at_another_address_is_another_machine() {
        assert!(is_elsewhere(Some("10.0.0.2"), Some("10.0.0.1")));
        assert!(is_elsewhere(Some("fd00::2"), Some("fd00::1")));
        for (server, client) in [
            (None, None),
            (Some("10.0.0.2"), None),
            (None, Some("10.0.0.1")),
            (Some("10.0.0.1"), Some("10.0.0.1")),
            (Some("::ffff:10.0.0.1"), Some("10.0.0.1")),
            (Some("127.0.0.1"), Some("127.0.0.1")),
            (Some("127.0.0.2"), Some("127.0.0.1")),
            (Some("127.0.0.1"), Some("10.0.0.1")),
            (Some("::1"), Some("::1")),
            (Some("db"), Some("10.0.0.1")),
        ] {
            assert!(!is_elsewhere(server, client), "{server:?} {client:?}");
        }
    }
}
