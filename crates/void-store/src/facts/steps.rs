//! What the record says about one row: the newest entry that put a proposal or a credential into the state in
//! which it is. A row can be edited by whoever can write to the database; the chain cannot be, unseen.
//!
//! Look-ups of one row go by `facts_by_subject`, from the newest entry back.

use void_domain::facts::Fact;
use void_domain::ids::ProposalId;
use void_domain::proposals::{self, Proposal, Status, Transition};
use void_domain::time::Timestamp;

use super::entry;
use crate::errors::StoreError;
use crate::heads;
use crate::tx::Tx;
use crate::values::{Row, int, values};

/// The verbs of [`Status::event`].
macro_rules! steps {
    () => {
        "('proposal.created', 'proposal.approved', 'proposal.started', 'proposal.executed', 'proposal.failed', \
         'proposal.rejected', 'proposal.expired', 'proposal.cancelled', 'proposal.unknown', 'proposal.refused')"
    };
}

/// The newest entry that says in which state a proposal is. An entry that cannot be read says nothing.
pub async fn newest(tx: &mut Tx, id: ProposalId) -> Result<Option<Fact>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM facts WHERE subject = $1 AND seq <= $2 AND verb IN ",
        steps!(),
        " ORDER BY seq DESC LIMIT 1"
    );
    find(tx, sql, id).await
}

/// The newest entry that says what a person who decides was to read: the first request, or one that joined it.
pub async fn newest_asked(tx: &mut Tx, id: ProposalId) -> Result<Option<Fact>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM facts WHERE subject = $1 AND seq <= $2 AND verb IN ('proposal.created', 'proposal.joined') \
         ORDER BY seq DESC LIMIT 1"
    );
    find(tx, sql, id).await
}

async fn find(tx: &mut Tx, sql: &'static str, id: ProposalId) -> Result<Option<Fact>, StoreError> {
    let values = values![id.to_string(), head_now(tx).await?];
    let row = tx.one("facts", sql, values).await?;
    Ok(row.as_ref().and_then(|row| entry(row).ok()))
}

/// In a batch the head is in memory: the stored one does not know what was written in it before us.
async fn head_now(tx: &mut Tx) -> Result<i64, StoreError> {
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

/// A row, and what its newest entry says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalStep {
    pub id: String,
    pub code: String,
    pub status: String,
    pub verification: Option<String>,
    /// `None`: the record knows nothing about it.
    pub verb: Option<String>,
    /// Of the entry that says in which state it is.
    pub detail: Option<String>,
    /// Of the newest entry that says how it was checked.
    pub checked: Option<String>,
}

impl ProposalStep {
    /// Whether row and record name the same state.
    pub fn is_same_state(&self) -> bool {
        let status = Status::parse(&self.status);
        status.is_some_and(|status| self.verb.as_deref() == Some(status.event().as_str()))
    }
}

/// Rows in the order of their ids, after the id `after`.
pub async fn of_proposals(
    tx: &mut Tx,
    after: &str,
    limit: u32,
) -> Result<Vec<ProposalStep>, StoreError> {
    let sql = concat!(
        "SELECT id, code, status, verification, (SELECT verb FROM facts WHERE subject = proposals.id AND",
        up_to_head!(),
        "AND verb IN ",
        steps!(),
        " ORDER BY seq DESC LIMIT 1) AS verb, (SELECT detail FROM facts WHERE subject = proposals.id AND",
        up_to_head!(),
        "AND verb IN ",
        steps!(),
        " ORDER BY seq DESC LIMIT 1) AS detail, (SELECT detail FROM facts WHERE subject = proposals.id AND",
        up_to_head!(),
        "AND verb IN ('proposal.executed', 'proposal.verified') ORDER BY seq DESC LIMIT 1) AS checked \
         FROM proposals WHERE id > $1 ORDER BY id LIMIT $2"
    );
    let rows = tx
        .all("proposals", sql, values![after, i64::from(limit)])
        .await?;
    let step = |row: &Row| -> Result<ProposalStep, StoreError> {
        Ok(ProposalStep {
            id: row.string("id")?,
            code: row.string("code")?,
            status: row.string("status")?,
            verification: row.opt_string("verification")?,
            verb: row.opt_string("verb")?,
            detail: row.opt_string("detail")?,
            checked: row.opt_string("checked")?,
        })
    };
    rows.iter().map(step).collect()
}

/// How many are counted as waiting, by which new ones are refused, and how many wait.
pub async fn of_waiting(tx: &mut Tx) -> Result<(u64, u64), StoreError> {
    let sql = "SELECT open_proposals, (SELECT COUNT(*) FROM proposals WHERE status = 'pending') AS waiting FROM heads WHERE id = 1";
    let row = tx
        .one("heads", sql, &[])
        .await?
        .ok_or_else(|| StoreError::corrupt("heads", 1, "the row is missing"))?;
    Ok((row.count("open_proposals")?, row.count("waiting")?))
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

/// Rows in the order of their ids, after the id `after`.
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
    let rows = tx
        .all("tokens", sql, values![after, i64::from(limit)])
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
    rows.iter().map(step).collect()
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

/// Rows in the order of their ids, after the id `after`. An agent from before there were agents has the id of
/// its token, whose entries tell what it may do.
pub async fn of_agents(tx: &mut Tx, after: &str, limit: u32) -> Result<Vec<AgentStep>, StoreError> {
    let sql = concat!(
        "SELECT id, name, capabilities, withdrawn_at, (SELECT MIN(tokens.id) FROM tokens \
         WHERE tokens.agent_id = agents.id AND tokens.revoked_at IS NULL) AS live_token, \
         (SELECT detail FROM facts WHERE subject = agents.id AND",
        up_to_head!(),
        "AND verb IN ('agent.created', 'agent.changed', 'agent.restored', 'token.created') \
         ORDER BY seq DESC LIMIT 1) AS said FROM agents WHERE id > $1 ORDER BY id LIMIT $2"
    );
    let rows = tx
        .all("agents", sql, values![after, i64::from(limit)])
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
    rows.iter().map(step).collect()
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
    fn every_state_has_its_verb_in_the_list() {
        for status in Status::ALL {
            let verb = format!("'{}'", status.event().as_str());
            assert!(steps!().contains(&verb), "{verb}");
        }
    }
}
