//! The table `bridge_files`: what the file bridge has to know beside the proposals. A proposal without a
//! row here has a file that is called by its own id, that nobody was offered and nobody moved wrongly.

use void_domain::bridge::{DroppedDetails, InstanceId, NOTES_MAX, Note};
use void_domain::ids::ProposalId;
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Row, values};

#[derive(Debug, Clone, PartialEq)]
pub struct BridgeFile {
    pub instance: InstanceId,
    pub proposal_id: ProposalId,
    /// The words of the dropped file that the proposal came from.
    pub details: Option<DroppedDetails>,
    /// Since when its file may be taken from `approved/`.
    pub offered_at: Option<Timestamp>,
    pub notes: Vec<Note>,
}

pub async fn find(tx: &mut Tx, instance: &InstanceId) -> Result<Option<BridgeFile>, StoreError> {
    let sql = "SELECT instance_id, proposal_id, details, offered_at, notes FROM bridge_files WHERE instance_id = $1";
    tx.find("bridge_files", sql, values![instance.as_str()], file)
        .await
}

pub async fn find_of(tx: &mut Tx, id: ProposalId) -> Result<Option<BridgeFile>, StoreError> {
    let sql = "SELECT instance_id, proposal_id, details, offered_at, notes FROM bridge_files WHERE proposal_id = $1";
    tx.find("bridge_files", sql, values![id.to_string()], file)
        .await
}

/// A proposal that came from a dropped file.
pub async fn insert(
    tx: &mut Tx,
    instance: &InstanceId,
    id: ProposalId,
    details: &DroppedDetails,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO bridge_files (instance_id, proposal_id, details, notes) VALUES ($1, $2, $3, '[]')";
    let row = values![
        instance.as_str(),
        id.to_string(),
        details.to_value().to_string()
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// From now on, or no more, a foreign executor may take it.
pub async fn set_offered(
    tx: &mut Tx,
    id: ProposalId,
    offered_at: Option<Timestamp>,
) -> Result<(), StoreError> {
    ensure(tx, id).await?;
    let sql = "UPDATE bridge_files SET offered_at = $2 WHERE proposal_id = $1";
    tx.execute(sql, values![id.to_string(), offered_at]).await?;
    Ok(())
}

/// The first moves that were refused are written into the file. `false`: there are enough already.
pub async fn add_note(tx: &mut Tx, id: ProposalId, note: &Note) -> Result<bool, StoreError> {
    ensure(tx, id).await?;
    let Some(mut known) = find_of(tx, id).await? else {
        return Ok(false);
    };
    if known.notes.len() >= NOTES_MAX {
        return Ok(false);
    }
    known.notes.push(note.clone());
    let notes = serde_json::to_string(&known.notes)
        .map_err(|error| StoreError::Internal(error.to_string()))?;
    let sql = "UPDATE bridge_files SET notes = $2 WHERE proposal_id = $1";
    tx.execute(sql, values![id.to_string(), notes]).await?;
    Ok(true)
}

async fn ensure(tx: &mut Tx, id: ProposalId) -> Result<(), StoreError> {
    if find_of(tx, id).await?.is_some() {
        return Ok(());
    }
    let sql = "INSERT INTO bridge_files (instance_id, proposal_id, notes) VALUES ($1, $2, '[]')";
    let id = id.to_string();
    tx.execute(sql, values![id.as_str(), id.as_str()]).await?;
    Ok(())
}

fn file(row: &Row) -> Result<BridgeFile, StoreError> {
    let json =
        |text: &str| serde_json::from_str(text).map_err(|_| row.corrupt("a column is not JSON"));
    Ok(BridgeFile {
        instance: row.parsed("instance_id", InstanceId::parse)?,
        proposal_id: row.parse("proposal_id")?,
        details: match row.opt_text("details")? {
            Some(text) => Some(DroppedDetails::from_value(&json(text)?)),
            None => None,
        },
        offered_at: row.opt_time("offered_at")?,
        notes: serde_json::from_str(row.text("notes")?)
            .map_err(|_| row.corrupt("the notes are not a list"))?,
    })
}
