//! Parameters: from path, query and body into one map, then checked against a route's schema.
//!
//! Decoding as `decode_urlencoded` of libpve-http-server, checking and its texts as
//! `PVE/JSONSchema.pm`: every parameter that a route does not know is an error.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::proxmox::answers::Refusal;
use crate::proxmox::config::{VMID_MAX, VMID_MIN};

pub(crate) struct Param {
    pub name: &'static str,
    pub kind: Kind,
    pub presence: Presence,
}

#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Text,
    /// Zero or more.
    Natural,
    Integer,
    Flag,
    Vmid,
    Node,
    OneOf(&'static [&'static str]),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    Optional,
}

pub(crate) const fn required(name: &'static str, kind: Kind) -> Param {
    let presence = Presence::Required;
    Param {
        name,
        kind,
        presence,
    }
}

pub(crate) const fn optional(name: &'static str, kind: Kind) -> Param {
    let presence = Presence::Optional;
    Param {
        name,
        kind,
        presence,
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Given {
    Text(String),
    /// More than one value, or a structure; the Perl word for it.
    Structure(&'static str),
}

#[derive(Debug, Default)]
pub(crate) struct Params(BTreeMap<String, Given>);

impl Params {
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name) {
            Some(Given::Text(text)) => Some(text),
            Some(Given::Structure(_)) | None => None,
        }
    }

    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.text(name)?.parse().ok()
    }

    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.text(name) == Some("1")
    }

    /// Parameters of the path come first; the same name elsewhere must say the same.
    pub(crate) fn merge(&mut self, other: Self) -> Result<(), Refusal> {
        for (name, given) in other.0 {
            if self.0.get(&name).is_some_and(|already| *already != given) {
                let text = "duplicate parameter (already defined in URI) with conflicting values!";
                return Err(Refusal::parameter(&name, text));
            }
            self.0.insert(name, given);
        }
        Ok(())
    }

    /// Parameters of the query win over those of the body.
    pub(crate) fn overlay(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub(crate) fn insert(&mut self, name: &str, text: &str) {
        self.0.insert(name.to_owned(), Given::Text(text.to_owned()));
    }

    /// `a=1&b=2`, separated by `&` or `;`. A name without `=` counts as not given.
    pub(crate) fn urlencoded(text: &str) -> Self {
        let mut params = Self::default();
        for pair in text.split(['&', ';']).filter(|pair| !pair.is_empty()) {
            let mut parts = pair.split('=');
            let name = unescaped(&parts.next().unwrap_or_default().replace('+', " "));
            let Some(value) = parts.next() else { continue };
            let value = Given::Text(unescaped(&value.replace('+', " ")));
            let given = match params.0.remove(&name) {
                None => value,
                Some(_) => Given::Structure("ARRAY"),
            };
            params.0.insert(name, given);
        }
        // A browser's way around caches; Proxmox drops it too.
        params.0.remove("_dc");
        params
    }

    pub(crate) fn json(text: &[u8]) -> Option<Self> {
        let object: Map<String, Value> = serde_json::from_slice(text).ok()?;
        let given = object.into_iter().filter_map(|(name, value)| {
            let given = match value {
                Value::Null => return None,
                Value::Bool(yes) => Given::Text(if yes { "1" } else { "0" }.to_owned()),
                Value::Number(number) => Given::Text(number.to_string()),
                Value::String(text) => Given::Text(text),
                Value::Array(_) => Given::Structure("ARRAY"),
                Value::Object(_) => Given::Structure("HASH"),
            };
            Some((name, given))
        });
        Some(Self(given.collect()))
    }

    pub(crate) fn check(&self, schema: &[Param]) -> Result<(), Refusal> {
        let mut errors = Map::new();
        for param in schema {
            let problem = match self.0.get(param.name) {
                Some(given) => problem_with(param.kind, given),
                None if param.presence == Presence::Required => {
                    Some("property is missing and it is not optional".to_owned())
                }
                None => None,
            };
            if let Some(problem) = problem {
                errors.insert(param.name.to_owned(), problem.into());
            }
        }
        for name in self.0.keys() {
            if !schema.iter().any(|param| param.name == name) {
                let text = "property is not defined in schema and the schema does not allow additional properties";
                errors.insert(name.clone(), text.into());
            }
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(Refusal::parameters(errors))
        }
    }
}

fn problem_with(kind: Kind, given: &Given) -> Option<String> {
    let type_name = match kind {
        Kind::Text | Kind::Node | Kind::OneOf(_) => "string",
        Kind::Natural | Kind::Integer | Kind::Vmid => "integer",
        Kind::Flag => "boolean",
    };
    let text = match given {
        Given::Text(text) => text,
        Given::Structure(word) => {
            return Some(format!("type check ('{type_name}') failed - got {word}"));
        }
    };
    let of_another_type = || Some(format!("type check ('{type_name}') failed - got '{text}'"));
    match kind {
        Kind::Text => None,
        Kind::Flag => (text != "0" && text != "1").then(of_another_type).flatten(),
        Kind::Integer => (!is_integer(text)).then(of_another_type).flatten(),
        Kind::Natural if !is_integer(text) => of_another_type(),
        Kind::Natural => text
            .starts_with('-')
            .then(|| "value must have a minimum value of 0".to_owned()),
        Kind::Vmid if !is_integer(text) => of_another_type(),
        Kind::Vmid => {
            let fits = |number: u32| (VMID_MIN..=VMID_MAX).contains(&number);
            let is_vmid = !text.starts_with(['0', '+']) && text.parse().is_ok_and(fits);
            (!is_vmid)
                .then(|| "invalid format - value does not look like a valid VM ID\n".to_owned())
        }
        Kind::Node => (!is_node_name(text))
            .then(|| "invalid format - value does not look like a valid node name\n".to_owned()),
        Kind::OneOf(words) => (!words.contains(&text.as_str())).then(|| {
            let words = words.join(", ");
            format!("value '{text}' does not have a value in the enumeration '{words}'")
        }),
    }
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

pub(crate) fn is_node_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && !text.ends_with('-')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// `%2F` and the like replaced; anything else, also a broken escape, stays.
pub(crate) fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = after.get(..2).and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            let all_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            u8::from_str_radix(digits, 16).ok().filter(|_| all_hex)
        });
        match escaped.filter(|_| first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
