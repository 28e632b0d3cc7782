//! Whether the entries of a list could be started now: their programs are there, and sudo lets them through without
//! a password. sudo itself is asked (`sudo -n -l COMMAND`), because a file in `sudoers.d` alone proves nothing.
//!
//! `sudo -l` also says yes to what would need a password; the last line of the list that fits decides, as it does
//! when the command is run.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use crate::lists::{Arg, Entry, List};
use crate::runs;

const SUDO: &str = "/usr/bin/sudo";
const STATUS: &str = "/proc/self/status";
/// For one question; sudo may look names up in a directory.
const QUESTION_TIME: Duration = Duration::from_secs(5);
/// For all of them: whoever asks waits. What was not reached by then is not named.
const TIME_MAX: Duration = Duration::from_secs(8);
const ALL: &str = "ALL";
const NO_PASSWORD: &str = "NOPASSWD";
const PASSWORD: &str = "PASSWD";

/// Which entries could not be started, and why.
pub(crate) fn missing(list: &List) -> BTreeMap<String, String> {
    let ends_at = Instant::now() + TIME_MAX;
    let mut listing = None;
    let mut missing = BTreeMap::new();
    for entry in &list.entries {
        if Instant::now() >= ends_at {
            break;
        }
        let why = match sudo_command(entry) {
            Some(command) => {
                let listing = listing.get_or_insert_with(list_rights);
                why_sudo_refuses(&command, listing)
            }
            None => why_not_executable(entry),
        };
        if let Some(why) = why {
            missing.insert(entry.id.to_string(), why);
        }
    }
    missing
}

/// The command behind `sudo -n`, where there is one and all of it is fixed.
pub fn sudo_command(entry: &Entry) -> Option<Vec<&str>> {
    let words: Option<Vec<&str>> = entry
        .argv
        .iter()
        .map(|arg| match arg {
            Arg::Fixed(word) => Some(word.as_str()),
            Arg::Param(_) | Arg::Recorded(_) => None,
        })
        .collect();
    match words?.as_slice() {
        [SUDO, "-n", command @ ..] if !command.is_empty() => Some(command.to_vec()),
        _ => None,
    }
}

fn why_not_executable(entry: &Entry) -> Option<String> {
    let Some(Arg::Fixed(program)) = entry.argv.first() else {
        return None;
    };
    match fs::metadata(program) {
        Ok(metadata) if metadata.is_file() && metadata.mode() & 0o111 != 0 => None,
        Ok(_) => Some(format!("{program} is not an executable file")),
        Err(error) => Some(format!("{program}: {error}")),
    }
}

/// All that sudo allows us, in its own words.
fn list_rights() -> String {
    let argv = [SUDO, "-n", "-l"].map(str::to_owned).to_vec();
    let said = runs::ask_sudo(argv, QUESTION_TIME);
    said.and_then(|said| said.stdout).unwrap_or_default()
}

fn why_sudo_refuses(command: &[&str], listing: &str) -> Option<String> {
    let mut argv = [SUDO, "-n", "-l"].map(str::to_owned).to_vec();
    argv.extend(command.iter().map(|word| (*word).to_owned()));
    let command = command.join(" ");
    let Some(said) = runs::ask_sudo(argv, QUESTION_TIME) else {
        return Some(format!("sudo did not say whether it allows {command}"));
    };
    if !said.done {
        let is_missing = fs::metadata(SUDO).is_err();
        let why = if is_missing {
            format!("{SUDO} is not installed")
        } else if is_confined(&fs::read_to_string(STATUS).unwrap_or_default()) {
            format!("sudo cannot run {command}: the unit of this process says NoNewPrivileges")
        } else {
            format!("sudo does not allow {command} without a password")
        };
        return Some(why);
    }
    needs_password(listing, &command).then(|| {
        format!("sudo wants a password for {command}: a later line of sudoers overrides it")
    })
}

/// Whether a process whose status this is can never become root, whatever sudo allows.
fn is_confined(status: &str) -> bool {
    let fields = status.lines().filter_map(|line| line.split_once(':'));
    fields
        .filter(|(name, _)| *name == "NoNewPrivs")
        .any(|(_, value)| value.trim() != "0")
}

/// Whether the last line of `sudo -l` that fits this very command asks for a password.
fn needs_password(listing: &str, command: &str) -> bool {
    let mut needs = false;
    for line in listing.lines() {
        let Some((_, commands)) = line
            .trim_start()
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(") "))
        else {
            continue;
        };
        let mut wants_password = true;
        for part in commands.replace("\\,", "\u{1}").split(", ") {
            let mut part = part.replace('\u{1}', ",").replace('\\', "");
            while let Some((tag, rest)) = part.split_once(": ").filter(|(tag, _)| is_tag(tag)) {
                match tag {
                    NO_PASSWORD => wants_password = false,
                    PASSWORD => wants_password = true,
                    _ => {}
                }
                part = rest.to_owned();
            }
            if part == command || part == ALL {
                needs = wants_password;
            }
        }
    }
    needs
}

fn is_tag(word: &str) -> bool {
    !word.is_empty()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "User ann may run the following commands on lab:\n";
    const RESTART: &str = "/usr/bin/systemctl restart caddy";

    fn needs(lines: &[&str]) -> bool {
        needs_password(&format!("{HEAD}    {}\n", lines.join("\n    ")), RESTART)
    }

    #[test]
    fn the_last_line_that_fits_decides() {
        let ours = "(root) NOPASSWD: /usr/bin/systemctl restart caddy";
        assert!(!needs(&[ours]));
        assert!(!needs(&["(ALL : ALL) ALL", ours]));
        assert!(needs(&[ours, "(ALL : ALL) ALL"]));
        assert!(!needs(&[ours, "(ALL : ALL) ALL", "(ALL) NOPASSWD: ALL"]));
        assert!(!needs(&[ours, "(root) /usr/bin/systemctl restart nginx"]));
        assert!(needs(&["(root) /usr/bin/systemctl restart caddy"]));
        // A tag holds for what follows it.
        assert!(!needs(&[
            "(root) NOPASSWD: /bin/true, /usr/bin/systemctl restart caddy"
        ]));
        assert!(needs(&[
            "(root) NOPASSWD: /bin/true, PASSWD: /usr/bin/systemctl restart caddy"
        ]));
        assert!(!needs(&[
            "(root) SETENV: NOPASSWD: /usr/bin/systemctl restart caddy"
        ]));
    }

    #[test]
    fn only_a_whole_fixed_command_goes_through_sudo() {
        let behind_sudo = |argv: serde_json::Value| {
            let written = serde_json::json!({"id": "x", "tier": "safe", "argv": argv});
            let entry: Entry = serde_json::from_value(written).unwrap();
            sudo_command(&entry).map(|command| command.join(" "))
        };
        let whole = serde_json::json!(["/usr/bin/sudo", "-n", "/bin/a", "b"]);
        assert_eq!(behind_sudo(whole).as_deref(), Some("/bin/a b"));
        for other in [
            serde_json::json!(["/usr/bin/sudo", "-n"]),
            serde_json::json!(["/usr/bin/sudo"]),
            serde_json::json!(["/usr/bin/sudo", "/bin/a"]),
            serde_json::json!(["sudo", "-n", "/bin/a"]),
            serde_json::json!(["/bin/a"]),
            serde_json::json!(["/usr/bin/sudo", "-n", "/bin/a", {"param": "p"}]),
        ] {
            assert_eq!(behind_sudo(other.clone()), None, "{other}");
        }
    }

    #[test]
    fn a_process_that_can_gain_nothing_is_known_by_its_status() {
        assert!(is_confined("Name:\tvoid\nNoNewPrivs:\t1\nSeccomp:\t0\n"));
        for open in ["NoNewPrivs:\t0\n", "Name:\tNoNewPrivs\n", ""] {
            assert!(!is_confined(open), "{open:?}");
        }
    }

    #[test]
    fn what_sudo_escapes_is_the_same_command() {
        let listing = format!(
            "{HEAD}    (root) NOPASSWD: /usr/bin/systemctl restart wg-quick@wg0\\:1.service\n    (root) /bin/a x\\, ALL\n"
        );
        assert!(!needs_password(
            &listing,
            "/usr/bin/systemctl restart wg-quick@wg0:1.service"
        ));
        assert!(!needs_password("", RESTART));
    }
}
