//! Friction on a request that has not started: an agent above whoever asked, or the owner, holds it, vetoes it or puts
//! words beside it. Nothing here lets anything happen. A hold stays until the owner lifts it; whoever's hold was lifted
//! does not hold the same request again, so no agent can keep the owner from deciding.

#[cfg(test)]
mod tests;

use crate::agents::AgentName;
use crate::failures::FailureCode;
use crate::limits::{HOLD_ANNOTATIONS_MAX, HOLD_WORDS_BYTES_MAX, HOLDS_PER_PROPOSAL_MAX};
use crate::taint::Taint;
use crate::time::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HoldKind {
    /// It does not start, and no yes counts for it, until the owner lifts this.
    Hold,
    /// It ends, and this says why.
    Veto,
    /// Words beside it.
    Annotation,
}

impl HoldKind {
    pub const ALL: [Self; 3] = [Self::Hold, Self::Veto, Self::Annotation];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hold => "hold",
            Self::Veto => "veto",
            Self::Annotation => "annotation",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Whose it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum HoldBy {
    Agent(AgentName),
    Owner,
}

impl HoldBy {
    pub fn name(&self) -> &str {
        match self {
            Self::Agent(name) => name.as_str(),
            Self::Owner => "owner",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// From 1, in the order in which they came.
    pub number: u32,
    pub kind: HoldKind,
    pub by: HoldBy,
    pub words: String,
    /// What its writer had read by then that a stranger could have written.
    pub taint: Taint,
    pub at: Timestamp,
    /// Only a hold is lifted.
    pub lifted_at: Option<Timestamp>,
}

impl Hold {
    /// Whether it keeps the request from starting.
    pub const fn is_in_force(&self) -> bool {
        matches!(self.kind, HoldKind::Hold) && self.lifted_at.is_none()
    }

    /// One sentence of ours; the words are shown apart and marked.
    pub fn sentence(&self) -> String {
        let who = match &self.by {
            HoldBy::Agent(name) => name.as_str(),
            HoldBy::Owner => "the owner",
        };
        match (self.kind, self.lifted_at) {
            (HoldKind::Hold, None) => format!("held by {who}"),
            (HoldKind::Hold, Some(_)) => format!("held by {who}, lifted by the owner"),
            (HoldKind::Veto, _) => format!("vetoed by {who}"),
            (HoldKind::Annotation, _) => format!("{who} says something about it"),
        }
    }
}

/// The newest that keeps a request from starting.
pub fn in_force(holds: &[Hold]) -> Option<&Hold> {
    holds.iter().rev().find(|hold| hold.is_in_force())
}

/// Why nothing is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HoldRefusal {
    #[error("say why, in 1 to {HOLD_WORDS_BYTES_MAX} bytes")]
    Words,
    #[error("you hold it already")]
    Already,
    #[error("the owner lifted your hold of it, and decides")]
    Lifted,
    #[error("there is as much on it as there may be")]
    TooMany,
}

impl HoldRefusal {
    pub const fn code(self) -> FailureCode {
        match self {
            Self::Words => FailureCode::Invalid,
            Self::Already => FailureCode::NotNeeded,
            Self::Lifted => FailureCode::AlreadyDecided,
            Self::TooMany => FailureCode::TooMany,
        }
    }
}

/// Whether this may be added to what is there. A veto always fits: it ends the request.
pub fn judge(there: &[Hold], kind: HoldKind, by: &HoldBy, words: &str) -> Result<u32, HoldRefusal> {
    if words.trim().is_empty() || words.len() > HOLD_WORDS_BYTES_MAX {
        return Err(HoldRefusal::Words);
    }
    let own = |wanted: HoldKind| {
        let own = there.iter();
        own.filter(move |hold| hold.kind == wanted && hold.by == *by)
    };
    match kind {
        HoldKind::Veto => {}
        HoldKind::Hold if own(HoldKind::Hold).any(Hold::is_in_force) => {
            return Err(HoldRefusal::Already);
        }
        // The owner may think again.
        HoldKind::Hold if *by != HoldBy::Owner && own(HoldKind::Hold).next().is_some() => {
            return Err(HoldRefusal::Lifted);
        }
        HoldKind::Annotation if own(HoldKind::Annotation).count() >= HOLD_ANNOTATIONS_MAX => {
            return Err(HoldRefusal::TooMany);
        }
        HoldKind::Hold | HoldKind::Annotation if there.len() >= HOLDS_PER_PROPOSAL_MAX => {
            return Err(HoldRefusal::TooMany);
        }
        HoldKind::Hold | HoldKind::Annotation => {}
    }
    let last = there.iter().map(|hold| hold.number).max();
    Ok(last.unwrap_or(0).saturating_add(1))
}
