//! Seeded trials (I1, I13): the connection breaks before or after the request was processed, or the
//! whole server of ours stops at a moment that the seed chooses. Each is settled by what really
//! happened, and nothing happens twice.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use void_channels::{Channel as _, Channels, Evidence, Outcome, Patience};
use void_domain::freezes::FreezeSwitch;
use void_domain::proposals::Proposal;
use void_rehearsal::proxmox::{Fault, Guest, Scope, Times};
use void_testkit::eventually;

use super::{Pve, TOKEN, claimed};
use crate::lab::{Random, now, permit, wait_until, within};

const TRIALS: u32 = if cfg!(feature = "deep") { 150 } else { 40 };
/// More at once would try the machine, whose tickets run out, and not the faults.
const AT_ONCE: usize = 20;
const MINUTES: u64 = if cfg!(feature = "deep") { 5 } else { 1 };
const FIRST: u32 = 200;
/// Long enough for a request to leave on a busy machine, short enough to wait for.
const TICKET: Duration = Duration::from_secs(3);
/// Looking first, or following the task, takes about this long.
const MOMENTS_MS: u64 = 100;
/// Longer than any fault holds a request back.
const ARRIVAL: Duration = Duration::from_millis(1_500);
const HASTY: Patience = Patience {
    connect: Duration::from_secs(10),
    call: Duration::from_millis(1_000),
    settle: Duration::from_millis(300),
    arrival: ARRIVAL,
};

fn lab() -> Arc<Pve> {
    let guests = (FIRST..FIRST + TRIALS).map(|vmid| {
        let guest = Guest::lxc(vmid, "z", "it");
        if vmid.is_multiple_of(2) {
            guest.running()
        } else {
            guest
        }
    });
    Arc::new(Pve::of(guests.collect(), HASTY, 20))
}

fn proposal(pve: &Pve, vmid: u32) -> Proposal {
    let op = if vmid.is_multiple_of(2) {
        "stop"
    } else {
        "start"
    };
    let running = pve.running(&format!("{op}-{vmid}"));
    claimed(running, now(), now().plus(TICKET))
}

fn path(vmid: u32) -> String {
    format!("/nodes/z/lxc/{vmid}/status/st")
}

fn fault(random: &mut Random) -> (Fault, bool) {
    match random.below(8) {
        0..=2 => (Fault::DropBefore, false),
        3..=4 => (Fault::DropAfter, true),
        5 => (Fault::HalfAnswer, true),
        6 => (Fault::Garbage, true),
        _ => (Fault::ProxyLost, true),
    }
}

/// Asks until there is an answer.
async fn settled(pve: &Pve, channels: &Channels, running: &Proposal) -> Evidence {
    eventually("an answer", || async {
        match pve.settle(channels, running).await {
            Evidence::Started | Evidence::None(_) => None,
            known @ (Evidence::Done { .. } | Evidence::Failed(_)) => Some(known),
        }
    })
    .await
}

/// Done exactly if the server counted one effect of one request.
fn is_true(pve: &Pve, vmid: u32, evidence: &Evidence) {
    let effects = pve.effects_on(vmid);
    let said = match evidence {
        Evidence::Done { result } => usize::from(result["changed"] == json!(true)),
        Evidence::Failed(_) | Evidence::Started | Evidence::None(_) => 0,
    };
    assert_eq!(said, effects, "{vmid}: {evidence:?}");
    assert!(pve.posts_under(&path(vmid)) <= 1, "{vmid}");
}

/// Each fault is asserted to be set. In the long run trial 210 once said *Done* under `DropBefore`: all 150 trials set theirs at
/// once, the switchboard held 100 and let the oldest go for a new one, and so nothing struck trial 210's request. It was the
/// harness, no second request; the switchboard refuses now, and no more than [`AT_ONCE`] are under way.
#[tokio::test(flavor = "multi_thread")]
async fn dropped_connections_are_settled_by_what_happened() {
    let (pve, turns) = (lab(), Arc::new(Semaphore::new(AT_ONCE)));
    let mut trials = JoinSet::new();
    for vmid in FIRST..FIRST + TRIALS {
        let (pve, turns) = (Arc::clone(&pve), Arc::clone(&turns));
        trials.spawn(async move {
            let _turn = turns.acquire().await.unwrap();
            let (fault, arrives) = fault(&mut Random::new(u64::from(vmid)));
            let faults = pve.server.faults();
            assert!(faults.set(fault.clone(), Scope::under(&path(vmid)), Times::Once));
            let running = proposal(&pve, vmid);
            let outcome = pve.execute(&pve.channels, &running).await;
            match &outcome {
                Outcome::Done { .. } => assert!(arrives, "{vmid}: {fault:?}"),
                Outcome::Unknown(_) => {}
                Outcome::Busy(failure) => panic!("{vmid}: Proxmox says no such thing: {failure:?}"),
                // On a very slow machine the ticket ran out before, or the look that comes first took too long.
                Outcome::Failed(failure) => {
                    let is_slow = ["expired", "timeout"].contains(&failure.code.as_str());
                    assert!(is_slow, "{vmid}: {failure:?}");
                }
            }
            let evidence = settled(&pve, &pve.channels, &running).await;
            if let Outcome::Done { result } = outcome {
                assert_eq!(evidence, Evidence::Done { result }, "{vmid}");
            }
            (vmid, evidence)
        });
    }
    let ends = within(60 * MINUTES, trials.join_all()).await;
    pve.wait_until_quiet().await;
    assert_eq!(ends.len(), TRIALS as usize);
    for (vmid, evidence) in &ends {
        is_true(&pve, *vmid, evidence);
    }
    let done = |(_, evidence): &&(u32, Evidence)| matches!(evidence, Evidence::Done { .. });
    let done = ends.iter().filter(done).count();
    assert!((5..=TRIALS as usize - 5).contains(&done), "{done}");
}

/// A request that Proxmox holds back longer than we wait is never called not done before it arrives.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_arrives_late_is_still_ours() {
    let pve = lab();
    let vmid = FIRST;
    let late = Fault::Slow(HASTY.call + Duration::from_millis(1_200));
    pve.server.faults().once(late, &path(vmid));
    let running = proposal(&pve, vmid);
    let outcome = pve.execute(&pve.channels, &running).await;
    assert!(matches!(outcome, Outcome::Unknown(_)), "{outcome:?}");
    let evidence = within(30, settled(&pve, &pve.channels, &running)).await;
    assert!(matches!(evidence, Evidence::Done { .. }), "{evidence:?}");
    is_true(&pve, vmid, &evidence);
}

/// Our process ends at any moment; another one, which knows only the ticket, finds out.
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_at_any_moment_is_settled_by_what_happened() {
    let (pve, turns) = (lab(), Arc::new(Semaphore::new(AT_ONCE)));
    let after = Arc::new(pve.channels_with(pve.config(TOKEN).with_patience(HASTY)));
    let mut trials = JoinSet::new();
    for vmid in FIRST..FIRST + TRIALS {
        let (pve, after, turns) = (Arc::clone(&pve), Arc::clone(&after), Arc::clone(&turns));
        trials.spawn(async move {
            let _turn = turns.acquire().await.unwrap();
            let mut random = Random::new(u64::from(vmid) + 7_000);
            let running = proposal(&pve, vmid);
            let action = pve
                .catalogue
                .get(running.subject.action_id().unwrap())
                .unwrap();
            let permit = permit(action, &running, FreezeSwitch::default());
            let channels = Arc::clone(&pve.channels);
            let task = tokio::spawn(async move { channels.execute(permit).await });
            if random.below(2) == 0 {
                let arrived = || pve.posts_under(&path(vmid)) == 1;
                wait_until("the request", arrived).await;
            }
            tokio::time::sleep(Duration::from_millis(random.below(MOMENTS_MS))).await;
            task.abort();
            let _ = task.await;
            let evidence = settled(&pve, &after, &running).await;
            (vmid, evidence)
        });
    }
    let ends = within(60 * MINUTES, trials.join_all()).await;
    pve.wait_until_quiet().await;
    for (vmid, evidence) in &ends {
        is_true(&pve, *vmid, evidence);
    }
    // Some were stopped before they sent anything, some after.
    let posts = pve.posts();
    assert!((1..TRIALS as usize).contains(&posts), "{posts}");
}
