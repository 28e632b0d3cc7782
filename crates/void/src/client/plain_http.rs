//! A token is a proof that whoever is on the way can copy, so it goes over plain HTTP only to this machine.
//! The address is parsed as the client will use it: `127.evil.example` and `localhost.evil.example` are
//! names of somebody else.

use std::net::IpAddr;

use reqwest::Url;

use crate::exit::CommandError;
use crate::settings::Environment;

/// Says that the way to the server is private otherwise: a VPN, a bridge of containers.
const ALLOWED_BY: &str = "VOID_INSECURE_HTTP";

/// Whether a token may be sent to this server.
pub(crate) fn judge(base: &str, environment: &Environment) -> Result<(), CommandError> {
    if environment.get(ALLOWED_BY) == Some("1") || is_private(base) {
        return Ok(());
    }
    Err(CommandError::usage(format!(
        "{base} is plain http to another machine: whoever is on the way would read your token"
    ))
    .next(format!(
        "use https://, or set {ALLOWED_BY}=1 if the way there is private"
    )))
}

/// Over TLS, or not beyond this machine.
fn is_private(base: &str) -> bool {
    let Ok(url) = Url::parse(base) else {
        return false;
    };
    if url.scheme() == "https" {
        return true;
    }
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host == "localhost",
    }
}

#[cfg(test)]
mod tests {
    use super::is_private;

    #[test]
    fn only_this_machine_is_spoken_to_in_the_clear() {
        for private in [
            "https://void.example",
            "http://127.0.0.1:3000",
            "http://127.8.9.10",
            "http://[::1]:3000",
            "http://[::ffff:127.0.0.1]:3000",
            "http://localhost:3000",
            "http://LOCALHOST",
            // As the client reads them, these are 127.0.0.1.
            "http://2130706433/",
            "http://0x7f.1/",
        ] {
            assert!(is_private(private), "{private}");
        }
        for open in [
            "http://192.168.1.5:3000",
            "http://void.example",
            "http://127.evil.example",
            "http://127.0.0.1.evil.example",
            "http://localhost.evil.example",
            "http://127.0.0.1@evil.example",
            "http://evil.example#127.0.0.1",
            "http://evil.example/127.0.0.1",
            "http://[::2]:3000",
            "http://0.0.0.0:3000",
            "http://",
        ] {
            assert!(!is_private(open), "{open}");
        }
    }
}
