//! What a message says, and what its sender calls it.

use std::fmt;
use std::str::FromStr;

use super::TEXT_BYTES_MAX;
use crate::ids::AgentMessageId;

const KEY_BYTES_MAX: usize = 64;

/// 1 to so many bytes of text without control characters but for line breaks and tabs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageText(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMessageText {
    #[error("a message says something")]
    Empty,
    #[error("a message has at most {TEXT_BYTES_MAX} bytes, as JSON writes it")]
    TooLong,
    #[error("a message has no control characters but line breaks and tabs")]
    Control,
}

impl MessageText {
    pub fn parse(text: &str) -> Result<Self, InvalidMessageText> {
        if text.trim().is_empty() {
            return Err(InvalidMessageText::Empty);
        }
        // Before anything else of it is looked at.
        if text.len() > TEXT_BYTES_MAX || written_bytes(text) > TEXT_BYTES_MAX {
            return Err(InvalidMessageText::TooLong);
        }
        let is_control = |it: char| it.is_control() && it != '\n' && it != '\t';
        match text.chars().any(is_control) {
            true => Err(InvalidMessageText::Control),
            false => Ok(Self(text.to_owned())),
        }
    }

    pub const fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// How long it is where JSON has it.
    pub fn written_bytes(&self) -> usize {
        written_bytes(&self.0)
    }
}

fn written_bytes(text: &str) -> usize {
    let escaped = |byte: &u8| matches!(byte, b'"' | b'\\' | b'\n' | b'\t');
    text.len()
        .saturating_add(text.as_bytes().iter().filter(|byte| escaped(byte)).count())
}

/// 1 to 64 of letters, digits and `-_.:`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageKey(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key is 1 to 64 of letters, digits, -, _, . and :")]
pub struct InvalidMessageKey;

impl MessageKey {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Of a message that its sender gave none.
    pub fn of_id(id: AgentMessageId) -> Self {
        Self(id.to_string())
    }
}

impl FromStr for MessageKey {
    type Err = InvalidMessageKey;

    fn from_str(text: &str) -> Result<Self, InvalidMessageKey> {
        let fits = !text.is_empty()
            && text.len() <= KEY_BYTES_MAX
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte));
        match fits {
            true => Ok(Self(text.to_owned())),
            false => Err(InvalidMessageKey),
        }
    }
}

impl fmt::Display for MessageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
