//! `/api/status`

use serde_json::{Value, json};
use void_testkit::eventually;

use crate::alerts::{believed, on};
use crate::apps::{App, Engine, Setup};
use crate::masks::{is_time, masked};
use crate::stands::{Stand, services};

#[tokio::test(flavor = "multi_thread")]
async fn one_look_shows_how_it_stands() {
    let app = App::start().await;
    let (owner, agent) = (app.owner(), app.agent("blue").await);
    app.queue("stop-a").await;
    owner
        .post_nothing("/api/actions/slow-a/run?wait=0")
        .await
        .ok();
    eventually("it to be under way", || async {
        (app.lab.effect_count() == 1).then_some(())
    })
    .await;
    agent.post("/api/freeze", json!({})).await.ok();
    let status = agent.get("/api/status").await.ok();
    let (seq, hash) = app.audit_head().await;
    // The hash is for people.
    let viewer = app.holder("viewer", "watching", &[]).await.caller;
    assert_eq!(status["audit_seq"], seq);
    let (seq_now, hash_now) = app.audit_head().await;
    assert_ne!(hash_now, hash);
    for person in [&owner, &viewer] {
        let status = person.get("/api/status").await.ok();
        assert_eq!(status["audit_seq"], seq_now);
        assert_eq!(status["audit_head"], json!(hash_now));
    }
    assert!(is_time(status["at"].as_str().unwrap()));
    assert_eq!(
        masked(&status),
        json!({
            "version": env!("CARGO_PKG_VERSION"), "rehearsal": false, "waiting": 1, "joins": 0, "running": 1, "unknown": 0, "untold": 0, "frozen": true,
            "frozen_by": "agent-blue", "frozen_reason": null, "frozen_until": null,
            "services_up": 0, "services_down": 0, "services_stopped": 0, "services_unknown": 0, "services_untold": 0,
            "channels": 0, "mutes": 0, "displaced": false, "nodes": 0, "nodes_here": 0, "quarantined": 0, "open_fences": [],
            "actions": app.lab.catalogue().actions().len(), "catalogue_digest": "<hash>",
            "catalogue_commit": "0123456789abcdef0123456789abcdef01234567",
            "instance": status["instance"], "instances": [status["instance"]],
            "audit_seq": seq, "audit_head": null, "storage": status["storage"], "at": "<time>", "clock_ahead_s": null,
        })
    );
}

/// With nowhere to tell it, what is down and muted is nothing that nobody was told of.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_muted_is_not_untold() {
    for engine in Engine::both().await {
        let (one, two) = (Stand::down(), Stand::down());
        let list = [
            on("ct100", one.watched("web")),
            on("ct200", two.watched("files")),
        ];
        let setup = Setup {
            engine,
            services: services(&list),
            ..Setup::default()
        };
        let app = setup.start().await;
        for id in ["web", "files"] {
            believed(&app, id, "down").await;
        }
        let untold = async |expected: u64| {
            eventually("status to count", || async {
                let status = app.owner().get("/api/status").await.ok();
                (status["services_untold"] == expected).then_some(())
            })
            .await;
        };
        untold(2).await;
        let mute = async |mut body: Value| {
            body["for_s"] = json!(60);
            body["reason"] = json!("a new disk");
            app.owner().post("/api/mutes", body).await.ok()
        };
        let one = mute(json!({"service": "web"})).await;
        untold(1).await;
        mute(json!({"host": "ct200"})).await;
        untold(0).await;
        let home = app.owner().get("/api/home").await.ok();
        assert_eq!(home["status"]["services_down"], 2, "shown as ever");
        let path = format!("/api/mutes/{}", one["id"].as_str().unwrap());
        app.owner().delete(&path).await.ok();
        untold(1).await;
    }
}
