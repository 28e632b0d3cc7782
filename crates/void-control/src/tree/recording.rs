//! What the record says about changes of the tree. One verb; its subject is the instance whose tree it is.

use serde_json::{Value, json};
use void_domain::agents::AgentName;
use void_domain::fail_point;
use void_store::StoreError;
use void_store::facts::{self as stored, FactFilter};
use void_tree::{Relocation, RightShift, RightsChange};

use crate::context::Ctx;
use crate::control::Control;
use crate::facts;

const CHANGED: &str = "topology.changed";
/// A commit of what agents have applied, or of what is pinned, perhaps with somebody new in the tree.
pub(crate) const DEPLOYED: &str = "topology.deployed";
/// What both begin with; nothing else is on the record about an instance's repository.
const OF_REPOSITORY: &str = "topology.";
/// How many names are told one by one; the others are counted.
const TOLD_MAX: usize = 50;

/// Why a tree is another one than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// There was none.
    Begun,
    /// Somebody came or went.
    Members,
    /// The file was edited by hand.
    Edited,
    /// The repository has a commit that the record does not know.
    Found,
    /// The owner moved somebody.
    Moved,
}

impl Why {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Members => "members",
            Self::Edited => "edited",
            Self::Found => "found",
            Self::Moved => "moved",
        }
    }

    /// The subject of a commit that nobody asked for.
    pub(super) const fn subject(self) -> &'static str {
        match self {
            Self::Begun => "tree: begin",
            Self::Members => "tree: follow who came and went",
            Self::Edited => "tree: take in an edit by hand",
            Self::Found => "tree: take in what was found",
            Self::Moved => "tree: move",
        }
    }
}

pub(super) struct TreeChange<'a> {
    pub why: Why,
    /// The commit before, as far as it is known.
    pub before: Option<&'a str>,
    pub commit: &'a str,
    /// Who made the commit.
    pub author: &'a str,
    pub relocations: &'a [Relocation],
    pub rights: &'a [RightsChange],
}

/// The commit that the record knows as this instance's tree.
pub(super) async fn known(control: &Control) -> Result<Option<String>, StoreError> {
    let filter = FactFilter {
        subject: Some(control.process.instance.id.clone()),
        actor: String::new(),
        verb: OF_REPOSITORY.to_owned(),
    };
    let newest = control
        .store
        .read(move |tx| Box::pin(async move { stored::list(tx, &filter, None, 1).await }))
        .await?;
    let commit = newest.items.first().and_then(|entry| {
        let detail: Value = serde_json::from_str(&entry.detail).ok()?;
        detail.get("commit")?.as_str().map(str::to_owned)
    });
    Ok(commit)
}

pub(super) async fn record(
    control: &Control,
    ctx: &Ctx,
    change: &TreeChange<'_>,
) -> Result<(), StoreError> {
    let (context, at) = (control.context(ctx), control.clock.now());
    let (instance, detail) = (control.process.instance.id.clone(), detail(change));
    fail_point!("tree.record.before");
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                facts::audit(tx, &context, at, CHANGED, Some(instance), detail).await
            })
        })
        .await?;
    fail_point!("tree.record.after");
    Ok(())
}

fn detail(change: &TreeChange<'_>) -> Value {
    let relocation = |one: &Relocation| json!({"name": one.name, "from": one.from, "to": one.to});
    let told = change.relocations.iter().take(TOLD_MAX);
    let rights = change.rights.iter().take(TOLD_MAX);
    json!({
        "why": change.why.as_str(),
        "commit": change.commit,
        "before": change.before,
        "author": change.author,
        "relocations": told.map(relocation).collect::<Vec<_>>(),
        "relocations_count": change.relocations.len(),
        "rights": rights.map(rights_change).collect::<Vec<_>>(),
        "rights_count": change.rights.len(),
    })
}

fn rights_change(change: &RightsChange) -> Value {
    let shifts = |wanted: bool| -> Vec<Value> {
        let those = change.shifts.iter().filter(|one| one.is_gain() == wanted);
        those.map(shift).collect()
    };
    json!({
        "who": names(&change.who),
        "who_count": change.who.len(),
        "over": names(&change.over),
        "over_count": change.over.len(),
        "gains": shifts(true),
        "loses": shifts(false),
    })
}

fn shift(shift: &RightShift) -> Value {
    json!({"operation": shift.operation.as_str(), "from": shift.from.as_str(), "to": shift.to.as_str()})
}

fn names(names: &[AgentName]) -> &[AgentName] {
    names.get(..names.len().min(TOLD_MAX)).unwrap_or(names)
}

/// A commit's message.
pub(super) fn message(subject: &str, relocations: &[Relocation]) -> String {
    let place = |place: &Option<AgentName>| match place {
        Some(parent) => parent.to_string(),
        None => "nowhere".to_owned(),
    };
    let told = relocations.iter().take(TOLD_MAX);
    let mut lines: Vec<String> = told
        .map(|one| {
            format!(
                "- {}: from {} to {}",
                one.name,
                place(&one.from),
                place(&one.to)
            )
        })
        .collect();
    if relocations.len() > TOLD_MAX {
        lines.push(format!("- and {} more", relocations.len() - TOLD_MAX));
    }
    format!("{subject}\n\n{}", lines.join("\n"))
}
