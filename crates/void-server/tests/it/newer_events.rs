//! A newer version writes events into the same database: whoever listens here hears what this version knows, in order
//! and once, and what it does not know is passed over.

use serde_json::json;
use void_control::events::Told;
use void_control::{Clock, backups};
use void_domain::events::{Audience, EventId};
use void_domain::facts::NewFact;
use void_store::{StoreError, events, facts};
use void_testkit::eventually;

use crate::apps::{App, Engine};
use crate::forgeries::run;
use crate::rollbacks::{keep, put_back};
use crate::sse::Listener;

/// As a newer instance commits it: the verb or the audience is none of ours.
async fn newer(app: &App, engine: &Engine, verb: &'static str, audience: Option<&str>) {
    let at = app.control.clock().now();
    let written: Result<u64, StoreError> = app
        .store
        .write(move |tx| {
            Box::pin(async move {
                let fact = NewFact {
                    request_id: None,
                    actor: "system".to_owned(),
                    verb,
                    subject: None,
                    detail: json!({"id": "x"}),
                    catalogue: None,
                    audience: Some(Audience::Everyone),
                };
                Ok(facts::append(tx, at, fact).await?.seq)
            })
        })
        .await;
    let seq = written.unwrap();
    if let Some(audience) = audience {
        let sql = format!("UPDATE facts SET audience = '{audience}' WHERE seq = {seq};");
        run(app, engine, &sql);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kinds_of_a_newer_version_are_passed_over() {
    for engine in Engine::both().await {
        let mut app = App::on(engine.clone()).await;
        // Not every number has an event that this version can read.
        app.looks_back = false;
        let owner = app.owner();
        let mut live = Listener::open(&owner).await;
        app.queue("stop-a").await;
        let first = live.wait_for("proposal.created").await.seq;
        for (verb, audience) in [
            ("incident.opened", None),
            ("proposal.postponed", None),
            ("freeze.set", Some("the-neighbours")),
            ("", Some("")),
            // Of ours, and not what ours say.
            ("freeze.set", None),
        ] {
            newer(&app, &engine, verb, audience).await;
        }
        // What comes after them reaches whoever listens already, and whoever reads from the table.
        owner.post("/api/freeze", json!({})).await.ok();
        let heard = live.next().await.unwrap();
        assert_eq!(heard.event, "freeze.changed");
        let mut late = Listener::after(&owner, 0).await;
        let all = late.until(heard.seq).await;
        let names: Vec<&str> = all.iter().map(|heard| heard.event.as_str()).collect();
        assert_eq!(names, ["proposal.created", "freeze.changed"]);
        assert_eq!(all[0].seq, first);
        assert_eq!(app.owner().get("/readyz").await.status, 200);
    }
}

/// What an upgrade or a restored copy does to the numbers: those below `numbered_from` were given out before.
fn renumber(app: &App, engine: &Engine) {
    let sql =
        "UPDATE heads SET told_after = audit_seq, numbered_from = audit_seq + 100 WHERE id = 1;";
    run(app, engine, sql);
}

/// The text of a stream from its beginning to this line.
async fn text_until(app: &App, after: &str, line: &str) -> String {
    let request = app
        .owner()
        .request(reqwest::Method::GET, "/api/events")
        .header("last-event-id", after);
    let mut response = request.send().await.unwrap();
    let mut text = String::new();
    let reading = async {
        while !text.contains(line) {
            text.push_str(std::str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap());
        }
    };
    let waited = tokio::time::timeout(std::time::Duration::from_secs(30), reading).await;
    waited.unwrap_or_else(|_| panic!("{line} after {after}"));
    text
}

/// Numbers of two numberings are told apart: nobody goes on from a number that stood for something else.
#[tokio::test(flavor = "multi_thread")]
async fn an_id_of_another_numbering_is_lost_and_one_of_this_goes_on() {
    for engine in Engine::both().await {
        let app = App::on(engine.clone()).await;
        let owner = app.owner();
        let mut live = app.control.subscribe(None);
        app.queue("stop-a").await;
        let before = live.next().await.unwrap().unwrap();
        assert_eq!(before.id.to_string(), before.seq.to_string());
        renumber(&app, &engine);
        let from = before.seq + 100;
        // Whoever listens already is told, and hears what comes then.
        owner.post("/api/freeze", json!({})).await.ok();
        let Some(Told::Lost(lost)) = live.next_told().await.unwrap() else {
            panic!("told that the numbers are others");
        };
        assert_eq!((lost.after, lost.next), (before.seq, before.seq + 1));
        let frozen = live.next().await.unwrap().unwrap();
        let id = format!("{}-{from}", before.seq + 1);
        assert_eq!(frozen.id.to_string(), id);
        // A number of before, which the record has or has not reached again, and one of yet another numbering.
        for other in [
            before.seq.to_string(),
            frozen.seq.to_string(),
            (from - 1).to_string(),
            (from + 5).to_string(),
            format!("{}-{}", frozen.seq, from + 1),
        ] {
            let text = text_until(&app, &other, "stream.lost").await;
            assert!(!text.contains("freeze.changed"), "{other}: {text}");
        }
        // This numbering's own goes on without a word, and so does what the page begins with.
        let last = format!("{}-{from}", before.seq);
        let text = text_until(&app, &last, "freeze.changed").await;
        assert!(text.contains(&format!("id: {id}\n")), "{text}");
        assert!(!text.contains("stream.lost"), "{text}");
        let home = owner.get("/api/home").await.ok();
        assert_eq!(home["event"], json!(id));
        owner.delete("/api/freeze").await.ok();
        let going_on = text_until(&app, &id, "\"frozen\":false").await;
        assert!(!going_on.contains("stream.lost"), "{going_on}");
    }
}

/// A copy knows nothing of what followed it: put back a second time, it would be numbered as it was the first time, and
/// whoever heard the first life would go on in the second without a word.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_is_restored_again_is_numbered_as_in_no_earlier_life() {
    let app = App::start().await;
    app.queue("stop-a").await;
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    void_store::backups::create(&app.store, &copy)
        .await
        .unwrap();
    // The same moment each time: a clock that was set back is no reason either.
    let clock = Clock::manual(app.control.clock().now());
    let mut lives: Vec<EventId> = Vec::new();
    for life in ["one", "two", "three"] {
        let place = folder.path().join(life);
        std::fs::create_dir(&place).unwrap();
        let database = place.join("void.db");
        backups::restore(&copy, &database, &place.join("witness.json"), &clock)
            .await
            .unwrap();
        let file = rusqlite::Connection::open(&database).unwrap();
        let sql = "SELECT audit_seq, numbered_from FROM heads";
        let (seq, from): (i64, i64) = file
            .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        let (seq, numbered_from) = (seq.unsigned_abs(), from.unsigned_abs());
        let newest = EventId::new(seq, numbered_from);
        // It is an id that a client can send back, and one of this life alone.
        assert_eq!(newest.to_string().parse(), Ok(newest));
        for earlier in &lives {
            assert!(
                !earlier.is_of(numbered_from),
                "{life}: {earlier} and {newest}"
            );
        }
        lives.push(newest);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_of_any_earlier_life_of_a_copy_hears_that_it_is_lost() {
    for engine in Engine::both().await {
        let mut app = App::on(engine.clone()).await;
        app.looks_back = false;
        keep(&app, &engine);
        let mut lives: Vec<String> = Vec::new();
        for life in 1..=3 {
            app.owner().post("/api/freeze", json!({})).await.ok();
            put_back(&app, &engine);
            eventually("the copy to be shut down", || async {
                (app.audited("quarantine.set").await.len() == 1).then_some(())
            })
            .await;
            let read: Result<_, StoreError> =
                (app.store.read(|tx| Box::pin(events::standing(tx)))).await;
            let stands = read.unwrap();
            let newest = EventId::new(stands.audit_seq, stands.numbered_from);
            for earlier in &lives {
                let text = text_until(&app, earlier, "stream.lost").await;
                assert!(!text.contains("freeze.changed"), "{life}: {text}");
            }
            lives.push(newest.to_string());
        }
    }
}
