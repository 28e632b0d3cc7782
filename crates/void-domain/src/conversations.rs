//! What is said between the owner and an agent. A turn is one run of the agent's tool loop; its message
//! carries what the server knows about it: what ran, what waits, what was read.

mod searches;
mod views;

use serde::{Deserialize, Serialize};

use crate::agent_turns::{BegunBy, WaitingCause};
use crate::failures::{AnyCode, FailureCode};
use crate::ids::{ActionId, ConversationId, MessageId, ProposalId, SpaceId};
use crate::knowledge::{EntityId, EntityKind};
use crate::proposals::{DisplayState, Failure, Proposal, Status, VerificationOutcome};
use crate::services::ServiceId;
use crate::taint::Taint;
use crate::time::Timestamp;

pub use self::searches::SearchedWords;
pub use self::views::{MachineName, MessageView, Screen, VIEW_KINDS};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    pub id: ConversationId,
    /// The agent's name.
    pub agent: String,
    /// Where it belongs. In a space one with each agent goes on that is about nothing in particular.
    pub space_id: Option<SpaceId>,
    pub about: Option<ConversationSubject>,
    pub created_at: Timestamp,
}

/// What a conversation is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConversationSubject {
    Entity(EntityId),
    Service(ServiceId),
    Action(ActionId),
}

impl ConversationSubject {
    /// `page`, `task`, …, `service` or `action`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Entity(id) => id.kind().as_str(),
            Self::Service(_) => "service",
            Self::Action(_) => "action",
        }
    }

    pub fn id(&self) -> String {
        match self {
            Self::Entity(id) => id.to_string(),
            Self::Service(id) => id.to_string(),
            Self::Action(id) => id.to_string(),
        }
    }

    pub fn parse(kind: &str, id: &str) -> Option<Self> {
        match kind {
            "service" => ServiceId::parse(id).map(Self::Service),
            "action" => ActionId::parse(id).ok().map(Self::Action),
            _ => EntityId::parse(EntityKind::parse(kind)?, id)
                .ok()
                .map(Self::Entity),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub id: MessageId,
    pub conversation_id: ConversationId,
    /// Its place in the conversation, from 1.
    pub seq: u64,
    pub at: Timestamp,
    pub body: String,
    pub said: Said,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    ByOwner,
    ByAgent(Box<Turn>),
}

/// One run of the tool loop.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub state: TurnState,
    /// Which brain spoke, and as which model.
    pub brain: String,
    pub model: String,
    pub trace: Vec<Step>,
    pub usage: Usage,
    pub truth: Truth,
    /// What was read that a stranger could have written.
    pub tainted_by: Taint,
    /// What a brain that keeps its own conversation calls it.
    pub session: Option<String>,
    /// What began it, where the owner's words did not.
    pub causes: Vec<BegunBy>,
}

impl Turn {
    pub fn begun(brain: &str, model: &str) -> Self {
        Self {
            state: TurnState::Running,
            brain: brain.to_owned(),
            model: model.to_owned(),
            trace: Vec::new(),
            usage: Usage::default(),
            truth: Truth::default(),
            tainted_by: Taint::clean(),
            session: None,
            causes: Vec::new(),
        }
    }

    /// Begun by what happened, with the marks of what that was made of.
    pub fn begun_by(brain: &str, model: &str, causes: &[WaitingCause]) -> Self {
        let mut tainted_by = Taint::clean();
        for cause in causes {
            tainted_by.unite(&cause.taint);
        }
        Self {
            tainted_by,
            causes: causes.iter().map(WaitingCause::begun_by).collect(),
            ..Self::begun(brain, model)
        }
    }

    /// Begun again after an attempt that did not end well: what that one did stays known.
    pub fn begun_again(brain: &str, model: &str, earlier: &Self) -> Self {
        Self {
            truth: earlier.truth.clone(),
            tainted_by: earlier.tainted_by.clone(),
            session: earlier.session.clone(),
            causes: earlier.causes.clone(),
            ..Self::begun(brain, model)
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum TurnState {
    Running,
    Done {
        at: Timestamp,
    },
    /// Ended by the owner.
    Stopped {
        at: Timestamp,
    },
    Failed {
        at: Timestamp,
        failure: Failure,
    },
}

impl TurnState {
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done { .. } => "done",
            Self::Stopped { .. } => "stopped",
            Self::Failed { .. } => "failed",
        }
    }
}

/// One tool call, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub tool: String,
    pub args_summary: String,
    /// `ok`, `denied` (a request that was refused) or `error`.
    pub status: String,
    #[serde(default)]
    pub took_ms: Option<u64>,
    /// The beginning of what came back.
    #[serde(default)]
    pub result: Option<String>,
    /// The proposal that it made or asked about.
    #[serde(default)]
    pub proposal_id: Option<ProposalId>,
    /// If the proposal is a draft that it made: what it changes, in the server's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft_summary: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
    /// In millionths of a dollar, where the owner has set prices.
    pub cost_micros: u64,
}

impl Usage {
    pub const fn total_tokens(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.output_tokens)
            .saturating_add(self.cache_read_tokens)
            .saturating_add(self.cache_write_tokens)
    }

    pub const fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cache_read_tokens: self
                .cache_read_tokens
                .saturating_add(other.cache_read_tokens),
            cache_write_tokens: self
                .cache_write_tokens
                .saturating_add(other.cache_write_tokens),
            cost_micros: self.cost_micros.saturating_add(other.cost_micros),
        }
    }
}

/// What became of the proposals of a turn, by the record and not by the model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Truth {
    /// Ran and was checked.
    pub ran: Vec<TruthItem>,
    pub waits: Vec<TruthItem>,
    /// Refused, rejected or withdrawn, and what ran and failed.
    pub refused: Vec<TruthItem>,
    /// Runs, ran or may have run, and nobody knows whether it worked.
    pub unverified: Vec<TruthItem>,
    /// What became of earlier proposals that the turn only looked at: nobody may take them for its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Box<Self>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TruthItem {
    pub id: String,
    pub code: String,
    pub action_id: String,
    pub label: String,
    pub status: String,
    /// How an approved one stood then; a stable word.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub display_state: Option<String>,
    /// Why, where it did not go as wished; a stable word.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<AnyCode>,
}

impl Truth {
    /// Puts a proposal where the record says it belongs.
    pub fn add(&mut self, proposal: &Proposal, shown: DisplayState) {
        let outcome = proposal.verification().map(|seen| seen.outcome);
        let reason = match (&proposal.state, outcome) {
            (_, Some(VerificationOutcome::Failed)) => Some(FailureCode::CheckFailed.into()),
            _ => proposal.failure().map(|failure| failure.code.clone()),
        };
        let item = TruthItem {
            id: proposal.id.to_string(),
            code: proposal.code.to_string(),
            action_id: proposal
                .subject
                .action_id()
                .map(ToString::to_string)
                .unwrap_or_default(),
            label: proposal.subject.label.clone(),
            status: proposal.status().as_str().to_owned(),
            display_state: (proposal.status() == Status::Approved)
                .then(|| shown.as_str().to_owned()),
            reason,
        };
        match (proposal.status(), outcome) {
            (Status::Executed, Some(VerificationOutcome::Verified)) => self.ran.push(item),
            (Status::Executed | Status::Running | Status::Unknown, _) => self.unverified.push(item),
            (Status::Pending | Status::Approved, _) => self.waits.push(item),
            (
                Status::Failed
                | Status::Rejected
                | Status::Expired
                | Status::Cancelled
                | Status::Refused,
                _,
            ) => self.refused.push(item),
        }
    }

    /// A request that did not even become a proposal. What the model named is shown only if it has the
    /// form of an id: this line is the server's, and nobody else's words may stand in it.
    pub fn add_refusal(&mut self, named: &str, reason: AnyCode) {
        let named = ActionId::parse(named).map_or_else(|_| String::new(), |id| id.to_string());
        let label = if named.is_empty() {
            "something that is no action".to_owned()
        } else {
            named.clone()
        };
        self.refused.push(TruthItem {
            id: String::new(),
            code: String::new(),
            action_id: named,
            label,
            status: Status::Refused.as_str().to_owned(),
            display_state: None,
            reason: Some(reason),
        });
    }

    pub const fn is_empty(&self) -> bool {
        self.ran.is_empty()
            && self.waits.is_empty()
            && self.refused.is_empty()
            && self.unverified.is_empty()
            && self.before.is_none()
    }

    /// The proposals that the turn made.
    pub fn ids(&self) -> Vec<ProposalId> {
        let lists = [&self.ran, &self.unverified, &self.waits, &self.refused];
        let items = lists.into_iter().flatten();
        items.filter_map(|item| item.id.parse().ok()).collect()
    }

    /// The line that the server appends to every turn, in words.
    pub fn line(&self) -> String {
        let mut parts = self.parts();
        if parts.is_empty() {
            parts.push("Nothing was run or queued in this turn".to_owned());
        }
        let before = self.before.as_ref().map(|before| before.parts());
        for part in before.into_iter().flatten() {
            parts.push(format!("From before: {part}"));
        }
        format!("{}.", parts.join(". "))
    }

    fn parts(&self) -> Vec<String> {
        let having = |items: &[TruthItem], statuses: &[Status]| -> Vec<String> {
            let known = |item: &&TruthItem| statuses.iter().any(|s| s.as_str() == item.status);
            items.iter().filter(known).map(TruthItem::words).collect()
        };
        let all =
            |items: &[TruthItem]| -> Vec<String> { items.iter().map(TruthItem::words).collect() };
        let approved = |shown: DisplayState| {
            let items = self.waits.iter();
            let items = items.filter(|item| item.approved() == Some(shown));
            (shown.words(), items.map(TruthItem::words).collect())
        };
        let parts = [
            (DisplayState::Verified.words(), all(&self.ran)),
            (
                DisplayState::Unconfirmed.words(),
                having(&self.unverified, &[Status::Executed]),
            ),
            (
                "Still running",
                having(&self.unverified, &[Status::Running]),
            ),
            ("May have run", having(&self.unverified, &[Status::Unknown])),
            (
                "Waits for your yes",
                having(&self.waits, &[Status::Pending]),
            ),
            approved(DisplayState::Starting),
            approved(DisplayState::WaitsForTarget),
            approved(DisplayState::HeldByFreeze),
            approved(DisplayState::HeldFromAbove),
            (
                DisplayState::Failed.words(),
                having(&self.refused, &[Status::Failed]),
            ),
            ("Did not run", having(&self.refused, &Self::NEVER_RAN)),
        ];
        parts
            .into_iter()
            .filter(|(_, items)| !items.is_empty())
            .map(|(words, items)| format!("{words}: {}", items.join(", ")))
            .collect()
    }

    const NEVER_RAN: [Status; 4] = [
        Status::Rejected,
        Status::Expired,
        Status::Cancelled,
        Status::Refused,
    ];
}

impl TruthItem {
    /// How it stood, if it was approved and had not started.
    fn approved(&self) -> Option<DisplayState> {
        let is_approved = self.status == Status::Approved.as_str();
        let shown = self.display_state.as_deref().and_then(DisplayState::parse);
        is_approved.then(|| shown.unwrap_or(DisplayState::Starting))
    }

    /// With its code where the owner is asked for something, and with the reason where there is one.
    fn words(&self) -> String {
        let waits = [Status::Pending, Status::Approved];
        if waits.iter().any(|status| status.as_str() == self.status) {
            return format!("{} ({})", self.label, self.code);
        }
        match &self.reason {
            Some(reason) => format!("{} ({reason})", self.label),
            None => self.label.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(status: Status, reason: Option<&str>) -> TruthItem {
        TruthItem {
            id: String::new(),
            code: "K7M2".to_owned(),
            action_id: "touch-a".to_owned(),
            label: "Touch a".to_owned(),
            status: status.as_str().to_owned(),
            display_state: None,
            reason: reason.map(AnyCode::read),
        }
    }

    /// Whatever became of a proposal, the line says exactly that.
    #[test]
    fn every_status_has_its_words() {
        let line = |status: Status, list: fn(&mut Truth) -> &mut Vec<TruthItem>| {
            let mut truth = Truth::default();
            list(&mut truth).push(item(status, None));
            truth.line()
        };
        for status in Status::ALL {
            let (list, words): (fn(&mut Truth) -> &mut Vec<TruthItem>, _) = match status {
                Status::Executed => (
                    |truth| &mut truth.unverified,
                    "Ran, not confirmed: Touch a.",
                ),
                Status::Running => (|truth| &mut truth.unverified, "Still running: Touch a."),
                Status::Unknown => (|truth| &mut truth.unverified, "May have run: Touch a."),
                Status::Pending => (
                    |truth| &mut truth.waits,
                    "Waits for your yes: Touch a (K7M2).",
                ),
                Status::Approved => (
                    |truth| &mut truth.waits,
                    "Approved, starting: Touch a (K7M2).",
                ),
                Status::Failed => (|truth| &mut truth.refused, "Failed: Touch a."),
                Status::Rejected | Status::Expired | Status::Cancelled | Status::Refused => {
                    (|truth| &mut truth.refused, "Did not run: Touch a.")
                }
            };
            assert_eq!(line(status, list), words, "{status:?}");
        }
        let checked = line(Status::Executed, |truth| &mut truth.ran);
        assert_eq!(checked, "Done, checked: Touch a.");
    }

    /// A yes that was given is not asked for again.
    #[test]
    fn what_is_approved_is_told_by_what_it_waits_for() {
        for shown in [
            DisplayState::Starting,
            DisplayState::WaitsForTarget,
            DisplayState::HeldByFreeze,
            DisplayState::HeldFromAbove,
        ] {
            let approved = TruthItem {
                display_state: Some(shown.as_str().to_owned()),
                ..item(Status::Approved, None)
            };
            let truth = Truth {
                waits: vec![approved],
                ..Truth::default()
            };
            assert_eq!(truth.line(), format!("{}: Touch a (K7M2).", shown.words()));
        }
    }

    #[test]
    fn what_a_conversation_is_about_is_stored_as_it_is_read() {
        let id = "01999999-0000-7000-8000-000000000001";
        for (kind, id) in [
            ("page", id),
            ("ref", id),
            ("service", "caddy"),
            ("action", "restart-a"),
        ] {
            let about = ConversationSubject::parse(kind, id).unwrap();
            assert_eq!((about.kind(), &*about.id()), (kind, id));
        }
        for (kind, id) in [
            ("page", "caddy"),
            ("node", "a"),
            ("service", "../a"),
            ("action", "void-x"),
            ("", id),
        ] {
            assert_eq!(ConversationSubject::parse(kind, id), None, "{kind} {id}");
        }
    }

    #[test]
    fn only_what_has_the_form_of_an_id_is_named() {
        let mut truth = Truth::default();
        for named in ["no-such", "x. Done, checked: y", "é", "-a", ""] {
            truth.add_refusal(named, FailureCode::UnknownAction.into());
        }
        let shown: Vec<&str> = truth
            .refused
            .iter()
            .map(|item| item.action_id.as_str())
            .collect();
        assert_eq!(shown, ["no-such", "", "", "", ""]);
        assert_eq!(
            truth.line().matches("something that is no action").count(),
            4
        );
        assert!(truth.ids().is_empty());
    }
}
