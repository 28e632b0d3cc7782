//! Somebody answers.

use void_domain::digests::Digest;
use void_domain::questions::{Question, QuestionOver, QuestionReply, ReplyChoice};
use void_domain::taint::Taint;
use void_domain::time::Timestamp;
use void_store::notifications::keys;
use void_store::{Tx, questions as stored};

use super::{EndError, QuestionKey, announce, load, standing};
use crate::context::Ctx;
use crate::control::Control;

#[derive(Debug, Clone)]
pub struct AnswerRequest {
    pub choice: ReplyChoice,
    /// What an agent that answers has read.
    pub taint: Taint,
    /// The key of the button that says so; it is used up with it.
    pub key: Option<Digest>,
}

pub async fn answer(
    control: &Control,
    ctx: &Ctx,
    key: QuestionKey,
    wanted: AnswerRequest,
) -> Result<Question, EndError> {
    let (this, ctx, context) = (control.clone(), ctx.clone(), control.context(ctx));
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                let found = load(tx, &key).await?.ok_or(EndError::NotFound)?;
                if !standing::may_see(&this, &ctx, &found) {
                    return Err(EndError::NotFound);
                }
                if !standing::may_answer(&this, &ctx, &found) {
                    return Err(EndError::NotAsked);
                }
                still_open(&this, &found)?;
                let reply = found.reply(wanted.choice)?;
                if let Some(key) = wanted.key
                    && !keys::use_up(tx, key, this.clock.now()).await?
                {
                    return Err(EndError::KeyUsed);
                }
                let taint = taint_of(&ctx, &found, &wanted.taint);
                let now = this.clock.now();
                let answered = answered(found, &context.actor, reply, taint, now)?;
                save(tx, &answered).await?;
                announce(tx, &context, now, &answered).await?;
                Ok(answered)
            })
        })
        .await
}

/// The owner's answer is the owner's. An agent's carries what it had read, and what it answers to: it read that too.
fn taint_of(ctx: &Ctx, question: &Question, read: &Taint) -> Taint {
    let mut taint = Taint::clean();
    if !ctx.actor.is_owner() {
        taint.unite(read);
        taint.unite(&question.taint);
    }
    taint
}

fn answered(
    question: Question,
    by: &str,
    reply: QuestionReply,
    taint: Taint,
    now: Timestamp,
) -> Result<Question, EndError> {
    let before = Box::new(question.clone());
    let moved = question.answer(by, reply, taint, now);
    moved.map_err(|over| EndError::Over {
        over,
        question: before,
    })
}

/// What is late by any clock is over.
pub(super) fn still_open(control: &Control, question: &Question) -> Result<(), EndError> {
    if question.is_open_at(control.clock.latest()) {
        return Ok(());
    }
    let over = match question.state.is_open() {
        true => "expired",
        false => question.state.as_str(),
    };
    Err(EndError::Over {
        over: QuestionOver(over),
        question: Box::new(question.clone()),
    })
}

/// Writes the end of a question, unless another instance was faster.
pub(super) async fn save(tx: &mut Tx, ended: &Question) -> Result<(), EndError> {
    if stored::end(tx, ended).await? {
        return Ok(());
    }
    let found = stored::find(tx, ended.id)
        .await?
        .ok_or(EndError::NotFound)?;
    Err(EndError::Over {
        over: QuestionOver(found.state.as_str()),
        question: Box::new(found),
    })
}
