//! An entity as one text: a line for each property, an empty line, and its body. Revisions are compared in this form, and the
//! patch of a draft is against it, so that what a person reads of a change is all of it.
//!
//! [`Fields::read`] undoes [`Fields::written`]; whatever is not exactly such a text is refused.

#[cfg(test)]
mod tests;

use std::fmt::Display;

use super::entities::{
    Details, EntityKind, Fields, PageDetails, RefDetails, SpaceDetails, TaskDetails,
};
use super::fields::{Body, DueDate, InvalidField, RefUrl, TaskState, Title};
use super::paths::NotePath;
use super::tags::Tags;

/// Why a text is no entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidWrittenForm {
    #[error("the line “{0}: …” is not where it has to be")]
    Line(&'static str),
    #[error("{0} {1}")]
    Field(&'static str, InvalidField),
    #[error("project is no id of a project")]
    Project,
    #[error("agent is no name of an agent")]
    Agent,
}

impl Fields {
    pub fn written(&self) -> String {
        let mut text = String::with_capacity(self.body.as_str().len() + 256);
        let mut line = |name: &str, value: &str| {
            text.push_str(name);
            text.push(':');
            if !value.is_empty() {
                text.push(' ');
                text.push_str(value);
            }
            text.push('\n');
        };
        line("title", self.title.as_str());
        match &self.details {
            Details::Project => {}
            Details::Space(space) => line("agent", &shown(space.agent.as_ref())),
            Details::Page(page) => {
                line("project", &shown(page.project_id));
                line("tags", &page.tags.joined());
                line("path", page.path.as_ref().map_or("", NotePath::as_str));
            }
            Details::Task(task) => {
                line("state", task.state.as_str());
                line("due", &shown(task.due));
                line("project", &shown(task.project_id));
                line("tags", &task.tags.joined());
            }
            Details::Ref(kept) => {
                line("url", kept.url.as_str());
                line("project", &shown(kept.project_id));
                line("tags", &kept.tags.joined());
            }
        }
        text.push('\n');
        text.push_str(self.body.as_str());
        text
    }

    /// Reads what [`written`](Self::written) wrote of an entity of this kind.
    pub fn read(kind: EntityKind, text: &str) -> Result<Self, InvalidWrittenForm> {
        let mut lines = Lines { rest: text };
        let title = lines.field("title", Title::parse)?;
        let details = match kind {
            EntityKind::Project => Details::Project,
            EntityKind::Space => Details::Space(SpaceDetails {
                agent: lines.optional("agent", |name| {
                    name.parse().map_err(|_| InvalidWrittenForm::Agent)
                })?,
            }),
            EntityKind::Page => Details::Page(PageDetails {
                project_id: lines.project()?,
                tags: lines.tags()?,
                path: lines.optional("path", field("path", NotePath::parse))?,
            }),
            EntityKind::Task => Details::Task(TaskDetails {
                state: lines.field("state", TaskState::parse)?,
                due: lines.optional("due", field("due", DueDate::parse))?,
                project_id: lines.project()?,
                tags: lines.tags()?,
            }),
            EntityKind::Ref => Details::Ref(RefDetails {
                url: lines.field("url", RefUrl::parse)?,
                project_id: lines.project()?,
                tags: lines.tags()?,
            }),
        };
        let body = lines.rest.strip_prefix('\n');
        let body = body.ok_or(InvalidWrittenForm::Line(""))?;
        let fields = Self {
            title,
            body: Body::parse(body).map_err(|wrong| InvalidWrittenForm::Field("body", wrong))?,
            details,
        };
        // One spelling: what would be written otherwise was not written by us.
        match fields.written() == text {
            true => Ok(fields),
            false => Err(InvalidWrittenForm::Line("title")),
        }
    }
}

fn shown(value: Option<impl Display>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn field<T>(
    name: &'static str,
    parse: impl Fn(&str) -> Result<T, InvalidField>,
) -> impl Fn(&str) -> Result<T, InvalidWrittenForm> {
    move |text| parse(text).map_err(|wrong| InvalidWrittenForm::Field(name, wrong))
}

struct Lines<'a> {
    rest: &'a str,
}

impl<'a> Lines<'a> {
    /// The value of the next line, which has to have this name.
    fn next(&mut self, name: &'static str) -> Result<&'a str, InvalidWrittenForm> {
        let missing = InvalidWrittenForm::Line(name);
        let (line, rest) = self.rest.split_once('\n').ok_or(missing)?;
        let value = line.strip_prefix(name).ok_or(missing)?;
        let value = value.strip_prefix(':').ok_or(missing)?;
        self.rest = rest;
        Ok(value.strip_prefix(' ').unwrap_or(value))
    }

    fn field<T>(
        &mut self,
        name: &'static str,
        parse: impl Fn(&str) -> Result<T, InvalidField>,
    ) -> Result<T, InvalidWrittenForm> {
        let value = self.next(name)?;
        field(name, parse)(value)
    }

    fn optional<T>(
        &mut self,
        name: &'static str,
        parse: impl Fn(&str) -> Result<T, InvalidWrittenForm>,
    ) -> Result<Option<T>, InvalidWrittenForm> {
        match self.next(name)? {
            "" => Ok(None),
            value => parse(value).map(Some),
        }
    }

    fn project<T: std::str::FromStr>(&mut self) -> Result<Option<T>, InvalidWrittenForm> {
        self.optional("project", |id| {
            id.parse().map_err(|_| InvalidWrittenForm::Project)
        })
    }

    fn tags(&mut self) -> Result<Tags, InvalidWrittenForm> {
        let tags = self.optional("tags", field("tags", |text| Tags::parse(text.split(", "))))?;
        Ok(tags.unwrap_or_default())
    }
}
