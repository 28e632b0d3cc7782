//! The tables `nodes` and `node_errands`: who runs the pull executor, and what one instance asks another to hand over.

use std::time::Duration;

use void_domain::digests::Digest;
use void_domain::nodes::{Asked, Membership, Node, NodeName, Presence};
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Row, int, ms, values};

macro_rules! columns {
    () => {
        "name, state, invite, invite_expires_at, fingerprint, asked_at, asked_from, token_id, joined_at, \
         joined_by, version, list, generation, nonce, seen_at, twin_at"
    };
}

pub async fn find(tx: &mut Tx, name: &NodeName) -> Result<Option<Node>, StoreError> {
    let sql = concat!("SELECT ", columns!(), " FROM nodes WHERE name = $1");
    tx.find("nodes", sql, values![name.as_str()], node).await
}

/// The node that was invited with the token of this hash, whatever became of it since.
pub async fn find_invited(tx: &mut Tx, invite: Digest) -> Result<Option<Node>, StoreError> {
    let sql = concat!("SELECT ", columns!(), " FROM nodes WHERE invite = $1");
    tx.find("nodes", sql, values![invite], node).await
}

/// By name.
pub async fn list(tx: &mut Tx, limit: u32) -> Result<Vec<Node>, StoreError> {
    let sql = concat!("SELECT ", columns!(), " FROM nodes ORDER BY name LIMIT $1");
    tx.read("nodes", sql, values![i64::from(limit)], node).await
}

/// Those that ask to join, the first to ask first.
pub async fn list_waiting(tx: &mut Tx, limit: u32) -> Result<Vec<Node>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM nodes WHERE state = 'waiting' ORDER BY asked_at LIMIT $1"
    );
    tx.read("nodes", sql, values![i64::from(limit)], node).await
}

pub async fn count_waiting(tx: &mut Tx) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM nodes WHERE state = 'waiting'";
    tx.count("nodes", sql, &[]).await
}

/// Writes the whole row. Writers take turns, on both engines, so what was read in this transaction still holds.
pub async fn save(tx: &mut Tx, node: &Node) -> Result<(), StoreError> {
    tx.execute(
        "DELETE FROM nodes WHERE name = $1",
        values![node.name.as_str()],
    )
    .await?;
    let sql = concat!(
        "INSERT INTO nodes (",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)"
    );
    let (expires_at, asked, joined) = match &node.membership {
        Membership::Invited { expires_at, .. } => (Some(*expires_at), None, None),
        Membership::Waiting { asked, .. } => (None, Some(asked), None),
        Membership::Joined {
            token_id, at, by, ..
        } => (None, None, Some((token_id.to_string(), *at, by))),
    };
    let presence = &node.presence;
    let (token_id, joined_at, joined_by) = match joined {
        Some((token_id, at, by)) => (Some(token_id), Some(at), Some(by)),
        None => (None, None, None),
    };
    let row = values![
        node.name.as_str(),
        node.membership.as_str(),
        node.membership.invite(),
        expires_at,
        node.membership.fingerprint(),
        asked.map(|asked| asked.at),
        asked.map(|asked| asked.from.as_str()),
        token_id,
        joined_at,
        joined_by,
        presence.version.as_ref(),
        presence.list.as_ref(),
        int(presence.generation),
        presence.nonce.as_ref(),
        presence.seen_at,
        presence.twin_at,
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

pub async fn remove(tx: &mut Tx, name: &NodeName) -> Result<bool, StoreError> {
    let sql = "DELETE FROM nodes WHERE name = $1";
    Ok(tx.execute(sql, values![name.as_str()]).await? == 1)
}

pub async fn saw(tx: &mut Tx, name: &str, at: Timestamp) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE nodes SET seen_at = $2 WHERE name = $1",
        values![name, at],
    )
    .await?;
    Ok(())
}

fn node(row: &Row) -> Result<Node, StoreError> {
    let name = row.parsed("name", NodeName::parse)?;
    let membership = match row.text("state")? {
        "invited" => Membership::Invited {
            invite: row.parse("invite")?,
            expires_at: row.time("invite_expires_at")?,
        },
        "waiting" => Membership::Waiting {
            invite: row.parse("invite")?,
            asked: Asked {
                fingerprint: row.parse("fingerprint")?,
                at: row.time("asked_at")?,
                from: row.string("asked_from")?,
            },
        },
        "joined" => Membership::Joined {
            invite: row.opt_parse("invite")?,
            token_id: row.parse("token_id")?,
            fingerprint: row.parse("fingerprint")?,
            at: row.time("joined_at")?,
            by: row.string("joined_by")?,
        },
        _ => return Err(row.corrupt("no such state")),
    };
    Ok(Node {
        name,
        membership,
        presence: Presence {
            version: row.opt_string("version")?,
            list: row.opt_string("list")?,
            generation: row.count("generation")?,
            nonce: row.opt_string("nonce")?,
            seen_at: row.opt_time("seen_at")?,
            twin_at: row.opt_time("twin_at")?,
        },
    })
}

/// A command that waits for the instance at which its node polls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrandedCommand {
    pub id: String,
    pub node: String,
    pub command: String,
    pub limit: Duration,
    pub is_run: bool,
}

/// The same question may strand twice; the first one stays.
pub async fn strand(
    tx: &mut Tx,
    command: &StrandedCommand,
    at: Timestamp,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO node_errands (id, node, command, limit_ms, is_run, created_at) \
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING";
    let row = values![
        &command.id,
        &command.node,
        &command.command,
        ms(command.limit),
        i64::from(command.is_run),
        at,
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// What nobody has handed over yet, oldest first.
pub async fn list_stranded(tx: &mut Tx, limit: u32) -> Result<Vec<StrandedCommand>, StoreError> {
    let sql = "SELECT id, node, command, limit_ms, is_run FROM node_errands \
        WHERE handed_at IS NULL ORDER BY created_at LIMIT $1";
    let rows = tx
        .all("node_errands", sql, values![i64::from(limit)])
        .await?;
    let command = |row: &Row| {
        Ok(StrandedCommand {
            id: row.string("id")?,
            node: row.string("node")?,
            command: row.string("command")?,
            limit: Duration::from_millis(row.count("limit_ms")?),
            is_run: row.flag("is_run")?,
        })
    };
    rows.iter().map(command).collect()
}

/// Whether we are the one who hands it over.
pub async fn take_stranded(tx: &mut Tx, id: &str, at: Timestamp) -> Result<bool, StoreError> {
    let sql = "UPDATE node_errands SET handed_at = $2 WHERE id = $1 AND handed_at IS NULL";
    Ok(tx.execute(sql, values![id, at]).await? == 1)
}

pub async fn answer_stranded(tx: &mut Tx, id: &str, answer: &str) -> Result<(), StoreError> {
    let sql = "UPDATE node_errands SET answer = $2 WHERE id = $1 AND handed_at IS NOT NULL";
    tx.execute(sql, values![id, answer]).await?;
    Ok(())
}

/// `None`: not there any more. Otherwise whether it was handed over, and the answer if there is one.
pub async fn look_at_stranded(
    tx: &mut Tx,
    id: &str,
) -> Result<Option<(bool, Option<String>)>, StoreError> {
    let sql = "SELECT id, handed_at, answer FROM node_errands WHERE id = $1";
    let row = tx.one("node_errands", sql, values![id]).await?;
    row.map(|row| {
        let answer = row.opt_string("answer")?;
        Ok((row.opt_time("handed_at")?.is_some(), answer))
    })
    .transpose()
}

/// Takes it back; `false` if it was handed over.
pub async fn withdraw_stranded(tx: &mut Tx, id: &str) -> Result<bool, StoreError> {
    let sql = "DELETE FROM node_errands WHERE id = $1 AND handed_at IS NULL";
    Ok(tx.execute(sql, values![id]).await? == 1)
}

/// Clears one away whose answer was read, or all that are older than this.
pub async fn clear_stranded(
    tx: &mut Tx,
    id: Option<&str>,
    before: Timestamp,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM node_errands WHERE id = $1 OR created_at < $2";
    tx.execute(sql, values![id.unwrap_or_default(), before])
        .await?;
    Ok(())
}
