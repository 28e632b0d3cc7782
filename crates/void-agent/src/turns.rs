//! The turn loop: prompt, answer, tool calls, results, until there is only text. Every bound ends it
//! gracefully, with a sentence that says so.
//!
//! A turn belongs to the server: it runs to its end whoever listens, and is written down when it begins
//! and when it ends. What it says about itself at the end (what ran, what waits) comes from the record.

mod live;
mod loops;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use void_control::conversations::{self, Answering, Begun, TurnError};
use void_control::{Control, Ctx, StoreError};
use void_domain::conversations::{Conversation, Turn, TurnState};
use void_domain::ids::{ConversationId, MessageId};
use void_domain::proposals::Failure;

pub use live::{ChatEvent, Live};

use self::loops::{Draft, Ended};
use crate::agents::Agent;

/// How long a turn can still be listened to after its end without the table.
const KEPT_AFTER_END: Duration = Duration::from_secs(60);
const RETRY_FIRST: Duration = Duration::from_millis(50);
const RETRY_MAX: Duration = Duration::from_secs(5);

/// Everybody who talks here.
#[derive(Clone)]
pub struct Talk(Arc<Parts>);

struct Parts {
    control: Control,
    agents: BTreeMap<String, Arc<Agent>>,
    live: Mutex<HashMap<MessageId, Arc<Live>>>,
}

/// A turn that has begun.
#[derive(Debug, Clone)]
pub struct Started {
    pub conversation: Conversation,
    pub message_id: MessageId,
    pub live: Arc<Live>,
}

impl Talk {
    pub fn new(control: Control, agents: Vec<Agent>) -> Self {
        let agents = agents.into_iter();
        Self(Arc::new(Parts {
            control,
            agents: agents
                .map(|agent| (agent.persona.slug.to_owned(), Arc::new(agent)))
                .collect(),
            live: Mutex::default(),
        }))
    }

    pub fn agents(&self) -> impl Iterator<Item = &Arc<Agent>> {
        self.0.agents.values()
    }

    pub fn agent(&self, slug: &str) -> Option<&Arc<Agent>> {
        self.0.agents.get(slug)
    }

    /// The conversation that goes on: the newest with this agent, or a first one.
    pub async fn conversation(&self, ctx: &Ctx, agent: &Agent) -> Result<Conversation, TurnError> {
        let control = &self.0.control;
        match conversations::newest_with(control, agent.persona.slug).await? {
            Some(found) => Ok(found),
            None => conversations::start(control, ctx, agent.persona.slug).await,
        }
    }

    /// The owner says something to an agent.
    pub async fn say(
        &self,
        ctx: &Ctx,
        agent: &Arc<Agent>,
        id: ConversationId,
        text: String,
    ) -> Result<Started, TurnError> {
        let control = &self.0.control;
        let begun = conversations::begin_turn(control, ctx, id, text, answering(agent)).await?;
        Ok(self.run(agent, begun))
    }

    /// Tries a turn again that failed or was stopped.
    pub async fn retry(
        &self,
        ctx: &Ctx,
        agent: &Arc<Agent>,
        message_id: MessageId,
    ) -> Result<Started, TurnError> {
        let control = &self.0.control;
        let begun = conversations::begin_again(control, ctx, message_id, answering(agent)).await?;
        Ok(self.run(agent, begun))
    }

    /// A turn that runs here, or ended a moment ago.
    pub fn live(&self, message_id: MessageId) -> Option<Arc<Live>> {
        let live = self.0.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.get(&message_id).cloned()
    }

    fn run(&self, agent: &Arc<Agent>, begun: Begun) -> Started {
        let live = Arc::new(Live::default());
        let started = Started {
            conversation: begun.conversation.clone(),
            message_id: begun.message_id,
            live: Arc::clone(&live),
        };
        self.remember(started.message_id, &live);
        let (talk, agent) = (self.clone(), Arc::clone(agent));
        tokio::spawn(async move {
            let (conversation, id) = (begun.conversation.clone(), begun.message_id);
            let draft = Arc::new(Mutex::new(Draft::default()));
            let ended = loops::run(&talk.0.control, &agent, &begun, &live, &draft).await;
            let event = talk.finish(&agent, &conversation, id, ended, &draft).await;
            live.push(event);
            tokio::time::sleep(KEPT_AFTER_END).await;
            talk.forget(id);
        });
        started
    }

    fn remember(&self, id: MessageId, live: &Arc<Live>) {
        let mut all = self.0.live.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(id, Arc::clone(live));
    }

    fn forget(&self, id: MessageId) {
        let mut all = self.0.live.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&id);
    }

    /// Writes the turn down, until that is done; then what everybody hears last.
    async fn finish(
        &self,
        agent: &Agent,
        conversation: &Conversation,
        id: MessageId,
        ended: Ended,
        draft: &Mutex<Draft>,
    ) -> ChatEvent {
        let control = &self.0.control;
        let draft = std::mem::take(&mut *draft.lock().unwrap_or_else(PoisonError::into_inner));
        let truth = loops::truth(control, agent, &draft).await;
        let at = control.clock().now();
        let state = match ended {
            Ended::Done => TurnState::Done { at },
            Ended::Stopped => TurnState::Stopped { at },
            Ended::Failed(failure) => TurnState::Failed { at, failure },
        };
        let turn = Turn {
            state,
            brain: agent.brain_name.clone(),
            model: agent.brain.model().to_owned(),
            trace: draft.trace,
            usage: agent.prices.with_cost(draft.usage),
            truth,
            tainted_by: draft.taint,
        };
        let mut pause = RETRY_FIRST;
        while let Err(error) =
            conversations::end_turn(control, conversation, id, draft.body.clone(), turn.clone())
                .await
        {
            tracing::error!(%error, message = %id, "a turn could not be written down; it is tried again");
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(RETRY_MAX);
        }
        match turn.state {
            TurnState::Failed { failure, .. } => ChatEvent::Error {
                code: failure.code,
                message: failure.message,
            },
            TurnState::Running | TurnState::Done { .. } | TurnState::Stopped { .. } => {
                ChatEvent::Done {
                    message_id: id,
                    usage: turn.usage,
                    truth: turn.truth,
                    tainted_by: turn.tainted_by,
                }
            }
        }
    }
}

fn answering(agent: &Agent) -> Answering {
    Answering {
        agent: agent.persona.slug.to_owned(),
        brain: agent.brain_name.clone(),
        model: agent.brain.model().to_owned(),
        daily_tokens: agent.daily_tokens,
    }
}

/// What a failure of the store looks like in a turn.
fn unavailable(error: &StoreError) -> Failure {
    tracing::error!(%error, "a turn could not use the store");
    Failure::new("unavailable", "Void's database cannot be used right now")
}
