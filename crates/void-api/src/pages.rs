//! `/api/spaces/{id}/pages` and `/api/pages`: what the owner writes down, with every revision of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entities::members::{
    BaseMember, BodyMember, IdMember, NewTitleMember, PathMember, ReasonMember, TagsMember,
    TitleMember,
};
use crate::entities::{EntityHeadResponse, EntityLinksResponse, sent};
use crate::markdown::Block;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PagesResponse {
    /// What was changed last comes first.
    pub pages: Vec<PageHeadResponse>,
    pub next: Option<String>,
}

/// A page without its text.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PageHead")]
pub struct PageHeadResponse {
    #[serde(flatten)]
    pub entity: EntityHeadResponse,
    pub project_id: Option<String>,
    /// Its own. Of a page that is asked for alone, those of its front matter too.
    pub tags: Vec<String>,
    /// Where it is in the folder that it came from and goes back to.
    pub path: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Page")]
pub struct PageResponse {
    #[serde(flatten)]
    pub head: PageHeadResponse,
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
#[schemars(rename = "NewPage", extend("required" = ["title"]))]
pub struct NewPageRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "NewTitleMember")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BodyMember")]
    pub body: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "IdMember")]
    pub project_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "TagsMember")]
    pub tags: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "PathMember")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ReasonMember")]
    pub reason: Option<String>,
}

/// What is left out stays as it is.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PageChange", extend("required" = ["base_revision"]))]
pub struct PageChangeRequest {
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ReasonMember")]
    pub reason: Option<String>,
}
