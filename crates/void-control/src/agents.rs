//! Agents: who acts here besides people, with which tokens, and how they stand to each other.
//!
//! An agent is made with its first token and withdrawn with its last. Its row stays, so that its name is never
//! another's; `tokens` decides who may ask for a token, and this module whose it is.

mod configured;
mod residents;
mod tokens;
mod withdraw;

use void_domain::agents::{Agent, AgentName};
use void_domain::ids::AgentId;
use void_store::{StoreError, agents, tokens as stored};

use crate::control::Control;

pub(crate) use self::configured::{Configured, configure, judge_free_name};
pub(crate) use self::residents::{Housed, residents};
pub use self::residents::{ResidentsError, admit_residents, give_resident_token, resident_ctx};
pub(crate) use self::tokens::{AskedToken, add_token, restore};
pub(crate) use self::withdraw::withdraw_without_tokens;

/// The agent of that name, live or withdrawn, if there ever was one.
pub async fn find(control: &Control, name: &AgentName) -> Result<Option<Agent>, StoreError> {
    let name = name.clone();
    control
        .store
        .read(move |tx| Box::pin(async move { agents::find_named(tx, &name).await }))
        .await
}

/// Whether it has a token that opens something: an agent whose tokens all came back with an older copy is
/// nobody until the owner confirms one.
pub async fn is_usable(control: &Control, id: AgentId) -> Result<bool, StoreError> {
    control
        .store
        .read(move |tx| Box::pin(stored::has_usable(tx, id)))
        .await
}
