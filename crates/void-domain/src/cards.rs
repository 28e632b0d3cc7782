//! What the owner reads before deciding, on every surface: rendered by one pure function from the
//! stored proposal. The requester's own words are a field of their own and never part of a sentence
//! of ours (SECURITY R-A10).

use serde::Serialize;
use serde_json::Value;

use crate::catalogue::{Risk, Tier};
use crate::digests::Digest;
use crate::proposals::{Proposal, ProposedAction};
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Card {
    pub code: String,
    /// `Safe`, `Risky` or `Risky, may cut you off`.
    pub tier: &'static str,
    pub title: String,
    /// What will happen on yes.
    pub consequence: String,
    pub action_id: String,
    pub target: String,
    pub params: Value,
    pub digest: Digest,
    pub asked_by: String,
    pub asked_at: Timestamp,
    pub expires_at: Timestamp,
    /// The requester's words, marked as such wherever they are shown.
    pub words: Option<String>,
    /// What would change, in the requester's words too.
    pub diff: Option<String>,
    /// Foreign content that the requester had read.
    pub read_before: Vec<String>,
    pub inverse: Option<String>,
}

impl Card {
    pub fn of(proposal: &Proposal) -> Self {
        let wish = &proposal.wish;
        Self {
            code: proposal.code.to_string(),
            tier: tier_words(wish.tier, wish.risk),
            title: wish.label.clone(),
            consequence: consequence(wish),
            action_id: wish.action_id.to_string(),
            target: wish.target.clone(),
            params: wish.params.clone(),
            digest: wish.digest,
            asked_by: proposal.requested_by.name.clone(),
            asked_at: proposal.created_at,
            expires_at: proposal.expires_at,
            words: proposal.reason.clone(),
            diff: proposal.diff.clone(),
            read_before: proposal.taint.sources().to_vec(),
            inverse: written(wish, "inverse").map(str::to_owned),
        }
    }
}

pub const fn tier_words(tier: Tier, risk: Risk) -> &'static str {
    match (tier, risk) {
        (_, Risk::Critical) => "Risky, may cut you off",
        (Tier::Risky, _) | (Tier::Safe, Risk::Guarded) => "Risky",
        (Tier::Safe, Risk::Nominal) => "Safe",
    }
}

fn written<'a>(wish: &'a ProposedAction, name: &str) -> Option<&'a str> {
    wish.definition.get("action")?.get(name)?.as_str()
}

/// One sentence about the effect, from the definition alone.
fn consequence(wish: &ProposedAction) -> String {
    let word = |name| written(wish, name).unwrap_or("?");
    let guest = || {
        let vmid = wish
            .definition
            .pointer("/action/vmid")
            .and_then(Value::as_u64)
            .unwrap_or(0);
        let kind = written(wish, "guest").or_else(|| written(wish, "kindPath"));
        let kind = if kind == Some("qemu") { "VM" } else { "CT" };
        format!("{kind} {vmid} on {}", word("node"))
    };
    match (word("kind"), word("op")) {
        ("service_restart", _) => format!(
            "restarts {} on {}; it is away for a moment",
            word("service"),
            word("host")
        ),
        ("guest_power", "start") => format!("starts {}", guest()),
        ("guest_power", "stop") => {
            format!("pulls the plug of {}; unsaved work in it is lost", guest())
        }
        ("guest_power", "shutdown") => {
            format!("shuts down {}; it stays off until it is started", guest())
        }
        ("guest_power", "reboot") => {
            format!("reboots {}; it is away until it is up again", guest())
        }
        ("deploy_service", _) => format!("deploys {} on {}", word("service"), word("node")),
        ("restart_service", _) => format!(
            "restarts {} on {}; it is away for a moment",
            word("service"),
            word("node")
        ),
        ("rollback", _) => format!(
            "rolls {} on {} back to what ran before the last deploy",
            word("service"),
            word("node")
        ),
        ("scale", _) => format!(
            "changes how many copies of {} run on {}",
            word("service"),
            word("node")
        ),
        (kind, _) => format!("runs an action of kind {kind} on {}", wish.target),
    }
}
