//! What somebody wants an entity to say: some of its fields, and nothing of the others.

use super::entities::{
    Details, EntityKind, Fields, PageDetails, RefDetails, SpaceDetails, TaskDetails,
};
use super::fields::{Body, DueDate, RefUrl, TaskState, Title};
use super::paths::NotePath;
use super::tags::Tags;
use crate::agents::AgentName;
use crate::ids::ProjectId;

/// `None` leaves a field as it is; `Some(None)` empties it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldsPatch {
    pub title: Option<Title>,
    pub body: Option<Body>,
    pub project_id: Option<Option<ProjectId>>,
    pub tags: Option<Tags>,
    pub path: Option<Option<NotePath>>,
    pub state: Option<TaskState>,
    pub due: Option<Option<DueDate>>,
    pub url: Option<RefUrl>,
    pub agent: Option<Option<AgentName>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidFields {
    #[error("it needs a {0}")]
    Missing(&'static str),
    #[error("a {kind} has no {field}")]
    NotOfKind {
        kind: EntityKind,
        field: &'static str,
    },
}

impl FieldsPatch {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What a new entity of this kind says.
    pub fn into_new(self, kind: EntityKind) -> Result<Fields, InvalidFields> {
        let title = self.title.clone().ok_or(InvalidFields::Missing("title"))?;
        let details = match kind {
            EntityKind::Space => Details::Space(SpaceDetails::default()),
            EntityKind::Project => Details::Project,
            EntityKind::Page => Details::Page(PageDetails::default()),
            EntityKind::Task => Details::Task(TaskDetails::default()),
            EntityKind::Ref => Details::Ref(RefDetails {
                project_id: None,
                url: self.url.clone().ok_or(InvalidFields::Missing("url"))?,
                tags: Tags::default(),
            }),
        };
        self.onto(Fields {
            title,
            body: Body::default(),
            details,
        })
    }

    /// The same fields with these instead. What an entity of its kind does not have is refused, so that nobody believes that it
    /// was stored.
    pub fn onto(mut self, fields: Fields) -> Result<Fields, InvalidFields> {
        let kind = fields.kind();
        let title = self.title.take().unwrap_or(fields.title);
        let body = self.body.take().unwrap_or(fields.body);
        let details = match fields.details {
            Details::Space(space) => Details::Space(SpaceDetails {
                agent: self.agent.take().unwrap_or(space.agent),
            }),
            Details::Project => Details::Project,
            Details::Page(page) => Details::Page(PageDetails {
                project_id: self.project_id.take().unwrap_or(page.project_id),
                tags: self.tags.take().unwrap_or(page.tags),
                path: self.path.take().unwrap_or(page.path),
            }),
            Details::Task(task) => Details::Task(TaskDetails {
                project_id: self.project_id.take().unwrap_or(task.project_id),
                state: self.state.take().unwrap_or(task.state),
                due: self.due.take().unwrap_or(task.due),
                tags: self.tags.take().unwrap_or(task.tags),
            }),
            Details::Ref(kept) => Details::Ref(RefDetails {
                project_id: self.project_id.take().unwrap_or(kept.project_id),
                url: self.url.take().unwrap_or(kept.url),
                tags: self.tags.take().unwrap_or(kept.tags),
            }),
        };
        match self.left() {
            Some(field) => Err(InvalidFields::NotOfKind { kind, field }),
            None => Ok(Fields {
                title,
                body,
                details,
            }),
        }
    }

    /// The first field that nobody took.
    fn left(&self) -> Option<&'static str> {
        [
            (self.project_id.is_some(), "project"),
            (self.tags.is_some(), "tags"),
            (self.path.is_some(), "path"),
            (self.state.is_some(), "state"),
            (self.due.is_some(), "due day"),
            (self.url.is_some(), "url"),
            (self.agent.is_some(), "agent"),
        ]
        .into_iter()
        .find_map(|(is_left, name)| is_left.then_some(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_set_emptied_or_left() {
        let task = FieldsPatch {
            title: Title::parse("Do it").ok(),
            due: Some(DueDate::parse("2026-11-19").ok()),
            ..FieldsPatch::default()
        };
        let task = task.into_new(EntityKind::Task).unwrap();
        let ticked = FieldsPatch {
            state: Some(TaskState::Done),
            due: Some(None),
            ..FieldsPatch::default()
        };
        let ticked = ticked.onto(task.clone()).unwrap();
        assert_eq!(ticked.title, task.title);
        let Details::Task(details) = ticked.details else {
            panic!()
        };
        assert_eq!((details.state, details.due), (TaskState::Done, None));
        assert_eq!(FieldsPatch::default().onto(task.clone()), Ok(task));
    }

    #[test]
    fn what_a_kind_does_not_have_is_refused() {
        let title = Title::parse("a").ok();
        let new = |kind, patch: FieldsPatch| {
            FieldsPatch {
                title: title.clone(),
                ..patch
            }
            .into_new(kind)
        };
        let state = || FieldsPatch {
            state: Some(TaskState::Done),
            ..FieldsPatch::default()
        };
        for kind in [EntityKind::Space, EntityKind::Project, EntityKind::Page] {
            let field = "state";
            assert_eq!(
                new(kind, state()),
                Err(InvalidFields::NotOfKind { kind, field })
            );
        }
        assert!(new(EntityKind::Task, state()).is_ok());
        assert_eq!(
            new(EntityKind::Ref, FieldsPatch::default()),
            Err(InvalidFields::Missing("url"))
        );
        assert_eq!(
            FieldsPatch::default().into_new(EntityKind::Page),
            Err(InvalidFields::Missing("title"))
        );
    }
}
