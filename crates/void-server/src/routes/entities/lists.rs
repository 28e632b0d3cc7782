//! What a list of a space shows, as its query says it. How long a page of it may be is the store's to say, in rows and in bytes.

use serde::Deserialize;
use void_control::Ctx;
use void_control::knowledge::{self, EntityFilter};
use void_domain::ids::{ProjectId, SpaceId};
use void_domain::knowledge::{EntityHead, EntityKind, TaskState};

use super::knowledge_error;
use super::responses::{HeadResponse, head_response, mark_reader};
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::page_rows;
use crate::table::Parameter;

pub(in crate::routes) const PROJECT: Parameter = Parameter {
    name: "project",
    kind: "string",
    meaning: "only what belongs to this project",
};
pub(in crate::routes) const WITH_DELETED: Parameter = Parameter {
    name: "deleted",
    kind: "string",
    meaning: "true: what was thrown away instead, for the owner",
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::routes) enum ListOrder {
    /// What was changed last comes first.
    #[default]
    Changed,
    /// Open tasks, by their day.
    Due,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListQuery {
    project: Option<String>,
    state: Option<String>,
    order: Option<ListOrder>,
    #[serde(default)]
    deleted: bool,
    cursor: Option<String>,
    limit: Option<u32>,
}

/// A list that was asked for.
pub(in crate::routes) struct WantedList {
    filter: EntityFilter,
    order: ListOrder,
    cursor: Option<String>,
    rows: u32,
}

impl ListQuery {
    /// Of one kind in a space, or of all spaces. What its kind does not have is refused.
    pub(in crate::routes) fn wanted(
        self,
        kind: EntityKind,
        space: Option<SpaceId>,
    ) -> Result<WantedList, ApiError> {
        let rows = page_rows(self.limit)?;
        let has_projects = matches!(kind, EntityKind::Page | EntityKind::Task | EntityKind::Ref);
        let is_task = kind == EntityKind::Task;
        for (name, is_given, is_known) in [
            ("project", self.project.is_some(), has_projects),
            ("state", self.state.is_some(), is_task),
            ("order", self.order.is_some(), is_task),
        ] {
            if is_given && !is_known {
                let problem = format!("says nothing about a {kind}");
                return Err(ApiError::invalid_field(name, problem));
            }
        }
        let order = self.order.unwrap_or_default();
        let is_narrowed = self.project.is_some() || self.state.is_some() || self.deleted;
        if order == ListOrder::Due && is_narrowed {
            let problem = "due lists all that is open, and takes no project, state or deleted";
            return Err(ApiError::invalid_field("order", problem));
        }
        let project_id = self.project.map(|id| id.parse::<ProjectId>()).transpose();
        let state = self.state.map(|text| TaskState::parse(&text)).transpose();
        Ok(WantedList {
            filter: EntityFilter {
                kind,
                space_id: space,
                project_id: project_id
                    .map_err(|_| ApiError::invalid_field("project", "must be the id of one"))?,
                state: state
                    .map_err(|wrong| ApiError::invalid_field("state", wrong.to_string()))?,
                is_deleted: self.deleted,
            },
            order,
            cursor: self.cursor,
            rows,
        })
    }
}

/// A page of a list, and the cursor of the rest. `of_kind` takes what the list is of.
pub(in crate::routes) async fn heads<T>(
    app: &App,
    ctx: &Ctx,
    wanted: WantedList,
    of_kind: impl Fn(HeadResponse) -> Option<T>,
) -> Result<(Vec<T>, Option<String>), ApiError> {
    let (control, filter, cursor) = (app.control(), wanted.filter, wanted.cursor);
    let page = match (wanted.order, filter.space_id) {
        (ListOrder::Due, Some(space)) => {
            knowledge::list_open_tasks(control, ctx, space, cursor, wanted.rows).await
        }
        (ListOrder::Due | ListOrder::Changed, _) => {
            knowledge::list(control, ctx, filter, cursor, wanted.rows).await
        }
    };
    // A list that is not there is one of a space that is not.
    let page = page.map_err(|error| knowledge_error(error, EntityKind::Space))?;
    let sources = page.items.iter().filter_map(EntityHead::taint_source);
    mark_reader(control, ctx, sources).await?;
    let heads = page.items.into_iter().map(head_response);
    Ok((heads.filter_map(of_kind).collect(), page.next))
}
