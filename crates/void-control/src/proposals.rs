//! The life of a proposal as use cases: propose, decide, cancel, start, finish, expire, settle,
//! recover. One file each.

mod cancel;
mod cooling;
mod decide;
mod display;
mod executing;
mod expire;
mod finish;
mod list;
pub mod offers;
pub(crate) mod on_record;
mod plans;
mod propose;
mod propose_change;
mod queue;
mod recover;
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
use void_store::{StoreError, Tx, lanes, proposals};

use crate::context::Ctx;

pub use cancel::{CancelError, cancel};
pub use cooling::cooling;
pub use decide::{DecideError, DecideRequest, Decision, decide};

pub use display::{display_state, shown_now};
pub(crate) use expire::sweep;
pub use list::{
    Listed, count_in, find, history, is_any_decided, is_current, list, list_ended, list_in,
    list_waiting, runs_before,
};
pub(crate) use plans::current_definition;
pub use propose::{ProposeError, ProposeRequest, Proposed, propose, propose_dropped};
pub use propose_change::{ChangeRequest, ProposeChangeError, propose_catalogue};
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

/// Between the commit of a claim and its execution nobody may let go of it: a use case that may claim
/// runs in a task of its own, whatever becomes of whoever asked.
async fn detached<T, E>(work: impl Future<Output = Result<T, E>> + Send + 'static) -> Result<T, E>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    match tokio::spawn(lanes::run_in(lanes::current(), work)).await {
        Ok(ended) => ended,
        Err(error) => Err(StoreError::Internal(error.to_string()).into()),
    }
}

/// Whether an agent may know of this proposal: its own only.
pub(crate) fn is_visible_to(ctx: &Ctx, proposal: &Proposal) -> bool {
    match &ctx.actor {
        Actor::Owner { .. } | Actor::Viewer { .. } | Actor::System => true,
        Actor::Agent { id, .. } => proposal.requested_by.id == Some((*id).into()),
        Actor::Node { .. } => false,
    }
}
