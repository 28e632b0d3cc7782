//! Questions: an agent asks the owner or another agent, the owner asks an agent. Whoever was asked answers, the owner
//! always may; whoever asked takes back, and so may those above them and the owner. Each question ends once.
//!
//! Nothing in Void acts by an answer. What asker and answerer had read goes along with their words.

mod answer;
mod ask;
mod cancel;
mod expire;
mod standing;

use serde_json::{Map, Value, json};
use void_domain::agent_turns::{TurnCause, WakeCause};
use void_domain::events::{Audience, EventKind};
use void_domain::ids::{QuestionId, RequesterId};
use void_domain::questions::{
    InvalidQuestion, Question, QuestionCode, QuestionOver, QuestionParty, QuestionState,
};
use void_domain::text;
use void_domain::time::Timestamp;
use void_store::{Page, StoreError, Tx, agent_turns as causes, questions as stored};

use crate::context::Ctx;
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::{agent_turns, outbox};

pub use self::answer::{AnswerRequest, answer};
pub use self::ask::{AskError, AskRequest, ask};
pub use self::cancel::cancel;
pub(crate) use self::cancel::{end_of, end_older_copy};
pub(crate) use self::expire::sweep;
pub(crate) use self::standing::is_member;

/// How somebody names a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionKey {
    Id(QuestionId),
    Code(QuestionCode),
}

impl QuestionKey {
    pub fn parse(text: &str) -> Option<Self> {
        let id = text.parse().ok().map(Self::Id);
        id.or_else(|| QuestionCode::parse(text).map(Self::Code))
    }
}

/// Why a question is not answered, or not taken back.
#[derive(Debug, thiserror::Error)]
pub enum EndError {
    #[error("there is no such question, or it is not yours to see")]
    NotFound,
    #[error("only whoever was asked answers, and the owner")]
    NotAsked,
    #[error("only whoever asked takes a question back, whoever is above them, and the owner")]
    NotAsker,
    #[error("{over}")]
    Over {
        over: QuestionOver,
        question: Box<Question>,
    },
    #[error(transparent)]
    Invalid(#[from] InvalidQuestion),
    #[error("this button was used")]
    KeyUsed,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// For people: newest first.
pub async fn list(
    control: &Control,
    open_only: bool,
    before: Option<QuestionId>,
    limit: u32,
) -> Result<Page<Question>, StoreError> {
    control
        .store
        .read(move |tx| Box::pin(stored::list(tx, open_only, before, limit)))
        .await
}

/// `None`: there is none, or it is not the caller's to see.
pub async fn find(
    control: &Control,
    ctx: &Ctx,
    key: QuestionKey,
) -> Result<Option<Question>, StoreError> {
    let found = control
        .store
        .read(move |tx| Box::pin(async move { load(tx, &key).await }))
        .await?;
    Ok(found.filter(|question| standing::may_see(control, ctx, question)))
}

async fn load(tx: &mut Tx, key: &QuestionKey) -> Result<Option<Question>, StoreError> {
    match key {
        QuestionKey::Id(id) => stored::find(tx, *id).await,
        QuestionKey::Code(code) => stored::find_by_code(tx, code).await,
    }
}

/// A question that was just asked or has ended: on the record, to whoever listens, to whoever wakes by it, and to where the
/// owner was told. `actor` in the context is who did it.
async fn announce(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    question: &Question,
) -> Result<(), StoreError> {
    let kind = match &question.state {
        QuestionState::Open => EventKind::QuestionAsked,
        QuestionState::Answered { .. } => EventKind::QuestionAnswered,
        QuestionState::Cancelled { .. } => EventKind::QuestionCancelled,
        QuestionState::Expired { .. } => EventKind::QuestionExpired,
    };
    let audience = match question.asker_id {
        Some(id) => Audience::Requester(RequesterId::from(id)),
        None => Audience::OwnerOnly,
    };
    let fact = (kind.as_str(), Some(question.id.to_string()), told(question));
    facts::tell_of(tx, context, at, audience, fact).await?;
    wake(tx, context, at, question).await?;
    if question.asked == QuestionParty::Owner {
        outbox::note_question(tx, &context.outbox, question, at).await?;
    }
    Ok(())
}

fn told(question: &Question) -> Value {
    let mut detail = Map::new();
    for (name, value) in [
        ("code", json!(question.code.to_string())),
        ("asker", json!(question.asker.to_string())),
        ("asked", json!(question.asked.to_string())),
        ("status", json!(question.state.as_str())),
    ] {
        detail.insert(name.to_owned(), value);
    }
    match &question.state {
        QuestionState::Open => {
            detail.insert("taint".to_owned(), json!(question.taint));
            detail.insert("expires_at".to_owned(), json!(question.expires_at));
            detail.insert("options".to_owned(), json!(question.words.options().len()));
            facts::tell(&mut detail, "reason", &text::escaped(question.words.text()));
        }
        QuestionState::Answered { reply, taint, .. } => {
            detail.insert("taint".to_owned(), json!(taint));
            detail.insert("option".to_owned(), json!(reply.option));
            facts::tell(&mut detail, "reason", &text::escaped(&reply.text));
        }
        QuestionState::Cancelled { why, .. } => {
            detail.insert("why".to_owned(), json!(why.as_str()));
        }
        QuestionState::Expired { .. } => {}
    }
    Value::Object(detail)
}

/// Whoever is asked wakes; whoever asked wakes when it is over, unless they ended it themselves. The words are in neither
/// cause: whoever wants them reads the question, and has read then what it carries.
async fn wake(
    tx: &mut Tx,
    context: &AuditContext,
    at: Timestamp,
    question: &Question,
) -> Result<(), StoreError> {
    let asked = TurnCause::Question {
        question: question.id.into(),
    };
    if let Some(agent) = question.asked.agent() {
        if question.state.is_open() {
            return agent_turns::note(tx, at, agent, WakeCause::of(asked)).await;
        }
        causes::drop_waiting(tx, agent, &asked).await?;
    }
    if let Some(agent) = question.asker.agent()
        && !question.state.is_open()
        && context.actor != format!("agent-{agent}")
    {
        let over = TurnCause::Answer {
            question: question.id.into(),
        };
        agent_turns::note(tx, at, agent, WakeCause::of(over)).await?;
    }
    Ok(())
}
