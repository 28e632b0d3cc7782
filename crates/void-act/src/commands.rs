//! What a peer may say: an action id, and after one space a ticket.
//!
//! The grammar is `^[a-z0-9][a-z0-9-]{0,63}( v1\.[A-Za-z0-9_-]{1,4096})?$`, checked on raw bytes, so nothing that a
//! shell, a terminal or an option parser could read as more than a word gets past this file. Refused input is only
//! ever shown through [`escape`].

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;

use serde::{Deserialize, Serialize};

/// The questions that void-act answers itself.
pub const RESERVED: [&str; 4] = ["void-list", "void-check", "void-ticket", "void-settle"];
/// No list and no catalogue may hold an id that begins like this.
pub const RESERVED_PREFIX: &str = "void-";

const ID_BYTES_MAX: usize = 64;
const TICKET_PREFIX: &[u8] = b"v1.";
pub(crate) const TICKET_CHARS_MAX: usize = 4096;
const ESCAPED_CHARS_MAX: usize = 64;

/// A word of the id grammar, reserved ones included.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ActionId(String);

impl ActionId {
    pub fn parse(text: &str) -> Option<Self> {
        is_id(text.as_bytes()).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_reserved(&self) -> bool {
        self.0.starts_with(RESERVED_PREFIX)
    }
}

impl fmt::Display for ActionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for ActionId {
    type Error = NotACommand;

    fn try_from(text: String) -> Result<Self, NotACommand> {
        Self::parse(&text).ok_or(NotACommand)
    }
}

impl From<ActionId> for String {
    fn from(id: ActionId) -> Self {
        id.0
    }
}

/// One well-formed `SSH_ORIGINAL_COMMAND`; the ticket is still encoded, with its `v1.`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub id: ActionId,
    pub ticket: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotACommand;

impl fmt::Display for NotACommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected an action id of a-z, 0-9 and -, and perhaps one ticket")
    }
}

impl std::error::Error for NotACommand {}

/// # Errors
/// Anything that is not of the grammar, to the last byte.
pub fn parse_command(raw: &OsStr) -> Result<Command, NotACommand> {
    let bytes = raw.as_bytes();
    let (id, ticket) = match bytes.iter().position(|&byte| byte == b' ') {
        None => (bytes, None),
        Some(space) => {
            let (id, rest) = bytes.split_at_checked(space).ok_or(NotACommand)?;
            (id, Some(rest.strip_prefix(b" ").ok_or(NotACommand)?))
        }
    };
    if !is_id(id) || !ticket.is_none_or(is_ticket) {
        return Err(NotACommand);
    }
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| NotACommand);
    Ok(Command {
        id: ActionId(text(id)?),
        ticket: ticket.map(text).transpose()?,
    })
}

/// Text of a peer as it may be shown: printable ASCII, everything else as `\xNN`, cut short.
pub(crate) fn escape(bytes: &[u8]) -> String {
    bytes
        .escape_ascii()
        .map(char::from)
        .take(ESCAPED_CHARS_MAX)
        .collect()
}

fn is_id(bytes: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    bytes.len() <= ID_BYTES_MAX
        && bytes.first().is_some_and(plain)
        && bytes.iter().all(|byte| plain(byte) || *byte == b'-')
}

fn is_ticket(bytes: &[u8]) -> bool {
    bytes.strip_prefix(TICKET_PREFIX).is_some_and(|body| {
        (1..=TICKET_CHARS_MAX).contains(&body.len())
            && body
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_holds_at_its_limits() {
        let ticket = |len: usize| format!("a v1.{}", "A".repeat(len));
        for good in [
            "a",
            "0",
            "a-",
            "restart-caddy",
            &"a".repeat(64),
            &ticket(1),
            &ticket(4096),
        ] {
            assert!(parse_command(OsStr::new(good)).is_ok(), "{good}");
        }
        let long = "a".repeat(1 << 20);
        for bad in [
            "",
            "-a",
            "A",
            "a b",
            "a ",
            " a",
            "a\n",
            "a v1.",
            "a v2.AA",
            "a  v1.AA",
            "a v1.AA ",
            "a v1.AA v1.AA",
            "a v1.A=",
            "a v1.A+",
            "a\tv1.AA",
            "é",
            &"a".repeat(65),
            &ticket(4097),
            &long,
        ] {
            assert!(
                parse_command(OsStr::new(bad)).is_err(),
                "{}",
                escape(bad.as_bytes())
            );
        }
        assert!(parse_command(OsStr::from_bytes(b"a\0")).is_err());
        assert!(parse_command(OsStr::from_bytes(b"a\xff")).is_err());
    }

    #[test]
    fn refused_text_is_escaped_and_cut() {
        assert_eq!(
            escape(b"a\x1b[31m\n\xc3\xa9\x7f"),
            r"a\x1b[31m\n\xc3\xa9\x7f"
        );
        assert_eq!(escape(&[0x1b; 1000]).len(), 64);
    }
}
