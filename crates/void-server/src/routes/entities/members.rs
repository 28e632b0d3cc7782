//! The members of a request as the fields that they mean. What is wrong is said of all of them at once.

use std::str::FromStr;

use void_domain::agents::AgentName;
use void_domain::ids::ProjectId;
use void_domain::knowledge::{
    Body, DueDate, InvalidField, InvalidFields, NotePath, RefUrl, Tags, TaskState, Title,
};

use crate::errors::ApiError;

#[derive(Debug, Default)]
pub(in crate::routes) struct Members {
    wrong: Vec<(String, String)>,
}

impl Members {
    /// What was read, unless something was wrong.
    pub(in crate::routes) fn end(self) -> Result<(), ApiError> {
        match self.wrong.is_empty() {
            true => Ok(()),
            false => Err(ApiError::invalid(self.wrong)),
        }
    }

    pub(in crate::routes) fn title(&mut self, sent: Option<String>) -> Option<Title> {
        self.read("title", sent, |text| Title::parse(&text).map_err(said))
    }

    pub(in crate::routes) fn body(&mut self, sent: Option<String>) -> Option<Body> {
        self.read("body", sent, |text| Body::new(text).map_err(said))
    }

    pub(in crate::routes) fn tags(&mut self, sent: Option<Vec<String>>) -> Option<Tags> {
        self.read("tags", sent, |tags| {
            Tags::parse(tags.iter().map(String::as_str)).map_err(said)
        })
    }

    pub(in crate::routes) fn state(&mut self, sent: Option<String>) -> Option<TaskState> {
        self.read("state", sent, |text| TaskState::parse(&text).map_err(said))
    }

    pub(in crate::routes) fn url(&mut self, sent: Option<String>) -> Option<RefUrl> {
        // An address of a file of ours is none that anybody says.
        let of_the_web = |url: RefUrl| url.is_of_the_web().then_some(url);
        self.read("url", sent, |text| {
            let url = RefUrl::parse(&text).map(of_the_web);
            url.and_then(|url| url.ok_or(InvalidField::Url))
                .map_err(said)
        })
    }

    pub(in crate::routes) fn due(
        &mut self,
        sent: Option<Option<String>>,
    ) -> Option<Option<DueDate>> {
        self.read("due", sent, |day| {
            day.map(|day| DueDate::parse(&day))
                .transpose()
                .map_err(said)
        })
    }

    pub(in crate::routes) fn path(
        &mut self,
        sent: Option<Option<String>>,
    ) -> Option<Option<NotePath>> {
        self.read("path", sent, |path| {
            path.map(|path| NotePath::parse(&path))
                .transpose()
                .map_err(said)
        })
    }

    pub(in crate::routes) fn project_id(
        &mut self,
        sent: Option<Option<String>>,
    ) -> Option<Option<ProjectId>> {
        let unknown = "must be the id of a project of this space";
        self.read("project_id", sent, |id| parsed(id, unknown))
    }

    pub(in crate::routes) fn agent(
        &mut self,
        sent: Option<Option<String>>,
    ) -> Option<Option<AgentName>> {
        let unknown = "must be the name of an agent, as void agents ls shows it";
        self.read("agent", sent, |name| parsed(name, unknown))
    }

    fn read<S, T>(
        &mut self,
        name: &str,
        sent: Option<S>,
        parse: impl FnOnce(S) -> Result<T, String>,
    ) -> Option<T> {
        match parse(sent?) {
            Ok(read) => Some(read),
            Err(problem) => {
                self.wrong.push((name.to_owned(), problem));
                None
            }
        }
    }
}

fn said(wrong: InvalidField) -> String {
    wrong.to_string()
}

fn parsed<T: FromStr>(sent: Option<String>, otherwise: &str) -> Result<Option<T>, String> {
    let read = sent.map(|text| text.parse::<T>()).transpose();
    read.map_err(|_| otherwise.to_owned())
}

pub(in crate::routes) fn invalid_fields(wrong: InvalidFields) -> ApiError {
    match wrong {
        InvalidFields::Missing(name) => ApiError::invalid_field(name, "is missing"),
        InvalidFields::NotOfKind { field, .. } => ApiError::invalid_field(field, wrong.to_string()),
    }
}
