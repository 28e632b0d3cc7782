//! `hold`, `veto` and `annotate`: friction of an agent on what those below it ask for. Nothing here lets anything happen,
//! and there is no tool that lifts a hold.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use void_control::holds::{self, HoldError, HoldRequest};
use void_control::proposals::{self, ProposalKey};
use void_domain::failures::FailureCode;
use void_domain::holds::HoldKind;

use super::actions::{ProposeResult, result};
use super::{Call, Effect, Outcome, Reach, RunningTool, Tool, ToolError, schema, written_schema};

const fn tool(
    (name, title): (&'static str, &'static str),
    description: &'static str,
    run: fn(Call) -> RunningTool,
) -> Tool {
    Tool {
        name,
        title,
        description,
        needs: &[],
        effect: Effect::Brakes,
        reach: Reach::FromAbove,
        arguments: schema::<HoldArguments>,
        result: written_schema::<ProposeResult>,
        run,
    }
}

pub(super) static HOLD: Tool = tool(
    ("hold", "Hold a proposal"),
    "Keeps what an agent below you asked for from starting, also where it would need no yes, until the owner lifts \
     that. Say why; the owner reads it on the card. You cannot lift it.",
    |call| Box::pin(add(call, HoldKind::Hold)),
);

pub(super) static VETO: Tool = tool(
    ("veto", "Veto a proposal"),
    "Ends what an agent below you asked for and has not started. Say why; it stays on the request. Nobody undoes it.",
    |call| Box::pin(add(call, HoldKind::Veto)),
);

pub(super) static ANNOTATE: Tool = tool(
    ("annotate", "Annotate a proposal"),
    "Puts words of yours beside what an agent below you asked for and has not started, for the owner to read, quoted \
     as yours.",
    |call| Box::pin(add(call, HoldKind::Annotation)),
);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HoldArguments {
    /// The code or the id.
    proposal: String,
    /// Why, in up to 500 bytes.
    reason: String,
}

async fn add(mut call: Call, kind: HoldKind) -> Result<Outcome, ToolError> {
    let asked: HoldArguments = call.arguments()?;
    let key = ProposalKey::parse(&asked.proposal).ok_or_else(unknown)?;
    let request = HoldRequest {
        kind,
        words: asked.reason,
        taint: call.taint.clone(),
    };
    let done = holds::add(&call.control, &call.ctx, key, request).await;
    let row = done.map_err(refused)?;
    call.notes.add_seen(row.id);
    let shown = proposals::shown_now(&call.control, &row).await?;
    Ok(Outcome::of(json!(result(&row, shown))))
}

fn unknown() -> ToolError {
    let message = "there is no such proposal, or it is not yours to see";
    ToolError::new(FailureCode::NotFound, message)
}

fn refused(error: HoldError) -> ToolError {
    match error {
        HoldError::NotFound => unknown(),
        HoldError::Store(error) => error.into(),
        error => ToolError::new(error.code(), error.to_string()),
    }
}
