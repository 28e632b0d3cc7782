//! `/api/spaces/{id}/tasks` and `/api/tasks`: what is to be done, and by which day.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_domain::knowledge::TaskState;

use crate::Word;
use crate::entities::members::{
    BaseMember, BodyMember, IdMember, NewTitleMember, ReasonMember, TagsMember, TitleMember,
};
use crate::entities::{EntityHeadResponse, EntityLinksResponse, sent};
use crate::markdown::Block;

/// One spelling of a day.
pub const DAY: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$";
const STATES_AND_NULL: [Option<&str>; 4] = [
    Some(TaskState::Open.as_str()),
    Some(TaskState::Done.as_str()),
    Some(TaskState::Dropped.as_str()),
    None,
];

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct TasksResponse {
    /// What was changed last comes first, or with `order=due` what is due first.
    pub tasks: Vec<TaskHeadResponse>,
    pub next: Option<String>,
}

/// A task without its text.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TaskHead")]
pub struct TaskHeadResponse {
    #[serde(flatten)]
    pub entity: EntityHeadResponse,
    pub project_id: Option<String>,
    /// `open`, `done` or `dropped`.
    #[schemars(extend("enum" = TaskState::ALL.map(TaskState::as_str)))]
    pub state: Word,
    /// A day: `2026-11-19`.
    pub due: Option<String>,
    pub tags: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Task")]
pub struct TaskResponse {
    #[serde(flatten)]
    pub head: TaskHeadResponse,
    /// Markdown.
    pub body: String,
    /// The same as a tree of what may be shown of it, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<Block>>,
    #[serde(flatten)]
    pub links: EntityLinksResponse,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewTask", extend("required" = ["title"]))]
pub struct NewTaskRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "NewTitleMember")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BodyMember")]
    pub body: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "IdMember")]
    pub project_id: Option<String>,
    /// `open`, `done` or `dropped`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = STATES_AND_NULL))]
    pub state: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = DAY))]
    pub due: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "TagsMember")]
    pub tags: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ReasonMember")]
    pub reason: Option<String>,
}

/// What is left out stays as it is.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TaskChange", extend("required" = ["base_revision"]))]
pub struct TaskChangeRequest {
    /// The revision that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BaseMember")]
    pub base_revision: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "TitleMember")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BodyMember")]
    pub body: Option<String>,
    /// null: none.
    #[serde(
        default,
        deserialize_with = "sent",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "IdMember")]
    pub project_id: Option<Option<String>>,
    /// `open`, `done` or `dropped`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = STATES_AND_NULL))]
    pub state: Option<String>,
    /// null: no day.
    #[serde(
        default,
        deserialize_with = "sent",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", regex(pattern = DAY))]
    pub due: Option<Option<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "TagsMember")]
    pub tags: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ReasonMember")]
    pub reason: Option<String>,
}
