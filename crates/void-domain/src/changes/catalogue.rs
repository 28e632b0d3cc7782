//! A patch of the catalogue: from what somebody sent to a [`Change`], and what it means in words.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;

use super::{Change, ChangeEffect, ChangeOp, ChangeTarget};
use crate::cards;
use crate::catalogue::{Action, Catalogue, Lockout, Problem, Risk, Tier};
use crate::diffs::{self, InvalidPatch, PatchedFile, TooDifferent};
use crate::digests::Digest;
use crate::instances::InstanceName;
use crate::limits::{CATALOGUE_BYTES_MAX, CHANGE_PATCH_BYTES_MAX};
use crate::text;

/// What Void calls the thing that is changed.
pub const ENTITY: &str = "catalogue";

/// What somebody sends instead of the file that is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// A unified diff against it.
    Patch(String),
    /// The whole new file.
    File(String),
}

/// Why no proposal is made of it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidCatalogueChange {
    #[error("the patch cannot be applied to the loaded catalogue: {0}{way}", way = way_out(.0))]
    Patch(#[from] InvalidPatch),
    #[error("it changes nothing: the file would be the same")]
    Same,
    #[error("the new catalogue would be refused as a whole")]
    Refused(Vec<Problem>),
    #[error("the new catalogue would be larger than {CATALOGUE_BYTES_MAX} bytes")]
    FileTooLarge,
    #[error("what changes is more than {CHANGE_PATCH_BYTES_MAX} bytes; propose it in parts")]
    PatchTooLarge,
    #[error("its lines end in ways that a diff cannot say; end them with a line feed alone")]
    Unpatchable,
    #[error(transparent)]
    TooDifferent(#[from] TooDifferent),
}

/// The file as it was loaded. `None`: there was none.
#[derive(Debug, Clone, Copy)]
pub struct Base<'a> {
    pub text: Option<&'a str>,
    pub catalogue: &'a Catalogue,
    /// The whole paths that lead to it; a patch that names another file is for something else.
    pub paths: &'a [PathBuf],
}

fn way_out(wrong: &InvalidPatch) -> &'static str {
    match wrong {
        InvalidPatch::AnotherFile { .. } => {
            "; name the catalogue on both sides (diff -u --label actions.json --label actions.json), or send the whole file"
        }
        _ => "",
    }
}

/// Whether what was sent is larger than a change may be, told without reading it.
pub fn check_size(base: Option<&str>, sent: &Sent) -> Result<(), InvalidCatalogueChange> {
    match sent {
        Sent::Patch(patch) if patch.len() > CHANGE_PATCH_BYTES_MAX => {
            Err(InvalidCatalogueChange::PatchTooLarge)
        }
        Sent::File(file) if file.len() > CATALOGUE_BYTES_MAX => {
            Err(InvalidCatalogueChange::FileTooLarge)
        }
        // A diff holds at least what one file is longer than the other.
        Sent::File(file)
            if file.len().abs_diff(base.unwrap_or_default().len()) > CHANGE_PATCH_BYTES_MAX =>
        {
            Err(InvalidCatalogueChange::PatchTooLarge)
        }
        Sent::Patch(_) | Sent::File(_) => Ok(()),
    }
}

/// Makes a change of what was sent, if the catalogue that comes out of it would be taken. Sizes are looked at before
/// anything is read: whoever may suggest may send what takes long to read.
pub fn change(
    base: Base<'_>,
    sent: &Sent,
    lockout: &Lockout,
    instance: &InstanceName,
    effect: ChangeEffect,
) -> Result<Change, InvalidCatalogueChange> {
    check_size(base.text, sent)?;
    let old = base.text.unwrap_or_default();
    let new = match sent {
        Sent::File(text) => text.clone(),
        Sent::Patch(patch) => {
            let file = PatchedFile {
                paths: base.paths,
                is_new: base.text.is_none(),
            };
            diffs::apply_to(file, old, patch)?
        }
    };
    if new.len() > CATALOGUE_BYTES_MAX {
        return Err(InvalidCatalogueChange::FileTooLarge);
    }
    if new == old {
        return Err(InvalidCatalogueChange::Same);
    }
    let patch = diffs::unified(old, &new)?;
    if patch.len() > CHANGE_PATCH_BYTES_MAX {
        return Err(InvalidCatalogueChange::PatchTooLarge);
    }
    let catalogue = Catalogue::parse(&new, lockout).map_err(InvalidCatalogueChange::Refused)?;
    let change = Change {
        target: ChangeTarget::Catalogue,
        entity: ENTITY.to_owned(),
        entity_id: Some(instance.to_string()),
        op: match base.text {
            None => ChangeOp::Create,
            Some(_) => ChangeOp::Update,
        },
        base: base
            .text
            .map(|text| Digest::of(text.as_bytes()).to_string()),
        patch,
        result: Digest::of(new.as_bytes()),
        summary: summary(base.catalogue, &catalogue),
        effect,
        about: None,
    };
    // Lines may end in ways that a diff cannot say.
    match new_text(&change, base.text).as_ref() == Some(&new) {
        true => Ok(change),
        false => Err(InvalidCatalogueChange::Unpatchable),
    }
}

/// The new file, if the base is the one that the change was made against.
pub fn new_text(change: &Change, base: Option<&str>) -> Option<String> {
    let digest = base.map(|text| Digest::of(text.as_bytes()).to_string());
    if change.target != ChangeTarget::Catalogue || digest != change.base {
        return None;
    }
    let new = diffs::apply(base.unwrap_or_default(), &change.patch).ok()?;
    (Digest::of(new.as_bytes()) == change.result).then_some(new)
}

/// What may run afterwards that may not now, and the other way round. What runs without a yes and what changes in
/// what is there comes first, so that nothing new can stand before it. Made of ids and typed values alone: words of
/// the patch are in the patch.
fn summary(old: &Catalogue, new: &Catalogue) -> Vec<String> {
    let (mut widens, mut others, mut added) = (Vec::new(), Vec::new(), Vec::new());
    for action in new.actions() {
        let id = text::escaped(action.id.as_str());
        match old.get(&action.id) {
            None => {
                let does = cards::does(&action.execution);
                let line = format!("new: {id} ({}), {does}", grade(action));
                match action.tier {
                    Tier::Safe => {
                        widens.push(format!("{line}; it runs at once when an agent asks"));
                    }
                    Tier::Risky => added.push(line),
                }
            }
            Some(before) => {
                if grade(before) != grade(action) {
                    let line = format!("{id}: {} becomes {}", grade(before), grade(action));
                    let is_lower = (action.tier, action.risk) < (before.tier, before.risk);
                    let lines = if is_lower { &mut widens } else { &mut others };
                    lines.push(line);
                }
                for (name, line) in differences(before, action) {
                    let lines = match name.as_str() {
                        "label" | "inverse" | "expires_s" => &mut added,
                        _ => &mut others,
                    };
                    lines.push(format!("{id}: {line}"));
                }
            }
        }
    }
    let gone = old.actions().filter(|action| new.get(&action.id).is_none());
    others.extend(gone.map(|action| format!("gone: {}", text::escaped(action.id.as_str()))));
    others.extend(hosts(old, new));
    widens.append(&mut others);
    widens.append(&mut added);
    if widens.is_empty() {
        widens.push("nothing that may run changes: only how the file is written".to_owned());
    }
    widens
}

const fn grade(action: &Action) -> &'static str {
    match (action.tier, action.risk) {
        (_, Risk::Critical) => "critical",
        (Tier::Risky, _) => "risky",
        (Tier::Safe, _) => "safe",
    }
}

/// What is another in an action that stays, beside its grade.
fn differences(before: &Action, after: &Action) -> impl Iterator<Item = (String, String)> {
    let (old, new) = (members(before.definition()), members(after.definition()));
    let names: BTreeSet<String> = old.keys().chain(new.keys()).cloned().collect();
    let names = names
        .into_iter()
        .filter(|name| !matches!(name.as_str(), "tier" | "risk"));
    names.filter_map(move |name| {
        let (was, is) = (old.get(&name), new.get(&name));
        let pair = was.zip(is);
        let is_alike = pair.is_some_and(|(was, is)| text::look_alike(was, is));
        let shown = |value: Option<&String>| match (value, name.as_str()) {
            (None, "agents") => "every agent that may act".to_owned(),
            (None, _) => "nothing".to_owned(),
            (Some(value), _) if is_alike => text::spelled_out_in_quotes(value),
            (Some(value), _) => cards::quoted(value.clone()),
        };
        let note = if is_alike {
            " (they look the same)"
        } else {
            ""
        };
        let line = format!("{name} was {}, is {}{note}", shown(was), shown(is));
        (was != is).then_some((name, line))
    })
}

fn members(definition: &Value) -> BTreeMap<String, String> {
    let mut leaves = Vec::new();
    cards::walk("", definition, &mut leaves);
    let name = |path: String| path.strip_prefix("action.").unwrap_or(&path).to_owned();
    leaves
        .into_iter()
        .map(|(path, value)| (name(path), value))
        .collect()
}

fn hosts(old: &Catalogue, new: &Catalogue) -> Vec<String> {
    let mut lines = Vec::new();
    for host in new.hosts() {
        match old.host(&host.name) {
            None => lines.push(format!(
                "new host: {}; the lines below say where it is",
                host.name
            )),
            Some(before) if before != host => {
                lines.push(format!("host {}: reached in another way", host.name));
            }
            Some(_) => {}
        }
    }
    let gone = old.hosts().filter(|host| new.host(&host.name).is_none());
    lines.extend(gone.map(|host| format!("host gone: {}", host.name)));
    lines
}
