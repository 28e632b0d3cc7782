//! What the place of a file tells. One pure function over (record, place); doubt means that the file goes
//! back to where the record says.

use super::StatusFolder;
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
    pub fn read(proposal: &Proposal, offered: bool, place: StatusFolder) -> Self {
        if place == StatusFolder::of(proposal, offered) {
            return Self::None;
        }
        let by_file = proposal.subject.is_by_file();
        if place == StatusFolder::Approved && !by_file && was_approved_by_file(proposal) {
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

const fn of_pending(by_file: bool, place: StatusFolder) -> Move {
    match place {
        StatusFolder::Approved => Move::Approve,
        StatusFolder::Rejected => Move::Reject,
        // Two steps at once: the first one is judged first.
        StatusFolder::Running | StatusFolder::Completed | StatusFolder::Failed if by_file => {
            Move::Approve
        }
        StatusFolder::Running | StatusFolder::Completed | StatusFolder::Failed => {
            Move::PutBack(NOT_BY_FILE)
        }
        StatusFolder::Pending => Move::None,
    }
}

const fn of_approved(by_file: bool, offered: bool, place: StatusFolder) -> Move {
    match place {
        StatusFolder::Running | StatusFolder::Completed | StatusFolder::Failed if by_file => {
            Move::Claim
        }
        StatusFolder::Running | StatusFolder::Completed | StatusFolder::Failed => {
            Move::PutBack(NOT_BY_FILE)
        }
        StatusFolder::Rejected => Move::Reject,
        StatusFolder::Approved if by_file => Move::Follow,
        StatusFolder::Approved => Move::Approve,
        StatusFolder::Pending if offered => Move::PutBack("it was approved already"),
        StatusFolder::Pending => Move::None,
    }
}

/// A foreign executor has it in its hands.
const fn of_taken(place: StatusFolder) -> Move {
    match place {
        StatusFolder::Completed => Move::Done,
        StatusFolder::Failed => Move::Failed,
        StatusFolder::Pending | StatusFolder::Approved | StatusFolder::Rejected => {
            Move::PutBack("it was taken already, and nothing is known of its end")
        }
        StatusFolder::Running => Move::None,
    }
}

const fn of_own_run(place: StatusFolder) -> Move {
    match place {
        StatusFolder::Approved => Move::Approve,
        StatusFolder::Rejected => Move::Reject,
        StatusFolder::Completed | StatusFolder::Failed => Move::PutBack(NOT_BY_FILE),
        StatusFolder::Pending | StatusFolder::Running => Move::Follow,
    }
}

fn of_ended(proposal: &Proposal, by_file: bool, place: StatusFolder) -> Move {
    let never_ran = proposal.run().is_none();
    match place {
        StatusFolder::Running | StatusFolder::Completed | StatusFolder::Failed
            if by_file && never_ran =>
        {
            Move::PutBack("it was taken after it had ended; whether anything was done is not known")
        }
        // An offer that lapsed, or was withdrawn by a restart.
        StatusFolder::Approved if by_file && proposal.approval().is_some() => Move::Follow,
        StatusFolder::Approved => Move::Approve,
        StatusFolder::Rejected => Move::Reject,
        StatusFolder::Pending
        | StatusFolder::Running
        | StatusFolder::Completed
        | StatusFolder::Failed => Move::Follow,
    }
}
