//! The rows of the outbox that tell of an alert: one for each place, on every channel.

use void_domain::ids::{AlertId, NotificationId};
use void_domain::notifications::{Delivery, Target};
use void_domain::time::Timestamp;

use super::{columns, delivery};
use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::values;

macro_rules! changed_rows {
    ($whom:literal) => {
        concat!(
            "UPDATE notifications SET wanted = wanted + 1, status = 'waiting', \
             next_at = CASE WHEN shown = 0 OR next_at > $2 THEN next_at ELSE $2 END, \
             tries = CASE WHEN shown = 0 THEN tries ELSE 0 END WHERE ",
            $whom
        )
    };
}

const CHANGED: &str =
    changed_rows!("alert_id = $1 AND kind = 'alert' AND status IN ('waiting', 'sent', 'failed')");
const CHANGED_FOR_PEOPLE: &str = changed_rows!(
    "alert_id = $1 AND kind = 'alert' AND channel <> 'webhook' AND status IN ('waiting', 'sent', 'failed')"
);
const CHANGED_DIGESTS: &str = changed_rows!(
    "kind = 'digest' AND id IN (SELECT digest_id FROM notifications WHERE alert_id = $1 AND kind = 'alert' AND status = 'digested')"
);

/// What an alert says has changed. Where it was delivered it is said when the place is due again; where it
/// was not, when it was due anyway.
pub async fn changed(tx: &mut Tx, id: AlertId, at: Timestamp) -> Result<u64, StoreError> {
    let values = values![id.to_string(), at];
    Ok(tx.execute(CHANGED, values).await? + tx.execute(CHANGED_DIGESTS, values).await?)
}

/// What is muted in an alert has changed: its message says so. Programs are posted what is down, and nothing
/// of that is new.
pub async fn changed_mute(tx: &mut Tx, id: AlertId, at: Timestamp) -> Result<u64, StoreError> {
    let values = values![id.to_string(), at];
    let changed = tx.execute(CHANGED_FOR_PEOPLE, values).await?;
    Ok(changed + tx.execute(CHANGED_DIGESTS, values).await?)
}

/// What was held back and not said yet is due by then, for people; quiet hours hold it if that is later.
/// Programs do not sleep.
pub async fn hasten(
    tx: &mut Tx,
    id: AlertId,
    at: Timestamp,
    by: Timestamp,
) -> Result<u64, StoreError> {
    let people = "UPDATE notifications SET next_at = $2, held = $3 WHERE alert_id = $1 AND kind = 'alert' \
        AND channel <> 'webhook' AND status = 'waiting' AND shown = 0 AND next_at > $2";
    let programs = "UPDATE notifications SET next_at = $2 WHERE alert_id = $1 AND kind = 'alert' \
        AND channel = 'webhook' AND status = 'waiting' AND shown = 0 AND next_at > $2";
    let values = values![id.to_string(), by, i64::from(by > at)];
    let hastened = tx.execute(people, values).await?;
    Ok(hastened + tx.execute(programs, values![id.to_string(), at]).await?)
}

/// What nobody was told yet waits until then.
pub async fn hold(tx: &mut Tx, id: AlertId, until: Timestamp) -> Result<u64, StoreError> {
    let sql = "UPDATE notifications SET next_at = $2 WHERE alert_id = $1 AND kind = 'alert' AND status = 'waiting' \
        AND shown = 0 AND next_at < $2";
    tx.execute(sql, values![id.to_string(), until]).await
}

/// Says it once more, as something new. What a place calls the old message stays known until then.
pub async fn say_again(
    tx: &mut Tx,
    id: AlertId,
    at: Timestamp,
    not_before: Timestamp,
) -> Result<u64, StoreError> {
    let sql = "UPDATE notifications SET wanted = wanted + 1, shown = 0, status = 'waiting', digest_id = NULL, tries = 0, \
        held = $2, next_at = $3 WHERE alert_id = $1 AND kind = 'alert' AND channel <> 'webhook' AND status <> 'dropped'";
    let values = values![id.to_string(), i64::from(not_before > at), not_before];
    tx.execute(sql, values).await
}

/// Posts it once more, at once, to every program.
pub async fn post_again(tx: &mut Tx, id: AlertId, at: Timestamp) -> Result<u64, StoreError> {
    let sql = "UPDATE notifications SET wanted = wanted + 1, status = 'waiting', tries = 0, next_at = $2 \
        WHERE alert_id = $1 AND kind = 'alert' AND channel = 'webhook' AND status <> 'dropped'";
    tx.execute(sql, values![id.to_string(), at]).await
}

/// Whether a place has a row about this alert, delivered or not.
pub async fn exists(tx: &mut Tx, id: AlertId, target: &Target) -> Result<bool, StoreError> {
    Ok(find(tx, id, target).await?.is_some())
}

pub async fn find(
    tx: &mut Tx,
    id: AlertId,
    target: &Target,
) -> Result<Option<Delivery>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM notifications WHERE alert_id = $1 AND kind = 'alert' AND target = $2"
    );
    let values = values![id.to_string(), target.to_string()];
    tx.find("notifications", sql, values, delivery).await
}

/// How many new ones are due at a place.
pub async fn count_fresh(tx: &mut Tx, target: &Target, now: Timestamp) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM notifications WHERE target = $1 AND kind = 'alert' AND status = 'waiting' AND shown = 0 \
        AND message_ref IS NULL AND next_at <= $2";
    let values = values![target.to_string(), now];
    tx.count("notifications", sql, values).await
}

/// How many a place has got on their own that were made after `since`.
pub async fn count_separate(
    tx: &mut Tx,
    target: &Target,
    since: Timestamp,
) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM notifications WHERE target = $1 AND kind = 'alert' AND shown > 0 AND digest_id IS NULL \
        AND created_at > $2";
    let values = values![target.to_string(), since];
    tx.count("notifications", sql, values).await
}

/// How many a digest stands for, and a few of them: those that are not over first.
pub async fn members(
    tx: &mut Tx,
    digest: NotificationId,
    limit: u32,
) -> Result<(u64, Vec<AlertId>), StoreError> {
    let id = digest.to_string();
    let sql = "SELECT COUNT(*) AS total FROM notifications WHERE digest_id = $1 AND kind = 'alert'";
    let count = tx.count("notifications", sql, values![&id]).await?;
    let sql = "SELECT n.alert_id FROM notifications n JOIN alerts a ON a.id = n.alert_id WHERE n.digest_id = $1 \
        ORDER BY CASE WHEN a.ended_at IS NULL THEN 0 ELSE 1 END, n.alert_id LIMIT $2";
    let values = values![&id, i64::from(limit)];
    let rows = tx.all("notifications", sql, values).await?;
    let named = rows
        .iter()
        .map(|row| row.parse("alert_id"))
        .collect::<Result<_, _>>()?;
    Ok((count, named))
}

/// How many services are down and to be told of, and nobody knows: every way was tried, or there is none. What
/// the owner muted is not to be told.
pub async fn count_untold(tx: &mut Tx) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM outages o WHERE o.alert_id IS NOT NULL AND NOT EXISTS \
        (SELECT 1 FROM notifications n WHERE n.alert_id = o.alert_id AND n.kind = 'alert' AND n.status <> 'dropped' AND (n.shown > 0 OR n.tries = 0)) \
        AND NOT EXISTS (SELECT 1 FROM mutes m WHERE m.ended_at IS NULL AND (m.subject = 'service:' || o.service_id OR EXISTS \
        (SELECT 1 FROM alert_services s WHERE s.alert_id = o.alert_id AND s.service_id = o.service_id AND m.subject = 'host:' || s.host)))";
    tx.count("outages", sql, &[]).await
}
