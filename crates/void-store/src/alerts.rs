//! The tables `outages`, `alerts` and `alert_services`: what is believed down now, and what the owner is
//! told of it. A service has one row in an alert, however often it flaps.

use void_domain::alerts::{Alert, Alerted, Ended, LastAlert, NAMED_MAX, OpenAlerts, Scope};
use void_domain::ids::AlertId;
use void_domain::mutes::Muted;
use void_domain::services::{SERVICES_MAX, ServiceId};
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::queries::Select;
use crate::tx::Tx;
use crate::values::{Row, values};

/// A service that is believed down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outage {
    pub service: ServiceId,
    pub down_at: Timestamp,
    pub reason: Option<String>,
    /// Where it is told; `None` as long as nobody is to be told.
    pub alert: Option<AlertId>,
}

/// A service that an alert tells of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAlerted {
    pub service: ServiceId,
    pub label: String,
    pub host: Option<String>,
    pub urgent: bool,
    pub down_at: Timestamp,
    pub reason: Option<String>,
}

/// Notes that a service is down. `false`: that is known.
pub async fn begin_outage(
    tx: &mut Tx,
    service: &ServiceId,
    down_at: Timestamp,
    reason: Option<&str>,
) -> Result<bool, StoreError> {
    let sql = "INSERT INTO outages (service_id, down_at, reason) VALUES ($1, $2, $3) ON CONFLICT (service_id) DO NOTHING";
    Ok(tx
        .execute(sql, values![service.as_str(), down_at, reason])
        .await?
        == 1)
}

pub async fn find_outage(tx: &mut Tx, service: &ServiceId) -> Result<Option<Outage>, StoreError> {
    let of_service = all_outages().only_with("service_id = ?", service.as_str());
    Ok(read_outages(tx, of_service).await?.into_iter().next())
}

/// Every service that is down, the oldest first.
pub async fn list_outages(tx: &mut Tx) -> Result<Vec<Outage>, StoreError> {
    read_outages(tx, all_outages()).await
}

/// Those of them that nobody was to be told of until now.
pub async fn list_untold(tx: &mut Tx) -> Result<Vec<Outage>, StoreError> {
    read_outages(tx, all_outages().only("alert_id IS NULL")).await
}

const fn all_outages<'a>() -> Select<'a> {
    let outages = "SELECT service_id, down_at, reason, alert_id FROM outages";
    Select::new("outages", outages)
}

async fn read_outages(tx: &mut Tx, outages: Select<'_>) -> Result<Vec<Outage>, StoreError> {
    let max = i64::try_from(SERVICES_MAX).unwrap_or(i64::MAX);
    let oldest_first = outages.order_by("down_at, service_id");
    oldest_first.all(tx, max, |row| outage(row).map(Some)).await
}

/// A service is no trouble any more; what was known of it. What the owner stopped stays an outage that
/// nobody is told of, for as long as that explains it.
pub async fn end_outage(
    tx: &mut Tx,
    service: &ServiceId,
    ended: Ended,
) -> Result<Option<Outage>, StoreError> {
    let Some(outage) = find_outage(tx, service).await? else {
        return Ok(None);
    };
    let sql = match ended {
        Ended::Up(_) | Ended::Unwatched(_) => "DELETE FROM outages WHERE service_id = $1",
        Ended::Stopped(_) => "UPDATE outages SET alert_id = NULL WHERE service_id = $1",
    };
    tx.execute(sql, values![service.as_str()]).await?;
    if let Some(alert) = outage.alert {
        let (id, at) = (alert.to_string(), ended.at());
        let sql = "UPDATE alert_services SET ended_at = $3, ending = $4 WHERE alert_id = $1 AND service_id = $2";
        tx.execute(sql, values![&id, service.as_str(), at, ended.as_str()])
            .await?;
        let sql = "UPDATE alerts SET ended_at = $2, again_at = NULL WHERE id = $1 AND NOT EXISTS \
            (SELECT 1 FROM alert_services WHERE alert_id = $1 AND ended_at IS NULL)";
        tx.execute(sql, values![&id, at]).await?;
    }
    Ok(Some(outage))
}

pub async fn open(
    tx: &mut Tx,
    id: AlertId,
    scope: &Scope,
    at: Timestamp,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO alerts (id, scope, opened_at, revision) VALUES ($1, $2, $3, 0)";
    tx.execute(sql, values![id.to_string(), scope.to_string(), at])
        .await?;
    Ok(())
}

/// A service is told in an alert, for the first time or again.
pub async fn add(tx: &mut Tx, id: AlertId, new: &NewAlerted) -> Result<(), StoreError> {
    let sql = "INSERT INTO alert_services (alert_id, service_id, label, host, urgent, first_at, down_at, downs, reason) \
        VALUES ($1, $2, $3, $4, $5, $6, $6, 1, $7) ON CONFLICT (alert_id, service_id) DO NOTHING";
    let (alert, service) = (id.to_string(), new.service.as_str());
    let row = values![
        &alert,
        service,
        &new.label,
        new.host.as_ref(),
        i64::from(new.urgent),
        new.down_at,
        new.reason.as_ref(),
    ];
    let is_new = tx.execute(sql, row).await? == 1;
    if !is_new {
        let sql = "UPDATE alert_services SET label = $3, host = $4, urgent = $5, down_at = CASE WHEN first_at > $6 THEN first_at \
            ELSE $6 END, reason = $7, ended_at = NULL, ending = NULL, downs = downs + 1 \
            WHERE alert_id = $1 AND service_id = $2";
        tx.execute(sql, row).await?;
    }
    let sql = "UPDATE alerts SET ended_at = NULL, revision = revision + $2 WHERE id = $1";
    tx.execute(sql, values![&alert, i64::from(is_new)]).await?;
    let sql = "UPDATE outages SET alert_id = $2 WHERE service_id = $1";
    tx.execute(sql, values![service, &alert]).await?;
    Ok(())
}

/// One of its services is down again: if it stays so, that is said once more.
pub async fn note_again(tx: &mut Tx, id: AlertId, at: Timestamp) -> Result<(), StoreError> {
    let sql = "UPDATE alerts SET again_at = $2 WHERE id = $1 AND ended_at IS NULL";
    tx.execute(sql, values![id.to_string(), at]).await?;
    Ok(())
}

/// Open alerts of which a service went down again before then and stayed so.
pub async fn list_to_repeat(tx: &mut Tx, before: Timestamp) -> Result<Vec<AlertId>, StoreError> {
    let sql =
        "SELECT id FROM alerts WHERE ended_at IS NULL AND again_at <= $1 ORDER BY id LIMIT $2";
    ids(tx, sql, values![before, LISTED_MAX]).await
}

/// `false`: it was said by somebody else, or is over.
pub async fn note_repeated(tx: &mut Tx, id: AlertId) -> Result<bool, StoreError> {
    let sql = "UPDATE alerts SET again_at = NULL WHERE id = $1 AND again_at IS NOT NULL";
    Ok(tx.execute(sql, values![id.to_string()]).await? == 1)
}

/// As many as are open at once, with some room.
const LISTED_MAX: i64 = 1_000;

pub async fn list_open(tx: &mut Tx) -> Result<Vec<AlertId>, StoreError> {
    let sql = "SELECT id FROM alerts WHERE ended_at IS NULL ORDER BY id LIMIT $1";
    ids(tx, sql, values![LISTED_MAX]).await
}

async fn ids(
    tx: &mut Tx,
    sql: &'static str,
    values: &[crate::values::Value<'_>],
) -> Result<Vec<AlertId>, StoreError> {
    let rows = tx.all("alerts", sql, values).await?;
    rows.iter().map(|row| row.parse("id")).collect()
}

/// Open alerts that tell of a service which is down and covered by a mute of this.
pub async fn list_covered(tx: &mut Tx, subject: &Muted) -> Result<Vec<AlertId>, StoreError> {
    let (service, host) = match subject {
        Muted::Service(id) => (Some(id.as_str()), None),
        Muted::Host(name) => (None, Some(name.as_str())),
    };
    let sql = "SELECT DISTINCT alert_id AS id FROM alert_services WHERE ended_at IS NULL AND (service_id = $1 OR host = $2) \
        ORDER BY alert_id LIMIT $3";
    ids(tx, sql, values![service, host, LISTED_MAX]).await
}

/// What is open that a new outage of this scope may belong to.
pub async fn open_alerts(tx: &mut Tx, scope: &Scope) -> Result<OpenAlerts, StoreError> {
    let newest = "SELECT id, opened_at FROM alerts WHERE scope = $1 AND ended_at IS NULL ORDER BY opened_at DESC, id DESC LIMIT 1";
    let found = async |tx: &mut Tx, scope: &Scope| {
        let row = tx.one("alerts", newest, values![scope.to_string()]).await?;
        let read = |row: &Row| -> Result<(AlertId, Timestamp), StoreError> {
            Ok((row.parse("id")?, row.time("opened_at")?))
        };
        row.as_ref().map(read).transpose()
    };
    let here = found(tx, scope).await?;
    let many = found(tx, &Scope::Many).await?;
    let sql = "SELECT COUNT(*) AS total FROM alerts WHERE ended_at IS NULL";
    let count = tx.count("alerts", sql, &[]).await?;
    Ok(OpenAlerts {
        here,
        many: many.map(|(id, _)| id),
        count,
    })
}

/// The alert that a service was last in, if it was up again there.
pub async fn last_of(tx: &mut Tx, service: &ServiceId) -> Result<Option<LastAlert>, StoreError> {
    let sql = "SELECT a.id, a.opened_at, s.ended_at FROM alert_services s JOIN alerts a ON a.id = s.alert_id \
        WHERE s.service_id = $1 AND s.ending = 'up' ORDER BY s.down_at DESC LIMIT 1";
    let row = tx
        .one("alert_services", sql, values![service.as_str()])
        .await?;
    let read = |row: &Row| {
        Ok(LastAlert {
            id: row.parse("id")?,
            opened_at: row.time("opened_at")?,
            up_at: row.time("ended_at")?,
        })
    };
    row.as_ref().map(read).transpose()
}

/// An alert with everything counted, and those services that are down named first.
pub async fn find(tx: &mut Tx, id: AlertId) -> Result<Option<Alert>, StoreError> {
    let sql = "SELECT a.id, a.scope, a.opened_at, a.ended_at, a.revision, COUNT(*) AS total, \
        COUNT(CASE WHEN s.ended_at IS NULL THEN 1 END) AS down, MAX(s.downs) AS downs_max, MIN(s.first_at) AS first_at \
        FROM alerts a JOIN alert_services s ON s.alert_id = a.id WHERE a.id = $1 \
        GROUP BY a.id, a.scope, a.opened_at, a.ended_at, a.revision";
    let Some(row) = tx.one("alerts", sql, values![id.to_string()]).await? else {
        return Ok(None);
    };
    let sql = "SELECT service_id, label, host, urgent, first_at, down_at, ended_at, ending, downs, reason FROM alert_services \
        WHERE alert_id = $1 ORDER BY CASE WHEN ended_at IS NULL THEN 0 ELSE 1 END, urgent DESC, first_at, service_id LIMIT $2";
    let named = values![id.to_string(), i64::from(NAMED_MAX)];
    let named = tx.all("alert_services", sql, named).await?;
    Ok(Some(Alert {
        id,
        scope: row.parsed("scope", Scope::parse)?,
        opened_at: row.time("opened_at")?,
        ended_at: row.opt_time("ended_at")?,
        revision: row.count("revision")?,
        total: row.count("total")?,
        down: row.count("down")?,
        downs_max: row.count("downs_max")?,
        first_at: row.time("first_at")?,
        named: named.iter().map(alerted).collect::<Result<_, _>>()?,
    }))
}

fn outage(row: &Row) -> Result<Outage, StoreError> {
    Ok(Outage {
        service: row.parsed("service_id", ServiceId::parse_told)?,
        down_at: row.time("down_at")?,
        reason: row.opt_string("reason")?,
        alert: row.opt_parse("alert_id")?,
    })
}

fn alerted(row: &Row) -> Result<Alerted, StoreError> {
    let ended = match row.opt_time("ended_at")? {
        None => None,
        Some(at) => Some(row.parsed("ending", |text| Ended::parse(text, at))?),
    };
    Ok(Alerted {
        service: row.parsed("service_id", ServiceId::parse_told)?,
        label: row.string("label")?,
        host: row.opt_string("host")?,
        urgent: row.flag("urgent")?,
        first_at: row.time("first_at")?,
        down_at: row.time("down_at")?,
        ended,
        downs: row.count("downs")?,
        reason: row.opt_string("reason")?,
    })
}
