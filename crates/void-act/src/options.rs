//! The command line. It comes from `authorized_keys` or from the server on the same machine, never from the peer.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::answers::{Reason, Refusal};
use crate::files::Trust;

pub const LIST_PATH: &str = "/etc/void-act/list.json";
pub const STATE_DIR: &str = "/var/lib/void-act";

pub(crate) const HELP: &str = "\
void-act [--list PATH] [--state DIR] [--trust-own-list] [--progress] [--ticket-time-ms N]   answer SSH_ORIGINAL_COMMAND
void-act --check [--list PATH] [--trust-own-list]         say what is wrong with the list
void-act --version | --help

--progress prints what a command says line by line before the answer; --ticket-time-ms is the time by which a
ticket's expiry is judged. Both are for `void node run`, which knows its server's time.

In authorized_keys: restrict,command=\"/usr/local/bin/void-act\" ssh-ed25519 …
The list is /etc/void-act/list.json, the journal is in /var/lib/void-act.
Exit codes: 0 done or answered, 1 the command failed, 13 refused.
";

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) mode: Mode,
    pub(crate) list: PathBuf,
    pub(crate) state: PathBuf,
    pub(crate) trust: Trust,
    /// Print a running command's lines before the answer.
    pub(crate) progress: bool,
    /// The server's time, where the caller knows it better than this machine's clock. It judges expiries and
    /// nothing else: brakes and the journal go by our own clock.
    pub(crate) ticket_time_ms: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Answer,
    Check,
    Version,
    Help,
}

pub(crate) fn parse(mut args: impl Iterator<Item = OsString>) -> Result<Options, Refusal> {
    let mut options = Options {
        mode: Mode::Answer,
        list: LIST_PATH.into(),
        state: STATE_DIR.into(),
        trust: Trust::Root,
        progress: false,
        ticket_time_ms: None,
    };
    let mut first = true;
    while let Some(arg) = args.next() {
        let mut value = || args.next().map(PathBuf::from).ok_or_else(bad_arguments);
        match arg.to_str() {
            // As the account's login shell we are started as `void-act -c "the forced command"`.
            Some("-c") if first => return Ok(options),
            Some("--list") => options.list = value()?,
            Some("--state") => options.state = value()?,
            Some("--trust-own-list") => options.trust = Trust::RootOrCaller,
            Some("--progress") => options.progress = true,
            Some("--ticket-time-ms") => {
                let number = value()?.to_str().and_then(|text| text.parse().ok());
                options.ticket_time_ms = Some(number.ok_or_else(bad_arguments)?);
            }
            Some("--check") => options.mode = Mode::Check,
            Some("--version") => options.mode = Mode::Version,
            Some("--help") => options.mode = Mode::Help,
            Some(_) | None => return Err(bad_arguments()),
        }
        first = false;
    }
    Ok(options)
}

fn bad_arguments() -> Refusal {
    Refusal::new(
        Reason::BadArguments,
        "void-act was started with arguments that it does not know",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<Options, Refusal> {
        parse(args.iter().map(OsString::from))
    }

    #[test]
    fn a_login_shell_ignores_what_follows_its_first_argument() {
        let defaults = parsed(&[]).unwrap();
        assert_eq!(
            (defaults.list.to_str(), defaults.trust),
            (Some(LIST_PATH), Trust::Root)
        );
        assert_eq!(
            parsed(&["-c", "x", "--list", "/y", "--trust-own-list"]),
            Ok(defaults)
        );
        assert!(parsed(&["--check", "-c"]).is_err());
    }

    #[test]
    fn unknown_arguments_and_missing_values_are_refused() {
        for args in [
            &["--lists", "/x"][..],
            &["x"],
            &["--list"],
            &["--state"],
            &["--ticket-time-ms"],
            &["--ticket-time-ms", "soon"],
            &["--ticket-time-ms", "-1"],
            &["--list=/x"],
            &["-h"],
            &[""],
        ] {
            assert_eq!(
                parsed(args).unwrap_err().reason,
                Reason::BadArguments,
                "{args:?}"
            );
        }
        let options = parsed(&["--list", "/l", "--state", "/s", "--trust-own-list"]).unwrap();
        assert_eq!((options.list, options.state), ("/l".into(), "/s".into()));
    }
}
