//! What a turn had is settled with its end, in the transaction that ends it.

use serde_json::json;
use void_domain::conversations::TurnState;
use void_domain::ids::MessageId;
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, agent_turns as table};

use super::wake::keep;
use crate::facts::{self, AuditContext};

/// A turn that came to its end, or that the owner ended, has dealt with what began it. After one that failed it waits again,
/// a while longer each time, and goes when it was tried often enough: that is on the record.
pub(crate) async fn settle(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    turn: MessageId,
    state: &TurnState,
) -> Result<(), StoreError> {
    let is_failed = match state {
        TurnState::Failed { .. } => true,
        TurnState::Running | TurnState::Done { .. } | TurnState::Stopped { .. } => false,
    };
    for cause in table::list_of_turn(tx, turn).await? {
        table::delete(tx, &cause).await?;
        if !is_failed {
            continue;
        }
        let detail =
            json!({"name": cause.agent, "cause": cause.cause, "attempts": cause.attempts + 1});
        match cause.after_failure(at) {
            Some(again) => keep(tx, again).await?,
            None => {
                let subject = Some(turn.to_string());
                facts::audit(tx, context, at, "turn.given_up", subject, detail).await?;
            }
        }
    }
    Ok(())
}
