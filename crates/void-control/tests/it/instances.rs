//! Two control planes on one database, of which one alone starts what runs on its machine. Whoever is asked says what
//! that one would say, and what waits for it is judged again before it starts (I40).

use std::time::Duration;

use void_control::proposals::Proposed;
use void_control::{Ctx, Limits, tokens};
use void_domain::actors::{Actor, ActorKind};
use void_domain::agents::AgentName;
use void_domain::capabilities::Capability;
use void_domain::instances::InstanceName;
use void_domain::policy::Refusal;
use void_domain::proposals::{Cancellation, Proposal, State, Status};
use void_domain::time::Timestamp;
use void_testkit::{eventually, has_postgres, postgres_database};

use crate::callers::{agent, owner};
use crate::machines::{CATALOGUE, parse};
use crate::planes::{Engine, Plane};
use crate::requests::{at_once, request};

/// `local` is alpha's machine.
struct Pair {
    alpha: Plane,
    beta: Plane,
}

impl Pair {
    async fn start() -> Self {
        let engine = Engine::Postgres(postgres_database());
        let hosts = r#"{"hosts": {"local": {"address": "local", "instance": "alpha"}}, "actions""#;
        let catalogue = CATALOGUE.replacen(r#"{"actions""#, hosts, 1);
        let mut alpha = Plane::new(engine.clone());
        let mut beta = Plane::new(engine);
        beta.clock = alpha.clock.clone();
        for (plane, name) in [(&mut alpha, "alpha"), (&mut beta, "beta")] {
            plane.catalogue.clone_from(&catalogue);
            plane.machine.install(&parse(&catalogue));
            plane.instance = InstanceName::parse(name);
            plane.start().await;
        }
        Self { alpha, beta }
    }

    /// Gone a moment ago: the others believe that it is there.
    async fn start_without_alpha() -> Self {
        let mut pair = Self::start().await;
        pair.alpha.crash();
        pair
    }

    /// What an instance does every few seconds.
    fn alpha_is_seen(&self) {
        self.beta.edit(
            "UPDATE instances SET seen_at = CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
        );
    }

    /// Asked at beta.
    async fn ask(&self, who: &Ctx, action: &str) -> Proposed {
        self.alpha_is_seen();
        self.beta.propose(who, request(action)).await.unwrap()
    }

    /// What beta leaves to alpha.
    async fn left(&self, who: &Ctx, action: &str) -> Proposal {
        match self.ask(who, action).await {
            Proposed::Started(row) if row.status() == Status::Approved => row,
            other => panic!("{action} does not wait for alpha: {other:?}"),
        }
    }

    async fn refused(&self, who: &Ctx, action: &str) -> Refusal {
        match self.ask(who, action).await {
            Proposed::Refused(refusal, _) => refusal,
            other => panic!("{action} is not refused: {other:?}"),
        }
    }

    async fn end(mut self) {
        self.beta.stop().await;
        self.alpha.end().await;
    }
}

/// Two of them share PostgreSQL only, so without it there is nothing to play.
fn play(story: impl AsyncFnOnce()) {
    if !has_postgres() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(story());
}

fn refusal_of(row: &Proposal) -> &str {
    assert_eq!(row.status(), Status::Refused, "{row:?}");
    row.failure().unwrap().code.as_str()
}

#[test]
fn whoever_asks_elsewhere_hears_what_the_machines_own_instance_would_say() {
    play(async || {
        let mut pair = Pair::start_without_alpha().await;
        let (blue, green) = (agent("blue"), agent("green"));
        let first = pair.left(&blue, "touch-a").await;
        // Another agent too, and the owner.
        for who in [&blue, &green, &owner()] {
            assert_eq!(pair.refused(who, "touch-a").await, Refusal::Busy);
        }
        pair.left(&blue, "slow-a").await;
        assert_eq!(pair.refused(&blue, "touch-slow").await, Refusal::Busy);
        let cool = pair.left(&blue, "cool-a").await;
        let until = cool.created_at.plus(Duration::from_secs(60));
        let cooling = Refusal::CoolingDown { until };
        assert_eq!(pair.refused(&green, "cool-a").await, cooling);
        pair.alpha_is_seen();
        let answers = at_once(60, |_| pair.beta.propose(&green, request("touch-b"))).await;
        let left = answers
            .iter()
            .filter(|answer| matches!(answer, Ok(Proposed::Started(_))));
        assert_eq!(left.count(), 1, "{answers:?}");
        assert_eq!(pair.beta.count(Status::Approved).await, 4);
        pair.alpha.machine.release();
        pair.alpha.start().await;
        assert_eq!(
            pair.alpha.ended(first.id).await.status(),
            Status::Executed,
            "its own instance comes and starts it"
        );
        eventually("all to run", || async {
            (pair.alpha.count(Status::Executed).await == 4).then_some(())
        })
        .await;
        let effects = pair.alpha.machine.effect_counts();
        assert!(effects.values().all(|count| *count == 1), "{effects:?}");
        assert!(pair.beta.machine.effects().is_empty());
        pair.end().await;
    });
}

#[test]
fn caps_and_freezes_hold_back_what_is_asked_elsewhere() {
    play(async || {
        let mut pair = Pair::start().await;
        let blue = agent("blue");
        let ran = pair.alpha.run(&blue, "cap-a").await;
        pair.alpha.ended(ran.id).await;
        pair.alpha.crash();
        pair.left(&blue, "cap-a").await;
        let capped = Refusal::CapReached { per_hour: 2 };
        assert_eq!(pair.refused(&blue, "cap-a").await, capped);
        pair.beta.freeze().await;
        assert_eq!(pair.refused(&blue, "touch-a").await, Refusal::Frozen);
        pair.alpha.start().await;
        pair.end().await;
    });
}

#[test]
fn what_waits_for_its_instance_ends_with_whoever_asked() {
    play(async || {
        let mut pair = Pair::start_without_alpha().await;
        let made = pair.beta.inside(async |control, _| {
            let rights = [Capability::Read, Capability::Act].into_iter().collect();
            let (kind, name) = (ActorKind::Agent, "leaver".to_owned());
            let token = tokens::create(&control, &owner(), kind, name, rights).await;
            let name: AgentName = "leaver".parse().unwrap();
            let found = void_control::agents::find(&control, &name).await;
            (token.unwrap(), found.unwrap().unwrap())
        });
        let (token, found) = made.await;
        let leaver = Ctx {
            actor: Actor::Agent {
                id: found.id,
                name: found.name,
            },
            ..agent("leaver")
        };
        let row = pair.left(&leaver, "touch-a").await;
        let revoked = pair
            .beta
            .inside(async move |control, _| tokens::revoke(&control, &owner(), token.id).await);
        revoked.await.unwrap();
        // It asked while it was withdrawn, so that nothing of it was ended then.
        let late = pair.left(&leaver, "touch-b").await;
        pair.alpha.start().await;
        for id in [row.id, late.id] {
            let ended = pair.alpha.becomes(id, Status::Cancelled).await;
            assert!(matches!(
                ended.state,
                State::Cancelled {
                    why: Cancellation::Withdrawn,
                    ..
                }
            ));
        }
        pair.alpha.sweep().await;
        assert!(pair.alpha.machine.effects().is_empty());
        pair.end().await;
    });
}

#[test]
fn a_freeze_ends_what_policy_let_through_and_no_thaw_brings_it_back() {
    play(async || {
        let mut pair = Pair::start_without_alpha().await;
        let blue = agent("blue");
        let safe = pair.left(&blue, "touch-a").await;
        let risky = pair.beta.queue(&blue, "stop-a").await;
        pair.alpha_is_seen();
        let risky = pair.beta.approve(&risky).await.unwrap();
        assert_eq!(risky.status(), Status::Approved);
        pair.beta.freeze().await;
        pair.beta.thaw().await;
        let after = pair.left(&blue, "touch-b").await;
        pair.alpha.start().await;
        let ended = pair.alpha.ended(safe.id).await;
        assert_eq!(refusal_of(&ended), "frozen");
        let steps = pair.alpha.steps(safe.id).await;
        let policy = |status| (status, "policy".to_owned());
        assert_eq!(steps, [policy(Status::Approved), policy(Status::Refused)]);
        for row in [risky, after] {
            assert_eq!(pair.alpha.ended(row.id).await.status(), Status::Executed);
        }
        let mut effects = pair.alpha.machine.effects();
        effects.sort();
        assert_eq!(effects, ["stop-a", "touch-b"]);
        pair.end().await;
    });
}

#[test]
fn the_owner_takes_back_what_waits_for_its_instance() {
    play(async || {
        let mut pair = Pair::start_without_alpha().await;
        let row = pair.left(&agent("blue"), "touch-a").await;
        let cancelled = pair.beta.cancel(&owner(), row.id).await.unwrap();
        assert_eq!(cancelled.status(), Status::Cancelled);
        pair.alpha.start().await;
        pair.alpha.sweep().await;
        assert!(pair.alpha.machine.effects().is_empty());
        // Its target is free again.
        let again = pair.ask(&agent("blue"), "touch-a").await;
        assert!(matches!(again, Proposed::Started(_)), "{again:?}");
        eventually("it to run", || async {
            (pair.alpha.count(Status::Executed).await == 1).then_some(())
        })
        .await;
        pair.end().await;
    });
}

#[test]
fn whoever_claims_judges_by_what_is_true_then() {
    play(async || {
        let mut pair = Pair::start().await;
        let blue = agent("blue");
        let before = pair.alpha.run(&blue, "cool-a").await;
        pair.alpha.ended(before.id).await;
        pair.alpha.crash();
        pair.alpha.pass(Duration::from_secs(61));
        let cool = pair.left(&blue, "cool-a").await;
        // As if it had been started meanwhile, which nobody lets through any more.
        let started = |at: i64| {
            let id = before.id;
            pair.beta.edit(&format!(
                "UPDATE proposals SET started_at = {at} WHERE id = '{id}'"
            ));
        };
        let ms = |at: Timestamp| at.as_ms();
        started(ms(cool.created_at));
        pair.alpha.start().await;
        let ended = pair.alpha.ended(cool.id).await;
        assert_eq!(refusal_of(&ended), "cooling_down");
        started(ms(before.run().unwrap().started_at));
        // The owner allows less than when it was asked for.
        pair.alpha.crash();
        let over = pair.left(&blue, "touch-a").await;
        pair.alpha.limits = Limits {
            safe_runs_per_agent_hour: 1,
            ..Limits::default()
        };
        pair.alpha.start().await;
        let ended = pair.alpha.ended(over.id).await;
        assert_eq!(refusal_of(&ended), "cap_reached");
        assert_eq!(pair.alpha.machine.effects(), ["cool-a"]);
        pair.end().await;
    });
}
