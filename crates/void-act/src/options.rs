//! The command line. It comes from `authorized_keys` or from the server on the same machine, never from the peer.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::answers::{Reason, Refusal};
use crate::files::Trust;

pub const LIST_PATH: &str = "/etc/void-act/list.json";
pub const STATE_DIR: &str = "/var/lib/void-act";

pub(crate) const HELP: &str = "\
void-act [--list PATH] [--state DIR] [--trust-own-list]   answer SSH_ORIGINAL_COMMAND
void-act --check [--list PATH] [--trust-own-list]         say what is wrong with the list
void-act --version | --help

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
