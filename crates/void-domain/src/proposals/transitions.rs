//! The moves. Each consumes the proposal and either returns the next one with the step it made, or
//! names the move that does not exist.

#[cfg(test)]
mod tests;

use serde_json::Value;

use super::{
    Approval, Cancellation, Failure, Proposal, Run, State, Status, Transition, Verification,
};
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    pub proposal: Proposal,
    pub transition: Transition,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a proposal that is {} cannot become {}", from.as_str(), to.as_str())]
pub struct InvalidTransition {
    pub from: Status,
    pub to: Status,
}

type Outcome = Result<Moved, InvalidTransition>;

impl Proposal {
    /// The first step of a new proposal, whatever state policy gave it.
    pub fn created(self, by: &str) -> Moved {
        let at = self.created_at;
        let transition = Transition {
            from: None,
            to: self.status(),
            at,
            by: by.to_owned(),
        };
        Moved {
            proposal: self,
            transition,
        }
    }

    pub fn approve(self, by: &str, at: Timestamp) -> Outcome {
        match self.state {
            State::Pending => {
                let approval = Approval {
                    by: by.to_owned(),
                    at,
                };
                Ok(self.into_state(State::Approved { approval }, at, by))
            }
            _ => Err(self.cannot_become(Status::Approved)),
        }
    }

    pub fn reject(self, by: &str, at: Timestamp, reason: Option<String>) -> Outcome {
        match self.state {
            State::Pending => {
                let state = State::Rejected {
                    by: by.to_owned(),
                    at,
                    reason,
                };
                Ok(self.into_state(state, at, by))
            }
            _ => Err(self.cannot_become(Status::Rejected)),
        }
    }

    pub fn cancel(self, by: &str, at: Timestamp, why: Cancellation) -> Outcome {
        let allowed = match (&self.state, why) {
            (State::Pending, _) => true,
            // A yes that has not started yet is void when what it was given for is gone, or whoever asked for it, and when
            // the owner takes it back.
            (
                State::Approved { .. },
                Cancellation::Withdrawn
                | Cancellation::DefinitionChanged
                | Cancellation::Restored
                | Cancellation::NotOnRecord,
            ) => true,
            // What policy let through; a person's yes is not vetoed.
            (State::Approved { approval }, Cancellation::Vetoed) => approval.is_by_policy(),
            _ => false,
        };
        if !allowed {
            return Err(self.cannot_become(Status::Cancelled));
        }
        let state = State::Cancelled {
            by: by.to_owned(),
            at,
            why,
        };
        Ok(self.into_state(state, at, by))
    }

    /// Policy takes its own yes back, as long as it has not started. A person's yes is not policy's to take.
    pub fn refuse(self, at: Timestamp, failure: Failure) -> Outcome {
        match &self.state {
            State::Approved { approval } if approval.is_by_policy() => {
                Ok(self.into_state(State::Refused { at, failure }, at, Approval::POLICY))
            }
            _ => Err(self.cannot_become(Status::Refused)),
        }
    }

    /// Nobody decided in time, or the approval was not used in time.
    pub fn expire(mut self, at: Timestamp) -> Outcome {
        let lapsed = match self.state {
            State::Pending => None,
            State::Approved { approval } => Some(approval),
            other => {
                self.state = other;
                return Err(self.cannot_become(Status::Expired));
            }
        };
        self.state = match &lapsed {
            None => State::Pending,
            Some(approval) => State::Approved {
                approval: approval.clone(),
            },
        };
        Ok(self.into_state(State::Expired { at, lapsed }, at, "system"))
    }

    /// The claim. Whoever commits this, and nobody else, may execute.
    pub fn start(self, run: Run) -> Outcome {
        self.start_by("system", run)
    }

    /// The same by somebody else's hand: a foreign executor took the file.
    pub fn start_by(mut self, by: &str, run: Run) -> Outcome {
        match self.state {
            State::Approved { ref approval } => {
                let approval = approval.clone();
                Ok(self.into_state(State::Running { approval, run }, run.started_at, by))
            }
            other => {
                self.state = other;
                Err(self.cannot_become(Status::Running))
            }
        }
    }

    /// The machine was busy and started nothing: a person's yes is not used up by that. It lapses when it would have.
    pub fn put_back(self, at: Timestamp) -> Outcome {
        match &self.state {
            State::Running { approval, .. } if !approval.is_by_policy() => {
                let approval = approval.clone();
                Ok(self.into_state(State::Approved { approval }, at, "system"))
            }
            _ => Err(self.cannot_become(Status::Approved)),
        }
    }

    /// It is known to have been done: by the answer, by later evidence, or by the owner's word.
    pub fn succeed(self, at: Timestamp, by: &str, result: Value) -> Outcome {
        match self.open_run() {
            Some((approval, run)) => {
                let state = State::Executed {
                    approval,
                    run,
                    at,
                    result,
                    verification: None,
                };
                Ok(self.into_state(state, at, by))
            }
            None => Err(self.cannot_become(Status::Executed)),
        }
    }

    /// It is known not to have been done, or to have been tried and failed.
    pub fn fail(self, at: Timestamp, by: &str, failure: Failure) -> Outcome {
        match self.open_run() {
            Some((approval, run)) => {
                let state = State::Failed {
                    approval,
                    run,
                    at,
                    failure,
                    settled_by: by.to_owned(),
                };
                Ok(self.into_state(state, at, by))
            }
            None => Err(self.cannot_become(Status::Failed)),
        }
    }

    /// Nobody knows whether it was done.
    pub fn mark_unknown(self, at: Timestamp, failure: Failure) -> Outcome {
        match &self.state {
            State::Running { approval, run } => {
                let state = State::Unknown {
                    approval: approval.clone(),
                    run: *run,
                    at,
                    failure,
                };
                Ok(self.into_state(state, at, "system"))
            }
            _ => Err(self.cannot_become(Status::Unknown)),
        }
    }

    /// Records the check after the run. The state stays *executed*; a check is recorded once.
    pub fn verify(mut self, seen: Verification) -> Result<Self, InvalidTransition> {
        match &mut self.state {
            State::Executed {
                verification: verification @ None,
                ..
            } => {
                *verification = Some(seen);
                Ok(self)
            }
            _ => Err(self.cannot_become(Status::Executed)),
        }
    }

    /// A run whose end is not recorded yet.
    fn open_run(&self) -> Option<(Approval, Run)> {
        match &self.state {
            State::Running { approval, run } | State::Unknown { approval, run, .. } => {
                Some((approval.clone(), *run))
            }
            _ => None,
        }
    }

    fn into_state(mut self, state: State, at: Timestamp, by: &str) -> Moved {
        let from = Some(self.status());
        self.state = state;
        let transition = Transition {
            from,
            to: self.status(),
            at,
            by: by.to_owned(),
        };
        Moved {
            proposal: self,
            transition,
        }
    }

    fn cannot_become(&self, to: Status) -> InvalidTransition {
        InvalidTransition {
            from: self.status(),
            to,
        }
    }
}
