//! Refusals are on the record, but a flood of them does not fill it (I36): of a token's equal refusals the
//! first in [`WINDOW`] is recorded whole, the others are counted, and when the window ends one entry
//! `refusals.counted` says how many there were. A stop records what is counted so far; a crash loses the
//! counts of the last window, never a first refusal.
//!
//! It holds for whoever calls from outside with a token. The owner's refusals and those of a turn, which has
//! its own bounds, are recorded one by one.

use serde_json::{Value, json};
use void_domain::actors::Actor;
use void_store::StoreError;

use crate::context::Ctx;
use crate::control::Control;
use crate::facts::{self, AuditContext};
pub use crate::parts::refusal_counts::RefusalKind;
pub(crate) use crate::parts::refusal_counts::{Recorded, RequestRefusal};

/// Whether what this caller is refused is counted.
pub(crate) fn is_counted(ctx: &Ctx) -> bool {
    match ctx.actor {
        Actor::Owner { .. } | Actor::System => false,
        Actor::Agent { .. } | Actor::Viewer { .. } | Actor::Node { .. } => ctx.is_from_outside,
    }
}

/// Records one that Void itself refused, with this detail, if it is the first of its kind in the window; the
/// others are counted.
pub async fn note(control: &Control, kind: RefusalKind, detail: Value) -> Result<(), StoreError> {
    let (context, at) = (control.context(&control.system_ctx()?), control.clock.now());
    let verb = kind.verb;
    let (kind, seen) = control.bounds.refusal_counts.note(kind, at);
    if seen != Recorded::First {
        return Ok(());
    }
    let recorded = control
        .store
        .write(move |tx| {
            Box::pin(async move { facts::audit(tx, &context, at, verb, None, detail).await })
        })
        .await;
    if recorded.is_err() {
        control.bounds.refusal_counts.forget(&kind);
    }
    recorded
}

/// Records the counts whose window is over.
pub(crate) async fn sweep(control: &Control) -> Result<(), StoreError> {
    record(control, false).await
}

/// Records all counts, because the server stops.
pub(crate) async fn flush(control: &Control) -> Result<(), StoreError> {
    record(control, true).await
}

async fn record(control: &Control, all: bool) -> Result<(), StoreError> {
    let at = control.clock.now();
    let due = control.bounds.refusal_counts.take_due(at, all);
    if due.is_empty() {
        return Ok(());
    }
    let context = control.context(&control.system_ctx()?);
    let entries = due.clone();
    let written = control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                for (kind, count) in entries {
                    let context = AuditContext {
                        actor: kind.actor,
                        ..context.clone()
                    };
                    let detail = json!({
                        "verb": kind.verb,
                        "what": kind.what,
                        "code": kind.code,
                        "count": count.repeats,
                        "since": count.since,
                        "until": count.last,
                    });
                    let row = count.row.map(|id| id.to_string());
                    facts::audit(tx, &context, at, "refusals.counted", row, detail).await?;
                }
                Ok(())
            })
        })
        .await;
    if written.is_err() {
        control.bounds.refusal_counts.give_back(due);
    }
    written
}
