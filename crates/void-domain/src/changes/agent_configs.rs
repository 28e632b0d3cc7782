//! A commit of an agent's config as a [`Change`]: which one, instead of which one, and what it means in words. The digest
//! binds the commit, the one that is applied now, and the bytes of every file that comes out.

use std::collections::BTreeSet;

use super::{Change, ChangeEffect, ChangeOp, ChangeTarget, Deploy};
use crate::agent_configs::{
    AgentConfig, CONFIG_FILE, CommitId, ConfigCeiling, ConfigExcess, ConfigFiles, FilesDiff,
    InvalidAgentConfig, InvalidConfigFile, differences, excesses, introduction,
};
use crate::agents::AgentName;
use crate::diffs::TooDifferent;
use crate::instances::InstanceName;
use crate::limits::CHANGE_PATCH_BYTES_MAX;

/// What Void calls the thing that is changed.
pub const ENTITY: &str = "agent_config";

/// Whose config it is, and where.
#[derive(Debug, Clone, Copy)]
pub struct ConfigPlace<'a> {
    pub instance: &'a InstanceName,
    pub agent: &'a AgentName,
    pub ceiling: &'a ConfigCeiling,
}

/// A commit with its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigCommit {
    pub id: CommitId,
    pub files: ConfigFiles,
}

/// Why no proposal is made of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidConfigChange {
    #[error("{CONFIG_FILE}: {0}")]
    Config(#[from] InvalidAgentConfig),
    #[error(transparent)]
    Files(#[from] InvalidConfigFile),
    #[error("it is more than {} has: {}", .parent, listed(.excesses))]
    Exceeds {
        parent: AgentName,
        excesses: Vec<ConfigExcess>,
    },
    #[error("that commit is applied already")]
    Same,
    #[error("what differs is more than {} KiB, which no card shows whole; apply it in parts", CHANGE_PATCH_BYTES_MAX / 1024)]
    TooLarge,
    #[error(transparent)]
    TooDifferent(#[from] TooDifferent),
}

/// So many excesses are told one by one.
const EXCESSES_TOLD_MAX: usize = 20;

fn listed(excesses: &[ConfigExcess]) -> String {
    let told = excesses.iter().take(EXCESSES_TOLD_MAX);
    let mut told: Vec<String> = told.map(ToString::to_string).collect();
    if excesses.len() > EXCESSES_TOLD_MAX {
        told.push(format!("and {} more", excesses.len() - EXCESSES_TOLD_MAX));
    }
    told.join("; ")
}

/// The config of a commit, if the parent has all that it wants.
pub fn judged(
    files: &ConfigFiles,
    ceiling: &ConfigCeiling,
) -> Result<AgentConfig, InvalidConfigChange> {
    let config = AgentConfig::parse(files.config())?;
    let excesses = excesses(&config, ceiling);
    match excesses.is_empty() {
        true => Ok(config),
        false => Err(InvalidConfigChange::Exceeds {
            parent: ceiling.parent.clone(),
            excesses,
        }),
    }
}

/// A new agent below its parent, with a first commit of this config alone.
pub fn init(place: ConfigPlace<'_>, text: &str) -> Result<Change, InvalidConfigChange> {
    let files = ConfigFiles::of_config(text)?;
    let config = judged(&files, place.ceiling)?;
    let (agent, parent) = (place.agent, &place.ceiling.parent);
    let mut summary = vec![format!("makes the agent {agent} below {parent}")];
    summary.extend(introduction(&config));
    Ok(Change {
        op: ChangeOp::Create,
        base: None,
        patch: shown(&ConfigFiles::none(), &files)?.text,
        ..change(place, &files, summary, None)
    })
}

/// A commit of its repository instead of the one that is applied now.
pub fn apply(
    place: ConfigPlace<'_>,
    from: Option<&ConfigCommit>,
    to: &ConfigCommit,
) -> Result<Change, InvalidConfigChange> {
    if from.is_some_and(|from| from.id == to.id) {
        return Err(InvalidConfigChange::Same);
    }
    let config = judged(&to.files, place.ceiling)?;
    let none = ConfigFiles::none();
    let old = from.map_or(&none, |from| &from.files);
    let diff = shown(old, &to.files)?;
    let instead = match from {
        Some(from) => format!("instead of {}", from.id.short()),
        None => "as its first".to_owned(),
    };
    let (agent, parent) = (place.agent, &place.ceiling.parent);
    let mut summary = vec![format!(
        "{agent}, below {parent}: applies the commit {} {instead}",
        to.id.short()
    )];
    // What was applied before was read when it was; if it cannot be read any more, all of the new one is told.
    let before = from.and_then(|from| AgentConfig::parse(from.files.config()).ok());
    match before.map(|before| differences(&before, &config)) {
        Some(lines) if lines.is_empty() => {
            summary.push("nothing that it may or has changes".to_owned());
        }
        Some(lines) => summary.extend(lines),
        None => summary.extend(introduction(&config)),
    }
    summary.extend(counted(&diff, old, &to.files));
    Ok(Change {
        op: ChangeOp::Update,
        base: from.map(|from| from.id.to_string()),
        patch: diff.text,
        ..change(place, &to.files, summary, Some(to.id.clone()))
    })
}

fn shown(old: &ConfigFiles, new: &ConfigFiles) -> Result<FilesDiff, InvalidConfigChange> {
    old.diff_to(new)?.ok_or(InvalidConfigChange::TooLarge)
}

/// How much of the text changes, so that nobody takes a part for all of it, and which files beside the config.
fn counted(diff: &FilesDiff, old: &ConfigFiles, new: &ConfigFiles) -> Vec<String> {
    let count = |count: usize, one: &str| match count {
        1 => format!("1 {one}"),
        many => format!("{many} {one}s"),
    };
    let mut lines = vec![format!(
        "{} of text added, {} gone, in {}; all of it is in the difference",
        count(diff.added, "line"),
        count(diff.removed, "line"),
        count(diff.files, "file"),
    )];
    let pairs = |files: &ConfigFiles| -> BTreeSet<(String, String)> {
        let all = files.iter().filter(|(path, _)| *path != CONFIG_FILE);
        all.map(|(path, text)| (path.to_owned(), text.to_owned()))
            .collect()
    };
    let (old, new) = (pairs(old), pairs(new));
    let others: BTreeSet<&str> = old
        .symmetric_difference(&new)
        .map(|(path, _)| path.as_str())
        .collect();
    if !others.is_empty() {
        let names: Vec<&str> = others.into_iter().collect();
        lines.push(format!("beside {CONFIG_FILE}: {}", names.join(", ")));
    }
    lines
}

fn change(
    place: ConfigPlace<'_>,
    files: &ConfigFiles,
    summary: Vec<String>,
    commit: Option<CommitId>,
) -> Change {
    Change {
        target: ChangeTarget::AgentConfig,
        entity: ENTITY.to_owned(),
        entity_id: Some(place.agent.to_string()),
        op: ChangeOp::Update,
        base: None,
        patch: String::new(),
        result: files.digest(),
        summary,
        effect: ChangeEffect::Deployed,
        about: None,
        deploy: Some(Deploy {
            instance: place.instance.to_string(),
            parent: Some(place.ceiling.parent.clone()),
            commit,
        }),
    }
}

/// Whose config a change is about. `None`: it is about something else, or was edited.
pub fn agent_of(change: &Change) -> Option<AgentName> {
    let is_config = change.target == ChangeTarget::AgentConfig && change.entity == ENTITY;
    let id = change.entity_id.as_ref().filter(|_| is_config)?;
    id.parse().ok()
}

/// The text of the config that somebody new would have: it has no base, so all of it is in the patch.
pub fn first_text(change: &Change) -> Option<String> {
    let is_new = change.op == ChangeOp::Create && change.target == ChangeTarget::AgentConfig;
    let head = format!("new file {CONFIG_FILE}\n");
    let patch = change.patch.strip_prefix(&head).filter(|_| is_new)?;
    let text = crate::diffs::apply("", patch).ok()?;
    let files = ConfigFiles::of_config(&text).ok()?;
    (files.digest() == change.result).then_some(text)
}
