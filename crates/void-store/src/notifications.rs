//! The tables of the outbox. A row is written in the transaction of what it tells, and is sent by
//! whoever holds the lease. What changes while it is being sent is still wanted afterwards.

pub mod alerts;
pub mod keys;
pub mod pairs;
pub mod questions;

use std::collections::HashMap;
use std::time::Duration;

use void_domain::ids::{NotificationId, ProposalId};
use void_domain::notifications::{Channel, Content, Delivery, Tally, Target, Told};
use void_domain::proposals::Status;
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::facts::steps::{ROWS_AT_ONCE, row_places, row_values};
use crate::queries::Select;
use crate::tx::Tx;
use crate::values::{Row, int, values};

macro_rules! columns {
    () => {
        "id, target, kind, proposal_id, body, wanted, shown, held, tries, created_at, sent_at, message_ref, last_error, alert_id, question_id"
    };
}
use columns;

/// What is to be told where, from when on.
#[derive(Debug, Clone)]
pub struct New {
    pub id: NotificationId,
    pub target: Target,
    pub content: Content,
    /// The event that causes it: what is told later happened later.
    pub seq: u64,
    pub at: Timestamp,
    pub not_before: Timestamp,
}

pub async fn insert(tx: &mut Tx, new: &New) -> Result<(), StoreError> {
    let sql = "INSERT INTO notifications (id, target, channel, kind, proposal_id, body, seq, wanted, shown, status, held, tries, \
        next_at, created_at, alert_id, question_id) VALUES ($1, $2, $3, $4, $5, $6, $7, 1, 0, 'waiting', $8, 0, $9, $10, $11, $12)";
    let (mut proposal, mut body, mut alert, mut question) = (None, None, None, None);
    let kind = match &new.content {
        Content::Message(id) => {
            proposal = Some(id.to_string());
            "message"
        }
        Content::Event(id, said) => {
            (proposal, body) = (Some(id.to_string()), Some(said.as_str()));
            "event"
        }
        Content::Digest => "digest",
        Content::Alert(id) => {
            alert = Some(id.to_string());
            "alert"
        }
        Content::Question(id) => {
            question = Some(id.to_string());
            "question"
        }
    };
    let row = values![
        new.id.to_string(),
        new.target.to_string(),
        new.target.channel().as_str(),
        kind,
        proposal,
        body,
        int(new.seq),
        i64::from(new.not_before > new.at),
        new.not_before,
        new.at,
        alert,
        question,
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// The proposal has moved: its messages say something else now, at once where they were delivered
/// already. Returns how many places know of it.
pub async fn changed(tx: &mut Tx, id: ProposalId, at: Timestamp) -> Result<u64, StoreError> {
    let messages = "UPDATE notifications SET wanted = wanted + 1, status = 'waiting', \
        next_at = CASE WHEN shown = 0 THEN next_at ELSE $2 END, tries = CASE WHEN shown = 0 THEN tries ELSE 0 END \
        WHERE proposal_id = $1 AND kind = 'message' AND status IN ('waiting', 'sent', 'failed')";
    let digests = "UPDATE notifications SET wanted = wanted + 1, status = 'waiting', \
        next_at = CASE WHEN shown = 0 THEN next_at ELSE $2 END, tries = CASE WHEN shown = 0 THEN tries ELSE 0 END \
        WHERE kind = 'digest' AND id IN (SELECT digest_id FROM notifications WHERE proposal_id = $1 AND status = 'digested')";
    let values = values![id.to_string(), at];
    Ok(tx.execute(messages, values).await? + tx.execute(digests, values).await?)
}

/// Takes a proposal's messages out of their digests: there is something to say about it alone.
pub async fn leave_digest(
    tx: &mut Tx,
    id: ProposalId,
    not_before: Timestamp,
) -> Result<u64, StoreError> {
    let sql = "UPDATE notifications SET status = 'waiting', digest_id = NULL, shown = 0, next_at = $2 \
        WHERE proposal_id = $1 AND status = 'digested'";
    tx.execute(sql, values![id.to_string(), not_before]).await
}

/// A message that was held back and not said yet is due by then.
pub async fn hasten(tx: &mut Tx, id: ProposalId, by: Timestamp) -> Result<u64, StoreError> {
    let sql = "UPDATE notifications SET next_at = $2 \
        WHERE proposal_id = $1 AND kind = 'message' AND status = 'waiting' AND shown = 0 AND next_at > $2";
    tx.execute(sql, values![id.to_string(), by]).await
}

/// The message of a place is to be said on its own, from then on. `false`: there is none.
pub async fn say_alone(
    tx: &mut Tx,
    id: ProposalId,
    target: &Target,
    not_before: Timestamp,
) -> Result<bool, StoreError> {
    let sql = "UPDATE notifications SET status = 'waiting', digest_id = NULL, next_at = $3 \
        WHERE proposal_id = $1 AND target = $2 AND kind = 'message'";
    let values = values![id.to_string(), target.to_string(), not_before];
    Ok(tx.execute(sql, values).await? == 1)
}

/// Whether a place has a message about this proposal, delivered or not.
pub async fn has_message(tx: &mut Tx, id: ProposalId, target: &Target) -> Result<bool, StoreError> {
    let sql =
        "SELECT id FROM notifications WHERE proposal_id = $1 AND target = $2 AND kind = 'message'";
    let values = values![id.to_string(), target.to_string()];
    Ok(tx.one("notifications", sql, values).await?.is_some())
}

/// The delivered message about a proposal at a place.
pub async fn find_message(
    tx: &mut Tx,
    id: ProposalId,
    target: &Target,
) -> Result<Option<Delivery>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM notifications WHERE proposal_id = $1 AND target = $2 AND kind = 'message'"
    );
    let values = values![id.to_string(), target.to_string()];
    tx.find("notifications", sql, values, delivery).await
}

/// What is due on a channel: what was delivered before and changed comes first, then the oldest.
pub async fn list_due(
    tx: &mut Tx,
    channel: Channel,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<Delivery>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM notifications WHERE channel = $1 AND status = 'waiting' AND next_at <= $2 \
         ORDER BY CASE WHEN shown > 0 THEN 0 ELSE 1 END, next_at, seq, id LIMIT $3"
    );
    let values = values![channel.as_str(), now, i64::from(limit)];
    tx.read("notifications", sql, values, delivery).await
}

/// How many new messages are due at a place, and how many of them and of alerts quiet hours kept back.
pub async fn count_fresh(
    tx: &mut Tx,
    target: &Target,
    now: Timestamp,
) -> Result<(u64, u64), StoreError> {
    let sql = "SELECT COUNT(CASE WHEN kind = 'message' THEN 1 END) AS fresh, COUNT(CASE WHEN held = 1 THEN 1 END) AS held FROM notifications \
        WHERE target = $1 AND (kind = 'message' OR (kind = 'alert' AND message_ref IS NULL)) AND status = 'waiting' \
        AND shown = 0 AND next_at <= $2";
    match tx
        .one("notifications", sql, values![target.to_string(), now])
        .await?
    {
        Some(row) => Ok((row.count("fresh")?, row.count("held")?)),
        None => Ok((0, 0)),
    }
}

/// The newest digest of a place that was begun after `since`, if it can still grow. One of alerts alone is
/// none for proposals, so that what is down never hides what waits.
pub async fn find_open_digest(
    tx: &mut Tx,
    target: &Target,
    since: Timestamp,
    kinds: Kinds,
) -> Result<Option<(NotificationId, Timestamp)>, StoreError> {
    const HAS_MESSAGE: &str =
        "EXISTS (SELECT 1 FROM notifications m WHERE m.digest_id = d.id AND m.kind = 'message')";
    let digests = Select::new(
        "notifications",
        "SELECT d.id, d.created_at FROM notifications d",
    )
    .only_with("d.target = ?", target.to_string())
    .only("d.kind = 'digest'")
    .only_with("d.created_at >= ?", since)
    .only("d.status IN ('waiting', 'sent')");
    let digests = match kinds {
        Kinds::All => digests.only(HAS_MESSAGE),
        Kinds::Alerts => digests,
    };
    let read = |row: &Row| Ok(Some((row.parse("id")?, row.time("created_at")?)));
    let newest = digests.order_by("d.id DESC").all(tx, 1, read).await?;
    Ok(newest.into_iter().next())
}

/// No delivery waits longer than this for its next try.
const NEXT_WITHIN: Duration = Duration::from_secs(24 * 60 * 60);

/// Dates what a wrong clock made later than now as of now: it would wait, and gather others, until then.
pub async fn redate(tx: &mut Tx, now: Timestamp) -> Result<u64, StoreError> {
    let sql = "UPDATE notifications SET next_at = $1, created_at = CASE WHEN created_at > $1 THEN $1 ELSE created_at END \
        WHERE created_at > $1 OR next_at > $2";
    tx.execute(sql, values![now, now.plus(NEXT_WITHIN)]).await
}

/// How many messages of their own a place has got that were made after `since`.
pub async fn count_separate(
    tx: &mut Tx,
    target: &Target,
    since: Timestamp,
) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM notifications WHERE target = $1 AND kind = 'message' AND shown > 0 \
        AND digest_id IS NULL AND created_at > $2";
    tx.count("notifications", sql, values![target.to_string(), since])
        .await
}

/// Forgets which message shows a proposal at a place, so that the next one is new; what it was.
pub async fn show_again(
    tx: &mut Tx,
    id: ProposalId,
    target: &Target,
    at: Timestamp,
) -> Result<Option<String>, StoreError> {
    let old = find_message(tx, id, target).await?;
    let sql = "UPDATE notifications SET status = 'waiting', digest_id = NULL, message_ref = NULL, shown = 0, held = 0, \
        tries = 0, next_at = $3 WHERE proposal_id = $1 AND target = $2 AND kind = 'message'";
    tx.execute(sql, values![id.to_string(), target.to_string(), at])
        .await?;
    Ok(old.and_then(|old| old.message_ref))
}

/// What goes into a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kinds {
    All,
    Alerts,
}

/// Puts every new message of these kinds that is due at a place into a digest, which then says something
/// new. What is said once more stays alone: its old message is about to be edited.
pub async fn gather(
    tx: &mut Tx,
    target: &Target,
    digest: NotificationId,
    now: Timestamp,
    kinds: Kinds,
) -> Result<u64, StoreError> {
    let members = match kinds {
        Kinds::All => {
            "UPDATE notifications SET status = 'digested', digest_id = $2 WHERE target = $1 AND (kind = 'message' \
             OR (kind = 'alert' AND message_ref IS NULL)) AND status = 'waiting' AND shown = 0 AND next_at <= $3"
        }
        Kinds::Alerts => {
            "UPDATE notifications SET status = 'digested', digest_id = $2 WHERE target = $1 AND kind = 'alert' \
             AND message_ref IS NULL AND status = 'waiting' AND shown = 0 AND next_at <= $3"
        }
    };
    let gathered = tx
        .execute(
            members,
            values![target.to_string(), digest.to_string(), now],
        )
        .await?;
    let sql = "UPDATE notifications SET wanted = wanted + 1, status = 'waiting' WHERE id = $1";
    tx.execute(sql, values![digest.to_string()]).await?;
    Ok(gathered)
}

/// What the proposals of a digest have become.
pub async fn tally(tx: &mut Tx, digest: NotificationId) -> Result<Tally, StoreError> {
    let sql = "SELECT p.status, COUNT(*) AS total FROM notifications n JOIN proposals p ON p.id = n.proposal_id \
        WHERE n.digest_id = $1 GROUP BY p.status";
    let mut tally = Tally::default();
    for row in tx
        .all("notifications", sql, values![digest.to_string()])
        .await?
    {
        tally.add(row.parsed("status", Status::parse)?, row.count("total")?);
    }
    Ok(tally)
}

/// A few proposals of a digest: those that wait first.
pub async fn members(
    tx: &mut Tx,
    digest: NotificationId,
    limit: u32,
) -> Result<Vec<ProposalId>, StoreError> {
    let sql = "SELECT n.proposal_id FROM notifications n JOIN proposals p ON p.id = n.proposal_id WHERE n.digest_id = $1 \
        ORDER BY CASE WHEN p.status = 'pending' THEN 0 ELSE 1 END, n.proposal_id LIMIT $2";
    let values = values![digest.to_string(), i64::from(limit)];
    let rows = tx.all("notifications", sql, values).await?;
    rows.iter().map(|row| row.parse("proposal_id")).collect()
}

/// It arrived, as it was wanted at change `shown`; what changed since then is still to be sent.
pub async fn record_sent(
    tx: &mut Tx,
    id: NotificationId,
    shown: u64,
    message_ref: Option<&str>,
    at: Timestamp,
    again_at: Timestamp,
) -> Result<(), StoreError> {
    let sql = "UPDATE notifications SET shown = $2, status = CASE WHEN wanted > $2 THEN 'waiting' ELSE 'sent' END, \
        message_ref = COALESCE($3, message_ref), sent_at = $4, next_at = $5, tries = 0, last_error = NULL WHERE id = $1";
    let values = values![id.to_string(), int(shown), message_ref, at, again_at];
    tx.execute(sql, values).await?;
    // Who is named in a digest was told with it.
    let sql =
        "UPDATE notifications SET shown = wanted, sent_at = $2, tries = 0 WHERE digest_id = $1";
    tx.execute(sql, values![id.to_string(), at]).await?;
    Ok(())
}

/// It did not arrive. `next_at` is when it is tried again; `None` puts it aside.
pub async fn record_failed(
    tx: &mut Tx,
    id: NotificationId,
    error: &str,
    next_at: Option<Timestamp>,
) -> Result<(), StoreError> {
    let sql = "UPDATE notifications SET tries = tries + 1, last_error = $2, next_at = COALESCE($3, next_at), \
        status = CASE WHEN $3 IS NULL THEN 'failed' ELSE 'waiting' END WHERE id = $1 AND status = 'waiting'";
    tx.execute(sql, values![id.to_string(), error, next_at])
        .await?;
    let sql = "UPDATE notifications SET tries = tries + 1 WHERE digest_id = $1 AND shown = 0";
    tx.execute(sql, values![id.to_string()]).await?;
    Ok(())
}

/// There is nothing to say any more.
pub async fn drop_unsaid(tx: &mut Tx, id: NotificationId) -> Result<bool, StoreError> {
    let sql = "UPDATE notifications SET status = 'dropped' WHERE id = $1 AND status = 'waiting' AND shown = 0";
    Ok(tx.execute(sql, values![id.to_string()]).await? == 1)
}

/// Tries again what was put aside.
pub async fn retry(tx: &mut Tx, id: NotificationId, at: Timestamp) -> Result<bool, StoreError> {
    let sql = "UPDATE notifications SET status = 'waiting', tries = 0, next_at = $2 WHERE id = $1 AND status = 'failed'";
    Ok(tx.execute(sql, values![id.to_string(), at]).await? == 1)
}

/// What was put aside, newest first.
pub async fn list_failed(tx: &mut Tx, limit: u32) -> Result<Vec<Delivery>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM notifications WHERE status = 'failed' ORDER BY id DESC LIMIT $1"
    );
    tx.read("notifications", sql, values![i64::from(limit)], delivery)
        .await
}

/// How many deliveries of a place wait, and the last one that arrived.
pub async fn standing(
    tx: &mut Tx,
    target: &Target,
) -> Result<(u64, u64, Option<Timestamp>), StoreError> {
    let sql = "SELECT COUNT(CASE WHEN status = 'waiting' THEN 1 END) AS waiting, \
        COUNT(CASE WHEN status = 'failed' THEN 1 END) AS failed, MAX(sent_at) AS last_at FROM notifications WHERE target = $1";
    match tx
        .one("notifications", sql, values![target.to_string()])
        .await?
    {
        Some(row) => Ok((
            row.count("waiting")?,
            row.count("failed")?,
            row.opt_time("last_at")?,
        )),
        None => Ok((0, 0, None)),
    }
}

/// Whether the owner knows of these proposals; of those that are missing there was nowhere to tell.
pub async fn told(
    tx: &mut Tx,
    ids: &[ProposalId],
) -> Result<HashMap<ProposalId, Told>, StoreError> {
    let sql = concat!(
        "SELECT proposal_id, COUNT(*) AS total, COUNT(CASE WHEN shown > 0 THEN 1 END) AS shown, \
         COUNT(CASE WHEN tries > 0 THEN 1 END) AS tried FROM notifications WHERE proposal_id IN ",
        row_places!(),
        " AND status <> 'dropped' GROUP BY proposal_id"
    );
    let mut told = HashMap::new();
    for some in ids.chunks(ROWS_AT_ONCE) {
        let ids: Vec<String> = some.iter().map(ProposalId::to_string).collect();
        for row in tx.all("notifications", sql, &row_values(&ids)).await? {
            let [all, shown, tried] = [
                row.count("total")?,
                row.count("shown")?,
                row.count("tried")?,
            ];
            let known = match (shown, tried) {
                (1.., _) => Told::Somebody,
                (0, tried) if tried >= all => Told::Nobody,
                (0, _) => Told::NotYet,
            };
            told.insert(row.parse("proposal_id")?, known);
        }
    }
    Ok(told)
}

/// How many proposals wait without anybody knowing of them.
pub async fn count_untold(tx: &mut Tx) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM (SELECT n.proposal_id FROM proposals p JOIN notifications n ON n.proposal_id = p.id \
        WHERE p.status = 'pending' AND n.status <> 'dropped' GROUP BY n.proposal_id \
        HAVING COUNT(CASE WHEN n.shown > 0 THEN 1 END) = 0 AND COUNT(CASE WHEN n.tries = 0 THEN 1 END) = 0) AS untold";
    tx.count("notifications", sql, &[]).await
}

/// Takes or keeps the right to send. `false`: another instance has it.
pub async fn hold_lease(
    tx: &mut Tx,
    holder: &str,
    now: Timestamp,
    until: Timestamp,
) -> Result<bool, StoreError> {
    let sql = "UPDATE notification_lease SET holder = $1, until_at = $3 \
        WHERE id = 1 AND (holder IS NULL OR holder = $1 OR until_at <= $2)";
    Ok(tx.execute(sql, values![holder, now, until]).await? == 1)
}

pub async fn release_lease(tx: &mut Tx, holder: &str) -> Result<(), StoreError> {
    let sql = "UPDATE notification_lease SET holder = NULL, until_at = NULL WHERE holder = $1";
    tx.execute(sql, values![holder]).await?;
    Ok(())
}

fn delivery(row: &Row) -> Result<Delivery, StoreError> {
    let proposal = |row: &Row| row.parse("proposal_id");
    let content = match row.text("kind")? {
        "message" => Content::Message(proposal(row)?),
        "event" => Content::Event(proposal(row)?, row.string("body")?),
        "digest" => Content::Digest,
        "alert" => Content::Alert(row.parse("alert_id")?),
        "question" => Content::Question(row.parse("question_id")?),
        _ => return Err(row.corrupt("unknown kind")),
    };
    Ok(Delivery {
        id: row.parse("id")?,
        target: row.parsed("target", Target::parse)?,
        content,
        wanted: row.count("wanted")?,
        shown: row.count("shown")?,
        held: row.flag("held")?,
        tries: u32::try_from(row.count("tries")?).unwrap_or(u32::MAX),
        created_at: row.time("created_at")?,
        sent_at: row.opt_time("sent_at")?,
        message_ref: row.opt_string("message_ref")?,
        last_error: row.opt_string("last_error")?,
    })
}
