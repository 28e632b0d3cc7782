//! Many callers at once. On PostgreSQL their use cases run beside each other in one transaction; what is let
//! through is never more than one after the other would have been.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use void_control::outbox::{Outbox, Places, TelegramPlaces};
use void_control::proposals::{self, DecideRequest, ProposalKey, ProposeRequest, Proposed};
use void_control::{Ctx, Limits, freezes, notification_keys};
use void_domain::actors::Surface;
use void_domain::digests::Digest;
use void_domain::facts::{Fact, NewFact};
use void_domain::notifications::Target;
use void_domain::proposals::{Decision, Proposal, Status};
use void_store::{StoreError, facts, proposals as table};
use void_testkit::proposals::NOW;
use void_testkit::wires::Wire;
use void_testkit::{eventually, has_postgres, postgres_database};

use crate::callers::{agent, owner, owner_on};
use crate::links::Network;
use crate::planes::{Engine, Plane};
use crate::requests::{at_once, request, seen};

stories!(what_many_do_at_once_is_as_if_one_after_the_other);

const ROUNDS: u32 = 8;
const CALLS: usize = 48;
const LIMITS: fn() -> Limits = || Limits {
    open_proposals: 14,
    open_proposals_per_agent: 6,
    safe_runs_per_agent_hour: 7,
    ..Limits::default()
};

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.throw(all.len())]
    }
}

/// What somebody does.
enum Deed {
    Ask(Box<(Ctx, ProposeRequest)>),
    Decide(Decision, Box<Proposal>),
    Freeze,
    Thaw,
}

fn ask(ctx: Ctx, request: ProposeRequest) -> Deed {
    Deed::Ask(Box::new((ctx, request)))
}

fn deed(dice: &mut Dice, waiting: &[Proposal]) -> Deed {
    // Nobody waits between two runs of these, or everybody does.
    const SAFE: [&str; 7] = [
        "touch-a",
        "touch-b",
        "slow-a",
        "touch-slow",
        "cap-a",
        "cool-a",
        "touch-default",
    ];
    const RISKY: [&str; 6] = [
        "stop-a",
        "stop-b",
        "slow-stop",
        "stop-slow",
        "cap-stop",
        "cool-stop",
    ];
    let who = [owner(), agent("blue"), agent("green")];
    match dice.throw(20) {
        0 => Deed::Freeze,
        1 => Deed::Thaw,
        2..=9 => ask(
            dice.one_of(&who).clone(),
            request(dice.one_of::<&str>(&SAFE)),
        ),
        10..=12 => ask(
            dice.one_of(&who).clone(),
            request(dice.one_of::<&str>(&RISKY)),
        ),
        13..=14 => {
            let params = json!({"replicas": dice.throw(12), "zone": "north", "image": "web"});
            let asked = ProposeRequest {
                params,
                ..request("scale-a")
            };
            ask(dice.one_of(&who).clone(), asked)
        }
        _ if waiting.is_empty() => Deed::Thaw,
        roll => {
            let decision = match roll {
                15 => Decision::Reject,
                _ => Decision::Approve,
            };
            Deed::Decide(decision, Box::new(dice.one_of(waiting).clone()))
        }
    }
}

async fn what_many_do_at_once_is_as_if_one_after_the_other(plane: &mut Plane) {
    plane.limits = LIMITS();
    plane.machine.release();
    plane.start().await;
    let mut dice = Dice(20_261_118);
    let (mut ran, mut refused) = (0, 0);
    for _ in 0..ROUNDS {
        let waiting = plane.waiting().await;
        let deeds: Vec<Deed> = (0..CALLS).map(|_| deed(&mut dice, &waiting)).collect();
        for started in at_once(CALLS, |n| plane.does(&deeds[n])).await {
            match started {
                Some(true) => ran += 1,
                Some(false) => refused += 1,
                None => {}
            }
        }
        plane.does(&Deed::Thaw).await;
        plane.ends().await;
    }
    let judged = judge(&plane.audit().await);
    assert!(ran > 5 && refused > 20, "{ran} {refused}");
    assert!(judged.joined > 0 && judged.froze > 0 && judged.approved > 0);
}

impl Plane {
    async fn waiting(&self) -> Vec<Proposal> {
        self.inside(async |_, store| {
            let read = store.read(|tx| Box::pin(table::list_waiting(tx, None, 100)));
            let rows = read.await.unwrap().items;
            rows.into_iter().map(|stored| stored.proposal).collect()
        })
        .await
    }

    /// Whether something was started; `None` if it was about something else.
    async fn does(&self, deed: &Deed) -> Option<bool> {
        match deed {
            Deed::Freeze => {
                self.freeze().await;
                None
            }
            Deed::Thaw => {
                // Frozen by nobody, or with a proof that is fresh.
                let ctx = owner_on(Surface::Web, Some(Duration::ZERO));
                let _ = self
                    .inside(async move |control, _| freezes::thaw(&control, &ctx).await)
                    .await;
                None
            }
            Deed::Ask(asked) => match self.propose(&asked.0, asked.1.clone()).await.unwrap() {
                Proposed::Started(_) => Some(true),
                Proposed::Queued(_) => None,
                Proposed::Refused(..) => Some(false),
            },
            Deed::Decide(decision, row) => {
                let request = seen(*decision, row);
                let key = ProposalKey::Id(row.id);
                let decided = self
                    .inside(async move |control, _| {
                        proposals::decide(&control, &owner(), key, request).await
                    })
                    .await;
                Some(decided.is_ok_and(|row| row.run().is_some()))
            }
        }
    }

    /// What runs has ended.
    async fn ends(&self) {
        eventually("runs to end", || async {
            let under_way = self.count(Status::Running).await;
            (under_way == 0).then_some(())
        })
        .await;
    }
}

#[derive(Default)]
struct Judged {
    joined: u32,
    froze: u32,
    approved: u32,
}

fn is_agent(name: &str) -> bool {
    name == "blue" || name == "green"
}

fn no_more_wait_than_may(waiting: &BTreeMap<String, (String, String)>, by: &str, entry: &Fact) {
    let of_them = waiting.values().filter(|(other, _)| other == by).count();
    assert!(waiting.len() as u64 <= LIMITS().open_proposals, "{entry:?}");
    assert!(
        !is_agent(by) || of_them as u64 <= LIMITS().open_proposals_per_agent,
        "{entry:?}"
    );
}

fn starts_at_most(action: &str) -> u32 {
    match action {
        "cap-a" => 2,
        // The clock stands.
        "cap-stop" | "cool-a" | "cool-stop" => 1,
        _ => u32::MAX,
    }
}

/// Goes through the record in its order: at no entry more was let through than the rules allow.
fn judge(record: &[Fact]) -> Judged {
    let mut judged = Judged::default();
    let mut is_frozen = false;
    let mut waiting: BTreeMap<String, (String, String)> = BTreeMap::new();
    let mut busy: BTreeMap<String, String> = BTreeMap::new();
    let mut starts: BTreeMap<String, u32> = BTreeMap::new();
    let mut safe_runs: BTreeMap<String, u32> = BTreeMap::new();
    let mut codes: BTreeMap<String, String> = BTreeMap::new();
    for entry in record {
        let detail: Value = serde_json::from_str(&entry.detail).unwrap();
        let text = |name: &str| detail[name].as_str().unwrap_or_default().to_owned();
        let id = entry.subject.clone().unwrap_or_default();
        let (by, action) = (text("requested_by"), text("action_id"));
        match entry.verb.as_str() {
            "freeze.set" => {
                is_frozen = true;
                judged.froze += 1;
            }
            "freeze.lifted" => is_frozen = false,
            "proposal.created" => {
                let code = text("code");
                assert!(codes.values().all(|other| *other != code), "{entry:?}");
                codes.insert(id.clone(), code);
                if detail["status"] == "pending" {
                    let wish = (by.clone(), text("digest"));
                    assert!(waiting.values().all(|other| *other != wish), "{entry:?}");
                    waiting.insert(id, wish);
                    no_more_wait_than_may(&waiting, &by, entry);
                }
            }
            "proposal.joined" => {
                assert!(waiting.contains_key(&id), "{entry:?}");
                judged.joined += 1;
            }
            "proposal.approved" => {
                if detail["approved_by"] == "policy" {
                    let count = safe_runs.entry(by.clone()).or_default();
                    *count += 1;
                    let limit = LIMITS().safe_runs_per_agent_hour;
                    assert!(!is_agent(&by) || *count <= limit, "{entry:?}");
                } else {
                    assert!(waiting.remove(&id).is_some(), "{entry:?}");
                    judged.approved += 1;
                }
            }
            "proposal.rejected" | "proposal.cancelled" | "proposal.expired" => {
                waiting.remove(&id);
                codes.remove(&id);
            }
            "proposal.started" => {
                assert!(!is_frozen, "started in a freeze: {entry:?}");
                let other = busy.insert(text("target"), id);
                assert_eq!(other, None, "two on one target: {entry:?}");
                let count = starts.entry(action.clone()).or_default();
                *count += 1;
                assert!(*count <= starts_at_most(&action), "{entry:?}");
            }
            "proposal.executed" | "proposal.failed" | "proposal.unknown" => {
                codes.remove(&id);
                assert_eq!(busy.remove(&text("target")), Some(id), "{entry:?}");
            }
            _ => {}
        }
    }
    judged
}

const ATTEMPTS: usize = 4;
/// Whoever holds the writer is heard of so often.
const SAYS_EVERY: Duration = Duration::from_millis(500);

/// The writer waits while they gather, so that they share its next batch.
#[test]
fn many_runs_cost_as_many_statements_as_a_few() {
    on_a_wire(async |mut plane, wire| {
        plane.catalogue = catalogue(ATTEMPTS * (8 + 8 + 64));
        plane.link.set(Network::Stuck);
        plane.start().await;
        let mut first = 0;
        // The first ones prepare.
        runs_in_one_batch(&plane, &wire, &mut first, 8).await;
        let few = runs_in_one_batch(&plane, &wire, &mut first, 8).await;
        let many = runs_in_one_batch(&plane, &wire, &mut first, 64).await;
        assert!(many <= few + 2, "{few} {many}");
        assert!(few < 24, "{few}");
    });
}

fn catalogue(count: usize) -> String {
    let action = |n: usize| {
        json!({"id": format!("touch-{n}"), "label": "Touch", "kind": "service_restart", "host": "local",
               "service": format!("s{n}"), "tier": "safe", "cooldown_s": 0})
    };
    json!({"actions": (0..count).map(action).collect::<Vec<_>>()}).to_string()
}

/// How many statements the batch had. What Void does by itself may come in between: then others try.
async fn runs_in_one_batch(plane: &Plane, wire: &Wire, first: &mut usize, count: usize) -> usize {
    for _ in 0..ATTEMPTS {
        let numbers = *first..*first + count;
        *first = numbers.end;
        if let [all] = runs(plane, wire, numbers).await.as_slice() {
            return *all;
        }
    }
    panic!("they never shared one batch");
}

/// How many statements each of their batches had.
async fn runs(plane: &Plane, wire: &Wire, numbers: std::ops::Range<usize>) -> Vec<usize> {
    let (first, count) = (numbers.start, numbers.len());
    wire.flights();
    let started = gathered(plane, count, |n| {
        let action = format!("touch-{}", first + n);
        async move { plane.propose(&owner(), request(&action)).await }
    });
    for answer in started.await {
        assert!(matches!(answer, Ok(Proposed::Started(_))), "{answer:?}");
    }
    wire.flights()
}

/// So many calls that each write once: the writer waits until all of them do, so that they share its next batch.
async fn gathered<T, Fut>(plane: &Plane, count: usize, call: impl Fn(usize) -> Fut) -> Vec<T>
where
    Fut: Future<Output = T>,
{
    let (holds, held) = tokio::sync::oneshot::channel();
    let (release, released) = tokio::sync::oneshot::channel::<()>();
    let gate = plane.inside(async |_, store| {
        store
            .write(|tx| {
                Box::pin(async move {
                    holds.send(()).unwrap();
                    // The server ends a transaction that says nothing for long.
                    let mut released = released;
                    while tokio::time::timeout(SAYS_EVERY, &mut released)
                        .await
                        .is_err()
                    {
                        facts::head(tx).await?;
                    }
                    Ok::<_, StoreError>(())
                })
            })
            .await
    });
    let answers = async {
        held.await.unwrap();
        let calls = at_once(count, call);
        let all_wait = eventually("all of them to wait", || async {
            let waiting = plane.inside(async |_, store| store.writes_waiting()).await;
            (waiting >= count).then_some(())
        });
        let released = async {
            all_wait.await;
            release.send(()).unwrap();
        };
        tokio::join!(calls, released).0
    };
    let (gate, answers) = tokio::join!(gate, answers);
    gate.unwrap();
    answers
}

/// A plane behind a wire, if there is such an engine here.
fn on_a_wire(test: impl AsyncFn(Plane, Wire)) {
    if !has_postgres() {
        return;
    }
    let url = postgres_database();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let wire = Wire::start(&url);
        let plane = Plane::new(Engine::Postgres(wire.url()));
        test(plane, wire).await;
    });
}

/// One of the batch fails after it has written: all of it runs again, one by one.
#[test]
fn a_refusal_that_is_judged_again_is_counted_once() {
    const REFUSED: usize = 6;
    on_a_wire(async |mut plane, wire| {
        plane.start().await;
        plane.freeze().await;
        let outside = Ctx {
            is_from_outside: true,
            ..agent("blue")
        };
        let before = wire.rollbacks();
        let answers = gathered(&plane, REFUSED + 1, async |n| {
            if n < REFUSED {
                let refused = plane.propose(&outside, request("touch-a")).await;
                assert!(matches!(refused, Ok(Proposed::Refused(..))), "{refused:?}");
                return;
            }
            let fails = plane.inside(async |_, store| {
                store
                    .write_shared(|tx| {
                        Box::pin(async {
                            facts::append(tx, NOW, draft()).await?;
                            Err::<(), _>(StoreError::Internal("told to fail".to_owned()))
                        })
                    })
                    .await
            });
            fails.await.unwrap_err();
        });
        answers.await;
        assert!(wire.rollbacks() > before, "the batch was run again");
        plane.ask_to_stop().await;
        assert_eq!(plane.count(Status::Refused).await, 1);
        let counted = plane.audited("refusals.counted").await;
        let counts: Vec<_> = counted.iter().map(|detail| &detail["count"]).collect();
        assert_eq!(counts, [&json!(REFUSED - 1)]);
    });
}

fn draft() -> NewFact {
    NewFact {
        request_id: None,
        actor: "system".to_owned(),
        verb: "test",
        subject: None,
        detail: json!({}),
        catalogue: None,
        audience: None,
    }
}

/// A yes uses its button up before it is judged by how much the chat may still approve.
#[test]
fn two_yeses_from_a_chat_share_a_batch() {
    const USER: i64 = 7;
    on_a_wire(async |mut plane, wire| {
        plane.machine.release();
        plane.beside.outbox = Outbox::new(Places {
            telegram: Some(TelegramPlaces {
                users: vec![USER],
                approvals_per_day: 10,
            }),
            ntfy: false,
            webhooks: Vec::new(),
            quiet: None,
        });
        plane.start().await;
        let mut yeses = Vec::new();
        for action in ["stop-a", "stop-b"] {
            let row = plane.queue(&agent("blue"), action).await;
            let shown = row.clone();
            let key = plane.inside(async move |control, _| {
                let target = Target::Telegram { user: USER };
                notification_keys::mint_approval(&control, &target, &shown).await
            });
            let key = Digest::of(key.await.unwrap().as_bytes());
            yeses.push((row, key));
        }
        let chat = owner_on(
            Surface::Telegram {
                user: USER,
                may_approve: true,
            },
            None,
        );
        let before = wire.rollbacks();
        let answers = gathered(&plane, yeses.len(), |n| {
            let (row, key) = &yeses[n];
            let yes = DecideRequest {
                key: Some(*key),
                ..seen(Decision::Approve, row)
            };
            plane.decide(&chat, row.id, yes)
        });
        for answer in answers.await {
            assert!(
                answer.as_ref().is_ok_and(|row| row.approval().is_some()),
                "{answer:?}"
            );
        }
        assert_eq!(wire.rollbacks(), before, "nobody ran again");
        plane.ends().await;
    });
}
