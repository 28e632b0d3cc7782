//! What is in the lab, by name: services and actions as they are watched and in force, agents that ever were, and the newest
//! proposals as far as the caller may see them.

use void_domain::actors::Actor;
use void_domain::agents::AgentName;
use void_domain::ids::{ActionId, RequesterId};
use void_domain::knowledge::ranking::rank_name;
use void_domain::knowledge::{SearchKind, SearchQuery};
use void_domain::proposals::Proposal;
use void_store::proposals::{self, ProposalFilter};
use void_store::{StoreError, Tx, agents};

use super::{FoundBy, NamedHit, RankedHit};
use crate::context::Ctx;
use crate::control::Control;
use crate::proposals::is_visible_to;
use crate::service_views;

/// The newest; older ones are found in their own list.
const PROPOSALS_MAX: u32 = 100;

/// Whose proposals the caller sees; `None`: everybody's.
fn requester(ctx: &Ctx) -> Option<RequesterId> {
    match &ctx.actor {
        Actor::Agent { id, .. } => Some((*id).into()),
        Actor::Node { id, .. } => Some((*id).into()),
        Actor::Owner { .. } | Actor::Viewer { .. } | Actor::System => None,
    }
}

pub(super) fn find(control: &Control, query: &SearchQuery) -> Vec<RankedHit> {
    let mut found = Vec::new();
    for watched in &control.lab.watch.watched {
        let service = &watched.service;
        let named = Named::new(SearchKind::Service, service.id.to_string(), &service.label);
        found.extend(named.rank(query, || standing(control, service.id.as_str())));
    }
    for action in control.in_force.catalogue.actions() {
        let named = Named::new(SearchKind::Action, action.id.to_string(), &action.label);
        found.extend(named.rank(query, || NamedHit {
            state: Some(action.tier.as_str()),
            ..NamedHit::default()
        }));
    }
    found
}

fn standing(control: &Control, id: &str) -> NamedHit {
    let view = service_views::find(control, id);
    view.map_or_else(NamedHit::default, |view| NamedHit {
        state: Some(view.standing.health.as_str()),
        at: view.last.map(|reading| reading.at),
        ..NamedHit::default()
    })
}

/// `residents`: agents that live here, of whom some have not acted yet and are in no table.
pub(super) async fn find_stored(
    tx: &mut Tx,
    query: &SearchQuery,
    residents: Vec<AgentName>,
    (control, ctx): (&Control, &Ctx),
) -> Result<Vec<RankedHit>, StoreError> {
    let mut found = Vec::new();
    if query.wanted.is_empty() {
        return Ok(found);
    }
    if query.may_be(SearchKind::Agent) {
        let mut names = agents::names(tx).await?;
        names.extend(residents);
        names.sort_unstable();
        names.dedup();
        for name in names {
            let named = Named::new(SearchKind::Agent, name.to_string(), "");
            found.extend(named.rank(query, NamedHit::default));
        }
    }
    if query.may_be(SearchKind::Proposal) {
        let filter = ProposalFilter {
            status: None,
            requester: requester(ctx),
        };
        let newest = proposals::list(tx, filter, None, PROPOSALS_MAX).await?;
        let newest = newest.items.into_iter().map(|stored| stored.proposal);
        for proposal in newest.filter(|proposal| is_visible_to(control, ctx, proposal)) {
            found.extend(rank_proposal(query, &proposal));
        }
    }
    Ok(found)
}

/// By its label, its code and its action; nobody remembers its id.
fn rank_proposal(query: &SearchQuery, proposal: &Proposal) -> Option<RankedHit> {
    let action = proposal.subject.action_id().map_or("", ActionId::as_str);
    let named = Named {
        kind: SearchKind::Proposal,
        id: proposal.id.to_string(),
        label: &proposal.subject.label,
        also: format!("{} {action}", proposal.code),
    };
    named.rank(query, || NamedHit {
        state: Some(proposal.status().as_str()),
        at: Some(proposal.created_at),
        foreign: (!proposal.taint.is_clean()).then(|| format!("proposal {}", proposal.code)),
        ..NamedHit::default()
    })
}

struct Named<'a> {
    kind: SearchKind,
    id: String,
    label: &'a str,
    /// What else it is called.
    also: String,
}

impl<'a> Named<'a> {
    fn new(kind: SearchKind, id: String, label: &'a str) -> Self {
        let also = id.clone();
        Self {
            kind,
            id,
            label,
            also,
        }
    }

    /// `more`: what is shown beside the name, of one that is found.
    fn rank(self, query: &SearchQuery, more: impl FnOnce() -> NamedHit) -> Option<RankedHit> {
        if !query.may_be(self.kind) {
            return None;
        }
        // What is unwanted may be in either, so both together decide and the better one ranks.
        let both = rank_name(query, &format!("{} {}", self.label, self.also))?;
        let of_one = [self.label, &*self.also].map(|name| rank_name(query, name).unwrap_or(0));
        let title = match self.label {
            "" => self.id.clone(),
            label => label.to_owned(),
        };
        Some(RankedHit {
            score: of_one.into_iter().fold(both, u64::max),
            kind: self.kind,
            id: self.id,
            found: FoundBy::Named(NamedHit { title, ..more() }),
        })
    }
}
