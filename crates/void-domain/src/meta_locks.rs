//! `meta/lock.json`: which commit of its config each agent has applied, and which commits of sources outside are pinned.
//! The file is the server's; what is in it counts once it is committed.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::agent_configs::CommitId;
use crate::agents::{AGENTS_MAX, AgentName};
use crate::ids::is_slug;

pub const INPUTS_MAX: usize = 32;
pub const URL_BYTES_MAX: usize = 512;

/// What a pinned source is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputKind {
    PersonaPack,
    ToolPack,
    CatalogueSource,
}

impl InputKind {
    pub const ALL: [Self; 3] = [Self::PersonaPack, Self::ToolPack, Self::CatalogueSource];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PersonaPack => "persona_pack",
            Self::ToolPack => "tool_pack",
            Self::CatalogueSource => "catalogue_source",
        }
    }
}

/// A git source and the one commit of it that counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinnedInput {
    pub kind: InputKind,
    pub url: InputUrl,
    pub commit: CommitId,
}

/// From where sources may come, as the owner set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputSchemes {
    /// `https` and `ssh`.
    Remote,
    /// Files of this machine too.
    AndFiles,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidInputUrl {
    #[error(
        "must be https://HOST/PATH or ssh://[USER@]HOST/PATH, of letters, digits and -._~/:@, of at most {URL_BYTES_MAX} bytes"
    )]
    Form,
    #[error("must not name a user: an https address with one would carry a secret")]
    User,
    #[error("files of this machine are no source here")]
    FilesOff,
}

/// Where a source is, in one of three forms that git cannot take for anything else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InputUrl(String);

impl InputUrl {
    pub fn parse(text: &str) -> Result<Self, InvalidInputUrl> {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._~/:@".contains(letter);
        let is_short = text.len() <= URL_BYTES_MAX && text.chars().all(is_plain);
        let (scheme, rest) = text.split_once("://").ok_or(InvalidInputUrl::Form)?;
        if !is_short || rest.contains("//") || rest.split('/').any(|part| part == "..") {
            return Err(InvalidInputUrl::Form);
        }
        let (host, path) = rest.split_once('/').ok_or(InvalidInputUrl::Form)?;
        let fits = match scheme {
            "https" if host.contains('@') => return Err(InvalidInputUrl::User),
            "https" => is_host(host),
            "ssh" => match host.split_once('@') {
                Some((user, host)) => is_word(user) && is_host(host),
                None => is_host(host),
            },
            "file" => host.is_empty(),
            _ => false,
        };
        match fits && !path.is_empty() && !path.contains(['@', ':']) {
            true => Ok(Self(text.to_owned())),
            false => Err(InvalidInputUrl::Form),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the owner lets sources come from there.
    pub fn check(&self, schemes: InputSchemes) -> Result<(), InvalidInputUrl> {
        match (schemes, self.0.starts_with("file:")) {
            (InputSchemes::Remote, true) => Err(InvalidInputUrl::FilesOff),
            (InputSchemes::Remote, false) | (InputSchemes::AndFiles, _) => Ok(()),
        }
    }
}

/// Nothing that a program could take for an option.
fn is_word(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
    text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.chars().all(is_plain)
}

fn is_host(text: &str) -> bool {
    match text.split_once(':') {
        Some((host, port)) => is_word(host) && port.parse::<u16>().is_ok_and(|port| port > 0),
        None => is_word(text),
    }
}

impl TryFrom<String> for InputUrl {
    type Error = InvalidInputUrl;

    fn try_from(text: String) -> Result<Self, InvalidInputUrl> {
        Self::parse(&text)
    }
}

impl From<InputUrl> for String {
    fn from(url: InputUrl) -> Self {
        url.0
    }
}

pub type PinnedInputs = BTreeMap<String, PinnedInput>;

/// The whole file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MetaLock {
    /// The commit of its config that each agent has applied.
    pub agents: BTreeMap<AgentName, CommitId>,
    pub inputs: PinnedInputs,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMetaLock {
    #[error("it is no lock file: {0}")]
    Form(String),
    #[error("{0} is no name")]
    Name(String),
    #[error("there is too much in it")]
    TooMany,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LockFile {
    agents: BTreeMap<String, CommitId>,
    inputs: PinnedInputs,
}

impl MetaLock {
    pub fn parse(text: &str) -> Result<Self, InvalidMetaLock> {
        let file: LockFile = serde_json::from_str(text).map_err(|error| {
            let said = crate::text::without_rust_words(&error.to_string());
            InvalidMetaLock::Form(crate::text::escaped(crate::text::cut(&said, 200)))
        })?;
        let agents_max = usize::try_from(AGENTS_MAX).unwrap_or(usize::MAX);
        if file.inputs.len() > INPUTS_MAX || file.agents.len() > agents_max {
            return Err(InvalidMetaLock::TooMany);
        }
        let wrong = |name: &str| {
            let told = crate::text::cut(name, URL_BYTES_MAX);
            InvalidMetaLock::Name(crate::text::value_in_quotes(told))
        };
        if let Some(name) = file.inputs.keys().find(|name| !is_slug(name)) {
            return Err(wrong(name));
        }
        let mut agents = BTreeMap::new();
        for (name, commit) in file.agents {
            let known = name.parse::<AgentName>().map_err(|_| wrong(&name))?;
            agents.insert(known, commit);
        }
        Ok(Self {
            agents,
            inputs: file.inputs,
        })
    }

    /// One entry a line, in order, so that a difference of it is read easily.
    pub fn to_json(&self) -> String {
        let file = LockFile {
            agents: (self.agents.iter())
                .map(|(name, commit)| (name.to_string(), commit.clone()))
                .collect(),
            inputs: self.inputs.clone(),
        };
        let text = serde_json::to_string_pretty(&file).unwrap_or_default();
        format!("{text}\n")
    }
}

/// The inputs alone, as they are written.
pub fn written_inputs(inputs: &PinnedInputs) -> String {
    let text = serde_json::to_string_pretty(inputs).unwrap_or_default();
    format!("{text}\n")
}
