//! Parameters: what the host's list declares, what a ticket brings, and the check of one against the other.
//!
//! A value becomes one whole argv element and never part of one. Every declared parameter must be there, no other
//! may be, and a value that could be read as an option or that holds control characters is refused.

use std::collections::BTreeMap;
use std::fmt;

use regex_lite::Regex;
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize};

use crate::commands::escape;

const NAME_BYTES_MAX: usize = 64;
const PATTERN_BYTES_MAX: usize = 1024;
const VALUE_BYTES_MAX: usize = 1024;
const ENUM_VALUES_MAX: usize = 256;

pub type Params = BTreeMap<String, ParamValue>;

/// What a ticket may bring: text or a whole number, nothing nested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ParamValue {
    Integer(i64),
    Text(String),
}

impl fmt::Display for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for ParamValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Scalar;
        impl Visitor<'_> for Scalar {
            type Value = ParamValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an integer")
            }

            fn visit_i64<E>(self, number: i64) -> Result<ParamValue, E> {
                Ok(ParamValue::Integer(number))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<ParamValue, E> {
                let number = i64::try_from(number).map_err(E::custom)?;
                Ok(ParamValue::Integer(number))
            }

            fn visit_str<E>(self, text: &str) -> Result<ParamValue, E> {
                Ok(ParamValue::Text(text.to_owned()))
            }
        }
        deserializer.deserialize_any(Scalar)
    }
}

/// What the list allows for one parameter; the same form as in the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum ParamSpec {
    Integer {
        min: i64,
        max: i64,
    },
    Enum {
        values: Vec<String>,
    },
    /// `pattern` stands between `^` and `$` and is matched against the whole value; `max_len` counts bytes.
    Pattern {
        pattern: String,
        max_len: usize,
    },
}

impl ParamSpec {
    /// What is wrong with the declaration itself, if anything.
    pub(crate) fn finding(&self) -> Option<&'static str> {
        match self {
            Self::Integer { min, max } if min > max => Some("min is greater than max"),
            Self::Integer { .. } => None,
            Self::Enum { values } if values.is_empty() || values.len() > ENUM_VALUES_MAX => {
                Some("an enum has 1 to 256 values")
            }
            Self::Enum { values } if values.iter().any(|value| !is_plain(value)) => {
                Some("an enum value is empty, over 1024 bytes or has control characters")
            }
            Self::Enum { .. } => None,
            Self::Pattern { max_len, .. } if !(1..=VALUE_BYTES_MAX).contains(max_len) => {
                Some("max_len is between 1 and 1024")
            }
            Self::Pattern { pattern, .. } if whole(pattern).is_none() => Some(
                "a pattern begins with ^, ends with $, is a valid expression and has at most 1024 bytes",
            ),
            Self::Pattern { .. } => None,
        }
    }

    pub(crate) fn accepts(&self, value: &ParamValue) -> bool {
        match (self, value) {
            (Self::Integer { min, max }, ParamValue::Integer(number)) => {
                (min..=max).contains(&number)
            }
            (Self::Enum { values }, ParamValue::Text(text)) => values.contains(text),
            (Self::Pattern { pattern, max_len }, ParamValue::Text(text)) => {
                is_plain(text)
                    && text.len() <= *max_len
                    && !text.starts_with('-')
                    && whole(pattern).is_some_and(|regex| regex.is_match(text))
            }
            (Self::Integer { .. }, ParamValue::Text(_))
            | (Self::Enum { .. } | Self::Pattern { .. }, ParamValue::Integer(_)) => false,
        }
    }
}

/// All declared, nothing else, each within its bounds; the error is a sentence for the peer.
pub(crate) fn check(declared: &BTreeMap<String, ParamSpec>, given: &Params) -> Result<(), String> {
    if let Some(name) = given.keys().find(|name| !declared.contains_key(*name)) {
        return Err(format!(
            "parameter {} is not declared",
            escape(name.as_bytes())
        ));
    }
    for (name, spec) in declared {
        match given.get(name) {
            None => return Err(format!("parameter {name} is missing")),
            Some(value) if !spec.accepts(value) => {
                return Err(format!("parameter {name} is outside what the list allows"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

pub(crate) fn is_name(name: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Compiles the inside of `^…$` as one group, so that `^a|b$` cannot match `ax`. The inside must also compile on
/// its own: `^a)|(?:b$` would otherwise close our group and escape the anchors.
fn whole(pattern: &str) -> Option<Regex> {
    let inner = pattern.strip_prefix('^')?.strip_suffix('$')?;
    if pattern.len() > PATTERN_BYTES_MAX || Regex::new(inner).is_err() {
        return None;
    }
    Regex::new(&format!("^(?:{inner})$")).ok()
}

fn is_plain(text: &str) -> bool {
    (1..=VALUE_BYTES_MAX).contains(&text.len()) && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests;
