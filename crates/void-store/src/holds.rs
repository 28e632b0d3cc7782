//! The table `holds`: what agents and the owner put on requests to slow them down or end them, in the order in which it
//! came. Nothing is changed of a row but that its hold is lifted.

use std::collections::HashMap;

use void_domain::holds::{Hold, HoldBy, HoldKind};
use void_domain::ids::ProposalId;
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::facts::steps::{ROWS_AT_ONCE, row_places, row_values};
use crate::tx::Tx;
use crate::values::{Row, values};

macro_rules! columns {
    () => {
        "proposal_id, number, kind, by_kind, by_name, words, taint, at, lifted_at"
    };
}

pub async fn insert(tx: &mut Tx, id: ProposalId, hold: &Hold) -> Result<(), StoreError> {
    let sql = concat!(
        "INSERT INTO holds (",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
    );
    let by_kind = match hold.by {
        HoldBy::Agent(_) => "agent",
        HoldBy::Owner => "owner",
    };
    let taint = serde_json::to_string(&hold.taint);
    let taint = taint.map_err(|error| StoreError::Internal(error.to_string()))?;
    let row = values![
        id.to_string(),
        i64::from(hold.number),
        hold.kind.as_str(),
        by_kind,
        hold.by.name(),
        hold.words.as_str(),
        taint,
        hold.at,
        hold.lifted_at,
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// Everything on one request, oldest first.
pub async fn list(tx: &mut Tx, id: ProposalId) -> Result<Vec<Hold>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM holds WHERE proposal_id = $1 ORDER BY number"
    );
    tx.read("holds", sql, values![id.to_string()], hold).await
}

/// Whether something keeps it from starting.
pub async fn is_held(tx: &mut Tx, id: ProposalId) -> Result<bool, StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM holds \
        WHERE proposal_id = $1 AND kind = 'hold' AND lifted_at IS NULL";
    Ok(tx.count("holds", sql, values![id.to_string()]).await? > 0)
}

/// The same of several, oldest first each; those with nothing are not there.
pub async fn of_proposals(
    tx: &mut Tx,
    ids: &[ProposalId],
) -> Result<HashMap<ProposalId, Vec<Hold>>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM holds WHERE proposal_id IN ",
        row_places!(),
        " ORDER BY proposal_id, number"
    );
    let mut all: HashMap<ProposalId, Vec<Hold>> = HashMap::new();
    for some in ids.chunks(ROWS_AT_ONCE) {
        let ids: Vec<String> = some.iter().map(ProposalId::to_string).collect();
        for row in tx.all("holds", sql, &row_values(&ids)).await? {
            let id = row.parse("proposal_id")?;
            all.entry(id).or_default().push(hold(&row)?);
        }
    }
    Ok(all)
}

/// How many holds were lifted.
pub async fn lift(tx: &mut Tx, id: ProposalId, at: Timestamp) -> Result<u64, StoreError> {
    let sql = "UPDATE holds SET lifted_at = $2 \
        WHERE proposal_id = $1 AND kind = 'hold' AND lifted_at IS NULL";
    tx.execute(sql, values![id.to_string(), at]).await
}

fn hold(row: &Row) -> Result<Hold, StoreError> {
    let kind = row.parsed("kind", HoldKind::parse)?;
    let by = match row.string("by_kind")?.as_str() {
        "agent" => HoldBy::Agent(row.parse("by_name")?),
        "owner" => HoldBy::Owner,
        _ => return Err(row.corrupt("held by nobody")),
    };
    let lifted_at = row.opt_time("lifted_at")?;
    if lifted_at.is_some() && kind != HoldKind::Hold {
        return Err(row.corrupt("lifted without a hold"));
    }
    Ok(Hold {
        number: u32::try_from(row.int("number")?).map_err(|_| row.corrupt("no number"))?,
        kind,
        by,
        words: row.string("words")?,
        taint: row.json("taint")?,
        at: row.time("at")?,
        lifted_at,
    })
}
