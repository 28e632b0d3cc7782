//! The rows of the outbox that tell of a question: one for each place where a person reads.

use void_domain::ids::QuestionId;
use void_domain::notifications::{Delivery, Target};
use void_domain::time::Timestamp;

use super::{columns, delivery};
use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::values;

/// What became of a question is said where it was asked. What nobody was told yet is told no more.
pub async fn changed(tx: &mut Tx, id: QuestionId, at: Timestamp) -> Result<u64, StoreError> {
    let told = "UPDATE notifications SET wanted = wanted + 1, status = 'waiting', tries = 0, next_at = $2 \
        WHERE question_id = $1 AND shown > 0 AND status IN ('waiting', 'sent', 'failed')";
    let untold = "UPDATE notifications SET status = 'dropped' WHERE question_id = $1 AND shown = 0 AND status IN ('waiting', 'failed')";
    let changed = tx.execute(told, values![id.to_string(), at]).await?;
    Ok(changed + tx.execute(untold, values![id.to_string()]).await?)
}

pub async fn find(
    tx: &mut Tx,
    id: QuestionId,
    target: &Target,
) -> Result<Option<Delivery>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM notifications WHERE question_id = $1 AND target = $2"
    );
    let values = values![id.to_string(), target.to_string()];
    tx.find("notifications", sql, values, delivery).await
}
