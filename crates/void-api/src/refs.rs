//! `/api/spaces/{id}/refs` and `/api/refs`: pages of the web that the owner keeps, with the text that was found there. It is
//! always somebody else's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use void_domain::limits::REF_URL_BYTES_MAX;

use crate::attachments::AttachmentResponse;
use crate::entities::members::{
    BaseMember, BodyMember, IdMember, ReasonMember, TagsMember, TitleMember,
};
use crate::entities::{EntityHeadResponse, EntityLinksResponse, sent};
use crate::markdown::Block;

/// An address with http or https, a host, and neither a user name nor characters that hide something.
pub const WEB_ADDRESS: &str =
    r#"^[Hh][Tt][Tt][Pp][Ss]?://[A-Za-z0-9._~-]+(:[0-9]{1,5})?([/?#][!#-;=?-\[\]_a-z~]*)?$"#;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RefsResponse {
    /// What was changed last comes first.
    pub refs: Vec<RefHeadResponse>,
    pub next: Option<String>,
}

/// A ref without its text.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RefHead")]
pub struct RefHeadResponse {
    #[serde(flatten)]
    pub entity: EntityHeadResponse,
    pub project_id: Option<String>,
    pub url: String,
    pub tags: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Ref")]
pub struct RefResponse {
    #[serde(flatten)]
    pub head: RefHeadResponse,
    /// The text that was captured, as Markdown.
    pub body: String,
    /// The same as a tree of what may be shown of it, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<Block>>,
    #[serde(flatten)]
    pub links: EntityLinksResponse,
    /// The page or file that it was made from, as it came.
    pub source: Option<AttachmentResponse>,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewRef", extend("required" = ["url"]))]
pub struct NewRefRequest {
    /// Without a title and a body the page is captured. With one of them nothing is fetched, and a title that is left out is
    /// the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "TitleMember")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BodyMember")]
    pub body: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "IdMember")]
    pub project_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = REF_URL_BYTES_MAX), regex(pattern = WEB_ADDRESS))]
    pub url: Option<String>,
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
#[schemars(rename = "RefChange", extend("required" = ["base_revision"]))]
pub struct RefChangeRequest {
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
    #[schemars(length(max = REF_URL_BYTES_MAX), regex(pattern = WEB_ADDRESS))]
    pub url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "TagsMember")]
    pub tags: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ReasonMember")]
    pub reason: Option<String>,
}
