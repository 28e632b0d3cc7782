//! An agent that does not come up with its new config has the one before again: with real processes, which say that they
//! are up if their config lets them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use void_control::agent_processes::{
    self, AgentProcesses, AgentProcessesConfig, Driver, Patience, ProcessState, Restarts,
    SandboxLimits, SandboxMode,
};
use void_domain::agent_configs::CONFIG_FILE;
use void_domain::failures::FailureCode;
use void_domain::proposals::{State, Status};
use void_supervise::{Launch, NotLaunched, Order, ProcessDriver};
use void_testkit::eventually;

use super::{
    applied, approved, ask_apply, committed, config, data, family, git_in, locked, name, queued,
    recorded,
};
use crate::callers::owner;
use crate::planes::Plane;

stories!(
    who_does_not_come_up_has_the_commit_before_again,
    who_comes_up_keeps_the_new_one,
    a_crash_before_it_is_up_is_settled_by_whether_it_comes_up,
);

/// A program that reads its config and ends, or says that it waits.
struct Script {
    data: PathBuf,
}

const SCRIPT: &str =
    "read token; read plan; grep -q broken \"$0\" && exit 3; echo asleep >&0; exec cat >/dev/null";

impl Driver for Script {
    fn launch(&self, order: &Order) -> Result<Launch, NotLaunched> {
        let plain = ProcessDriver {
            program: "/bin/sh".into(),
            words: vec!["-c", SCRIPT],
        };
        let mut launch = plain.launch(order)?;
        let file = self.data.join("applied").join(&order.facts.name);
        launch.arguments.push(file.join(CONFIG_FILE).into());
        launch
            .environment
            .push(("PATH", "/usr/bin:/bin".to_owned()));
        Ok(launch)
    }
}

async fn processes(plane: &Plane) -> AgentProcesses {
    let data = data(plane);
    plane
        .inside(async move |control, _| {
            let config = AgentProcessesConfig {
                driver: Arc::new(Script { data: data.clone() }),
                data,
                api: "127.0.0.1:9".parse().unwrap(),
                cgroups: None,
                users: None,
                limits: SandboxLimits {
                    memory_bytes: 1 << 30,
                    file_bytes: 1 << 20,
                },
                mode: SandboxMode::Full,
                restarts: Restarts {
                    first: Duration::from_millis(50),
                    most: Duration::from_millis(50),
                    failures_max: 3,
                    ..Restarts::default()
                },
                patience: Patience {
                    ready_within: Duration::from_secs(20),
                    up_within: Duration::from_secs(20),
                },
            };
            AgentProcesses::new(&control, config).unwrap()
        })
        .await
}

async fn sleeps(plane: &Plane, processes: &AgentProcesses) -> u32 {
    eventually("bob to sleep", || async {
        let all = processes.clone();
        let view = plane
            .inside(async move |_, _| agent_processes::view(&all, &name("bob")).await)
            .await;
        let status = view.unwrap().status;
        status.pid.filter(|_| status.state == ProcessState::Asleep)
    })
    .await
}

async fn started(plane: &mut Plane) -> (AgentProcesses, u32) {
    family(plane).await;
    let all = processes(plane).await;
    let of_all = all.clone();
    plane
        .inside(async move |_, _| agent_processes::start(&of_all, &owner(), &name("bob")).await)
        .await
        .unwrap();
    let pid = sleeps(plane, &all).await;
    (all, pid)
}

async fn end(plane: &Plane, all: AgentProcesses) {
    plane.inside(async move |_, _| all.end().await).await;
}

async fn who_does_not_come_up_has_the_commit_before_again(plane: &mut Plane) {
    let (all, first) = started(plane).await;
    let (text, before) = (applied(plane, "bob"), locked(plane, "bob").unwrap());
    let broken = config("", "model = \"broken\"\n");
    let commit = committed(plane, "bob", &[(CONFIG_FILE, &broken)]);
    let row = queued(ask_apply(plane, &owner(), "bob", &commit).await);
    let ended = approved(plane, &row).await;
    let State::Failed { failure, .. } = &ended.state else {
        panic!("{ended:?}");
    };
    assert_eq!(failure.code, FailureCode::CheckFailed);
    for said in ["did not come up", "code 3", "is applied again", &before] {
        assert!(failure.message.contains(said), "{said}: {failure:?}");
    }
    assert_eq!(applied(plane, "bob"), text);
    assert_eq!(locked(plane, "bob").as_ref(), Some(&before));
    let found = plane
        .inside(async |control, _| void_control::agents::find(&control, &name("bob")).await)
        .await;
    assert_eq!(found.unwrap().unwrap().capabilities.iter().count(), 1);
    // It runs with it again, and the log of the repository says both.
    assert_ne!(sleeps(plane, &all).await, first);
    let meta = data(plane).join("meta");
    let log = git_in(&meta, &["log", "-2", "--format=%s"]);
    let expected = format!(
        "deploy: roll bob back from {commit} to {before}\ndeploy: bob from {before} to {commit}"
    );
    assert_eq!(log, expected);
    let entries = recorded(plane, "topology.deployed").await;
    assert_eq!(entries.last().unwrap()["why"], "rolled_back");
    let said = entries.last().unwrap()["said"].as_str().unwrap();
    assert!(said.contains("code 3"), "{said}");
    end(plane, all).await;
}

async fn who_comes_up_keeps_the_new_one(plane: &mut Plane) {
    let (all, first) = started(plane).await;
    let text = config("", "model = \"fine\"\n");
    let commit = committed(plane, "bob", &[(CONFIG_FILE, &text)]);
    let row = queued(ask_apply(plane, &owner(), "bob", &commit).await);
    let ended = approved(plane, &row).await;
    let State::Executed { result, .. } = &ended.state else {
        panic!("{ended:?}");
    };
    assert_eq!(result["note"], "applied, and its process came up with it");
    assert_ne!(sleeps(plane, &all).await, first);
    // Whoever does not run is not started by it.
    let of_all = all.clone();
    plane
        .inside(async move |_, _| agent_processes::stop(&of_all, &owner(), &name("bob")).await)
        .await
        .unwrap();
    let broken = config("", "model = \"broken\"\n");
    let commit = committed(plane, "bob", &[(CONFIG_FILE, &broken)]);
    let row = queued(ask_apply(plane, &owner(), "bob", &commit).await);
    assert_eq!(approved(plane, &row).await.status(), Status::Executed);
    end(plane, all).await;
}

/// The next server sees to the process that the one before did not wait for.
async fn a_crash_before_it_is_up_is_settled_by_whether_it_comes_up(plane: &mut Plane) {
    let (before_crash, _) = started(plane).await;
    let before = locked(plane, "bob").unwrap();
    let broken = config("", "model = \"broken\"\n");
    let commit = committed(plane, "bob", &[(CONFIG_FILE, &broken)]);
    let row = queued(ask_apply(plane, &owner(), "bob", &commit).await);
    plane.approve(&row).await.unwrap();
    eventually("it to be committed", || async {
        (locked(plane, "bob").as_deref() == Some(commit.as_str())).then_some(())
    })
    .await;
    plane.crash();
    drop(before_crash);
    plane.pass(plane.limits.lease);
    plane.start().await;
    let all = processes(plane).await;
    super::open(plane).await;
    let status = super::settled(plane, &row).await;
    // It may have been rolled back before the crash, or after it; never is the broken one left.
    assert_eq!(status, Status::Failed);
    eventually("the commit before", || async {
        (locked(plane, "bob").as_ref() == Some(&before)).then_some(())
    })
    .await;
    assert!(!applied(plane, "bob").contains("broken"));
    end(plane, all).await;
}
