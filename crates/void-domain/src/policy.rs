//! May this run? One pure function for a request, one for an approval. Plain `match`, strictest first,
//! and the answer must be used. Both take everything they judge as arguments, so the tests are a
//! full matrix.

#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::actors::{ActorKind, Surface};
use crate::capabilities::{Capabilities, Capability};
use crate::catalogue::{Risk, Tier};
use crate::failures::FailureCode;
use crate::limits;
use crate::relations::Relation;
use crate::taint::Taint;
use crate::time::Timestamp;

/// A request to run an action with parameters that have already been checked against its declaration.
#[derive(Debug, Clone, Copy)]
pub struct PolicyInput<'a> {
    pub actor: ActorKind,
    pub capabilities: &'a Capabilities,
    /// How the requester stands to the agents that the action names.
    pub relation: Relation,
    pub tier: Tier,
    pub risk: Risk,
    pub taint: &'a Taint,
    pub brakes: Brakes,
    pub budget: Budget,
}

/// What holds an action back at this moment, whoever asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Brakes {
    pub frozen: bool,
    pub cooldown: Cooldown,
    pub cap: Cap,
}

impl Brakes {
    /// Why it does not run now; `None`: nothing holds it back.
    pub const fn refusal(self) -> Option<Refusal> {
        match self {
            Self { frozen: true, .. } => Some(Refusal::Frozen),
            Self {
                cooldown: Cooldown::Until(until),
                ..
            } => Some(Refusal::CoolingDown { until }),
            Self {
                cap: Cap::Reached { per_hour },
                ..
            } => Some(Refusal::CapReached { per_hour }),
            Self {
                frozen: false,
                cooldown: Cooldown::Over,
                cap: Cap::Free,
            } => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cooldown {
    Over,
    Until(Timestamp),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cap {
    Free,
    Reached { per_hour: u32 },
}

/// How many safe runs the requester has left in this hour. The owner's are not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    Left,
    Spent { per_hour: u32 },
}

/// How long whoever asks has to wait between two runs of an action. What is written binds everybody; where
/// nothing is, a safe action has a default for all but the owner, which a written 0 lifts.
pub fn cooldown(written: Option<Duration>, tier: Tier, actor: ActorKind) -> Option<Duration> {
    match (written, tier, actor) {
        (Some(Duration::ZERO), ..) => None,
        (Some(written), ..) => Some(written),
        (None, Tier::Safe, ActorKind::Owner) | (None, Tier::Risky, _) => None,
        (None, Tier::Safe, _) => Some(limits::SAFE_COOLDOWN),
    }
}

/// How many approvals a surface has left, where they are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    Left,
    Spent { per_day: u32 },
}

#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    RunNow,
    NeedsApproval(Vec<ApprovalReason>),
    Refused(Refusal),
}

/// Why a person has to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalReason {
    Risky,
    /// The requester has read what a stranger may have written.
    Tainted,
    /// The action names a descendant of the requester, not the requester.
    OnBehalf,
}

impl ApprovalReason {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Risky => "risky",
            Self::Tainted => "tainted",
            Self::OnBehalf => "on_behalf",
        }
    }
}

/// Why it does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// This kind of actor never proposes.
    WrongActor,
    NoCapability,
    /// The same for changes.
    NoSuggestion,
    /// The action names agents, and the requester is none of them.
    NotNamed,
    Frozen,
    CoolingDown {
        until: Timestamp,
    },
    CapReached {
        per_hour: u32,
    },
    /// The requester has started as many safe actions in an hour as an agent may.
    BudgetSpent {
        per_hour: u32,
    },
    /// The surface has approved as much in a day as the owner lets it.
    AllowanceSpent {
        per_day: u32,
    },
    /// Another proposal runs on the same target, is about to, or may.
    Busy,
    /// Too many proposals wait already.
    TooManyOpen {
        limit: u64,
    },
    /// It waits already, and other words were said about it a moment ago.
    WordsTooSoon {
        until: Timestamp,
    },
    /// Several instances share the database, and the catalogue does not say whose machine `local` is.
    AmbiguousHost,
    /// It runs on the machine of an instance that is not there.
    InstanceAway,
}

impl Refusal {
    /// The stable code that callers see.
    pub const fn code(self) -> FailureCode {
        match self {
            Self::WrongActor | Self::NoCapability | Self::NoSuggestion | Self::NotNamed => {
                FailureCode::Forbidden
            }
            Self::Frozen => FailureCode::Frozen,
            Self::CoolingDown { .. } => FailureCode::CoolingDown,
            Self::CapReached { .. } | Self::BudgetSpent { .. } | Self::AllowanceSpent { .. } => {
                FailureCode::CapReached
            }
            Self::Busy => FailureCode::Busy,
            Self::TooManyOpen { .. } | Self::WordsTooSoon { .. } => FailureCode::RateLimited,
            Self::AmbiguousHost => FailureCode::AmbiguousHost,
            Self::InstanceAway => FailureCode::InstanceAway,
        }
    }

    pub fn message(self) -> String {
        match self {
            Self::WrongActor => "only the owner and agents propose actions".to_owned(),
            Self::NoCapability => "this token does not have the capability act".to_owned(),
            Self::NoSuggestion => "this token does not have the capability suggest".to_owned(),
            Self::NotNamed => "the catalogue lets only other agents propose this action".to_owned(),
            Self::Frozen => {
                "everything is frozen; nothing new starts until the owner thaws it".to_owned()
            }
            Self::CoolingDown { until } => {
                format!("this action ran a moment ago; it may run again at {until}")
            }
            Self::CapReached { per_hour } => {
                format!("this action has run {per_hour} times in the last hour, which is its limit")
            }
            Self::BudgetSpent { per_hour } => {
                format!("this agent has started {per_hour} safe actions in the last hour, which is its limit; wait, or let the owner run it")
            }
            Self::AllowanceSpent { per_day } => {
                format!("nothing ran: {per_day} approvals in a day are the limit here; approve it on the web or on the command line")
            }
            Self::Busy => {
                "something else is running on the same target or about to, or how its last run ended is not known yet".to_owned()
            }
            Self::TooManyOpen { limit } => {
                format!("{limit} proposals are waiting already, which is the limit")
            }
            Self::WordsTooSoon { until } => {
                format!("it waits already, and other words were said about it a moment ago, so that nobody could read them; say more at {until}")
            }
            Self::AmbiguousHost => {
                "nothing ran: several instances of Void share this database, and the catalogue does not say on whose \
                 machine this runs; write the host as {\"address\": \"local\", \"instance\": \"NAME\"} (void status \
                 names the instances)"
                    .to_owned()
            }
            Self::InstanceAway => {
                "nothing ran: the catalogue gives this to the machine of an instance that is not there now; start that \
                 instance, then ask again (void status names those that are there)"
                    .to_owned()
            }
        }
    }
}

/// Judges a request. Strictest wins: a refusal beats a need for approval, which beats running.
pub fn judge(input: PolicyInput<'_>) -> Verdict {
    if let Some(refusal) = not_entitled(&input) {
        return Verdict::Refused(refusal);
    }
    let mut reasons = Vec::new();
    if input.tier == Tier::Risky || input.risk != Risk::Nominal {
        reasons.push(ApprovalReason::Risky);
    }
    if !input.taint.is_clean() {
        reasons.push(ApprovalReason::Tainted);
    }
    if input.actor != ActorKind::Owner && matches!(input.relation, Relation::Ancestor { .. }) {
        reasons.push(ApprovalReason::OnBehalf);
    }
    if !reasons.is_empty() {
        // What waits may be queued while the brakes are on; they are looked at again on approval.
        return Verdict::NeedsApproval(reasons);
    }
    match input.brakes.refusal().or_else(|| overspent(&input)) {
        Some(refusal) => Verdict::Refused(refusal),
        None => Verdict::RunNow,
    }
}

/// Judges a request to change something of the owner's: it waits, whoever asks. `Some` is who may not even ask.
#[must_use]
pub fn judge_change(actor: ActorKind, capabilities: &Capabilities) -> Option<Refusal> {
    match actor {
        ActorKind::Owner => None,
        ActorKind::Agent if capabilities.has(Capability::Suggest) => None,
        ActorKind::Agent => Some(Refusal::NoSuggestion),
        ActorKind::Viewer | ActorKind::Node | ActorKind::System => Some(Refusal::WrongActor),
    }
}

fn overspent(input: &PolicyInput<'_>) -> Option<Refusal> {
    match (input.actor, input.budget) {
        (ActorKind::Owner, _) | (_, Budget::Left) => None,
        (_, Budget::Spent { per_hour }) => Some(Refusal::BudgetSpent { per_hour }),
    }
}

fn not_entitled(input: &PolicyInput<'_>) -> Option<Refusal> {
    match input.actor {
        ActorKind::Owner => None,
        ActorKind::Viewer | ActorKind::Node | ActorKind::System => Some(Refusal::WrongActor),
        ActorKind::Agent if !input.capabilities.has(Capability::Act) => Some(Refusal::NoCapability),
        ActorKind::Agent => match input.relation {
            Relation::Same | Relation::Ancestor { .. } => None,
            Relation::Descendant { .. } | Relation::Sibling | Relation::Stranger => {
                Some(Refusal::NotNamed)
            }
        },
    }
}

/// A person's yes to a pending proposal.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalInput {
    pub actor: ActorKind,
    /// `None` for actors that are not people.
    pub surface: Option<Surface>,
    pub risk: Risk,
    /// Whether the digest came with the decision, so that it binds what the person saw.
    pub digest_sent: bool,
    /// How long ago the person proved who they are; `None` for a bearer token.
    pub authenticated_ago: Option<Duration>,
    pub allowance: Allowance,
    pub brakes: Brakes,
}

#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalVerdict {
    Accepted,
    OwnerOnly,
    /// The digest must come with it.
    DigestNeeded,
    /// Critical, and the person's last proof of identity is too old.
    FreshLoginNeeded,
    /// This surface never approves such a thing; another one does.
    OtherSurfaceNeeded,
    HeldBack(Refusal),
}

/// How a surface may ask for a yes.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    OneTap,
    /// The second button repeats what will happen.
    TwoTaps,
    /// It can be looked at and rejected here, and approved elsewhere.
    LinkOnly,
}

/// The one place that says which surface may offer an approval of which risk. Buttons are made from
/// it, and the approval itself is judged by it again.
pub const fn offer(surface: Surface, risk: Risk) -> Offer {
    match (surface, risk) {
        (Surface::Api | Surface::Cli | Surface::Web, Risk::Nominal)
        | (Surface::Telegram { may_approve: true, .. }, Risk::Nominal)
        // These have no second tap of ours; who enables approval on them accepts that.
        | (Surface::File | Surface::Ntfy { may_approve: true }, Risk::Nominal | Risk::Guarded) => {
            Offer::OneTap
        }
        (Surface::Api | Surface::Cli | Surface::Web, Risk::Guarded | Risk::Critical)
        | (Surface::Telegram { may_approve: true, .. }, Risk::Guarded) => Offer::TwoTaps,
        (Surface::File | Surface::Telegram { .. } | Surface::Ntfy { .. }, Risk::Critical)
        | (Surface::Telegram { may_approve: false, .. } | Surface::Ntfy { may_approve: false }, _) => {
            Offer::LinkOnly
        }
    }
}

/// Whether the person behind a session has just proved who they are. Using a session is no proof.
pub fn is_fresh(authenticated_ago: Option<Duration>) -> bool {
    authenticated_ago.is_some_and(|age| age <= limits::CRITICAL_AUTH_MAX_AGE)
}

/// Judges an approval. No agent approves anything, at any depth of the tree.
pub fn judge_approval(approval: ApprovalInput) -> ApprovalVerdict {
    let (ActorKind::Owner, Some(surface)) = (approval.actor, approval.surface) else {
        return ApprovalVerdict::OwnerOnly;
    };
    let critical = approval.risk == Risk::Critical;
    match surface {
        // A bearer may leave the digest out, and then binds what is stored; not for what is critical.
        Surface::Api | Surface::Cli if critical && !approval.digest_sent => {
            return ApprovalVerdict::DigestNeeded;
        }
        Surface::Api | Surface::Cli => {}
        Surface::Web if !approval.digest_sent => return ApprovalVerdict::DigestNeeded,
        Surface::Web => {
            if critical && !is_fresh(approval.authenticated_ago) {
                return ApprovalVerdict::FreshLoginNeeded;
            }
        }
        Surface::File | Surface::Telegram { .. } | Surface::Ntfy { .. } => {
            if offer(surface, approval.risk) == Offer::LinkOnly {
                return ApprovalVerdict::OtherSurfaceNeeded;
            }
            if !approval.digest_sent {
                return ApprovalVerdict::DigestNeeded;
            }
        }
    }
    if let Allowance::Spent { per_day } = approval.allowance {
        return ApprovalVerdict::HeldBack(Refusal::AllowanceSpent { per_day });
    }
    match approval.brakes.refusal() {
        Some(refusal) => ApprovalVerdict::HeldBack(refusal),
        None => ApprovalVerdict::Accepted,
    }
}
