//! What a node says about a command: lines while it runs, the answer when it has ended. Saying it again changes
//! nothing, and what nobody waits for any more is in the node's journal.

use serde_json::Value;
use void_channels::Reported;
use void_domain::actors::Actor;
use void_domain::fail_point;
use void_domain::permits::Ticket;
use void_domain::proposals::{Proposal, Status};

use crate::context::Ctx;
use crate::control::Control;

pub struct Report {
    pub command: String,
    pub lines: Vec<String>,
    /// `None` while it runs. `Some(None)`: it ended without an answer.
    pub answer: Option<Option<Value>>,
}

/// What a run on a node has said so far; nothing once it has ended.
pub fn progress(control: &Control, proposal: &Proposal) -> Vec<String> {
    let execution = proposal.subject.execution();
    match (proposal.status(), execution, Ticket::of(proposal)) {
        (Status::Running, Some(execution), Some(ticket)) => {
            control.runs.channels.progress(execution, &ticket)
        }
        _ => Vec::new(),
    }
}

/// Only about commands on the reporting node's own mailbox.
pub fn report(control: &Control, ctx: &Ctx, report: Report) {
    let Actor::Node { name, .. } = &ctx.actor else {
        return;
    };
    fail_point!("node.report.before");
    let ended = report.answer.map(Reported::of);
    let nodes = control.runs.channels.nodes();
    nodes.report(name, &report.command, report.lines, ended);
    fail_point!("node.report.after");
}
