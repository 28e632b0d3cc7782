//! Opening a turn: all that waits for the agent becomes one turn, in one transaction, if nothing holds it back.

use std::time::Duration;

use void_domain::agent_turns::{TURNS_PER_AGENT_HOUR, WaitingCause};
use void_domain::agents::AgentName;
use void_domain::conversations::{Conversation, Message, Said, Turn};
use void_domain::ids::{ConversationId, MessageId};
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, agent_turns as table, conversations};

use crate::control::Control;
use crate::conversations::{Answering, Begun, TurnError, began, history, tokens_left};
use crate::{freezes, random};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// The turn that what waits for this agent begins. `None`: nothing waits, or something holds it back (a turn that runs,
/// a freeze, the turns of an hour, the tokens of a day); it waits on.
pub async fn open(
    control: &Control,
    agent: &AgentName,
    answering: Answering,
) -> Result<Option<Begun>, StoreError> {
    let at = control.clock.now();
    if freezes::current(control).await?.holds_at(at) {
        return Ok(None);
    }
    let (new_conversation, answer_id) = (
        ConversationId::new(at, random::bytes()?),
        MessageId::new(at, random::bytes()?),
    );
    let context = control.context(&control.system_ctx()?);
    let agent = agent.clone();
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let waiting = due(tx, &agent, at).await?;
                if waiting.is_empty()
                    || conversations::running_of(tx, agent.as_str())
                        .await?
                        .is_some()
                {
                    return Ok(None);
                }
                let begun =
                    conversations::count_begun_since(tx, agent.as_str(), at.minus(HOUR)).await?;
                if begun >= u64::from(TURNS_PER_AGENT_HOUR) {
                    return Ok(None);
                }
                let left = match tokens_left(tx, &answering, at).await {
                    Ok(left) => left,
                    Err(TurnError::Store(error)) => return Err(error),
                    Err(_) => return Ok(None),
                };
                let conversation = current(tx, &agent, new_conversation, at).await?;
                let turn = Turn::begun_by(&answering.brain, &answering.model, &waiting);
                let seq = conversations::next_seq(tx, conversation.id).await?;
                let answer = Message {
                    id: answer_id,
                    conversation_id: conversation.id,
                    seq,
                    at,
                    body: String::new(),
                    said: Said::ByAgent(Box::new(turn.clone())),
                };
                conversations::append(tx, &answer).await?;
                for cause in &waiting {
                    table::take(tx, cause, answer_id).await?;
                }
                began(tx, &context, at, &conversation, answer_id).await?;
                let history = history(tx, conversation.id, seq).await?;
                Ok(Some(Begun {
                    conversation,
                    message_id: answer_id,
                    history,
                    turn,
                    tokens_left: left,
                }))
            })
        })
        .await
}

/// What waits, if anything of it may begin a turn now: a turn takes all of it.
async fn due(
    tx: &mut Tx,
    agent: &AgentName,
    at: Timestamp,
) -> Result<Vec<WaitingCause>, StoreError> {
    let waiting = table::list_waiting(tx, agent).await?;
    let is_due = waiting.iter().any(|cause| cause.not_before <= at);
    Ok(if is_due { waiting } else { Vec::new() })
}

/// The conversation that the agent's turns stand in: the newest that the owner has with it, or a first one.
async fn current(
    tx: &mut Tx,
    agent: &AgentName,
    new: ConversationId,
    at: Timestamp,
) -> Result<Conversation, StoreError> {
    if let Some(newest) = conversations::newest_with(tx, agent.as_str()).await? {
        return Ok(newest);
    }
    let conversation = Conversation {
        id: new,
        agent: agent.to_string(),
        space_id: None,
        about: None,
        created_at: at,
    };
    conversations::insert(tx, &conversation).await?;
    Ok(conversation)
}
