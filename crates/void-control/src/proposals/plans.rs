//! What an approved proposal would do now: looked up again, so that it is what was proposed and nothing else.

use std::sync::Arc;

use void_domain::actors::ActorKind;
use void_domain::catalogue::{Action, Params};
use void_domain::changes::{self, Applied, Change, ChangeTarget};
use void_domain::policy::{Brakes, Cap, Cooldown};
use void_domain::proposals::{Proposal, SubjectKind};
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx};

use super::start;
use crate::control::Control;
use crate::freezes;

#[derive(Debug, Clone)]
pub(crate) enum Plan {
    Action(Arc<Action>, Params),
    /// The change that the proposal holds, of something outside the database.
    Change,
    /// The change of knowledge that the proposal holds: it is stored with the decision.
    Knowledge(Arc<Change>),
}

/// The plan of a proposal, if what is in force is still what it was made against.
pub(crate) fn current(control: &Control, proposal: &Proposal) -> Option<Plan> {
    match &proposal.subject.kind {
        SubjectKind::Action(_) => {
            let (action, params) = current_definition(control, proposal)?;
            Some(Plan::Action(action, params))
        }
        SubjectKind::Change(proposed) => {
            let change = proposed.change.as_ref()?;
            let is_bound =
                changes::digest_of(&proposed.definition) == Some(proposal.subject.digest);
            match change.target.applied() {
                // What there is is looked at in the transaction that stores it.
                Applied::WithTheDecision => {
                    let is_knowledge = change.target == ChangeTarget::Knowledge;
                    return (is_bound && is_knowledge)
                        .then(|| Plan::Knowledge(Arc::new(change.clone())));
                }
                Applied::AfterTheClaim => {}
            }
            // What another instance has, that one looks at.
            let is_elsewhere = change
                .instance()
                .is_some_and(|instance| instance != control.process.instance.name);
            let fits = is_elsewhere || fits(control, change);
            (is_bound && fits).then_some(Plan::Change)
        }
    }
}

/// Whether what a change was made against is what there is.
fn fits(control: &Control, change: &Change) -> bool {
    match change.target {
        ChangeTarget::Catalogue => {
            let source = control.in_force.catalogue_source.as_ref();
            source.is_some_and(|source| source.file.fits(change))
        }
        ChangeTarget::AgentConfig | ChangeTarget::MetaInputs => {
            let writer = control.in_force.change_writers.writer();
            writer.is_some_and(|writer| writer.fits(change))
        }
        ChangeTarget::Knowledge | ChangeTarget::Topology => false,
    }
}

/// The action and parameters of a proposal, if the catalogue still says exactly what was proposed.
pub(crate) fn current_definition(
    control: &Control,
    proposal: &Proposal,
) -> Option<(Arc<Action>, Params)> {
    let proposed = proposal.subject.action()?;
    let action = control.in_force.catalogue.get(&proposed.action_id)?;
    let params = action.params.check(&proposed.params).ok()?;
    let same = action.digest_with(&params) == Ok(proposal.subject.digest)
        && action.exec_digest() == proposed.exec_digest
        && *action.definition() == proposed.definition;
    same.then(|| (Arc::clone(action), params))
}

impl Plan {
    /// What holds it back at this moment, if `bound` is who lets it run.
    pub(super) async fn brakes(
        &self,
        tx: &mut Tx,
        control: &Control,
        bound: ActorKind,
        now: Timestamp,
    ) -> Result<Brakes, StoreError> {
        match self {
            Self::Action(action, _) => start::brakes(tx, control, action, bound, now).await,
            Self::Change | Self::Knowledge(_) => Ok(Brakes {
                frozen: freezes::holds(tx, control, now).await?,
                cooldown: Cooldown::Over,
                cap: Cap::Free,
            }),
        }
    }
}
