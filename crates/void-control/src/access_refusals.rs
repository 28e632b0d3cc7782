//! What a known caller tried and may not do is on the record, and counted where one token does it again and again.

use serde_json::json;
use void_domain::failures::FailureCode;
use void_domain::text;
use void_store::StoreError;

use crate::context::Ctx;
use crate::control::Control;
use crate::facts;
use crate::refusal_counts::{self, Recorded};

/// Records that a known caller tried something it may not do.
pub async fn record_refusal(control: &Control, ctx: &Ctx, what: &str) -> Result<(), StoreError> {
    let at = control.clock.now();
    let what = text::escaped(text::cut(what, 200));
    let context = control.context(ctx);
    let kind = refusal_counts::RefusalKind {
        actor: context.actor.clone(),
        verb: "access.refused",
        what: what.clone(),
        code: FailureCode::Forbidden.to_string(),
    };
    let first = match refusal_counts::is_counted(ctx) {
        false => None,
        true => match control.bounds.refusal_counts.note(kind, at) {
            (kind, Recorded::First) => Some(kind),
            (_, Recorded::Again(_)) => return Ok(()),
        },
    };
    let written = control
        .store
        .write(move |tx| {
            Box::pin(async move {
                facts::audit(
                    tx,
                    &context,
                    at,
                    "access.refused",
                    None,
                    json!({"what": what}),
                )
                .await
            })
        })
        .await;
    if let (Err(_), Some(kind)) = (&written, &first) {
        control.bounds.refusal_counts.forget(kind);
    }
    written
}
