//! What the record says about one row: the newest entry that put a proposal or a credential into the state in
//! which it is. A row can be edited by whoever can write to the database; the chain cannot be, unseen.
//!
//! Look-ups of one row go by `facts_by_subject`, from the newest entry back.

use std::collections::HashMap;

use serde_json::Value as Json;
use void_domain::facts::Fact;
use void_domain::ids::ProposalId;
use void_domain::proposals::{self, Joined, Proposal, Status, Transition};
use void_domain::time::Timestamp;

use super::entry;
use crate::errors::StoreError;
use crate::heads;
use crate::tx::{Engine, Tx};
use crate::values::{Row, Value, int, values};

/// The verbs of [`Status::event`].
macro_rules! steps {
    () => {
        "('proposal.created', 'proposal.approved', 'proposal.started', 'proposal.executed', 'proposal.failed', \
         'proposal.rejected', 'proposal.expired', 'proposal.cancelled', 'proposal.unknown', 'proposal.refused')"
    };
}

/// The same for look-ups of one row in the writer: for a list of so many, SQLite makes a table at every look-up.
macro_rules! is_step {
    () => {
        "(verb = 'proposal.created' OR verb = 'proposal.approved' OR verb = 'proposal.started' OR verb = 'proposal.executed' \
         OR verb = 'proposal.failed' OR verb = 'proposal.rejected' OR verb = 'proposal.expired' \
         OR verb = 'proposal.cancelled' OR verb = 'proposal.unknown' OR verb = 'proposal.refused')"
    };
}

/// The newest entry that says in which state a proposal is. An entry that cannot be read says nothing.
pub async fn newest(tx: &mut Tx, id: ProposalId) -> Result<Option<Fact>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM facts WHERE subject = $1 AND seq <= $2 AND ",
        is_step!(),
        " ORDER BY seq DESC LIMIT 1"
    );
    find(tx, sql, id).await
}

/// The newest entry that says that it was approved.
pub async fn approved(tx: &mut Tx, id: ProposalId) -> Result<Option<Fact>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM facts WHERE subject = $1 AND seq <= $2 AND verb = 'proposal.approved' ORDER BY seq DESC LIMIT 1"
    );
    find(tx, sql, id).await
}

/// Whether everything was frozen since the record says that it was approved; also if the record does not say that.
pub async fn is_frozen_since_approval(tx: &mut Tx, id: ProposalId) -> Result<bool, StoreError> {
    let sql = "SELECT seq FROM facts WHERE seq > COALESCE((SELECT MAX(seq) FROM facts WHERE subject = $1 AND seq <= $2 \
        AND verb = 'proposal.approved'), 0) AND seq <= $2 AND verb = 'freeze.set' LIMIT 1";
    Ok(!rows_about(tx, sql, id).await?.is_empty())
}

/// What the record says about one that waits: the newest entry that says in which state it is, and the newest one that
/// says what a person who decides was to read, the first request or one that joined it.
pub async fn newest_and_asked(
    tx: &mut Tx,
    id: ProposalId,
) -> Result<(Option<Fact>, Option<Fact>), StoreError> {
    let sql = concat!(
        "SELECT * FROM (SELECT ",
        columns!(),
        ", CAST(0 AS bigint) AS is_asked FROM facts WHERE subject = $1 AND seq <= $2 AND ",
        is_step!(),
        " ORDER BY seq DESC LIMIT 1) AS newest UNION ALL SELECT * FROM (SELECT ",
        columns!(),
        ", CAST(1 AS bigint) AS is_asked FROM facts WHERE subject = $1 AND seq <= $2 \
         AND (verb = 'proposal.created' OR verb = 'proposal.joined') ORDER BY seq DESC LIMIT 1) AS asked"
    );
    let (mut newest, mut asked) = (None, None);
    for row in rows_about(tx, sql, id).await? {
        let entry = entry(&row).ok();
        match row.flag("is_asked")? {
            false => newest = entry,
            true => asked = entry,
        }
    }
    Ok((newest, asked))
}

async fn find(tx: &mut Tx, sql: &'static str, id: ProposalId) -> Result<Option<Fact>, StoreError> {
    let rows = rows_about(tx, sql, id).await?;
    Ok(rows.first().and_then(|row| entry(row).ok()))
}

async fn rows_about(
    tx: &mut Tx,
    sql: &'static str,
    id: ProposalId,
) -> Result<Vec<Row>, StoreError> {
    let subject = id.to_string();
    if let Engine::Flight(flight) = tx.engine() {
        flight.assert_stored(&subject)?;
    }
    let values = values![subject, head_now(tx).await?];
    tx.all("facts", sql, values).await
}

/// In a batch the head is in memory: the stored one does not know what was written in it before us.
async fn head_now(tx: &mut Tx) -> Result<i64, StoreError> {
    if let Engine::Flight(flight) = tx.engine() {
        // A row beyond what is stored is nobody's entry.
        return Ok(int(flight.stored_seq()));
    }
    let heads = match tx.heads_now() {
        Some(heads) => heads,
        None => heads::load(tx).await?,
    };
    Ok(int(heads.audit_seq))
}

/// The steps of a proposal, oldest first.
pub async fn history(tx: &mut Tx, proposal: &Proposal) -> Result<Vec<Transition>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM facts WHERE subject = $1 AND seq <= $2 AND verb IN ",
        steps!(),
        " ORDER BY seq"
    );
    let values = values![proposal.id.to_string(), head_now(tx).await?];
    let rows = tx.all("facts", sql, values).await?;
    // A damaged row is named by a walk; the others still tell what they say.
    let entries: Vec<Fact> = rows.iter().filter_map(|row| entry(row).ok()).collect();
    Ok(proposals::history(&entries, proposal.subject.is_by_file()))
}

/// How many rows one statement is about.
pub(crate) const ROWS_AT_ONCE: usize = 32;

/// As many places as [`ROWS_AT_ONCE`]; the number after them is free.
macro_rules! row_places {
    () => {
        "($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, \
         $26, $27, $28, $29, $30, $31, $32)"
    };
}
pub(crate) use row_places;

/// The values of these places: the ids, and the empty text, which is nobody's, in the rest.
pub(crate) fn row_values(ids: &[String]) -> Vec<Value<'_>> {
    let empty = std::iter::repeat("");
    let places = ids.iter().map(String::as_str).chain(empty);
    places.take(ROWS_AT_ONCE).map(Value::from).collect()
}

/// The steps of each of them, in their order: a statement for many.
pub async fn histories(tx: &mut Tx, of: &[&Proposal]) -> Result<Vec<Vec<Transition>>, StoreError> {
    if let [one] = of {
        return Ok(vec![history(tx, one).await?]);
    }
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM facts WHERE subject IN ",
        row_places!(),
        " AND seq <= $33 AND verb IN ",
        steps!(),
        " ORDER BY seq"
    );
    let head = head_now(tx).await?;
    let mut entries: HashMap<String, Vec<Fact>> = HashMap::new();
    for some in of.chunks(ROWS_AT_ONCE) {
        let ids: Vec<String> = some
            .iter()
            .map(|proposal| proposal.id.to_string())
            .collect();
        let mut values = row_values(&ids);
        values.push(head.into());
        for row in tx.all("facts", sql, &values).await? {
            let Ok(fact) = entry(&row) else { continue };
            let about = fact.subject.clone().unwrap_or_default();
            entries.entry(about).or_default().push(fact);
        }
    }
    let history = |proposal: &&Proposal| {
        let entries = entries.remove(&proposal.id.to_string());
        let is_by_file = proposal.subject.is_by_file();
        proposals::history(&entries.unwrap_or_default(), is_by_file)
    };
    Ok(of.iter().map(history).collect())
}

/// A row, and what the record says about it.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposalStep {
    pub id: String,
    pub code: String,
    pub status: String,
    pub verification: Option<String>,
    /// What else of it the record knows. `None`: it cannot be read.
    pub row: Option<ProposalWords>,
    /// `None`: the record knows nothing about it.
    pub verb: Option<String>,
    /// Of the entry that says in which state it is.
    pub detail: Option<String>,
    /// Of the first entry, and who asked.
    pub created: Option<String>,
    pub created_by: Option<String>,
    /// Of the newest entry that says what a person who decides was to read.
    pub asked: Option<String>,
    /// Of the newest entry that says that it was approved.
    pub approved: Option<String>,
    /// When that was.
    pub approved_at: Option<Timestamp>,
    /// Of the newest entry that says how it was checked.
    pub checked: Option<String>,
}

/// Columns as they are stored, without what a stored definition makes of them.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposalWords {
    pub action_id: String,
    pub label: String,
    pub params: Json,
    pub tier: String,
    pub risk: String,
    pub target: String,
    pub digest: String,
    pub requester_kind: String,
    pub requester_name: String,
    pub reason: Option<String>,
    pub diff: Option<String>,
    pub taint: Json,
    pub count: u64,
    pub joined: Joined,
    pub revision: u64,
    pub expires_at: Timestamp,
    pub approved_by: Option<String>,
    pub approved_at: Option<Timestamp>,
    pub decision_reason: Option<String>,
    pub failure_code: Option<String>,
    pub failure_message: Option<String>,
}

impl ProposalStep {
    /// Whether row and record name the same state.
    pub fn is_same_state(&self) -> bool {
        let status = Status::parse(&self.status);
        status.is_some_and(|status| self.verb.as_deref() == Some(status.event().as_str()))
    }
}

/// The newest entry about a row with one of these verbs: what it says, by the name of its column.
macro_rules! newest_said {
    ($column:literal, $order:literal, $name:literal, $($verbs:tt)+) => {
        concat!(
            ", (SELECT ",
            $column,
            " FROM facts WHERE subject = proposals.id AND",
            up_to_head!(),
            "AND verb IN ",
            $($verbs)+,
            " ORDER BY seq",
            $order,
            " LIMIT 1) AS ",
            $name
        )
    };
}

/// Rows in the order of their ids, after the id `after`, as far as they fit into the bound of a list. None: there are no
/// more.
pub async fn of_proposals(
    tx: &mut Tx,
    after: &str,
    limit: u32,
) -> Result<Vec<ProposalStep>, StoreError> {
    let sql = concat!(
        "SELECT id, code, status, verification, action_id, label, params, tier, risk, target, digest, requester_kind, \
         requester_name, reason, diff, taint, asked_count, joined, revision, expires_at, approved_by, approved_at, decision_reason, \
         failure_code, failure_message",
        newest_said!("verb", " DESC", "verb", steps!()),
        newest_said!("detail", " DESC", "detail", steps!()),
        newest_said!(
            "detail",
            "",
            "created",
            "('proposal.created', 'proposal.refused')"
        ),
        newest_said!(
            "actor",
            "",
            "created_by",
            "('proposal.created', 'proposal.refused')"
        ),
        newest_said!(
            "detail",
            " DESC",
            "asked",
            "('proposal.created', 'proposal.joined')"
        ),
        newest_said!("detail", " DESC", "approved", "('proposal.approved')"),
        newest_said!(
            "at",
            " DESC",
            "recorded_approval_at",
            "('proposal.approved')"
        ),
        newest_said!(
            "detail",
            " DESC",
            "checked",
            "('proposal.executed', 'proposal.verified')"
        ),
        " FROM proposals WHERE id > $1 ORDER BY id LIMIT $2"
    );
    let listing = tx
        .list("proposals", sql, values![after, i64::from(limit)])
        .await?;
    let step = |row: &Row| -> Result<ProposalStep, StoreError> {
        Ok(ProposalStep {
            id: row.string("id")?,
            code: row.string("code")?,
            status: row.string("status")?,
            verification: row.opt_string("verification")?,
            row: words_of(row).ok(),
            verb: row.opt_string("verb")?,
            detail: row.opt_string("detail")?,
            created: row.opt_string("created")?,
            created_by: row.opt_string("created_by")?,
            asked: row.opt_string("asked")?,
            approved: row.opt_string("approved")?,
            approved_at: row.opt_time("recorded_approval_at")?,
            checked: row.opt_string("checked")?,
        })
    };
    listing.rows.iter().map(step).collect()
}

fn words_of(row: &Row) -> Result<ProposalWords, StoreError> {
    Ok(ProposalWords {
        action_id: row.string("action_id")?,
        label: row.string("label")?,
        params: row.json("params")?,
        tier: row.string("tier")?,
        risk: row.string("risk")?,
        target: row.string("target")?,
        digest: row.string("digest")?,
        requester_kind: row.string("requester_kind")?,
        requester_name: row.string("requester_name")?,
        reason: row.opt_string("reason")?,
        diff: row.opt_string("diff")?,
        taint: row.json("taint")?,
        count: row.count("asked_count")?,
        joined: row.opt_json("joined")?.unwrap_or_default(),
        revision: row.count("revision")?,
        expires_at: row.time("expires_at")?,
        approved_by: row.opt_string("approved_by")?,
        approved_at: row.opt_time("approved_at")?,
        decision_reason: row.opt_string("decision_reason")?,
        failure_code: row.opt_string("failure_code")?,
        failure_message: row.opt_string("failure_message")?,
    })
}

/// The numbers by which Void goes on, as they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredHeads {
    pub audit_seq: u64,
    pub told_after: u64,
    pub numbered_from: u64,
    /// How many are counted as waiting, by which new ones are refused.
    pub open_proposals: u64,
    /// How many wait.
    pub waiting: u64,
}

pub async fn of_heads(tx: &mut Tx) -> Result<StoredHeads, StoreError> {
    let sql = "SELECT audit_seq, told_after, numbered_from, open_proposals, \
        (SELECT COUNT(*) FROM proposals WHERE status = 'pending') AS waiting FROM heads WHERE id = 1";
    let row = tx
        .one("heads", sql, &[])
        .await?
        .ok_or_else(|| StoreError::corrupt("heads", 1, "the row is missing"))?;
    Ok(StoredHeads {
        audit_seq: row.count("audit_seq")?,
        told_after: row.count("told_after")?,
        numbered_from: row.count("numbered_from")?,
        open_proposals: row.count("open_proposals")?,
        waiting: row.count("waiting")?,
    })
}

/// A token's row, and what its newest entry says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenStep {
    pub id: String,
    pub kind: String,
    pub name: String,
    /// The name of its agent, if it has one.
    pub agent: Option<String>,
    pub capabilities: String,
    pub is_revoked: bool,
    /// `None`: the record knows nothing about it.
    pub verb: Option<String>,
    /// Of the entry that made it, or gave it another text.
    pub made: Option<String>,
}

/// Rows in the order of their ids, after the id `after`, as far as they fit into the bound of a list. None: there are no
/// more.
pub async fn of_tokens(tx: &mut Tx, after: &str, limit: u32) -> Result<Vec<TokenStep>, StoreError> {
    let sql = concat!(
        "SELECT id, kind, name, (SELECT agents.name FROM agents WHERE agents.id = tokens.agent_id) AS agent, capabilities, \
         revoked_at, \
         (SELECT verb FROM facts WHERE subject = tokens.id AND",
        up_to_head!(),
        "AND verb IN ('token.created', 'token.revoked', 'quarantine.removed') ORDER BY seq DESC LIMIT 1) AS verb, \
         (SELECT detail FROM facts WHERE subject = tokens.id AND",
        up_to_head!(),
        "AND verb = 'token.created' ORDER BY seq DESC LIMIT 1) AS made FROM tokens WHERE id > $1 ORDER BY id LIMIT $2"
    );
    let listing = tx
        .list("tokens", sql, values![after, i64::from(limit)])
        .await?;
    let step = |row: &Row| -> Result<TokenStep, StoreError> {
        Ok(TokenStep {
            id: row.string("id")?,
            kind: row.string("kind")?,
            name: row.string("name")?,
            agent: row.opt_string("agent")?,
            capabilities: row.string("capabilities")?,
            is_revoked: row.opt_time("revoked_at")?.is_some(),
            verb: row.opt_string("verb")?,
            made: row.opt_string("made")?,
        })
    };
    listing.rows.iter().map(step).collect()
}

/// An agent's row, and what the newest entry says that told its capabilities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentStep {
    pub id: String,
    pub name: String,
    pub capabilities: String,
    pub is_withdrawn: bool,
    pub has_live_token: bool,
    /// `None`: the record knows nothing about it.
    pub said: Option<String>,
}

/// Rows in the order of their ids, after the id `after`, as far as they fit into the bound of a list. None: there are no
/// more. An agent from before there were agents has the id of its token, whose entries tell what it may do.
pub async fn of_agents(tx: &mut Tx, after: &str, limit: u32) -> Result<Vec<AgentStep>, StoreError> {
    let sql = concat!(
        "SELECT id, name, capabilities, withdrawn_at, (SELECT MIN(tokens.id) FROM tokens \
         WHERE tokens.agent_id = agents.id AND tokens.revoked_at IS NULL) AS live_token, \
         (SELECT detail FROM facts WHERE subject = agents.id AND",
        up_to_head!(),
        "AND verb IN ('agent.created', 'agent.changed', 'agent.restored', 'token.created') \
         ORDER BY seq DESC LIMIT 1) AS said FROM agents WHERE id > $1 ORDER BY id LIMIT $2"
    );
    let listing = tx
        .list("agents", sql, values![after, i64::from(limit)])
        .await?;
    let step = |row: &Row| -> Result<AgentStep, StoreError> {
        Ok(AgentStep {
            id: row.string("id")?,
            name: row.string("name")?,
            capabilities: row.string("capabilities")?,
            is_withdrawn: row.opt_time("withdrawn_at")?.is_some(),
            has_live_token: row.opt_text("live_token")?.is_some(),
            said: row.opt_string("said")?,
        })
    };
    listing.rows.iter().map(step).collect()
}

/// Credentials that are good and of which the record does not say that they were given out, by table. Not
/// seen: an edited secret or key, and a session that ended with all others.
const CREDENTIALS: [(&str, &str); 4] = [
    (
        "sessions",
        concat!(
            "SELECT id FROM sessions WHERE ended_at IS NULL AND COALESCE((SELECT verb FROM facts WHERE subject = sessions.id AND",
            up_to_head!(),
            "AND verb IN ('session.opened', 'session.closed', 'session.revoked') ORDER BY seq DESC LIMIT 1), '') \
             <> 'session.opened' ORDER BY id LIMIT $1"
        ),
    ),
    (
        "passkeys",
        concat!(
            "SELECT id FROM passkeys WHERE COALESCE((SELECT verb FROM facts WHERE subject = passkeys.id AND",
            up_to_head!(),
            "AND verb IN ('passkey.registered', 'passkey.removed', 'quarantine.removed') ORDER BY seq DESC LIMIT 1), '') \
             <> 'passkey.registered' ORDER BY id LIMIT $1"
        ),
    ),
    (
        "passwords",
        concat!(
            "SELECT CAST(id AS text) AS id FROM passwords WHERE COALESCE((SELECT verb FROM facts WHERE",
            up_to_head!(),
            "AND verb IN ('password.set', 'password.removed') ORDER BY seq DESC LIMIT 1), '') <> 'password.set' LIMIT $1"
        ),
    ),
    (
        "notification_pairs",
        concat!(
            "SELECT target AS id FROM notification_pairs WHERE ended_at IS NULL AND NOT EXISTS (SELECT 1 FROM facts WHERE",
            up_to_head!(),
            "AND verb = 'pairing.accepted' AND detail LIKE '%\"target\":\"' || target || '\"%') ORDER BY target LIMIT $1"
        ),
    ),
];

/// Table and id of each.
pub async fn credentials_without_entry(
    tx: &mut Tx,
    limit: u32,
) -> Result<Vec<(&'static str, String)>, StoreError> {
    let mut found = Vec::new();
    for (table, sql) in CREDENTIALS {
        for row in tx.all(table, sql, values![i64::from(limit)]).await? {
            found.push((table, row.string("id")?));
        }
    }
    Ok(found)
}

/// The freeze's row, and what its newest entry says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreezeStep {
    /// `None`: nothing is frozen.
    pub by: Option<String>,
    pub until: Option<Timestamp>,
    pub verb: Option<String>,
    pub detail: Option<String>,
}

/// One pass back to the newest entry; over the whole record if there never was a freeze.
pub async fn of_freeze(tx: &mut Tx) -> Result<FreezeStep, StoreError> {
    let sql = concat!(
        "SELECT id, frozen_by, until_at, (SELECT verb FROM facts WHERE",
        up_to_head!(),
        "AND verb IN ('freeze.set', 'freeze.lengthened', 'freeze.lifted') ORDER BY seq DESC LIMIT 1) AS verb, \
         (SELECT detail FROM facts WHERE",
        up_to_head!(),
        "AND verb IN ('freeze.set', 'freeze.lengthened', 'freeze.lifted') ORDER BY seq DESC LIMIT 1) AS detail \
         FROM freezes WHERE id = 1"
    );
    let row = tx
        .one("freezes", sql, &[])
        .await?
        .ok_or_else(|| StoreError::corrupt("freezes", 1, "the row is missing"))?;
    Ok(FreezeStep {
        by: row.opt_string("frozen_by")?,
        until: row.opt_time("until_at")?,
        verb: row.opt_string("verb")?,
        detail: row.opt_string("detail")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_its_verb_in_the_lists() {
        for status in Status::ALL {
            let verb = format!("'{}'", status.event().as_str());
            assert!(steps!().contains(&verb), "{verb}");
            assert!(is_step!().contains(&format!("verb = {verb}")), "{verb}");
        }
    }
}
