//! What is said: conversations, and the turns of agents in them. A turn is written when it begins and
//! when it ends; what runs in between is in memory, and a crash in between is a turn that failed.

mod abandoned;
mod attached;
mod export;
mod searches;

use std::time::Duration;

use serde_json::json;
use void_domain::conversations::{
    Conversation, Message, Said, SearchedWords, Truth, Turn, TurnState,
};
use void_domain::events::{Audience, EventKind};
use void_domain::ids::{ConversationId, MessageId, ProposalId};
use void_domain::limits;
use void_domain::proposals::Proposal;
use void_domain::taint::Taint;
use void_domain::time::Timestamp;
use void_store::{Page, StoreError, Tx, conversations, proposals};

use crate::context::Ctx;
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::proposals::display_state;
use crate::{agent_turns, random};

pub(crate) use abandoned::{fail_abandoned, fail_overdue};
pub use attached::{about, ambient, begin_ambient, list_about, list_in};
pub use export::{Exported, delete, export};
pub use searches::FoundConversation;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    #[error("only the owner talks to agents")]
    OwnerOnly,
    #[error("there is no such conversation")]
    NotFound,
    #[error("a message is 1 byte to {} KiB of text", limits::MESSAGE_BYTES_MAX / 1024)]
    InvalidMessage,
    #[error("a turn is under way in this conversation; wait for it or stop it")]
    Busy(MessageId),
    #[error("only the last turn can be tried again, and only if it failed or was stopped")]
    NotRetryable,
    #[error("{agent} has used its {budget} tokens of today; it answers again after midnight UTC")]
    OverBudget { agent: String, budget: u64 },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A turn that has been written down and may run.
#[derive(Debug, Clone)]
pub struct Begun {
    pub conversation: Conversation,
    pub message_id: MessageId,
    /// What was said before, oldest first, the new message last.
    pub history: Vec<Message>,
    /// The turn as it begins: a second attempt knows what the first one did.
    pub turn: Turn,
    /// What the agent may still use today; none means no bound.
    pub tokens_left: Option<u64>,
}

/// Who answers, and within which budget.
#[derive(Debug, Clone)]
pub struct Answering {
    pub agent: String,
    pub brain: String,
    pub model: String,
    /// Tokens a day; none means no bound.
    pub daily_tokens: Option<u64>,
    /// It has a process of its own, which works in one turn at a time.
    pub is_process: bool,
}

pub async fn find(
    control: &Control,
    id: ConversationId,
) -> Result<Option<Conversation>, StoreError> {
    control
        .store
        .read(move |tx| Box::pin(conversations::find(tx, id)))
        .await
}

async fn newest_with(control: &Control, agent: &str) -> Result<Option<Conversation>, StoreError> {
    let agent = agent.to_owned();
    control
        .store
        .read(move |tx| Box::pin(async move { conversations::newest_with(tx, &agent).await }))
        .await
}

/// Conversations with an agent in which something was said, newest first.
pub async fn list_with(
    control: &Control,
    agent: &str,
    words: Option<SearchedWords>,
    cursor: Option<ConversationId>,
    limit: u32,
) -> Result<Page<FoundConversation>, StoreError> {
    let agent = agent.to_owned();
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let words = words.as_ref();
                let page = conversations::list_with(tx, &agent, words, cursor, limit).await?;
                searches::told(tx, page, words).await
            })
        })
        .await
}

/// Messages before a place, newest first.
pub async fn messages(
    control: &Control,
    id: ConversationId,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<Message>, StoreError> {
    control
        .store
        .read(move |tx| Box::pin(conversations::list_before(tx, id, before, limit)))
        .await
}

/// One page of the messages before a place, newest first.
pub async fn page(
    control: &Control,
    id: ConversationId,
    before: Option<u64>,
    limit: u32,
) -> Result<Page<Message>, StoreError> {
    control
        .store
        .read(move |tx| Box::pin(conversations::page_before(tx, id, before, limit)))
        .await
}

/// The turn that runs in a conversation, if one does.
pub async fn running_in(
    control: &Control,
    id: ConversationId,
) -> Result<Option<Message>, StoreError> {
    control
        .store
        .read(move |tx| Box::pin(conversations::running_in(tx, id)))
        .await
}

pub async fn message(control: &Control, id: MessageId) -> Result<Option<Message>, StoreError> {
    control
        .store
        .read(move |tx| Box::pin(conversations::find_message(tx, id)))
        .await
}

/// The conversation that goes on: the newest with this agent, or a first one.
pub async fn current(control: &Control, ctx: &Ctx, agent: &str) -> Result<Conversation, TurnError> {
    if let Some(found) = newest_with(control, agent).await? {
        return Ok(found);
    }
    // A turn that nobody spoke to may have begun one meanwhile.
    make(control, ctx, agent, |_| true).await
}

/// Makes a new conversation; older ones stay readable. One that nobody has said anything in is new enough.
pub async fn start(control: &Control, ctx: &Ctx, agent: &str) -> Result<Conversation, TurnError> {
    make(control, ctx, agent, |next_seq| next_seq == 1).await
}

/// Makes one, unless the newest will do; `will_do` is told the number that a message would have in it.
async fn make(
    control: &Control,
    ctx: &Ctx,
    agent: &str,
    will_do: fn(u64) -> bool,
) -> Result<Conversation, TurnError> {
    if !ctx.actor.is_owner() {
        return Err(TurnError::OwnerOnly);
    }
    let at = control.clock.now();
    let conversation = Conversation {
        id: ConversationId::new(at, random::bytes()?),
        agent: agent.to_owned(),
        space_id: None,
        about: None,
        created_at: at,
    };
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let newest = conversations::newest_with(tx, &conversation.agent).await?;
                if let Some(newest) = newest
                    && will_do(conversations::next_seq(tx, newest.id).await?)
                {
                    return Ok(newest);
                }
                conversations::insert(tx, &conversation).await?;
                Ok(conversation)
            })
        })
        .await
}

/// The owner says something, and the agent's turn begins: one transaction, one turn at a time.
pub async fn begin_turn(
    control: &Control,
    ctx: &Ctx,
    id: ConversationId,
    text: String,
    answering: Answering,
) -> Result<Begun, TurnError> {
    if !ctx.actor.is_owner() {
        return Err(TurnError::OwnerOnly);
    }
    if text.trim().is_empty() || text.len() > limits::MESSAGE_BYTES_MAX {
        return Err(TurnError::InvalidMessage);
    }
    let at = control.clock.now();
    let (said_id, answer_id) = (
        MessageId::new(at, random::bytes()?),
        MessageId::new(at, random::bytes()?),
    );
    let context = control.context(ctx);
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let (conversation, tokens_left) = may_begin(tx, id, &answering, at).await?;
                let seq = conversations::next_seq(tx, id).await?;
                let said = Message {
                    id: said_id,
                    conversation_id: id,
                    seq,
                    at,
                    body: text,
                    said: Said::ByOwner,
                };
                let turn = Turn::begun(&answering.brain, &answering.model);
                let answer = Message {
                    id: answer_id,
                    conversation_id: id,
                    seq: seq + 1,
                    at,
                    body: String::new(),
                    said: Said::ByAgent(Box::new(turn.clone())),
                };
                conversations::append(tx, &said).await?;
                conversations::append(tx, &answer).await?;
                began(tx, &context, at, &conversation, answer_id).await?;
                let history = history(tx, id, seq + 1).await?;
                Ok(Begun {
                    conversation,
                    message_id: answer_id,
                    history,
                    turn,
                    tokens_left,
                })
            })
        })
        .await
}

/// Tries the last turn again, after it failed or was stopped.
pub async fn begin_again(
    control: &Control,
    ctx: &Ctx,
    message_id: MessageId,
    answering: Answering,
) -> Result<Begun, TurnError> {
    if !ctx.actor.is_owner() {
        return Err(TurnError::OwnerOnly);
    }
    let (at, context) = (control.clock.now(), control.context(ctx));
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let Some(message) = conversations::find_message(tx, message_id).await? else {
                    return Err(TurnError::NotFound);
                };
                let id = message.conversation_id;
                let (conversation, tokens_left) = may_begin(tx, id, &answering, at).await?;
                let is_last = conversations::next_seq(tx, id).await? == message.seq + 1;
                let Said::ByAgent(earlier) = &message.said else {
                    return Err(TurnError::NotRetryable);
                };
                // What woke an agent wakes it again by itself.
                if !earlier.causes.is_empty() {
                    return Err(TurnError::NotRetryable);
                }
                let turn = Turn::begun_again(&answering.brain, &answering.model, earlier);
                if !is_last || !conversations::begin_again(tx, message_id, at, &turn).await? {
                    return Err(TurnError::NotRetryable);
                }
                began(tx, &context, at, &conversation, message_id).await?;
                let history = history(tx, id, message.seq).await?;
                Ok(Begun {
                    conversation,
                    message_id,
                    history,
                    turn,
                    tokens_left,
                })
            })
        })
        .await
}

/// The conversation, and what the agent may still use today.
async fn may_begin(
    tx: &mut Tx,
    id: ConversationId,
    answering: &Answering,
    at: Timestamp,
) -> Result<(Conversation, Option<u64>), TurnError> {
    let found = conversations::find(tx, id).await?;
    let conversation = found
        .filter(|conversation| conversation.agent == answering.agent)
        .ok_or(TurnError::NotFound)?;
    if let Some(running) = conversations::running_in(tx, id).await? {
        return Err(TurnError::Busy(running.id));
    }
    // An agent with a process has one turn at a time, wherever it is spoken to.
    if answering.is_process
        && let Some(running) = conversations::running_of(tx, &answering.agent).await?
    {
        return Err(TurnError::Busy(running.id));
    }
    let tokens_left = tokens_left(tx, answering, at).await?;
    Ok((conversation, tokens_left))
}

/// What an agent may still use today; none means no bound.
pub(crate) async fn tokens_left(
    tx: &mut Tx,
    answering: &Answering,
    at: Timestamp,
) -> Result<Option<u64>, TurnError> {
    let Some(budget) = answering.daily_tokens else {
        return Ok(None);
    };
    let (used, _) = conversations::usage_on(tx, &answering.agent, day(at)).await?;
    if used >= budget {
        let agent = answering.agent.clone();
        return Err(TurnError::OverBudget { agent, budget });
    }
    Ok(Some(budget - used))
}

/// What was said before this place, oldest first, as far back as a prompt goes. It begins with the
/// owner's words or with what began a turn: models take nothing else for a beginning.
pub(crate) async fn history(
    tx: &mut Tx,
    id: ConversationId,
    before: u64,
) -> Result<Vec<Message>, StoreError> {
    let newest =
        conversations::list_before(tx, id, Some(before), limits::HISTORY_MESSAGES_MAX).await?;
    let mut bytes = 0;
    let mut messages: Vec<Message> = newest
        .into_iter()
        .take_while(|message| {
            bytes += message.body.len();
            bytes <= limits::HISTORY_BYTES_MAX
        })
        .collect();
    while messages
        .last()
        .is_some_and(|message| !is_beginning(message))
    {
        messages.pop();
    }
    messages.reverse();
    Ok(messages)
}

fn is_beginning(message: &Message) -> bool {
    match &message.said {
        Said::ByOwner => true,
        Said::ByAgent(turn) => !turn.causes.is_empty(),
    }
}

pub(crate) async fn began(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    conversation: &Conversation,
    message_id: MessageId,
) -> Result<(), StoreError> {
    let detail = json!({"agent": conversation.agent, "conversation_id": conversation.id});
    let subject = Some(message_id.to_string());
    let fact = (EventKind::TurnStarted.as_str(), subject, detail);
    facts::tell_of(tx, context, at, Audience::People, fact).await
}

/// Writes how a turn ended, with what it used. `false`: it had ended already.
pub async fn end_turn(
    control: &Control,
    conversation: &Conversation,
    message_id: MessageId,
    body: String,
    turn: Turn,
) -> Result<bool, StoreError> {
    let (this, context) = (control.clone(), control.context(&control.system_ctx()?));
    let conversation = conversation.clone();
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                let at = this.clock.now();
                end(tx, &context, at, &conversation, message_id, &body, &turn).await
            })
        })
        .await
}

async fn end(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    conversation: &Conversation,
    message_id: MessageId,
    body: &str,
    turn: &Turn,
) -> Result<bool, StoreError> {
    if !conversations::end_turn(tx, message_id, body, turn).await? {
        return Ok(false);
    }
    conversations::add_usage(tx, &conversation.agent, day(at), &turn.usage).await?;
    agent_turns::settle(tx, context, at, message_id, &turn.state).await?;
    let (kind, failure) = match &turn.state {
        TurnState::Failed { failure, .. } => {
            (EventKind::TurnFailed, Some(failure.code.to_string()))
        }
        TurnState::Running | TurnState::Done { .. } | TurnState::Stopped { .. } => {
            (EventKind::TurnFinished, None)
        }
    };
    let detail = json!({
        "agent": conversation.agent,
        "conversation_id": conversation.id,
        "state": turn.state.as_str(),
        "failure": failure,
        "brain": turn.brain,
        "model": turn.model,
        "tools": turn.trace.iter().map(|step| step.tool.as_str()).collect::<Vec<_>>(),
        "usage": turn.usage,
        "tainted_by": turn.tainted_by,
    });
    let subject = Some(message_id.to_string());
    let fact = (kind.as_str(), subject, detail);
    facts::tell_of(tx, context, at, Audience::People, fact).await?;
    Ok(true)
}

/// Notes what a turn has read, before its model reads it: a crash must not make it forgotten.
/// `false`: the turn is over.
pub async fn mark_tainted(
    control: &Control,
    message_id: MessageId,
    taint: &Taint,
) -> Result<bool, StoreError> {
    let taint = taint.clone();
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move { conversations::mark_tainted(tx, message_id, &taint).await })
        })
        .await
}

/// What became of these proposals, by the record.
pub async fn truth_of(control: &Control, ids: Vec<ProposalId>) -> Result<Truth, StoreError> {
    if ids.is_empty() {
        return Ok(Truth::default());
    }
    let this = control.clone();
    control
        .store
        .read(move |tx| Box::pin(async move { by_the_record(tx, &this, ids).await }))
        .await
}

/// These proposals as they are now; one that is not there is left out.
pub async fn proposals_of(
    control: &Control,
    ids: Vec<ProposalId>,
) -> Result<Vec<Proposal>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let mut found = Vec::with_capacity(ids.len());
                for id in ids {
                    found.extend(proposals::find(tx, id).await?.map(|stored| stored.proposal));
                }
                Ok(found)
            })
        })
        .await
}

async fn by_the_record(
    tx: &mut Tx,
    control: &Control,
    ids: Vec<ProposalId>,
) -> Result<Truth, StoreError> {
    let mut truth = Truth::default();
    for id in ids {
        if let Some(stored) = proposals::find(tx, id).await? {
            let shown = display_state(tx, control, &stored.proposal).await?;
            truth.add(&stored.proposal, shown);
        }
    }
    Ok(truth)
}

/// What an agent used today, in tokens and millionths of a dollar.
pub async fn used_today(control: &Control, agent: &str) -> Result<(u64, u64), StoreError> {
    let (agent, today) = (agent.to_owned(), day(control.clock.now()));
    control
        .store
        .read(move |tx| Box::pin(async move { conversations::usage_on(tx, &agent, today).await }))
        .await
}

/// Days since 1970, in UTC.
fn day(at: Timestamp) -> i64 {
    at.as_ms()
        .div_euclid(i64::try_from(DAY.as_millis()).unwrap_or(i64::MAX))
}
