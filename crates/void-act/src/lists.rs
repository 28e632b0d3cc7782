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
use crate::params::{self, ParamSpec, ParamValue, Params};
use crate::tickets::is_digest;

pub const LIST_VERSION: u32 = 1;
pub(crate) const LIST_BYTES_MAX: u64 = 1 << 20;
const ENTRIES_MAX: usize = 1000;
const ARGV_MAX: usize = 256;
const ENV_MAX: usize = 64;
const ENV_NAME_BYTES_MAX: usize = 64;
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
    /// The cooldown of whoever comes without a ticket, where `cooldown_s` says none. Runs by ticket count, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bare_cooldown_s: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_per_hour: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_per_day: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<u32>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, ParamSpec>,
    /// Variables of the command beside PATH, each the whole of a text, a parameter or a record.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, Arg>,
    /// What tells, before this runs, what it would be rolled back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordSpec>,
    /// What tells, after this has run, how many copies run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<CountSpec>,
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
    Recorded(RecordedRef),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParamRef {
    pub param: String,
}

/// What the named entry recorded before it last ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedRef {
    pub recorded: ActionId,
}

/// A command that only looks. It prints one line that fits `pattern`, or nothing when nothing runs yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordSpec {
    pub argv: Vec<String>,
    pub pattern: String,
    pub max_len: usize,
}

/// A command that only looks. It prints how many copies run, as one number, which should become that of the
/// parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountSpec {
    pub argv: Vec<String>,
    pub param: String,
}

impl CountSpec {
    fn finding(&self, params: &BTreeMap<String, ParamSpec>) -> Option<&'static str> {
        if !matches!(params.get(&self.param), Some(ParamSpec::Integer { .. })) {
            return Some("param is no declared parameter that is a number");
        }
        looking_finding(&self.argv)
    }

    /// The number of an output, plainly written; `None` when it is anything else.
    pub(crate) fn read(output: &str) -> Option<u32> {
        let line = output.trim_end_matches(['\n', '\r']).trim_matches(' ');
        let plain = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| line.parse().ok())?
    }
}

/// What is wrong with the argv of a command that only looks.
fn looking_finding(argv: &[String]) -> Option<&'static str> {
    let program = argv.first().is_some_and(|path| path.starts_with('/'));
    let plain = argv.iter().all(|text| !text.contains('\0'));
    let sound = program && plain && argv.len() <= ARGV_MAX;
    (!sound).then_some("argv begins with an absolute path and has no NUL and at most 256 elements")
}

impl RecordSpec {
    fn line(&self) -> ParamSpec {
        ParamSpec::Pattern {
            pattern: self.pattern.clone(),
            max_len: self.max_len,
        }
    }

    fn finding(&self) -> Option<&'static str> {
        looking_finding(&self.argv).or_else(|| self.line().finding())
    }

    /// The line of an output, `None` when there is none; an error when it is not what was promised.
    pub(crate) fn read(&self, output: &str) -> Result<Option<String>, Refusal> {
        let line = output.trim_end_matches(['\n', '\r']);
        if line.is_empty() {
            return Ok(None);
        }
        if !self.line().accepts(&ParamValue::Text(line.to_owned())) {
            let text = "what runs now does not look as the list says, so it cannot be recorded";
            return Err(Refusal::new(Reason::RecordFailed, text));
        }
        Ok(Some(line.to_owned()))
    }
}

/// What is started: an argv and its variables, with nothing left to fill in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Invocation {
    pub(crate) argv: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
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
            for of in entry.reads_records_of() {
                let recording = self.entry(of).is_some_and(|other| other.record.is_some());
                if !recording {
                    findings.push(format!("{id}: {of} is no entry that records anything"));
                }
            }
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
            Arg::Recorded(_) => true,
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
                self.env.len() <= ENV_MAX && self.env.keys().all(|name| is_variable(name)),
                "env has more than 64 names, or one that is not of A-Z, 0-9 and _, or that changes how programs load",
            ),
            (
                self.env.values().all(element),
                "env has a NUL or an undeclared parameter",
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
                within(self.bare_cooldown_s, COOLDOWN_S_MAX),
                "bare_cooldown_s is not 1 to 31622400",
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
        findings.extend(
            self.record
                .as_ref()
                .and_then(RecordSpec::finding)
                .map(|text| format!("record: {text}")),
        );
        findings.extend(
            self.count
                .as_ref()
                .and_then(|count| count.finding(&self.params))
                .map(|text| format!("count: {text}")),
        );
        findings
    }

    /// Whether its starts are counted in a file of their own: something holds it back, or asks later what it recorded.
    pub(crate) fn is_counted(&self) -> bool {
        self.cooldown_s.is_some()
            || self.bare_cooldown_s.is_some()
            || self.starts_max() > 0
            || self.record.is_some()
    }

    /// Whether all that is held back is who comes without a ticket.
    pub(crate) fn counts_for_bare_only(&self) -> bool {
        self.cooldown_s.is_none() && self.starts_max() == 0 && self.record.is_none()
    }

    /// How many starts of a day the caps ask about at most.
    pub(crate) fn starts_max(&self) -> usize {
        let most = self.max_per_hour.max(self.max_per_day).unwrap_or(0);
        usize::try_from(most).unwrap_or(usize::MAX)
    }

    pub(crate) fn reads_records_of(&self) -> impl Iterator<Item = &ActionId> {
        let args = self.argv.iter().chain(self.env.values());
        args.filter_map(|arg| match arg {
            Arg::Recorded(RecordedRef { recorded }) => Some(recorded),
            Arg::Fixed(_) | Arg::Param(_) => None,
        })
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_s.unwrap_or(TIMEOUT_S_DEFAULT).into())
    }

    /// What to run: each parameter and each record as one whole element or value.
    pub(crate) fn invocation(
        &self,
        given: &Params,
        recorded: impl Fn(&ActionId) -> Option<String>,
    ) -> Result<Invocation, Refusal> {
        let bad = |text: String| Refusal::new(Reason::BadParams, text);
        params::check(&self.params, given).map_err(bad)?;
        let element = |arg: &Arg| match arg {
            Arg::Fixed(text) => Ok(text.clone()),
            Arg::Param(ParamRef { param }) => given
                .get(param)
                .map(ToString::to_string)
                .ok_or_else(|| bad(format!("parameter {param} is missing"))),
            Arg::Recorded(RecordedRef { recorded: of }) => recorded(of).ok_or_else(|| {
                let text = format!("{of} recorded nothing that could be returned to");
                Refusal::new(Reason::NothingToReturnTo, text)
            }),
        };
        let env = self.env.iter();
        Ok(Invocation {
            argv: self.argv.iter().map(element).collect::<Result<_, _>>()?,
            env: env
                .map(|(name, arg)| Ok((name.clone(), element(arg)?)))
                .collect::<Result<_, Refusal>>()?,
        })
    }
}

/// A variable that a program reads as data. What changes how programs are found or loaded is not for lists.
fn is_variable(name: &str) -> bool {
    let loads = name == "PATH" || name == "IFS" || name.starts_with("LD_");
    (1..=ENV_NAME_BYTES_MAX).contains(&name.len())
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
        && !loads
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
