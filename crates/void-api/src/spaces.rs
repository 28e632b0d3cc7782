//! `/api/spaces`: what holds pages, tasks, refs and projects together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds::SLUG;
use crate::entities::members::{BaseMember, BodyMember, NewTitleMember, ReasonMember, TitleMember};
use crate::entities::{EntityHeadResponse, EntityLinksResponse, sent};
use crate::markdown::Block;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SpacesResponse {
    /// What was changed last comes first.
    pub spaces: Vec<SpaceHeadResponse>,
    pub next: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SpaceHead")]
pub struct SpaceHeadResponse {
    #[serde(flatten)]
    pub entity: EntityHeadResponse,
    /// Who answers beside its pages, if the owner chose somebody.
    pub agent: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Space")]
pub struct SpaceResponse {
    #[serde(flatten)]
    pub head: SpaceHeadResponse,
    /// Markdown.
    pub body: String,
    /// The same as a tree of what may be shown of it, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<Block>>,
    #[serde(flatten)]
    pub links: EntityLinksResponse,
    /// How much is in it; what was thrown away does not count.
    pub project_count: u64,
    pub page_count: u64,
    pub task_count: u64,
    pub ref_count: u64,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewSpace", extend("required" = ["title"]))]
pub struct NewSpaceRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "NewTitleMember")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BodyMember")]
    pub body: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = SLUG))]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ReasonMember")]
    pub reason: Option<String>,
}

/// What is left out stays as it is.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SpaceChange", extend("required" = ["base_revision"]))]
pub struct SpaceChangeRequest {
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
    /// null: nobody in particular.
    #[serde(
        default,
        deserialize_with = "sent",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<String>", regex(pattern = SLUG))]
    pub agent: Option<Option<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ReasonMember")]
    pub reason: Option<String>,
}
