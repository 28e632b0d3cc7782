//! Loose ends: what is open for an agent and for everybody below it. Questions that it asked or was asked, reminders, and
//! proposals that wait. What else can be open for somebody is added in [`of_one`], and nowhere else.

use std::time::Duration;

use void_domain::agents::AgentName;
use void_domain::proposals::Proposal;
use void_domain::questions::Question;
use void_domain::reminders::Reminder;
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, agents, proposals, questions, reminders};
use void_tree::{Operation, Right};

use crate::context::Ctx;
use crate::control::Control;
use crate::{questions as asking, tree};

/// How many agents are looked at: the one that is named, and those below it in the order of the tree.
pub const AGENTS_LOOKED_AT_MAX: usize = 256;
/// How many of each kind are listed of one agent; more than its bounds let it have open.
const EACH_MAX: u32 = 100;
/// How long what was answered is shown to whoever asked.
const ANSWERS_SHOWN_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const ANSWERS_SHOWN_MAX: u32 = 20;

#[derive(Debug, thiserror::Error)]
pub enum LooseEndsError {
    #[error("there is no agent of this name in the tree, or it is not yours to look at")]
    NotFound,
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Debug)]
pub struct LooseEnds {
    /// Whoever was asked for first, then those below who have something open.
    pub agents: Vec<AgentLooseEnds>,
    /// What whoever was asked for had asked and was answered lately, newest first.
    pub answered: Vec<Question>,
    /// There are more below than were looked at.
    pub is_cut: bool,
}

#[derive(Debug)]
pub struct AgentLooseEnds {
    pub agent: AgentName,
    /// What it asked and nobody answered yet.
    pub asked: Vec<Question>,
    /// What it was asked and did not answer yet.
    pub to_answer: Vec<Question>,
    pub reminders: Vec<Reminder>,
    /// What it asked for and what waits for the owner.
    pub proposals: Vec<Proposal>,
}

impl AgentLooseEnds {
    pub const fn is_empty(&self) -> bool {
        self.asked.is_empty()
            && self.to_answer.is_empty()
            && self.reminders.is_empty()
            && self.proposals.is_empty()
    }
}

pub async fn look(
    control: &Control,
    ctx: &Ctx,
    name: &AgentName,
) -> Result<LooseEnds, LooseEndsError> {
    let may = match ctx.actor.is_owner() {
        true => asking::is_member(control, name),
        false => tree::right_of(control, ctx, Operation::SeeLooseEnds, name) == Right::Alone,
    };
    if !may {
        return Err(LooseEndsError::NotFound);
    }
    let tree = control.in_force.tree.now();
    let below = tree.index.descendants(name).to_vec();
    let (own, now) = (name.clone(), control.clock.now());
    let found: Result<LooseEnds, StoreError> = control
        .store
        .read(move |tx| Box::pin(async move { gather(tx, &own, &below, now).await }))
        .await;
    Ok(found?)
}

async fn gather(
    tx: &mut Tx,
    own: &AgentName,
    below: &[AgentName],
    now: Timestamp,
) -> Result<LooseEnds, StoreError> {
    let mut all = vec![of_one(tx, own, now).await?];
    let looked_at = AGENTS_LOOKED_AT_MAX.saturating_sub(1);
    for name in below.iter().take(looked_at) {
        let one = of_one(tx, name, now).await?;
        if !one.is_empty() {
            all.push(one);
        }
    }
    let since = now.minus(ANSWERS_SHOWN_FOR);
    Ok(LooseEnds {
        agents: all,
        answered: questions::list_answered_of(tx, own, since, ANSWERS_SHOWN_MAX).await?,
        is_cut: below.len() > looked_at,
    })
}

async fn of_one(
    tx: &mut Tx,
    name: &AgentName,
    now: Timestamp,
) -> Result<AgentLooseEnds, StoreError> {
    let mut open = questions::list_open_of(tx, name, EACH_MAX).await?;
    open.retain(|question| question.is_open_at(now));
    let is_own = |question: &Question| question.asker.agent() == Some(name);
    let (asked, mut to_answer): (Vec<_>, Vec<_>) = open.into_iter().partition(is_own);
    // What it asked itself is both.
    let own = asked
        .iter()
        .filter(|question| question.asked.agent() == Some(name));
    to_answer.extend(own.cloned());
    let waiting = match agents::find_named(tx, name).await? {
        Some(agent) => proposals::list_waiting_of(tx, agent.id.into(), EACH_MAX).await?,
        None => Vec::new(),
    };
    Ok(AgentLooseEnds {
        agent: name.clone(),
        asked,
        to_answer,
        reminders: reminders::list_active(tx, Some(name), EACH_MAX).await?,
        proposals: waiting.into_iter().map(|stored| stored.proposal).collect(),
    })
}
