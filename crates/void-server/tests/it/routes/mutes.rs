//! `/api/mutes`: who may mute what, for how long and why; and what a mute does to what is told.

use std::time::Duration;

use serde_json::{Value, json};
use void_control::Clock;
use void_domain::mutes::{LASTS_MAX, RUNNING_MAX};
use void_domain::notifications::{QuietHours, Zone};
use void_domain::time::Timestamp;
use void_notify::notifiers::{NotificationsConfig, NtfyConfig};
use void_testkit::eventually;
use void_testkit::receivers::Receiver;
use void_testkit::telegram::Message;

use crate::alerts::{alerts, all_sent, believed, on, put_up, webhook};
use crate::apps::{App, Engine, Setup};
use crate::phones::{Rig, STRANGER, nothing};
use crate::sse::Listener;
use crate::stands::{Stand, services};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// Services that nobody looks at twice.
fn quiet_lab(engine: Engine) -> Setup {
    let (one, two) = (Stand::down(), Stand::down());
    let list = [
        on("ct100", one.service("web")),
        on("ct200", two.service("files")),
    ];
    Setup {
        engine,
        clock: Clock::manual(Clock::system().now()),
        services: services(&list),
        ..Setup::default()
    }
}

async fn muted(app: &App) -> Vec<Value> {
    let listed = app.owner().get("/api/mutes").await.ok();
    listed["mutes"].as_array().unwrap().clone()
}

async fn mute(app: &App, subject: (&str, &str), for_s: u64) -> Value {
    let mut body = json!({"for_s": for_s, "reason": "a new disk"});
    body[subject.0] = json!(subject.1);
    app.owner().post("/api/mutes", body).await.ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_owner_mutes_what_is_watched_for_a_reason_and_a_bounded_time() {
    for engine in Engine::both().await {
        let app = quiet_lab(engine).start().await;
        let owner = app.owner();
        let good = json!({"service": "web", "for_s": 60, "reason": "a new disk"});
        let agent = app
            .holder("agent", "blue", &["read", "act", "suggest"])
            .await;
        let viewer = app.holder("viewer", "eve", &[]).await;
        for caller in [&agent.caller, &viewer.caller] {
            let refused = caller.post("/api/mutes", good.clone()).await;
            refused.error(403, "owner_only");
            caller.get("/api/mutes").await.error(403, "owner_only");
        }
        let now = app.control.clock().now();
        let past = now.minus(SECOND).to_string();
        let late = now.plus(LASTS_MAX + SECOND).to_string();
        for (change, status, code) in [
            (json!({"service": null}), 422, "invalid"),
            (json!({"host": "ct100"}), 422, "invalid"),
            (json!({"service": "nobody"}), 404, "not_found"),
            (json!({"service": "WEB"}), 404, "not_found"),
            (json!({"service": null, "host": "ct300"}), 404, "not_found"),
            (json!({"reason": ""}), 422, "invalid"),
            (json!({"reason": "  "}), 422, "invalid"),
            (json!({"reason": "w".repeat(4_097)}), 422, "invalid"),
            (json!({"for_s": null}), 422, "invalid"),
            (json!({"for_s": 0}), 422, "invalid"),
            (json!({"for_s": LASTS_MAX.as_secs() + 1}), 422, "invalid"),
            (json!({"until": past}), 422, "invalid"),
            (json!({"for_s": null, "until": past}), 422, "invalid"),
            (json!({"for_s": null, "until": late}), 422, "invalid"),
            (json!({"for_s": null, "until": "tomorrow"}), 422, "invalid"),
            (json!({"by": "owner"}), 422, "invalid"),
        ] {
            let mut body = good.clone();
            body.as_object_mut()
                .unwrap()
                .extend(change.as_object().unwrap().clone());
            let refused = owner.post("/api/mutes", body).await;
            assert_eq!(refused.status, status, "{change}: {}", refused.text);
            refused.error(status, code);
        }
        // Whoever typed --for is told no field, a program is.
        let mut body = good.clone();
        body["for_s"] = json!(LASTS_MAX.as_secs() + 1);
        let refused = owner.post("/api/mutes", body).await;
        let sentence = json!("a mute must end within 30 days");
        let error = refused.error(422, "invalid");
        assert_eq!(error["message"], sentence);
        assert_eq!(error["fields"]["until"], sentence);
        assert!(muted(&app).await.is_empty());
        assert!(app.audited("mute.set").await.is_empty());
        // At the bound, and by a moment.
        let longest = now.plus(LASTS_MAX).to_string();
        let body = json!({"host": "ct200", "until": longest, "reason": "moving house"});
        let set = owner.post("/api/mutes", body).await.ok();
        assert_eq!(set["until"], json!(longest));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mute_is_listed_on_the_record_replaced_lifted_and_over_by_itself() {
    for engine in Engine::both().await {
        let app = quiet_lab(engine).start().await;
        let mut listener = Listener::open(&app.owner()).await;
        let viewer = app.holder("viewer", "eve", &[]).await.caller;
        let mut outsider = Listener::open(&viewer).await;
        let first = mute(&app, ("service", "web"), 3_600).await;
        assert_eq!(
            (
                &first["service"],
                &first["host"],
                &first["by"],
                &first["reason"]
            ),
            (
                &json!("web"),
                &Value::Null,
                &json!("owner-api"),
                &json!("a new disk")
            )
        );
        assert_eq!(muted(&app).await, std::slice::from_ref(&first));
        let heard = listener.wait_for("mute.changed").await;
        assert_eq!(
            (&heard.data["subject"], &heard.data["what"]),
            (&json!("service:web"), &json!("mute.set"))
        );
        // The same again gives way; another subject does not.
        let second = mute(&app, ("service", "web"), 7_200).await;
        app.pass(SECOND);
        let host = mute(&app, ("host", "ct200"), 60).await;
        assert_eq!(muted(&app).await, [host.clone(), second.clone()]);
        let path = |mute: &Value| format!("/api/mutes/{}", mute["id"].as_str().unwrap());
        app.owner()
            .delete(&path(&first))
            .await
            .error(404, "not_found");
        app.owner()
            .delete("/api/mutes/x")
            .await
            .error(404, "not_found");
        viewer.delete(&path(&second)).await.error(403, "owner_only");
        app.owner().delete(&path(&second)).await.ok();
        app.owner()
            .delete(&path(&second))
            .await
            .error(404, "not_found");
        assert_eq!(muted(&app).await, std::slice::from_ref(&host));
        app.pass(Duration::from_secs(60));
        assert!(muted(&app).await.is_empty(), "its time is over");
        app.owner()
            .delete(&path(&host))
            .await
            .error(404, "not_found");
        eventually("its end to be on the record", || async {
            (app.audited("mute.ended").await.len() == 1).then_some(())
        })
        .await;
        let set = app.audited("mute.set").await;
        assert_eq!(set.len(), 3);
        assert_eq!(set[0].subject.as_deref(), Some("service:web"));
        let detail: Value = serde_json::from_str(&set[0].detail).unwrap();
        assert_eq!(
            (&detail["reason"], &detail["until"]),
            (&json!("a new disk"), &first["until"])
        );
        assert_eq!(app.audited("mute.lifted").await.len(), 1);
        // Whoever only looks on hears nothing of why.
        app.queue("stop-a").await;
        loop {
            let next = outsider.next().await.unwrap();
            assert_ne!(next.event, "mute.changed");
            if next.event == "proposal.created" {
                break;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_so_much_is_muted_at_once() {
    let count = usize::try_from(RUNNING_MAX).unwrap();
    let list: Vec<Value> = (0..=count)
        .map(|n| Stand::down().service(&format!("s{n}")))
        .collect();
    let app = Setup {
        services: services(&list),
        ..Setup::default()
    };
    let app = app.start().await;
    for n in 0..count {
        mute(&app, ("service", &format!("s{n}")), 3_600).await;
    }
    let body = json!({"service": format!("s{count}"), "for_s": 60, "reason": "one more"});
    let refused = app.owner().post("/api/mutes", body).await;
    refused.error(409, "too_many");
    // One that holds already may be replaced.
    mute(&app, ("service", "s0"), 60).await;
    assert_eq!(muted(&app).await.len(), count);
}

/// A browser that was left open hides no trouble.
#[tokio::test(flavor = "multi_thread")]
async fn a_stale_session_mutes_nothing_and_may_make_it_loud_again() {
    let app = quiet_lab(Engine::Sqlite).start().await;
    let session = app.session().await;
    let body = json!({"service": "web", "for_s": 60_000, "reason": "a new disk"});
    let set = session.post("/api/mutes", body.clone()).await.ok();
    assert_eq!(set["by"], "owner-web");
    app.pass(Duration::from_secs(5 * 60 + 1));
    let stale = session.post("/api/mutes", body).await;
    stale.error(403, "fresh_login_needed");
    let path = format!("/api/mutes/{}", set["id"].as_str().unwrap());
    session.delete(&path).await.ok();
    assert!(muted(&app).await.is_empty());
}

/// A rig with a clock that stands still and a service on a host, looked at every second.
async fn rigged() -> (Rig, Stand) {
    let stand = Stand::up().await;
    let setup = Setup {
        clock: Clock::manual(Clock::system().now()),
        services: services(&[on("ct100", stand.watched("web"))]),
        ..Setup::default()
    };
    let rig = Rig::with(setup, |config| config).await;
    believed(&rig.app, "web", "up").await;
    (rig, stand)
}

async fn said_after(rig: &Rig, known: &[i64]) -> Message {
    eventually("a new message", || async {
        let mut all = alerts(&rig.phone);
        all.retain(|message| !known.contains(&message.id));
        all.into_iter()
            .find(|message| message.text.starts_with("DOWN"))
    })
    .await
}

/// It is shown as down all the time; only the telling stops, and what is still down at its end is told.
#[tokio::test(flavor = "multi_thread")]
async fn what_goes_down_under_a_mute_is_told_when_it_ends() {
    for subject in [("service", "web"), ("host", "ct100")] {
        let (rig, mut stand) = rigged().await;
        mute(&rig.app, subject, 3_600).await;
        stand.take_down().await;
        let service = believed(&rig.app, "web", "down").await;
        assert_eq!(service["stopped"], Value::Null, "it is a worry as ever");
        let status = rig.app.owner().get("/api/status").await.ok();
        assert_eq!(
            (
                &status["services_down"],
                &status["mutes"],
                &status["services_untold"]
            ),
            (&json!(1), &json!(1), &json!(0))
        );
        // Its up and down again is not told either.
        put_up(&mut stand).await;
        believed(&rig.app, "web", "up").await;
        rig.app.pass(SECOND);
        stand.take_down().await;
        believed(&rig.app, "web", "down").await;
        rig.app.pass(HOUR - 2 * SECOND);
        believed(&rig.app, "web", "down").await;
        assert!(alerts(&rig.phone).is_empty(), "{:?}", alerts(&rig.phone));
        rig.app.pass(SECOND);
        rig.phone.sees("DOWN · The web on ct100 since ").await;
    }
}

/// A program is told as little as a person: that it is down, again at the end of the mute, and that it is over.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_muted_is_posted_to_no_program_and_told_to_nobody_new() {
    for engine in Engine::both().await {
        let hook = Receiver::start();
        let (mut stand, mut other) = (Stand::up().await, Stand::up().await);
        let list = [
            on("ct100", stand.watched("web")),
            on("ct200", other.watched("files")),
        ];
        let setup = Setup {
            engine,
            clock: Clock::manual(Clock::system().now()),
            services: services(&list),
            ..Setup::default()
        };
        let rig = Rig::with(setup, |config| NotificationsConfig {
            webhooks: vec![webhook(&hook)],
            ..config
        })
        .await;
        for id in ["web", "files"] {
            believed(&rig.app, id, "up").await;
        }
        let posts = |id: &str, what: &str| {
            let about = |body: &Value| body["alert"]["services"][0]["id"] == id;
            let bodies = hook.bodies().into_iter();
            bodies
                .filter(|body| about(body) && body["type"] == what)
                .count()
        };
        let posted = async |id: &str, what: &str, count: usize| {
            eventually(&format!("{count} posts of {id}"), || async {
                (posts(id, what) == count).then_some(())
            })
            .await;
        };
        stand.take_down().await;
        posted("web", "alert.down", 1).await;
        rig.phone.sees("DOWN · The web on ct100").await;
        all_sent(&rig.app).await;
        let set = mute(&rig.app, ("service", "web"), 7_200).await;
        rig.app.pass(SECOND * 3);
        rig.phone.sees("\"a new disk\"").await;
        // Whoever is paired now hears of what is not muted.
        let late = rig.api.phone(STRANGER);
        rig.pair(&late).await;
        other.take_down().await;
        posted("files", "alert.down", 1).await;
        late.sees("DOWN · The files").await;
        assert_eq!(alerts(&late).len(), 1, "{:?}", alerts(&late));
        // Lifted: what was told is not said again, and whoever was not told is.
        let path = format!("/api/mutes/{}", set["id"].as_str().unwrap());
        rig.app.owner().delete(&path).await.ok();
        late.sees("DOWN · The web on ct100").await;
        rig.app.pass(SECOND * 3);
        all_sent(&rig.app).await;
        put_up(&mut other).await;
        rig.app.pass(SECOND * 3);
        posted("files", "alert.over", 1).await;
        assert_eq!(posts("web", "alert.down"), 1);
        // Over by itself: what is still down is posted once more.
        mute(&rig.app, ("service", "web"), 3_600).await;
        rig.app.pass(HOUR - SECOND);
        believed(&rig.app, "web", "down").await;
        assert_eq!(posts("web", "alert.down"), 1);
        rig.app.pass(SECOND);
        posted("web", "alert.down", 2).await;
        rig.app.pass(SECOND * 3);
        all_sent(&rig.app).await;
        // What ends under a mute is over for whoever was told that it began.
        mute(&rig.app, ("host", "ct100"), 3_600).await;
        put_up(&mut stand).await;
        believed(&rig.app, "web", "up").await;
        rig.app.pass(SECOND * 3);
        posted("web", "alert.over", 1).await;
        assert_eq!(posts("web", "alert.down"), 2);
    }
}

/// A mute of what is down holds back nothing that goes down beside it, and the last of two mutes counts.
#[tokio::test(flavor = "multi_thread")]
async fn what_joins_a_muted_alert_is_told_and_two_mutes_are_two() {
    let evening = Timestamp::parse_rfc3339("2026-11-16T23:00:00Z").unwrap();
    let (mut stand, mut other) = (Stand::up().await, Stand::up().await);
    let list = [
        on("ct100", stand.watched("web")),
        on("ct100", other.watched("files")),
    ];
    let setup = Setup {
        clock: Clock::manual(evening),
        services: services(&list),
        ..Setup::default()
    };
    let rig = Rig::with(setup, |config| NotificationsConfig {
        quiet: Some(QuietHours::parse("22:00", "23:01", Zone::UTC, true).unwrap()),
        ..config
    })
    .await;
    for id in ["web", "files"] {
        believed(&rig.app, id, "up").await;
    }
    // Quiet hours keep it back, and it is muted twice before their end.
    stand.take_down().await;
    believed(&rig.app, "web", "down").await;
    mute(&rig.app, ("service", "web"), 3_600).await;
    let host = mute(&rig.app, ("host", "ct100"), 7_200).await;
    let path = format!("/api/mutes/{}", host["id"].as_str().unwrap());
    rig.app.owner().delete(&path).await.ok();
    rig.app.pass(SECOND * 61);
    believed(&rig.app, "web", "down").await;
    assert!(alerts(&rig.phone).is_empty(), "one mute of two is lifted");
    other.take_down().await;
    let both = rig.phone.sees("DOWN · 2 services on ct100").await;
    assert!(
        both.text.contains("The web is muted until"),
        "{}",
        both.text
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_button_mutes_once_and_what_is_still_down_at_the_end_is_said_again() {
    let (rig, mut stand) = rigged().await;
    stand.take_down().await;
    let down = rig.phone.sees("DOWN · The web on ct100 since ").await;
    let (stranger, data) = (rig.api.phone(STRANGER), down.buttons()[0].1.clone());
    stranger.say("hello");
    let answer = stranger.send_tap(down.id, &data).answer().await;
    assert_eq!(answer, "This is not for you.");
    let chat = json!({"id": rig.phone.user, "type": "private"});
    let forwarded = json!({"message_id": down.id, "chat": chat, "date": 1, "forward_date": 1});
    let answer = rig.phone.send_callback(forwarded, &data).answer().await;
    assert!(answer.contains("out of date"), "{answer}");
    assert!(muted(&rig.app).await.is_empty());
    let answer = rig.phone.tap(down.id, "Mute 1 h").answer().await;
    assert!(answer.starts_with("Muted until "), "{answer}");
    let held = muted(&rig.app).await;
    assert_eq!(held.len(), 1);
    assert_eq!(
        (&held[0]["service"], &held[0]["by"], &held[0]["reason"]),
        (
            &json!("web"),
            &json!("owner-telegram-4711"),
            &json!("from Telegram")
        )
    );
    assert_eq!(rig.app.audited("mute.set").await.len(), 1);
    // The same button again, and its neighbour's older copy: nothing more is muted.
    let answer = rig.phone.send_tap(down.id, &data).answer().await;
    assert!(answer.contains("out of date"), "{answer}");
    rig.app.pass(3 * SECOND);
    let shown = rig.phone.sees_button(down.id, "Unmute").await;
    assert!(
        shown
            .text
            .contains("by owner (Telegram): \"from Telegram\""),
        "{}",
        shown.text
    );
    // Nobody's token for anything else.
    let acted = json!({"token": data});
    let refused = rig
        .app
        .anonymous()
        .post("/api/notifications/act", acted)
        .await;
    refused.error(401, "unauthenticated");
    rig.app.pass(HOUR);
    believed(&rig.app, "web", "down").await;
    let again = said_after(&rig, &[down.id]).await;
    assert_eq!(again.labels()[..2], ["Mute 1 h", "Mute 8 h"]);
    rig.phone.sees("Said once more below").await;
    put_up(&mut stand).await;
    believed(&rig.app, "web", "up").await;
    rig.app.pass(3 * SECOND);
    let up = rig.phone.sees("UP AGAIN · The web on ct100").await;
    assert_eq!(up.id, again.id);
    let data = &again.buttons()[0].1;
    assert_eq!(
        rig.phone.send_tap(again.id, data).answer().await,
        "That is over."
    );
    assert!(muted(&rig.app).await.is_empty());
}

/// What quiet hours hold back and is muted meanwhile is not told in the morning either.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_muted_before_it_was_told_waits_for_the_end_of_the_mute() {
    let night = Timestamp::parse_rfc3339("2026-11-16T23:00:00Z").unwrap();
    let (muted, lifted, told) = (Stand::down(), Stand::down(), Stand::down());
    let list = [
        muted.watched("muted"),
        lifted.watched("lifted"),
        told.watched("told"),
    ];
    let setup = Setup {
        clock: Clock::manual(night),
        services: services(&list),
        ..Setup::default()
    };
    let rig = Rig::with(setup, |config| NotificationsConfig {
        quiet: Some(QuietHours::parse("22:00", "07:00", Zone::UTC, true).unwrap()),
        ..config
    })
    .await;
    for id in ["muted", "lifted", "told"] {
        believed(&rig.app, id, "down").await;
        if id != "told" {
            mute(&rig.app, ("service", id), 10 * 3_600).await;
        }
    }
    for mute in self::muted(&rig.app).await {
        if mute["service"] == "lifted" {
            let path = format!("/api/mutes/{}", mute["id"].as_str().unwrap());
            rig.app.owner().delete(&path).await.ok();
        }
    }
    rig.app.pass(8 * HOUR + SECOND);
    let digest = rig.phone.sees("2 outages").await;
    assert!(!digest.text.contains("The muted"), "{}", digest.text);
    believed(&rig.app, "muted", "down").await;
    rig.app.pass(2 * HOUR);
    rig.phone.sees("DOWN · The muted since Mon 23:00").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unmute_is_a_button_too_and_a_button_of_a_smaller_message_is_too_old() {
    let (one, two) = (Stand::down(), Stand::up().await);
    let mut two = two;
    let list = [
        on("ct100", one.watched("one")),
        on("ct100", two.watched("two")),
    ];
    let setup = Setup {
        clock: Clock::manual(Clock::system().now()),
        services: services(&list),
        ..Setup::default()
    };
    let rig = Rig::with(setup, |config| config).await;
    let down = rig.phone.sees("DOWN · The one on ct100").await;
    believed(&rig.app, "two", "up").await;
    let data = down.buttons()[0].1.clone();
    two.take_down().await;
    believed(&rig.app, "two", "down").await;
    rig.app.pass(3 * SECOND);
    rig.phone.sees_button(down.id, "Mute ct100 8 h").await;
    // It was shown for one service and would mute a host by now.
    let answer = rig.phone.send_tap(down.id, &data).answer().await;
    assert!(answer.starts_with("More is down by now"), "{answer}");
    rig.phone.tap(down.id, "Mute ct100 8 h").answer().await;
    let held = muted(&rig.app).await;
    assert_eq!(held[0]["host"], "ct100");
    rig.app.pass(3 * SECOND);
    rig.phone.sees_button(down.id, "Unmute").await;
    let answer = rig.phone.tap(down.id, "Unmute").answer().await;
    assert_eq!(answer, "It is told again.");
    assert!(muted(&rig.app).await.is_empty());
    assert_eq!(rig.app.audited("mute.lifted").await.len(), 1);
}

/// Whoever holds the chat may not be the owner, who hears of a mute by Telegram on the other channel.
#[tokio::test(flavor = "multi_thread")]
async fn a_mute_by_telegram_is_said_on_ntfy_with_a_sound() {
    let stand = Stand::down();
    let push = Receiver::start();
    let setup = Setup {
        clock: Clock::manual(Clock::system().now()),
        services: services(&[stand.watched("web")]),
        ..Setup::default()
    };
    let ntfy = NtfyConfig {
        url: format!("{}/topic", push.url()),
        token: None,
        may_approve: false,
    };
    let rig = Rig::with(setup, |config| NotificationsConfig {
        ntfy: Some(ntfy),
        telegram: config.telegram,
        ..nothing()
    })
    .await;
    let down = rig.phone.sees("DOWN · The web").await;
    eventually("the first push", || async {
        (push.bodies().len() == 1).then_some(())
    })
    .await;
    rig.app.pass(3 * SECOND);
    rig.phone.tap(down.id, "Mute 8 h").answer().await;
    rig.app.pass(3 * SECOND);
    let pushed = eventually("the echo", || async { push.bodies().get(1).cloned() }).await;
    assert_eq!(pushed["priority"], 4);
    let words = pushed["message"].as_str().unwrap();
    assert!(words.contains("by owner (Telegram)"), "{words}");
}
