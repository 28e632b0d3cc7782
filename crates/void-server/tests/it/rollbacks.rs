//! An older copy is put under a running server, on both engines: it is noticed at once, and nothing
//! that was decided since comes back to life (I38).

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::backup::Backup;
use serde_json::json;
use void_domain::secrets::Secret;
use void_notify::notifiers::{NotificationsConfig, NtfyConfig, WebhookConfig};
use void_testkit::receivers::Receiver;
use void_testkit::telegram::BotApi;
use void_testkit::{eventually, postgres_run};

use crate::apps::{App, Engine, Setup};
use crate::phones::{Rig, telegram};
use crate::stands::{Stand, services};

const TABLES: [&str; 4] = ["heads", "installation", "proposals", "facts"];
const NOTICED_WITHIN: Duration = Duration::from_secs(5);

fn pour(from: &Path, into: &Path) {
    let from = Connection::open(from).unwrap();
    let mut into = Connection::open(into).unwrap();
    into.busy_timeout(Duration::from_secs(10)).unwrap();
    let backup = Backup::new(&from, &mut into).unwrap();
    backup
        .run_to_completion(1_000, Duration::from_millis(5), None)
        .unwrap();
}

pub fn keep(app: &App, engine: &Engine) {
    match engine {
        Engine::Sqlite => pour(
            &app.lab.path().join("void.db"),
            &app.lab.path().join("old.db"),
        ),
        Engine::Postgres(url) => {
            let sql = TABLES.map(|table| format!("CREATE TABLE old_{table} AS TABLE {table};"));
            postgres_run(url, &sql.concat());
        }
    }
}

pub fn put_back(app: &App, engine: &Engine) {
    match engine {
        Engine::Sqlite => pour(
            &app.lab.path().join("old.db"),
            &app.lab.path().join("void.db"),
        ),
        Engine::Postgres(url) => put_back_tables(url),
    }
}

fn put_back_tables(url: &str) {
    let sql =
        TABLES.map(|table| format!("DELETE FROM {table}; INSERT INTO {table} TABLE old_{table};"));
    let sql = format!(
        "BEGIN; SET LOCAL session_replication_role = replica; {} COMMIT",
        sql.concat()
    );
    postgres_run(url, &sql);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_rejected_before_a_rollback_is_never_approved_after_it() {
    for engine in Engine::both().await {
        let mut app = App::on(engine.clone()).await;
        app.looks_back = false;
        let row = app.queue("stop-a").await;
        keep(&app, &engine);
        app.owner().decide(&row, "reject").await.ok();
        put_back(&app, &engine);
        // In the first batch after it.
        let answer = app.owner().decide(&row, "approve").await;
        assert_eq!(answer.status, 409, "{}", answer.text);
        eventually("it to be void", || async {
            let row = app.row(row["id"].as_str().unwrap()).await;
            (row["status"] == "cancelled" && row["error"]["code"] == "restored").then_some(())
        })
        .await;
        let answer = app.owner().decide(&row, "approve").await;
        assert_eq!(answer.status, 409, "{}", answer.text);
        app.owner().run("touch-a").await.error(409, "frozen");
        assert_eq!(app.lab.effect_count(), 0);
        let said = app.audited("store.rolled_back").await;
        assert_eq!(said.len(), 1);
        // The owner has looked, and it goes on.
        app.owner().delete("/api/freeze").await.ok();
        eventually("the thaw", || async {
            let answer = app.owner().run("touch-a").await.json();
            (answer["executed"] == true).then_some(())
        })
        .await;
    }
}

/// The copy holds a mute that was lifted since: it may hide trouble for days, so none of a copy holds.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_muted_by_an_older_copy() {
    let engine = Engine::Sqlite;
    let setup = Setup {
        engine: engine.clone(),
        services: services(&[Stand::down().service("web")]),
        ..Setup::default()
    };
    let mut app = setup.start().await;
    app.looks_back = false;
    let body = json!({"service": "web", "for_s": 3_600, "reason": "a new disk"});
    let mute = app.owner().post("/api/mutes", body).await.ok();
    keep(&app, &engine);
    let path = format!("/api/mutes/{}", mute["id"].as_str().unwrap());
    app.owner().delete(&path).await.ok();
    put_back(&app, &engine);
    eventually("the copy to be shut down", || async {
        (app.audited("quarantine.set").await.len() == 1).then_some(())
    })
    .await;
    let listed = app.owner().get("/api/mutes").await.ok();
    assert_eq!(listed["mutes"], json!([]));
}

/// Nobody writes anything; it is noticed all the same, and listeners hear of the freeze.
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_server_notices_a_rollback_within_five_seconds() {
    for engine in Engine::both().await {
        let mut app = App::on(engine.clone()).await;
        app.looks_back = false;
        keep(&app, &engine);
        let row = app.queue("stop-a").await;
        app.owner().decide(&row, "reject").await.ok();
        let mut listener = crate::sse::Listener::open(&app.owner()).await;
        put_back(&app, &engine);
        let start = Instant::now();
        let heard = listener.wait_for("freeze.changed").await;
        assert!(start.elapsed() <= NOTICED_WITHIN, "{:?}", start.elapsed());
        let _ = heard;
        let freeze = app.owner().get("/api/freeze").await.ok();
        assert_eq!(freeze["frozen"], json!(true), "{freeze}");
    }
}

/// What the owner has beside the phone.
struct Receivers {
    ntfy: Receiver,
    hook: Receiver,
}

impl Receivers {
    fn start() -> Self {
        Self {
            ntfy: Receiver::start(),
            hook: Receiver::start(),
        }
    }

    fn beside(&self, config: NotificationsConfig) -> NotificationsConfig {
        NotificationsConfig {
            ntfy: Some(NtfyConfig {
                url: format!("{}/topic", self.ntfy.url()),
                token: None,
                may_approve: false,
            }),
            webhooks: vec![WebhookConfig {
                name: "log".to_owned(),
                url: self.hook.url(),
                secret: Secret::new("secret-of-a-hook-in-a-test"),
            }],
            ..config
        }
    }

    /// How often each was told.
    fn told(&self) -> (usize, usize) {
        let is_alert = |body: &serde_json::Value| {
            let title = body["title"].as_str().unwrap_or_default();
            title.contains("the database went back") || title.contains("may be an older copy")
        };
        let pushed = self.ntfy.bodies();
        let posted = self.hook.bodies();
        (
            pushed.iter().filter(|body| is_alert(body)).count(),
            posted
                .iter()
                .filter(|body| body["type"] == "store.rolled_back")
                .count(),
        )
    }
}

fn seen_on(rig: &Rig) -> usize {
    let messages = rig.phone.messages().into_iter();
    let alerts = messages.filter(|message| message.text.contains("the database went back"));
    alerts.count()
}

async fn alerted(app: &App, times: usize) {
    eventually("the record to say that it was told", || async {
        (app.audited("notification.alerted").await.len() == times).then_some(())
    })
    .await;
}

/// By the phone, by ntfy and by a webhook, once; also after a restart, and not to a phone that was asked
/// nothing. What is said gives nobody anything to tap.
#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_is_told_once_on_every_channel() {
    for engine in Engine::both().await {
        let (api, receivers) = (Arc::new(BotApi::start()), Receivers::start());
        let setup = Setup {
            engine: engine.clone(),
            ..Setup::default()
        };
        let (lab, owner_token) = (Arc::clone(&setup.lab), setup.owner_token.clone());
        let config = receivers.beside(telegram(&api));
        let mut rig = Rig::on(Arc::clone(&api), setup, config.clone()).await;
        rig.app.looks_back = false;
        keep(&rig.app, &engine);
        let row = rig.app.queue("stop-a").await;
        rig.app.owner().decide(&row, "reject").await.ok();
        assert_eq!((receivers.told(), seen_on(&rig)), ((0, 0), 0));
        put_back(&rig.app, &engine);
        let message = rig.phone.sees("the database went back").await;
        assert!(message.buttons().is_empty(), "{message:?}");
        alerted(&rig.app, 1).await;
        assert_eq!((receivers.told(), seen_on(&rig)), ((1, 1), 1));
        let said = rig.app.audited("notification.alerted").await;
        let detail: serde_json::Value = serde_json::from_str(&said[0].detail).unwrap();
        assert_eq!(detail["failed"], json!([]), "{detail}");
        assert_eq!(detail["targets"].as_array().unwrap().len(), 3, "{detail}");
        // Whatever happens afterwards, and after a restart, it was told.
        rig.app.shut_down(Duration::from_secs(1)).await;
        drop(rig.app);
        let again = Setup {
            engine: engine.clone(),
            lab,
            owner_token,
            notifications: Some(config),
            ..Setup::default()
        };
        let mut app = again.start().await;
        app.looks_back = false;
        app.owner().delete("/api/freeze").await.ok();
        let pushed = receivers.ntfy.bodies().len();
        app.queue("stop-b").await;
        eventually("the next message", || async {
            (receivers.ntfy.bodies().len() > pushed).then_some(())
        })
        .await;
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        assert_eq!(receivers.told(), (1, 1));
        assert_eq!(app.audited("notification.alerted").await.len(), 1);
    }
}

/// A start that finds no note, or none that can be read, freezes everything: the owner hears of that as well, once, and
/// of the newest if several were not told.
#[tokio::test(flavor = "multi_thread")]
async fn a_note_that_is_missing_or_unreadable_is_told_on_every_channel() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    for engine in Engine::both().await {
        let receivers = Receivers::start();
        let first = Setup {
            engine: engine.clone(),
            has_witness: true,
            ..Setup::default()
        };
        let (lab, owner_token) = (Arc::clone(&first.lab), first.owner_token.clone());
        let note = lab.folder_of(None).join("witness.json");
        let again = |is_told: bool| Setup {
            engine: engine.clone(),
            lab: Arc::clone(&lab),
            owner_token: owner_token.clone(),
            has_witness: true,
            notifications: is_told.then(|| receivers.beside(crate::phones::nothing())),
            ..Setup::default()
        };
        let end = async |mut app: App| {
            app.looks_back = false;
            app.shut_down(Duration::from_secs(1)).await;
        };
        end(first.start().await).await;
        std::fs::remove_file(&note).unwrap();
        // Nobody is told yet, and another one comes.
        end(again(false).start().await).await;
        std::fs::write(&note, "{").unwrap();
        let app = again(true).start().await;
        alerted(&app, 1).await;
        assert_eq!(app.audited("store.rolled_back").await.len(), 2);
        assert_eq!(receivers.told(), (1, 1));
        end(app).await;
        std::fs::remove_file(&note).unwrap();
        let app = again(true).start().await;
        alerted(&app, 2).await;
        assert_eq!(receivers.told(), (2, 2));
        end(app).await;
        let app = again(true).start().await;
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        assert_eq!(receivers.told(), (2, 2));
        let posted = receivers.hook.bodies();
        assert!(posted[0]["noted_seq"].is_null(), "{}", posted[0]);
        assert!(posted[0]["found_seq"].is_u64(), "{}", posted[0]);
        end(app).await;
    }
}

/// A channel that is down holds up no other, and is told when it is back.
#[tokio::test(flavor = "multi_thread")]
async fn a_channel_that_is_down_hears_of_a_rollback_later() {
    let receivers = Receivers::start();
    let setup = Setup {
        notifications: Some(receivers.beside(crate::phones::nothing())),
        ..Setup::default()
    };
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut app = setup.start().await;
    app.looks_back = false;
    keep(&app, &Engine::Sqlite);
    app.queue("stop-a").await;
    receivers.ntfy.set_down(true);
    put_back(&app, &Engine::Sqlite);
    eventually("the webhook to be told", || async {
        (receivers.told() == (0, 1)).then_some(())
    })
    .await;
    assert_eq!(app.audited("notification.alerted").await.len(), 0);
    receivers.ntfy.set_down(false);
    alerted(&app, 1).await;
    assert_eq!(receivers.told(), (1, 1));
}

/// An entry cannot be written, so the rollback cannot be answered before it is undone. The head first, as the server
/// takes its locks.
fn go_back_unanswered(app: &App, engine: &Engine) {
    let no_entries = match engine {
        Engine::Sqlite => {
            "CREATE TRIGGER no_entries BEFORE INSERT ON facts BEGIN SELECT RAISE(ABORT, 'no'); END;"
        }
        Engine::Postgres(_) => {
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$; \
             CREATE TRIGGER no_entries BEFORE INSERT ON facts EXECUTE FUNCTION refuse();"
        }
    };
    run_sql(
        app,
        engine,
        &format!("UPDATE heads SET audit_seq = audit_seq - 1; {no_entries}"),
    );
}

fn undo(app: &App, engine: &Engine) {
    let drop = match engine {
        Engine::Sqlite => "DROP TRIGGER no_entries;",
        Engine::Postgres(_) => "DROP TRIGGER no_entries ON facts; DROP FUNCTION refuse();",
    };
    run_sql(
        app,
        engine,
        &format!("UPDATE heads SET audit_seq = audit_seq + 1; {drop}"),
    );
}

/// It halts everything as long as it lasts, and nothing afterwards; the record says that it was there.
#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_that_was_undone_before_it_was_answered_halts_nothing_any_more() {
    for engine in Engine::both().await {
        let app = App::on(engine.clone()).await;
        for times in 1..=2 {
            go_back_unanswered(&app, &engine);
            eventually("it to be noticed", || async {
                let answer = app.owner().run("touch-a").await.json();
                (answer["error"]["code"] == "rolled_back").then_some(())
            })
            .await;
            undo(&app, &engine);
            eventually("it to go on", || async {
                let answer = app.owner().run("touch-a").await.json();
                (answer["executed"] == true).then_some(())
            })
            .await;
            eventually("the record to say so", || async {
                let said = app.audited("store.rollback_undone").await;
                (said.len() == times).then_some(())
            })
            .await;
        }
        assert!(app.audited("store.rolled_back").await.is_empty());
        let freeze = app.owner().get("/api/freeze").await.ok();
        assert_eq!(freeze["frozen"], json!(false));
    }
}

/// How the database went back.
#[derive(Debug, Clone, Copy)]
enum Back {
    By(usize),
    /// As long as before, with another newest entry.
    OtherHash,
    HeadMissing,
}

const VARIETIES: [Back; 4] = [
    Back::By(1),
    Back::By(40),
    Back::OtherHash,
    Back::HeadMissing,
];
const TIMES: usize = if cfg!(feature = "deep") { 15 } else { 1 };

fn run_sql(app: &App, engine: &Engine, sql: &str) {
    match engine {
        Engine::Sqlite => {
            let file = Connection::open(app.lab.path().join("void.db")).unwrap();
            file.busy_timeout(Duration::from_secs(10)).unwrap();
            file.execute_batch(sql).unwrap();
        }
        Engine::Postgres(url) => {
            tokio::task::block_in_place(|| postgres_run(url, sql));
        }
    }
}

async fn goes_back(engine: &Engine, back: Back) {
    let receivers = Receivers::start();
    let setup = Setup {
        engine: engine.clone(),
        notifications: Some(receivers.beside(crate::phones::nothing())),
        ..Setup::default()
    };
    let mut app = setup.start().await;
    app.looks_back = false;
    let row = app.queue("stop-a").await;
    match back {
        Back::By(entries) => {
            // Nothing is written by itself meanwhile, so that it is by as many.
            keep(&app, engine);
            for n in 0..entries {
                match n % 2 {
                    0 => app.owner().post("/api/freeze", json!({})).await.ok(),
                    _ => app.owner().delete("/api/freeze").await.ok(),
                };
            }
            put_back(&app, engine);
        }
        Back::OtherHash => run_sql(
            &app,
            engine,
            &format!(
                "UPDATE facts SET hash = '{0}' WHERE seq = (SELECT audit_seq FROM heads); UPDATE heads SET audit_hash = '{0}';",
                "ab".repeat(32)
            ),
        ),
        Back::HeadMissing => {
            run_sql(
                &app,
                engine,
                "CREATE TABLE kept_heads AS SELECT * FROM heads; DELETE FROM heads;",
            );
            // Nobody can say where the record stands: nothing is decided, and it is not called ready.
            let answer = app.owner().decide(&row, "approve").await;
            assert!(answer.status >= 409, "{}", answer.text);
            eventually("it not to be ready", || async {
                (app.anonymous().get("/readyz").await.status == 503).then_some(())
            })
            .await;
            assert_eq!(app.lab.effect_count(), 0);
            run_sql(
                &app,
                engine,
                "INSERT INTO heads SELECT * FROM kept_heads; DROP TABLE kept_heads;",
            );
            eventually("it to be ready", || async {
                (app.anonymous().get("/readyz").await.status == 200).then_some(())
            })
            .await;
            return;
        }
    }
    let answer = app.owner().decide(&row, "approve").await;
    assert_eq!(answer.status, 409, "{back:?}: {}", answer.text);
    alerted(&app, 1).await;
    assert_eq!(receivers.told(), (1, 1), "{back:?}");
    assert_eq!(app.lab.effect_count(), 0, "{back:?}");
    let freeze = app.owner().get("/api/freeze").await.ok();
    assert_eq!(freeze["frozen"], json!(true), "{back:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn however_the_database_goes_back_it_is_noticed_and_told() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    for engine in Engine::both().await {
        for n in 0..TIMES {
            for back in VARIETIES {
                // A database of its own each time: one that went back is not a place to begin.
                let engine = match &engine {
                    Engine::Sqlite => Engine::Sqlite,
                    Engine::Postgres(_) => Engine::postgres().await,
                };
                let back = match back {
                    Back::By(entries) => Back::By(entries + 3 * n),
                    other => other,
                };
                goes_back(&engine, back).await;
            }
        }
    }
}

/// Both notice it, and the owner hears of it once.
#[tokio::test(flavor = "multi_thread")]
async fn two_instances_that_notice_a_rollback_tell_it_once() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (engine, receivers) = (Engine::postgres().await, Receivers::start());
    let lab = Arc::new(crate::labs::Lab::of_alpha(None));
    let owner_token = format!(
        "owner-{:016x}{:016x}",
        crate::apps::random(),
        crate::apps::random()
    );
    let setup = |name| Setup {
        instance: Some(name),
        engine: engine.clone(),
        lab: Arc::clone(&lab),
        owner_token: owner_token.clone(),
        notifications: Some(receivers.beside(crate::phones::nothing())),
        ..Setup::default()
    };
    let (mut a, mut b) = (setup("alpha").start().await, setup("beta").start().await);
    (a.looks_back, b.looks_back) = (false, false);
    keep(&a, &engine);
    for _ in 0..4 {
        b.owner().post("/api/freeze", json!({})).await.ok();
        a.owner().delete("/api/freeze").await.ok();
    }
    put_back(&a, &engine);
    alerted(&a, 1).await;
    // Whoever sends goes, and the other one takes over: it finds on the record that it was told.
    a.shut_down(Duration::from_secs(1)).await;
    // The first change that the other one makes may be the one by which it notices.
    eventually("the other one to thaw", || async {
        let thawed = b.owner().delete("/api/freeze").await;
        (thawed.status == 200).then_some(())
    })
    .await;
    let row = b.queue("stop-a").await;
    eventually("the other one to send", || async {
        let code = row["code"].as_str().unwrap();
        let pushed = receivers.ntfy.requests();
        let about =
            |request: &void_testkit::http::Request| request.json().to_string().contains(code);
        pushed.iter().any(about).then_some(())
    })
    .await;
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(receivers.told(), (1, 1));
    assert_eq!(b.audited("notification.alerted").await.len(), 1);
}

/// Nothing is left of what was open, however much it was: it ends in pieces, and none of it is approved meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn all_that_was_open_in_an_older_copy_ends() {
    const OPEN: usize = 230;
    for engine in Engine::both().await {
        let mut app = App::on(engine.clone()).await;
        app.looks_back = false;
        for replicas in 0..OPEN {
            let body = json!({"params": {"replicas": replicas, "zone": "north", "image": "web"}});
            let asked = app
                .owner()
                .post("/api/actions/scale-a/run", body)
                .await
                .ok();
            assert_eq!(asked["queued"], true, "{asked}");
        }
        keep(&app, &engine);
        app.queue("stop-a").await;
        put_back(&app, &engine);
        let open = async || {
            app.owner()
                .get("/api/proposals?status=pending&limit=500")
                .await
                .ok()
        };
        eventually("all of it to end", || async {
            let left = open().await["proposals"].as_array().unwrap().len();
            (left == 0).then_some(())
        })
        .await;
        let said = app.audited("proposal.cancelled").await;
        let restored = said
            .iter()
            .filter(|entry| entry.detail.contains("restored"));
        assert_eq!(restored.count(), OPEN);
        let freeze = app.owner().get("/api/freeze").await.ok();
        let why = freeze["reason"].as_str().unwrap();
        assert!(why.contains(&OPEN.to_string()), "{why}");
    }
}

/// The instance that was there has answered it; one that comes later has nothing to add, as long as its note is
/// from before.
#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_that_was_answered_is_not_answered_again_by_who_comes_later() {
    let engine = Engine::postgres().await;
    let lab = Arc::new(crate::labs::Lab::of_alpha(None));
    let owner_token = format!(
        "owner-{:016x}{:016x}",
        crate::apps::random(),
        crate::apps::random()
    );
    let setup = |name| Setup {
        instance: Some(name),
        engine: engine.clone(),
        lab: Arc::clone(&lab),
        owner_token: owner_token.clone(),
        has_witness: true,
        ..Setup::default()
    };
    let (mut a, mut b) = (setup("alpha").start().await, setup("beta").start().await);
    (a.looks_back, b.looks_back) = (false, false);
    let answers = async |app: &App| app.audited("store.rolled_back").await.len();
    keep(&a, &engine);
    a.queue("stop-a").await;
    let note = lab.folder_of(Some("beta")).join("witness.json");
    let head = a.audit().await.len() as u64;
    eventually("the other one to note how far it has come", || async {
        let noted: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&note).unwrap()).unwrap();
        (noted["audit_seq"].as_u64() >= Some(head)).then_some(())
    })
    .await;
    b.shut_down(Duration::from_secs(1)).await;
    drop(b);
    put_back(&a, &engine);
    eventually("it to be answered", || async {
        (answers(&a).await == 1).then_some(())
    })
    .await;
    a.owner().delete("/api/freeze").await.ok();
    let mut b = setup("beta").start().await;
    b.looks_back = false;
    assert_eq!(answers(&b).await, 1);
    let freeze = b.owner().get("/api/freeze").await.ok();
    assert_eq!(freeze["frozen"], json!(false), "{freeze}");
    // It goes back again, to after that answer, and both were away.
    let Engine::Postgres(url) = &engine else {
        unreachable!()
    };
    let forget = TABLES.map(|table| format!("DROP TABLE old_{table};"));
    postgres_run(url, &forget.concat());
    keep(&b, &engine);
    b.queue("stop-a").await;
    a.shut_down(Duration::from_secs(1)).await;
    b.shut_down(Duration::from_secs(1)).await;
    drop((a, b));
    put_back_tables(url);
    let mut b = setup("beta").start().await;
    b.looks_back = false;
    assert_eq!(answers(&b).await, 2);
    let freeze = b.owner().get("/api/freeze").await.ok();
    assert_eq!(freeze["frozen"], json!(true), "{freeze}");
}

/// Another file is put where the database is, and taken away again.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_put_back_in_its_place_is_used_on() {
    let app = App::on(Engine::Sqlite).await;
    let (file, aside) = (
        app.lab.path().join("void.db"),
        app.lab.path().join("aside.db"),
    );
    std::fs::rename(&file, &aside).unwrap();
    eventually("it to stop", || async {
        (app.owner().run("touch-a").await.status >= 500).then_some(())
    })
    .await;
    std::fs::rename(&aside, &file).unwrap();
    eventually("it to go on", || async {
        let answer = app.owner().run("touch-a").await.json();
        (answer["executed"] == true).then_some(())
    })
    .await;
}
