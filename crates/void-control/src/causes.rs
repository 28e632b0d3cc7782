//! Why agents wake though nobody spoke to them: noted in the transaction of what happened, taken once by the turn that
//! begins with it. What nobody took yet is there after a crash, for whichever instance looks.

use void_domain::agents::AgentName;
use void_domain::causes::{Cause, WaitingCause};
use void_domain::ids::CauseId;
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, causes};

use crate::control::Control;
use crate::random;

/// How many wait for one agent; whoever would add one more is refused before.
pub const WAITING_PER_AGENT_MAX: u64 = 200;

/// Those that no turn began with yet, oldest first; of one agent or of all.
pub async fn waiting(
    control: &Control,
    agent: Option<&AgentName>,
    limit: u32,
) -> Result<Vec<WaitingCause>, StoreError> {
    let agent = agent.cloned();
    control
        .store
        .read(move |tx| {
            Box::pin(async move { causes::list_waiting(tx, agent.as_ref(), limit).await })
        })
        .await
}

/// In the transaction that begins the turn. `false`: another turn began with it, and this one does not begin.
pub async fn take(tx: &mut Tx, id: CauseId, at: Timestamp) -> Result<bool, StoreError> {
    causes::take(tx, id, at).await
}

/// One that waits already for the same is enough.
pub(crate) async fn note(
    tx: &mut Tx,
    agent: &AgentName,
    cause: Cause,
    due_at: Timestamp,
    at: Timestamp,
) -> Result<(), StoreError> {
    let waiting = WaitingCause {
        id: random::cause_id(at)?,
        agent: agent.clone(),
        cause,
        due_at,
        at,
    };
    causes::insert(tx, &waiting).await.map(drop)
}

/// Whether so much waits for an agent that it gets nothing more to do.
pub(crate) async fn is_full(tx: &mut Tx, agent: &AgentName) -> Result<bool, StoreError> {
    Ok(causes::count_waiting_of(tx, agent).await? >= WAITING_PER_AGENT_MAX)
}
