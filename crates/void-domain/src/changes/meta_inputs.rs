//! Other commits of pinned sources as a [`Change`]: from which commit to which, of which address.

use super::{Change, ChangeEffect, ChangeOp, ChangeTarget, Deploy};
use crate::diffs::{self, TooDifferent};
use crate::digests::Digest;
use crate::ids::is_slug;
use crate::instances::InstanceName;
use crate::limits::CHANGE_PATCH_BYTES_MAX;
use crate::meta_locks::{
    INPUTS_MAX, InputSchemes, InvalidInputUrl, PinnedInput, PinnedInputs, written_inputs,
};

/// What Void calls the thing that is changed.
pub const ENTITY: &str = "meta_inputs";

/// Why no proposal is made of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidInputsChange {
    #[error("the name of an input is 1 to 64 of a-z, 0-9 and -")]
    Name,
    #[error("{0}: its address {1}")]
    Url(String, InvalidInputUrl),
    #[error("there is no input {0}")]
    Unknown(String),
    #[error("there are more than {INPUTS_MAX} inputs")]
    TooMany,
    #[error("it changes nothing")]
    Same,
    #[error("what differs is more than {CHANGE_PATCH_BYTES_MAX} bytes")]
    TooLarge,
    #[error(transparent)]
    TooDifferent(#[from] TooDifferent),
}

/// What somebody wants of the pinned inputs: each as it shall be; `None`: it goes.
pub type WantedInputs = Vec<(String, Option<PinnedInput>)>;

pub fn change(
    instance: &InstanceName,
    old: &PinnedInputs,
    wanted: &WantedInputs,
    schemes: InputSchemes,
) -> Result<Change, InvalidInputsChange> {
    let mut new = old.clone();
    for (name, input) in wanted {
        if !is_slug(name) {
            return Err(InvalidInputsChange::Name);
        }
        match input {
            Some(input) => {
                let checked = input.url.check(schemes);
                checked.map_err(|wrong| InvalidInputsChange::Url(name.clone(), wrong))?;
                new.insert(name.clone(), input.clone());
            }
            None => {
                let gone = new.remove(name);
                gone.ok_or_else(|| InvalidInputsChange::Unknown(name.clone()))?;
            }
        }
    }
    if new.len() > INPUTS_MAX {
        return Err(InvalidInputsChange::TooMany);
    }
    if new == *old {
        return Err(InvalidInputsChange::Same);
    }
    let (before, after) = (written_inputs(old), written_inputs(&new));
    let patch = diffs::unified(&before, &after)?;
    if patch.len() > CHANGE_PATCH_BYTES_MAX {
        return Err(InvalidInputsChange::TooLarge);
    }
    Ok(Change {
        target: ChangeTarget::MetaInputs,
        entity: ENTITY.to_owned(),
        entity_id: Some(instance.to_string()),
        op: ChangeOp::Update,
        base: Some(Digest::of(before.as_bytes()).to_string()),
        patch,
        result: Digest::of(after.as_bytes()),
        summary: summary(old, &new),
        effect: ChangeEffect::Deployed,
        about: None,
        deploy: Some(Deploy {
            instance: instance.to_string(),
            parent: None,
            commit: None,
        }),
    })
}

/// The inputs that come out, if what there is is what the change was made against.
pub fn new_inputs(change: &Change, base: &PinnedInputs) -> Option<PinnedInputs> {
    let before = written_inputs(base);
    let digest = Digest::of(before.as_bytes()).to_string();
    if change.target != ChangeTarget::MetaInputs || change.base.as_ref() != Some(&digest) {
        return None;
    }
    let after = diffs::apply(&before, &change.patch).ok()?;
    let new: PinnedInputs = serde_json::from_str(&after).ok()?;
    let is_bound = Digest::of(after.as_bytes()) == change.result && written_inputs(&new) == after;
    is_bound.then_some(new)
}

/// Who it comes from first, then what is newly pinned, then what moves, then what goes. Addresses and ids are of a plain
/// alphabet, so nothing in them can be taken for a word of ours.
fn summary(old: &PinnedInputs, new: &PinnedInputs) -> Vec<String> {
    let (mut moved_away, mut added, mut moved) = (Vec::new(), Vec::new(), Vec::new());
    for (name, input) in new {
        let (kind, url, commit) = (input.kind.as_str(), input.url.as_str(), &input.commit);
        match old.get(name) {
            None => added.push(format!("pins {name}: the {kind} {url} at commit {commit}")),
            Some(before) if before == input => {}
            Some(before) => {
                if before.url != input.url {
                    let was = before.url.as_str();
                    moved_away.push(format!("{name} comes from {url} instead of {was}"));
                }
                if before.kind != input.kind {
                    let was = before.kind.as_str();
                    moved_away.push(format!("{name} is a {kind}; it was a {was}"));
                }
                if before.commit != input.commit {
                    let from = &before.commit;
                    moved.push(format!("{name} ({kind}): from commit {from} to {commit}"));
                }
            }
        }
    }
    let gone = old.keys().filter(|name| !new.contains_key(*name));
    let gone = gone.map(|name| format!("{name} is pinned no longer"));
    let mut all = moved_away;
    all.append(&mut added);
    all.append(&mut moved);
    all.extend(gone);
    all
}
