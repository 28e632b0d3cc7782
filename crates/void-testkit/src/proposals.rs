//! Proposals for tests that are not about where proposals come from.

use serde_json::json;
use void_domain::actors::{Actor, Surface};
use void_domain::catalogue::{Risk, Tier};
use void_domain::digests::Digest;
use void_domain::executions::Execution;
use void_domain::ids::{ActionId, ProposalCode, ProposalId};
use void_domain::proposals::{Joined, Moved, Proposal, ProposedAction, Run, State};
use void_domain::taint::Taint;
use void_domain::time::Timestamp;

/// A moment that all tests share.
pub const NOW: Timestamp = Timestamp::from_ms(1_800_000_000_000);

/// The `n`-th pending proposal: own id, code, digest and target.
pub fn pending(n: u32) -> Moved {
    let [a, b, c, d] = n.to_be_bytes();
    let definition = json!({
        "action": {"kind": "guest_power", "node": "z", "vmid": 107, "op": "stop"}, "host": null,
    });
    let proposal = Proposal {
        id: ProposalId::new(NOW, [a, b, c, d, 0, 0, 0, 0, 0, 0]),
        code: ProposalCode::from_random(&[a % 32, b % 32, c / 8, c % 32, d / 8, d % 32]),
        subject: ProposedAction {
            action_id: ActionId::parse("stop-ct107").expect("a valid id"),
            label: "Stop iVentoy (CT 107)".into(),
            execution: Execution::from_definition(&definition),
            definition,
            params: json!({}),
            tier: Tier::Risky,
            risk: Risk::Guarded,
            target: format!("guest:z/{n}"),
            digest: Digest::of(format!("digest {n}").as_bytes()),
            exec_digest: Digest::of(format!("exec {n}").as_bytes()),
        },
        requested_by: Actor::Owner {
            surface: Surface::Cli,
        }
        .requester(),
        reason: Some("because".into()),
        diff: None,
        taint: Taint::clean(),
        count: 1,
        joined: Joined::default(),
        revision: 0,
        created_at: NOW,
        expires_at: Timestamp::from_ms(NOW.as_ms() + 86_400_000),
        state: State::Pending,
    };
    proposal.created("owner-cli")
}

pub const fn run_at(at: Timestamp) -> Run {
    Run {
        started_at: at,
        ticket_expires_at: Timestamp::from_ms(at.as_ms() + 60_000),
        lease_until: Timestamp::from_ms(at.as_ms() + 180_000),
    }
}
