//! Writes what a use case did, in its transaction: one entry of the record, which is also the step of the proposal that
//! it is about and the event that its audience hears.

use serde_json::{Map, Value, json};
use void_domain::canonical;
use void_domain::digests::Digest;
use void_domain::events::{Audience, EventKind};
use void_domain::facts::{Fact, NewFact};
use void_domain::holds::Hold;
use void_domain::ids::RequestId;
use void_domain::proposals::{
    Approval, Joined, Moved, Proposal, State, Status, Subject, Twin, Words,
};
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, facts as table};

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

/// On the record, and told to nobody, in the transaction that does what it says.
pub async fn audit(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    verb: &'static str,
    subject: Option<String>,
    detail: Value,
) -> Result<(), StoreError> {
    let new = new(context, verb, subject, detail, None);
    append(tx, at, new).await.map(drop)
}

/// On the record, and heard by its audience.
pub async fn tell_of(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    audience: Audience,
    (verb, subject, detail): (&'static str, Option<String>, Value),
) -> Result<(), StoreError> {
    let new = new(context, verb, subject, detail, Some(audience));
    append(tx, at, new).await.map(drop)
}

fn new(
    context: &AuditContext,
    verb: &'static str,
    subject: Option<String>,
    detail: Value,
    audience: Option<Audience>,
) -> NewFact {
    NewFact {
        request_id: Some(context.request_id),
        actor: context.actor.clone(),
        verb,
        subject,
        detail,
        catalogue: context.catalogue,
        audience,
    }
}

async fn append(tx: &mut Tx, at: Timestamp, new: NewFact) -> Result<Fact, StoreError> {
    let fact = table::append(tx, at, new).await?;
    debug_assert!(
        fact.audience.is_none() || matches!(void_domain::told::told(&fact), Ok(Some(_))),
        "an entry with an audience cannot be told: {fact:?}"
    );
    Ok(fact)
}

/// The entry of a proposal that moved. The event's name is its verb.
pub(crate) async fn moved(
    tx: &mut Tx,
    context: &AuditContext,
    moved: &Moved,
) -> Result<(), StoreError> {
    let (step, proposal) = (&moved.transition, &moved.proposal);
    let kind = step.to.event();
    let mut detail = detail(proposal, step.at);
    // What is approved by policy as it comes has an entry of its own that it was asked for.
    if step.from.is_none() && kind != EventKind::ProposalApproved {
        tell_request(&mut detail, context, proposal);
    }
    if let Value::Object(all) = &mut detail {
        all.insert("by".to_owned(), json!(step.by));
        if let (Some(Status::Running), State::Approved { approval }) = (step.from, &proposal.state)
        {
            all.insert(APPROVED_AT.to_owned(), json!(approval.at));
        }
    }
    announce(
        tx,
        context,
        step.at,
        (kind, kind.as_str()),
        proposal,
        detail,
    )
    .await
}

/// The entry of something about a proposal that is no step to another state.
pub(crate) async fn proposal(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    kind: EventKind,
    proposal: &Proposal,
) -> Result<(), StoreError> {
    let mut detail = detail(proposal, at);
    if kind == EventKind::ProposalCreated {
        tell_request(&mut detail, context, proposal);
    }
    announce(tx, context, at, (kind, kind.as_str()), proposal, detail).await
}

/// The entry of what was put on a request to slow it down or end it, or of its end.
pub(crate) async fn held(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    verb: &'static str,
    (proposal, hold): (&Proposal, &Hold),
) -> Result<(), StoreError> {
    let mut detail = detail(proposal, at);
    if let Value::Object(all) = &mut detail {
        let told = json!({"number": hold.number, "kind": hold.kind.as_str(), "by": hold.by.name()});
        all.insert("hold".to_owned(), told);
        all.insert("hold_taint".to_owned(), json!(hold.taint));
        tell(all, "reason", &hold.words);
    }
    announce(
        tx,
        context,
        at,
        (EventKind::ProposalHeld, verb),
        proposal,
        detail,
    )
    .await
}

/// On the record, to whoever listens, and to whom a message goes.
async fn announce(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    (kind, verb): (EventKind, &'static str),
    proposal: &Proposal,
    detail: Value,
) -> Result<(), StoreError> {
    let subject = Some(proposal.id.to_string());
    let audience = Some(audience(proposal));
    let new = NewFact {
        actor: decided_by(context, kind, proposal),
        ..new(context, verb, subject, detail, audience)
    };
    let seq = append(tx, at, new).await?.seq;
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

/// A request that joins is on the record with what it brought; equal ones from outside once a minute. Whoever looks at it
/// is told if there is something new to read.
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
        "subject": proposal.subject.word(),
        "action_id": proposal.subject.action_id(),
        "label": proposal.subject.label,
        "tier": proposal.subject.tier,
        "status": proposal.status().as_str(),
        "digest": proposal.subject.digest,
        "count": proposal.count,
        "revision": proposal.revision,
        "waited_ms": waited_ms(proposal, at),
        JOINED_DIGEST: digest_of_joined(&proposal.joined),
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
    if !asked.is_news {
        let subject = Some(proposal.id.to_string());
        return audit(tx, context, at, kind.as_str(), subject, entry).await;
    }
    announce(tx, context, at, (kind, kind.as_str()), proposal, entry).await
}

/// In the entry of a yes that was put back after a try: when it had been given.
pub(crate) const APPROVED_AT: &str = "approved_at";

/// The member that says in the name of what kind of requester somebody else asked.
pub(crate) const IN_NAME_OF: &str = "in_name_of";

/// The member that says which words of later requests the row holds after this one.
pub(crate) const JOINED_DIGEST: &str = "joined_sha256";

pub(crate) fn digest_of_joined(joined: &Joined) -> Option<Digest> {
    let joined = serde_json::to_value(joined).ok()?;
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

/// What the record keeps: enough to know what was decided about what, and by which definition, and what listeners hear;
/// they fetch the row if they want to know more.
fn detail(proposal: &Proposal, at: Timestamp) -> Value {
    let subject = &proposal.subject;
    let mut detail = json!({
        "code": proposal.code,
        "action_id": subject.action_id(),
        "label": subject.label,
        "params": subject.params(),
        "tier": subject.tier,
        "risk": subject.risk,
        "target": subject.target,
        "digest": subject.digest,
        "status": proposal.status().as_str(),
        "requested_by": proposal.requested_by.name,
        "revision": proposal.revision,
        "waited_ms": waited_ms(proposal, at),
    });
    let extra = match &proposal.state {
        State::Pending => json!({}),
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
        if let State::Rejected { reason, .. } = &proposal.state {
            tell_some(all, "reason", reason.as_deref());
        }
    }
    detail
}

/// What came with the request, in the first entry about it whatever became of it: the requester's words, what it had read,
/// and until when it may wait.
fn tell_request(detail: &mut Value, context: &AuditContext, proposal: &Proposal) {
    let Value::Object(all) = detail else { return };
    // The owner asks again for a draft of somebody else's: whose it is has to be said then.
    let requester = proposal.requested_by.kind.as_str();
    if context.actor.split('-').next() != Some(requester) {
        all.insert(IN_NAME_OF.to_owned(), json!(requester));
    }
    all.insert("reason".to_owned(), Value::Null);
    all.insert("taint".to_owned(), json!(proposal.taint));
    all.insert("expires_at".to_owned(), json!(proposal.expires_at));
    tell_some(all, "reason", proposal.reason.as_deref());
    tell_some(all, "diff", proposal.diff.as_deref());
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

/// Since it was asked for.
fn waited_ms(proposal: &Proposal, at: Timestamp) -> u64 {
    u64::try_from(at.since(proposal.created_at).as_millis()).unwrap_or(0)
}
