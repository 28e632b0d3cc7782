//! `/api/spaces/{id}/preview`: how a text would be shown, before it is stored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::entities::members::BodyMember;
use crate::markdown::Block;

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["text"]))]
pub struct PreviewRequest {
    /// Markdown. Front matter is for programs, and not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BodyMember")]
    pub text: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PreviewResponse {
    /// What may be shown of it; what it names in that space is a link.
    pub blocks: Vec<Block>,
}
