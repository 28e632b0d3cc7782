//! The life of a proposal as use cases: propose, decide, cancel, start, finish, expire, settle,
//! recover. One file each.

mod again;
mod apply_knowledge;
mod cancel;
mod cooling;
mod decide;
mod decide_drafts;
mod display;
mod executing;
mod expire;
mod finish;
mod list;
mod moved;
pub mod offers;
pub(crate) mod on_record;
mod plans;
mod propose;
mod propose_change;
mod propose_deploy;
mod propose_knowledge;
mod queue;
mod recover;
mod rejudge;
mod repeats;
mod settle;
mod settling;
mod start;
mod verify;
mod waiters;

use void_domain::actors::Actor;
use void_domain::ids::{ProposalCode, ProposalId};
use void_domain::proposals::Proposal;
use void_store::proposals::Stored;
use void_store::{StoreError, Tx, proposals};

use crate::context::Ctx;
pub(crate) use crate::detached::detached;

pub use again::{AgainError, again};
pub use apply_knowledge::InvalidDraftEdit;
pub use cancel::WITHDRAWN_AT_ONCE;
pub use cancel::{CancelError, cancel};
pub(crate) use cancel::{end_waiting_of_withdrawn, withdraw_waiting_of};
pub use cooling::cooling;
pub use decide::{DecideError, DecideRequest, Decision, decide};
pub use decide_drafts::{DecideDraftsError, DraftDecision, approve_edited, decide_drafts};
pub use moved::{MovedBase, moved_base};

pub use display::{display_state, shown_now};
pub(crate) use expire::sweep;
pub(crate) use list::with_history;
pub use list::{
    Listed, count_in, find, history, is_any_decided, is_current, list, list_ended, list_in,
    list_waiting, list_waiting_changes, runs_before,
};
pub(crate) use plans::current_definition;
pub use propose::{ProposeError, ProposeRequest, Proposed, propose, propose_dropped};
pub use propose_change::{ChangeRequest, ProposeChangeError, propose_catalogue};
pub(crate) use propose_deploy::{DeployRequest, propose_deploy};
pub use propose_knowledge::{
    KnowledgeRequest, ProposeKnowledgeError, WantedChange, propose_knowledge,
};
pub(crate) use recover::{recover, void_open};
pub(crate) use settle::settle_unknown;
pub use settle::{SettleError, Settled, settle};
pub(crate) use settling::Settling;

pub use waiters::wait_for_end;

/// How somebody names a proposal: by its id, or by the code that people say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProposalKey {
    Id(ProposalId),
    Code(ProposalCode),
}

impl ProposalKey {
    pub fn parse(text: &str) -> Option<Self> {
        text.parse()
            .map(Self::Id)
            .ok()
            .or_else(|| ProposalCode::parse(text).map(Self::Code))
    }

    pub(crate) async fn find(&self, tx: &mut Tx) -> Result<Option<Stored>, StoreError> {
        match self {
            Self::Id(id) => proposals::find(tx, *id).await,
            Self::Code(code) => proposals::find_by_code(tx, code).await,
        }
    }
}

/// Whether somebody may know of this proposal: an agent of its own only, and a viewer of none that holds what the owner keeps.
pub(crate) fn is_visible_to(ctx: &Ctx, proposal: &Proposal) -> bool {
    match &ctx.actor {
        Actor::Owner { .. } | Actor::System => true,
        Actor::Viewer { .. } => !apply_knowledge::is_of_knowledge(proposal),
        Actor::Agent { id, .. } => proposal.requested_by.id == Some((*id).into()),
        Actor::Node { .. } => false,
    }
}
