//! A row counts only as far as the record says the same (I41).
//!
//! Whoever can write to the database can make a row say that it was approved, that it still waits, or that it
//! is less dangerous. The record is a chain, in which that shows. So before a yes is taken, and before what
//! was approved starts or is offered, the newest entry about it has to say what its row says, in the same
//! transaction. What a use case approves and starts at once is not looked up: it has just written the entry.
//!
//! Whoever rewrites the record as well is found by a head that was kept elsewhere, not here.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use void_domain::canonical;
use void_domain::events::EventKind;
use void_domain::facts::Fact;
use void_domain::ids::ProposalId;
use void_domain::proposals::{Approval, Cancellation, Joined, Proposal, State};
use void_domain::time::Timestamp;
use void_store::facts::steps;
use void_store::{StoreError, Tx, installation, proposals};

use super::recover;
use crate::control::Control;
use crate::facts::{self, AuditContext};

const CREATED: &str = EventKind::ProposalCreated.as_str();

/// Whether the record says that this proposal waits, is approved or runs, as its row says.
pub(crate) async fn holds(tx: &mut Tx, proposal: &Proposal) -> Result<bool, StoreError> {
    let (newest, asked) = match &proposal.state {
        State::Pending => steps::newest_and_asked(tx, proposal.id).await?,
        _ => (steps::newest(tx, proposal.id).await?, None),
    };
    let Some(newest) = newest else {
        return Ok(false);
    };
    if newest.verb != proposal.status().event().as_str() {
        return Ok(false);
    }
    let Some(said) = detail(&newest) else {
        return Ok(false);
    };
    Ok(match &proposal.state {
        // By when it was said a yes is used or lapses.
        State::Approved { approval } if approval.at != approved_at(&said, newest.at) => false,
        State::Approved { approval } | State::Running { approval, .. } => {
            says(&said, approved_subject(proposal, approval))
        }
        State::Pending => {
            let is_first = asked.as_ref().is_some_and(|asked| asked.verb == CREATED);
            // Mostly it is the same entry, hashed and read already.
            let other = asked.as_ref().filter(|asked| asked.seq != newest.seq);
            let asked = match (&asked, other) {
                (Some(_), None) => Some(Cow::Borrowed(&said)),
                (_, other) => other.and_then(detail).map(Cow::Owned),
            };
            let risks = members(json!({"risk": proposal.subject.risk, "taint": proposal.taint}));
            let mut expected = subject(proposal);
            expected.extend(members(json!({"expires_at": proposal.expires_at})));
            says(&said, expected)
                && asked.is_some_and(|asked| {
                    let (joined, revision) = (&proposal.joined, proposal.revision);
                    says(&asked, risks) && says_joined(&asked, is_first, joined, revision)
                })
                && tells(&said, "reason", proposal.reason.as_deref())
                && tells(&said, "diff", proposal.diff.as_deref())
        }
        // Nothing begins from any other state.
        _ => false,
    })
}

/// Whether the record says that what runs was approved when its row says: what is put back lasts no longer by an edit.
pub(crate) async fn approval_holds(tx: &mut Tx, running: &Proposal) -> Result<bool, StoreError> {
    let (Some(approval), Some(entry)) =
        (running.approval(), steps::approved(tx, running.id).await?)
    else {
        return Ok(false);
    };
    Ok(detail(&entry).is_some_and(|said| {
        approved_at(&said, entry.at) == approval.at
            && says(&said, approved_subject(running, approval))
    }))
}

fn approved_subject(proposal: &Proposal, approval: &Approval) -> Map<String, Value> {
    let mut expected = subject(proposal);
    expected.extend(members(json!({
        "tier": proposal.subject.tier,
        "risk": proposal.subject.risk,
        "approved_by": approval.by,
    })));
    expected
}

/// When the yes was given that an entry tells of: with the entry, unless it was put back after a try.
pub(crate) fn approved_at(said: &Value, entry_at: Timestamp) -> Timestamp {
    let put_back = said.get(facts::APPROVED_AT).cloned();
    put_back
        .and_then(|at| serde_json::from_value(at).ok())
        .unwrap_or(entry_at)
}

/// Whether the newest request is the last one that the row knows, and left it with these words. Entries of
/// older versions have no digest of them.
pub(crate) fn says_joined(asked: &Value, is_first: bool, joined: &Joined, revision: u64) -> bool {
    let said = asked.get("revision").and_then(Value::as_u64).unwrap_or(0);
    let words = asked.get(facts::JOINED_DIGEST);
    said == revision
        && words.map_or(!is_first || joined.is_empty(), |words| {
            facts::digest_of_joined(joined).is_some_and(|digest| *words == json!(digest))
        })
}

/// What does not change from the first request to the end.
fn subject(proposal: &Proposal) -> Map<String, Value> {
    let subject = &proposal.subject;
    let mut all = members(json!({
        "code": proposal.code,
        "action_id": subject.action_id(),
        "params": subject.params(),
        "target": subject.target,
        "digest": subject.digest,
        "requested_by": proposal.requested_by.name,
    }));
    if subject.is_change() {
        all.insert("subject".to_owned(), json!(subject.word()));
        all.insert("change".to_owned(), facts::change_told(subject));
    }
    all
}

pub(crate) fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// An entry's detail, if the entry is the one that was hashed.
fn detail(entry: &Fact) -> Option<Value> {
    if entry.computed_hash() != entry.hash {
        return None;
    }
    serde_json::from_str(&entry.detail).ok()
}

/// Compared as they were written, so that 1 and 1.0 are the same.
pub(crate) fn says(said: &Value, expected: Map<String, Value>) -> bool {
    expected.into_iter().all(|(name, value)| {
        match (said.get(&name), &value) {
            // A text has one canonical form, and it is no other value's.
            (Some(Value::String(said)), Value::String(text)) => said == text,
            (Some(said), _) => {
                let said = canonical::to_canonical(said).ok();
                said.is_some() && said == canonical::to_canonical(&value).ok()
            }
            (None, _) => false,
        }
    })
}

/// Words are in the entry whole, or cut with their digest; entries of older versions have them whole.
pub(crate) fn tells(said: &Value, name: &'static str, text: Option<&str>) -> bool {
    let Some(text) = text else {
        return said.get(name).is_none_or(Value::is_null);
    };
    let mut expected = Map::new();
    facts::tell(&mut expected, name, text);
    let is_cut = said.get(facts::cut_member(name)).is_some();
    let is_whole = !is_cut && said.get(name).and_then(Value::as_str) == Some(text);
    is_whole || says(said, expected)
}

/// Whether an approved row may still be handed on; one that is not on the record is withdrawn.
pub(crate) async fn still_holds(
    tx: &mut Tx,
    control: &Control,
    context: &AuditContext,
    id: ProposalId,
) -> Result<bool, StoreError> {
    let Some(stored) = proposals::find(tx, id).await? else {
        return Ok(false);
    };
    if !matches!(stored.proposal.state, State::Approved { .. }) {
        return Ok(false);
    }
    if stored.epoch != installation::epoch(tx).await? {
        recover::void(tx, context, control.clock.now(), stored.proposal).await?;
        return Ok(false);
    }
    let holds = holds(tx, &stored.proposal).await?;
    if !holds {
        withdraw(tx, context, stored.proposal, control.clock.now()).await?;
    }
    Ok(holds)
}

/// Ends what is not on the record: nothing runs, the record says why, and the owner is told.
pub(crate) async fn withdraw(
    tx: &mut Tx,
    context: &AuditContext,
    proposal: Proposal,
    now: Timestamp,
) -> Result<(), StoreError> {
    let id = proposal.id;
    let Ok(moved) = proposal.cancel("system", now, Cancellation::NotOnRecord) else {
        return Ok(());
    };
    if proposals::advance(tx, &moved).await? {
        tracing::error!(
            proposal = %id,
            "its row says what the record does not: somebody edited the database. Nothing ran; void audit verify names such rows"
        );
        facts::moved(tx, context, &moved).await?;
    }
    Ok(())
}
