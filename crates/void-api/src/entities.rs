//! What spaces, projects, pages, tasks and refs have in common on the wire. What only one of them has stands in the file of its
//! noun.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use void_domain::knowledge::EntityKind;
use void_domain::limits::PAGE_BYTES_MAX;

use crate::Word;
use crate::bounds::NUMBER_MAX;

/// One line with something in it, and no control character.
pub const TITLE: &str = r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$";
/// A tag, with or without the sign that people write before it.
pub const TAG: &str = r"^#?[\p{L}\p{N}_/-]+$";
/// The words of an origin.
pub const ORIGINS: [&str; 4] = ["owner", "import", "capture", "draft"];

/// What a request with a text may be long: each byte of the text as JSON may write it, and everything around it.
pub const TEXT_REQUEST_BYTES_MAX: usize = JSON_BYTES_PER_BYTE * PAGE_BYTES_MAX + AROUND_BYTES_MAX;
/// `\u0001` is one byte.
const JSON_BYTES_PER_BYTE: usize = 6;
const AROUND_BYTES_MAX: usize = 64 * 1024;

/// What every entity has, in a list too.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "EntityHead")]
pub struct EntityHeadResponse {
    #[schemars(extend("enum" = kinds()))]
    pub kind: Word,
    pub id: String,
    /// Of a space, its own id.
    pub space_id: String,
    pub title: String,
    /// The newest one, from 1. A change names it as `base_revision`.
    pub revision: u64,
    /// Where its text came from: `owner`, `import`, `capture` or `draft`.
    #[schemars(extend("enum" = ORIGINS))]
    pub origin: Word,
    /// Of a draft: who wrote it, and what the writer had read.
    pub draft: Option<DraftOrigin>,
    /// Whether a stranger could have written it, and the owner has not answered for it.
    pub foreign: bool,
    /// When the owner answered for a text of somebody else's.
    pub vouched_at: Option<String>,
    pub vouched_by: Option<String>,
    pub created_at: String,
    pub updated_at: String,
    pub updated_by: String,
    /// Of what was thrown away.
    pub deleted_at: Option<String>,
    pub deleted_by: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DraftOrigin {
    pub proposal_id: String,
    pub agent: String,
    /// Foreign content that the agent had read.
    pub taint: Vec<String>,
}

/// What a text names and what names it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct EntityLinksResponse {
    /// Each target once, in the order of the text.
    pub links: Vec<LinkResponse>,
    pub backlinks: Vec<BacklinkResponse>,
    /// There are more of one or the other than are told here.
    pub links_cut: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Link")]
pub struct LinkResponse {
    /// Whether it names one thing that is there, nothing, or several pages of one title.
    #[schemars(extend("enum" = ["one", "none", "several"]))]
    pub found: Word,
    /// Of what was found, or of an address that leads nowhere.
    #[schemars(extend("enum" = link_kinds()))]
    pub kind: Option<Word>,
    pub id: Option<String>,
    /// What it is called; of nothing and of several, what the text calls it.
    pub title: Option<String>,
    /// The pages of that title, if there are several.
    pub candidates: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Backlink")]
pub struct BacklinkResponse {
    #[schemars(extend("enum" = kinds()))]
    pub kind: Word,
    pub id: String,
    pub title: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct EntityDeletedResponse {
    pub deleted: bool,
    #[schemars(extend("enum" = kinds()))]
    pub kind: Word,
    pub id: String,
    pub title: String,
    pub deleted_at: String,
    /// What takes it back: a POST to this path.
    pub undo: String,
}

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["revision"]))]
pub struct VouchRequest {
    /// The revision that was read.
    #[serde(default)]
    #[schemars(required, range(min = 1, max = NUMBER_MAX))]
    pub revision: Option<u64>,
}

/// The schemas of members that several requests have; each stands for a text of its own shape.
pub mod members {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use void_domain::limits::{
        NOTE_PATH_BYTES_MAX, PAGE_BYTES_MAX, REASON_BYTES_MAX, TAG_CHARS_MAX, TAGS_MAX,
        TITLE_CHARS_MAX,
    };

    use super::{TAG, TITLE};
    use crate::bounds::{NUMBER_MAX, PLAIN, UUID};

    macro_rules! member {
        ($($name:ident $schema:tt)*) => {
            $(
                pub struct $name;

                impl JsonSchema for $name {
                    fn inline_schema() -> bool {
                        true
                    }

                    fn schema_name() -> Cow<'static, str> {
                        stringify!($name).into()
                    }

                    fn json_schema(_: &mut SchemaGenerator) -> Schema {
                        json_schema!($schema)
                    }
                }
            )*
        };
    }

    member! {
        NewTitleMember {
            "type": "string", "minLength": 1, "maxLength": TITLE_CHARS_MAX, "pattern": TITLE,
        }
        TitleMember {
            "type": ["string", "null"], "minLength": 1, "maxLength": TITLE_CHARS_MAX, "pattern": TITLE,
        }
        BodyMember {
            "type": ["string", "null"], "maxLength": PAGE_BYTES_MAX, "pattern": PLAIN, "x-max-bytes": PAGE_BYTES_MAX,
        }
        ReasonMember {
            "type": ["string", "null"], "maxLength": REASON_BYTES_MAX, "pattern": PLAIN, "x-max-bytes": REASON_BYTES_MAX,
        }
        IdMember { "type": ["string", "null"], "pattern": UUID }
        PathMember {
            "type": ["string", "null"], "minLength": 1, "maxLength": NOTE_PATH_BYTES_MAX,
            "pattern": r"^[^\u0000-\u001f\u007f-\u009f\\]*$", "x-max-bytes": NOTE_PATH_BYTES_MAX,
        }
        TagsMember {
            "type": ["array", "null"], "maxItems": TAGS_MAX,
            "items": {"type": "string", "pattern": TAG, "minLength": 1, "maxLength": TAG_CHARS_MAX},
        }
        BaseMember { "type": "integer", "minimum": 1, "maximum": NUMBER_MAX }
    }
}

/// A member that was sent, also if it is null: null empties it, and what is left out stays.
pub(crate) fn sent<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}

pub(crate) const fn kinds() -> [&'static str; 5] {
    [
        EntityKind::Space.as_str(),
        EntityKind::Project.as_str(),
        EntityKind::Page.as_str(),
        EntityKind::Task.as_str(),
        EntityKind::Ref.as_str(),
    ]
}

/// What a link may lead to: an entity, a file of the space, or nothing.
fn link_kinds() -> Vec<Option<&'static str>> {
    let all = kinds().into_iter().chain(["attachment"]);
    all.map(Some).chain([None]).collect()
}
