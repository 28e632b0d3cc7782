//! `/api/services`: real sockets that go and come, lie and hang; guests behind a simulated Proxmox.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use void_control::{Clock, Limits};
use void_rehearsal::proxmox::{Fault, GuestStatus};
use void_store::{StoreError, events, services as changes};
use void_testkit::eventually;

use crate::apps::{App, Engine, Setup, random};
use crate::labs::Lab;
use crate::masks::{masked, members};
use crate::pve::{Pve, guest};
use crate::sse::Listener;
use crate::stands::{OK, Says, Stand, services};

async fn watching(list: &[Value]) -> App {
    let setup = Setup {
        services: services(list),
        ..Setup::default()
    };
    setup.start().await
}

async fn service(app: &App, id: &str) -> Value {
    app.owner().get(&format!("/api/services/{id}")).await.ok()
}

/// The service once it has this status, which is on record too unless nothing is known.
async fn until(app: &App, id: &str, status: &str) -> Value {
    eventually(&format!("{id} to be {status}"), || async {
        let service = service(app, id).await;
        let last = service["history"].as_array().unwrap().last();
        let recorded = status == "unknown" || last.is_some_and(|last| last["to"] == status);
        let seen = service["status"] == status && !service["checked_at"].is_null();
        (seen && recorded).then_some(service)
    })
    .await
}

fn steps(history: &Value) -> Vec<(String, String, Option<String>)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let changes = history.as_array().unwrap().iter();
    changes
        .map(|change| {
            (
                text(&change["from"]).unwrap(),
                text(&change["to"]).unwrap(),
                text(&change["reason"]),
            )
        })
        .collect()
}

fn step(from: &str, to: &str, reason: Option<&str>) -> (String, String, Option<String>) {
    (from.to_owned(), to.to_owned(), reason.map(str::to_owned))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_goes_down_and_comes_back_is_told_and_remembered() {
    let mut stand = Stand::down();
    stand.put_up(Says::All(OK.to_vec()), usize::MAX).await;
    let app = watching(&[stand.watched("web")]).await;
    let reader = app.holder("agent", "reader", &["read"]).await.caller;
    let mut listener = Listener::after(&reader, 0).await;
    let up = until(&app, "web", "up").await;
    assert_eq!(
        (&up["detail"]["code"], &up["detail"]["reason"]),
        (&json!(200), &Value::Null)
    );
    assert!(up["detail"]["latency_ms"].is_u64());
    stand.take_down().await;
    let down = until(&app, "web", "down").await;
    assert_eq!(
        down["detail"],
        json!({"code": null, "latency_ms": null, "reason": "refused"})
    );
    let status = reader.get("/api/status").await.ok();
    assert_eq!(
        (
            &status["services_up"],
            &status["services_down"],
            &status["services_unknown"]
        ),
        (&json!(0), &json!(1), &json!(0))
    );
    stand.put_up(Says::All(OK.to_vec()), usize::MAX).await;
    let again = until(&app, "web", "up").await;
    let expected = [
        step("unknown", "up", None),
        step("up", "down", Some("refused")),
        step("down", "up", None),
    ];
    assert_eq!(steps(&again["history"]), expected);
    // Since the last change, which is when it was seen, not since the last look.
    assert_eq!(again["since"], again["history"][2]["at"]);
    for (from, to, reason) in expected {
        let heard = listener.wait_for("service.changed").await;
        assert_eq!(
            members(&heard.data),
            ["at", "detail", "from", "id", "label", "status"]
        );
        assert_eq!(
            (
                &heard.data["id"],
                &heard.data["from"],
                &heard.data["status"]
            ),
            (&json!("web"), &json!(from), &json!(to))
        );
        assert_eq!(heard.data["detail"]["reason"].as_str(), reason.as_deref());
    }
    let mut listed = reader.get("/api/services").await.ok()["services"][0].clone();
    listed["detail"]["latency_ms"].take();
    assert_eq!(
        masked(&listed),
        json!({
            "id": "web", "label": "The web", "host": null, "node": null, "vmid": null, "check": "http", "status": "up",
            "since": "<time>", "checked_at": "<time>", "detail": {"code": 200, "latency_ms": null, "reason": null},
            "stopped": null, "flapping": false, "urgent": false, "interval_s": 1,
        })
    );
}

/// A hiccup is not an outage.
#[tokio::test(flavor = "multi_thread")]
async fn one_bad_answer_among_good_ones_changes_nothing() {
    let mut stand = Stand::up().await;
    let app = watching(&[stand.watched("web")]).await;
    until(&app, "web", "up").await;
    let bad = b"HTTP/1.1 503 Busy\r\n\r\n".to_vec();
    stand.take_down().await;
    stand.put_up(Says::All(bad), 1).await;
    let before = stand.asked();
    eventually("the bad answer to be given", || async {
        (stand.asked() > before).then_some(())
    })
    .await;
    stand.take_down().await;
    stand.put_up(Says::All(OK.to_vec()), usize::MAX).await;
    eventually("it to be looked at again", || async {
        (stand.asked() > before + 1).then_some(())
    })
    .await;
    let after = until(&app, "web", "up").await;
    assert_eq!(steps(&after["history"]), [step("unknown", "up", None)]);
}

async fn service_events(app: &App) -> Vec<Value> {
    let read = app
        .store
        .read(|tx| Box::pin(events::list_after(tx, 0, 1_000)));
    let stored = read.await.unwrap();
    let told = stored
        .iter()
        .filter(|event| event.kind.as_str() == "service.changed");
    told.map(|event| serde_json::from_str(&event.json).unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_instances_that_see_the_same_change_tell_it_once() {
    let mut stand = Stand::up().await;
    let (engine, lab) = (Engine::postgres().await, Arc::new(Lab::of_alpha(None)));
    let owner_token = format!("owner-{:016x}{:016x}", random(), random());
    let setup = |name| Setup {
        instance: Some(name),
        engine: engine.clone(),
        lab: Arc::clone(&lab),
        owner_token: owner_token.clone(),
        services: services(&[stand.watched("web")]),
        ..Setup::default()
    };
    let (a, b) = (setup("alpha").start().await, setup("beta").start().await);
    for app in [&a, &b] {
        until(app, "web", "up").await;
    }
    stand.take_down().await;
    for app in [&a, &b] {
        until(app, "web", "down").await;
    }
    let told: Vec<(Value, Value)> = service_events(&a)
        .await
        .into_iter()
        .map(|event| (event["from"].clone(), event["status"].clone()))
        .collect();
    assert_eq!(
        told,
        [
            (json!("unknown"), json!("up")),
            (json!("up"), json!("down"))
        ]
    );
    assert_eq!(
        service(&a, "web").await["history"],
        service(&b, "web").await["history"]
    );
}

const MENDING: &str = r#"{"actions": [
    {"id": "touch-web", "label": "Touch", "kind": "service_restart", "host": "local", "service": "web", "tier": "safe", "cooldown_s": 0, "verify": {"service": "web"}}
]}"#;

/// Checks after runs are looks like any other, so they make a service change quickly here.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_flaps_is_marked_and_its_changes_are_believed_late() {
    let mut stand = Stand::up().await;
    let setup = Setup {
        lab: Arc::new(Lab::of(MENDING)),
        services: services(&[stand.service("web")]),
        limits: Limits {
            verify_within: Duration::from_millis(100),
            ..Limits::default()
        },
        ..Setup::default()
    };
    let app = setup.start().await;
    until(&app, "web", "up").await;
    for _ in 0..3 {
        assert_eq!(service(&app, "web").await["flapping"], false);
        stand.take_down().await;
        app.owner().run("touch-web").await.ok();
        assert_eq!(service(&app, "web").await["status"], "down");
        stand.put_up(Says::All(OK.to_vec()), usize::MAX).await;
        app.owner().run("touch-web").await.ok();
        assert_eq!(service(&app, "web").await["status"], "up");
    }
    let before = service(&app, "web").await;
    assert_eq!(
        (
            &before["flapping"],
            before["history"].as_array().unwrap().len()
        ),
        (&json!(true), 7)
    );
    stand.take_down().await;
    app.owner().run("touch-web").await.ok();
    // Twice is not enough any more; what the last look saw is shown beside.
    let after = service(&app, "web").await;
    assert_eq!(
        (
            &after["status"],
            &after["flapping"],
            &after["detail"]["reason"]
        ),
        (&json!("up"), &json!(true), &json!("refused"))
    );
    assert_eq!(after["history"], before["history"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reading_that_is_too_old_says_nothing() {
    let stand = Stand::up().await;
    let setup = Setup {
        clock: Clock::manual(Clock::system().now()),
        services: services(&[stand.service("web")]),
        ..Setup::default()
    };
    let app = setup.start().await;
    let up = until(&app, "web", "up").await;
    // Three intervals and the time of one look.
    app.pass(Duration::from_secs(3 * 3_600 + 5));
    assert_eq!(service(&app, "web").await["status"], "up");
    app.pass(Duration::from_millis(1));
    let stale = service(&app, "web").await;
    assert_eq!(
        (&stale["status"], &stale["detail"], &stale["checked_at"]),
        (
            &json!("unknown"),
            &json!({"code": null, "latency_ms": null, "reason": "stale"}),
            &up["checked_at"]
        )
    );
    assert!(stale["since"].as_str() > up["since"].as_str(), "{stale}");
    let status = app.owner().get("/api/status").await.ok();
    assert_eq!(
        (&status["services_up"], &status["services_unknown"]),
        (&json!(0), &json!(1))
    );
    // Nothing has happened to the service, so nothing is told of it.
    assert_eq!(service_events(&app).await.len(), 1);
}

/// What a service writes is nowhere: every answer, event and log line of this app is searched for it.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_hostile_service_writes_gets_nowhere() {
    let word = format!("hostile-{:016x}", random());
    let html = format!("<script>alert('{word}')</script>");
    let script = |code: &str| format!("HTTP/1.1 {code} {html}\r\nserver: {word}\r\n\r\n{html}");
    let bytes = |text: String| Says::All(text.into_bytes());
    let cases = [
        (
            "endless",
            Says::Endless(script("200").into_bytes(), html.clone().into_bytes()),
            "up",
            None,
        ),
        ("script", bytes(script("200")), "up", None),
        ("wrong", bytes(script("500")), "down", Some("wrong_status")),
        (
            "code",
            bytes(format!("HTTP/1.1 {html} OK\r\n\r\n")),
            "down",
            Some("not_http"),
        ),
        (
            "garbage",
            bytes(format!("\u{0}\u{1b}[2J{word}\n")),
            "down",
            Some("not_http"),
        ),
        (
            "one-line",
            Says::Endless(Vec::new(), word.clone().into_bytes()),
            "down",
            Some("not_http"),
        ),
        ("nothing", Says::All(Vec::new()), "down", Some("reset")),
        (
            "drip",
            Says::Drip(format!("HTTP/1.1 200 {word}").into_bytes()),
            "down",
            Some("timed_out"),
        ),
        ("silence", Says::Nothing, "down", Some("timed_out")),
    ];
    let (mut stands, mut list) = (Vec::new(), Vec::new());
    for (id, says, ..) in &cases {
        let stand = Stand::saying(says.clone()).await;
        let mut service = stand.service(id);
        service["timeout_s"] = json!(1);
        list.push(service);
        stands.push(stand);
    }
    let app = watching(&list).await;
    app.secrets.add(&word);
    let mut listener = Listener::after(&app.owner(), 0).await;
    for (id, _, status, reason) in &cases {
        let service = until(&app, id, status).await;
        let detail = &service["detail"];
        assert_eq!(
            (&service["id"], detail["reason"].as_str()),
            (&json!(id), *reason)
        );
        let code = match (*status, *reason) {
            ("up", _) => json!(200),
            (_, Some("wrong_status")) => json!(500),
            _ => Value::Null,
        };
        assert_eq!(detail["code"], code, "{id}");
    }
    for _ in &cases {
        listener.wait_for("service.changed").await;
    }
    for path in [
        "/api/services",
        "/api/status",
        "/api/audit?limit=500",
        "/metrics",
        "/api/inbox",
    ] {
        assert_eq!(app.owner().get(path).await.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn guests_are_up_down_or_unknown_as_proxmox_says() {
    let pve = Pve::start();
    let list = [
        guest("iventoy", "z", 107, 1),
        guest("spare", "z", 108, 1),
        guest("nobody", "z", 999, 1),
        // Where it was written down is not where it has to be.
        guest("moved", "z", 104, 1),
    ];
    let setup = Setup {
        services: services(&list),
        proxmox: Some(pve.config()),
        ..Setup::default()
    };
    let app = setup.start().await;
    let reason = |service: &Value| service["detail"]["reason"].as_str().map(str::to_owned);
    assert_eq!(reason(&until(&app, "iventoy", "up").await), None);
    assert_eq!(reason(&until(&app, "moved", "up").await), None);
    let stopped = until(&app, "spare", "down").await;
    assert_eq!(
        (reason(&stopped).as_deref(), &stopped["vmid"]),
        (Some("stopped"), &json!(108))
    );
    assert_eq!(
        reason(&until(&app, "nobody", "unknown").await).as_deref(),
        Some("proxmox")
    );
    pve.server.set_status(107, GuestStatus::Stopped);
    assert_eq!(
        reason(&until(&app, "iventoy", "down").await).as_deref(),
        Some("stopped")
    );
    drop(pve);
    for id in ["iventoy", "spare", "moved"] {
        assert_eq!(
            reason(&until(&app, id, "unknown").await).as_deref(),
            Some("proxmox"),
            "{id}"
        );
    }
    let history = eventually("it to be recorded", || async {
        let history = steps(&service(&app, "spare").await["history"]);
        (history.len() > 1).then_some(history)
    })
    .await;
    assert_eq!(
        history,
        [
            step("unknown", "down", Some("stopped")),
            step("down", "unknown", Some("proxmox"))
        ]
    );
}

/// Guests are read together, and one sight of them is one reading of each, however often it is used.
#[tokio::test(flavor = "multi_thread")]
async fn one_bad_answer_of_proxmox_changes_nothing() {
    let pve = Pve::start();
    let list: Vec<Value> = (0..20)
        .map(|n| guest(&format!("g{n}"), "z", 107, 1))
        .collect();
    let setup = Setup {
        services: services(&list),
        proxmox: Some(pve.config()),
        ..Setup::default()
    };
    let app = setup.start().await;
    for n in 0..20 {
        until(&app, &format!("g{n}"), "up").await;
    }
    pve.server.faults().once(
        Fault::ServerError("no quorum".to_owned()),
        "/cluster/resources",
    );
    eventually("it to strike", || async {
        (pve.server.faults().count() == 0).then_some(())
    })
    .await;
    let asked = pve.asked("/cluster/resources");
    eventually("guests to be read again, twice", || async {
        (pve.asked("/cluster/resources") > asked + 1).then_some(())
    })
    .await;
    assert_eq!(service_events(&app).await.len(), 20);
}

/// After a restart, and whatever old changes are dropped, what was known is where a change begins.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_begins_where_the_last_one_ended() {
    let mut stand = Stand::up().await;
    let lab = Arc::new(Lab::of(MENDING));
    let listed = stand.service("web");
    let setup = || Setup {
        lab: Arc::clone(&lab),
        services: services(std::slice::from_ref(&listed)),
        limits: Limits {
            verify_within: Duration::from_millis(100),
            ..Limits::default()
        },
        ..Setup::default()
    };
    let app = setup().start().await;
    let up = until(&app, "web", "up").await;
    drop(app);
    let app = setup().start().await;
    let resumed = until(&app, "web", "up").await;
    assert_eq!(resumed["since"], up["since"]);
    assert_eq!(service_events(&app).await.len(), 1);
    let forget = app.store.write(|tx| {
        Box::pin(async move {
            let end = Clock::system().now().plus(Duration::from_secs(60));
            changes::prune(tx, end).await?;
            Ok::<_, StoreError>(())
        })
    });
    forget.await.unwrap();
    stand.take_down().await;
    app.owner().run("touch-web").await.ok();
    let down = service(&app, "web").await;
    assert_eq!(
        steps(&down["history"]),
        [
            step("unknown", "up", None),
            step("up", "down", Some("refused"))
        ]
    );
}

/// After a restart the first look is one reading: it is not shown against what is known, nor believed.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_look_after_a_restart_is_a_hiccup_until_the_second() {
    let mut stand = Stand::up().await;
    let lab = Arc::new(Lab::new());
    let listed = stand.service("web");
    let setup = || Setup {
        lab: Arc::clone(&lab),
        services: services(std::slice::from_ref(&listed)),
        ..Setup::default()
    };
    let app = setup().start().await;
    until(&app, "web", "up").await;
    drop(app);
    stand.take_down().await;
    let app = setup().start().await;
    let unsure = until(&app, "web", "unknown").await;
    assert_eq!(unsure["detail"]["reason"], "refused");
    assert_eq!(steps(&unsure["history"]), [step("unknown", "up", None)]);
    let sure = until(&app, "web", "down").await;
    assert_eq!(
        steps(&sure["history"])[1],
        step("up", "down", Some("refused"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_watched_is_not_found() {
    let stand = Stand::up().await;
    let app = watching(&[stand.service("web")]).await;
    for id in ["no-such", "WEB", "web%00", "..%2fweb", "%3Cscript%3E"] {
        let path = format!("/api/services/{id}");
        let answer = app.owner().get(&path).await;
        assert!(matches!(answer.status, 404 | 422), "{id}: {}", answer.text);
        assert!(!answer.text.contains("<script>"));
    }
}
