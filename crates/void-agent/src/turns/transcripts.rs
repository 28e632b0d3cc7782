//! What a turn has come to so far; whoever ends it finds it whole.

use void_control::conversations::{Begun, truth_of};
use void_control::{Control, StoreError};
use void_domain::conversations::{Said, Step, Truth, Usage};
use void_domain::failures::FailureCode;
use void_domain::ids::ActionId;
use void_domain::taint::Taint;

use crate::tools::Notes;

#[derive(Debug, Clone, Default)]
pub(super) struct Transcript {
    pub body: String,
    pub trace: Vec<Step>,
    pub usage: Usage,
    pub taint: Taint,
    /// Proposals that it made, in order.
    pub proposals: Notes,
    /// Wishes that did not become proposals: action id and reason.
    pub refused: Vec<(String, FailureCode)>,
    /// What the brain calls this conversation.
    pub session: Option<String>,
    /// Tool calls so far.
    pub calls: usize,
    /// Bytes of the question that is being answered and of the answer so far.
    pub unsettled_bytes: Option<usize>,
}

impl Transcript {
    /// What is known when a turn begins. A second attempt also knows what the first one did.
    pub(super) fn of(begun: &Begun) -> Self {
        let proposals = Notes::default();
        for id in begun.turn.truth.ids() {
            proposals.add(id);
        }
        Self {
            taint: taint_of(begun),
            proposals,
            session: session_of(begun),
            ..Self::default()
        }
    }

    /// What became of everything the turn proposed, by the record.
    pub(super) async fn truth(&self, control: &Control) -> Result<Truth, StoreError> {
        let mut truth = truth_of(control, self.proposals.all()).await?;
        for (named, reason) in &self.refused {
            // What a model made up can read like a sentence of the server's: only what the catalogue has is repeated.
            let known = ActionId::parse(named).ok();
            let known = known.filter(|id| control.catalogue().get(id).is_some());
            truth.add_refusal(
                known.as_ref().map_or("", ActionId::as_str),
                (*reason).into(),
            );
        }
        let before = truth_of(control, self.proposals.seen()).await?;
        truth.before = (!before.is_empty()).then(|| Box::new(before));
        Ok(truth)
    }
}

/// Foreign content stays in the history as long as what was derived from it does.
fn taint_of(begun: &Begun) -> Taint {
    let mut taint = begun.turn.tainted_by.clone();
    for message in &begun.history {
        if let Said::ByAgent(turn) = &message.said {
            for source in turn.tainted_by.sources() {
                taint.add(source);
            }
        }
    }
    taint
}

/// The brain's own name for the conversation, if the same brain answered before.
fn session_of(begun: &Begun) -> Option<String> {
    let last = begun
        .history
        .iter()
        .rev()
        .find_map(|message| match &message.said {
            Said::ByAgent(turn) => Some(turn),
            Said::ByOwner => None,
        });
    let last = last.filter(|turn| turn.brain == begun.turn.brain);
    begun
        .turn
        .session
        .clone()
        .or_else(|| last.and_then(|turn| turn.session.clone()))
}
