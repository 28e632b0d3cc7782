//! Which tools somebody has: by their capabilities, and by nothing else.

use void_agent::tools::{self, REGISTRIES, TOOLS};
use void_domain::capabilities::Capability;

use super::agent;
use crate::rooms::room;

/// Every set of capabilities: the tools are those whose capability is in it, wherever they are asked for.
#[tokio::test]
async fn the_tools_follow_from_the_capabilities() {
    let (room, _) = room([]).await;
    let (read, act, audit) = (Capability::Read, Capability::Act, Capability::AuditRead);
    let caller = agent(&room).await;
    for set in 0..1_u32 << Capability::ALL.len() {
        let held = Capability::ALL.into_iter().enumerate();
        let held = held.filter(|(n, _)| set & (1 << n) != 0);
        let mut ctx = caller.ctx.clone();
        ctx.capabilities = held.map(|(_, capability)| capability).collect();
        let has = |capability| ctx.capabilities.has(capability);
        let offered: Vec<&str> = tools::for_chat(&ctx).map(|tool| tool.name).collect();
        for tool in TOOLS {
            let expected = match tool.name {
                "read_record" => has(audit),
                "propose_action" => has(act),
                "propose_change" => has(Capability::Suggest),
                // With suggest alone it is for drafts.
                "request_init_config" | "write_config" | "request_apply_commit" => {
                    has(Capability::Spawn) && !ctx.is_from_outside
                }
                "request_update_meta_inputs" => has(Capability::MetaUpdate) && !ctx.is_from_outside,
                "withdraw_proposal" => has(act) || has(Capability::Suggest),
                _ => has(read) || has(act) || has(Capability::Suggest),
            };
            assert_eq!(
                offered.contains(&tool.name),
                expected,
                "{} {set:b}",
                tool.name
            );
            for registry in &REGISTRIES {
                let here = registry.for_caller(&ctx).any(|one| one.name == tool.name);
                assert_eq!(here, expected && registry.get(tool.name).is_some());
            }
        }
    }
}
