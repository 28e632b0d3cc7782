//! Who has a tool of the tree.

use serde_json::json;
use void_domain::actors::{Actor, Surface};
use void_domain::ids::{AgentId, RequestId, TokenId};
use void_domain::time::Timestamp;

use super::*;

const fn of_the_tree(needs: &'static [Capability]) -> Tool {
    Tool {
        name: "send",
        title: "Send",
        description: "",
        needs,
        reach: Reach::Tree,
        effect: Effect::Reads,
        arguments: || json!({}),
        result: || json!({}),
        run: |_| Box::pin(async { Ok(Outcome::of(json!({}))) }),
    }
}

fn ctx(actor: Actor, is_from_outside: bool, capabilities: &[Capability]) -> Ctx {
    let at = Timestamp::from_ms(1);
    Ctx {
        actor,
        is_from_outside,
        token: is_from_outside.then(|| TokenId::new(at, [1; 10])),
        capabilities: capabilities.iter().copied().collect(),
        ..Ctx::system(RequestId::new(at, [2; 10]))
    }
}

#[test]
fn a_tool_of_the_tree_is_for_agents_in_turns_of_the_server() {
    let agent = || Actor::Agent {
        id: AgentId::new(Timestamp::from_ms(1), [3; 10]),
        name: "alice".parse().unwrap(),
    };
    let surface = Surface::Cli;
    let (free, spawning) = (of_the_tree(&[]), of_the_tree(&[Capability::Spawn]));
    let all = Capability::ALL;
    // In its turn an agent needs no capability for what where it stands decides, and the right one where one is asked for.
    assert!(free.is_for(&ctx(agent(), false, &[])));
    assert!(!spawning.is_for(&ctx(agent(), false, &[Capability::Read])));
    assert!(spawning.is_for(&ctx(agent(), false, &[Capability::Spawn])));
    // A token from outside, a person and the server itself stand nowhere, whatever they may.
    for tool in [&free, &spawning] {
        for outside in [
            ctx(agent(), true, &all),
            ctx(Actor::Owner { surface }, true, &all),
            ctx(Actor::Owner { surface }, false, &all),
            ctx(Actor::System, false, &all),
        ] {
            assert!(!tool.is_for(&outside), "{:?}", outside.actor);
        }
        assert_eq!(tool.denied().code, FailureCode::Forbidden);
    }
}
