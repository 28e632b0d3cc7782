//! Where a conversation belongs, in a few words that stand before all that is said in it: they are the same for every turn until
//! the owner changes them, so that a provider can cache them. They are the owner's words and numbers alone: what a stranger could
//! have written is counted and not named, so nothing here marks a turn.

use void_control::knowledge::{self, EntityFilter, KnowledgeError};
use void_control::{Control, Ctx};
use void_domain::ids::SpaceId;
use void_domain::knowledge::{EntityHead, EntityId, EntityKind};
use void_domain::text;

/// Projects that are named; the others are counted.
const PROJECTS_NAMED_MAX: u32 = 20;

/// Empty where there is no space, where the agent may not read in it, or where it cannot be read now: nothing depends on it.
pub(super) async fn summary(control: &Control, ctx: &Ctx, space: Option<SpaceId>) -> String {
    let Some(space) = space else {
        return String::new();
    };
    match of_space(control, ctx, space).await {
        Ok(summary) => summary,
        Err(KnowledgeError::Store(error)) => {
            tracing::error!(%error, "a space could not be summed up for a turn");
            String::new()
        }
        Err(_) => String::new(),
    }
}

async fn of_space(control: &Control, ctx: &Ctx, id: SpaceId) -> Result<String, KnowledgeError> {
    let space = knowledge::find(control, ctx, EntityId::Space(id)).await?;
    let counts = knowledge::space_counts(control, ctx, id).await?;
    let filter = EntityFilter::within(id, EntityKind::Project);
    let projects = knowledge::list(control, ctx, filter, None, PROJECTS_NAMED_MAX).await?;
    // By name: what was changed last must not change the order.
    let mut names: Vec<String> = projects.items.iter().filter_map(own_title).collect();
    names.sort();
    let name = own_title(&space.head);
    let name = name.map_or_else(
        || "a space of the owner's".to_owned(),
        |name| format!("the owner's space {name}"),
    );
    let names = match names.as_slice() {
        [] => String::new(),
        names => format!(": {}", names.join(", ")),
    };
    Ok(format!(
        "This conversation belongs to {name}. In it are {}, {}, {} and {}{names}.",
        counted(counts.pages, "page"),
        counted(counts.tasks, "task"),
        counted(counts.refs, "ref"),
        counted(counts.projects, "project"),
    ))
}

fn own_title(head: &EntityHead) -> Option<String> {
    head.taint_source()
        .is_none()
        .then(|| text::value_in_quotes(&head.title.to_string()))
}

fn counted(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}
