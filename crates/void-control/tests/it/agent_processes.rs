//! Who starts, stops, updates and destroys whose process, and reads its log: what is done is what the table of rights
//! says. The process is `tee`, which keeps what it is told and does nothing else.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use void_control::agent_processes::{
    self as processes, AgentProcessError, AgentProcesses, AgentProcessesConfig, Patience,
    ProcessDriver, Restarts, SandboxLimits, SandboxMode,
};
use void_control::tokens::{self, TokenError};
use void_control::tree::{self, MoveRequest, TreePlaces, TreeView};
use void_control::{Ctx, agents, events};
use void_domain::actors::{Actor, ActorKind};
use void_domain::agents::{AgentName, AgentRefusal};
use void_domain::capabilities::{Capabilities, Capability};
use void_domain::facts::Fact;
use void_domain::services::ServiceId;
use void_store::alerts::Outage;
use void_store::facts::FactFilter;
use void_testkit::eventually;
use void_tree::{Operation, Right};

use crate::callers::{others, owner};
use crate::planes::Plane;

stories!(
    what_is_done_to_processes_is_what_the_table_of_rights_says,
    a_destroyed_agent_leaves_nothing_but_its_archive_and_its_name,
    a_destruction_that_a_crash_cut_off_is_ended_at_the_next_start,
    after_a_move_whoever_lost_somebody_reaches_them_no_more,
    a_freeze_lets_agents_end_each_other_and_nothing_else,
    a_paused_agent_stays_so_over_a_restart,
    an_agent_that_ends_unasked_is_told_and_told_again_when_it_is_there,
);

/// boss and peer live in the server, the others have processes.
const RESIDENTS: [&str; 2] = ["boss", "peer"];
const PROCESSES: [&str; 3] = ["alice", "bob", "carol"];
const TREE: [(&str, &str); 5] = [
    ("boss", "root"),
    ("peer", "root"),
    ("alice", "boss"),
    ("bob", "alice"),
    ("carol", "alice"),
];
const OPERATIONS: [Operation; 6] = [
    Operation::GetLogs,
    Operation::Start,
    Operation::Restart,
    Operation::Update,
    Operation::Kill,
    Operation::Destroy,
];

fn name(text: &str) -> AgentName {
    text.parse().unwrap()
}

fn may() -> Capabilities {
    [Capability::Read, Capability::Act].into_iter().collect()
}

impl Plane {
    fn told_file(&self) -> PathBuf {
        self.machine.path().join("told")
    }

    async fn begin_with_processes(&mut self) -> AgentProcesses {
        let told = Box::leak(self.told_file().display().to_string().into_boxed_str());
        let tee = ProcessDriver {
            program: "/usr/bin/tee".into(),
            words: vec![told],
        };
        self.begin_with(tee, Restarts::default()).await
    }

    async fn begin_with(&mut self, driver: ProcessDriver, restarts: Restarts) -> AgentProcesses {
        let meta = self.machine.path().join("meta");
        if !meta.exists() {
            let mut tree = json!({"root": null});
            for (one, parent) in TREE {
                tree[one] = json!(parent);
            }
            fs::create_dir_all(&meta).unwrap();
            fs::write(meta.join("topology.json"), tree.to_string()).unwrap();
        }
        self.start().await;
        let view = self.open_tree().await;
        assert_eq!(view.problems, Vec::<String>::new());
        for one in PROCESSES {
            let made = self.token_of(one).await;
            assert!(made.is_ok() || matches!(made, Err(TokenError::Refused(_))));
        }
        let config = AgentProcessesConfig {
            data: self.machine.path().canonicalize().unwrap(),
            api: "127.0.0.1:9".parse().unwrap(),
            driver: Arc::new(driver),
            cgroups: None,
            users: None,
            limits: SandboxLimits {
                memory_bytes: 1 << 30,
                file_bytes: 1 << 20,
            },
            mode: SandboxMode::Full,
            restarts,
            patience: Patience {
                ready_within: Duration::from_secs(3600),
            },
        };
        self.inside(async move |control, _| AgentProcesses::new(&control, config).unwrap())
            .await
    }

    async fn open_tree(&self) -> TreeView {
        let places = TreePlaces::of_data(self.machine.path());
        let residents = RESIDENTS.map(|one| (name(one), may())).to_vec();
        self.inside(async move |control, _| {
            agents::admit_residents(&control, &RESIDENTS.map(name))
                .await
                .unwrap();
            tree::open(&control, places, residents).await.unwrap();
            tree::show(&control).await
        })
        .await
    }

    async fn token_of(&self, one: &'static str) -> Result<(), TokenError> {
        self.inside(async move |control, _| {
            let kind = ActorKind::Agent;
            tokens::create(&control, &owner(), kind, one.to_owned(), may())
                .await
                .map(drop)
        })
        .await
    }

    /// In the server's own name for this agent, as in its turn.
    async fn within(&self, one: &'static str) -> Ctx {
        self.inside(async move |control, _| {
            if RESIDENTS.contains(&one) {
                let ctx = agents::resident_ctx(&control, &name(one), &may()).await;
                return ctx.unwrap().unwrap();
            }
            let agent = agents::find(&control, &name(one)).await.unwrap().unwrap();
            Ctx {
                actor: Actor::Agent {
                    id: agent.id,
                    name: agent.name,
                },
                capabilities: agent.capabilities,
                ..owner()
            }
        })
        .await
    }

    async fn manage(
        &self,
        all: &AgentProcesses,
        ctx: &Ctx,
        operation: Operation,
        target: &str,
    ) -> Result<(), AgentProcessError> {
        let (all, ctx, target) = (all.clone(), ctx.clone(), name(target));
        self.inside(async move |_, _| match operation {
            Operation::GetLogs => processes::logs(&all, &ctx, &target, 10).await.map(drop),
            Operation::Start => processes::start(&all, &ctx, &target).await.map(drop),
            Operation::Restart => processes::restart(&all, &ctx, &target).await.map(drop),
            Operation::Update => processes::update(&all, &ctx, &target).await.map(drop),
            Operation::Kill => processes::stop(&all, &ctx, &target).await.map(drop),
            Operation::Destroy => processes::destroy(&all, &ctx, &target).await.map(drop),
            other => panic!("{other:?} is none of a process"),
        })
        .await
    }

    async fn leave(&self, all: AgentProcesses) {
        self.inside(async move |_, _| all.end().await).await;
    }

    async fn parent_of(&self, one: &str) -> Option<String> {
        let one = name(one);
        self.inside(async move |control, _| {
            let view = tree::show(&control).await;
            let found = view.members.into_iter().find(|member| member.name == one);
            found.and_then(|member| member.parent.map(|parent| parent.to_string()))
        })
        .await
    }

    /// The folders of the newest process.
    async fn plan_with(&self, folders: usize) -> Vec<String> {
        let file = self.told_file();
        eventually("a process with so many folders", || async {
            let text = fs::read_to_string(&file).ok()?;
            let plan: Value = serde_json::from_str(text.lines().nth(1)?).ok()?;
            let all = plan["folders"].as_array()?.iter();
            let all: Vec<String> = all
                .map(|one| one["path"].as_str().unwrap().to_owned())
                .collect();
            (all.len() == folders).then_some(all)
        })
        .await
    }
}

/// Everybody × everybody × every operation on processes that exists. What is printed of a right, what the function says
/// and what happens are the same.
async fn what_is_done_to_processes_is_what_the_table_of_rights_says(plane: &mut Plane) {
    let all = plane.begin_with_processes().await;
    let (mut done, mut refused) = (0, 0);
    for actor in ["boss", "peer", "alice", "bob", "carol"] {
        let ctx = plane.within(actor).await;
        let outside = Ctx {
            is_from_outside: true,
            ..ctx.clone()
        };
        let told = plane
            .inside(async move |control, _| {
                tree::can(&control, &name(actor)).await.unwrap().unwrap()
            })
            .await;
        for over in told.over {
            let target = over.target.name.to_string();
            for operation in OPERATIONS {
                let printed = over.rights.iter().find(|(one, _)| *one == operation);
                let right = printed.unwrap().1;
                let strange = plane.manage(&all, &outside, operation, &target).await;
                assert!(
                    matches!(strange, Err(AgentProcessError::NotAbove { .. })),
                    "{actor} {operation:?} {target}: {strange:?}"
                );
                // For good, so it is a story of its own.
                if right == Right::Alone && operation == Operation::Destroy {
                    continue;
                }
                let live = plane.manage(&all, &ctx, operation, &target).await;
                match right {
                    Right::Alone => {
                        live.unwrap();
                        done += 1;
                    }
                    Right::WithNod | Right::Never => {
                        assert!(
                            matches!(live, Err(AgentProcessError::NotAbove { .. })),
                            "{actor} {operation:?} {target}: {live:?}"
                        );
                        refused += 1;
                    }
                }
            }
        }
    }
    // boss over three, alice over two; of 5 × 6 × 6 those and their destructions are not refused.
    assert_eq!((done, refused), (25, 150));
    for other in others() {
        for operation in OPERATIONS {
            let said = plane.manage(&all, &other, operation, "alice").await;
            assert!(matches!(said, Err(AgentProcessError::NotAbove { .. })));
        }
    }
    for operation in OPERATIONS {
        for resident in ["boss", "root"] {
            let said = plane.manage(&all, &owner(), operation, resident).await;
            assert!(
                matches!(said, Err(AgentProcessError::Resident(_))),
                "{said:?}"
            );
        }
        let said = plane.manage(&all, &owner(), operation, "nobody").await;
        assert!(matches!(said, Err(AgentProcessError::Unknown)), "{said:?}");
    }
    plane.leave(all).await;
}

async fn a_destroyed_agent_leaves_nothing_but_its_archive_and_its_name(plane: &mut Plane) {
    let all = plane.begin_with_processes().await;
    let boss = plane.within("boss").await;
    plane
        .manage(&all, &boss, Operation::Start, "alice")
        .await
        .unwrap();
    plane.plan_with(3).await;
    let data = plane.machine.path().to_owned();
    fs::write(data.join("agents/alice/state/notes"), "kept").unwrap();
    let (asked, target) = (boss.clone(), all.clone());
    let archive = plane
        .inside(async move |_, _| processes::destroy(&target, &asked, &name("alice")).await)
        .await
        .unwrap();
    let kept = fs::read_to_string(data.join(archive).join("agent/state/notes"));
    assert_eq!(kept.unwrap(), "kept");
    assert!(!data.join("agents/alice").exists());
    // Its children stand under the root, and nobody gained anything over them.
    assert_eq!(plane.parent_of("alice").await, None);
    assert_eq!(plane.parent_of("bob").await.as_deref(), Some("root"));
    for target in ["alice", "bob"] {
        let said = plane.manage(&all, &boss, Operation::Kill, target).await;
        assert!(
            matches!(said, Err(AgentProcessError::NotAbove { .. })),
            "{said:?}"
        );
    }
    let twice = plane
        .manage(&all, &owner(), Operation::Destroy, "alice")
        .await;
    assert!(
        matches!(twice, Err(AgentProcessError::Unknown)),
        "{twice:?}"
    );
    // Its name is nobody's, also not its own again.
    assert!(plane.token_of("alice").await.is_err());
    let back = plane
        .inside(async |control, _| tokens::restore_agent(&control, &owner(), "alice", may()).await)
        .await;
    assert!(matches!(
        back,
        Err(TokenError::Refused(AgentRefusal::Destroyed))
    ));
    plane.leave(all).await;
}

/// The record was written and nothing else: what follows it is done at the next start.
async fn a_destruction_that_a_crash_cut_off_is_ended_at_the_next_start(plane: &mut Plane) {
    let all = plane.begin_with_processes().await;
    plane
        .manage(&all, &owner(), Operation::Start, "alice")
        .await
        .unwrap();
    plane.plan_with(3).await;
    plane.leave(all).await;
    plane.stop().await;
    let at = 1;
    let told = plane.machine.path().join("agents/alice");
    assert!(told.exists());
    let all = plane.begin_with_processes().await;
    plane
        .inside(async move |control, store| {
            let listed = tokens::list(&control).await.unwrap();
            let its = listed.iter().filter(|one| one.token.name == "alice");
            for token in its.filter(|one| one.token.revoked_at.is_none()) {
                tokens::revoke(&control, &owner(), token.token.id)
                    .await
                    .unwrap();
            }
            let tombstone = void_store::agent_tombstones::AgentTombstone {
                name: name("alice"),
                destroyed_by: "owner-cli".to_owned(),
                destroyed_at: void_domain::time::Timestamp::from_ms(at),
                archive: "alice-1".to_owned(),
            };
            let written: Result<bool, void_store::StoreError> = store
                .write(move |tx| {
                    Box::pin(
                        async move { void_store::agent_tombstones::insert(tx, &tombstone).await },
                    )
                })
                .await;
            assert!(written.unwrap());
        })
        .await;
    plane.leave(all).await;
    plane.stop().await;
    let all = plane.begin_with_processes().await;
    assert_eq!(plane.parent_of("bob").await.as_deref(), Some("root"));
    for _ in 0..2 {
        let resumed = all.clone();
        plane
            .inside(async move |_, _| resumed.resume().await)
            .await
            .unwrap();
    }
    assert!(!told.exists());
    assert!(
        plane
            .machine
            .path()
            .join("archive/agents/alice-1/agent/state")
            .exists()
    );
    plane.leave(all).await;
}

async fn after_a_move_whoever_lost_somebody_reaches_them_no_more(plane: &mut Plane) {
    let all = plane.begin_with_processes().await;
    plane
        .manage(&all, &owner(), Operation::Start, "alice")
        .await
        .unwrap();
    let before = plane.plan_with(3).await;
    assert!(before.iter().any(|path| path.ends_with("agents/bob/state")));
    let wanted = MoveRequest {
        name: name("bob"),
        parent: name("boss"),
        is_dry_run: false,
        seen: None,
    };
    plane
        .inside(async move |control, _| tree::move_agent(&control, &owner(), wanted).await)
        .await
        .unwrap();
    let after = plane.plan_with(2).await;
    assert!(
        !after.iter().any(|path| path.contains("/bob/")),
        "{after:?}"
    );
    plane.leave(all).await;
}

async fn a_freeze_lets_agents_end_each_other_and_nothing_else(plane: &mut Plane) {
    let all = plane.begin_with_processes().await;
    let boss = plane.within("boss").await;
    plane
        .manage(&all, &boss, Operation::Start, "alice")
        .await
        .unwrap();
    plane.freeze().await;
    for operation in OPERATIONS {
        let said = plane.manage(&all, &boss, operation, "alice").await;
        match operation {
            Operation::GetLogs | Operation::Kill => said.unwrap(),
            _ => assert!(matches!(said, Err(AgentProcessError::Frozen)), "{said:?}"),
        }
    }
    plane
        .manage(&all, &owner(), Operation::Start, "alice")
        .await
        .unwrap();
    plane.thaw().await;
    plane.leave(all).await;
}

async fn a_paused_agent_stays_so_over_a_restart(plane: &mut Plane) {
    let all = plane.begin_with_processes().await;
    let boss = plane.within("boss").await;
    let pause = async |plane: &Plane, ctx: &Ctx, one: &'static str| {
        let ctx = ctx.clone();
        plane
            .inside(async move |control, _| agents::pause(&control, &ctx, &name(one)).await)
            .await
    };
    assert!(matches!(
        pause(plane, &boss, "alice").await,
        Err(agents::AgentPauseError::OwnerOnly)
    ));
    assert!(matches!(
        pause(plane, &owner(), "nobody").await,
        Err(agents::AgentPauseError::Nobody(_))
    ));
    assert!(pause(plane, &owner(), "alice").await.unwrap());
    assert!(pause(plane, &owner(), "boss").await.unwrap());
    assert!(!pause(plane, &owner(), "alice").await.unwrap());
    plane.leave(all).await;
    plane.stop().await;
    let all = plane.begin_with_processes().await;
    let paused = async |plane: &Plane, one: &'static str| {
        plane
            .inside(async move |control, _| agents::is_paused(&control, &name(one)).await)
            .await
            .unwrap()
    };
    assert!(paused(plane, "alice").await && paused(plane, "boss").await);
    assert!(!paused(plane, "bob").await);
    plane
        .inside(async |control, _| agents::resume(&control, &owner(), &name("alice")).await)
        .await
        .unwrap();
    assert!(!paused(plane, "alice").await);
    plane.leave(all).await;
}

/// Says that it is asleep where the file is, and ends where it is not.
const WHERE_THE_FILE_IS: &str = "read -r token; read -r plan; [ -e \"$0\" ] || exit 3; echo asleep >&0; while read -r word; do :; done";

/// The newest entry of the record with this verb.
async fn newest_fact(plane: &Plane, verb: &'static str) -> Option<Fact> {
    let facts = plane
        .inside(async move |_, store| {
            let filter = FactFilter {
                subject: None,
                actor: String::new(),
                verb: verb.to_owned(),
            };
            let read = store.read(move |tx| {
                Box::pin(async move { void_store::facts::list(tx, &filter, None, 5).await })
            });
            read.await.unwrap().items
        })
        .await;
    facts.into_iter().next()
}

async fn outage_of_alice(plane: &Plane) -> Option<Outage> {
    plane
        .inside(async move |_, store| {
            let id = ServiceId::of_agent(&name("alice"));
            let read = store.read(move |tx| {
                Box::pin(async move { void_store::alerts::find_outage(tx, &id).await })
            });
            read.await.unwrap()
        })
        .await
}

async fn an_agent_that_ends_unasked_is_told_and_told_again_when_it_is_there(plane: &mut Plane) {
    let file = plane.machine.path().join("there");
    let shown: &'static str = Box::leak(file.display().to_string().into_boxed_str());
    let driver = ProcessDriver {
        program: "/bin/sh".into(),
        words: vec!["-c", WHERE_THE_FILE_IS, shown],
    };
    let restarts = Restarts {
        first: Duration::from_millis(50),
        most: Duration::from_millis(50),
        failures_max: 10_000,
        ..Restarts::default()
    };
    let all = plane.begin_with(driver, restarts).await;
    let boss = plane.within("boss").await;
    plane
        .manage(&all, &boss, Operation::Start, "alice")
        .await
        .unwrap();
    let plane = &*plane;
    let crashed = eventually("a crash on the record", || {
        newest_fact(plane, "agent.crashed")
    })
    .await;
    let down = outage_of_alice(plane).await.unwrap();
    assert!(down.alert.is_some(), "nobody is told: {down:?}");
    assert_eq!(
        down.reason.as_deref(),
        Some("it ended by itself with code 3")
    );
    // Its parent hears of it, and whoever stands beside does not.
    let about = crashed.audience.unwrap();
    for (one, hears) in [("boss", true), ("peer", false)] {
        let ctx = plane.within(one).await;
        let heard = plane
            .inside(async move |control, _| events::hears(&control, &ctx, about).await.unwrap())
            .await;
        assert_eq!(heard, hears, "{one}");
    }
    fs::write(&file, "").unwrap();
    eventually("that it is there again", || {
        newest_fact(plane, "agent.recovered")
    })
    .await;
    assert!(outage_of_alice(plane).await.is_none());
    fs::remove_file(&file).unwrap();
    plane
        .manage(&all, &boss, Operation::Restart, "alice")
        .await
        .unwrap();
    eventually("another crash", || outage_of_alice(plane)).await;
    plane
        .manage(&all, &boss, Operation::Kill, "alice")
        .await
        .unwrap();
    assert!(outage_of_alice(plane).await.is_none());
    plane.leave(all).await;
}
