//! Forgets what is old, a bounded number of rows at a time, and says how large everything is.
//!
//! What is open, in doubt or not checked yet is never touched, nor is the record. Each function can be
//! repeated, by this instance or another: it deletes what still fits its condition.

use void_domain::retention::{MESSAGES_KEPT_PER_CONVERSATION, RUNS_KEPT_PER_ACTION};
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Value, int, values};

/// Ended before $1 and in no doubt; $2 rows at most, oldest first. Of what ran, the newest $3 of each
/// action stay.
macro_rules! ended {
    () => {
        "SELECT p.id FROM proposals AS p WHERE p.ended_at < $1 \
         AND (p.status IN ('rejected', 'expired', 'cancelled', 'failed') \
              OR (p.status = 'executed' AND p.verification IS NOT NULL)) \
         AND (p.started_at IS NULL OR (SELECT later.id FROM proposals AS later \
              WHERE later.action_id = p.action_id AND later.started_at > p.started_at \
              ORDER BY later.started_at LIMIT 1 OFFSET $3) IS NOT NULL) \
         ORDER BY p.ended_at, p.id LIMIT $2"
    };
}

macro_rules! refused {
    () => {
        "SELECT p.id FROM proposals AS p WHERE p.status = 'refused' AND p.ended_at < $1 \
         ORDER BY p.ended_at, p.id LIMIT $2"
    };
}

/// Ended before $1, and no place has still to be told; $2 rows at most, oldest first.
macro_rules! over {
    () => {
        "SELECT a.id FROM alerts AS a WHERE a.ended_at < $1 AND NOT EXISTS (SELECT 1 FROM outages AS o WHERE o.alert_id = a.id) \
         ORDER BY a.ended_at, a.id LIMIT $2"
    };
}

/// Everything that refers to these rows, then the rows.
macro_rules! deletes {
    ($which:ident) => {
        [
            concat!(
                "DELETE FROM notification_keys WHERE proposal_id IN (",
                $which!(),
                ")"
            ),
            concat!(
                "DELETE FROM notifications WHERE proposal_id IN (",
                $which!(),
                ")"
            ),
            concat!(
                "DELETE FROM bridge_files WHERE proposal_id IN (",
                $which!(),
                ")"
            ),
            concat!("DELETE FROM drafts WHERE proposal_id IN (", $which!(), ")"),
            concat!("DELETE FROM holds WHERE proposal_id IN (", $which!(), ")"),
            concat!("DELETE FROM proposals WHERE id IN (", $which!(), ")"),
        ]
    };
}

/// How many proposals went.
pub async fn prune_ended(tx: &mut Tx, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
    let newer = i64::from(RUNS_KEPT_PER_ACTION.saturating_sub(1));
    let values = values![before, i64::from(limit), newer];
    prune_proposals(tx, deletes!(ended), values).await
}

/// How many proposals went.
pub async fn prune_refused(tx: &mut Tx, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
    let values = values![before, i64::from(limit)];
    prune_proposals(tx, deletes!(refused), values).await
}

async fn prune_proposals(
    tx: &mut Tx,
    statements: [&'static str; 6],
    values: &[Value<'_>],
) -> Result<u64, StoreError> {
    let mut gone = 0;
    for sql in statements {
        gone = tx.execute(sql, values).await?;
    }
    Ok(gone)
}

/// Listeners go on from the entries that are young, and are told of no older one: by how many that moved. The record
/// keeps them all. Never past a younger one, so that what is told has no hole, and the newest stays. An entry that a wrong
/// clock dated later than `until` is not young: it would keep all before it for years.
pub async fn prune_events(
    tx: &mut Tx,
    before: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<u64, StoreError> {
    let heads = tx.heads()?;
    let newest_left = heads.audit_seq.saturating_sub(1);
    let last = newest_left.min(heads.told_after.saturating_add(u64::from(limit)));
    if last <= heads.told_after {
        return Ok(0);
    }
    let sql = "SELECT MIN(seq) AS young FROM facts WHERE seq > $1 AND seq <= $2 AND at >= $3 AND at <= $4";
    let values = values![int(heads.told_after), int(last), before, until];
    let row = tx.one("facts", sql, values).await?;
    let young = row.map_or(Ok(None), |row| row.opt_int("young"))?;
    let young = young.and_then(|seq| u64::try_from(seq).ok());
    let told_after = young.map_or(last, |seq| seq.saturating_sub(1));
    tx.change_heads(|heads| heads.told_after = told_after)?;
    Ok(told_after - heads.told_after)
}

/// Deliveries about what has ended, then the alerts that nothing is to be told of any more, and mutes that are
/// over; a digest goes when nothing is in it any more.
pub async fn prune_notifications(
    tx: &mut Tx,
    before: Timestamp,
    limit: u32,
) -> Result<u64, StoreError> {
    let sql = "DELETE FROM notifications WHERE id IN (SELECT n.id FROM notifications AS n \
        JOIN proposals AS p ON p.id = n.proposal_id WHERE n.created_at < $1 AND n.status <> 'waiting' \
        AND p.status NOT IN ('pending', 'approved', 'running', 'unknown') ORDER BY n.id LIMIT $2)";
    let gone = tx.execute(sql, values![before, i64::from(limit)]).await?;
    let alerts = prune_alerts(tx, before, limit).await?;
    let sql = "DELETE FROM notifications WHERE id IN (SELECT d.id FROM notifications AS d \
        WHERE d.kind = 'digest' AND d.created_at < $1 AND d.status <> 'waiting' \
        AND NOT EXISTS (SELECT 1 FROM notifications AS m WHERE m.digest_id = d.id) ORDER BY d.id LIMIT $2)";
    let digests = tx.execute(sql, values![before, i64::from(limit)]).await?;
    let questions = prune_questions(tx, before, limit).await?;
    let sql = "DELETE FROM notification_codes WHERE expires_at < $1";
    tx.execute(sql, values![before]).await?;
    Ok(gone + alerts + digests + questions)
}

/// Ended before $1; $2 rows at most, oldest first.
macro_rules! ended_questions {
    () => {
        "SELECT q.id FROM questions AS q WHERE q.ended_at < $1 ORDER BY q.ended_at, q.id LIMIT $2"
    };
}

/// Questions and reminders that ended before then, with what refers to them; how many rows went.
async fn prune_questions(tx: &mut Tx, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
    let values = values![before, i64::from(limit)];
    let mut gone = 0;
    for sql in [
        concat!(
            "DELETE FROM notification_keys WHERE question_id IN (",
            ended_questions!(),
            ")"
        ),
        concat!(
            "DELETE FROM notifications WHERE question_id IN (",
            ended_questions!(),
            ")"
        ),
        concat!(
            "DELETE FROM questions WHERE id IN (",
            ended_questions!(),
            ")"
        ),
        "DELETE FROM reminders WHERE id IN (SELECT id FROM reminders WHERE ended_at < $1 ORDER BY ended_at, id LIMIT $2)",
    ] {
        gone += tx.execute(sql, values).await?;
    }
    Ok(gone)
}

/// Alerts that ended before then, with everything about them; how many rows went.
async fn prune_alerts(tx: &mut Tx, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
    let values = values![before, i64::from(limit)];
    let mut gone = 0;
    for sql in [
        concat!(
            "DELETE FROM notification_keys WHERE alert_id IN (",
            over!(),
            ")"
        ),
        concat!(
            "DELETE FROM notifications WHERE kind = 'alert' AND alert_id IN (",
            over!(),
            ")"
        ),
        concat!(
            "DELETE FROM alert_services WHERE alert_id IN (",
            over!(),
            ")"
        ),
        concat!("DELETE FROM alerts WHERE id IN (", over!(), ")"),
        "DELETE FROM mutes WHERE id IN (SELECT id FROM mutes WHERE ended_at < $1 ORDER BY ended_at, id LIMIT $2)",
    ] {
        gone += tx.execute(sql, values).await?;
    }
    Ok(gone)
}

/// Sessions that ended, or ran out, before then.
pub async fn prune_sessions(tx: &mut Tx, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
    let sql = "DELETE FROM sessions WHERE id IN (SELECT s.id FROM sessions AS s \
        WHERE (s.ended_at < $1 OR s.expires_at < $1) \
        AND NOT EXISTS (SELECT 1 FROM challenges AS c WHERE c.session_id = s.id) ORDER BY s.id LIMIT $2)";
    tx.execute(sql, values![before, i64::from(limit)]).await
}

/// Old messages, but for the newest of each conversation that was used since; a conversation in which
/// nothing was said since goes whole. What runs stays.
pub async fn prune_messages(tx: &mut Tx, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
    let sql = "DELETE FROM messages WHERE id IN (SELECT m.id FROM messages AS m WHERE m.at < $1 \
        AND (m.status IS NULL OR m.status <> 'running') \
        AND (m.seq <= (SELECT MAX(l.seq) FROM messages AS l WHERE l.conversation_id = m.conversation_id) - $3 \
             OR NOT EXISTS (SELECT 1 FROM messages AS l WHERE l.conversation_id = m.conversation_id \
                AND (l.at >= $1 OR l.status = 'running'))) \
        ORDER BY m.id LIMIT $2)";
    let kept = i64::from(MESSAGES_KEPT_PER_CONVERSATION);
    let gone = tx
        .execute(sql, values![before, i64::from(limit), kept])
        .await?;
    let sql = "DELETE FROM conversations WHERE id IN (SELECT c.id FROM conversations AS c \
        WHERE c.created_at < $1 AND NOT EXISTS \
        (SELECT 1 FROM messages AS m WHERE m.conversation_id = c.id) ORDER BY c.id LIMIT $2)";
    tx.execute(sql, values![before, i64::from(limit)]).await?;
    Ok(gone)
}

/// What agents used on days before this one.
pub async fn prune_usage(tx: &mut Tx, before_day: i64) -> Result<u64, StoreError> {
    let sql = "DELETE FROM agent_usage WHERE day < $1";
    tx.execute(sql, values![before_day]).await
}

/// How many rows each table that grows has.
pub async fn sizes(tx: &mut Tx) -> Result<Vec<(&'static str, u64)>, StoreError> {
    const COUNTS: [(&str, &str); 15] = [
        ("proposals", "SELECT COUNT(*) AS rows_there FROM proposals"),
        (
            "notifications",
            "SELECT COUNT(*) AS rows_there FROM notifications",
        ),
        ("alerts", "SELECT COUNT(*) AS rows_there FROM alerts"),
        ("questions", "SELECT COUNT(*) AS rows_there FROM questions"),
        ("reminders", "SELECT COUNT(*) AS rows_there FROM reminders"),
        ("mutes", "SELECT COUNT(*) AS rows_there FROM mutes"),
        ("sessions", "SELECT COUNT(*) AS rows_there FROM sessions"),
        ("messages", "SELECT COUNT(*) AS rows_there FROM messages"),
        (
            "service_changes",
            "SELECT COUNT(*) AS rows_there FROM service_changes",
        ),
        ("pages", "SELECT COUNT(*) AS rows_there FROM pages"),
        ("revisions", "SELECT COUNT(*) AS rows_there FROM revisions"),
        (
            "attachments",
            "SELECT COUNT(*) AS rows_there FROM attachments",
        ),
        (
            "embedding_chunks",
            "SELECT COUNT(*) AS rows_there FROM embedding_chunks",
        ),
        (
            "token_taints",
            "SELECT COUNT(*) AS rows_there FROM token_taints",
        ),
        (
            "facts",
            "SELECT audit_seq AS rows_there FROM heads WHERE id = 1",
        ),
    ];
    let mut sizes = Vec::with_capacity(COUNTS.len());
    for (table, sql) in COUNTS {
        let row = tx.one(table, sql, &[]).await?;
        sizes.push((table, row.map_or(Ok(0), |row| row.count("rows_there"))?));
    }
    Ok(sizes)
}

/// What all attachments are together. Two of the same content take their room once.
pub async fn attachment_bytes(tx: &mut Tx) -> Result<u64, StoreError> {
    let sql = "SELECT CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) AS bytes_there FROM attachments";
    let row = tx.one("attachments", sql, &[]).await?;
    row.map_or(Ok(0), |row| row.count("bytes_there"))
}
