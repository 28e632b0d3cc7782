//! The turns that agents' processes lead: who may come for one, who may ask in it, and what is asked.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{mpsc, oneshot};
use void_control::{StoreError, tokens};
use void_domain::agents::AgentName;
use void_domain::digests::Digest;
use void_domain::ids::{AgentId, MessageId};
use void_domain::secrets::Secret;

use super::files::{FileCall, FileOutcome};

/// What a process is told to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum NextStep {
    /// To have these calls answered: those with a file by itself, the others by the server.
    Calls(Vec<LedCall>),
    /// The server has answered the call.
    Answered,
    /// Nothing: the turn is over.
    Over,
}

/// A call that the model made, by its number in this step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedCall {
    pub number: usize,
    /// What the process does itself; otherwise it has the server do it.
    pub file: Option<FileCall>,
}

/// What a process asks.
#[derive(Debug)]
pub enum Asks {
    /// The next step, with what came of its files by number.
    Step(Vec<(usize, FileOutcome)>),
    /// That the server answers this call.
    Call(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotLed {
    #[error("there is no such turn of this process, or it is over")]
    Over,
    #[error("that is no answer to what this turn waits for")]
    Unfit,
    #[error("this turn is at another step already")]
    Busy,
}

pub(super) type Answered = oneshot::Sender<Result<NextStep, NotLed>>;
pub(super) type LeaderEnd = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The turns that processes lead or are to lead, by agent: one each.
#[derive(Clone, Default)]
pub(super) struct Leads(Arc<Mutex<HashMap<AgentName, Lead>>>);

struct Lead {
    turn: MessageId,
    /// The agent whose process has it, once one has.
    holder: Option<AgentId>,
    hash: Digest,
    /// Given out once.
    unclaimed: Option<(Secret, oneshot::Sender<LeaderEnd>)>,
    asks: mpsc::Sender<(Asks, Answered)>,
}

/// The server's side of one.
pub(super) struct Led {
    pub taken: oneshot::Receiver<LeaderEnd>,
    pub asked: mpsc::Receiver<(Asks, Answered)>,
    /// It ends with this.
    _registered: Registered,
}

struct Registered {
    leads: Leads,
    agent: AgentName,
    turn: MessageId,
}

/// What a process gets when it comes for its turn.
#[derive(Debug)]
pub struct TakenTurn {
    pub turn: MessageId,
    pub pass: Secret,
}

impl Leads {
    pub(super) fn register(&self, agent: &AgentName, turn: MessageId) -> Result<Led, StoreError> {
        let pass = tokens::new_text("turn")?;
        let hash = Digest::of(pass.expose().as_bytes());
        let (claim, taken) = oneshot::channel();
        let (asks, asked) = mpsc::channel(1);
        let lead = Lead {
            turn,
            holder: None,
            hash,
            unclaimed: Some((pass, claim)),
            asks,
        };
        self.lock().insert(agent.clone(), lead);
        Ok(Led {
            taken,
            asked,
            _registered: Registered {
                leads: self.clone(),
                agent: agent.clone(),
                turn,
            },
        })
    }

    /// The turn that waits for this agent's process, for whoever comes first.
    pub(super) fn take(
        &self,
        agent: &AgentName,
        holder: AgentId,
        end: impl Future<Output = ()> + Send + 'static,
    ) -> Option<TakenTurn> {
        let mut all = self.lock();
        let lead = all.get_mut(agent)?;
        let (pass, claim) = lead.unclaimed.take()?;
        lead.holder = Some(holder);
        // Nobody waits for it any more: then it is over.
        claim.send(Box::pin(end)).ok()?;
        Some(TakenTurn {
            turn: lead.turn,
            pass,
        })
    }

    /// Only for the process that has the turn, with its pass.
    pub(super) async fn ask(
        &self,
        (agent, holder): (&AgentName, AgentId),
        turn: MessageId,
        shown: &str,
        asks: Asks,
    ) -> Result<NextStep, NotLed> {
        let shown = Digest::of(shown.as_bytes());
        let sender = {
            let all = self.lock();
            let lead = all.get(agent).filter(|lead| {
                // A hash is compared, never the text, so the time that takes tells nothing about it.
                lead.turn == turn && lead.holder == Some(holder) && lead.hash == shown
            });
            lead.ok_or(NotLed::Over)?.asks.clone()
        };
        let (answered, answer) = oneshot::channel();
        sender
            .try_send((asks, answered))
            .map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => NotLed::Busy,
                mpsc::error::TrySendError::Closed(_) => NotLed::Over,
            })?;
        answer.await.unwrap_or(Ok(NextStep::Over))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AgentName, Lead>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut all = self.leads.lock();
        if all
            .get(&self.agent)
            .is_some_and(|lead| lead.turn == self.turn)
        {
            all.remove(&self.agent);
        }
    }
}
