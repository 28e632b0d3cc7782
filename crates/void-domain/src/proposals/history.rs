//! A proposal's history, read from the entries of the record about it.

#[cfg(test)]
mod tests;

use serde::Deserialize;

use super::{Approval, Cancellation, Status, Transition};
use crate::facts::Fact;

const SYSTEM: &str = "system";
/// Who took the file of an action that a foreign executor runs.
const FOREIGN_EXECUTOR: &str = "file";

/// What an entry says about the step that it is.
#[derive(Deserialize, Default)]
struct SaidStep {
    status: Option<String>,
    /// Who took the step; entries of older versions do not say it.
    by: Option<String>,
    approved_by: Option<String>,
    why: Option<String>,
}

/// The steps in the order of the record, from its entries about one proposal. `is_by_file`: a foreign executor runs it.
pub fn history(facts: &[Fact], is_by_file: bool) -> Vec<Transition> {
    let mut steps: Vec<Transition> = Vec::new();
    for fact in facts {
        let Some(to) = Status::of_verb(&fact.verb) else {
            continue;
        };
        let said: SaidStep = serde_json::from_str(&fact.detail).unwrap_or_default();
        // What policy approves at once is created and approved by two entries, and that is one step.
        let is_first_of_two = to == Status::Pending
            && said
                .status
                .as_deref()
                .is_some_and(|status| status != to.as_str());
        if is_first_of_two {
            continue;
        }
        let by = match said.by {
            Some(by) => by,
            None => by_of_older(fact, to, &said, is_by_file),
        };
        steps.push(Transition {
            from: steps.last().map(|step| step.to),
            to,
            at: fact.at,
            by,
        });
    }
    steps
}

/// Who took a step by an entry that does not name them. The entry's actor is in whose request it happened: a run that
/// begins with somebody's yes is started by Void.
fn by_of_older(fact: &Fact, to: Status, said: &SaidStep, is_by_file: bool) -> String {
    let by = match to {
        Status::Refused => Approval::POLICY,
        Status::Expired | Status::Unknown => SYSTEM,
        Status::Approved => said.approved_by.as_deref().unwrap_or(&fact.actor),
        Status::Cancelled if said.why.as_deref() != Some(Cancellation::Withdrawn.as_str()) => {
            SYSTEM
        }
        Status::Running if is_by_file => FOREIGN_EXECUTOR,
        Status::Running => SYSTEM,
        Status::Executed | Status::Failed if is_by_file && fact.actor == SYSTEM => FOREIGN_EXECUTOR,
        Status::Pending
        | Status::Executed
        | Status::Failed
        | Status::Rejected
        | Status::Cancelled => &fact.actor,
    };
    by.to_owned()
}
