//! A question is taken back: by who may, with whoever asked or was asked, or because it came back with an older copy.

use void_domain::agents::AgentName;
use void_domain::questions::{Question, QuestionCancellation};
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, agent_turns as causes, questions as stored};

use super::answer::{save, still_open};
use super::{EndError, QuestionKey, announce, load, standing};
use crate::context::Ctx;
use crate::control::Control;
use crate::facts::AuditContext;

/// How many end at a time. More than one agent can have open.
const AT_ONCE: u32 = 200;

pub async fn cancel(control: &Control, ctx: &Ctx, key: QuestionKey) -> Result<Question, EndError> {
    let (this, ctx, context) = (control.clone(), ctx.clone(), control.context(ctx));
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                let found = load(tx, &key).await?.ok_or(EndError::NotFound)?;
                if !standing::may_see(&this, &ctx, &found) {
                    return Err(EndError::NotFound);
                }
                if !standing::may_cancel(&this, &ctx, &found) {
                    return Err(EndError::NotAsker);
                }
                still_open(&this, &found)?;
                let now = this.clock.now();
                let before = Box::new(found.clone());
                let why = QuestionCancellation::Withdrawn;
                let moved = found.cancel(&context.actor, why, now);
                let cancelled = moved.map_err(|over| EndError::Over {
                    over,
                    question: before,
                })?;
                save(tx, &cancelled).await?;
                announce(tx, &context, now, &cancelled).await?;
                Ok(cancelled)
            })
        })
        .await
}

/// What a withdrawn agent asked or was asked ends with it, in the transaction that withdraws it.
pub(crate) async fn end_of(
    tx: &mut Tx,
    context: &AuditContext,
    now: Timestamp,
    agent: &AgentName,
) -> Result<(), StoreError> {
    let open = stored::list_open_of(tx, agent, AT_ONCE).await?;
    end_all(tx, context, now, open, QuestionCancellation::Gone).await?;
    causes::drop_waiting_of(tx, agent).await?;
    Ok(())
}

/// Everything that an older copy of the database says is open: it may have been answered since.
pub(crate) async fn end_older_copy(
    tx: &mut Tx,
    context: &AuditContext,
    now: Timestamp,
) -> Result<(), StoreError> {
    loop {
        let open = stored::list_open(tx, AT_ONCE).await?;
        let is_last = open.len() < AT_ONCE as usize;
        end_all(tx, context, now, open, QuestionCancellation::OlderCopy).await?;
        if is_last {
            return Ok(());
        }
    }
}

async fn end_all(
    tx: &mut Tx,
    context: &AuditContext,
    now: Timestamp,
    open: Vec<Question>,
    why: QuestionCancellation,
) -> Result<(), StoreError> {
    for question in open {
        let ended = match question.clone().cancel(&context.actor, why, now) {
            Ok(cancelled) => cancelled,
            // Its time is over, and no sweep has seen it yet.
            Err(_) => match question.expire(now) {
                Ok(expired) => expired,
                Err(_) => continue,
            },
        };
        if stored::end(tx, &ended).await? {
            announce(tx, context, now, &ended).await?;
        }
    }
    Ok(())
}
