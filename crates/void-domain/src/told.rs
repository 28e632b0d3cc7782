//! What each event carries, read from the entry that it is. Whoever wants to know more reads the thing itself.
//!
//! [`told`] is the only way from an entry to an event. What it does not take out of an entry's detail reaches no stream
//! and no agent.

#[cfg(test)]
mod tests;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::catalogue::{Risk, Tier};
use crate::events::{Audience, EventKind};
use crate::facts::Fact;
use crate::failures::AnyCode;
use crate::freezes::Frozen;
use crate::ids::{ProposalId, QuestionId, SpaceId};
use crate::knowledge::{EntityId, EntityKind};
use crate::proposals::{Status, VerificationOutcome};
use crate::services::Health;
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub seq: u64,
    pub at: Timestamp,
    pub kind: EventKind,
    pub audience: Audience,
    pub payload: Payload,
}

/// An entry that was to be told and whose detail is not what its verb says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {seq} ({verb}) does not say what its event tells")]
pub struct UnreadableFact {
    pub seq: u64,
    pub verb: String,
}

/// The event that an entry is. `None`: nobody is to be told of it, or another version knows whom and what.
pub fn told(fact: &Fact) -> Result<Option<Event>, UnreadableFact> {
    let (Some(audience), Some(kind)) = (fact.audience, EventKind::of_verb(&fact.verb)) else {
        return Ok(None);
    };
    let payload = Payload::of(kind, fact).ok_or_else(|| UnreadableFact {
        seq: fact.seq,
        verb: fact.verb.clone(),
    })?;
    Ok(Some(Event {
        seq: fact.seq,
        at: fact.at,
        kind,
        audience,
        payload,
    }))
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Payload {
    Proposal(ProposalEvent),
    Service(ServiceEvent),
    Turn(TurnEvent),
    Freeze(FreezeEvent),
    Node(NodeEvent),
    Access(AccessEvent),
    Notification(NotificationEvent),
    Mute(MuteEvent),
    Agent(AgentEvent),
    Message(MessageEvent),
    Question(QuestionEvent),
    Entity(EntityEvent),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProposalEvent {
    pub id: ProposalId,
    pub code: String,
    /// `action` or `change`.
    pub subject: String,
    pub action_id: Option<String>,
    pub label: String,
    pub tier: Tier,
    pub risk: Risk,
    pub status: Status,
    pub verification: Option<VerificationOutcome>,
    pub revision: u64,
    pub at: Timestamp,
    pub waited_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ServiceEvent {
    pub id: String,
    pub label: String,
    pub from: Health,
    pub status: Health,
    pub at: Timestamp,
    /// What was seen: a code, a latency, a reason; never text of a stranger.
    pub detail: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TurnEvent {
    pub message_id: String,
    pub conversation_id: String,
    pub agent: String,
    pub at: Timestamp,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<AnyCode>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum FreezeEvent {
    Frozen {
        frozen: bool,
        by: String,
        reason: Option<String>,
        until: Option<Timestamp>,
    },
    Thawed {
        frozen: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeEvent {
    pub name: String,
    /// The verb.
    pub what: String,
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessEvent {
    Token(String),
    Session(String),
    /// How many ended.
    Sessions(u64),
    /// All that came back with an older copy.
    Quarantine(bool),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NotificationEvent {
    pub notification: String,
    pub target: String,
    pub why: String,
    pub proposal_id: Option<String>,
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MuteEvent {
    pub mute: String,
    pub subject: String,
    /// The verb.
    pub what: String,
    pub until: Timestamp,
    pub at: Timestamp,
}

/// Of an agent's process. Nothing that it wrote is in an event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentEvent {
    pub name: String,
    /// The verb.
    pub what: String,
    /// How it ended, if it ended unasked.
    pub why: Option<String>,
    pub at: Timestamp,
}

/// Something new in an agent's mailbox. What it says is in no event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MessageEvent {
    pub id: String,
    /// `owner`, or the name of an agent.
    pub from: String,
    pub to: String,
    /// `text` or `wake`.
    pub kind: String,
    pub at: Timestamp,
}

/// Of a question. Neither what was asked nor what was answered is in an event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuestionEvent {
    pub id: QuestionId,
    pub code: String,
    /// `owner`, or the name of an agent.
    pub asker: String,
    pub asked: String,
    /// open, answered, cancelled or expired
    pub status: String,
    pub at: Timestamp,
}

/// Something that the owner keeps. Its words are in no event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EntityEvent {
    pub kind: EntityKind,
    pub id: String,
    pub space_id: SpaceId,
    /// The verb.
    pub what: String,
    pub revision: u64,
    pub at: Timestamp,
}

impl Payload {
    /// `None`: the entry does not say what such an event tells.
    fn of(kind: EventKind, fact: &Fact) -> Option<Self> {
        match kind {
            EventKind::ProposalCreated
            | EventKind::ProposalJoined
            | EventKind::ProposalApproved
            | EventKind::ProposalStarted
            | EventKind::ProposalExecuted
            | EventKind::ProposalVerified
            | EventKind::ProposalFailed
            | EventKind::ProposalRejected
            | EventKind::ProposalRefused
            | EventKind::ProposalExpired
            | EventKind::ProposalCancelled
            | EventKind::ProposalUnknown
            | EventKind::ProposalHeld => proposal(fact).map(Self::Proposal),
            EventKind::ServiceChanged => service(fact).map(Self::Service),
            EventKind::TurnStarted | EventKind::TurnFinished | EventKind::TurnFailed => {
                turn(fact).map(Self::Turn)
            }
            EventKind::FreezeChanged => freeze(fact).map(Self::Freeze),
            EventKind::NodeChanged => node(fact).map(Self::Node),
            EventKind::AccessRevoked => access(fact).map(Self::Access),
            EventKind::NotificationFailed => notification(fact).map(Self::Notification),
            EventKind::MuteChanged => mute(fact).map(Self::Mute),
            EventKind::AgentChanged => agent(fact).map(Self::Agent),
            EventKind::MessageSent => message(fact).map(Self::Message),
            EventKind::QuestionAsked
            | EventKind::QuestionAnswered
            | EventKind::QuestionCancelled
            | EventKind::QuestionExpired => question(fact).map(Self::Question),
            EventKind::SpaceChanged
            | EventKind::ProjectChanged
            | EventKind::PageChanged
            | EventKind::TaskChanged
            | EventKind::RefChanged => entity(fact).map(Self::Entity),
        }
    }

    /// The proposal whose step it is.
    pub const fn proposal(&self) -> Option<&ProposalEvent> {
        match self {
            Self::Proposal(proposal) => Some(proposal),
            Self::Service(_)
            | Self::Turn(_)
            | Self::Freeze(_)
            | Self::Node(_)
            | Self::Access(_)
            | Self::Notification(_)
            | Self::Mute(_)
            | Self::Agent(_)
            | Self::Message(_)
            | Self::Question(_)
            | Self::Entity(_) => None,
        }
    }

    /// One line of JSON, as it is sent.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn detail<T: DeserializeOwned>(fact: &Fact) -> Option<T> {
    serde_json::from_str(&fact.detail).ok()
}

fn named<'a>(fact: &'a Fact, prefix: &str) -> Option<&'a str> {
    fact.subject.as_deref()?.strip_prefix(prefix)
}

fn proposal(fact: &Fact) -> Option<ProposalEvent> {
    #[derive(Deserialize)]
    struct Detail {
        code: String,
        subject: Option<String>,
        action_id: Option<String>,
        label: String,
        tier: Tier,
        risk: Risk,
        status: Status,
        verification: Option<VerificationOutcome>,
        revision: u64,
        waited_ms: u64,
    }
    let said: Detail = detail(fact)?;
    Some(ProposalEvent {
        id: fact.subject.as_ref()?.parse().ok()?,
        code: said.code,
        subject: said.subject.unwrap_or_else(|| "action".to_owned()),
        action_id: said.action_id,
        label: said.label,
        tier: said.tier,
        risk: said.risk,
        status: said.status,
        verification: said.verification,
        revision: said.revision,
        at: fact.at,
        waited_ms: said.waited_ms,
    })
}

fn service(fact: &Fact) -> Option<ServiceEvent> {
    #[derive(Deserialize)]
    struct Detail {
        label: String,
        from: Health,
        status: Health,
        detail: Map<String, Value>,
    }
    let said: Detail = detail(fact)?;
    Some(ServiceEvent {
        id: named(fact, "service:")?.to_owned(),
        label: said.label,
        from: said.from,
        status: said.status,
        at: fact.at,
        detail: said.detail,
    })
}

fn turn(fact: &Fact) -> Option<TurnEvent> {
    #[derive(Deserialize)]
    struct Detail {
        conversation_id: String,
        agent: String,
        failure: Option<AnyCode>,
    }
    let said: Detail = detail(fact)?;
    Some(TurnEvent {
        message_id: fact.subject.clone()?,
        conversation_id: said.conversation_id,
        agent: said.agent,
        at: fact.at,
        code: said.failure,
    })
}

/// The reason only as far as everybody may hear it: the entry has it whole.
fn freeze(fact: &Fact) -> Option<FreezeEvent> {
    #[derive(Deserialize)]
    struct Detail {
        frozen: bool,
        by: Option<String>,
        reason: Option<String>,
        until: Option<Timestamp>,
    }
    let said: Detail = detail(fact)?;
    if !said.frozen {
        return Some(FreezeEvent::Thawed { frozen: false });
    }
    let frozen = Frozen {
        by: said.by?,
        at: fact.at,
        reason: said.reason,
        until: said.until,
    };
    Some(FreezeEvent::Frozen {
        frozen: true,
        reason: frozen.reason_for_everyone().map(str::to_owned),
        by: frozen.by,
        until: frozen.until,
    })
}

fn node(fact: &Fact) -> Option<NodeEvent> {
    Some(NodeEvent {
        name: named(fact, "node:")?.to_owned(),
        what: fact.verb.clone(),
        at: fact.at,
    })
}

fn access(fact: &Fact) -> Option<AccessEvent> {
    #[derive(Deserialize)]
    struct EndedSessions {
        count: u64,
    }
    match fact.verb.as_str() {
        "token.revoked" => fact.subject.clone().map(AccessEvent::Token),
        "session.closed" | "session.revoked" => fact.subject.clone().map(AccessEvent::Session),
        "session.others_ended" => {
            detail(fact).map(|ended: EndedSessions| AccessEvent::Sessions(ended.count))
        }
        "quarantine.set" => Some(AccessEvent::Quarantine(true)),
        _ => None,
    }
}

fn notification(fact: &Fact) -> Option<NotificationEvent> {
    #[derive(Deserialize)]
    struct Detail {
        notification: String,
        target: String,
        why: String,
    }
    let said: Detail = detail(fact)?;
    Some(NotificationEvent {
        notification: said.notification,
        target: said.target,
        why: said.why,
        proposal_id: fact.subject.clone(),
        at: fact.at,
    })
}

fn mute(fact: &Fact) -> Option<MuteEvent> {
    #[derive(Deserialize)]
    struct Detail {
        mute: String,
        subject: String,
        until: Timestamp,
    }
    let said: Detail = detail(fact)?;
    Some(MuteEvent {
        mute: said.mute,
        subject: said.subject,
        what: fact.verb.clone(),
        until: said.until,
        at: fact.at,
    })
}

fn message(fact: &Fact) -> Option<MessageEvent> {
    #[derive(Deserialize)]
    struct Detail {
        from: String,
        to: String,
        kind: String,
    }
    let said: Detail = detail(fact)?;
    Some(MessageEvent {
        id: fact.subject.clone()?,
        from: said.from,
        to: said.to,
        kind: said.kind,
        at: fact.at,
    })
}

fn agent(fact: &Fact) -> Option<AgentEvent> {
    #[derive(Deserialize)]
    struct Detail {
        name: String,
        why: Option<String>,
    }
    let said: Detail = detail(fact)?;
    Some(AgentEvent {
        name: said.name,
        what: fact.verb.clone(),
        why: said.why,
        at: fact.at,
    })
}

fn question(fact: &Fact) -> Option<QuestionEvent> {
    #[derive(Deserialize)]
    struct Detail {
        code: String,
        asker: String,
        asked: String,
        status: String,
    }
    let said: Detail = detail(fact)?;
    Some(QuestionEvent {
        id: fact.subject.as_ref()?.parse().ok()?,
        code: said.code,
        asker: said.asker,
        asked: said.asked,
        status: said.status,
        at: fact.at,
    })
}

fn entity(fact: &Fact) -> Option<EntityEvent> {
    #[derive(Deserialize)]
    struct Detail {
        kind: EntityKind,
        space_id: SpaceId,
        revision: u64,
    }
    let said: Detail = detail(fact)?;
    let id = EntityId::parse(said.kind, fact.subject.as_ref()?).ok()?;
    Some(EntityEvent {
        kind: said.kind,
        id: id.to_string(),
        space_id: said.space_id,
        what: fact.verb.clone(),
        revision: said.revision,
        at: fact.at,
    })
}
