//! What the owner stopped is no worry for a day; everything else that is down is one (issue 7.5).

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use void_control::Clock;
use void_control::stops::EXCUSED_FOR;
use void_rehearsal::proxmox::GuestStatus;
use void_testkit::eventually;

use crate::apps::{App, Engine, Setup, random};
use crate::labs::Lab;
use crate::pve::{Pve, guest};
use crate::stands::services;

const CATALOGUE: &str = r#"{"actions": [
    {"id": "stop-107", "label": "Stop", "kind": "guest_power", "node": "z", "vmid": 107, "op": "stop", "tier": "risky"},
    {"id": "start-107", "label": "Start", "kind": "guest_power", "node": "z", "vmid": 107, "op": "start", "tier": "safe", "cooldown_s": 0},
    {"id": "rest-107", "label": "Shut down", "kind": "guest_power", "node": "z", "vmid": 107, "op": "shutdown", "tier": "safe", "cooldown_s": 0}
]}"#;

fn setup(pve: &Pve) -> Setup {
    Setup {
        lab: Arc::new(Lab::of(CATALOGUE)),
        services: services(&[guest("iventoy", "z", 107, 5)]),
        proxmox: Some(pve.config()),
        ..Setup::default()
    }
}

async fn seen(app: &App) -> (Value, Value, Value) {
    let owner = app.owner();
    let service = owner.get("/api/services/iventoy").await.ok();
    let status = owner.get("/api/status").await.ok();
    let lab = owner.get("/api/lab").await.ok();
    let guests = lab["nodes"].as_array().unwrap().iter();
    let mut guests = guests.flat_map(|node| node["guests"].as_array().unwrap());
    let guest = guests.find(|guest| guest["vmid"] == 107).unwrap().clone();
    (service, status, guest)
}

async fn until_up(app: &App) {
    eventually("it to be up", || async {
        let (service, ..) = seen(app).await;
        (service["status"] == "up").then_some(())
    })
    .await;
}

/// Once it is down: whether that is told as the owner's own doing, everywhere alike.
async fn until_down(app: &App, is_stopped: bool) -> Value {
    eventually("it to be down", || async {
        let (service, status, guest) = seen(app).await;
        let is_down = service["status"] == "down" && guest["status"] == "stopped";
        let counts = (&status["services_down"], &status["services_stopped"]);
        let expected = if is_stopped { (0, 1) } else { (1, 0) };
        let is_counted = counts == (&json!(expected.0), &json!(expected.1));
        let is_told = service["stopped"].is_object() == is_stopped
            && guest["stopped"].is_object() == is_stopped;
        (is_down && is_counted && is_told).then_some(service)
    })
    .await
}

async fn stop_as_owner(app: &App) -> Value {
    let row = app.queue("stop-107").await;
    app.owner().decide(&row, "approve").await.ok();
    app.ended(row["id"].as_str().unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_owner_stopped_is_no_worry_until_it_is_started() {
    for engine in Engine::both().await {
        let pve = Pve::start();
        let app = Setup {
            engine,
            ..setup(&pve)
        }
        .start()
        .await;
        until_up(&app).await;
        let row = stop_as_owner(&app).await;
        let service = until_down(&app, true).await;
        assert_eq!(
            service["stopped"],
            json!({"by": "owner", "at": row["resolved_at"]})
        );
        // Started by Void, and then it fell over.
        app.owner().run("start-107").await.ok();
        until_up(&app).await;
        assert_eq!(seen(&app).await.0["stopped"], Value::Null);
        pve.server.set_status(107, GuestStatus::Stopped);
        until_down(&app, false).await;
    }
}

/// What the owner runs as safe is the owner's will too; what an agent runs as safe is not.
#[tokio::test(flavor = "multi_thread")]
async fn an_agents_own_stop_is_a_worry_and_the_owners_is_not() {
    let pve = Pve::start();
    let app = setup(&pve).start().await;
    until_up(&app).await;
    let agent = app.agent("blue").await;
    let ran = agent.run("rest-107").await.ok();
    assert_eq!(ran["executed"], true, "{ran}");
    until_down(&app, false).await;
    app.owner().run("start-107").await.ok();
    until_up(&app).await;
    app.owner().run("rest-107").await.ok();
    until_down(&app, true).await;
    // An agent's request that the owner approved is the owner's decision.
    app.owner().run("start-107").await.ok();
    until_up(&app).await;
    let row = crate::apps::queue(&agent, "stop-107").await;
    app.owner().decide(&row, "approve").await.ok();
    until_down(&app, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_stopped_outside_or_started_outside_and_fell_over_is_a_worry() {
    let pve = Pve::start();
    let app = setup(&pve).start().await;
    until_up(&app).await;
    pve.server.set_status(107, GuestStatus::Stopped);
    until_down(&app, false).await;
    pve.server.set_status(107, GuestStatus::Running);
    until_up(&app).await;
    stop_as_owner(&app).await;
    until_down(&app, true).await;
    // Somebody starts it by hand; that it falls over afterwards is news.
    pve.server.set_status(107, GuestStatus::Running);
    until_up(&app).await;
    pve.server.set_status(107, GuestStatus::Stopped);
    until_down(&app, false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_is_an_excuse_for_a_day() {
    let pve = Pve::start();
    let app = Setup {
        clock: Clock::manual(Clock::system().now()),
        ..setup(&pve)
    }
    .start()
    .await;
    until_up(&app).await;
    stop_as_owner(&app).await;
    until_down(&app, true).await;
    app.pass(EXCUSED_FOR - Duration::from_secs(1));
    until_down(&app, true).await;
    app.pass(Duration::from_secs(1));
    until_down(&app, false).await;
}

/// Another instance, and one that starts later, know it from the record.
#[tokio::test(flavor = "multi_thread")]
async fn every_instance_knows_what_the_owner_stopped_on_postgres() {
    let pve = Pve::start();
    let engine = Engine::postgres().await;
    let lab = Arc::new(Lab::of_alpha(Some(CATALOGUE)));
    let owner_token = format!("owner-{:016x}{:016x}", random(), random());
    let setup = |name| Setup {
        instance: Some(name),
        engine: engine.clone(),
        lab: Arc::clone(&lab),
        owner_token: owner_token.clone(),
        ..setup(&pve)
    };
    let (a, b) = (setup("alpha").start().await, setup("beta").start().await);
    until_up(&a).await;
    stop_as_owner(&a).await;
    until_down(&a, true).await;
    until_down(&b, true).await;
    let later = setup("gamma").start().await;
    until_down(&later, true).await;
}
