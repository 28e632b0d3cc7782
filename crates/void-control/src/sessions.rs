//! Ends the owner's browser sessions in the transaction after which what opened them no longer counts. How they
//! are opened and kept is in `void-access`.

use serde_json::json;
use void_domain::events::{Audience, EventKind, NewEvent};
use void_domain::ids::SessionId;
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, events, sessions};

use crate::facts::{self, AuditContext};

/// Ends every session but this one, because what opened them may no longer count; their open streams
/// close. Part of the transaction that changes how the owner signs in.
pub async fn end_others(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    but: Option<SessionId>,
    because: &'static str,
) -> Result<u64, StoreError> {
    let ended = sessions::end_others(tx, but, at).await?;
    if ended > 0 {
        let detail = json!({"count": ended, "because": because});
        facts::audit(tx, context, at, "session.others_ended", None, detail).await?;
        let event = NewEvent {
            kind: EventKind::AccessRevoked,
            audience: Audience::OwnerOnly,
            payload: json!({"sessions": ended}),
        };
        events::append(tx, at, &event).await?;
    }
    Ok(ended)
}
