//! After a run its effect is checked, as a step of its own: *executed* is not *done* (DESIGN 5, I27).

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use void_control::{Clock, Limits};
use void_rehearsal::proxmox::{Fault, TaskDurations};
use void_testkit::eventually;

use crate::apps::{App, Engine, Setup, random};
use crate::labs::Lab;
use crate::pve::{Pve, guest};
use crate::sse::{Heard, Listener};
use crate::stands::{OK, Says, Stand, services};

const CATALOGUE: &str = r#"{"actions": [
    {"id": "touch-web", "label": "Restart the web", "kind": "service_restart", "host": "local", "service": "web", "tier": "safe", "cooldown_s": 0, "verify": {"service": "web"}},
    {"id": "stop-web", "label": "Restart the web, risky", "kind": "service_restart", "host": "local", "service": "web", "tier": "risky", "verify": {"service": "web"}},
    {"id": "fail-web", "label": "Fail", "kind": "service_restart", "host": "local", "service": "f", "tier": "safe", "cooldown_s": 0, "verify": {"service": "web"}},
    {"id": "touch-bare", "label": "Without a check", "kind": "service_restart", "host": "local", "service": "bare", "tier": "safe", "cooldown_s": 0},
    {"id": "touch-lost", "label": "With a check that nobody watches", "kind": "service_restart", "host": "local", "service": "lost", "tier": "safe", "cooldown_s": 0, "verify": {"service": "no-such"}},
    {"id": "counted-web", "label": "Scale the web", "kind": "scale", "node": "local", "service": "web", "tier": "risky", "via": "host", "params": {"copies": {"type": "integer", "min": 0, "max": 9}}, "verify": {"service": "web"}},
    {"id": "scale-web", "label": "Scale the web, uncounted", "kind": "scale", "node": "local", "service": "web", "tier": "risky", "via": "host", "params": {"copies": {"type": "integer", "min": 0, "max": 9}}, "verify": {"service": "web"}},
    {"id": "start-108", "label": "Start", "kind": "guest_power", "node": "z", "vmid": 108, "op": "start", "tier": "safe", "cooldown_s": 0},
    {"id": "stop-107", "label": "Stop", "kind": "guest_power", "node": "z", "vmid": 107, "op": "stop", "tier": "risky"},
    {"id": "stop-104", "label": "Stop, seen by its service", "kind": "guest_power", "node": "y", "vmid": 104, "guest": "qemu", "op": "stop", "tier": "risky", "verify": {"service": "desktop"}}
]}"#;

fn setup(list: &[Value], verify_within: Duration) -> Setup {
    Setup {
        lab: Arc::new(Lab::of(CATALOGUE)),
        services: services(list),
        limits: Limits {
            verify_within,
            ..Limits::default()
        },
        ..Setup::default()
    }
}

const LONG: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(300);

/// The one entry of the record about a check, and its detail.
async fn recorded(app: &App) -> (String, Value) {
    let entries = app.audited("proposal.verified").await;
    assert_eq!(entries.len(), 1, "{entries:?}");
    let detail = serde_json::from_str(&entries[0].detail).unwrap();
    (entries[0].subject.clone().unwrap(), detail)
}

/// What was told of a proposal after it started.
async fn told(listener: &mut Listener) -> (Heard, Heard) {
    let executed = listener.wait_for("proposal.executed").await;
    (executed, listener.wait_for("proposal.verified").await)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_comes_up_after_the_run_verifies_it() {
    let mut stand = Stand::down();
    let app = setup(&[stand.service("web")], LONG).start().await;
    let agent = app.agent("blue").await;
    let mut listener = Listener::open(&agent).await;
    let caller = agent.clone();
    let running = tokio::spawn(async move { caller.run("touch-web").await.ok() });
    let executed = listener.wait_for("proposal.executed").await;
    assert_eq!(executed.data["verification"], Value::Null);
    let id = executed.data["id"].as_str().unwrap();
    // It ran, and nobody is told that it is done: not the row, not who waits for it.
    let row = app.row(id).await;
    assert_eq!(
        (&row["status"], &row["verification"]),
        (&json!("executed"), &Value::Null)
    );
    assert!(row["result"]["check"].is_null() && !running.is_finished());
    stand.put_up(Says::All(OK.to_vec()), usize::MAX).await;
    let answer = running.await.unwrap();
    let verified = listener.wait_for("proposal.verified").await;
    assert_eq!(
        (&verified.data["id"], &verified.data["verification"]),
        (&json!(id), &json!("verified"))
    );
    let row = app.row(id).await;
    assert_eq!(
        (&row["status"], &row["verification"]),
        (&json!("executed"), &json!("verified"))
    );
    let mut check = row["result"]["check"].clone();
    assert!(check["after_ms"].take().is_u64());
    assert!(check["detail"]["latency_ms"].take().is_u64());
    assert_eq!(
        check,
        json!({"service": "web", "wanted": "up", "status": "up", "after_ms": null,
            "detail": {"answer": "good", "code": 200, "latency_ms": null}})
    );
    // Who waited got it after the check, with what the check saw.
    assert_eq!(
        (&answer["executed"], &answer["result"]["check"]),
        (&json!(true), &row["result"]["check"])
    );
    let (subject, detail) = recorded(&app).await;
    assert_eq!(
        (
            subject.as_str(),
            &detail["verification"],
            &detail["check"],
            &detail["status"]
        ),
        (
            id,
            &json!("verified"),
            &row["result"]["check"],
            &json!("executed")
        )
    );
    // The run itself was recorded before, without a word on its effect.
    let executed = app.audited("proposal.executed").await;
    let detail: Value = serde_json::from_str(&executed[0].detail).unwrap();
    assert_eq!(
        (&detail["verification"], &detail["check"]),
        (&Value::Null, &Value::Null)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_stays_down_until_the_deadline_is_a_failed_check() {
    let stand = Stand::down();
    let app = setup(&[stand.service("web")], SHORT).start().await;
    let mut listener = Listener::open(&app.owner()).await;
    let row = app.queue("stop-web").await;
    let row = app.owner().decide(&row, "approve").await.ok();
    assert_eq!(
        (&row["status"], &row["verification"]),
        (&json!("executed"), &json!("failed"))
    );
    let check = &row["result"]["check"];
    assert_eq!(
        (&check["status"], &check["detail"]["reason"]),
        (&json!("down"), &json!("refused"))
    );
    let within = u128::from(check["after_ms"].as_u64().unwrap());
    assert!(
        (SHORT.as_millis()..SHORT.as_millis() + 5_000).contains(&within),
        "{within}"
    );
    let (executed, verified) = told(&mut listener).await;
    assert_eq!(
        (
            &executed.data["verification"],
            &verified.data["verification"]
        ),
        (&Value::Null, &json!("failed"))
    );
    assert_eq!(recorded(&app).await.1["verification"], "failed");
}

/// Nobody answers for it, so nobody says that it worked or that it did not.
#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_cannot_be_read_leaves_it_unverified() {
    let stand = Stand::up().await;
    let mut service = stand.service("web");
    // Its certificate is trusted by nobody here.
    service["check"] = json!({"kind": "http", "url": format!("https://{}/", stand.address)});
    let app = setup(&[service], SHORT).start().await;
    let answer = app.owner().run("touch-web").await.ok();
    let row = app.row(answer["action_row_id"].as_str().unwrap()).await;
    assert_eq!(row["verification"], "unverified");
    assert_eq!(
        row["result"]["check"]["detail"],
        json!({"answer": "none", "reason": "certificate"})
    );
    assert_eq!(recorded(&app).await.1["verification"], "unverified");
}

async fn answers_once(verify_within: Duration) {
    let mut stand = Stand::down();
    let app = setup(&[stand.service("web")], verify_within).start().await;
    eventually("it to be seen down", || async {
        let service = app.owner().get("/api/services/web").await.ok();
        (service["status"] == "down").then_some(())
    })
    .await;
    stand.put_up(Says::All(OK.to_vec()), 1).await;
    let answer = app.owner().run("touch-web").await.ok();
    let row = app.row(answer["action_row_id"].as_str().unwrap()).await;
    let seen = (&row["verification"], stand.asked());
    assert_eq!(seen, (&json!("failed"), 1), "{verify_within:?}");
}

/// Also when its one answer comes at the very end of its time.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_answers_once_and_falls_over_is_not_verified() {
    let early = tokio::spawn(answers_once(Duration::from_millis(1_200)));
    answers_once(Duration::from_millis(1)).await;
    early.await.unwrap();
}

/// A deadline is one, whatever the time that a service may take to answer otherwise.
#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_hangs_ends_with_its_time() {
    let stand = Stand::saying(Says::Nothing).await;
    let mut service = stand.service("web");
    service["timeout_s"] = json!(60);
    let app = setup(&[service], SHORT).start().await;
    let start = Instant::now();
    let answer = app.owner().run("touch-web").await.ok();
    assert!(
        start.elapsed() < Duration::from_secs(15),
        "{:?}",
        start.elapsed()
    );
    let row = app.row(answer["action_row_id"].as_str().unwrap()).await;
    assert_eq!(
        (
            &row["verification"],
            &row["result"]["check"]["detail"]["reason"]
        ),
        (&json!("unverified"), &json!("timed_out"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_no_check_or_did_not_run_is_never_called_verified() {
    let stand = Stand::up().await;
    let app = setup(&[stand.service("web")], SHORT).start().await;
    let mut listener = Listener::open(&app.owner()).await;
    for action in ["touch-bare", "touch-lost"] {
        let answer = app.owner().run(action).await.ok();
        assert_eq!(answer["executed"], true);
        let row = app.row(answer["action_row_id"].as_str().unwrap()).await;
        assert_eq!(row["verification"], "unverified", "{action}");
        assert_eq!(row["result"]["check"], Value::Null);
        assert_eq!(answer["result"], row["result"]);
        let executed = listener.wait_for("proposal.executed").await;
        assert_eq!(executed.data["verification"], "unverified");
    }
    // Its service is up and says nothing about a run that failed.
    let answer = app.owner().run("fail-web").await.ok();
    let row = app.row(answer["action_row_id"].as_str().unwrap()).await;
    assert_eq!(
        (&row["status"], &row["verification"]),
        (&json!("failed"), &Value::Null)
    );
    assert_eq!(app.audited("proposal.verified").await.len(), 0);
    let everything = app.owner().get("/api/proposals").await.text;
    assert!(!everything.contains("\"verified\""), "{everything}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_is_verified_by_its_status_in_proxmox() {
    let pve = Pve::start();
    let setup = Setup {
        proxmox: Some(pve.config()),
        ..setup(&[guest("desktop", "y", 104, 3_600)], LONG)
    };
    let app = setup.start().await;
    let owner = app.owner();
    let started = owner.run("start-108").await.ok();
    let mut rows = vec![app.row(started["action_row_id"].as_str().unwrap()).await];
    for action in ["stop-107", "stop-104"] {
        let row = app.queue(action).await;
        rows.push(owner.decide(&row, "approve").await.ok());
    }
    let mut checks = Vec::new();
    for row in &rows {
        assert_eq!(
            (&row["status"], &row["verification"]),
            (&json!("executed"), &json!("verified")),
            "{row}"
        );
        let mut check = row["result"]["check"].clone();
        assert!(check["after_ms"].take().is_u64());
        checks.push(check);
    }
    assert_eq!(
        checks,
        [
            json!({"guest": 108, "node": "z", "wanted": "running", "status": "running", "after_ms": null}),
            json!({"guest": 107, "node": "z", "wanted": "stopped", "status": "stopped", "after_ms": null}),
            json!({"service": "desktop", "wanted": "down", "status": "down", "after_ms": null,
                "detail": {"answer": "bad", "reason": "stopped"}}),
        ]
    );
    assert_eq!(app.audited("proposal.verified").await.len(), 3);
    assert_eq!(pve.server.effects().len(), 3);
}

/// The task says OK and the service still answers; and where Proxmox is silent nobody knows.
#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_is_not_seen_as_it_was_wanted_is_failed_or_unverified() {
    let pve = Pve::start_with(TaskDurations::all(Duration::from_millis(500)));
    let stand = Stand::up().await;
    let setup = Setup {
        proxmox: Some(pve.config()),
        ..setup(&[stand.service("desktop")], SHORT)
    };
    let app = setup.start().await;
    let owner = app.owner();
    let row = app.queue("stop-104").await;
    let failed = owner.decide(&row, "approve").await.ok();
    assert_eq!(
        (&failed["status"], &failed["verification"]),
        (&json!("executed"), &json!("failed")),
        "{failed}"
    );
    let check = &failed["result"]["check"];
    assert_eq!(
        (&check["wanted"], &check["status"]),
        (&json!("down"), &json!("up"))
    );
    // Nobody answers for the guest any more once its task runs.
    let status = "/nodes/z/lxc/107/status/current";
    let row = app.queue("stop-107").await;
    let stopped = owner.decide(&row, "approve");
    let meanwhile = async {
        eventually("the task to run", || async {
            (pve.server.running_tasks() == 1).then_some(())
        })
        .await;
        pve.server
            .faults()
            .always(Fault::ServerError("no quorum".to_owned()), status);
    };
    let (unknown, ()) = tokio::join!(stopped, meanwhile);
    let unknown = unknown.ok();
    assert_eq!(
        (&unknown["status"], &unknown["verification"]),
        (&json!("executed"), &json!("unverified")),
        "{unknown}"
    );
    let check = &unknown["result"]["check"];
    assert_eq!(check["status"], "unknown");
    assert!(check["reason"].is_string(), "{check}");
}

/// What a stop cut off goes on at the next start, and is recorded once.
#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_a_restart_cut_off_goes_on() {
    let mut stand = Stand::down();
    let lab = Arc::new(Lab::of(CATALOGUE));
    let with_lab = |list: &[Value]| Setup {
        lab: Arc::clone(&lab),
        ..setup(list, LONG)
    };
    let app = with_lab(&[stand.service("web")]).start().await;
    let path = "/api/actions/touch-web/run?wait=0";
    let answer = app.owner().post_nothing(path).await.ok();
    let id = answer["action_row_id"].as_str().unwrap().to_owned();
    assert_eq!(app.ended(&id).await["verification"], Value::Null);
    drop(app);
    let app = with_lab(&[stand.service("web")]).start().await;
    assert_eq!(app.row(&id).await["verification"], Value::Null);
    stand.put_up(Says::All(OK.to_vec()), usize::MAX).await;
    let row = eventually("the check to end", || async {
        let row = app.row(&id).await;
        (!row["verification"].is_null()).then_some(row)
    })
    .await;
    assert_eq!(row["verification"], "verified");
    assert_eq!(recorded(&app).await.0, id);
    assert_eq!(lab.effect_count(), 1);
}

/// And what was cut off for longer than it had time is unverified, not forgotten.
#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_was_cut_off_for_too_long_is_unverified() {
    let stand = Stand::down();
    let lab = Arc::new(Lab::of(CATALOGUE));
    let start = Clock::system().now();
    let at = |clock| Setup {
        lab: Arc::clone(&lab),
        clock: Clock::manual(clock),
        ..setup(&[stand.service("web")], LONG)
    };
    let app = at(start).start().await;
    let path = "/api/actions/touch-web/run?wait=0";
    let answer = app.owner().post_nothing(path).await.ok();
    let id = answer["action_row_id"].as_str().unwrap().to_owned();
    app.ended(&id).await;
    drop(app);
    let app = at(start.plus(LONG)).start().await;
    let mut listener = Listener::after(&app.owner(), 0).await;
    let verified = listener.wait_for("proposal.verified").await;
    assert_eq!(verified.data["verification"], "unverified");
    let row = app.row(&id).await;
    assert_eq!(
        row["result"]["check"],
        json!({"service": "web", "wanted": "up", "status": "unknown",
            "detail": {"answer": "none", "reason": "interrupted"}})
    );
    assert_eq!(recorded(&app).await.1["check"], row["result"]["check"]);
}

/// One instance thinks that the other is gone, and the other comes to its own end: one record.
#[tokio::test(flavor = "multi_thread")]
async fn two_instances_record_a_check_once() {
    let stand = Stand::saying(Says::Nothing).await;
    let mut hanging = stand.service("web");
    hanging["timeout_s"] = json!(60);
    let (engine, lab) = (
        Engine::postgres().await,
        Arc::new(Lab::of_alpha(Some(CATALOGUE))),
    );
    let owner_token = format!("owner-{:016x}{:016x}", random(), random());
    let instance = |name| Setup {
        instance: Some(name),
        engine: engine.clone(),
        lab: Arc::clone(&lab),
        owner_token: owner_token.clone(),
        limits: Limits {
            verify_within: SHORT,
            lease: SHORT,
            ..Limits::default()
        },
        ..setup(&[hanging.clone()], SHORT)
    };
    let (a, b) = (
        instance("alpha").start().await,
        instance("beta").start().await,
    );
    let answer = a.owner().run("touch-web").await.ok();
    let id = answer["action_row_id"].as_str().unwrap().to_owned();
    // Whoever was faster, who waited got that word.
    let row = a.row(&id).await;
    assert_eq!(row["verification"], "unverified", "{row}");
    assert_eq!(answer["result"], row["result"]);
    eventually(
        "the first one's look to end, beside those of its turn",
        || async { (stand.asked() == 3 && stand.open() == 2).then_some(()) },
    )
    .await;
    assert_eq!(recorded(&a).await.0, id);
    assert_eq!(b.row(&id).await, row);
}

/// The web answers all the time. That verifies no number of copies, and a number of copies no health.
#[tokio::test(flavor = "multi_thread")]
async fn a_scale_needs_the_number_of_copies_and_the_health() {
    let mut stand = Stand::down();
    stand.put_up(Says::All(OK.to_vec()), usize::MAX).await;
    let app = setup(&[stand.service("web")], SHORT).start().await;
    let owner = app.owner();
    for (action, wanted, running, outcome) in [
        ("counted-web", 3, "3", "verified"),
        ("counted-web", 3, "2", "failed"),
        ("counted-web", 3, "0", "failed"),
        ("counted-web", 3, "4", "failed"),
        // Nothing shall run, nothing does by the count, and something answers.
        ("counted-web", 0, "0", "failed"),
        ("counted-web", 3, "three", "unverified"),
        // A host whose list counts nothing.
        ("scale-web", 3, "3", "unverified"),
    ] {
        std::fs::write(app.lab.path().join("running"), running).unwrap();
        let body = json!({"params": {"copies": wanted}});
        let queued = owner
            .post(&format!("/api/actions/{action}/run"), body)
            .await;
        let id = queued.ok()["action_row_id"].as_str().unwrap().to_owned();
        owner
            .post(
                &format!("/api/actions/pending/{id}/approve?wait=0"),
                json!({}),
            )
            .await
            .ok();
        let row = eventually("the check to end", || async {
            let row = app.row(&id).await;
            (!row["verification"].is_null()).then_some(row)
        })
        .await;
        let case = format!("{action} {wanted} {running}: {row}");
        assert_eq!(row["verification"], outcome, "{case}");
        if outcome == "unverified" {
            assert_eq!(row["result"]["check"]["reason"], "not_counted", "{case}");
        }
    }
}
