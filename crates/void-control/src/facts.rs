//! Writes what a use case did: audit entry and event, in its transaction.

use serde_json::{Map, Value, json};
use void_domain::audit::NewAuditEntry;
use void_domain::canonical;
use void_domain::digests::Digest;
use void_domain::events::{Audience, EventKind, NewEvent};
use void_domain::ids::RequestId;
use void_domain::proposals::{Approval, Moved, Proposal, State, Subject, Twin, Words};
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, audit, events};

use crate::outbox::{self, Cause, Outbox};

/// How much of a requester's words an entry holds.
pub(crate) const TOLD_CHARS_MAX: usize = 200;

/// In whose name a use case writes, and under which catalogue.
#[derive(Debug, Clone)]
pub struct AuditContext {
    pub(crate) actor: String,
    pub(crate) request_id: RequestId,
    pub(crate) catalogue: Option<Digest>,
    /// Where a proposal that moves is told.
    pub(crate) outbox: Outbox,
}

/// An entry of the record, in the transaction that does what it says.
pub async fn audit(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    verb: &'static str,
    subject: Option<String>,
    detail: Value,
) -> Result<(), StoreError> {
    let draft = NewAuditEntry {
        request_id: Some(context.request_id),
        actor: context.actor.clone(),
        verb,
        subject,
        detail,
        catalogue: context.catalogue,
    };
    audit::append(tx, at, draft).await?;
    Ok(())
}

/// Audit entry and event for a proposal that moved. The event's name is the audit's verb.
pub(crate) async fn moved(
    tx: &mut Tx,
    context: &AuditContext,
    moved: &Moved,
) -> Result<(), StoreError> {
    let kind = moved.transition.to.event();
    proposal(tx, context, moved.transition.at, kind, &moved.proposal).await
}

pub(crate) async fn proposal(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    kind: EventKind,
    proposal: &Proposal,
) -> Result<(), StoreError> {
    let subject = Some(proposal.id.to_string());
    let actor = decided_by(context, kind, proposal);
    let draft = NewAuditEntry {
        request_id: Some(context.request_id),
        actor,
        verb: kind.as_str(),
        subject,
        detail: detail(proposal),
        catalogue: context.catalogue,
    };
    audit::append(tx, at, draft).await?;
    announce(tx, context, at, kind, proposal).await
}

/// To whoever listens, and to whom a message goes.
async fn announce(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    kind: EventKind,
    proposal: &Proposal,
) -> Result<(), StoreError> {
    let event = NewEvent {
        kind,
        audience: audience(proposal),
        payload: payload(proposal, at),
    };
    let seq = events::append(tx, at, &event).await?;
    let cause = Cause { seq, at, kind };
    outbox::note(tx, &context.outbox, cause, proposal).await
}

/// Who asked did not approve: what the catalogue lets through is approved by policy, and the record says
/// so; `requested_by` in the detail names who asked.
fn decided_by(context: &AuditContext, kind: EventKind, proposal: &Proposal) -> String {
    match (kind, &proposal.state) {
        (EventKind::ProposalApproved, State::Approved { approval })
            if approval.by == Approval::POLICY =>
        {
            Approval::POLICY.to_owned()
        }
        _ => context.actor.clone(),
    }
}

/// One more request for something that waits.
pub(crate) struct JoinFact<'a> {
    pub twin: &'a Twin,
    /// What it said that nobody had said before.
    pub words: Option<&'a Words>,
    /// Whether a person should look again.
    pub is_news: bool,
}

/// Every request that joins is on the record with what it brought. Whoever looks at it is told if there is
/// something new to read.
pub(crate) async fn joined(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    proposal: &Proposal,
    asked: JoinFact<'_>,
) -> Result<(), StoreError> {
    let kind = EventKind::ProposalJoined;
    let mut entry = json!({
        "code": proposal.code,
        "action_id": proposal.subject.action_id(),
        "digest": proposal.subject.digest,
        "count": proposal.count,
        "revision": proposal.revision,
        JOINED_DIGEST: digest_of_joined(proposal),
        "risk": proposal.subject.risk,
        "asked_risk": asked.twin.risk,
        "taint": proposal.taint,
        "asked_taint": asked.twin.taint,
        "reason": null,
    });
    // What was said before is in the entry that said it first.
    if let (Value::Object(all), Some(words)) = (&mut entry, asked.words) {
        tell_some(all, "reason", words.reason.as_deref());
        tell_some(all, "diff", words.diff.as_deref());
    }
    let subject = Some(proposal.id.to_string());
    audit(tx, context, at, kind.as_str(), subject, entry).await?;
    if !asked.is_news {
        return Ok(());
    }
    announce(tx, context, at, kind, proposal).await
}

/// The member that says which words of later requests the row holds after this one.
pub(crate) const JOINED_DIGEST: &str = "joined_sha256";

pub(crate) fn digest_of_joined(proposal: &Proposal) -> Option<Digest> {
    let joined = serde_json::to_value(&proposal.joined).ok()?;
    Some(Digest::of(
        canonical::to_canonical(&joined).ok()?.as_bytes(),
    ))
}

fn audience(proposal: &Proposal) -> Audience {
    proposal
        .requested_by
        .id
        .map_or(Audience::People, Audience::Requester)
}

/// What the record keeps: enough to know what was decided about what, and by which definition.
fn detail(proposal: &Proposal) -> Value {
    let subject = &proposal.subject;
    let mut detail = json!({
        "code": proposal.code,
        "action_id": subject.action_id(),
        "params": subject.params(),
        "tier": subject.tier,
        "risk": subject.risk,
        "target": subject.target,
        "digest": subject.digest,
        "status": proposal.status().as_str(),
        "requested_by": proposal.requested_by.name,
    });
    let extra = match &proposal.state {
        State::Pending => {
            json!({"reason": null, "taint": proposal.taint, "expires_at": proposal.expires_at})
        }
        State::Approved { approval } | State::Running { approval, .. } => {
            json!({"approved_by": approval.by})
        }
        State::Executed {
            result,
            verification,
            ..
        } => json!({
            "result": result,
            "verification": verification.as_ref().map(|seen| seen.outcome.as_str()),
            "check": verification.as_ref().map(|seen| &seen.detail),
        }),
        State::Failed { failure, .. }
        | State::Unknown { failure, .. }
        | State::Refused { failure, .. } => {
            json!({"failure": {"code": failure.code, "message": failure.message}, "result": failure.result})
        }
        State::Rejected { .. } => json!({"reason": null}),
        State::Expired { lapsed, .. } => json!({"lapsed": lapsed.is_some()}),
        State::Cancelled { why, .. } => json!({"why": why.as_str()}),
    };
    if let (Value::Object(all), Value::Object(extra)) = (&mut detail, extra) {
        all.extend(extra);
        if subject.is_change() {
            all.insert("subject".to_owned(), json!(subject.word()));
            all.insert("change".to_owned(), change_told(subject));
        }
        match &proposal.state {
            State::Pending => {
                tell_some(all, "reason", proposal.reason.as_deref());
                tell_some(all, "diff", proposal.diff.as_deref());
            }
            State::Rejected { reason, .. } => tell_some(all, "reason", reason.as_deref()),
            _ => {}
        }
    }
    detail
}

/// Which change it is; the digest binds its patch, which the row has.
pub(crate) fn change_told(subject: &Subject) -> Value {
    subject.change().map_or(Value::Null, |change| {
        json!({
            "target": change.target.as_str(),
            "entity": change.entity,
            "entity_id": change.entity_id,
            "op": change.op.as_str(),
            "base": change.base,
            "result": change.result,
        })
    })
}

fn tell_some(detail: &mut Map<String, Value>, name: &'static str, text: Option<&str>) {
    if let Some(text) = text {
        tell(detail, name, text);
    }
}

/// Puts words into an entry, whole if they are short. Of longer ones the record, which is kept for good,
/// has the beginning, the length and the digest; the row has the text, for as long as rows are kept.
pub(crate) fn tell(detail: &mut Map<String, Value>, name: &'static str, text: &str) {
    let end = text.char_indices().nth(TOLD_CHARS_MAX).map(|(at, _)| at);
    let told = end.and_then(|end| text.get(..end));
    if told.is_some() {
        let cut = json!({"bytes": text.len(), "sha256": Digest::of(text.as_bytes())});
        detail.insert(cut_member(name).to_owned(), cut);
    }
    detail.insert(name.to_owned(), json!(told.unwrap_or(text)));
}

/// The member that is there if the words in `name` go on.
pub(crate) fn cut_member(name: &str) -> &'static str {
    match name {
        "diff" => "diff_cut",
        _ => "reason_cut",
    }
}

/// What listeners hear; they fetch the row if they want to know more.
fn payload(proposal: &Proposal, at: Timestamp) -> Value {
    json!({
        "id": proposal.id,
        "code": proposal.code,
        "subject": proposal.subject.word(),
        "action_id": proposal.subject.action_id(),
        "label": proposal.subject.label,
        "tier": proposal.subject.tier,
        "risk": proposal.subject.risk,
        "status": proposal.status().as_str(),
        "verification": proposal.verification().map(|seen| seen.outcome.as_str()),
        "revision": proposal.revision,
        "at": at,
        "waited_ms": u64::try_from(at.since(proposal.created_at).as_millis()).unwrap_or(0),
    })
}
