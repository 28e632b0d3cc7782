//! Rows that do not say what the record says: somebody edited the database. Proposals, credentials and the
//! freeze are compared with the newest entry about each.
//!
//! One indexed look-up per row, a page of rows per read that fits into the bound of a list, and for the freeze, the password and each pair one
//! pass back to its newest entry. What is not compared: tokens of nodes by their state, secrets and keys, and
//! output.

mod proposals;

use serde_json::Value;
use void_domain::canonical;
use void_domain::events::ID_NUMBER_MAX;
use void_domain::time::Timestamp;
use void_store::facts::steps::{self, AgentStep, FreezeStep, StoredHeads, TokenStep};
use void_store::{StoreError, schema};

use crate::control::Control;

const ROWS_AT_ONCE: u32 = 500;
/// How many are named; all are counted.
const NAMED_MAX: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    pub table: &'static str,
    pub id: String,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mismatches {
    /// The first ones.
    pub named: Vec<Mismatch>,
    pub total: u64,
}

impl Mismatches {
    fn add(&mut self, table: &'static str, id: &str, message: String) {
        self.total += 1;
        if self.named.len() < NAMED_MAX {
            let id = id.to_owned();
            self.named.push(Mismatch { table, id, message });
        }
    }
}

pub(super) async fn find(control: &Control) -> Result<Mismatches, StoreError> {
    let mut found = Mismatches::default();
    find_in_proposals(control, &mut found).await?;
    find_in_tokens(control, &mut found).await?;
    find_in_agents(control, &mut found).await?;
    let read = control.store.read(|tx| Box::pin(schema::foreign(tx)));
    for name in read.await? {
        let message = "it is not Void's, and it can change or refuse what Void writes".to_owned();
        found.add("schema", &name, message);
    }
    let read = control.store.read(|tx| Box::pin(steps::of_heads(tx)));
    for message in heads_problems(&read.await?) {
        found.add("heads", "1", message);
    }
    let unsaid = control
        .store
        .read(|tx| Box::pin(steps::credentials_without_entry(tx, ROWS_AT_ONCE)))
        .await?;
    for (table, id) in unsaid {
        let message = "it is good, and the record does not say that it was given out".to_owned();
        found.add(table, &id, message);
    }
    let freeze = control
        .store
        .read(|tx| Box::pin(async move { steps::of_freeze(tx).await }))
        .await?;
    if let Some(message) = freeze_problem(&freeze) {
        found.add("freezes", "1", message);
    }
    Ok(found)
}

fn heads_problems(heads: &StoredHeads) -> Vec<String> {
    let mut problems = Vec::new();
    let (counted, waiting) = (heads.open_proposals, heads.waiting);
    if counted != waiting {
        problems.push(format!(
            "{counted} are counted as waiting, and {waiting} wait"
        ));
    }
    if heads.told_after > heads.audit_seq {
        problems.push(format!(
            "listeners are told of what comes after entry {}, and the newest is {}",
            heads.told_after, heads.audit_seq
        ));
    }
    if heads.numbered_from > ID_NUMBER_MAX {
        let from = heads.numbered_from;
        problems.push(format!("no id can be of a numbering from {from}"));
    }
    problems
}

async fn find_in_proposals(control: &Control, found: &mut Mismatches) -> Result<(), StoreError> {
    let (mut after, mut limit) = (String::new(), ROWS_AT_ONCE);
    loop {
        let (from, asked) = (after.clone(), limit);
        let read = control
            .store
            .read(move |tx| Box::pin(async move { steps::of_proposals(tx, &from, asked).await }));
        let page = read.await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after.clone_from(&last.id);
        limit = next_limit(page.len(), asked);
        for row in &page {
            if let Some(message) = proposals::problem(row) {
                found.add("proposals", &row.id, message);
            }
        }
    }
}

/// Large rows fill a page before it has as many as were asked for, and PostgreSQL sends the others all the same: then
/// fewer are asked for.
fn next_limit(found: usize, asked: u32) -> u32 {
    match u32::try_from(found) {
        Ok(found) if found < asked => found.max(1),
        _ => asked.saturating_mul(2).min(ROWS_AT_ONCE),
    }
}

async fn find_in_tokens(control: &Control, found: &mut Mismatches) -> Result<(), StoreError> {
    let mut after = String::new();
    loop {
        let from = after.clone();
        let read = control.store.read(move |tx| {
            Box::pin(async move { steps::of_tokens(tx, &from, ROWS_AT_ONCE).await })
        });
        let page = read.await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after.clone_from(&last.id);
        for row in &page {
            if let Some(message) = token_problem(row) {
                found.add("tokens", &row.id, message);
            }
        }
    }
}

async fn find_in_agents(control: &Control, found: &mut Mismatches) -> Result<(), StoreError> {
    let mut after = String::new();
    loop {
        let from = after.clone();
        let read = control.store.read(move |tx| {
            Box::pin(async move { steps::of_agents(tx, &from, ROWS_AT_ONCE).await })
        });
        let page = read.await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after.clone_from(&last.id);
        for row in &page {
            if let Some(message) = agent_problem(row) {
                found.add("agents", &row.id, message);
            }
        }
    }
}

fn token_problem(row: &TokenStep) -> Option<String> {
    let made: Option<Value> = row
        .made
        .as_ref()
        .and_then(|made| serde_json::from_str(made).ok());
    if row.kind == "node" && made.is_none() {
        // Admitted under the node's name, not under the token's id.
        return None;
    }
    let Some(made) = made else {
        return Some("the record does not say that it was made".to_owned());
    };
    let word = |name: &str| made.get(name).and_then(Value::as_str).unwrap_or_default();
    if (word("kind"), word("name")) != (row.kind.as_str(), row.name.as_str()) {
        return Some(format!(
            "the row is {} {}, the record says {} {}",
            row.kind,
            row.name,
            word("kind"),
            word("name")
        ));
    }
    if row.kind == "agent" && row.agent.as_ref() != Some(&row.name) {
        return Some("it is the token of another agent than the record says".to_owned());
    }
    // What an agent's token may do is compared with the agent.
    if row.kind != "agent" && !is_same(&row.capabilities, made.get("capabilities")) {
        return Some("it may do other things than the record says".to_owned());
    }
    if row.kind == "node" {
        // Removed under the node's name as well.
        return None;
    }
    let is_revoked = row.verb.as_deref() != Some("token.created");
    match (is_revoked, row.is_revoked) {
        (true, false) => Some("the row is live, the record says that it was revoked".to_owned()),
        (false, true) => Some("the row is revoked, the record says that it is live".to_owned()),
        _ => None,
    }
}

/// Whether a row and the record name the same capabilities.
fn is_same(written: &str, said: Option<&Value>) -> bool {
    let canonical =
        |value: Option<&Value>| value.and_then(|value| canonical::to_canonical(value).ok());
    let written: Option<Value> = serde_json::from_str(written).ok();
    canonical(written.as_ref()) == canonical(said)
}

fn agent_problem(row: &AgentStep) -> Option<String> {
    let said = row.said.as_ref();
    let said: Option<Value> = said.and_then(|said| serde_json::from_str(said).ok());
    let Some(said) = said else {
        return Some("the record does not say that it was made".to_owned());
    };
    let name = said.get("name").and_then(Value::as_str).unwrap_or_default();
    if name != row.name {
        return Some(format!("the row is {}, the record says {name}", row.name));
    }
    if !is_same(&row.capabilities, said.get("capabilities")) {
        return Some("it may do other things than the record says".to_owned());
    }
    match (row.is_withdrawn, row.has_live_token) {
        (false, true) | (true, false) => None,
        (false, false) => Some("it is live, and has no live token".to_owned()),
        (true, true) => Some("it is withdrawn, and has a live token".to_owned()),
    }
}

fn freeze_problem(row: &FreezeStep) -> Option<String> {
    let said = row.verb.as_deref().filter(|verb| *verb != "freeze.lifted");
    match (&row.by, said) {
        (None, None) => None,
        (None, Some(_)) => Some("nothing is frozen, the record says that everything is".to_owned()),
        (Some(_), None) => Some("everything is frozen, the record says that nothing is".to_owned()),
        (Some(by), Some(_)) => {
            let detail: Option<Value> = row
                .detail
                .as_ref()
                .and_then(|detail| serde_json::from_str(detail).ok());
            let word = |name: &str| detail.as_ref()?.get(name)?.as_str();
            let until = word("until").and_then(Timestamp::parse_rfc3339);
            let is_same = word("by") == Some(by.as_str()) && until == row.until;
            (!is_same).then(|| {
                "the freeze is by somebody else, or ends at another time, than the record says"
                    .to_owned()
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_large_rows_are_asked_for_and_more_again_when_they_fit() {
        let mut limit = ROWS_AT_ONCE;
        limit = next_limit(10, limit);
        assert_eq!(limit, 10);
        limit = next_limit(10, limit);
        assert_eq!(limit, 20);
        assert_eq!(next_limit(0, limit), 1, "never none");
        for _ in 0..9 {
            limit = next_limit(limit as usize, limit);
        }
        assert_eq!(limit, ROWS_AT_ONCE);
    }
}
