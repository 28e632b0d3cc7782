//! Somebody else holds the owner's chat, or the bot (T8): what they can approve is bounded, and every
//! decision of theirs is told where they are not.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use void_control::Clock;
use void_domain::digests::Digest;
use void_domain::notifications::{About, Key, Meaning, Target};
use void_domain::secrets::Secret;
use void_notify::notifiers::{NotificationsConfig, NtfyConfig, TelegramConfig, WebhookConfig};
use void_store::StoreError;
use void_store::notifications::keys;
use void_testkit::eventually;
use void_testkit::receivers::Receiver;
use void_testkit::telegram::Message;

use crate::apps::Setup;
use crate::labs::Lab;
use crate::phones::{self, OWNER, Rig};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const HOOK_SECRET: &str = "the-secret-of-a-test-webhook";

fn telegram(
    config: NotificationsConfig,
    change: impl FnOnce(TelegramConfig) -> TelegramConfig,
) -> NotificationsConfig {
    NotificationsConfig {
        telegram: config.telegram.map(change),
        ..config
    }
}

fn two_a_day(config: NotificationsConfig) -> NotificationsConfig {
    telegram(config, |telegram| TelegramConfig {
        approvals_per_day: 2,
        ..telegram
    })
}

fn only_tells(config: NotificationsConfig) -> NotificationsConfig {
    telegram(config, |telegram| TelegramConfig {
        may_approve: false,
        ..telegram
    })
}

impl Rig {
    /// The first of the two taps; what the second one would send.
    async fn arm(&self, message: &Message) -> String {
        self.phone.tap(message.id, "Approve…").answer().await;
        let armed = self.phone.sees_button(message.id, "Yes: ").await;
        armed.buttons()[0].1.clone()
    }

    /// A key as the store holds it, made by somebody who can write there or by an older setting.
    async fn plant(&self, row: &Value, text: &str, meaning: Meaning) {
        let now = self.app.control.clock().now();
        let digest: Digest = row["digest"].as_str().unwrap().parse().unwrap();
        let key = Key {
            hash: Digest::of(text.as_bytes()),
            target: Target::Telegram { user: OWNER },
            about: About::Proposal(row["id"].as_str().unwrap().parse().unwrap(), digest),
            revision: 0,
            meaning,
            created_at: now,
            expires_at: now.plus(Duration::from_secs(600)),
            used_at: None,
        };
        let planted: Result<(), StoreError> = self
            .app
            .store
            .write(move |tx| Box::pin(async move { keys::insert(tx, &key).await }))
            .await;
        planted.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_approves_so_many_a_day_and_a_restart_forgets_none_of_them() {
    let (lab, start) = (Arc::new(Lab::new()), Clock::system().now());
    let setup = |at| Setup {
        lab: Arc::clone(&lab),
        clock: Clock::manual(at),
        ..Setup::default()
    };
    let rig = Rig::with(setup(start), two_a_day).await;
    let (first, message) = rig.ask("stop-a").await;
    assert_eq!(rig.approve(&message).await, "Approved.");
    rig.app.ended(first["id"].as_str().unwrap()).await;
    // Armed before the limit, tapped after it.
    let (late, late_message) = rig.ask("cool-stop").await;
    let yes = rig.arm(&late_message).await;
    let (second, message) = rig.ask("stop-b").await;
    assert_eq!(rig.approve(&message).await, "Approved.");
    rig.app.ended(second["id"].as_str().unwrap()).await;
    let said = format!(
        "nothing ran: 2 approvals in a day are the limit here; approve it on the web or on the command line: \
         https://void.example.org/inbox/{}",
        late["code"].as_str().unwrap()
    );
    let answer = rig.phone.send_tap(late_message.id, &yes).answer().await;
    assert_eq!(answer, said);
    assert_eq!(rig.status(&late).await, "pending");
    let refused = rig.app.audited("decision.refused").await;
    assert!(refused.last().unwrap().detail.contains("cap_reached"));

    let Rig { app, api, phone } = rig;
    drop(app);
    let later = setup(start.plus(DAY / 2));
    let notifications = Some(two_a_day(phones::telegram(&api)));
    let app = Setup {
        notifications,
        ..later
    };
    let app = app.start().await;
    // The machine's clock goes along.
    app.pass(Duration::ZERO);
    let rig = Rig { app, api, phone };
    let again = rig.phone.sees_button(late_message.id, "Approve…").await;
    assert_eq!(rig.phone.tap(again.id, "Approve…").answer().await, said);
    assert_eq!(rig.status(&late).await, "pending");
    // Elsewhere the owner is the owner, and here a no is still a no.
    rig.app.owner().decide(&late, "approve").await.ok();
    rig.app.ended(late["id"].as_str().unwrap()).await;
    let (refused, message) = rig.ask("stop-a").await;
    rig.phone.tap(message.id, "Reject").answer().await;
    rig.phone.sees_button(message.id, "Just reject").await;
    rig.phone.tap(message.id, "Just reject").answer().await;
    assert_eq!(rig.status(&refused).await, "rejected");
    assert_eq!(lab.effect_count(), 3);

    rig.app.pass(DAY / 2 + Duration::from_secs(1));
    let (next, message) = rig.ask("stop-b").await;
    assert_eq!(rig.approve(&message).await, "Approved.");
    rig.app.ended(next["id"].as_str().unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_that_only_tells_approves_nothing_not_even_by_a_key_that_means_it() {
    let rig = Rig::with(Setup::default(), only_tells).await;
    let (row, message) = rig.ask("stop-a").await;
    assert_eq!(message.labels(), ["Open", "Reject", "Details"]);
    for (text, meaning) in [("1-asks", Meaning::Ask), ("1-approves", Meaning::Approve)] {
        rig.plant(&row, text, meaning).await;
        let answer = rig.phone.send_tap(message.id, text).answer().await;
        assert!(
            answer.starts_with("this is not approved from here"),
            "{answer}"
        );
        assert_eq!(rig.status(&row).await, "pending");
    }
    assert_eq!(rig.app.lab.effect_count(), 0);
    let shown = rig.phone.message(message.id).unwrap();
    rig.phone.tap(shown.id, "Reject").answer().await;
    rig.phone.sees_button(message.id, "Just reject").await;
    rig.phone.tap(message.id, "Just reject").answer().await;
    assert_eq!(rig.status(&row).await, "rejected");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_by_telegram_is_echoed_on_every_other_channel() {
    let (push, hook) = (Receiver::start(), Receiver::start());
    let also = |config| NotificationsConfig {
        ntfy: Some(NtfyConfig {
            url: format!("{}/topic", push.url()),
            token: None,
            may_approve: false,
        }),
        webhooks: vec![WebhookConfig {
            name: "log".to_owned(),
            url: hook.url(),
            secret: Secret::new(HOOK_SECRET),
        }],
        ..config
    };
    let rig = Rig::with(Setup::default(), also).await;
    let by = format!("owner-telegram-{OWNER}");
    // What ntfy says about it once it is decided, and how loudly.
    let pushed = |row: &Value, words: &'static str| {
        let code = row["code"].as_str().unwrap().to_owned();
        let said = move |body: &Value| {
            let message = body["message"].to_string();
            message.contains(&code) && message.contains(words)
        };
        push.bodies().into_iter().find(said)
    };
    let told = |row: &Value, kind: &str| {
        let mut bodies = hook.bodies().into_iter();
        let found = bodies.find(|body| body["type"] == kind && body["proposal"]["id"] == row["id"]);
        found.map(|body| body["proposal"]["decided_by"].clone())
    };
    let (approved, message) = rig.ask("stop-a").await;
    assert_eq!(rig.approve(&message).await, "Approved.");
    let (rejected, message) = rig.ask("stop-b").await;
    rig.phone.tap(message.id, "Reject").answer().await;
    rig.phone.sees_button(message.id, "Not now").await;
    rig.phone.tap(message.id, "Not now").answer().await;
    for (row, kind, words) in [
        (
            &approved,
            "proposal.approved",
            "Approved by owner (Telegram)",
        ),
        (&rejected, "proposal.rejected", "By owner (Telegram)"),
    ] {
        let echo = eventually("the echo", || async { pushed(row, words) }).await;
        assert_eq!(echo["priority"], 4, "{echo}");
        let decided_by = eventually("the event", || async { told(row, kind) }).await;
        assert_eq!(decided_by, json!(by));
    }
    // What the owner decides elsewhere needs no noise.
    let (row, _) = rig.ask("stop-a").await;
    rig.app.owner().decide(&row, "reject").await.ok();
    let quiet = eventually("the outcome", || async { pushed(&row, "By owner (API)") }).await;
    assert_eq!(quiet["priority"], 1, "{quiet}");
}
