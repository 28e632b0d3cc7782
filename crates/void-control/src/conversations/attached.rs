//! Conversations that belong somewhere: the one that a space has with an agent beside whatever is looked at in it, and those
//! about a page, a task, a service…

use void_domain::conversations::{Conversation, ConversationSubject, SearchedWords};
use void_domain::ids::{ConversationId, SpaceId};
use void_store::{Page, StoreError, Tx, conversations, spaces};

use super::TurnError;
use super::searches::{FoundConversation, told};
use crate::context::Ctx;
use crate::control::Control;
use crate::knowledge::writing;
use crate::random;

/// The conversation of a space with an agent: found, or made. However many ask at once, it is one.
pub async fn ambient(
    control: &Control,
    ctx: &Ctx,
    space: SpaceId,
    agent: &str,
) -> Result<Conversation, TurnError> {
    if !ctx.actor.is_owner() {
        return Err(TurnError::OwnerOnly);
    }
    let new = new(control, agent, Some(space), None)?;
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                if !spaces::is_there(tx, space).await? {
                    return Err(TurnError::NotFound);
                }
                match conversations::ambient(tx, space, &new.agent).await? {
                    Some(found) => Ok(found),
                    None => insert(tx, new).await,
                }
            })
        })
        .await
}

/// Ends the conversation of a space with an agent and makes the next one; what was said stays readable. One that nobody has
/// said anything in is new enough, so of many who ask at once all are given the same.
pub async fn begin_ambient(
    control: &Control,
    ctx: &Ctx,
    space: SpaceId,
    agent: &str,
) -> Result<Conversation, TurnError> {
    if !ctx.actor.is_owner() {
        return Err(TurnError::OwnerOnly);
    }
    let new = new(control, agent, Some(space), None)?;
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                if !spaces::is_there(tx, space).await? {
                    return Err(TurnError::NotFound);
                }
                if let Some(old) = conversations::ambient(tx, space, &new.agent).await? {
                    if conversations::next_seq(tx, old.id).await? == 1 {
                        return Ok(old);
                    }
                    if let Some(running) = conversations::running_in(tx, old.id).await? {
                        return Err(TurnError::Busy(running.id));
                    }
                    conversations::end(tx, old.id, new.created_at).await?;
                }
                insert(tx, new).await
            })
        })
        .await
}

/// The conversation with an agent about something that goes on, or a first one. What is about an entity belongs to its
/// space.
pub async fn about(
    control: &Control,
    ctx: &Ctx,
    agent: &str,
    subject: ConversationSubject,
) -> Result<Conversation, TurnError> {
    if !ctx.actor.is_owner() {
        return Err(TurnError::OwnerOnly);
    }
    let is_known = match &subject {
        ConversationSubject::Entity(_) => true,
        ConversationSubject::Service(id) => control.lab.watch.is_watched(id),
        ConversationSubject::Action(id) => control.in_force.catalogue.get(id).is_some(),
    };
    if !is_known {
        return Err(TurnError::NotFound);
    }
    let new = new(control, agent, None, Some(subject.clone()))?;
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let space_id = match &subject {
                    ConversationSubject::Entity(id) => {
                        let found = writing::live(tx, *id).await?;
                        Some(found.ok_or(TurnError::NotFound)?.head.space_id)
                    }
                    ConversationSubject::Service(_) | ConversationSubject::Action(_) => None,
                };
                match conversations::newest_about(tx, &new.agent, &subject).await? {
                    Some(found) => Ok(found),
                    None => insert(tx, Conversation { space_id, ..new }).await,
                }
            })
        })
        .await
}

async fn insert(tx: &mut Tx, new: Conversation) -> Result<Conversation, TurnError> {
    conversations::insert(tx, &new).await?;
    Ok(new)
}

fn new(
    control: &Control,
    agent: &str,
    space_id: Option<SpaceId>,
    about: Option<ConversationSubject>,
) -> Result<Conversation, StoreError> {
    let at = control.clock.now();
    Ok(Conversation {
        id: ConversationId::new(at, random::bytes()?),
        agent: agent.to_owned(),
        space_id,
        about,
        created_at: at,
    })
}

/// All of a space in which something was said, newest first; with words those in which all of them were.
pub async fn list_in(
    control: &Control,
    space: SpaceId,
    words: Option<SearchedWords>,
    cursor: Option<ConversationId>,
    limit: u32,
) -> Result<Page<FoundConversation>, StoreError> {
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let words = words.as_ref();
                let page = conversations::list_in(tx, space, words, cursor, limit).await?;
                told(tx, page, words).await
            })
        })
        .await
}

/// All about something in which something was said, newest first; with words those in which all of them were.
pub async fn list_about(
    control: &Control,
    subject: ConversationSubject,
    words: Option<SearchedWords>,
    cursor: Option<ConversationId>,
    limit: u32,
) -> Result<Page<FoundConversation>, StoreError> {
    control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let words = words.as_ref();
                let page = conversations::list_about(tx, &subject, words, cursor, limit).await?;
                told(tx, page, words).await
            })
        })
        .await
}
