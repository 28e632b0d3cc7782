//! Which tools somebody has: by their capabilities, and by nothing else; those of a mailbox by a place in the tree (`mailboxes`).

use void_agent::tools::{self, REGISTRIES, Reach, TOOLS};
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
        let offered: Vec<&str> = tools::for_turn(&room.control, &ctx)
            .map(|tool| tool.name)
            .collect();
        for tool in TOOLS {
            let expected = match tool.name {
                // By where they stand, see `from_above` and `mailboxes`.
                _ if tool.reach != Reach::Anywhere => false,
                "read_record" => has(audit),
                "propose_action" => has(act),
                "propose_change" => has(Capability::Suggest),
                // With suggest alone it is for drafts.
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
