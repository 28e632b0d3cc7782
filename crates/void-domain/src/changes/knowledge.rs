//! A draft of an entity: from what somebody wants it to say to a [`Change`], and back to what is stored on a yes.
//!
//! The patch is against the written form of the entity ([`Fields::written`]), so all of a change is in it, and it is applied to
//! the revision that was looked at and to no other.

#[cfg(test)]
mod tests;

use super::{Change, ChangeEffect, ChangeOp, ChangeTarget, ChangedEntity};
use crate::diffs::{self, TooDifferent};
use crate::digests::Digest;
use crate::ids::SpaceId;
use crate::knowledge::{
    Entity, EntityId, EntityKind, Fields, FrontMatter, InvalidEdit, InvalidField, InvalidFields,
    Title, WordDiff,
};
use crate::limits::CHANGE_PATCH_BYTES_MAX;
use crate::text;

/// From so many changed lines on a difference is called long, and counted.
const LONG_LINES: usize = 60;

/// Why no proposal is made of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKnowledgeChange {
    #[error(transparent)]
    Fields(#[from] InvalidFields),
    #[error(transparent)]
    Edit(#[from] InvalidEdit),
    #[error("{0} {1}")]
    Field(&'static str, InvalidField),
    #[error("it changes nothing")]
    Same,
    #[error(
        "what changes is more than {} KiB; draft it in parts: of a long text only its edits, and what is new in several drafts",
        CHANGE_PATCH_BYTES_MAX / 1024
    )]
    PatchTooLarge,
    #[error("the difference cannot be written down exactly")]
    Unpatchable,
    #[error(transparent)]
    TooDifferent(#[from] TooDifferent),
}

/// What somebody wants, with what it is about as it is now.
#[derive(Debug, Clone, Copy)]
pub enum Draft<'a> {
    /// `space`: where it will be; a new space is nowhere.
    Create {
        space: Option<(SpaceId, &'a Title)>,
        fields: &'a Fields,
    },
    Update {
        base: &'a Entity,
        space: &'a Title,
        fields: &'a Fields,
    },
    Delete {
        base: &'a Entity,
        space: &'a Title,
    },
}

pub fn change(draft: Draft<'_>) -> Result<Change, InvalidKnowledgeChange> {
    match draft {
        Draft::Create { space, fields } => {
            let about = ChangedEntity {
                title: fields.title.to_string(),
                space_id: space.map(|(id, _)| id),
                space: space.map(|(_, title)| title.to_string()),
            };
            let new = fields.written();
            let patch = patch("", &new)?;
            let summary = summary(ChangeOp::Create, &about, None, fields, &patch);
            let kind = fields.kind();
            Ok(of(
                kind,
                None,
                ChangeOp::Create,
                (about, patch, &new, summary),
            ))
        }
        Draft::Update {
            base,
            space,
            fields,
        } => {
            let before = base.fields();
            let (old, new) = (before.written(), fields.written());
            if old == new {
                return Err(InvalidKnowledgeChange::Same);
            }
            let patch = patch(&old, &new)?;
            let about = about(base, space);
            let summary = summary(ChangeOp::Update, &about, Some(&before), fields, &patch);
            let kind = base.head.id.kind();
            Ok(of(
                kind,
                Some(base),
                ChangeOp::Update,
                (about, patch, &new, summary),
            ))
        }
        Draft::Delete { base, space } => {
            let before = base.fields();
            let about = about(base, space);
            let summary = summary(ChangeOp::Delete, &about, None, &before, "");
            let gone = before.written();
            let kind = base.head.id.kind();
            Ok(of(
                kind,
                Some(base),
                ChangeOp::Delete,
                (about, String::new(), &gone, summary),
            ))
        }
    }
}

fn about(base: &Entity, space: &Title) -> ChangedEntity {
    ChangedEntity {
        title: base.head.title.to_string(),
        space_id: Some(base.head.space_id),
        space: Some(space.to_string()),
    }
}

/// `result`: the text that comes out of it, or that goes.
fn of(
    kind: EntityKind,
    base: Option<&Entity>,
    op: ChangeOp,
    (about, patch, result, summary): (ChangedEntity, String, &str, Vec<String>),
) -> Change {
    Change {
        target: ChangeTarget::Knowledge,
        entity: kind.as_str().to_owned(),
        entity_id: base.map(|base| base.head.id.to_string()),
        op,
        base: base.map(|base| base.head.revision.number.to_string()),
        patch,
        result: Digest::of(result.as_bytes()),
        summary,
        effect: ChangeEffect::Stored,
        about: Some(about),
    }
}

fn patch(old: &str, new: &str) -> Result<String, InvalidKnowledgeChange> {
    if old.len().abs_diff(new.len()) > CHANGE_PATCH_BYTES_MAX {
        return Err(InvalidKnowledgeChange::PatchTooLarge);
    }
    let patch = diffs::unified_exact(old, new)?;
    if patch.len() > CHANGE_PATCH_BYTES_MAX {
        return Err(InvalidKnowledgeChange::PatchTooLarge);
    }
    match diffs::apply(old, &patch).as_deref() == Ok(new) {
        true => Ok(patch),
        false => Err(InvalidKnowledgeChange::Unpatchable),
    }
}

/// What a yes does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnowledgeEffect {
    Create {
        space_id: Option<SpaceId>,
        fields: Fields,
    },
    Update {
        id: EntityId,
        base: u64,
        fields: Fields,
    },
    Delete {
        id: EntityId,
        base: u64,
    },
}

impl KnowledgeEffect {
    /// The same with these words instead. A deletion says nothing.
    #[must_use]
    pub fn saying(self, fields: Fields) -> Self {
        match self {
            Self::Create { space_id, .. } => Self::Create { space_id, fields },
            Self::Update { id, base, .. } => Self::Update { id, base, fields },
            Self::Delete { id, base } => Self::Delete { id, base },
        }
    }
}

/// What a change is about that is there already; `None` if it is no change of knowledge, or of something new.
pub fn entity_id(change: &Change) -> Option<EntityId> {
    if change.target != ChangeTarget::Knowledge {
        return None;
    }
    let kind = EntityKind::parse(&change.entity)?;
    EntityId::parse(kind, change.entity_id.as_deref()?).ok()
}

/// What a yes does, if what is there now is what the change was made against: the same revision of the same entity with the
/// same text. `None`: it does nothing.
pub fn effect(change: &Change, now: Option<&Entity>) -> Option<KnowledgeEffect> {
    let is_ours = change.target == ChangeTarget::Knowledge && change.effect == ChangeEffect::Stored;
    if !is_ours {
        return None;
    }
    let kind = EntityKind::parse(&change.entity)?;
    if change.op == ChangeOp::Create {
        let is_new = change.entity_id.is_none() && change.base.is_none();
        let fields = comes_out(change, kind, "").filter(|_| is_new && now.is_none())?;
        let space_id = change.about.as_ref().and_then(|about| about.space_id);
        return Some(KnowledgeEffect::Create { space_id, fields });
    }
    let now = now.filter(|now| entity_id(change) == Some(now.head.id))?;
    let (id, base) = (now.head.id, now.head.revision.number);
    if change.base.as_deref() != Some(&*base.to_string()) {
        return None;
    }
    let old = now.fields().written();
    match change.op {
        ChangeOp::Delete => {
            let is_what_was_seen = Digest::of(old.as_bytes()) == change.result;
            is_what_was_seen.then_some(KnowledgeEffect::Delete { id, base })
        }
        ChangeOp::Create | ChangeOp::Update => {
            let fields = comes_out(change, kind, &old)?;
            Some(KnowledgeEffect::Update { id, base, fields })
        }
    }
}

fn comes_out(change: &Change, kind: EntityKind, old: &str) -> Option<Fields> {
    let new = diffs::apply(old, &change.patch).ok()?;
    if Digest::of(new.as_bytes()) != change.result {
        return None;
    }
    Fields::read(kind, &new).ok()
}

/// The title of a card: the kind and what happens to it, and no word of the owner's.
pub(super) fn label(entity: &str, op: ChangeOp) -> &'static str {
    match (EntityKind::parse(entity), op) {
        (None, _) => "Change your knowledge",
        (Some(EntityKind::Space), ChangeOp::Create) => "Make a space",
        (Some(EntityKind::Space), ChangeOp::Update) => "Change a space",
        (Some(EntityKind::Space), ChangeOp::Delete) => "Throw away a space",
        (Some(EntityKind::Project), ChangeOp::Create) => "Make a project",
        (Some(EntityKind::Project), ChangeOp::Update) => "Change a project",
        (Some(EntityKind::Project), ChangeOp::Delete) => "Throw away a project",
        (Some(EntityKind::Page), ChangeOp::Create) => "Write a page",
        (Some(EntityKind::Page), ChangeOp::Update) => "Change a page",
        (Some(EntityKind::Page), ChangeOp::Delete) => "Throw away a page",
        (Some(EntityKind::Task), ChangeOp::Create) => "Make a task",
        (Some(EntityKind::Task), ChangeOp::Update) => "Change a task",
        (Some(EntityKind::Task), ChangeOp::Delete) => "Throw away a task",
        (Some(EntityKind::Ref), ChangeOp::Create) => "Keep a ref",
        (Some(EntityKind::Ref), ChangeOp::Update) => "Change a ref",
        (Some(EntityKind::Ref), ChangeOp::Delete) => "Throw away a ref",
    }
}

/// One sentence about the effect. `None`: it does not say what it is about.
pub(crate) fn consequence(change: &Change) -> Option<String> {
    let about = change.about.as_ref()?;
    let what = named(&change.entity, about);
    Some(match change.op {
        ChangeOp::Create => format!("makes the {what}; it can be thrown away again"),
        ChangeOp::Update => format!("changes the {what}; the revision before is kept"),
        ChangeOp::Delete => format!("throws away the {what}; it can be taken back"),
    })
}

/// `page "Title" in the space "Lab"`.
fn named(entity: &str, about: &ChangedEntity) -> String {
    let title = text::value_in_quotes(&about.title);
    let entity = text::escaped(entity);
    match about.space.as_ref().filter(|_| entity != "space") {
        Some(space) => format!(
            "{entity} {title} in the space {}",
            text::value_in_quotes(space)
        ),
        None => format!("{entity} {title}"),
    }
}

/// What it means in words of Void: how much changes, what of the properties, what else follows, and how it could be missed.
fn summary(
    op: ChangeOp,
    about: &ChangedEntity,
    before: Option<&Fields>,
    after: &Fields,
    patch: &str,
) -> Vec<String> {
    let what = named(after.kind().as_str(), about);
    let old = before.map(Fields::written).unwrap_or_default();
    let new = after.written();
    if op == ChangeOp::Delete {
        let words = after.body.as_str().split_whitespace().count();
        return vec![format!(
            "Throw away the {what}: {words} words go; it can be taken back"
        )];
    }
    let diff = WordDiff::between(&old, &new);
    let (verb, count) = match before {
        None => (
            "Make",
            match after.body.as_str().split_whitespace().count() {
                0 => "no text".to_owned(),
                1 => "1 word".to_owned(),
                many => format!("{many} words"),
            },
        ),
        Some(_) => {
            let (added, removed, places) = (diff.words_added, diff.words_removed, diff.places());
            let places = match places {
                1 => "one place".to_owned(),
                many => format!("{many} places"),
            };
            ("Change", format!("+{added} −{removed} words in {places}"))
        }
    };
    let mut lines = vec![format!("{verb} the {what}: {count}")];
    for hiding in diff.hidings() {
        lines.push(format!("look closely: it {}", hiding.words()));
    }
    if before.is_some() {
        lines.extend(properties(&old, &new));
    }
    lines.extend(runbooks(before, after));
    let signed = |sign: char| patch.lines().filter(|line| line.starts_with(sign)).count();
    // Two lines of the patch are its names of files, where it has them.
    let (added, removed) = (signed('+'), signed('-'));
    let parts = patch.lines().filter(|line| line.starts_with("@@ ")).count();
    if added + removed > LONG_LINES {
        lines.push(format!(
            "it is long: {added} lines are added and {removed} go, in {parts} parts; all of it is in the difference"
        ));
    }
    lines
}

/// The lines of the written form that are no text, where they differ.
fn properties<'a>(old: &'a str, new: &'a str) -> impl Iterator<Item = String> + 'a {
    let lines = |text: &'a str| text.lines().take_while(|line| !line.is_empty());
    let pairs = lines(old).zip(lines(new)).filter(|(was, is)| was != is);
    pairs.filter_map(|(was, is)| {
        let (name, was) = was.split_once(':')?;
        let (_, is) = is.split_once(':')?;
        let shown = |value: &str| match value.trim() {
            "" => "nothing".to_owned(),
            value => text::value_in_quotes(value),
        };
        Some(format!("{name} was {}, is {}", shown(was), shown(is)))
    })
}

/// A page that becomes a runbook is shown where its name counts.
fn runbooks(before: Option<&Fields>, after: &Fields) -> Vec<String> {
    let of = |fields: &Fields| match fields.kind() {
        EntityKind::Page => FrontMatter::of(fields.body.as_str()).runbooks,
        EntityKind::Space | EntityKind::Project | EntityKind::Task | EntityKind::Ref => Vec::new(),
    };
    let (old, new) = (before.map(of).unwrap_or_default(), of(after));
    let added = new.iter().filter(|name| !old.contains(name));
    let gone = old.iter().filter(|name| !new.contains(name));
    let added =
        added.map(|one| format!("it becomes a runbook of the {} {}", one.kind(), one.name()));
    let gone = gone.map(|one| {
        format!(
            "it is no runbook of the {} {} any more",
            one.kind(),
            one.name()
        )
    });
    added.chain(gone).collect()
}
