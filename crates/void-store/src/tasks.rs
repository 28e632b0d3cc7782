//! The table `tasks`. What is to be done next is listed by its day.

use void_domain::ids::SpaceId;
use void_domain::knowledge::{
    Details, DueDate, EntityHead, EntityId, EntityKind, TaskDetails, TaskState,
};

use crate::entity_tables::{EntityTable, entity_table, head_of, json, readable};
use crate::errors::StoreError;
use crate::queries::{Paged, Select};
use crate::tx::Tx;
use crate::values::{Page, Row, Value};

/// Sorts behind every day.
const NO_DAY: &str = "no day";

pub(crate) const TABLE: EntityTable = entity_table!(
    "tasks",
    ", project_id, tags, state, due, due_order",
    ", $14, $15, $16, $17, $18",
    ", project_id = $13, tags = $14, state = $15, due = $16, due_order = $17"
);

pub(crate) fn own_values(task: &TaskDetails, id: EntityId) -> Vec<Value<'static>> {
    let due = task.due.map(|due| due.to_string());
    let order = format!("{}-{id}", due.as_deref().unwrap_or(NO_DAY));
    vec![
        task.project_id.map(|id| id.to_string()).into(),
        json(&task.tags).into(),
        task.state.as_str().into(),
        due.into(),
        order.into(),
    ]
}

pub(crate) fn details(row: &Row) -> Result<TaskDetails, StoreError> {
    let due = row.opt_text("due")?.map(DueDate::parse).transpose();
    Ok(TaskDetails {
        project_id: row.opt_parse("project_id")?,
        state: row.parsed("state", |state| TaskState::parse(state).ok())?,
        due: due.map_err(|_| row.corrupt("column due does not hold what it should"))?,
        tags: row.json("tags")?,
    })
}

/// What is open in a space, by day; those without a day last, oldest first.
pub async fn list_open(
    tx: &mut Tx,
    space: SpaceId,
    cursor: Option<&str>,
    limit: u32,
) -> Result<Page<EntityHead>, StoreError> {
    open_by_day(space, cursor)
        .page(tx, limit, |row| readable(head(row)))
        .await
}

fn open_by_day(space: SpaceId, cursor: Option<&str>) -> Paged<'_> {
    Select::new("tasks", TABLE.heads)
        .only("state = 'open'")
        .only("deleted_at IS NULL")
        .only_with("space_id = ?", space.to_string())
        .oldest_first("due_order", cursor)
}

fn head(row: &Row) -> Result<EntityHead, StoreError> {
    head_of(EntityKind::Task, row, Details::Task(details(row)?))
}

#[cfg(test)]
mod tests {
    use void_domain::time::Timestamp;

    use super::*;
    use crate::queries::plan;

    #[test]
    fn what_is_open_is_listed_in_the_order_of_an_index() {
        let space = SpaceId::new(Timestamp::from_ms(1), [1; 10]);
        for cursor in [None, Some("2026-11-19-x")] {
            let plan = plan(open_by_day(space, cursor)).join("; ");
            assert!(plan.contains("tasks_open_by_due (space_id=?"), "{plan}");
            assert!(!plan.contains("TEMP B-TREE"), "{plan}");
        }
        assert!(NO_DAY > "9999-12-31");
    }
}
