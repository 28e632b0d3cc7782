//! The table `drafts`: where a draft comes from beside its requester. A draft without a row was made in no turn, and is no
//! other one asked again.

use std::collections::HashMap;

use void_domain::changes::drafts::{DraftContext, DraftTurn};
use void_domain::ids::{ConversationId, MessageId, ProposalId};

use crate::errors::StoreError;
use crate::facts::steps::{ROWS_AT_ONCE, row_places, row_values};
use crate::tx::Tx;
use crate::values::{Row, values};

/// Notes where a draft that was just stored comes from, if there is anything to note.
pub async fn insert(tx: &mut Tx, id: ProposalId, context: DraftContext) -> Result<(), StoreError> {
    if context == DraftContext::default() {
        return Ok(());
    }
    let sql = "INSERT INTO drafts (proposal_id, conversation_id, message_id, again_of) VALUES ($1, $2, $3, $4)";
    let turn = context.turn.as_ref();
    let row = values![
        id.to_string(),
        turn.map(|turn| turn.conversation_id.to_string()),
        turn.map(|turn| turn.message_id.to_string()),
        context.again_of.map(|id| id.to_string()),
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// What is noted of these proposals; of the others there is nothing.
pub async fn contexts(
    tx: &mut Tx,
    ids: &[ProposalId],
) -> Result<HashMap<ProposalId, DraftContext>, StoreError> {
    let sql = concat!(
        "SELECT proposal_id, conversation_id, message_id, again_of FROM drafts WHERE proposal_id IN ",
        row_places!()
    );
    let mut contexts = HashMap::new();
    for some in ids.chunks(ROWS_AT_ONCE) {
        let ids: Vec<String> = some.iter().map(ProposalId::to_string).collect();
        for row in tx.all("drafts", sql, &row_values(&ids)).await? {
            contexts.insert(row.parse("proposal_id")?, context(&row)?);
        }
    }
    Ok(contexts)
}

fn context(row: &Row) -> Result<DraftContext, StoreError> {
    let turn = match (
        row.opt_text("conversation_id")?,
        row.opt_text("message_id")?,
    ) {
        (Some(_), Some(_)) => Some(DraftTurn {
            conversation_id: row.parse::<ConversationId>("conversation_id")?,
            message_id: row.parse::<MessageId>("message_id")?,
        }),
        (None, None) => None,
        _ => return Err(row.corrupt("half a turn")),
    };
    let again_of = match row.opt_text("again_of")? {
        Some(_) => Some(row.parse("again_of")?),
        None => None,
    };
    Ok(DraftContext { turn, again_of })
}
