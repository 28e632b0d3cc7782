//! Outcomes that nobody knows are asked for, each machine by itself; and a request whose twin has just run
//! out of time is a new one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;
use void_channels::{Channel, Evidence, Outcome};
use void_domain::executions::Execution;
use void_domain::failures::FailureCode;
use void_domain::permits::{Permit, Ticket};
use void_domain::proposals::Failure;
use void_store::BoxFuture;
use void_testkit::eventually;

use crate::apps::{App, Engine, Setup};

/// Loses every run. One host never answers again, the other knows at the second question.
#[derive(Default)]
struct HalfDead {
    asked_far: AtomicU64,
    asked_here: AtomicU64,
}

impl Channel for HalfDead {
    fn execute(&self, _: Permit) -> BoxFuture<'_, Outcome> {
        Box::pin(async {
            Outcome::Unknown(Failure::new(FailureCode::ConnectionLost, "the link broke"))
        })
    }

    fn settle<'a>(&'a self, execution: &'a Execution, _: &'a Ticket) -> BoxFuture<'a, Evidence> {
        Box::pin(async {
            if execution.kind.machine() == "far" {
                self.asked_far.fetch_add(1, Ordering::SeqCst);
                std::future::pending::<()>().await;
            }
            if self.asked_here.fetch_add(1, Ordering::SeqCst) == 0 {
                return Evidence::None(Failure::new(FailureCode::NoAnswer, "not yet"));
            }
            Evidence::Done { result: json!({}) }
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_dead_host_does_not_hold_up_the_others() {
    let executor = Arc::new(HalfDead::default());
    let setup = Setup {
        executor: Some(Arc::clone(&executor) as Arc<dyn Channel>),
        ..Setup::default()
    };
    let app = setup.start().await;
    app.owner().run("reach-far").await.ok();
    eventually("the dead host to be asked", || async {
        (executor.asked_far.load(Ordering::SeqCst) == 1).then_some(())
    })
    .await;
    let lost = app.owner().run("touch-a").await.ok();
    assert_eq!(lost["status"], "unknown");
    let id = lost["action_row_id"].as_str().unwrap();
    eventually("the other to be settled", || async {
        (app.row(id).await["status"] == "executed").then_some(())
    })
    .await;
    let asked = executor.asked_far.load(Ordering::SeqCst);
    assert_eq!(asked, 1, "one question at a time");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_whose_twin_has_just_run_out_of_time_is_a_new_one() {
    for engine in Engine::both().await {
        let setup = Setup {
            engine,
            clock: void_control::Clock::manual(void_control::Clock::system().now()),
            ..Setup::default()
        };
        let app = setup.start().await;
        let agent = app.agent("blue").await;
        let mut ids = Vec::new();
        // The sweep comes once a second and sees few of them first.
        for n in 0..20 {
            // At its last moment it is joined no more.
            app.pass(Duration::from_secs(if n == 0 { 0 } else { 60 }));
            let queued = agent.run("brief-stop").await.ok();
            assert_eq!(queued["queued"], true, "{queued}");
            ids.push(queued["action_row_id"].as_str().unwrap().to_owned());
        }
        for id in &ids[..19] {
            let row = app.row(id).await;
            assert_eq!(row["status"], "expired", "{row}");
            assert_eq!(row["transitions"][1]["by"], "system", "{row}");
        }
        ids.dedup();
        assert_eq!(ids.len(), 20);
        assert_eq!(app.audited("proposal.expired").await.len(), 19, "each once");
        assert!(
            app.audited("proposal.expired")
                .await
                .iter()
                .all(|entry| entry.actor == "system")
        );
        app.pass(Duration::from_secs(60));
        end(app).await;
    }
}

/// What is left over expires with the next look.
async fn end(app: App) {
    eventually("the last one to expire", || async {
        (app.audited("proposal.expired").await.len() == 20).then_some(())
    })
    .await;
}
