//! Whose turn it is to be asked about, and where: questions about the same run become rarer with its age,
//! and a machine that does not answer holds up nobody but itself.
//!
//! Kept in memory: after a start everything is asked about once, and then as its age says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use void_domain::executions::{Execution, Route};
use void_domain::ids::ProposalId;
use void_domain::proposals::{Proposal, State, Subject};
use void_domain::time::Timestamp;

/// A question is asked at most this often about the same run once it is old.
pub(super) const ASK_EVERY_MAX: Duration = Duration::from_secs(5 * 60);
const ASK_EVERY_MIN: Duration = Duration::from_secs(1);
/// After time t, about every t / 8.
const AGE_PARTS: u32 = 8;
/// How many machines are asked at once.
pub(super) const PLACES_MAX: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Settling(Mutex<SettleAttempt>);

#[derive(Debug, Default)]
struct SettleAttempt {
    /// When each unknown outcome was asked about last.
    last: BTreeMap<ProposalId, Timestamp>,
    /// Machines that are being asked.
    busy: BTreeSet<String>,
}

/// What one machine is to be asked, in turn. The machine is free again when this is dropped.
pub(super) struct Round {
    pub proposals: Vec<Proposal>,
    place: String,
    settling: Arc<Settling>,
}

impl Settling {
    /// Everything that is due at a machine that is not being asked already.
    pub(super) fn due(
        self: &Arc<Self>,
        unknown: impl IntoIterator<Item = Proposal>,
        now: Timestamp,
    ) -> Vec<Round> {
        let unknown: Vec<Proposal> = unknown.into_iter().collect();
        let mut asked = self.lock();
        let still: BTreeSet<ProposalId> = unknown.iter().map(|proposal| proposal.id).collect();
        asked.last.retain(|id, _| still.contains(id));
        let mut places: BTreeMap<String, Vec<Proposal>> = BTreeMap::new();
        for proposal in unknown {
            // Without one no machine is known that could be asked: the owner settles it.
            let Some(place) = place_of_subject(&proposal.subject) else {
                continue;
            };
            let last = asked.last.get(&proposal.id).copied();
            if !asked.busy.contains(&place) && is_due(&proposal, last, now) {
                places.entry(place).or_default().push(proposal);
            }
        }
        let free = PLACES_MAX.saturating_sub(asked.busy.len());
        // Who has waited longest for an answer comes first, so that nobody is left out for good.
        let waited = |proposals: &[Proposal]| {
            let last = proposals
                .iter()
                .map(|proposal| asked.last.get(&proposal.id));
            last.min().flatten().copied()
        };
        let mut places: Vec<_> = places.into_iter().collect();
        places.sort_by_key(|(_, proposals)| waited(proposals));
        places.truncate(free);
        asked
            .busy
            .extend(places.iter().map(|(place, _)| place.clone()));
        drop(asked);
        let round = |(place, proposals)| Round {
            proposals,
            place,
            settling: Arc::clone(self),
        };
        places.into_iter().map(round).collect()
    }

    fn lock(&self) -> MutexGuard<'_, SettleAttempt> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Round {
    pub(super) fn note(&self, id: ProposalId, now: Timestamp) {
        self.settling.lock().last.insert(id, now);
    }
}

impl Drop for Round {
    fn drop(&mut self) {
        self.settling.lock().busy.remove(&self.place);
    }
}

/// Often while it is fresh, rarely when it is old.
fn is_due(proposal: &Proposal, last: Option<Timestamp>, now: Timestamp) -> bool {
    let State::Unknown { at, .. } = proposal.state else {
        return false;
    };
    let Some(last) = last else { return true };
    let period = (now.since(at) / AGE_PARTS).clamp(ASK_EVERY_MIN, ASK_EVERY_MAX);
    // A clock that was put back must not silence the question for as long as it was put back by.
    now.since(last) >= period || last.since(now) > ASK_EVERY_MAX
}

/// The machine that would be asked.
fn place_of_subject(subject: &Subject) -> Option<String> {
    let place = subject.execution().map(place_of);
    place.or_else(|| subject.change().map(|change| change.entity.clone()))
}

fn place_of(execution: &Execution) -> String {
    match execution.route() {
        Route::Host(host) => format!("host {}", host.name),
        Route::Proxmox(_) => "proxmox".to_owned(),
        Route::Node(node) => format!("node {node}"),
        Route::File => "file".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use void_domain::actors::{Actor, Surface};
    use void_domain::catalogue::{Risk, Tier};
    use void_domain::digests::Digest;
    use void_domain::ids::{ActionId, ProposalCode};
    use void_domain::proposals::{
        Approval, Failure, Joined, ProposedAction, Run, Subject, SubjectKind,
    };
    use void_domain::taint::Taint;

    use super::*;
    use crate::clock::Clock;
    use void_domain::failures::FailureCode;

    const START: Timestamp = Timestamp::from_ms(1_800_000_000_000);
    const TICK: Duration = Duration::from_secs(5);

    fn unknown(number: u8, definition: Value) -> Proposal {
        let run = Run {
            started_at: START,
            ticket_expires_at: START,
            lease_until: START,
        };
        Proposal {
            id: ProposalId::new(START, [number; 10]),
            code: ProposalCode::from_random(&[1, 2, 3, 4]),
            subject: Subject {
                label: "Restart".into(),
                tier: Tier::Safe,
                risk: Risk::Nominal,
                target: "service:ct100/caddy".into(),
                digest: Digest::of(b"d"),
                kind: SubjectKind::Action(ProposedAction {
                    action_id: ActionId::parse("restart-caddy").unwrap(),
                    execution: Execution::from_definition(&definition),
                    definition,
                    params: json!({}),
                    exec_digest: Digest::of(b"e"),
                }),
            },
            requested_by: Actor::Owner {
                surface: Surface::Cli,
            }
            .requester(),
            reason: None,
            diff: None,
            taint: Taint::clean(),
            joined: Joined::default(),
            revision: 0,
            count: 1,
            created_at: START,
            expires_at: START,
            state: State::Unknown {
                approval: Approval {
                    by: "owner-cli".to_owned(),
                    at: START,
                },
                run,
                at: START,
                failure: Failure::new(FailureCode::Locked, "y"),
            },
        }
    }

    fn on(number: u8, host: &str) -> Proposal {
        let definition = json!({
            "action": {"kind": "service_restart", "host": host, "service": "caddy"},
            "host": {"name": host, "address": "local"},
        });
        unknown(number, definition)
    }

    #[test]
    fn each_channel_is_a_place_of_its_own_and_a_definition_that_cannot_be_read_is_none() {
        let read = |action: Value| unknown(1, json!({"action": action, "host": null}));
        let place = |proposal: Proposal| {
            let execution = proposal.subject.execution();
            execution.map(place_of)
        };
        let power = json!({"kind": "guest_power", "node": "z", "vmid": 107, "op": "stop"});
        let mut on_node = json!({"kind": "rollback", "node": "n1", "service": "web"});
        assert_eq!(place(on(1, "ct100")).as_deref(), Some("host ct100"));
        assert_eq!(place(read(power)).as_deref(), Some("proxmox"));
        assert_eq!(place(read(on_node.clone())).as_deref(), Some("node n1"));
        on_node["via"] = json!("file");
        assert_eq!(place(read(on_node)).as_deref(), Some("file"));
        let damaged = read(json!({"kind": "guest_power"}));
        assert_eq!(Arc::new(Settling::default()).due([damaged], START).len(), 0);
    }

    /// The ticks at which it is asked, if nothing ever comes of it.
    fn asked_at(clock: &Clock, ticks: u32) -> Vec<Timestamp> {
        let settling = Arc::new(Settling::default());
        let mut asked = Vec::new();
        for _ in 0..ticks {
            for round in settling.due([on(1, "ct100")], clock.now()) {
                for proposal in &round.proposals {
                    round.note(proposal.id, clock.now());
                    asked.push(clock.now());
                }
            }
            clock.set(clock.now().plus(TICK));
        }
        asked
    }

    #[test]
    fn an_old_question_is_asked_ever_more_rarely() {
        let asked = asked_at(&Clock::manual(START), 480);
        assert!((20..=60).contains(&asked.len()), "{}", asked.len());
        for (before, after) in asked.iter().zip(asked.iter().skip(1)) {
            let period = after.since(START) / AGE_PARTS;
            assert!(after.since(*before) >= period.min(ASK_EVERY_MAX));
            assert!(after.since(*before) <= period.min(ASK_EVERY_MAX) + 2 * TICK);
        }
        // After a day it is one question in five minutes, and never none.
        let day = asked_at(&Clock::manual(START.plus(Duration::from_secs(86_400))), 720);
        assert!((11..=13).contains(&day.len()), "{}", day.len());
    }

    #[test]
    fn a_clock_that_was_put_back_does_not_silence_the_question() {
        let clock = Clock::manual(START.plus(Duration::from_secs(10 * 365 * 86_400)));
        let settling = Arc::new(Settling::default());
        for round in settling.due([on(1, "ct100")], clock.now()) {
            round.note(round.proposals.first().unwrap().id, clock.now());
        }
        clock.set(START);
        assert_eq!(settling.due([on(1, "ct100")], clock.now()).len(), 1);
    }

    #[test]
    fn a_machine_is_asked_by_one_at_a_time_and_holds_up_nobody_else() {
        let settling = Arc::new(Settling::default());
        let all = || [on(1, "dead"), on(2, "dead"), on(3, "ct100")];
        let first = settling.due(all(), START);
        let places = |rounds: &[Round]| -> Vec<(String, usize)> {
            let round = |round: &Round| (round.place.clone(), round.proposals.len());
            rounds.iter().map(round).collect()
        };
        let both = [("host ct100".to_owned(), 1), ("host dead".to_owned(), 2)];
        assert_eq!(places(&first), both);
        // The dead one is still being asked; the other has answered nothing new.
        let dead: Vec<Round> = first
            .into_iter()
            .filter(|round| round.place == "host dead")
            .collect();
        let later = START.plus(TICK);
        assert_eq!(places(&settling.due(all(), later)), both[..1]);
        drop(dead);
        assert_eq!(places(&settling.due(all(), later)), both);
    }

    #[test]
    fn so_many_machines_are_asked_at_once_and_the_others_come_next() {
        let settling = Arc::new(Settling::default());
        let count = u8::try_from(PLACES_MAX).unwrap() + 4;
        let all = || (0..count).map(|number| on(number, &format!("h{number}")));
        let first = settling.due(all(), START);
        assert_eq!(first.len(), PLACES_MAX);
        assert_eq!(settling.due(all(), START).len(), 0);
        for round in first {
            for proposal in &round.proposals {
                round.note(proposal.id, START);
            }
        }
        let later = START.plus(TICK);
        let next = settling.due(all(), later);
        assert_eq!(next.len(), PLACES_MAX);
        let lock = settling.lock();
        let never = |round: &&Round| {
            let mut ids = round.proposals.iter().map(|proposal| proposal.id);
            ids.any(|id| !lock.last.contains_key(&id))
        };
        assert_eq!(next.iter().filter(never).count(), 4);
        drop(lock);
    }
}
