//! Turns that nobody works on any more. What they did before is looked up: a turn that was cut off must
//! not seem to have done nothing.

use std::time::Duration;

use void_domain::conversations::{Message, Said, Truth, Turn, TurnState};
use void_domain::failures::FailureCode;
use void_domain::ids::ProposalId;
use void_domain::limits;
use void_domain::proposals::Failure;
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, agents, conversations, proposals};

use super::{by_the_record, end};
use crate::clock::is_ahead;
use crate::control::Control;
use crate::facts::AuditContext;

const RUNNING_MAX: u32 = 10_000;
/// A turn that has not ended this long after its limit has nobody working on it.
const ABANDONED_AFTER: Duration = Duration::from_secs(60);

/// Turns that a crash cut off: they failed, and can be tried again. With SQLite there is nobody else
/// who could be at one; on PostgreSQL another instance may be.
pub(crate) async fn fail_abandoned(control: &Control) -> Result<(), StoreError> {
    let is_ours = control.store.is_sqlite();
    fail_running(control, if is_ours { |_, _| true } else { is_overdue }).await
}

/// Turns whose time is long over: whoever was at them is gone.
pub(crate) async fn fail_overdue(control: &Control) -> Result<(), StoreError> {
    fail_running(control, is_overdue).await
}

fn is_overdue(message: &Message, at: Timestamp) -> bool {
    is_ahead(message.at, at) || at.since(message.at) > limits::TURN_TIME_MAX + ABANDONED_AFTER
}

/// Looks before it writes: there is seldom anything to do.
async fn fail_running(
    control: &Control,
    is_abandoned: fn(&Message, Timestamp) -> bool,
) -> Result<(), StoreError> {
    let at = control.clock.now();
    let found = control
        .store
        .read(|tx| Box::pin(conversations::list_running(tx, RUNNING_MAX)))
        .await?;
    if !found.iter().any(|message| is_abandoned(message, at)) {
        return Ok(());
    }
    let (this, context) = (control.clone(), control.context(&control.system_ctx()?));
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                for message in conversations::list_running(tx, RUNNING_MAX).await? {
                    if is_abandoned(&message, at) {
                        fail(tx, &this, &context, at, message).await?;
                    }
                }
                Ok(())
            })
        })
        .await
}

async fn fail(
    tx: &mut Tx,
    control: &Control,
    context: &AuditContext,
    at: Timestamp,
    message: Message,
) -> Result<(), StoreError> {
    let found = conversations::find(tx, message.conversation_id).await?;
    let (Some(conversation), Said::ByAgent(turn)) = (found, message.said) else {
        return Ok(());
    };
    let failure = Failure::new(
        FailureCode::Interrupted,
        "Void stopped while this answer was written",
    );
    let turn = Turn {
        state: TurnState::Failed { at, failure },
        truth: truth_since(tx, control, &conversation.agent, message.at, &turn.truth).await?,
        ..*turn
    };
    let body = message.body.as_str();
    end(tx, context, at, &conversation, message.id, body, &turn).await?;
    Ok(())
}

/// What a turn that was cut off did: it kept no note of its proposals, so all that its agent has
/// proposed since then counts, beside what an earlier attempt had noted.
async fn truth_since(
    tx: &mut Tx,
    control: &Control,
    agent: &str,
    since: Timestamp,
    noted: &Truth,
) -> Result<Truth, StoreError> {
    let mut ids = noted.ids();
    let found = match agent.parse() {
        Ok(name) => agents::find_named(tx, &name).await?,
        Err(_) => None,
    };
    if let Some(agent) = found {
        let filter = proposals::ProposalFilter {
            status: None,
            requester: Some(agent.id.into()),
        };
        let newest = proposals::list(tx, filter, None, limits::PAGE_ROWS_MAX).await?;
        let made = newest.items.into_iter().map(|stored| stored.proposal);
        let made = made.take_while(|proposal| proposal.created_at >= since);
        let mut made: Vec<ProposalId> = made.map(|proposal| proposal.id).collect();
        made.retain(|id| !ids.contains(id));
        ids.extend(made.into_iter().rev());
    }
    by_the_record(tx, control, ids).await
}
