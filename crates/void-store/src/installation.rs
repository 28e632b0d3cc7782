//! The table `installation`: one row. Its epoch is raised whenever an older copy comes back.

use crate::errors::StoreError;
use crate::tx::Tx;

pub(crate) const EPOCH: &str = "SELECT epoch FROM installation WHERE id = 1";

pub async fn epoch(tx: &mut Tx) -> Result<u64, StoreError> {
    let row = tx
        .fixed("installation", EPOCH)
        .await?
        .ok_or_else(|| StoreError::corrupt("installation", 1, "the row is missing"))?;
    row.count("epoch")
}

pub async fn raise_epoch(tx: &mut Tx) -> Result<u64, StoreError> {
    tx.forget_fixed();
    tx.execute(
        "UPDATE installation SET epoch = epoch + 1 WHERE id = 1",
        &[],
    )
    .await?;
    epoch(tx).await
}
