//! Seeded trials (I1, I13): something between Void and the command is killed at a moment that the
//! seed chooses. Never two effects, never done without an effect, never failed with one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;
use void_channels::{Evidence, Outcome};
use void_domain::proposals::Proposal;
use void_testkit::processes::{Process, Signal, processes_about, signal};

use crate::lab::{HOST, Lab, Listed, Random, wait_until};

const ROUNDS: u64 = if cfg!(feature = "deep") { 50 } else { 1 };
/// Labs that run beside each other, and trials in each.
const LABS: u64 = 4;
const TRIALS: u64 = 50;
/// Trials of a lab that are under way at once: every kill may hit all of them, and of too many on a busy machine
/// one would be hit again and again before it gets anywhere.
const AT_ONCE: usize = 6;
/// A run takes about this long, connecting included; later kills would hit nothing.
const FROM_START_MS_MAX: u64 = 120;
/// From the start of the `ssh` that carries the command to its end.
const FROM_SENDING_MS_MAX: u64 = 60;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Victim {
    /// The connection, as a network breaks it.
    Connection,
    /// The process that holds the shared connection on our side.
    Master,
    /// The `ssh` that carries the command.
    Sender,
    /// Everything of ours.
    OurSide,
    /// The host's own agent.
    VoidAct,
    /// The listed command.
    Command,
    /// The task of the server that waits.
    Server,
}

const VICTIMS: [Victim; 12] = [
    Victim::Connection,
    Victim::Connection,
    Victim::Connection,
    Victim::Master,
    Victim::Master,
    Victim::Sender,
    Victim::Sender,
    Victim::OurSide,
    Victim::Server,
    Victim::Server,
    Victim::VoidAct,
    Victim::Command,
];

fn kill(victim: Victim, lab: &Lab, id: &str) {
    let all = |processes: Vec<Process>| {
        for process in processes {
            signal(process.pid, Signal::KILL);
        }
    };
    match victim {
        Victim::Connection => lab.sshd.cut(),
        Victim::Master => all(lab.masters()),
        Victim::Sender => {
            all(lab.senders("void-list"));
            all(lab.senders(id));
        }
        Victim::OurSide => all(processes_about(&lab.run_folder())),
        Victim::VoidAct => all(lab.actors()),
        Victim::Command => {
            let mut commands = processes_about(&lab.sshd.path("effect"));
            commands.retain(|process| process.line.contains(&format!(" {id} ")));
            all(commands);
        }
        Victim::Server => {}
    }
}

struct Trial {
    seed: u64,
    victim: Victim,
    running: Proposal,
    /// `None` if the server itself was the victim.
    outcome: Option<Outcome>,
}

fn trial_id(number: u64) -> String {
    format!("trial-{number}")
}

async fn trial(lab: Arc<Lab>, seed: u64, number: u64) -> Trial {
    let mut random = Random::new(seed);
    let victim = VICTIMS[usize::try_from(random.below(12)).unwrap()];
    let from_sending = random.below(3) > 0;
    let id = trial_id(number);
    let running = lab.running(&id, &json!({}));
    let task = lab.start(&running);
    let range_ms = if from_sending {
        wait_until("the command to leave", || {
            task.is_finished() || !lab.senders(&id).is_empty() || !lab.actors().is_empty()
        })
        .await;
        FROM_SENDING_MS_MAX
    } else {
        FROM_START_MS_MAX
    };
    // The stimulus of this seed, not a wait for anything.
    tokio::time::sleep(Duration::from_micros(random.below(range_ms * 1000))).await;
    kill(victim, &lab, &id);
    let outcome = if victim == Victim::Server {
        task.abort();
        task.await.ok()
    } else {
        Some(task.await.unwrap())
    };
    Trial {
        seed,
        victim,
        running,
        outcome,
    }
}

/// All trials of one lab. Those that wait for a lost end wait beside the ones that follow.
async fn trials(way: &'static str, first_seed: u64) -> BTreeMap<String, usize> {
    let script = "sleep 0.01; \"$0\" \"$1\"; sleep 0.01";
    let listed: Vec<Listed> = (0..TRIALS)
        .map(|number| {
            let id = trial_id(number);
            let argv = json!(["/bin/sh", "-c", script, "@/effect", id, ""]);
            Listed::risky(&id, argv).timeout_s(1).on(way)
        })
        .collect();
    let lab = Arc::new(Lab::new(&listed));
    let mut ended = Vec::new();
    let mut waiting = JoinSet::new();
    for number in 0..TRIALS {
        waiting.spawn(trial(Arc::clone(&lab), first_seed + number, number));
        if let Ok(Some(trial)) =
            tokio::time::timeout(Duration::from_secs(1), waiting.join_next()).await
        {
            ended.push(trial.unwrap());
        }
        while waiting.len() >= AT_ONCE {
            ended.extend(waiting.join_next().await.map(Result::unwrap));
        }
    }
    ended.extend(waiting.join_all().await);
    lab.wait_until_quiet().await;
    let mut seen = BTreeMap::new();
    for trial in ended {
        let end = judge(&lab, &trial).await;
        *seen.entry(format!("{end} {:?}", trial.victim)).or_default() += 1;
    }
    // Nothing came late.
    lab.wait_until_quiet().await;
    seen
}

fn effects_of(lab: &Lab, id: &str) -> usize {
    let needle = format!("|{id}|");
    let effects = lab.effects();
    effects.iter().filter(|line| line.contains(&needle)).count()
}

async fn judge(lab: &Lab, trial: &Trial) -> &'static str {
    let id = trial.running.subject.action_id().unwrap().as_str();
    let count = effects_of(lab, id);
    let about = format!("seed {}: {:?}", trial.seed, trial.outcome);
    assert!(count <= 1, "{about}: {count} effects");
    let end = match &trial.outcome {
        Some(Outcome::Done { result }) if result["replayed"] == json!(true) => "settled as done",
        Some(Outcome::Done { .. }) => "done",
        Some(Outcome::Failed(failure)) if failure.code == "command_failed" => "tried",
        Some(Outcome::Failed(_) | Outcome::Busy(_)) => "not done",
        Some(Outcome::Unknown(_)) | None => "unknown",
    };
    let proved = match (end, lab.settle(&trial.running).await) {
        ("unknown", Evidence::Done { .. }) => "done",
        ("unknown", Evidence::Failed(failure)) if failure.code == "command_failed" => "tried",
        ("unknown", Evidence::Failed(_)) => "not done",
        // Known once, known for good.
        ("done" | "settled as done", Evidence::Done { .. }) => end,
        ("tried" | "not done", Evidence::Failed(_)) => end,
        ("unknown", Evidence::Started) => end,
        (_, evidence) => panic!("{about}: later {evidence:?}"),
    };
    match proved {
        "done" | "settled as done" => assert_eq!(count, 1, "{about}: done without an effect"),
        "not done" => assert_eq!(count, 0, "{about}: failed with an effect"),
        _ => {}
    }
    assert_eq!(effects_of(lab, id), count, "{about}: asking ran it");
    proved
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_killed_when_effects_and_outcomes_agree() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for round in 0..ROUNDS {
        let mut labs = JoinSet::new();
        for lab in 0..LABS {
            let way = if lab == 0 { "local" } else { HOST };
            labs.spawn(trials(way, 1 + (round * LABS + lab) * TRIALS));
        }
        for (end, count) in labs.join_all().await.into_iter().flatten() {
            *seen.entry(end).or_default() += count;
        }
    }
    println!("{seen:#?}");
    assert_eq!(seen.values().sum::<usize>() as u64, ROUNDS * LABS * TRIALS);
    // The kills did hit: not every run ended as if nothing had happened.
    let settled = seen.keys().any(|key| key.starts_with("settled as done"));
    assert!(settled, "{seen:?}");
}
