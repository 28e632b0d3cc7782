//! The table `freezes`: one row, empty when thawed.

use void_domain::freezes::{Freeze, Frozen};

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::values;

pub(crate) const LOAD: &str =
    "SELECT id, frozen_by, frozen_at, reason, until_at FROM freezes WHERE id = 1";

pub async fn load(tx: &mut Tx) -> Result<Freeze, StoreError> {
    // A missing row grants nothing: without it nobody can tell that things may run.
    let row = tx
        .fixed("freezes", LOAD)
        .await?
        .ok_or_else(|| StoreError::corrupt("freezes", 1, "the row is missing"))?;
    match (row.opt_text("frozen_by")?, row.opt_time("frozen_at")?) {
        (None, None) => Ok(Freeze::Thawed),
        (Some(by), Some(at)) => Ok(Freeze::Frozen(Frozen {
            by: by.to_owned(),
            at,
            reason: row.opt_string("reason")?,
            until: row.opt_time("until_at")?,
        })),
        _ => Err(row.corrupt("half a freeze")),
    }
}

pub async fn save(tx: &mut Tx, freeze: &Freeze) -> Result<(), StoreError> {
    let sql = "UPDATE freezes SET frozen_by = $1, frozen_at = $2, reason = $3, until_at = $4 WHERE id = 1";
    let frozen = match freeze {
        Freeze::Thawed => None,
        Freeze::Frozen(frozen) => Some(frozen),
    };
    let row = values![
        frozen.map(|frozen| frozen.by.as_str()),
        frozen.map(|frozen| frozen.at),
        frozen.and_then(|frozen| frozen.reason.as_deref()),
        frozen.and_then(|frozen| frozen.until),
    ];
    tx.forget_fixed();
    match tx.execute(sql, row).await? {
        1 => Ok(()),
        _ => Err(StoreError::corrupt("freezes", 1, "the row is missing")),
    }
}
