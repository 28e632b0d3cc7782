//! The table `proposals`; its history is in the record ([`crate::facts::steps::history`]). Guards are in the WHERE clause: losing a race is an
//! answer, not an error.

mod rows;
#[cfg(test)]
mod tests;

use void_domain::actors::Requester;
use void_domain::ids::{ActionId, ProposalCode, ProposalId, RequesterId};
use void_domain::proposals::{Moved, Proposal, Status, Verification};
use void_domain::time::Timestamp;

use self::rows::{columns, requester_id, state_values};
use crate::errors::StoreError;
use crate::instances::{Claim, Claimant};
use crate::queries::{Paged, Select};
use crate::tx::Tx;
use crate::values::{Page, Row, int, values};

/// What is offered to a foreign executor is ended by the bridge, once it has taken the file back, and by nobody else.
macro_rules! not_offered {
    () => {
        "NOT EXISTS (SELECT 1 FROM bridge_files \
         WHERE bridge_files.proposal_id = proposals.id AND bridge_files.offered_at IS NOT NULL)"
    };
}
pub(crate) use not_offered;

const INSERT: &str = "INSERT INTO proposals (id, code, epoch, action_id, label, definition, params, tier, risk, target, \
    digest, exec_digest, requester_kind, requester_id, requester_name, reason, taint, asked_count, created_at, expires_at, \
    status, approved_by, approved_at, started_at, ticket_expires_at, lease_until, ended_by, ended_at, result, failure_code, \
    failure_message, decision_reason, verification, verified_at, verification_detail, diff, subject, run_instance_id, \
    run_instance_name) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, \
    $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39)";

const UPDATE: &str = "UPDATE proposals SET status = $3, approved_by = $4, approved_at = $5, started_at = $6, \
    ticket_expires_at = $7, lease_until = $8, ended_by = $9, ended_at = $10, result = $11, failure_code = $12, \
    failure_message = $13, decision_reason = $14, verification = $15, verified_at = $16, verification_detail = $17 \
    WHERE id = $1 AND status = $2";

const CLAIM: &str = "UPDATE proposals SET status = $3, approved_by = $4, approved_at = $5, started_at = $6, ticket_expires_at = $7, \
    lease_until = $8, run_instance_id = $9, run_instance_name = $10 WHERE id = $1 AND status = $2";

/// Stores a new proposal in the state that policy gave it.
pub async fn insert(tx: &mut Tx, epoch: u64, created: &Moved) -> Result<(), StoreError> {
    insert_row(tx, epoch, &created.proposal, None).await
}

/// Stores a new proposal that runs already, and who claims the run.
pub async fn insert_claimed(
    tx: &mut Tx,
    epoch: u64,
    running: &Proposal,
    claim: &Claim<'_>,
) -> Result<(), StoreError> {
    claim.check(tx).await?;
    insert_row(tx, epoch, running, Some(claim.by)).await
}

async fn insert_row(
    tx: &mut Tx,
    epoch: u64,
    proposal: &Proposal,
    claimant: Option<&Claimant>,
) -> Result<(), StoreError> {
    let subject = &proposal.subject;
    let mut row = values![
        proposal.id.to_string(),
        proposal.code.as_str(),
        int(epoch),
        subject.action_id().map_or("", ActionId::as_str),
        &subject.label,
        subject.definition().to_string(),
        subject.params().to_string(),
        subject.tier.as_str(),
        subject.risk.as_str(),
        &subject.target,
        subject.digest,
        subject
            .action()
            .map_or(subject.digest, |action| action.exec_digest),
        proposal.requested_by.kind.as_str(),
        requester_id(&proposal.requested_by),
        &proposal.requested_by.name,
        proposal.reason.as_ref(),
        serde_json::to_string(&proposal.taint).unwrap_or_default(),
        int(proposal.count),
        proposal.created_at,
        proposal.expires_at,
    ]
    .to_vec();
    row.extend(state_values(proposal));
    row.push(proposal.diff.as_ref().into());
    row.push(subject.word().into());
    row.push(claimant.map(|by| by.id.as_str()).into());
    row.push(claimant.map(|by| by.name.as_str()).into());
    tx.execute(INSERT, &row).await?;
    if proposal.status() == Status::Pending {
        tx.change_heads(|heads| heads.open_proposals += 1)?;
    }
    Ok(())
}

/// Stores the next state if the row is still in the one before. `false`: somebody was faster.
pub async fn advance(tx: &mut Tx, moved: &Moved) -> Result<bool, StoreError> {
    let Some(from) = moved.transition.from else {
        return Err(StoreError::Internal(
            "a first step is stored by insert".to_owned(),
        ));
    };
    let proposal = &moved.proposal;
    let mut row = values![proposal.id.to_string(), from.as_str()].to_vec();
    row.extend(state_values(proposal));
    if tx.execute(UPDATE, &row).await? == 0 {
        return Ok(false);
    }
    count_left(tx, from)?;
    Ok(true)
}

/// Stores that a proposal runs, and who claims the run, if the row is still in the state `from`: what is approved and starts
/// at once is written once. `false`: somebody was faster.
pub async fn claim(
    tx: &mut Tx,
    from: Status,
    running: &Proposal,
    claim: &Claim<'_>,
) -> Result<bool, StoreError> {
    let (Some(approval), Some(run)) = (running.approval(), running.run()) else {
        let what = "a claim without an approval";
        return Err(StoreError::Internal(what.to_owned()));
    };
    claim.check(tx).await?;
    let row = values![
        running.id.to_string(),
        from.as_str(),
        running.status().as_str(),
        &approval.by,
        approval.at,
        run.started_at,
        run.ticket_expires_at,
        run.lease_until,
        &claim.by.id,
        &claim.by.name,
    ];
    if tx.execute(CLAIM, row).await? == 0 {
        return Ok(false);
    }
    count_left(tx, from)?;
    Ok(true)
}

/// What has left the state `from` may wait no more.
fn count_left(tx: &mut Tx, from: Status) -> Result<(), StoreError> {
    if from == Status::Pending {
        tx.change_heads(|heads| heads.open_proposals = heads.open_proposals.saturating_sub(1))?;
    }
    Ok(())
}

/// Records the check of an executed proposal. `false`: there is one already.
pub async fn record_verification(
    tx: &mut Tx,
    id: ProposalId,
    seen: &Verification,
) -> Result<bool, StoreError> {
    let sql = "UPDATE proposals SET verification = $2, verified_at = $3, verification_detail = $4 \
        WHERE id = $1 AND status = 'executed' AND verification IS NULL";
    let row = values![
        id.to_string(),
        seen.outcome.as_str(),
        seen.at,
        seen.detail.to_string()
    ];
    Ok(tx.execute(sql, row).await? == 1)
}

/// Stores what one more request for the same has made of a pending proposal. `false`: it no longer waits.
pub async fn join(tx: &mut Tx, joined: &Proposal) -> Result<bool, StoreError> {
    let sql = "UPDATE proposals SET asked_count = $2, taint = $3, tier = $4, risk = $5, joined = $6, revision = $7 \
        WHERE id = $1 AND status = 'pending'";
    let words = (!joined.joined.is_empty())
        .then(|| serde_json::to_string(&joined.joined).unwrap_or_default());
    let row = values![
        joined.id.to_string(),
        int(joined.count),
        serde_json::to_string(&joined.taint).unwrap_or_default(),
        joined.subject.tier.as_str(),
        joined.subject.risk.as_str(),
        words,
        int(joined.revision),
    ];
    Ok(tx.execute(sql, row).await? == 1)
}

/// A proposal with the epoch it was made in.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    pub proposal: Proposal,
    pub epoch: u64,
}

pub async fn find(tx: &mut Tx, id: ProposalId) -> Result<Option<Stored>, StoreError> {
    let sql = concat!("SELECT ", columns!(), " FROM proposals WHERE id = $1");
    first(tx.one("proposals", sql, values![id.to_string()]).await?)
}

/// The open proposal that people call by this code, or the newest one that ended with it.
pub async fn find_by_code(tx: &mut Tx, code: &ProposalCode) -> Result<Option<Stored>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM proposals WHERE code = $1 \
         ORDER BY CASE WHEN status IN ('pending', 'approved', 'running', 'unknown') THEN 0 ELSE 1 END, id DESC LIMIT 1"
    );
    first(tx.one("proposals", sql, values![code.as_str()]).await?)
}

/// The request that a second, equal one joins.
pub async fn find_pending_twin(
    tx: &mut Tx,
    requester: &Requester,
    digest: &str,
) -> Result<Option<Stored>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM proposals WHERE requester_kind = $1 AND requester_id = $2 AND digest = $3 AND status = 'pending'"
    );
    let values = values![requester.kind.as_str(), requester_id(requester), digest];
    first(tx.one("proposals", sql, values).await?)
}

fn first(row: Option<Row>) -> Result<Option<Stored>, StoreError> {
    row.as_ref().map(rows::stored).transpose()
}

/// In the words of the index `proposals_code_open`: by a list, SQLite would go through all that ever had the code.
pub async fn is_code_open(tx: &mut Tx, code: &ProposalCode) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM proposals WHERE code = $1 \
        AND (status = 'pending' OR status = 'approved' OR status = 'running' OR status = 'unknown')";
    Ok(tx
        .one("proposals", sql, values![code.as_str()])
        .await?
        .is_some())
}

/// Whether something runs on a target, or may: an outcome that nobody knows may still be under way, and
/// what was offered to a foreign executor may be taken at any moment.
pub async fn is_target_busy(tx: &mut Tx, target: &str) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM proposals WHERE target = $1 AND status = 'running' UNION ALL \
        SELECT id FROM proposals WHERE target = $1 AND status = 'unknown' UNION ALL \
        SELECT proposals.id FROM bridge_files JOIN proposals ON proposals.id = bridge_files.proposal_id \
        WHERE bridge_files.offered_at IS NOT NULL AND proposals.target = $1 AND proposals.status = 'approved'";
    Ok(tx.one("proposals", sql, values![target]).await?.is_some())
}

/// The same for whoever asks now: what was let through and has not started is about to.
pub async fn is_target_taken(tx: &mut Tx, target: &str) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM proposals WHERE target = $1 AND status = 'running' UNION ALL \
        SELECT id FROM proposals WHERE target = $1 AND status = 'unknown' UNION ALL \
        SELECT id FROM proposals WHERE target = $1 AND status = 'approved'";
    Ok(tx.one("proposals", sql, values![target]).await?.is_some())
}

/// How often the action started since then, and when it last did. What a wrong clock dated later than `until` does
/// not count, here and below: it would hold back for years.
pub async fn starts_since(
    tx: &mut Tx,
    action: &ActionId,
    since: Timestamp,
    until: Timestamp,
) -> Result<(u64, Option<Timestamp>), StoreError> {
    let sql = "SELECT COUNT(*) AS total, MAX(started_at) AS last_at FROM proposals WHERE action_id = $1 AND started_at > $2 AND started_at <= $3";
    let Some(row) = tx
        .one("proposals", sql, values![action.as_str(), since, until])
        .await?
    else {
        return Ok((0, None));
    };
    Ok((row.count("total")?, row.opt_time("last_at")?))
}

/// The same for whoever asks now: what was let through since then and has not started counts as if it had, then.
pub async fn starts_to_come_since(
    tx: &mut Tx,
    action: &ActionId,
    since: Timestamp,
    until: Timestamp,
) -> Result<(u64, Option<Timestamp>), StoreError> {
    let sql = "SELECT COUNT(*) AS total, MAX(began) AS last_at FROM \
        (SELECT started_at AS began FROM proposals WHERE action_id = $1 AND started_at > $2 AND started_at <= $3 UNION ALL \
        SELECT approved_at AS began FROM proposals WHERE status = 'approved' AND action_id = $1 \
        AND approved_at > $2 AND approved_at <= $3) AS starts";
    let values = values![action.as_str(), since, until];
    let Some(row) = tx.one("proposals", sql, values).await? else {
        return Ok((0, None));
    };
    Ok((row.count("total")?, row.opt_time("last_at")?))
}

/// How many safe runs policy has let this requester start since then.
pub async fn safe_runs_since(
    tx: &mut Tx,
    requester: &Requester,
    since: Timestamp,
    until: Timestamp,
) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM proposals WHERE requester_kind = $1 AND requester_id = $2 \
        AND approved_by = 'policy' AND approved_at > $3 AND approved_at <= $4";
    let id = requester_id(requester);
    let values = values![requester.kind.as_str(), id, since, until];
    tx.count("proposals", sql, values).await
}

/// How many approvals since then are by somebody whose name begins so. What was approved since then has
/// ended since then, or not yet.
pub async fn approvals_since(
    tx: &mut Tx,
    by: &str,
    since: Timestamp,
    until: Timestamp,
) -> Result<u64, StoreError> {
    let sql = "SELECT (SELECT COUNT(*) FROM proposals \
        WHERE ended_at >= $1 AND approved_at > $1 AND approved_at <= $3 AND approved_by LIKE $2) + \
        (SELECT COUNT(*) FROM proposals WHERE status IN ('approved', 'running') \
        AND approved_at > $1 AND approved_at <= $3 AND approved_by LIKE $2) AS total";
    tx.count("proposals", sql, values![since, format!("{by}%"), until])
        .await
}

pub fn count_open(tx: &mut Tx) -> Result<u64, StoreError> {
    Ok(tx.heads()?.open_proposals)
}

pub async fn count_open_of(tx: &mut Tx, requester: &Requester) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM proposals WHERE requester_kind = $1 AND requester_id = $2 AND status = 'pending'";
    let values = values![requester.kind.as_str(), requester_id(requester)];
    tx.count("proposals", sql, values).await
}

/// How many proposals are in each state that still concerns somebody.
pub async fn count_by_status(tx: &mut Tx, status: Status) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM proposals WHERE status = $1";
    tx.count("proposals", sql, values![status.as_str()]).await
}

/// How many changes wait.
pub async fn count_waiting_changes(tx: &mut Tx) -> Result<u64, StoreError> {
    let sql =
        "SELECT COUNT(*) AS total FROM proposals WHERE status = 'pending' AND subject = 'change'";
    tx.count("proposals", sql, &[]).await
}

/// Whether a yes or a no was ever asked for and given.
pub async fn is_any_decided(tx: &mut Tx) -> Result<bool, StoreError> {
    let sql = "SELECT \
        (SELECT COUNT(*) FROM (SELECT id FROM proposals WHERE status = 'rejected' LIMIT 1) AS no) \
        + (SELECT COUNT(*) FROM (SELECT id FROM proposals \
            WHERE tier = 'risky' AND approved_at IS NOT NULL LIMIT 1) AS yes) AS total";
    Ok(tx.count("proposals", sql, values![]).await? > 0)
}

/// A row that cannot exist is named in the log and left out: one damaged row must not hide or hold up
/// the others. Asked for by its id, it is an error.
fn readable(row: &Row) -> Result<Option<Stored>, StoreError> {
    match rows::stored(row) {
        Ok(stored) => Ok(Some(stored)),
        Err(error @ StoreError::Corrupt { .. }) => {
            tracing::error!(%error, "a proposal is left out");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

const fn select<'a>() -> Select<'a> {
    Select::new(
        "proposals",
        concat!("SELECT ", columns!(), " FROM proposals"),
    )
}

/// Which proposals a list shows.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProposalFilter {
    pub status: Option<Status>,
    pub requester: Option<RequesterId>,
}

/// Newest first. The cursor is the id of the last row of the page before.
pub async fn list(
    tx: &mut Tx,
    filter: ProposalFilter,
    cursor: Option<ProposalId>,
    limit: u32,
) -> Result<Page<Stored>, StoreError> {
    filtered(filter, cursor).page(tx, limit, readable).await
}

fn filtered<'a>(filter: ProposalFilter, cursor: Option<ProposalId>) -> Paged<'a> {
    let (status, requester) = (filter.status, filter.requester);
    select()
        .only_with_some("requester_id = ?", requester.map(|id| id.to_string()))
        .only_with_some("status = ?", status.map(Status::as_str))
        .newest_first("id", cursor.map(|id| id.to_string()))
}

/// Oldest first: what waits the longest is decided first.
pub async fn list_waiting(
    tx: &mut Tx,
    cursor: Option<ProposalId>,
    limit: u32,
) -> Result<Page<Stored>, StoreError> {
    select()
        .only("status = 'pending'")
        .oldest_first("id", cursor.map(|id| id.to_string()))
        .page(tx, limit, readable)
        .await
}

/// The changes among what waits, oldest first.
pub async fn list_waiting_changes(
    tx: &mut Tx,
    cursor: Option<ProposalId>,
    limit: u32,
) -> Result<Page<Stored>, StoreError> {
    select()
        .only("status = 'pending'")
        .only("subject = 'change'")
        .oldest_first("id", cursor.map(|id| id.to_string()))
        .page(tx, limit, readable)
        .await
}

/// What one requester has waiting: to start, then to be decided, each oldest first; not what is offered to a foreign
/// executor.
pub async fn list_waiting_of(
    tx: &mut Tx,
    requester: RequesterId,
    limit: u32,
) -> Result<Vec<Stored>, StoreError> {
    let mut waiting = select()
        .only("status = 'approved'")
        .only(not_offered!())
        .only_with("requester_id = ?", requester.to_string())
        .order_by("id")
        .all(tx, limit, readable)
        .await?;
    let pending = select()
        .only("status = 'pending'")
        .only_with("requester_id = ?", requester.to_string())
        .order_by("id")
        .all(tx, limit, readable)
        .await?;
    waiting.extend(pending);
    waiting.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(waiting)
}

/// What policy let through and has not started, oldest first; not what is offered to a foreign executor.
pub async fn list_let_through(tx: &mut Tx, limit: u32) -> Result<Vec<Stored>, StoreError> {
    select()
        .only("status = 'approved'")
        .only("approved_by = 'policy'")
        .only(not_offered!())
        .order_by("id")
        .all(tx, limit, readable)
        .await
}

/// What ended, newest end first.
pub async fn list_ended(tx: &mut Tx, limit: u32) -> Result<Vec<Stored>, StoreError> {
    select()
        .only("ended_at IS NOT NULL")
        .order_by(BY_END)
        .fitting(tx, limit, readable)
        .await
}

/// The power runs of guests that ended since then, newest first.
pub async fn list_power_since(
    tx: &mut Tx,
    since: Timestamp,
    limit: u32,
) -> Result<Vec<Stored>, StoreError> {
    let power = runs_since(since).only("target LIKE 'guest:%'");
    power.order_by(BY_END).all(tx, limit, readable).await
}

/// The runs that ended since then, newest first.
pub async fn list_ended_since(
    tx: &mut Tx,
    since: Timestamp,
    limit: u32,
) -> Result<Vec<Stored>, StoreError> {
    runs_since(since)
        .order_by(BY_END)
        .all(tx, limit, readable)
        .await
}

const BY_END: &str = "ended_at DESC, id DESC";

fn runs_since<'a>(since: Timestamp) -> Select<'a> {
    select()
        .only_with("ended_at > ?", since)
        .only("started_at IS NOT NULL")
}

/// The runs of an action, newest first.
pub async fn list_started_of(
    tx: &mut Tx,
    action: &ActionId,
    limit: u32,
) -> Result<Vec<Stored>, StoreError> {
    select()
        .only_with("action_id = ?", action.as_str())
        .only("started_at IS NOT NULL")
        .order_by("started_at DESC")
        .all(tx, limit, readable)
        .await
}

/// Pending proposals whose time is over, a bounded number at a time.
pub async fn list_overdue(
    tx: &mut Tx,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<Stored>, StoreError> {
    select()
        .only("status = 'pending'")
        .only_with("expires_at <= ?", now)
        .order_by("expires_at")
        .all(tx, limit, readable)
        .await
}

/// Executed, and nobody has recorded a check yet; oldest first.
pub async fn list_unchecked(tx: &mut Tx, limit: u32) -> Result<Vec<Stored>, StoreError> {
    select()
        .only("status = 'executed'")
        .only("verification IS NULL")
        .order_by("id")
        .all(tx, limit, readable)
        .await
}

/// What was open before the epoch was raised to `epoch`.
pub async fn list_open_before(
    tx: &mut Tx,
    epoch: u64,
    limit: u32,
) -> Result<Vec<Stored>, StoreError> {
    select()
        .only("status IN ('pending', 'approved', 'running')")
        .only_with("epoch < ?", int(epoch))
        .order_by("id")
        .all(tx, limit, readable)
        .await
}

pub async fn count_open_before(tx: &mut Tx, epoch: u64) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM proposals WHERE status IN ('pending', 'approved', 'running') AND epoch < $1";
    tx.count("proposals", sql, values![int(epoch)]).await
}

/// Everything in one state, oldest first. Only for states that hold few rows.
pub async fn list_in(tx: &mut Tx, status: Status, limit: u32) -> Result<Vec<Stored>, StoreError> {
    select()
        .only_with("status = ?", status.as_str())
        .order_by("id")
        .all(tx, limit, readable)
        .await
}
