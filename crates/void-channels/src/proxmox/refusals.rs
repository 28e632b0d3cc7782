//! What Proxmox says instead of yes: its reasons told apart and said in words.
//!
//! PVE puts the reason into the status line; the body is often empty, and since 8.4 repeats it.

use serde_json::Value;
use void_domain::failures::FailureCode;
use void_domain::proposals::Failure;

use super::calls::escape;

/// The number and the words of an answer that is not success.
#[derive(Debug, Clone)]
pub(super) struct ProxmoxRefusal {
    status: u16,
    words: String,
}

impl ProxmoxRefusal {
    pub(super) fn new(status: u16, words: &str, body: Option<&Value>) -> Self {
        let message = body.and_then(|body| body.get("message")?.as_str());
        let message = message.map_or("", str::trim);
        let errors = body.and_then(|body| body.get("errors"));
        let words = match errors.filter(|errors| errors.is_object()) {
            Some(errors) => format!("{words} {errors}"),
            None if message.len() > words.len() => message.to_owned(),
            None => words.to_owned(),
        };
        Self { status, words }
    }

    /// Whether Proxmox says this only before it begins anything: wrong parameters, login, rights, no
    /// such method, a node that its proxy could not even connect to, and what it looks at first. Any
    /// other error can come when the task runs already (`fork_worker` of libpve-common).
    pub(super) fn is_before_work(&self) -> bool {
        let looked_first = is_about_state(&self.words)
            || is_missing(&self.words)
            || is_lock(&self.words)
            || self.words.starts_with("hostname lookup")
            || self.words.starts_with("unable to fork worker");
        match self.status {
            400 | 401 | 403 | 501 | 595 => true,
            500 => looked_first,
            _ => false,
        }
    }

    /// The guest is in the state already that an operation would bring about, or cannot leave it.
    pub(super) fn is_about_state(&self) -> bool {
        is_about_state(&self.words)
    }

    pub(super) fn to_failure(&self, about: &str) -> Failure {
        let words = escape(&self.words);
        let (code, message) = match self.status {
            401 => (
                FailureCode::AuthRefused,
                format!("Proxmox does not accept the token: {words}"),
            ),
            403 => (
                FailureCode::NoPrivilege,
                format!("the token may not do this to {about}: {words}"),
            ),
            595 => (
                FailureCode::NodeOffline,
                format!("Proxmox cannot reach the node of {about}: {words}"),
            ),
            status @ 300..=399 => (
                FailureCode::Redirected,
                format!("the answer about {about} was a redirect ({status}), and none is followed"),
            ),
            _ if is_lock(&self.words) => (FailureCode::Locked, format!("{about}: {words}")),
            _ if is_missing(&self.words) => (FailureCode::NoSuchGuest, format!("{about}: {words}")),
            _ if self.words.starts_with("hostname lookup") => {
                (FailureCode::NoSuchNode, format!("{about}: {words}"))
            }
            status => (
                FailureCode::ProxmoxError,
                format!("Proxmox said {status} about {about}: {words}"),
            ),
        };
        Failure::new(code, message)
    }
}

pub(super) fn is_about_state(words: &str) -> bool {
    words.contains("already running") || words.contains("not running")
}

pub(super) fn is_lock(words: &str) -> bool {
    words.contains("is locked (")
}

fn is_missing(words: &str) -> bool {
    words.contains(".conf' does not exist") || words.contains("unable to find configuration file")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reasons_are_told_apart() {
        for (status, words, code) in [
            (401, "invalid token value!", "auth_refused"),
            (403, "Permission check failed (/vms/1)", "no_privilege"),
            (595, "No route to host", "node_offline"),
            (302, "Found", "redirected"),
            (500, "CT is locked (backup)", "locked"),
            (500, "can't lock file '/x' - got timeout", "proxmox_error"),
            (500, "the clock is blocked", "proxmox_error"),
            (
                500,
                "Configuration file 'nodes/z/lxc/1.conf' does not exist",
                "no_such_guest",
            ),
            (
                500,
                "unable to find configuration file for VM 1 on node 'z'",
                "no_such_guest",
            ),
            (500, "storage 'x' does not exist", "proxmox_error"),
            (500, "hostname lookup 'y' failed", "no_such_node"),
            (500, "", "proxmox_error"),
        ] {
            let failure = ProxmoxRefusal::new(status, words, None).to_failure("CT 1 on z");
            assert_eq!(failure.code, code, "{words}");
        }
    }

    #[test]
    fn an_unfamiliar_error_can_come_after_the_work_began() {
        for (status, words, before) in [
            (400, "Parameter verification failed.", true),
            (403, "Permission check failed", true),
            (595, "Connection refused", true),
            (500, "CT 107 already running", true),
            (500, "VM 107 not running", true),
            (
                500,
                "unable to fork worker - Resource temporarily unavailable",
                true,
            ),
            (500, "got lock timeout", false),
            (
                500,
                "can't lock file '/var/log/pve/tasks/.active.lock' - got timeout",
                false,
            ),
            (500, "", false),
            (302, "CT 107 not running", false),
            (404, "Not Found", false),
        ] {
            assert_eq!(
                ProxmoxRefusal::new(status, words, None).is_before_work(),
                before,
                "{status} {words}"
            );
        }
    }

    #[test]
    fn the_longer_of_two_reasons_is_told_and_escaped() {
        let body = json!({"data": null, "message": "first line\nsecond\u{1b}[2J\n"});
        let failure = ProxmoxRefusal::new(500, "first line", Some(&body)).to_failure("CT 1 on z");
        assert!(
            failure
                .message
                .ends_with("first line\\u{a}second\\u{1b}[2J")
        );
        let body = json!({"data": null, "errors": {"vmid": "invalid format"}});
        let failure = ProxmoxRefusal::new(400, "wrong", Some(&body)).to_failure("CT 1 on z");
        assert!(failure.message.contains("invalid format"), "{failure:?}");
    }
}
