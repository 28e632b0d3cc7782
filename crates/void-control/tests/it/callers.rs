//! Who calls a use case.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use void_control::Ctx;
use void_domain::actors::{Actor, Surface};
use void_domain::capabilities::{Capabilities, Capability};
use void_domain::ids::{AgentId, RequestId, TokenId};
use void_testkit::proposals::NOW;

fn ctx(actor: Actor, capabilities: Capabilities) -> Ctx {
    static REQUESTS: AtomicU8 = AtomicU8::new(0);
    let number = REQUESTS.fetch_add(1, Ordering::Relaxed);
    Ctx {
        actor,
        capabilities,
        request_id: RequestId::new(NOW, [number; 10]),
        authenticated_ago: None,
        is_from_outside: false,
        token: None,
    }
}

/// The same name is the same token, and the same agent, in every test.
fn random(name: &str) -> [u8; 10] {
    let mut random = [0; 10];
    for (byte, letter) in random.iter_mut().zip(name.bytes()) {
        *byte = letter;
    }
    random
}

fn token(name: &str) -> TokenId {
    TokenId::new(NOW, random(name))
}

/// With the token, on the command line.
pub fn owner() -> Ctx {
    owner_on(Surface::Cli, None)
}

pub fn owner_on(surface: Surface, authenticated_ago: Option<Duration>) -> Ctx {
    Ctx {
        authenticated_ago,
        ..ctx(Actor::Owner { surface }, Capabilities::none())
    }
}

/// One that may do whatever an agent can be allowed to.
pub fn agent(name: &str) -> Ctx {
    agent_with(name, &Capability::ALL)
}

pub fn agent_with(name: &str, capabilities: &[Capability]) -> Ctx {
    let actor = Actor::Agent {
        id: AgentId::new(NOW, random(name)),
        name: name.parse().unwrap(),
    };
    ctx(actor, capabilities.iter().copied().collect())
}

/// Everybody but the owner, each with every capability there is.
pub fn others() -> [Ctx; 4] {
    let all = || Capability::ALL.into_iter().collect();
    let (id, name) = (token("other"), "other".to_owned());
    let viewer = Actor::Viewer {
        id,
        name: name.clone(),
    };
    let node = Actor::Node { id, name };
    [
        agent("blue"),
        ctx(viewer, all()),
        ctx(node, all()),
        ctx(Actor::System, all()),
    ]
}
