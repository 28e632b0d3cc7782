//! The turn loop: prompt, answer, tool calls, results, until there is only text. Every bound ends it
//! gracefully, with a sentence that says so.
//!
//! A turn belongs to the server: it runs to its end whoever listens, and is written down when it begins
//! and when it ends. What it says about itself at the end (what ran, what waits) comes from the record.

mod files;
mod leads;
mod led;
mod live;
mod loops;
mod outcomes;
mod passes;
mod places;
mod prompts;
mod transcripts;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use void_control::conversations::{self, Answering, Begun, TurnError};
use void_control::{Control, Ctx, StoreError, agent_turns, agents};
use void_domain::agents::AgentName;
use void_domain::conversations::{Conversation, MessageView, Turn, TurnState};
use void_domain::failures::FailureCode;
use void_domain::ids::{AgentId, ConversationId, MessageId};
use void_domain::proposals::Failure;

pub use files::{FileCall, FileOutcome, FileWish};
pub use leads::{Asks, LedCall, NextStep, NotLed, TakenTurn};
pub use live::{ChatEvent, Live};
pub(crate) use passes::{ModelCall, NoModelCall};
pub use passes::{Pass, TURN_MODEL_CALLS_MAX};

use self::leads::{Leads, Led};
use self::loops::{Ended, Running};
use self::passes::Passes;
use self::transcripts::Transcript;
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
    processes: Option<ProcessAgents>,
    live: Mutex<HashMap<MessageId, Arc<Live>>>,
    passes: Passes,
    leads: Leads,
}

/// With which brain an agent thinks that has a process of its own, as which model and within which budget.
pub type ProcessAgents = Arc<dyn Fn(&AgentName) -> Arc<Agent> + Send + Sync>;

/// A turn that has begun.
#[derive(Debug, Clone)]
pub struct Started {
    pub conversation: Conversation,
    pub message_id: MessageId,
    pub live: Arc<Live>,
}

impl Talk {
    /// Those who live here; whoever has a process of its own has no turns.
    pub fn new(control: Control, agents: Vec<Agent>) -> Self {
        Self::with_processes(control, agents, None)
    }

    pub fn with_processes(
        control: Control,
        agents: Vec<Agent>,
        processes: Option<ProcessAgents>,
    ) -> Self {
        let agents = agents.into_iter();
        Self(Arc::new(Parts {
            control,
            agents: agents
                .map(|agent| (agent.persona.slug.to_string(), Arc::new(agent)))
                .collect(),
            processes,
            live: Mutex::default(),
            passes: Passes::default(),
            leads: Leads::default(),
        }))
    }

    pub fn agents(&self) -> impl Iterator<Item = &Arc<Agent>> {
        self.0.agents.values()
    }

    pub fn agent(&self, slug: &str) -> Option<&Arc<Agent>> {
        self.0.agents.get(slug)
    }

    /// Whoever talks here: one who lives here, or one who has a process.
    pub fn find(&self, slug: &str) -> Option<Arc<Agent>> {
        if let Some(agent) = self.agent(slug) {
            return Some(Arc::clone(agent));
        }
        let name: AgentName = slug.parse().ok()?;
        let is_process = agent_turns::has_process(&self.0.control, &name);
        let processes = self.0.processes.as_ref().filter(|_| is_process)?;
        Some(processes(&name))
    }

    /// The turn of an agent whose process came for one: one that waits for it, or one that what woke it begins.
    pub async fn take_turn(
        &self,
        name: &AgentName,
        holder: AgentId,
    ) -> Result<Option<TakenTurn>, StoreError> {
        let control = &self.0.control;
        let end = || agent_turns::process_end(control, holder);
        if let Some(taken) = self.0.leads.take(name, holder, end()) {
            return Ok(Some(taken));
        }
        let Some(agent) = self.find(name.as_str()).filter(|agent| agent.is_process) else {
            return Ok(None);
        };
        if let Some(begun) = agent_turns::open(control, name, answering(&agent)).await? {
            self.run(&agent, begun, None);
        }
        Ok(self.0.leads.take(name, holder, end()))
    }

    /// The next step of a turn that a process leads.
    pub async fn lead(
        &self,
        whose: (&AgentName, AgentId),
        turn: MessageId,
        pass: &str,
        asks: Asks,
    ) -> Result<NextStep, NotLed> {
        self.0.leads.ask(whose, turn, pass, asks).await
    }

    /// The conversation that goes on: the newest with this agent, or a first one.
    pub async fn conversation(&self, ctx: &Ctx, agent: &Agent) -> Result<Conversation, TurnError> {
        let control = &self.0.control;
        conversations::current(control, ctx, agent.persona.slug.as_str()).await
    }

    /// The owner says something to an agent.
    pub async fn say(
        &self,
        ctx: &Ctx,
        agent: &Arc<Agent>,
        id: ConversationId,
        text: String,
    ) -> Result<Started, TurnError> {
        self.say_looking_at(ctx, agent, id, text, None).await
    }

    /// The same with what the owner looks at meanwhile, as their page says it.
    pub async fn say_looking_at(
        &self,
        ctx: &Ctx,
        agent: &Arc<Agent>,
        id: ConversationId,
        text: String,
        view: Option<MessageView>,
    ) -> Result<Started, TurnError> {
        let control = &self.0.control;
        let begun = conversations::begin_turn(control, ctx, id, text, answering(agent)).await?;
        Ok(self.run(agent, begun, view))
    }

    /// Tries a turn again that failed or was stopped. What was looked at then was kept nowhere.
    pub async fn retry(
        &self,
        ctx: &Ctx,
        agent: &Arc<Agent>,
        message_id: MessageId,
    ) -> Result<Started, TurnError> {
        let control = &self.0.control;
        let begun = conversations::begin_again(control, ctx, message_id, answering(agent)).await?;
        Ok(self.run(agent, begun, None))
    }

    /// A turn that runs here, or ended a moment ago.
    pub fn live(&self, message_id: MessageId) -> Option<Arc<Live>> {
        let live = self.0.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.get(&message_id).cloned()
    }

    /// The turn whose pass this is, as long as it runs.
    pub fn pass(&self, shown: &str) -> Option<Pass> {
        self.0.passes.find(shown)
    }

    fn run(&self, agent: &Arc<Agent>, begun: Begun, view: Option<MessageView>) -> Started {
        let live = Arc::new(Live::default());
        let started = Started {
            conversation: begun.conversation.clone(),
            message_id: begun.message_id,
            live: Arc::clone(&live),
        };
        self.remember(started.message_id, &live);
        let slug = &agent.persona.slug;
        let led = agent.is_process.then(|| {
            let led = self.0.leads.register(slug, begun.message_id);
            agent_turns::tell(&self.0.control, slug);
            led
        });
        let (talk, agent) = (self.clone(), Arc::clone(agent));
        tokio::spawn(async move {
            let begun = Arc::new(begun);
            let (ended, transcript) = talk.work(&agent, &begun, &live, (view, led)).await;
            let event = talk.finish(&agent, &begun, ended, transcript).await;
            live.push(event);
            // Nothing of the server is held while the end is kept for latecomers.
            let parts = Arc::downgrade(&talk.0);
            drop(talk);
            tokio::time::sleep(KEPT_AFTER_END).await;
            if let Some(parts) = parts.upgrade() {
                Self(parts).forget(begun.message_id, &live);
            }
        });
        started
    }

    /// Runs the turn; a proposal that it was making when it ended is waited for and noted.
    async fn work(
        &self,
        agent: &Arc<Agent>,
        begun: &Arc<Begun>,
        live: &Arc<Live>,
        (view, led): (Option<MessageView>, Option<Result<Led, StoreError>>),
    ) -> (Ended, Transcript) {
        let control = &self.0.control;
        let failed = |failure| (Ended::Failed(failure), Transcript::of(begun));
        let ctx = match agent.ctx(control).await {
            Ok(Some(ctx)) => ctx,
            Ok(None) => {
                let message = "this agent's token was withdrawn; it no longer answers";
                return failed(Failure::new(FailureCode::Withdrawn, message));
            }
            Err(error) => return failed(unavailable(&error)),
        };
        match agents::is_paused(control, &agent.persona.slug).await {
            Ok(false) => {}
            Ok(true) => {
                let message = "the owner paused this agent; it gets no turn";
                return failed(Failure::new(FailureCode::Paused, message));
            }
            Err(error) => return failed(unavailable(&error)),
        }
        let led = match led.transpose() {
            Ok(led) => led,
            Err(error) => return failed(unavailable(&error)),
        };
        let (live, agent) = (Arc::clone(live), Arc::clone(agent));
        let needs_pass = agent.brain.needs_pass();
        let turn = Arc::new(Running::new(control.clone(), agent, ctx, live, begun, view));
        let issued = needs_pass.then(|| self.0.passes.issue(&turn)).transpose();
        let (pass, issued) = match issued {
            Ok(issued) => issued.unzip(),
            Err(error) => return failed(unavailable(&error)),
        };
        // A task of its own: a defect in it ends this turn, and whoever listens hears so.
        let (running, begun) = (Arc::clone(&turn), Arc::clone(begun));
        let work = tokio::spawn(async move { running.run(&begun, pass, led).await });
        let ended = work.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a turn broke");
            Ended::Failed(Failure::new(
                FailureCode::Internal,
                "something in Void broke; the log says what",
            ))
        });
        drop(issued);
        turn.models.counted().await;
        turn.transcript().proposals.close().await;
        (ended, turn.transcript())
    }

    fn remember(&self, id: MessageId, live: &Arc<Live>) {
        let mut all = self.0.live.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(id, Arc::clone(live));
    }

    /// Unless a second attempt has taken its place.
    fn forget(&self, id: MessageId, live: &Arc<Live>) {
        let mut all = self.0.live.lock().unwrap_or_else(PoisonError::into_inner);
        if all.get(&id).is_some_and(|known| Arc::ptr_eq(known, live)) {
            all.remove(&id);
        }
    }

    /// Writes the turn down, until that is done; then what everybody hears last.
    async fn finish(
        &self,
        agent: &Agent,
        begun: &Begun,
        ended: Ended,
        transcript: Transcript,
    ) -> ChatEvent {
        let (control, id) = (&self.0.control, begun.message_id);
        let conversation = &begun.conversation;
        let truth = until_done("what became of a turn could not be read", || {
            transcript.truth(control)
        })
        .await;
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
            trace: transcript.trace,
            usage: agent.prices.with_cost(transcript.usage),
            truth,
            tainted_by: transcript.taint,
            session: transcript.session,
            causes: begun.turn.causes.clone(),
        };
        let written = until_done("a turn could not be written down", || {
            conversations::end_turn(
                control,
                conversation,
                id,
                transcript.body.clone(),
                turn.clone(),
            )
        })
        .await;
        if !written {
            // Somebody took it for abandoned, and the record says so; nobody is told otherwise.
            return ChatEvent::Error {
                code: FailureCode::Interrupted.into(),
                message: "this turn took so long that it was ended for it".to_owned(),
            };
        }
        ChatEvent::end_of(id, &turn)
    }
}

/// Tries until it succeeds: the end of a turn is owed to everybody who listens.
async fn until_done<T, F>(problem: &str, mut attempt: impl FnMut() -> F) -> T
where
    F: Future<Output = Result<T, StoreError>>,
{
    let mut pause = RETRY_FIRST;
    loop {
        match attempt().await {
            Ok(done) => return done,
            Err(error) => tracing::error!(%error, "{problem}; it is tried again"),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(RETRY_MAX);
    }
}

fn answering(agent: &Agent) -> Answering {
    Answering {
        agent: agent.persona.slug.to_string(),
        brain: agent.brain_name.clone(),
        model: agent.brain.model().to_owned(),
        daily_tokens: agent.daily_tokens,
        is_process: agent.is_process,
    }
}

/// What a failure of the store looks like in a turn.
fn unavailable(error: &StoreError) -> Failure {
    tracing::error!(%error, "a turn could not use the store");
    Failure::new(
        FailureCode::Unavailable,
        "Void's database cannot be used right now",
    )
}
