//! The host's own list: which ids exist here, the argv of each, and the brakes on it.
//!
//! The file is the only place from which an argv ever comes. [`List::parse`] takes it whole or not at all: one bad
//! entry refuses the list, because a list that is half understood is not the list that root wrote.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::answers::{Reason, Refusal};
use crate::commands::ActionId;
use crate::files::{self, Trust};
use crate::json;
use crate::params::{self, ParamSpec, Params};
use crate::tickets::is_digest;

pub const LIST_VERSION: u32 = 1;
pub(crate) const LIST_BYTES_MAX: u64 = 1 << 20;
const ENTRIES_MAX: usize = 1000;
const ARGV_MAX: usize = 256;
const HOST_BYTES_MAX: usize = 255;
const COOLDOWN_S_MAX: u32 = 366 * 24 * 3600;
const TIMEOUT_S_DEFAULT: u32 = 120;
const TIMEOUT_S_MAX: u32 = 3600;

/// `/etc/void-act/list.json`. `void provision` writes it with this type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    pub version: u32,
    pub host: String,
    /// While anything exists at this path, nothing runs.
    pub stop_file: PathBuf,
    pub entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub id: ActionId,
    pub argv: Vec<Arg>,
    pub tier: Tier,
    /// The `exec_digest` of the definition that this entry was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub def: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cooldown_s: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_per_hour: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_per_day: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<u32>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, ParamSpec>,
    /// Needs the owner's signature, which nothing here can check yet: always refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub signed: bool,
}

/// One element of an argv: fixed text, or the whole value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Arg {
    Fixed(String),
    Param(ParamRef),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParamRef {
    pub param: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    Safe,
    Risky,
}

impl List {
    /// # Errors
    /// Everything that is wrong with it, one sentence each.
    pub fn parse(bytes: &[u8]) -> Result<Self, Vec<String>> {
        let list: Self = json::object(bytes).map_err(|error| vec![error.to_string()])?;
        let findings = list.findings();
        if findings.is_empty() {
            Ok(list)
        } else {
            Err(findings)
        }
    }

    /// What keeps this list from being used; empty when it is sound.
    pub fn findings(&self) -> Vec<String> {
        let host = (1..=HOST_BYTES_MAX).contains(&self.host.len());
        let plain_host = host && !self.host.chars().any(char::is_control);
        let mut findings = broken(&[
            (self.version == LIST_VERSION, "version is not 1"),
            (
                plain_host,
                "host is empty, too long or has control characters",
            ),
            (
                self.stop_file.is_absolute(),
                "stop_file is not an absolute path",
            ),
            (
                self.entries.len() <= ENTRIES_MAX,
                "there are more than 1000 entries",
            ),
        ]);
        let mut ids = HashSet::new();
        for entry in &self.entries {
            let id = &entry.id;
            if !ids.insert(id) {
                findings.push(format!("{id}: the id is there twice"));
            }
            findings.extend(entry.findings().iter().map(|text| format!("{id}: {text}")));
        }
        findings
    }

    pub(crate) fn entry(&self, id: &ActionId) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == *id)
    }
}

impl Entry {
    fn findings(&self) -> Vec<String> {
        let program = matches!(self.argv.first(), Some(Arg::Fixed(path)) if path.starts_with('/'));
        let element = |arg: &Arg| match arg {
            Arg::Fixed(text) => !text.contains('\0'),
            Arg::Param(ParamRef { param }) => self.params.contains_key(param),
        };
        let within = |value: Option<u32>, max| value.is_none_or(|value| (1..=max).contains(&value));
        let mut findings = broken(&[
            (
                !self.id.is_reserved(),
                "ids that begin with void- are reserved",
            ),
            (program, "argv does not begin with an absolute path"),
            (
                self.argv.len() <= ARGV_MAX,
                "argv has more than 256 elements",
            ),
            (
                self.argv.iter().all(element),
                "argv has a NUL or an undeclared parameter",
            ),
            (
                self.def.as_deref().is_none_or(is_digest),
                "def is not a lower-case SHA-256",
            ),
            (
                within(self.cooldown_s, COOLDOWN_S_MAX),
                "cooldown_s is not 1 to 31622400",
            ),
            (
                within(self.timeout_s, TIMEOUT_S_MAX),
                "timeout_s is not 1 to 3600",
            ),
        ]);
        for (name, spec) in &self.params {
            if !params::is_name(name) {
                findings.push("a parameter's name is not of letters, digits, _ and -".to_owned());
            }
            findings.extend(
                spec.finding()
                    .map(|text| format!("parameter {name}: {text}")),
            );
        }
        findings
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_s.unwrap_or(TIMEOUT_S_DEFAULT).into())
    }

    /// The argv to run, each parameter as one whole element.
    pub(crate) fn argv_with(&self, given: &Params) -> Result<Vec<String>, Refusal> {
        let bad = |text: String| Refusal::new(Reason::BadParams, text);
        params::check(&self.params, given).map_err(bad)?;
        let element = |arg: &Arg| match arg {
            Arg::Fixed(text) => Ok(text.clone()),
            Arg::Param(ParamRef { param }) => given
                .get(param)
                .map(ToString::to_string)
                .ok_or_else(|| bad(format!("parameter {param} is missing"))),
        };
        self.argv.iter().map(element).collect()
    }
}

fn broken(rules: &[(bool, &str)]) -> Vec<String> {
    let broken = rules.iter().filter(|(holds, _)| !holds);
    broken.map(|(_, text)| (*text).to_owned()).collect()
}

/// The list as read: the digest of its bytes when they could be trusted, and the list when it is sound.
pub(crate) struct Loaded {
    pub(crate) digest: Option<String>,
    pub(crate) list: Result<List, Vec<String>>,
}

pub(crate) fn load(path: &Path, trust: Trust) -> Loaded {
    match files::read_trusted(path, trust, LIST_BYTES_MAX) {
        Ok(bytes) => Loaded {
            digest: Some(files::sha256_hex(&bytes)),
            list: List::parse(&bytes),
        },
        Err(error) => Loaded {
            digest: None,
            list: Err(vec![format!("{}: {error}", path.display())]),
        },
    }
}

#[cfg(test)]
mod tests;
