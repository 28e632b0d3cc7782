//! After everything that is over was forgotten: the record is whole, what is open is there, and whoever
//! comes back to a stream is told what it missed.

use std::time::Duration;

use serde_json::json;
use void_control::{Clock, retention};
use void_domain::retention::Kept;
use void_store::events;

use crate::apps::{App, Engine, Setup};
use crate::routes::health::metric;
use crate::sse::Listener;

const LONG: Duration = Duration::from_secs(500 * 24 * 60 * 60);

async fn grown(engine: Engine) -> (App, Clock) {
    let clock = Clock::manual(Clock::system().now());
    let setup = Setup {
        engine,
        clock: clock.clone(),
        ..Setup::default()
    };
    let mut app = setup.start().await;
    // Rows of what is on the record are gone afterwards, and the oldest events with them.
    app.looks_back = false;
    let (owner, mallory) = (app.owner(), app.agent("mallory").await);
    for _ in 0..3 {
        let row = app.queue("stop-a").await;
        owner.decide(&row, "reject").await.ok();
    }
    mallory.run("only-blue").await;
    owner.run("touch-a").await.ok();
    app.session().await.delete("/api/session").await;
    (app, clock)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_forgotten_leaves_the_record_whole_and_what_is_open_there() {
    for engine in Engine::both().await {
        let (app, clock) = grown(engine).await;
        let owner = app.owner();
        clock.set(clock.now().plus(LONG));
        // It waits for a year and more only because nobody swept; it is new now.
        let open = app.queue("stop-b").await;
        let gone = retention::prune(&app.control).await.unwrap();
        let of = |kept| gone.iter().find(|(one, _)| *one == kept).unwrap().1;
        assert_eq!(of(Kept::Refused), 1, "{gone:?}");
        assert_eq!(of(Kept::Ended), 3, "{gone:?}");
        assert!(of(Kept::Events) > 5, "{gone:?}");
        assert_eq!(of(Kept::Sessions), 1, "{gone:?}");
        let again = retention::prune(&app.control).await.unwrap();
        assert!(again.iter().all(|(_, rows)| *rows == 0), "{again:?}");
        let path = format!("/api/proposals/{}", open["id"].as_str().unwrap());
        assert_eq!(owner.get(&path).await.ok()["status"], "pending");
        let verdict = owner.get("/api/audit-verify").await.ok();
        assert_eq!(verdict["intact"], json!(true), "{verdict}");
        let head = void_verify::parse_hash(verdict["head"]["hash"].as_str().unwrap().as_bytes());
        let export = owner.get("/api/audit-export").await.text;
        let options = void_verify::Options { head, threads: 1 };
        let report = void_verify::verify(export.as_bytes(), &options).unwrap();
        assert!(report.is_intact(), "{report:?}");
        assert_eq!(report.last_seq, verdict["head"]["seq"].as_u64());
        // Nothing was written to it, and what went is still on it.
        assert_eq!(app.audited("proposal.rejected").await.len(), 3);
        owner.decide(&open, "reject").await.ok();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_missed_events_that_are_gone_hears_so_at_once() {
    for engine in Engine::both().await {
        let (app, clock) = grown(engine).await;
        let (owner, viewer) = (app.owner(), app.holder("viewer", "tv", &[]).await.caller);
        // The newest stays, and it is one that is told.
        let last = app.queue("stop-a").await;
        owner.decide(&last, "reject").await.ok();
        clock.set(clock.now().plus(LONG));
        retention::prune(&app.control).await.unwrap();
        let stands: Result<_, void_store::StoreError> =
            app.store.read(|tx| Box::pin(events::standing(tx))).await;
        let oldest = stands.unwrap().told_after + 1;
        assert!(oldest > 5, "{oldest}");
        for caller in [&owner, &viewer] {
            for mut listener in [
                Listener::after(caller, 1).await,
                Listener::resume(caller, oldest - 2).await,
            ] {
                let told = listener.next().await.unwrap();
                assert_eq!((told.event.as_str(), told.seq), ("stream.lost", oldest - 1));
                assert_eq!(told.data["next"], json!(oldest));
            }
        }
        // Whoever missed nothing hears of no loss.
        let mut listener = Listener::after(&owner, oldest - 1).await;
        assert_eq!(listener.next().await.unwrap().seq, oldest);
        let mut listener = Listener::open(&owner).await;
        app.queue("stop-b").await;
        assert_eq!(listener.next().await.unwrap().event, "proposal.created");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sizes_and_how_long_things_are_kept_are_named() {
    for engine in Engine::both().await {
        let is_sqlite = matches!(engine, Engine::Sqlite);
        let app = App::on(engine).await;
        app.queue("stop-a").await;
        // Nobody has asked before: these are the numbers of now.
        let storage = app.owner().get("/api/status").await.ok()["storage"].clone();
        assert!(
            storage["database_bytes"].as_u64().unwrap() >= 4_096,
            "{storage}"
        );
        assert_eq!(storage["wal_bytes"].is_u64(), is_sqlite, "{storage}");
        assert_eq!(storage["rows"]["proposals"], json!(1));
        for table in [
            "revisions",
            "attachments",
            "embedding_chunks",
            "token_taints",
        ] {
            assert_eq!(storage["rows"][table], json!(0), "{table}");
        }
        assert_eq!(storage["attachment_bytes"], json!(0));
        assert!(storage["rows"]["facts"].as_u64().unwrap() >= 2);
        for gone in ["transitions", "events", "audit"] {
            assert_eq!(storage["rows"][gone], json!(null), "{gone}");
        }
        let days = json!({"refused": 30, "ended": 400, "events": 30, "notifications": 90, "sessions": 30, "messages": 400});
        assert_eq!(storage["kept_days"], days);
        let anonymous = app.anonymous();
        for (line, value) in [
            ("void_rows{table=\"proposals\"}", json!(1.0)),
            ("void_rows{table=\"revisions\"}", json!(0.0)),
            ("void_attachment_bytes", json!(0.0)),
            ("void_retention_days{kind=\"ended\"}", json!(400.0)),
        ] {
            assert_eq!(json!(metric(&anonymous, line).await), value, "{line}");
        }
        let bytes = metric(&anonymous, "void_database_bytes{file=\"database\"}").await;
        assert!(bytes.is_some_and(|bytes| bytes >= 4_096.0), "{bytes:?}");
        let log = metric(&anonymous, "void_database_bytes{file=\"wal\"}").await;
        assert_eq!(log.is_some(), is_sqlite);
    }
}
