//! Being told what is down (issue 7.14): one message for an outage, of a service or of what a host takes down,
//! edited to what became of it; nothing for what is no outage; and nothing lost over a restart.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use void_control::Clock;
use void_control::stops::EXCUSED_FOR;
use void_domain::alerts::{OPEN_MAX, REOPENS_WITHIN, RUN_SETTLES_WITHIN, STAYS_DOWN_FOR};
use void_domain::notifications::{QuietHours, Zone};
use void_domain::secrets::Secret;
use void_domain::time::Timestamp;
use void_notify::notifiers::{NotificationsConfig, NtfyConfig, WebhookConfig};
use void_rehearsal::proxmox::GuestStatus;
use void_store::{StoreError, retention};
use void_testkit::eventually;
use void_testkit::receivers::Receiver;
use void_testkit::telegram::{BotApi, Message, Phone};

use crate::apps::{App, Engine, Setup, random};
use crate::labs::Lab;
use crate::phones::{Rig, nothing, telegram};
use crate::pve::{Pve, guest};
use crate::stands::{OK, Says, Stand, services};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

/// A service on a host, looked at every second.
pub fn on(host: &str, mut service: Value) -> Value {
    service["host"] = json!(host);
    service
}

pub async fn believed(app: &App, id: &str, status: &str) -> Value {
    eventually(&format!("{id} to be {status}"), || async {
        let path = format!("/api/services/{id}");
        let service = app.owner().get(&path).await.ok();
        (service["status"] == status).then_some(service)
    })
    .await
}

pub async fn put_up(stand: &mut Stand) {
    stand.put_up(Says::All(OK.to_vec()), usize::MAX).await;
}

fn ntfy(push: &Receiver) -> NtfyConfig {
    NtfyConfig {
        url: format!("{}/topic", push.url()),
        token: None,
        may_approve: false,
    }
}

pub fn webhook(hook: &Receiver) -> WebhookConfig {
    WebhookConfig {
        name: "n8n".to_owned(),
        url: hook.url(),
        secret: Secret::new("a-secret-that-two-programs-share"),
    }
}

/// Nothing is on its way to any place: what is sent next is sent at a time of the test's choice.
pub async fn all_sent(app: &App) {
    eventually("everything to be sent", || async {
        let listed = app.owner().get("/api/notifications").await.ok();
        let mut places = listed["places"].as_array().unwrap().iter();
        places.all(|place| place["waiting"] == 0).then_some(())
    })
    .await;
}

/// What the phone shows that is about something that is down, or was.
pub fn alerts(phone: &Phone) -> Vec<Message> {
    let words = [
        "DOWN · ",
        "UP AGAIN · ",
        "FLAPPING · ",
        "STOPPED BY YOU · ",
        "Said once more",
    ];
    let mut messages = phone.messages();
    messages.retain(|message| words.iter().any(|word| message.text.starts_with(word)));
    messages
}

/// Another service, known to be told after everything that was noted before it.
async fn told_after(phone: &Phone, sentinel: &mut Stand) {
    sentinel.take_down().await;
    phone.sees("DOWN · The sentinel").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_is_down_is_one_message_that_becomes_up_again() {
    for engine in Engine::both().await {
        let mut stand = Stand::up().await;
        let setup = Setup {
            engine,
            services: services(&[on("ct100", stand.watched("web"))]),
            ..Setup::default()
        };
        let rig = Rig::with(setup, |config| config).await;
        believed(&rig.app, "web", "up").await;
        assert!(
            alerts(&rig.phone).is_empty(),
            "what was never down is not told"
        );
        stand.take_down().await;
        let down = rig.phone.sees("DOWN · The web on ct100 since ").await;
        assert!(
            down.text
                .contains("It is down: the connection was refused."),
            "{}",
            down.text
        );
        assert_eq!(down.labels(), ["Mute 1 h", "Mute 8 h", "Open"]);
        let link = &down.buttons()[2].1;
        assert_eq!(link, "https://void.example.org/#/lab/services/web");
        put_up(&mut stand).await;
        let up = rig.phone.sees("UP AGAIN · The web on ct100 after ").await;
        assert_eq!(up.id, down.id, "the message is edited");
        assert_eq!(up.labels(), ["Open"]);
        assert_eq!(alerts(&rig.phone).len(), 1);
        let status = rig.app.owner().get("/api/status").await.ok();
        assert_eq!(
            (&status["services_untold"], &status["channels"]),
            (&json!(0), &json!(1))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_host_takes_down_is_one_message_and_a_late_comer_joins_it() {
    let mut stands = Vec::new();
    for _ in 0..4 {
        stands.push(Stand::up().await);
    }
    let list = [
        on("ct100", stands[0].watched("one")),
        on("ct100", stands[1].watched("two")),
        on("ct100", stands[2].watched("three")),
        on("ct200", stands[3].watched("other")),
    ];
    let setup = Setup {
        services: services(&list),
        ..Setup::default()
    };
    let rig = Rig::with(setup, |config| config).await;
    for id in ["one", "two", "three", "other"] {
        believed(&rig.app, id, "up").await;
    }
    for stand in &mut stands[..2] {
        stand.take_down().await;
    }
    let two = rig.phone.sees("DOWN · 2 services on ct100 since ").await;
    for line in ["The one: down since ", "The two: down since "] {
        assert!(two.text.contains(line), "{}", two.text);
    }
    assert_eq!(two.labels()[..2], ["Mute ct100 1 h", "Mute ct100 8 h"]);
    stands[3].take_down().await;
    let other = rig.phone.sees("DOWN · The other on ct200").await;
    assert_ne!(other.id, two.id);
    stands[2].take_down().await;
    let three = rig.phone.sees("DOWN · 3 services on ct100 since ").await;
    assert_eq!(three.id, two.id);
    put_up(&mut stands[0]).await;
    let partly = rig.phone.sees("DOWN · 2 of 3 services on ct100").await;
    assert!(
        partly.text.contains("The one: up again after "),
        "{}",
        partly.text
    );
    for stand in &mut stands[1..3] {
        put_up(stand).await;
    }
    let up = rig
        .phone
        .sees("UP AGAIN · 3 services on ct100 after ")
        .await;
    assert_eq!(up.id, two.id);
    assert_eq!(alerts(&rig.phone).len(), 2);
}

/// Services on guests of one node are one thing as well, and what is on nothing is a thing of its own.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_takes_its_guests_down_together() {
    let (pve, mut stand) = (Pve::start(), Stand::up().await);
    let mut on_guest = stand.watched("web");
    on_guest["node"] = json!("z");
    on_guest["vmid"] = json!(108);
    let setup = Setup {
        services: services(&[guest("iventoy", "z", 107, 1), on_guest]),
        proxmox: Some(pve.config()),
        ..Setup::default()
    };
    let rig = Rig::with(setup, |config| config).await;
    for id in ["iventoy", "web"] {
        believed(&rig.app, id, "up").await;
    }
    stand.take_down().await;
    pve.server.set_status(107, GuestStatus::Stopped);
    let down = rig.phone.sees("DOWN · 2 services on z since ").await;
    assert!(down.text.contains("its guest is stopped"), "{}", down.text);
    assert_eq!(alerts(&rig.phone).len(), 1);
}

async fn flip(app: &App, stand: &mut Stand, to: &str) {
    match to {
        "up" => put_up(stand).await,
        _ => stand.take_down().await,
    }
    believed(app, "web", to).await;
    app.pass(SECOND);
}

#[tokio::test(flavor = "multi_thread")]
async fn flapping_is_one_message_that_counts_and_is_said_anew_if_it_stays_down() {
    let mut stand = Stand::up().await;
    let setup = Setup {
        clock: Clock::manual(Clock::system().now()),
        services: services(&[stand.watched("web")]),
        ..Setup::default()
    };
    let rig = Rig::with(setup, |config| config).await;
    believed(&rig.app, "web", "up").await;
    flip(&rig.app, &mut stand, "down").await;
    let first = rig.phone.sees("DOWN · The web since ").await;
    for _ in 0..2 {
        rig.app.pass(MINUTE);
        flip(&rig.app, &mut stand, "up").await;
        rig.app.pass(MINUTE);
        flip(&rig.app, &mut stand, "down").await;
    }
    rig.app.pass(MINUTE);
    let flapping = rig.phone.sees("FLAPPING · The web, 3 times in 4 min").await;
    assert_eq!(flapping.id, first.id);
    assert_eq!(alerts(&rig.phone).len(), 1, "never a message each");
    // It stays down: that is news again, with a sound, and the old message points to it.
    rig.app.pass(STAYS_DOWN_FOR);
    let anew = eventually("it to be said once more", || async {
        let mut all = alerts(&rig.phone);
        all.retain(|message| message.text.starts_with("FLAPPING"));
        all.into_iter().find(|message| message.id != first.id)
    })
    .await;
    let old = rig.phone.sees("Said once more below: The web").await;
    assert_eq!(old.id, first.id);
    assert!(old.labels().is_empty(), "{:?}", old.labels());
    flip(&rig.app, &mut stand, "up").await;
    rig.app.pass(MINUTE);
    let up = rig
        .phone
        .sees("UP AGAIN · The web, flapping: 3 times")
        .await;
    assert_eq!(up.id, anew.id);
    // Later it is an outage of its own.
    rig.app.pass(REOPENS_WITHIN + MINUTE);
    believed(&rig.app, "web", "up").await;
    flip(&rig.app, &mut stand, "down").await;
    let next = rig.phone.sees("DOWN · The web since ").await;
    assert!(next.id != anew.id && next.id != first.id);
}

/// Unknown is not down, and what the owner stopped is the owner's will.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_unknown_or_stopped_by_the_owner_is_not_told() {
    const CATALOGUE: &str = r#"{"actions": [
        {"id": "stop-107", "label": "Stop", "kind": "guest_power", "node": "z", "vmid": 107, "op": "stop", "tier": "risky"}
    ]}"#;
    let (pve, strange, mut sentinel) = (Pve::start(), Stand::up().await, Stand::up().await);
    let mut unknown = strange.watched("strange");
    // Its certificate is trusted by nobody here.
    unknown["check"] = json!({"kind": "http", "url": format!("https://{}/", strange.address)});
    let list = [
        guest("iventoy", "z", 107, 1),
        unknown,
        sentinel.watched("sentinel"),
    ];
    let setup = Setup {
        lab: Arc::new(Lab::of(CATALOGUE)),
        services: services(&list),
        proxmox: Some(pve.config()),
        ..Setup::default()
    };
    let rig = Rig::with(setup, |config| config).await;
    believed(&rig.app, "iventoy", "up").await;
    believed(&rig.app, "sentinel", "up").await;
    believed(&rig.app, "strange", "unknown").await;
    let row = rig.app.queue("stop-107").await;
    rig.app.owner().decide(&row, "approve").await.ok();
    let stopped = believed(&rig.app, "iventoy", "down").await;
    assert!(stopped["stopped"].is_object(), "{stopped}");
    told_after(&rig.phone, &mut sentinel).await;
    assert_eq!(alerts(&rig.phone).len(), 1, "{:?}", alerts(&rig.phone));
    // Started outside, and fallen over: that is told.
    pve.server.set_status(107, GuestStatus::Running);
    believed(&rig.app, "iventoy", "up").await;
    pve.server.set_status(107, GuestStatus::Stopped);
    rig.phone.sees("DOWN · iventoy on z").await;
}

/// What was told and is stopped by the owner then is no trouble any more: the message says so and is over. A day
/// later it is one again.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_told_and_then_stopped_by_the_owner_is_over_for_a_day() {
    const CATALOGUE: &str = r#"{"actions": [
        {"id": "stop-107", "label": "Stop", "kind": "guest_power", "node": "z", "vmid": 107, "op": "stop", "tier": "risky"}
    ]}"#;
    for engine in Engine::both().await {
        let (pve, hook) = (Pve::start(), Receiver::start());
        let (mut stand, mut other) = (Stand::up().await, Stand::up().await);
        let mut web = stand.watched("web");
        web["node"] = json!("z");
        web["vmid"] = json!(107);
        let setup = Setup {
            engine,
            clock: Clock::manual(Clock::system().now()),
            lab: Arc::new(Lab::of(CATALOGUE)),
            services: services(&[web, other.watched("other")]),
            proxmox: Some(pve.config()),
            ..Setup::default()
        };
        let rig = Rig::with(setup, |config| NotificationsConfig {
            webhooks: vec![webhook(&hook)],
            ..config
        })
        .await;
        for id in ["web", "other"] {
            believed(&rig.app, id, "up").await;
        }
        stand.take_down().await;
        let down = rig.phone.sees("DOWN · The web on z since ").await;
        other.take_down().await;
        rig.phone.sees("DOWN · The other since ").await;
        all_sent(&rig.app).await;
        rig.app.pass(MINUTE);
        assert_eq!(alerts(&rig.phone)[0].text, down.text, "nobody stopped it");
        let row = rig.app.queue("stop-107").await;
        rig.app.owner().decide(&row, "approve").await.ok();
        let over = rig.phone.sees("STOPPED BY YOU · The web on z").await;
        assert_eq!((over.id, over.labels()), (down.id, vec!["Open".to_owned()]));
        assert!(over.text.contains("; you stopped it "), "{}", over.text);
        let posted = eventually("it to be posted", || async {
            let mut posted = hook.bodies();
            posted.retain(|body| body["type"] == "alert.over");
            posted.pop()
        })
        .await;
        let service = &posted["alert"]["services"][0];
        assert_eq!(
            (&service["id"], &service["status"]),
            (&json!("web"), &json!("stopped"))
        );
        // It is down as before, and what nobody stopped is still told.
        let service = believed(&rig.app, "web", "down").await;
        assert!(service["stopped"].is_object(), "{service}");
        rig.phone.sees("DOWN · The other since ").await;
        rig.app.pass(EXCUSED_FOR);
        let anew = rig.phone.sees("DOWN · The web on z since ").await;
        assert_ne!(anew.id, down.id);
        let old = alerts(&rig.phone);
        assert!(old[0].text.starts_with("STOPPED BY YOU"), "{old:?}");
    }
}

/// What is being restarted through Void is down for a reason; if it stays so, it is told. Frozen or not.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_works_on_is_told_only_if_it_stays_down() {
    let (mut stand, mut sentinel) = (Stand::up().await, Stand::up().await);
    let list = [
        on("local", stand.watched("slow")),
        sentinel.watched("sentinel"),
    ];
    let setup = Setup {
        clock: Clock::manual(Clock::system().now()),
        services: services(&list),
        ..Setup::default()
    };
    let rig = Rig::with(setup, |config| config).await;
    for id in ["slow", "sentinel"] {
        believed(&rig.app, id, "up").await;
    }
    let owner = rig.app.owner();
    let running = tokio::spawn(async move { owner.run("slow-a").await.ok() });
    eventually("it to run", || async {
        let status = rig.app.owner().get("/api/status").await.ok();
        (status["running"] == 1).then_some(())
    })
    .await;
    stand.take_down().await;
    believed(&rig.app, "slow", "down").await;
    told_after(&rig.phone, &mut sentinel).await;
    assert_eq!(alerts(&rig.phone).len(), 1, "a run is under way");
    rig.app.lab.release();
    running.await.unwrap();
    let body = json!({"reason": "hands off"});
    rig.app.owner().post("/api/freeze", body).await.ok();
    assert_eq!(alerts(&rig.phone).len(), 1, "it has just ended");
    rig.app.pass(RUN_SETTLES_WITHIN + SECOND);
    let told = rig.phone.sees("DOWN · The slow on local").await;
    put_up(&mut stand).await;
    believed(&rig.app, "slow", "up").await;
    rig.app.pass(MINUTE);
    let up = rig.phone.sees("UP AGAIN · The slow on local").await;
    assert_eq!(up.id, told.id);
}

#[tokio::test(flavor = "multi_thread")]
async fn quiet_hours_hold_back_all_but_what_is_marked_and_end_in_one_line_each() {
    let night = Timestamp::parse_rfc3339("2026-11-16T23:00:00Z").unwrap();
    let mut stands = Vec::new();
    for _ in 0..3 {
        stands.push(Stand::up().await);
    }
    let mut urgent = stands[2].watched("urgent");
    urgent["urgent"] = json!(true);
    let list = [stands[0].watched("one"), stands[1].watched("two"), urgent];
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
    for id in ["one", "two", "urgent"] {
        believed(&rig.app, id, "up").await;
    }
    for stand in &mut stands[..2] {
        stand.take_down().await;
    }
    believed(&rig.app, "one", "down").await;
    believed(&rig.app, "two", "down").await;
    stands[2].take_down().await;
    rig.phone.sees("DOWN · The urgent since Mon 23:00").await;
    assert_eq!(alerts(&rig.phone).len(), 1);
    // One is up again in the same night.
    rig.app.pass(4 * MINUTE + SECOND);
    put_up(&mut stands[0]).await;
    believed(&rig.app, "one", "up").await;
    let before = rig.phone.messages().len();
    rig.app.pass(7 * 60 * MINUTE + 55 * MINUTE);
    assert_eq!(rig.phone.messages().len(), before, "it is not seven yet");
    rig.app.pass(MINUTE);
    let digest = rig.phone.sees("2 outages").await;
    let lines: Vec<&str> = digest.text.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(
        lines.contains(&"The one: down from Mon 23:00, up again after 4 min"),
        "{lines:?}"
    );
    assert!(
        lines.contains(&"The two: down since Mon 23:00"),
        "{lines:?}"
    );
    // What becomes of the rest is said in the same digest.
    put_up(&mut stands[1]).await;
    believed(&rig.app, "two", "up").await;
    rig.app.pass(MINUTE);
    let after = rig
        .phone
        .sees("The two: down from Mon 23:00, up again after")
        .await;
    assert_eq!(after.id, digest.id);
}

/// An edit makes no sound: what is marked and joins what was said before the quiet hours is said anew, once.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_marked_and_joins_what_was_told_makes_a_sound_in_quiet_hours() {
    let evening = Timestamp::parse_rfc3339("2026-11-16T21:59:30Z").unwrap();
    let push = Receiver::start();
    let mut stands = Vec::new();
    let ids = ["one", "two", "vital", "vital-too"];
    let mut list = Vec::new();
    for id in ids {
        let stand = Stand::up().await;
        let mut service = on("ct100", stand.watched(id));
        service["urgent"] = json!(id.starts_with("vital"));
        list.push(service);
        stands.push(stand);
    }
    let setup = Setup {
        clock: Clock::manual(evening),
        services: services(&list),
        ..Setup::default()
    };
    let rig = Rig::with(setup, |config| NotificationsConfig {
        ntfy: Some(ntfy(&push)),
        quiet: Some(QuietHours::parse("22:00", "07:00", Zone::UTC, true).unwrap()),
        ..config
    })
    .await;
    for id in ids {
        believed(&rig.app, id, "up").await;
    }
    stands[0].take_down().await;
    let first = rig
        .phone
        .sees("DOWN · The one on ct100 since Mon 21:59")
        .await;
    all_sent(&rig.app).await;
    rig.app.pass(MINUTE);
    stands[1].take_down().await;
    let second = rig.phone.sees("DOWN · 2 services on ct100").await;
    assert_eq!(second.id, first.id, "what is not marked is an edit");
    all_sent(&rig.app).await;
    rig.app.pass(3 * SECOND);
    stands[2].take_down().await;
    let third = rig.phone.sees("DOWN · 3 services on ct100").await;
    assert_ne!(third.id, first.id, "what is marked is a message of its own");
    assert!(
        third.text.contains("\nThe vital: down since"),
        "{}",
        third.text
    );
    let old = rig.phone.sees("Said once more below: 3 services").await;
    assert_eq!(old.id, first.id);
    // The owner is awake: the next of the same outage is an edit again.
    all_sent(&rig.app).await;
    rig.app.pass(3 * SECOND);
    stands[3].take_down().await;
    let fourth = rig.phone.sees("DOWN · 4 services on ct100").await;
    assert_eq!(fourth.id, third.id);
    all_sent(&rig.app).await;
    let pushed = push.bodies();
    let sounds = pushed.iter().map(|body| body["priority"].as_u64().unwrap());
    let sounds: Vec<u64> = sounds.collect();
    assert_eq!(sounds, [4, 1, 5, 1]);
}

/// ntfy and webhooks cannot edit: each gets one further message when it is over.
#[tokio::test(flavor = "multi_thread")]
async fn ntfy_and_webhooks_hear_of_it_once_more_when_it_is_over() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (push, hook, mut stand) = (Receiver::start(), Receiver::start(), Stand::up().await);
    let setup = Setup {
        services: services(&[on("ct100", stand.watched("web"))]),
        notifications: Some(NotificationsConfig {
            ntfy: Some(ntfy(&push)),
            webhooks: vec![webhook(&hook)],
            ..nothing()
        }),
        ..Setup::default()
    };
    let app = setup.start().await;
    believed(&app, "web", "up").await;
    stand.take_down().await;
    let count = async |receiver: &Receiver, count: usize| {
        eventually("a post", || async {
            (receiver.bodies().len() == count).then_some(())
        })
        .await;
    };
    count(&push, 1).await;
    count(&hook, 1).await;
    put_up(&mut stand).await;
    count(&push, 2).await;
    count(&hook, 2).await;
    let pushed = push.bodies();
    let titles: Vec<&str> = pushed
        .iter()
        .map(|body| body["title"].as_str().unwrap())
        .collect();
    assert!(
        titles[0].starts_with("DOWN · The web on ct100 since "),
        "{titles:?}"
    );
    assert!(
        titles[1].starts_with("UP AGAIN · The web on ct100 after "),
        "{titles:?}"
    );
    assert_eq!(
        (&pushed[0]["priority"], &pushed[1]["priority"]),
        (&json!(4), &json!(1)),
        "a recovery makes no sound"
    );
    assert_eq!(pushed[0]["sequence_id"], pushed[1]["sequence_id"]);
    assert!(
        pushed[0]["actions"].is_null(),
        "nothing is muted by a topic"
    );
    let posted = hook.bodies();
    assert_eq!(
        (&posted[0]["type"], &posted[1]["type"]),
        (&json!("alert.down"), &json!("alert.over"))
    );
    assert_eq!(posted[0]["alert"]["id"], posted[1]["alert"]["id"]);
    assert_ne!(posted[0]["id"], posted[1]["id"], "two deliveries");
    assert_eq!(posted[0]["alert"]["services"][0]["reason"], "refused");
    assert_eq!(posted[1]["alert"]["services"][0]["status"], "up");
    let request = &hook.requests()[1];
    assert_eq!(
        request.header("x-void-delivery"),
        posted[1]["id"].as_str().unwrap()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_are_one_digest_and_a_proposal_beside_them_is_asked_alone() {
    let mut stands = Vec::new();
    for _ in 0..8 {
        stands.push(Stand::up().await);
    }
    let list: Vec<Value> = (0..)
        .zip(&stands)
        .map(|(n, stand)| stand.watched(&format!("s{n}")))
        .collect();
    let setup = Setup {
        services: services(&list),
        ..Setup::default()
    };
    let rig = Rig::with(setup, |config| config).await;
    for n in 0..stands.len() {
        believed(&rig.app, &format!("s{n}"), "up").await;
    }
    // While nothing can be sent, all of it gathers.
    rig.api.set_down(true);
    for stand in &mut stands {
        stand.take_down().await;
    }
    for n in 0..stands.len() {
        believed(&rig.app, &format!("s{n}"), "down").await;
    }
    rig.api.set_down(false);
    let digest = rig.phone.sees(" outages").await;
    assert!(digest.labels().is_empty());
    let (_, card) = rig.ask("stop-a").await;
    assert!(card.text.starts_with("RISKY · "), "{}", card.text);
    assert!(card.labels().contains(&"Approve…".to_owned()));
    assert!(alerts(&rig.phone).len() <= 5, "{:?}", alerts(&rig.phone));
}

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_outages_are_a_bounded_number_of_alerts() {
    for engine in Engine::both().await {
        // None of them is on anything, so each would be an alert of its own.
        let list: Vec<Value> = (0..130)
            .map(|n| Stand::down().service(&format!("s{n}")))
            .collect();
        let setup = Setup {
            engine,
            services: services(&list),
            ..Setup::default()
        };
        let app = setup.start().await;
        let status = eventually("all to be down", || async {
            let status = app.owner().get("/api/status").await.ok();
            (status["services_down"] == 130 && status["services_untold"] == 130).then_some(status)
        })
        .await;
        assert_eq!(status["channels"], 0);
        let sizes = app.store.read(|tx| Box::pin(retention::sizes(tx)));
        let sizes: Result<Vec<_>, StoreError> = sizes.await;
        let sizes = sizes.unwrap();
        let alerts = sizes.iter().find(|(table, _)| *table == "alerts").unwrap();
        assert_eq!(alerts.1, OPEN_MAX + 1, "the rest is told in one");
        // Whoever is paired later hears of what is down: each once, or in a digest.
    }
}

/// An alert that was sent before a restart is edited after it, never sent twice; so is one whose service went
/// up while nobody looked.
#[tokio::test(flavor = "multi_thread")]
async fn a_restart_goes_on_with_the_message_that_was_sent() {
    let (api, lab) = (Arc::new(BotApi::start()), Arc::new(Lab::new()));
    let owner_token = format!("owner-{:016x}{:016x}", random(), random());
    let (mut first, mut second) = (Stand::up().await, Stand::up().await);
    let list = [first.watched("one"), second.watched("two")];
    let setup = || Setup {
        lab: Arc::clone(&lab),
        owner_token: owner_token.clone(),
        services: services(&list),
        notifications: Some(telegram(&api)),
        ..Setup::default()
    };
    let rig = Rig::on(Arc::clone(&api), setup(), telegram(&api)).await;
    for id in ["one", "two"] {
        believed(&rig.app, id, "up").await;
    }
    first.take_down().await;
    second.take_down().await;
    let one = rig.phone.sees("DOWN · The one since ").await;
    let two = rig.phone.sees("DOWN · The two since ").await;
    let Rig { app, phone, .. } = rig;
    drop(app);
    put_up(&mut first).await;
    let app = setup().start().await;
    let up = phone.sees("UP AGAIN · The one after ").await;
    assert_eq!(up.id, one.id);
    believed(&app, "two", "down").await;
    put_up(&mut second).await;
    let up = phone.sees("UP AGAIN · The two after ").await;
    assert_eq!(up.id, two.id);
    assert_eq!(alerts(&phone).len(), 2, "nothing was sent twice");
}

/// What the services file no longer has is not called up.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_longer_watched_is_not_called_up() {
    let (api, lab) = (Arc::new(BotApi::start()), Arc::new(Lab::new()));
    let owner_token = format!("owner-{:016x}{:016x}", random(), random());
    let stand = Stand::down();
    let setup = |list: &[Value]| Setup {
        lab: Arc::clone(&lab),
        owner_token: owner_token.clone(),
        services: services(list),
        notifications: Some(telegram(&api)),
        ..Setup::default()
    };
    let before = setup(&[stand.watched("web")]);
    let rig = Rig::on(Arc::clone(&api), before, telegram(&api)).await;
    let down = rig.phone.sees("DOWN · The web since ").await;
    let Rig { app, phone, .. } = rig;
    drop(app);
    let _app = setup(&[]).start().await;
    let gone = phone.sees("NO LONGER WATCHED · The web").await;
    assert_eq!(gone.id, down.id);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_instances_tell_one_message_on_postgres() {
    let (api, lab) = (Arc::new(BotApi::start()), Arc::new(Lab::of_alpha(None)));
    let engine = Engine::postgres().await;
    let owner_token = format!("owner-{:016x}{:016x}", random(), random());
    let mut stand = Stand::up().await;
    let list = [stand.watched("web")];
    let setup = |name| Setup {
        instance: Some(name),
        engine: engine.clone(),
        lab: Arc::clone(&lab),
        owner_token: owner_token.clone(),
        services: services(&list),
        notifications: Some(telegram(&api)),
        ..Setup::default()
    };
    let rig = Rig::on(Arc::clone(&api), setup("alpha"), telegram(&api)).await;
    let other = setup("beta").start().await;
    for app in [&rig.app, &other] {
        believed(app, "web", "up").await;
    }
    stand.take_down().await;
    let down = rig.phone.sees("DOWN · The web since ").await;
    for app in [&rig.app, &other] {
        believed(app, "web", "down").await;
    }
    put_up(&mut stand).await;
    for app in [&rig.app, &other] {
        believed(app, "web", "up").await;
    }
    let up = rig.phone.sees("UP AGAIN · The web after ").await;
    assert_eq!(up.id, down.id);
    assert_eq!(alerts(&rig.phone).len(), 1);
}

/// Whoever is paired while something is down hears of it; while nobody is, Home and status say so.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_could_be_told_is_said_until_somebody_is() {
    let api = Arc::new(BotApi::start());
    let stand = Stand::down();
    let setup = Setup {
        services: services(&[stand.watched("web")]),
        notifications: Some(telegram(&api)),
        ..Setup::default()
    };
    let app = setup.start().await;
    believed(&app, "web", "down").await;
    for path in ["/api/status", "/api/home"] {
        let told = app.owner().get(path).await.ok();
        let status = if path == "/api/home" {
            &told["status"]
        } else {
            &told
        };
        assert_eq!(
            (&status["channels"], &status["services_untold"]),
            (&json!(0), &json!(1)),
            "{path}"
        );
    }
    let rig = Rig {
        phone: api.phone(crate::phones::OWNER),
        app,
        api,
    };
    rig.pair(&rig.phone).await;
    rig.phone.sees("DOWN · The web since ").await;
    eventually("status to know", || async {
        let status = rig.app.owner().get("/api/status").await.ok();
        (status["services_untold"] == 0 && status["channels"] == 1).then_some(())
    })
    .await;
}
