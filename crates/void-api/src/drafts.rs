//! `/api/spaces/{id}/drafts`: a change of what the owner keeps, which waits for the owner's yes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_domain::changes::ChangeOp;
use void_domain::knowledge::TaskState;
use void_domain::limits::{CHANGE_PATCH_BYTES_MAX, EDITS_MAX, REF_URL_BYTES_MAX};

use crate::bounds::{NUMBER_MAX, PLAIN, SLUG, UUID};
use crate::entities::members::{
    BodyMember, IdMember, PathMember, ReasonMember, TagsMember, TitleMember,
};
use crate::entities::sent;
use crate::refs::WEB_ADDRESS;
use crate::tasks::DAY;

/// What can be drafted in a space; the space itself can be changed or thrown away, and none is made in it.
pub const DRAFTED_KINDS: [&str; 5] = ["page", "task", "ref", "project", "space"];

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Draft", extend("required" = ["entity", "op"]))]
pub struct DraftRequest {
    /// `page`, `task`, `ref`, `project` or `space`.
    #[serde(default)]
    #[schemars(required, extend("enum" = DRAFTED_KINDS))]
    pub entity: Option<String>,
    /// `create`, `update` or `delete`.
    #[serde(default)]
    #[schemars(required, extend("enum" = ChangeOp::ALL.map(ChangeOp::as_str)))]
    pub op: Option<String>,
    /// Which one; of something new, none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = UUID))]
    pub id: Option<String>,
    /// The revision that was read; whichever is there now, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = NUMBER_MAX))]
    pub base_revision: Option<u64>,
    /// What it is to say; what is left out stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<DraftFields>,
    /// Changes of its text, one after the other; each has to be found exactly once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = EDITS_MAX))]
    pub edits: Vec<DraftEdit>,
    /// Why; the owner sees it as the words of whoever drafts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ReasonMember")]
    pub reason: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DraftEdit {
    #[schemars(length(min = 1, max = CHANGE_PATCH_BYTES_MAX), regex(pattern = PLAIN))]
    pub find: String,
    #[schemars(length(max = CHANGE_PATCH_BYTES_MAX), regex(pattern = PLAIN))]
    pub replace: String,
}

/// Which of them a kind has, its own requests say.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DraftFields {
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "TagsMember")]
    pub tags: Option<Vec<String>>,
    /// null: it is in no folder.
    #[serde(
        default,
        deserialize_with = "sent",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "PathMember")]
    pub path: Option<Option<String>>,
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
    #[schemars(length(max = REF_URL_BYTES_MAX), regex(pattern = WEB_ADDRESS))]
    pub url: Option<String>,
    /// null: nobody in particular.
    #[serde(
        default,
        deserialize_with = "sent",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", regex(pattern = SLUG))]
    pub agent: Option<Option<String>>,
}

const STATES_AND_NULL: [Option<&str>; 4] = [
    Some(TaskState::Open.as_str()),
    Some(TaskState::Done.as_str()),
    Some(TaskState::Dropped.as_str()),
    None,
];
