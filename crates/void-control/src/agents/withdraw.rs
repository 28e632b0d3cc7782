//! An agent whose last token is gone is withdrawn, in the transaction that revoked it, and with it what it has waiting,
//! what it asked and was asked, and its reminders: nobody says yes to somebody who is not there any more. However much that is, the withdrawal itself is not late.

use serde_json::json;
use void_domain::agents::AgentName;
use void_domain::ids::TokenId;
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, agents, tokens};

use crate::facts::{self, AuditContext};
use crate::{proposals, questions, reminders};

/// After a token was revoked. Tokens of viewers and nodes have no agent.
pub(crate) async fn withdraw_without_tokens(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    revoked: TokenId,
) -> Result<(), StoreError> {
    let token = tokens::find(tx, revoked).await?;
    let Some((agent, name)) = token.and_then(|token| Some((token.agent_id?, token.name))) else {
        return Ok(());
    };
    if agents::withdraw(tx, agent, at).await? {
        let (subject, detail) = (Some(agent.to_string()), json!({"name": name}));
        facts::audit(tx, context, at, "agent.withdrawn", subject, detail).await?;
        proposals::withdraw_waiting_of(tx, context, at, agent.into()).await?;
        if let Ok(name) = name.parse::<AgentName>() {
            questions::end_of(tx, context, at, &name).await?;
            reminders::end_of(tx, context, at, &name).await?;
        }
    }
    Ok(())
}
