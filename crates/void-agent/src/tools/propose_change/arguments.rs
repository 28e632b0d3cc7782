//! What a model says of a change, as far as a type can say it; what is text becomes what it stands for here.

use schemars::JsonSchema;
use serde::de::{self, DeserializeOwned};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use void_control::proposals::WantedChange;
use void_domain::changes::ChangeOp;
use void_domain::failures::FailureCode;
use void_domain::ids::SpaceId;
use void_domain::knowledge::{
    Body, DueDate, EntityId, EntityKind, FieldsPatch, InvalidField, RefUrl, Tags, TaskState,
    TextEdit, Title,
};

use super::super::lookups::no_id;
use super::super::{Scope, ToolError};
use super::check_members;

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum EntityWord {
    Page,
    Task,
    Ref,
    Project,
    Space,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum OpWord {
    Create,
    Update,
    Delete,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeArguments {
    entity: EntityWord,
    op: OpWord,
    /// Which one is changed or thrown away; something new has none yet.
    #[serde(default)]
    id: Option<String>,
    /// The revision that you read. Without it the draft is against whichever is there now.
    #[serde(default)]
    base_revision: Option<u64>,
    /// Where something new is made; the space of this conversation if left out.
    #[serde(default)]
    space_id: Option<String>,
    /// What it shall say; what is left out stays as it is.
    #[serde(default, deserialize_with = "object")]
    fields: FieldArguments,
    /// Changes of its text, one after the other. Each finds exactly one place.
    #[serde(default, deserialize_with = "objects")]
    edits: Vec<EditArguments>,
    /// Why, in one or two sentences; the owner reads it as your words.
    reason: String,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FieldArguments {
    #[serde(default)]
    title: Option<String>,
    /// Its whole text, in Markdown.
    #[serde(default)]
    body: Option<String>,
    /// Of a page, task or ref; null takes it out of its project.
    #[serde(default, deserialize_with = "sent")]
    project_id: Option<Option<String>>,
    /// Of a page, task or ref: all of them.
    #[serde(default)]
    tags: Option<Vec<String>>,
    /// Of a task: open, done or dropped.
    #[serde(default)]
    state: Option<String>,
    /// Of a task: a day, 2026-11-19; null: none.
    #[serde(default, deserialize_with = "sent")]
    due: Option<Option<String>>,
    /// Of a ref: an address of the web.
    #[serde(default)]
    url: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditArguments {
    /// Text as it stands there, blanks and line breaks too.
    find: String,
    replace: String,
}

/// A list of values without their names is none of ours, whatever it would fit.
fn object<'de, T: DeserializeOwned, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let members = Map::<String, Value>::deserialize(deserializer)?;
    serde_json::from_value(Value::Object(members)).map_err(de::Error::custom)
}

fn objects<'de, T: DeserializeOwned, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let all = Vec::<Map<String, Value>>::deserialize(deserializer)?;
    let all = all.into_iter().map(Value::Object);
    let all = all.map(|members| serde_json::from_value(members).map_err(de::Error::custom));
    all.collect()
}

/// What is there and null is something else than what is not there.
fn sent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(deserializer).map(Some)
}

impl ChangeArguments {
    pub(super) fn reason(&self) -> Result<String, ToolError> {
        match self.reason.trim() {
            "" => Err(ToolError::new(
                FailureCode::Invalid,
                "give a reason: the owner reads it",
            )),
            reason => Ok(reason.to_owned()),
        }
    }

    pub(super) fn wanted(self, scope: &Scope) -> Result<WantedChange, ToolError> {
        let (kind, op) = (self.entity.kind(), self.op.op());
        let id = self
            .id
            .as_deref()
            .map(|id| EntityId::parse(kind, id).map_err(|_| no_id(kind.as_str(), id)));
        let id = id.transpose()?;
        let has_text = !self.edits.is_empty();
        let said: &[(&'static str, bool)] = match op {
            ChangeOp::Create => &[
                ("edits", has_text),
                ("base_revision", self.base_revision.is_some()),
            ],
            ChangeOp::Update => &[("space_id", self.space_id.is_some())],
            ChangeOp::Delete => &[
                ("edits", has_text),
                ("fields", self.fields != FieldArguments::default()),
                ("space_id", self.space_id.is_some()),
            ],
        };
        check_members(op, id.as_ref(), said)?;
        let base = self.base_revision;
        Ok(match (op, id) {
            (ChangeOp::Delete, Some(id)) => WantedChange::Delete { id, base },
            (ChangeOp::Create | ChangeOp::Update, Some(id)) => WantedChange::Update {
                id,
                base,
                fields: self.fields.patch()?,
                edits: self.edits.into_iter().map(EditArguments::edit).collect(),
            },
            (ChangeOp::Create | ChangeOp::Update | ChangeOp::Delete, None) => {
                WantedChange::Create {
                    kind,
                    space_id: space(kind, self.space_id.as_deref(), scope)?,
                    fields: self.fields.patch()?,
                }
            }
        })
    }
}

/// A new space is in none; everything else is made in the caller's own, or where a caller that is in none says.
fn space(
    kind: EntityKind,
    said: Option<&str>,
    scope: &Scope,
) -> Result<Option<SpaceId>, ToolError> {
    let said = said.map(|id| id.parse().map_err(|_| no_id("space", id)));
    let said: Option<SpaceId> = said.transpose()?;
    let invalid = |message: &str| Err(ToolError::new(FailureCode::Invalid, message));
    match (kind, said.or(scope.space_id)) {
        (EntityKind::Space, _) if said.is_none() => Ok(None),
        (EntityKind::Space, _) => invalid("a space is made in no other: leave space_id out"),
        (_, Some(space)) if scope.has(space) => Ok(Some(space)),
        (_, Some(_)) => invalid("this conversation is about another space: leave space_id out"),
        (_, None) => invalid("say in which space: space_id; search with kind space shows them"),
    }
}

impl EntityWord {
    const fn kind(self) -> EntityKind {
        match self {
            Self::Page => EntityKind::Page,
            Self::Task => EntityKind::Task,
            Self::Ref => EntityKind::Ref,
            Self::Project => EntityKind::Project,
            Self::Space => EntityKind::Space,
        }
    }
}

impl OpWord {
    const fn op(self) -> ChangeOp {
        match self {
            Self::Create => ChangeOp::Create,
            Self::Update => ChangeOp::Update,
            Self::Delete => ChangeOp::Delete,
        }
    }
}

impl EditArguments {
    fn edit(self) -> TextEdit {
        TextEdit {
            find: self.find,
            replace: self.replace,
        }
    }
}

impl FieldArguments {
    fn patch(self) -> Result<FieldsPatch, ToolError> {
        let project_id = self.project_id.map(|id| {
            let id = id.map(|id| id.parse().map_err(|_| no_id("project", &id)));
            id.transpose()
        });
        let title = self.title.map(|text| Title::parse(&text));
        let tags = self
            .tags
            .map(|tags| Tags::parse(tags.iter().map(String::as_str)));
        let state = self.state.map(|text| TaskState::parse(&text));
        let due = self
            .due
            .map(|due| due.map(|day| DueDate::parse(&day)).transpose());
        let url = self.url.map(|text| RefUrl::parse(&text));
        Ok(FieldsPatch {
            title: field("title", title)?,
            body: field("body", self.body.map(Body::new))?,
            project_id: project_id.transpose()?,
            tags: field("tags", tags)?,
            path: None,
            state: field("state", state)?,
            due: field("due", due)?,
            url: field("url", url)?,
            agent: None,
        })
    }
}

fn field<T>(name: &str, value: Option<Result<T, InvalidField>>) -> Result<Option<T>, ToolError> {
    value
        .transpose()
        .map_err(|wrong| ToolError::new(FailureCode::Invalid, format!("{name} {wrong}")))
}
