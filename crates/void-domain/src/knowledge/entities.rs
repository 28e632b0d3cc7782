//! Entities and what they are made of. An id says of which kind it is, and so do the details, so a page never has the
//! due date of a task; [`Fields::kind`] is what both have to agree on.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::fields::{Body, DueDate, RefUrl, TaskState, Title};
use super::front_matter::FrontMatter;
use super::paths::NotePath;
use super::revisions::{Origin, Revision, Vouched};
use super::tags::Tags;
use crate::agents::AgentName;
use crate::ids::{InvalidId, PageId, ProjectId, RefId, SpaceId, TaskId};
use crate::time::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntityKind {
    Space,
    Project,
    Page,
    Task,
    Ref,
}

impl EntityKind {
    pub const ALL: [Self; 5] = [
        Self::Space,
        Self::Project,
        Self::Page,
        Self::Task,
        Self::Ref,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Space => "space",
            Self::Project => "project",
            Self::Page => "page",
            Self::Task => "task",
            Self::Ref => "ref",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

impl fmt::Display for EntityKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntityId {
    Space(SpaceId),
    Project(ProjectId),
    Page(PageId),
    Task(TaskId),
    Ref(RefId),
}

impl EntityId {
    /// A new id from a moment and random bytes, both of which the caller supplies.
    pub fn new(kind: EntityKind, at: Timestamp, random: [u8; 10]) -> Self {
        match kind {
            EntityKind::Space => Self::Space(SpaceId::new(at, random)),
            EntityKind::Project => Self::Project(ProjectId::new(at, random)),
            EntityKind::Page => Self::Page(PageId::new(at, random)),
            EntityKind::Task => Self::Task(TaskId::new(at, random)),
            EntityKind::Ref => Self::Ref(RefId::new(at, random)),
        }
    }

    pub fn parse(kind: EntityKind, text: &str) -> Result<Self, InvalidId> {
        Ok(match kind {
            EntityKind::Space => Self::Space(text.parse()?),
            EntityKind::Project => Self::Project(text.parse()?),
            EntityKind::Page => Self::Page(text.parse()?),
            EntityKind::Task => Self::Task(text.parse()?),
            EntityKind::Ref => Self::Ref(text.parse()?),
        })
    }

    pub const fn kind(self) -> EntityKind {
        match self {
            Self::Space(_) => EntityKind::Space,
            Self::Project(_) => EntityKind::Project,
            Self::Page(_) => EntityKind::Page,
            Self::Task(_) => EntityKind::Task,
            Self::Ref(_) => EntityKind::Ref,
        }
    }
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Space(id) => id.fmt(f),
            Self::Project(id) => id.fmt(f),
            Self::Page(id) => id.fmt(f),
            Self::Task(id) => id.fmt(f),
            Self::Ref(id) => id.fmt(f),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpaceDetails {
    /// Who answers beside its pages, if the owner chose somebody.
    pub agent: Option<AgentName>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageDetails {
    pub project_id: Option<ProjectId>,
    /// Beside those that its front matter names.
    pub tags: Tags,
    /// Where it is in the folder that it came from and goes back to.
    pub path: Option<NotePath>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskDetails {
    pub project_id: Option<ProjectId>,
    pub state: TaskState,
    pub due: Option<DueDate>,
    pub tags: Tags,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefDetails {
    pub project_id: Option<ProjectId>,
    pub url: RefUrl,
    pub tags: Tags,
}

/// What only one kind of entity has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Details {
    Space(SpaceDetails),
    Project,
    Page(PageDetails),
    Task(TaskDetails),
    Ref(RefDetails),
}

impl Details {
    pub const fn kind(&self) -> EntityKind {
        match self {
            Self::Space(_) => EntityKind::Space,
            Self::Project => EntityKind::Project,
            Self::Page(_) => EntityKind::Page,
            Self::Task(_) => EntityKind::Task,
            Self::Ref(_) => EntityKind::Ref,
        }
    }

    pub const fn project_id(&self) -> Option<ProjectId> {
        match self {
            Self::Space(_) | Self::Project => None,
            Self::Page(page) => page.project_id,
            Self::Task(task) => task.project_id,
            Self::Ref(kept) => kept.project_id,
        }
    }

    pub const fn tags(&self) -> Option<&Tags> {
        match self {
            Self::Space(_) | Self::Project => None,
            Self::Page(page) => Some(&page.tags),
            Self::Task(task) => Some(&task.tags),
            Self::Ref(kept) => Some(&kept.tags),
        }
    }
}

/// All that the owner can say of an entity: what one revision holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fields {
    pub title: Title,
    /// Markdown; of a ref, the text that was captured.
    pub body: Body,
    pub details: Details,
}

impl Fields {
    pub const fn kind(&self) -> EntityKind {
        self.details.kind()
    }

    /// Whether both have the same words, whatever else they say: a task that is ticked has the text that it had.
    pub fn has_text_of(&self, other: &Self) -> bool {
        self.title == other.title && self.body == other.body
    }

    /// Whether saying this instead of the other answers for the whole text: its body was written anew, or there is none beside
    /// the title. Who renames a page need not have read it.
    pub fn answers_for(&self, other: &Self) -> bool {
        match self.body == other.body {
            true => self.title != other.title && self.body.as_str().is_empty(),
            false => true,
        }
    }

    /// Its tags: what the details say, and of a page what its front matter says.
    pub fn all_tags(&self) -> Tags {
        let own = self.details.tags().cloned().unwrap_or_default();
        match self.details {
            Details::Page(_) => own.with(&FrontMatter::of(self.body.as_str()).tags),
            Details::Space(_) | Details::Project | Details::Task(_) | Details::Ref(_) => own,
        }
    }
}

/// Thrown away, and still there to be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deletion {
    pub at: Timestamp,
    pub by: String,
}

/// An entity without its text: what a list shows.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityHead {
    pub id: EntityId,
    /// Of a space, its own id.
    pub space_id: SpaceId,
    pub title: Title,
    pub details: Details,
    /// The newest one.
    pub revision: Revision,
    pub created_at: Timestamp,
    pub deleted: Option<Deletion>,
}

impl EntityHead {
    /// Whether a stranger could have written what it says. Whoever reads it is tainted by it.
    pub fn is_foreign(&self) -> bool {
        match (self.id.kind(), &self.revision.origin) {
            // A ref is somebody else's text by what it is, whoever put it here.
            (EntityKind::Ref, _) => true,
            (_, Origin::Capture) => self.revision.vouched.is_none(),
            (_, Origin::Draft { taint, .. }) => {
                !taint.is_clean() && self.revision.vouched.is_none()
            }
            (_, Origin::Owner | Origin::Import) => false,
        }
    }

    /// What a reader of it is tainted by.
    pub fn taint_source(&self) -> Option<String> {
        self.is_foreign()
            .then(|| format!("{}:{}", self.id.kind(), self.id))
    }
}

/// One thing that the owner keeps, as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct Entity {
    pub head: EntityHead,
    pub body: Body,
}

impl Entity {
    pub fn fields(&self) -> Fields {
        Fields {
            title: self.head.title.clone(),
            body: self.body.clone(),
            details: self.head.details.clone(),
        }
    }

    /// Where the text of the next revision comes from if this writer says these fields. Who changes no word of it leaves it
    /// where it came from, with its mark; so does the owner who gives a stranger's text another title and leaves the rest.
    pub fn next_origin(&self, fields: &Fields, writer: Origin) -> (Origin, Option<Vouched>) {
        let revision = &self.head.revision;
        match writer {
            Origin::Draft {
                proposal,
                agent,
                mut taint,
            } => {
                // What the draft leaves of a foreign text is as foreign as before.
                if let Some(source) = self.head.taint_source() {
                    taint.add(&source);
                }
                let origin = Origin::Draft {
                    proposal,
                    agent,
                    taint,
                };
                (origin, None)
            }
            _ if fields.has_text_of(&self.fields()) => {
                (revision.origin.clone(), revision.vouched.clone())
            }
            Origin::Owner | Origin::Import
                if self.head.is_foreign()
                    // A ref is a stranger's whoever names it.
                    && fields.kind() != EntityKind::Ref
                    && !fields.answers_for(&self.fields()) =>
            {
                (revision.origin.clone(), None)
            }
            other => (other, None),
        }
    }

    /// The same with what the next revision says. The caller has seen to it that the kinds agree.
    pub fn revised(self, fields: Fields, revision: Revision) -> Self {
        Self {
            head: EntityHead {
                title: fields.title,
                details: fields.details,
                revision,
                ..self.head
            },
            body: fields.body,
        }
    }
}

#[cfg(test)]
mod tests;
