//! The tables `agent_messages` and `agent_message_rates`: what is in the mailboxes of agents, and how much a sender has sent
//! of late. A mailbox is known by its agent's name, which is nobody else's for good.

mod rows;

use void_domain::agent_messages::{
    AgentMessage, AgentMessageState, MailboxLoad, MessageKey, OwnWake, Sender,
};
use void_domain::agents::AgentName;
use void_domain::ids::AgentMessageId;
use void_domain::time::Timestamp;

use self::rows::{columns, message, taint};
use crate::errors::StoreError;
use crate::queries::Select;
use crate::tx::Tx;
use crate::values::{Page, Row, int, values};

const TABLE: &str = "agent_messages";

/// Which messages of a mailbox are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailboxFilter {
    All,
    /// Waiting, or handed out and not acknowledged.
    Open,
    Acknowledged,
    Dead,
}

/// How many of a mailbox stand how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MailboxCounts {
    pub waiting: u64,
    pub delivered: u64,
    pub acknowledged: u64,
    pub dead: u64,
}

pub async fn insert(tx: &mut Tx, message: &AgentMessage) -> Result<(), StoreError> {
    let sql = "INSERT INTO agent_messages (id, sender, receiver, seq, message_key, kind, content, taint, sent_at, expires_at, \
        state, deliveries) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'waiting', 0)";
    let row = values![
        message.id.to_string(),
        message.sender.to_string(),
        message.receiver.as_str(),
        int(message.seq),
        message.key.as_str(),
        message.content.kind(),
        message.content.as_str(),
        taint(&message.taint)?,
        message.sent_at,
        message.expires_at,
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

pub async fn find(tx: &mut Tx, id: AgentMessageId) -> Result<Option<AgentMessage>, StoreError> {
    let sql = concat!("SELECT ", columns!(), " FROM agent_messages WHERE id = $1");
    tx.find(TABLE, sql, values![id.to_string()], message).await
}

/// What this sender has sent under this key, as long as it is kept.
pub async fn find_by_key(
    tx: &mut Tx,
    sender: &Sender,
    key: &MessageKey,
) -> Result<Option<AgentMessage>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM agent_messages WHERE sender = $1 AND message_key = $2"
    );
    let values = values![sender.to_string(), key.as_str()];
    tx.find(TABLE, sql, values, message).await
}

/// A wake for the same cause that was not handed out yet.
pub async fn find_waiting_wake(
    tx: &mut Tx,
    receiver: &AgentName,
    cause: OwnWake,
) -> Result<Option<AgentMessage>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM agent_messages WHERE receiver = $1 AND ended_at IS NULL AND state = 'waiting' AND kind = 'wake' \
         AND content = $2 ORDER BY seq LIMIT 1"
    );
    let values = values![receiver.as_str(), cause.as_str()];
    tx.find(TABLE, sql, values, message).await
}

/// The number of the next message of a mailbox.
pub async fn next_seq(tx: &mut Tx, receiver: &AgentName) -> Result<u64, StoreError> {
    let sql = "SELECT COALESCE(MAX(seq), 0) + 1 AS total FROM agent_messages WHERE receiver = $1";
    tx.count(TABLE, sql, values![receiver.as_str()]).await
}

/// What is open in a mailbox, and how much of it is of one sender.
pub async fn load(
    tx: &mut Tx,
    receiver: &AgentName,
    sender: &Sender,
) -> Result<MailboxLoad, StoreError> {
    let sql = "SELECT receiver, COUNT(*) AS total, COUNT(CASE WHEN sender = $2 THEN 1 END) AS of_sender FROM agent_messages \
        WHERE receiver = $1 AND ended_at IS NULL GROUP BY receiver";
    let values = values![receiver.as_str(), sender.to_string()];
    let load = tx.find(TABLE, sql, values, |row| {
        Ok(MailboxLoad {
            all: row.count("total")?,
            of_sender: row.count("of_sender")?,
        })
    });
    Ok(load.await?.unwrap_or_default())
}

/// What is open in a mailbox, the oldest first; what a sender wrote that had read something of a stranger is left out or not.
pub async fn list_open(
    tx: &mut Tx,
    receiver: &AgentName,
    with_tainted: bool,
    after: u64,
    limit: u32,
) -> Result<Vec<AgentMessage>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM agent_messages WHERE receiver = $1 AND ended_at IS NULL AND (taint = '[]' OR CAST($2 AS BIGINT) = 1) \
         AND seq > $3 ORDER BY seq LIMIT $4"
    );
    let values = values![
        receiver.as_str(),
        i64::from(with_tainted),
        int(after),
        i64::from(limit)
    ];
    tx.read(TABLE, sql, values, message).await
}

/// How many are open in a mailbox, and how many of them are tainted.
pub async fn count_open(tx: &mut Tx, receiver: &AgentName) -> Result<(u64, u64), StoreError> {
    let sql = "SELECT receiver, COUNT(*) AS total, COUNT(CASE WHEN taint <> '[]' THEN 1 END) AS tainted FROM agent_messages \
        WHERE receiver = $1 AND ended_at IS NULL GROUP BY receiver";
    let values = values![receiver.as_str()];
    let counted = tx.find(TABLE, sql, values, |row| {
        Ok((row.count("total")?, row.count("tainted")?))
    });
    Ok(counted.await?.unwrap_or_default())
}

/// What is open of one sender in one mailbox.
pub async fn list_open_between(
    tx: &mut Tx,
    sender: &Sender,
    receiver: &AgentName,
    limit: u32,
) -> Result<Vec<AgentMessage>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM agent_messages WHERE receiver = $1 AND ended_at IS NULL AND sender = $2 ORDER BY seq LIMIT $3"
    );
    let values = values![receiver.as_str(), sender.to_string(), i64::from(limit)];
    tx.read(TABLE, sql, values, message).await
}

/// What is open although nobody is to get it: its time is over, or its receiver was withdrawn.
pub async fn list_undeliverable(
    tx: &mut Tx,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<(AgentMessage, bool)>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        ", CAST(CASE WHEN receiver IN (SELECT name FROM agents WHERE withdrawn_at IS NOT NULL) THEN 1 ELSE 0 END AS BIGINT) AS gone \
         FROM agent_messages WHERE ended_at IS NULL AND (expires_at <= $1 OR receiver IN \
         (SELECT name FROM agents WHERE withdrawn_at IS NOT NULL)) ORDER BY expires_at, id LIMIT $2"
    );
    let values = values![now, i64::from(limit)];
    let read = |row: &Row| Ok((message(row)?, row.flag("gone")?));
    tx.read(TABLE, sql, values, read).await
}

/// Writes how an open message stands now. `false`: it is over already, or was handed out meanwhile.
pub async fn save_state(
    tx: &mut Tx,
    message: &AgentMessage,
    deliveries_before: u32,
) -> Result<bool, StoreError> {
    let (delivered_at, ended_at, why, noticed_at) = match message.state {
        AgentMessageState::Waiting => (None, None, None, None),
        AgentMessageState::Delivered { last_at, .. } => (Some(last_at), None, None, None),
        AgentMessageState::Acknowledged { at, .. } => (None, Some(at), None, None),
        AgentMessageState::Dead {
            at,
            why,
            noticed_at,
            ..
        } => (None, Some(at), Some(why.as_str()), noticed_at),
    };
    let sql = "UPDATE agent_messages SET state = $2, deliveries = $3, delivered_at = COALESCE($4, delivered_at), ended_at = $5, \
        dead_reason = $6, noticed_at = $7 WHERE id = $1 AND ended_at IS NULL AND deliveries = $8";
    let values = values![
        message.id.to_string(),
        message.state.as_str(),
        i64::from(message.state.deliveries()),
        delivered_at,
        ended_at,
        why,
        noticed_at,
        i64::from(deliveries_before),
    ];
    Ok(tx.execute(sql, values).await? == 1)
}

/// `false`: it is not in this mailbox, was not handed out, or is over.
pub async fn acknowledge(
    tx: &mut Tx,
    receiver: &AgentName,
    id: AgentMessageId,
    at: Timestamp,
) -> Result<bool, StoreError> {
    let sql = "UPDATE agent_messages SET state = 'acknowledged', ended_at = $3 \
        WHERE id = $1 AND receiver = $2 AND state = 'delivered'";
    let values = values![id.to_string(), receiver.as_str(), at];
    Ok(tx.execute(sql, values).await? == 1)
}

/// Its sender knows of the dead letter. `false`: it is none of this sender's, or they knew.
pub async fn notice(
    tx: &mut Tx,
    sender: &Sender,
    id: AgentMessageId,
    at: Timestamp,
) -> Result<bool, StoreError> {
    let sql = "UPDATE agent_messages SET noticed_at = $3 \
        WHERE id = $1 AND sender = $2 AND state = 'dead' AND noticed_at IS NULL";
    let values = values![id.to_string(), sender.to_string(), at];
    Ok(tx.execute(sql, values).await? == 1)
}

/// Dead letters that their sender does not know of yet, the oldest first.
pub async fn list_unnoticed(
    tx: &mut Tx,
    sender: &Sender,
    limit: u32,
) -> Result<Vec<AgentMessage>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM agent_messages WHERE sender = $1 AND state = 'dead' AND noticed_at IS NULL ORDER BY ended_at, id LIMIT $2"
    );
    let values = values![sender.to_string(), i64::from(limit)];
    tx.read(TABLE, sql, values, message).await
}

/// A mailbox, the newest first; the cursor is a number.
pub async fn list(
    tx: &mut Tx,
    receiver: &AgentName,
    filter: MailboxFilter,
    before: Option<u64>,
    limit: u32,
) -> Result<Page<AgentMessage>, StoreError> {
    const MESSAGES: &str = concat!("SELECT ", columns!(), " FROM agent_messages");
    let mailbox = Select::new(TABLE, MESSAGES).only_with("receiver = ?", receiver.as_str());
    let some = match filter {
        MailboxFilter::All => mailbox,
        MailboxFilter::Open => mailbox.only("ended_at IS NULL"),
        MailboxFilter::Acknowledged => mailbox.only("state = 'acknowledged'"),
        MailboxFilter::Dead => mailbox.only("state = 'dead'"),
    };
    let newest_first = some.newest_first("seq", before.map(int));
    newest_first
        .page(tx, limit, |row| message(row).map(Some))
        .await
}

pub async fn counts(tx: &mut Tx, receiver: &AgentName) -> Result<MailboxCounts, StoreError> {
    let sql =
        "SELECT state, COUNT(*) AS total FROM agent_messages WHERE receiver = $1 GROUP BY state";
    let count = |row: &Row| Ok((row.string("state")?, row.count("total")?));
    let mut counts = MailboxCounts::default();
    for (state, total) in tx
        .read(TABLE, sql, values![receiver.as_str()], count)
        .await?
    {
        match state.as_str() {
            "waiting" => counts.waiting = total,
            "delivered" => counts.delivered = total,
            "acknowledged" => counts.acknowledged = total,
            "dead" => counts.dead = total,
            _ => return Err(StoreError::corrupt(TABLE, receiver, "an unknown state")),
        }
    }
    Ok(counts)
}

/// Forgets what is over and stands this far back in its mailbox.
pub async fn forget_up_to(
    tx: &mut Tx,
    receiver: &AgentName,
    seq: u64,
    limit: u32,
) -> Result<u64, StoreError> {
    let sql = "DELETE FROM agent_messages WHERE id IN (SELECT id FROM agent_messages WHERE receiver = $1 AND seq <= $2 \
        AND ended_at IS NOT NULL ORDER BY seq LIMIT $3)";
    tx.execute(sql, values![receiver.as_str(), int(seq), i64::from(limit)])
        .await
}

/// Whether there is anything that was over before a moment.
pub async fn has_ended(tx: &mut Tx, before: Timestamp) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM agent_messages WHERE ended_at IS NOT NULL AND ended_at < $1 LIMIT 1";
    Ok(tx.one(TABLE, sql, values![before]).await?.is_some())
}

/// Forgets what was over before a moment.
pub async fn forget_ended(tx: &mut Tx, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
    let sql = "DELETE FROM agent_messages WHERE id IN (SELECT id FROM agent_messages WHERE ended_at IS NOT NULL \
        AND ended_at < $1 ORDER BY ended_at LIMIT $2)";
    tx.execute(sql, values![before, i64::from(limit)]).await
}

/// When a sender that sends no more of this kind has all sends of a minute again.
pub async fn spent_until(
    tx: &mut Tx,
    sender: &Sender,
    kind: &str,
) -> Result<Option<Timestamp>, StoreError> {
    let sql = "SELECT sender, spent_until FROM agent_message_rates WHERE sender = $1 AND kind = $2";
    let values = values![sender.to_string(), kind];
    let at = |row: &Row| row.time("spent_until");
    tx.find("agent_message_rates", sql, values, at).await
}

pub async fn set_spent_until(
    tx: &mut Tx,
    sender: &Sender,
    kind: &str,
    at: Timestamp,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO agent_message_rates (sender, kind, spent_until) VALUES ($1, $2, $3) \
        ON CONFLICT (sender, kind) DO UPDATE SET spent_until = excluded.spent_until";
    tx.execute(sql, values![sender.to_string(), kind, at])
        .await?;
    Ok(())
}
