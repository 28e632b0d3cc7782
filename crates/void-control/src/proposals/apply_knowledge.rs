//! A yes to a draft of knowledge: what it drafts is stored in the transaction that decides it, or nothing is decided.
//!
//! It is stored against the revision that the draft was made of, and against no other. Whatever an agent writes comes this way
//! and by no other function.

use serde_json::{Value, json};
use void_domain::actors::ActorKind;
use void_domain::changes::knowledge::{KnowledgeEffect, effect, entity_id};
use void_domain::changes::{Change, ChangeTarget};
use void_domain::diffs;
use void_domain::fail_point;
use void_domain::knowledge::{
    Entity, EntityHead, EntityKind, Fields, FieldsPatch, InvalidFields, Origin,
};
use void_domain::proposals::{
    InvalidTransition, Moved, Proposal, Run, Status, SubjectKind, Transition, Verification,
    VerificationOutcome,
};
use void_domain::time::Timestamp;
use void_store::{ConflictKey, StoreError, Tx, proposals};

use super::verify;
use crate::facts::{self, AuditContext};
use crate::knowledge::vouch_in;
use crate::knowledge::writing::{Writing, create_in, delete_in, live, update_in};
use crate::knowledge::{EntityUpdate, KnowledgeError, NewEntity, TextSource};

/// What became of a draft that may be applied.
pub(super) enum Application {
    /// What the proposal's result says.
    Stored(Value),
    /// There is no room for it; it waits on.
    Full(String),
    /// What it was made against is not there any more.
    Moved,
    /// What the owner made of it cannot be stored; it waits on.
    Invalid(InvalidDraftEdit),
}

/// A yes to a draft, with the owner's own words if they have edited it.
#[derive(Debug, Clone, Copy)]
pub(super) struct DraftYes<'a> {
    pub proposal: &'a Proposal,
    pub change: &'a Change,
    pub edited: Option<&'a FieldsPatch>,
}

impl DraftYes<'_> {
    /// Whether the owner's edit puts it into a project.
    const fn names_a_project(self) -> bool {
        matches!(
            self.edited,
            Some(FieldsPatch {
                project_id: Some(Some(_)),
                ..
            })
        )
    }
}

/// Why a draft that the owner has edited is not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDraftEdit {
    #[error("nothing of it was edited; approve it as it is")]
    Unedited,
    #[error("what is left of it after the edit changes nothing; reject it instead")]
    Same,
    #[error("a deletion has no text to edit")]
    Deletion,
    #[error("there is no such project in its space")]
    NoProject,
    #[error(transparent)]
    Fields(#[from] InvalidFields),
}

pub(super) fn is_of_knowledge(proposal: &Proposal) -> bool {
    match &proposal.subject.kind {
        SubjectKind::Action(_) => false,
        // What cannot be read could be of anything.
        SubjectKind::Change(proposed) => {
            (proposed.change.as_ref()).is_none_or(|change| change.target == ChangeTarget::Knowledge)
        }
    }
}

/// Decisions about knowledge judge by rows that another one may write: one after the other.
pub(super) fn conflict_key() -> ConflictKey {
    ConflictKey::Target(ChangeTarget::Knowledge.as_str().to_owned())
}

pub(super) async fn apply(
    tx: &mut Tx,
    context: &AuditContext,
    now: Timestamp,
    draft: DraftYes<'_>,
) -> Result<Application, StoreError> {
    let (proposal, change) = (draft.proposal, draft.change);
    let base = match entity_id(change) {
        Some(id) => live(tx, id).await?,
        None => None,
    };
    let Some(effect) = effect(change, base.as_ref()) else {
        return Ok(Application::Moved);
    };
    let (effect, edit) = match draft.edited {
        None => (effect, None),
        Some(fields) => match edited(fields, effect, base.as_ref()) {
            Ok((effect, edit)) => (effect, Some(edit)),
            Err(wrong) => return Ok(Application::Invalid(wrong)),
        },
    };
    let shown = edit
        .as_ref()
        .map_or(change.patch.as_str(), |edit| &edit.patch);
    let writing = Writing {
        audit: context,
        at: now,
        diff: Some(shown).filter(|patch| !patch.is_empty()),
    };
    fail_point!("draft.store.before");
    let stored = store(tx, writing, proposal, effect).await;
    fail_point!("draft.store.after");
    let stored = match stored {
        Ok(head) if edit.as_ref().is_some_and(|edit| edit.answers_for_text) => {
            answer_for(tx, writing, head).await
        }
        stored => stored,
    };
    match stored {
        Ok(head) => Ok(Application::Stored(stored_result(
            change,
            &head,
            edit.is_some(),
        ))),
        Err(error) => not_stored(error, draft),
    }
}

/// What the result of the proposal says about what was stored.
fn stored_result(change: &Change, head: &EntityHead, is_edited: bool) -> Value {
    let mut result = json!({
        "changed": change.op.as_str(),
        "kind": head.id.kind(),
        "id": head.id.to_string(),
        "space_id": head.space_id,
        "revision": head.revision.number,
    });
    if let (true, Value::Object(members)) = (is_edited, &mut result) {
        members.insert("edited".to_owned(), Value::Bool(true));
    }
    result
}

/// What becomes of a draft that could not be stored.
fn not_stored(error: KnowledgeError, draft: DraftYes<'_>) -> Result<Application, StoreError> {
    match error {
        full @ KnowledgeError::Full => Ok(Application::Full(full.to_string())),
        KnowledgeError::Store(error) => Err(error),
        // The owner named one of another space: the draft is as good as before.
        KnowledgeError::NoProject if draft.names_a_project() => {
            Ok(Application::Invalid(InvalidDraftEdit::NoProject))
        }
        // It, its space or its project was changed or thrown away meanwhile. Nothing was written.
        KnowledgeError::NotFound | KnowledgeError::NoProject | KnowledgeError::Conflict(_) => {
            Ok(Application::Moved)
        }
        other @ (KnowledgeError::OwnerOnly
        | KnowledgeError::Forbidden
        | KnowledgeError::Invalid(..)
        | KnowledgeError::ReasonTooLong
        | KnowledgeError::NothingToVouch
        | KnowledgeError::ForeignText
        | KnowledgeError::RunbookHead) => Err(StoreError::Internal(other.to_string())),
    }
}

/// What the owner made of a draft.
struct DraftEdit {
    /// From what is there to what is stored, for the record; empty if too much differs to be written down.
    patch: String,
    /// The owner had the text in hand, and not only its title or its properties.
    answers_for_text: bool,
}

/// What a yes stores with the owner's edit in it.
fn edited(
    patch: &FieldsPatch,
    effect: KnowledgeEffect,
    base: Option<&Entity>,
) -> Result<(KnowledgeEffect, DraftEdit), InvalidDraftEdit> {
    let drafted = match &effect {
        KnowledgeEffect::Delete { .. } => return Err(InvalidDraftEdit::Deletion),
        KnowledgeEffect::Create { fields, .. } | KnowledgeEffect::Update { fields, .. } => fields,
    };
    let fields = patch.clone().onto(drafted.clone())?;
    if fields == *drafted {
        return Err(InvalidDraftEdit::Unedited);
    }
    let before = base.map(Entity::fields);
    if before.as_ref() == Some(&fields) {
        return Err(InvalidDraftEdit::Same);
    }
    // A title of the owner's own leaves nothing of a draft that brought another title and no other text.
    let is_all_that_was_drafted = fields.title != drafted.title
        && base.is_some_and(|base| base.body == drafted.body && !base.head.is_foreign());
    let old = before.as_ref().map(Fields::written).unwrap_or_default();
    let edit = DraftEdit {
        patch: diffs::unified_exact(&old, &fields.written()).unwrap_or_default(),
        answers_for_text: fields.answers_for(drafted) || is_all_that_was_drafted,
    };
    Ok((effect.saying(fields), edit))
}

/// Whoever edits the words of a draft answers for them, as for any other text that they edit. The record says both: that it was
/// stored, from which draft, and that the owner answers for it.
async fn answer_for(
    tx: &mut Tx,
    writing: Writing<'_>,
    head: EntityHead,
) -> Result<EntityHead, KnowledgeError> {
    if head.id.kind() == EntityKind::Ref || !head.is_foreign() {
        return Ok(head);
    }
    let stored = live(tx, head.id).await?.ok_or(KnowledgeError::NotFound)?;
    Ok(vouch_in(tx, writing, stored).await?.head)
}

async fn store(
    tx: &mut Tx,
    writing: Writing<'_>,
    proposal: &Proposal,
    effect: KnowledgeEffect,
) -> Result<EntityHead, KnowledgeError> {
    let (source, reason) = (TextSource::Owner, proposal.reason.clone());
    let origin = origin(proposal);
    match effect {
        KnowledgeEffect::Create { space_id, fields } => {
            let new = NewEntity {
                space_id,
                fields,
                source,
                reason,
            };
            Ok(create_in(tx, writing, new, origin).await?.head)
        }
        KnowledgeEffect::Update { id, base, fields } => {
            let update = EntityUpdate {
                id,
                base,
                fields,
                source,
                reason,
            };
            Ok(update_in(tx, writing, update, origin).await?.head)
        }
        KnowledgeEffect::Delete { id, base } => delete_in(tx, writing, id, Some(base)).await,
    }
}

/// The words of whoever drafted it, with all that they had read; the owner's own drafts are the owner's words.
fn origin(proposal: &Proposal) -> Origin {
    let by = &proposal.requested_by;
    match by.kind {
        ActorKind::Owner if proposal.taint.is_clean() => Origin::Owner,
        ActorKind::Owner
        | ActorKind::Agent
        | ActorKind::Viewer
        | ActorKind::Node
        | ActorKind::System => Origin::Draft {
            proposal: proposal.id,
            agent: by.name.clone(),
            taint: proposal.taint.clone(),
        },
    }
}

/// Every step on the record, and the row as it ends: approved, begun, done and stored in one moment.
pub(super) async fn executed(
    tx: &mut Tx,
    context: &AuditContext,
    now: Timestamp,
    (proposal, by, result): (Proposal, &str, Value),
) -> Result<Proposal, StoreError> {
    let run = Run {
        started_at: now,
        ticket_expires_at: now,
        lease_until: now,
    };
    let approved = proposal.approve(by, now).map_err(impossible)?;
    let running = approved.proposal.clone().start(run).map_err(impossible)?;
    let done = running.proposal.clone().succeed(now, "system", result);
    let done = done.map_err(impossible)?;
    let at_once = Moved {
        proposal: done.proposal.clone(),
        transition: Transition {
            from: Some(Status::Pending),
            ..done.transition.clone()
        },
    };
    fail_point!("draft.record.before");
    if !proposals::advance(tx, &at_once).await? {
        // The row was read in this transaction, so nobody can have been faster.
        let what = "a row changed under its own transaction";
        return Err(StoreError::Internal(what.to_owned()));
    }
    for moved in [&approved, &running, &done] {
        facts::moved(tx, context, moved).await?;
    }
    let seen = Verification {
        outcome: VerificationOutcome::Verified,
        at: now,
        detail: json!({"reason": "stored"}),
    };
    let checked = verify::record_in(tx, context, done.proposal, seen).await?;
    fail_point!("draft.record.after");
    Ok(checked)
}

fn impossible(error: InvalidTransition) -> StoreError {
    StoreError::Internal(error.to_string())
}
