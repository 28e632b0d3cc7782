//! What the place of a file tells. One pure function over (record, place); doubt means that the file goes
//! back to where the record says.

use super::Place;
use crate::actors::{Actor, Surface};
use crate::proposals::{Proposal, Status};

#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// It is where it belongs.
    None,
    /// The record has moved on; the file follows.
    Follow,
    /// Somebody decided by moving it. The decision may come too late, or may not be allowed here.
    Approve,
    Reject,
    /// A foreign executor took it.
    Claim,
    /// A foreign executor reports its end.
    Done,
    Failed,
    /// It says nothing that Void believes; the file goes back, and its history says why.
    PutBack(&'static str),
}

impl Move {
    pub fn read(proposal: &Proposal, offered: bool, place: Place) -> Self {
        if place == Place::of(proposal, offered) {
            return Self::None;
        }
        let by_file = proposal.wish.is_by_file();
        if place == Place::Approved && !by_file && was_approved_by_file(proposal) {
            // The very move that approved it.
            return Self::Follow;
        }
        match proposal.status() {
            Status::Pending => of_pending(by_file, place),
            Status::Approved => of_approved(by_file, offered, place),
            Status::Running | Status::Unknown if by_file => of_taken(place),
            Status::Running | Status::Unknown => of_own_run(place),
            Status::Executed
            | Status::Failed
            | Status::Rejected
            | Status::Expired
            | Status::Cancelled
            | Status::Refused => of_ended(proposal, by_file, place),
        }
    }
}

fn was_approved_by_file(proposal: &Proposal) -> bool {
    let by_file = Actor::Owner {
        surface: Surface::File,
    };
    let approval = proposal.approval();
    approval.is_some_and(|approval| approval.by == by_file.to_string())
}

const NOT_BY_FILE: &str = "only actions marked \"via\": \"file\" are executed by others";

const fn of_pending(by_file: bool, place: Place) -> Move {
    match place {
        Place::Approved => Move::Approve,
        Place::Rejected => Move::Reject,
        // Two steps at once: the first one is judged first.
        Place::Running | Place::Completed | Place::Failed if by_file => Move::Approve,
        Place::Running | Place::Completed | Place::Failed => Move::PutBack(NOT_BY_FILE),
        Place::Pending => Move::None,
    }
}

const fn of_approved(by_file: bool, offered: bool, place: Place) -> Move {
    match place {
        Place::Running | Place::Completed | Place::Failed if by_file => Move::Claim,
        Place::Running | Place::Completed | Place::Failed => Move::PutBack(NOT_BY_FILE),
        Place::Rejected => Move::Reject,
        Place::Approved if by_file => Move::Follow,
        Place::Approved => Move::Approve,
        Place::Pending if offered => Move::PutBack("it was approved already"),
        Place::Pending => Move::None,
    }
}

/// A foreign executor has it in its hands.
const fn of_taken(place: Place) -> Move {
    match place {
        Place::Completed => Move::Done,
        Place::Failed => Move::Failed,
        Place::Pending | Place::Approved | Place::Rejected => {
            Move::PutBack("it was taken already, and nothing is known of its end")
        }
        Place::Running => Move::None,
    }
}

const fn of_own_run(place: Place) -> Move {
    match place {
        Place::Approved => Move::Approve,
        Place::Rejected => Move::Reject,
        Place::Completed | Place::Failed => Move::PutBack(NOT_BY_FILE),
        Place::Pending | Place::Running => Move::Follow,
    }
}

fn of_ended(proposal: &Proposal, by_file: bool, place: Place) -> Move {
    let never_ran = proposal.run().is_none();
    match place {
        Place::Running | Place::Completed | Place::Failed if by_file && never_ran => {
            Move::PutBack("it was taken after it had ended; whether anything was done is not known")
        }
        // An offer that lapsed, or was withdrawn by a restart.
        Place::Approved if by_file && proposal.approval().is_some() => Move::Follow,
        Place::Approved => Move::Approve,
        Place::Rejected => Move::Reject,
        Place::Pending | Place::Running | Place::Completed | Place::Failed => Move::Follow,
    }
}
