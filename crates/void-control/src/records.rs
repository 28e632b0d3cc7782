//! Writes what a use case did: audit entry and event, in its transaction.

use serde_json::{Value, json};
use void_domain::audit::AuditDraft;
use void_domain::digests::Digest;
use void_domain::events::{Audience, EventDraft, EventKind};
use void_domain::ids::RequestId;
use void_domain::proposals::{Moved, Proposal, State};
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, audit, events};

use crate::notifications::outbox::{self, Cause, Outbox};

/// In whose name a use case writes, and under which catalogue.
#[derive(Debug, Clone)]
pub(crate) struct Scribe {
    pub actor: String,
    pub request_id: RequestId,
    pub catalogue: Option<Digest>,
    /// Where a proposal that moves is told.
    pub outbox: Outbox,
}

pub(crate) async fn audit(
    tx: &mut Tx,
    scribe: &Scribe,
    at: Timestamp,
    verb: &'static str,
    subject: Option<String>,
    detail: Value,
) -> Result<(), StoreError> {
    let draft = AuditDraft {
        request_id: Some(scribe.request_id),
        actor: scribe.actor.clone(),
        verb,
        subject,
        detail,
        catalogue: scribe.catalogue,
    };
    audit::append(tx, at, draft).await?;
    Ok(())
}

/// Audit entry and event for a proposal that moved. The event's name is the audit's verb.
pub(crate) async fn moved(tx: &mut Tx, scribe: &Scribe, moved: &Moved) -> Result<(), StoreError> {
    let kind = moved.transition.to.event();
    proposal(tx, scribe, moved.transition.at, kind, &moved.proposal).await
}

pub(crate) async fn proposal(
    tx: &mut Tx,
    scribe: &Scribe,
    at: Timestamp,
    kind: EventKind,
    proposal: &Proposal,
) -> Result<(), StoreError> {
    let subject = Some(proposal.id.to_string());
    audit(tx, scribe, at, kind.as_str(), subject, detail(proposal)).await?;
    let event = EventDraft {
        kind,
        audience: audience(proposal),
        payload: payload(proposal, at),
    };
    let seq = events::append(tx, at, &event).await?;
    let cause = Cause { seq, at, kind };
    outbox::note(tx, &scribe.outbox, cause, proposal).await
}

fn audience(proposal: &Proposal) -> Audience {
    proposal
        .requested_by
        .id
        .map_or(Audience::People, Audience::Requester)
}

/// What the record keeps: enough to know what was decided about what, and by which definition.
fn detail(proposal: &Proposal) -> Value {
    let wish = &proposal.wish;
    let mut detail = json!({
        "code": proposal.code,
        "action_id": wish.action_id,
        "params": wish.params,
        "tier": wish.tier,
        "risk": wish.risk,
        "target": wish.target,
        "digest": wish.digest,
        "status": proposal.status().as_str(),
        "requested_by": proposal.requested_by.name,
    });
    let extra = match &proposal.state {
        State::Pending => {
            json!({"reason": proposal.reason, "taint": proposal.taint, "expires_at": proposal.expires_at})
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
        State::Rejected { reason, .. } => json!({"reason": reason}),
        State::Expired { lapsed, .. } => json!({"lapsed": lapsed.is_some()}),
        State::Cancelled { why, .. } => json!({"why": why.as_str()}),
    };
    if let (Value::Object(all), Value::Object(extra)) = (&mut detail, extra) {
        all.extend(extra);
        if let (State::Pending, Some(diff)) = (&proposal.state, &proposal.diff) {
            all.insert("diff".to_owned(), json!(diff));
        }
    }
    detail
}

/// What listeners hear; they fetch the row if they want to know more.
fn payload(proposal: &Proposal, at: Timestamp) -> Value {
    json!({
        "id": proposal.id,
        "code": proposal.code,
        "action_id": proposal.wish.action_id,
        "label": proposal.wish.label,
        "tier": proposal.wish.tier,
        "risk": proposal.wish.risk,
        "status": proposal.status().as_str(),
        "verification": proposal.verification().map(|seen| seen.outcome.as_str()),
        "at": at,
        "waited_ms": u64::try_from(at.since(proposal.created_at).as_millis()).unwrap_or(0),
    })
}
