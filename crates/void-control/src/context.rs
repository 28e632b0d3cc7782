//! Who is doing something, passed first to every use case.

use std::time::Duration;

use void_domain::actors::Actor;
use void_domain::agents::AgentName;
use void_domain::capabilities::Capabilities;
use void_domain::ids::{RequestId, TokenId};

#[derive(Debug, Clone)]
pub struct Ctx {
    pub actor: Actor,
    pub capabilities: Capabilities,
    /// Joins the log line, the answer and the audit entries of one operation.
    pub request_id: RequestId,
    /// How long ago the person proved who they are; `None` for bearer tokens.
    pub authenticated_ago: Option<Duration>,
    /// Whether the caller showed a credential from outside. What a turn or Void itself does has other bounds
    /// than the budgets of tokens (I36).
    pub is_from_outside: bool,
    /// The token that was shown. What its holder was given is marked on it, and is asked of the store whenever that counts.
    pub token: Option<TokenId>,
}

impl Ctx {
    /// The agent in whose name the server itself acts, in its turn: only it can stand anywhere in the tree. Whoever shows
    /// a token from outside is none, whatever it is called.
    pub fn member(&self) -> Option<&AgentName> {
        match &self.actor {
            Actor::Agent { name, .. } if !self.is_from_outside => Some(name),
            Actor::Owner { .. }
            | Actor::Agent { .. }
            | Actor::Viewer { .. }
            | Actor::Node { .. }
            | Actor::System => None,
        }
    }

    /// For what Void does by itself, in answer to this request.
    pub const fn system(request_id: RequestId) -> Self {
        Self {
            actor: Actor::System,
            capabilities: Capabilities::none(),
            request_id,
            authenticated_ago: None,
            is_from_outside: false,
            token: None,
        }
    }
}
