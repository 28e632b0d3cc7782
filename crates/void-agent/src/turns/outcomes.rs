//! What became of what an agent asked for or drafted in earlier turns, after those turns had ended: the record's words for its next
//! prompt, with the owner's own in quotation marks. Without them an agent would go on by a line that was true when it was written.

use std::collections::BTreeSet;

use void_control::conversations::{self, Begun};
use void_control::{Control, StoreError};
use void_domain::conversations::{Message, Said, Truth};
use void_domain::ids::ProposalId;
use void_domain::proposals::{Cancellation, Proposal, State, Status};
use void_domain::text;
use void_domain::time::Timestamp;

/// The newest of those that had not ended with their turn.
const OUTCOMES_MAX: usize = 20;
/// So much of what the owner wrote.
const WORDS_BYTES_MAX: usize = 500;

/// What became of one, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProposalOutcome {
    pub at: Timestamp,
    pub words: String,
}

/// Of everything that was open when the turn which had made it ended.
pub(super) async fn since(
    control: &Control,
    begun: &Begun,
) -> Result<Vec<ProposalOutcome>, StoreError> {
    let open = open_ids(&begun.history);
    let mut outcomes = Vec::new();
    for proposal in conversations::proposals_of(control, open).await? {
        outcomes.extend(outcome(&proposal));
    }
    outcomes.sort_by_key(|outcome| outcome.at);
    Ok(outcomes)
}

fn open_ids(history: &[Message]) -> Vec<ProposalId> {
    let turns = history
        .iter()
        .rev()
        .filter_map(|message| match &message.said {
            Said::ByAgent(turn) => Some(&turn.truth),
            Said::ByOwner => None,
        });
    let mut seen = BTreeSet::new();
    let mut ids: Vec<ProposalId> = turns.flat_map(open_in).collect();
    ids.retain(|id| seen.insert(id.to_string()));
    ids.truncate(OUTCOMES_MAX);
    ids
}

fn open_in(truth: &Truth) -> impl Iterator<Item = ProposalId> + '_ {
    let items = truth.waits.iter().chain(&truth.unverified);
    let open = items.filter(|item| item.status != Status::Executed.as_str());
    open.filter_map(|item| item.id.parse().ok())
}

/// `None`: it is as open as it was.
fn outcome(proposal: &Proposal) -> Option<ProposalOutcome> {
    let (_, at) = proposal.resolution();
    let came = match &proposal.state {
        State::Pending | State::Approved { .. } | State::Running { .. } | State::Unknown { .. } => {
            return None;
        }
        State::Executed { .. } if proposal.subject.is_change() => {
            "was approved by the owner and is applied".to_owned()
        }
        State::Executed { .. } => match proposal.verification() {
            Some(seen) => format!("ran, and its check says: {}", seen.outcome.as_str()),
            None => "ran; nobody knows whether it helped".to_owned(),
        },
        State::Failed { failure, .. } => format!("failed ({})", failure.code),
        State::Rejected { reason, .. } => rejected(reason.as_deref()),
        State::Expired { .. } => "lapsed: nobody decided in time".to_owned(),
        State::Cancelled { why, .. } => cancelled(*why).to_owned(),
        State::Refused { failure, .. } => format!("was refused ({})", failure.code),
    };
    let (code, label) = (&proposal.code, &proposal.subject.label);
    Some(ProposalOutcome {
        at: at?,
        words: format!("{code} ({}) {came}", text::escaped(label)),
    })
}

const fn cancelled(why: Cancellation) -> &'static str {
    match why {
        Cancellation::Withdrawn => "was withdrawn",
        Cancellation::Vetoed => "was vetoed from above",
        Cancellation::BaseMoved => {
            "ended without a decision: what it would change was changed or thrown away meanwhile"
        }
        Cancellation::DefinitionChanged => "ended without a decision: the catalogue changed",
        Cancellation::Restored | Cancellation::NotOnRecord => {
            "ended without a decision: the record does not know it"
        }
    }
}

fn rejected(reason: Option<&str>) -> String {
    match reason.map(str::trim).filter(|words| !words.is_empty()) {
        Some(words) => {
            let cut = text::cut(words, WORDS_BYTES_MAX);
            let more = if cut.len() < words.len() { " …" } else { "" };
            let quoted = text::value_in_quotes(cut);
            format!("was rejected by the owner, who wrote: {quoted}{more}")
        }
        None => "was rejected by the owner, who gave no reason".to_owned(),
    }
}
