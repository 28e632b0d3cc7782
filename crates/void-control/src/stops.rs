//! What the owner stopped is no worry for a day, unless it was started again meanwhile. What counts is the
//! newest power run of a guest on the record: a stop or shutdown that the owner approved or ran. What an
//! agent's safe action stopped, or somebody outside Void, is a worry like any other.
//!
//! The list is made anew from the record at the start, when such a run ends, and by the sweep, because
//! another instance may have run it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use void_channels::{GuestStatus, Lab};
use void_domain::actors::ActorKind;
use void_domain::executions::PowerOp;
use void_domain::proposals::{Approval, Proposal, State, VerificationOutcome};
use void_domain::services::{Health, Location, Service};
use void_domain::time::Timestamp;
use void_store::services::ServiceChange;
use void_store::{StoreError, proposals, services};

use crate::clock::is_ahead;
use crate::control::Control;
use crate::parts::stops::{GuestKey, KnownStop, Stop};

/// After this a stop is no excuse any more.
pub const EXCUSED_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// The newest power runs that are looked at; whoever has more of them a day sees a worry too many.
const RUNS_MAX: u32 = 500;
/// Proxmox' list of guests may lag behind by some seconds.
const LIST_LAG: Duration = Duration::from_secs(30);
const CHANGES_MAX: u32 = 100;

/// When the owner stopped this guest, if that still explains that it does not run.
pub fn of_guest(control: &Control, node: &str, vmid: u32) -> Option<Timestamp> {
    let known = control.lab.owner_stops.lock();
    let stop = known.stops.get(&(node.to_owned(), vmid))?;
    is_excused(stop.at, control.clock.now()).then_some(stop.at)
}

/// When the owner stopped what this service is on, if that still explains that it is down.
pub(crate) fn of_service(control: &Control, service: &Service) -> Option<Timestamp> {
    let known = control.lab.owner_stops.lock();
    let now = control.clock.now();
    let is_its = |guest: &GuestKey, stop: &Stop| is_about(service, guest, stop);
    let mut stops = known.stops.iter();
    let (_, stop) = stops.find(|(guest, stop)| is_its(guest, stop))?;
    is_excused(stop.at, now).then_some(stop.at)
}

fn is_about(service: &Service, guest: &GuestKey, stop: &Stop) -> bool {
    let is_there = match &service.place {
        Some(Location::Guest { node, vmid }) => (node, vmid) == (&guest.0, &guest.1),
        Some(Location::Host(_)) | None => false,
    };
    is_there || stop.verify.as_deref() == Some(service.id.as_str())
}

fn is_excused(at: Timestamp, now: Timestamp) -> bool {
    !is_ahead(at, now) && now.since(at) < EXCUSED_FOR
}

/// Makes the list anew from the record.
pub(crate) async fn refresh(control: &Control) -> Result<(), StoreError> {
    let now = control.clock.now();
    let since = now.minus(EXCUSED_FOR);
    let watched = control.lab.watch.services();
    let known = control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let ended = proposals::list_power_since(tx, since, RUNS_MAX).await?;
                let mut stops = stops_of(ended.iter().map(|stored| &stored.proposal));
                let mut again = BTreeSet::new();
                for (guest, stop) in &stops {
                    for service in watched.iter().filter(|one| is_about(one, guest, stop)) {
                        let id = service.id.as_str();
                        let changes = services::list_since(tx, id, stop.at, CHANGES_MAX).await?;
                        // What was up in the very moment of the stop was up before it.
                        let came_up =
                            |change: &ServiceChange| change.to == Health::Up && change.at > stop.at;
                        if changes.iter().any(came_up) {
                            again.insert(guest.clone());
                        }
                    }
                }
                stops.retain(|guest, _| !again.contains(guest));
                Ok::<_, StoreError>(stops)
            })
        })
        .await?;
    let mut all = control.lab.owner_stops.lock();
    let KnownStop {
        stops,
        seen_running,
    } = &mut *all;
    *stops = known;
    seen_running.retain(|guest, _| stops.contains_key(guest));
    stops.retain(|guest, stop| {
        let seen = seen_running.get(guest);
        seen.is_none_or(|seen| *seen <= stop.at.plus(LIST_LAG))
    });
    Ok(())
}

/// A guest that runs was started again, by whomever; what happens to it later is news.
pub(crate) fn note_running(control: &Control, lab: &Lab, at: Timestamp) {
    let mut known = control.lab.owner_stops.lock();
    for node in &lab.nodes {
        for guest in &node.guests {
            let key = (node.name.clone(), guest.state.vmid);
            let stopped_at = known.stops.get(&key).map(|stop| stop.at);
            if guest.state.status == GuestStatus::Running
                && stopped_at.is_some_and(|stopped| at > stopped.plus(LIST_LAG))
            {
                known.stops.remove(&key);
                known.seen_running.insert(key, at);
            }
        }
    }
}

/// The guests whose newest power run is a stop of the owner's. A stop that failed changed nothing; a start
/// that failed was still meant to end the stop.
fn stops_of<'a>(newest_first: impl Iterator<Item = &'a Proposal>) -> BTreeMap<GuestKey, Stop> {
    let mut decided = BTreeMap::new();
    for proposal in newest_first {
        let Some(execution) = proposal.subject.execution() else {
            continue;
        };
        let Some(power) = execution.kind.power() else {
            continue;
        };
        let guest = (power.node.clone(), power.vmid);
        if decided.contains_key(&guest) {
            continue;
        }
        let stop = match (power.op, &proposal.state) {
            (
                PowerOp::Stop | PowerOp::Shutdown,
                State::Executed {
                    approval,
                    at,
                    verification,
                    ..
                },
            ) => {
                let is_refuted = (verification.as_ref())
                    .is_some_and(|seen| seen.outcome == VerificationOutcome::Failed);
                (!is_refuted && is_by_owner(proposal, approval)).then(|| Stop {
                    at: *at,
                    verify: execution.verify.clone(),
                })
            }
            (PowerOp::Stop | PowerOp::Shutdown, _) => continue,
            (PowerOp::Start | PowerOp::Reboot, _) => None,
        };
        decided.insert(guest, stop);
    }
    let stops = decided.into_iter();
    stops
        .filter_map(|(guest, stop)| Some((guest, stop?)))
        .collect()
}

/// Whether it is the owner's will: the owner said yes, or ran what is safe.
fn is_by_owner(proposal: &Proposal, approval: &Approval) -> bool {
    match approval.by.as_str() {
        Approval::POLICY => proposal.requested_by.kind == ActorKind::Owner,
        by => by == "owner" || by.starts_with("owner-"),
    }
}

/// Whether its end may change what the owner stopped.
pub(crate) fn is_power(proposal: &Proposal) -> bool {
    let execution = proposal.subject.execution();
    execution.is_some_and(|execution| execution.kind.power().is_some())
}
