//! Somebody asks.

use std::time::Duration;

use void_domain::actors::Actor;
use void_domain::agents::AgentName;
use void_domain::ids::AgentId;
use void_domain::questions::{
    ASKED_PER_HOUR_MAX, InvalidQuestion, OPEN_PER_ASKED_MAX, OPEN_PER_ASKER_MAX, OPEN_TO_OWNER_MAX,
    Question, QuestionCode, QuestionParty, QuestionState, QuestionWords, expires_after,
};
use void_domain::taint::Taint;
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, agents, questions as stored};

use super::{announce, standing};
use crate::context::Ctx;
use crate::control::Control;
use crate::random;

const HOUR: Duration = Duration::from_secs(60 * 60);
/// A code of four characters is free after so many tries, or there are more questions than anybody answers.
const CODE_TRIES_MAX: u8 = 20;

/// What somebody wants to know, before anything of it is believed.
#[derive(Debug, Clone)]
pub struct AskRequest {
    pub to: QuestionParty,
    pub text: String,
    pub options: Vec<String>,
    pub expires_after: Option<Duration>,
    /// What the asker has read.
    pub taint: Taint,
}

#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error(transparent)]
    Invalid(#[from] InvalidQuestion),
    #[error(
        "questions go to the owner, one's parent, those beside and everybody below, and only inside the tree"
    )]
    NotAllowed,
    #[error("there is no agent of this name in the tree")]
    UnknownAgent,
    #[error("{limit} questions are open already; wait for an answer or take one back")]
    TooMany { limit: u64 },
    #[error("{ASKED_PER_HOUR_MAX} questions were asked within an hour; ask later")]
    TooOften,
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub async fn ask(control: &Control, ctx: &Ctx, wanted: AskRequest) -> Result<Question, AskError> {
    let own = standing::party(control, ctx).ok_or(AskError::NotAllowed)?;
    if !standing::may_ask(control, ctx, &own, &wanted.to) {
        return Err(match own {
            QuestionParty::Owner => AskError::UnknownAgent,
            QuestionParty::Agent(_) => AskError::NotAllowed,
        });
    }
    let words = QuestionWords::new(&wanted.text, wanted.options)?;
    let lasts = expires_after(wanted.expires_after)?;
    let (asker_id, taint) = match &ctx.actor {
        Actor::Agent { id, .. } => {
            let mut taint = Taint::clean();
            taint.unite(&wanted.taint);
            (Some(*id), taint)
        }
        // What the owner says is the owner's.
        Actor::Owner { .. } | Actor::Viewer { .. } | Actor::Node { .. } | Actor::System => {
            (None, Taint::clean())
        }
    };
    let at = control.clock.now();
    let asked = Question {
        id: random::question_id(at)?,
        code: random::question_code()?,
        asker: own,
        asker_id,
        asked: wanted.to,
        words,
        taint,
        asked_at: at,
        expires_at: at.plus(lasts),
        state: QuestionState::Open,
    };
    let context = control.context(ctx);
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                check_there(tx, asked.asker_id, asked.asked.agent()).await?;
                check_room(tx, &asked, at).await?;
                let asked = Question {
                    code: free_code(tx, asked.code.clone()).await?,
                    ..asked
                };
                stored::insert(tx, &asked).await?;
                announce(tx, &context, at, &asked).await?;
                Ok(asked)
            })
        })
        .await
}

/// Nobody who was withdrawn asks or is asked.
async fn check_there(
    tx: &mut Tx,
    asker: Option<AgentId>,
    asked: Option<&AgentName>,
) -> Result<(), AskError> {
    if let Some(asker) = asker
        && agents::is_withdrawn(tx, asker.into()).await?
    {
        return Err(AskError::NotAllowed);
    }
    let Some(asked) = asked else {
        return Ok(());
    };
    // An agent of the tree that never acted has no row yet.
    match agents::find_named(tx, asked).await? {
        Some(agent) if !agent.is_live() => Err(AskError::UnknownAgent),
        Some(_) | None => Ok(()),
    }
}

async fn check_room(tx: &mut Tx, asked: &Question, at: Timestamp) -> Result<(), AskError> {
    let own = match asked.asker {
        QuestionParty::Owner => OPEN_TO_OWNER_MAX,
        QuestionParty::Agent(_) => OPEN_PER_ASKER_MAX,
    };
    if stored::count_open_of(tx, &asked.asker).await?.asked >= own {
        return Err(AskError::TooMany { limit: own });
    }
    let theirs = match asked.asked {
        QuestionParty::Owner => OPEN_TO_OWNER_MAX,
        QuestionParty::Agent(_) => OPEN_PER_ASKED_MAX,
    };
    if stored::count_open_of(tx, &asked.asked).await?.to_answer >= theirs {
        return Err(AskError::TooMany { limit: theirs });
    }
    if let Some(agent) = asked.asker.agent()
        && stored::count_asked_since(tx, agent, at.minus(HOUR)).await? >= ASKED_PER_HOUR_MAX
    {
        return Err(AskError::TooOften);
    }
    Ok(())
}

/// One that no open question has.
async fn free_code(tx: &mut Tx, first: QuestionCode) -> Result<QuestionCode, StoreError> {
    let mut code = first;
    for _ in 0..CODE_TRIES_MAX {
        let found = stored::find_by_code(tx, &code).await?;
        if found.is_none_or(|found| !found.state.is_open()) {
            return Ok(code);
        }
        code = random::question_code()?;
    }
    Err(StoreError::Internal(
        "no code is free for a question".to_owned(),
    ))
}
