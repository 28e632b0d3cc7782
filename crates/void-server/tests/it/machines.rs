//! Instances on machines of their own share one PostgreSQL database: each starts and settles what runs
//! on its machine, and nobody else does (I40); a stranger's catalogue withdraws nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use void_control::Limits;
use void_control::instances::StartError;
use void_testkit::{eventually, postgres_run};

use crate::apps::{App, Engine, Setup, random};
use crate::labs::Lab;

const ACTIONS: &str = r#"[
    { "id": "touch-a", "kind": "service_restart", "host": "local", "service": "a", "tier": "safe" },
    { "id": "slow-a", "kind": "service_restart", "host": "local", "service": "slow", "tier": "safe" },
    { "id": "slow-b", "kind": "service_restart", "host": "local", "service": "slow", "tier": "safe" },
    { "id": "stop-a", "kind": "service_restart", "host": "local", "service": "r", "tier": "risky" }
]"#;

/// A catalogue in which `local` is the machine of this instance, or of whoever reads it.
fn catalogue(instance: Option<&str>) -> String {
    let hosts = instance.map_or("{}".to_owned(), |name| {
        format!(r#"{{"local": {{"address": "local", "instance": "{name}"}}}}"#)
    });
    format!(r#"{{"hosts": {hosts}, "actions": {ACTIONS}}}"#)
}

struct Cluster {
    url: String,
    owner_token: String,
}

impl Cluster {
    async fn new() -> Self {
        let Engine::Postgres(url) = Engine::postgres().await else {
            unreachable!("it is PostgreSQL")
        };
        Self {
            url,
            owner_token: format!("owner-{:016x}{:016x}", random(), random()),
        }
    }

    fn setup(&self, name: &'static str, catalogue: &str) -> Setup {
        Setup {
            engine: Engine::Postgres(self.url.clone()),
            lab: Arc::new(Lab::of(catalogue)),
            owner_token: self.owner_token.clone(),
            instance: Some(name),
            limits: Limits {
                lease: Duration::from_secs(1),
                ..Limits::default()
            },
            ..Setup::default()
        }
    }

    async fn start(&self, name: &'static str, catalogue: &str) -> App {
        let mut app = self.setup(name, catalogue).start().await;
        app.looks_back = false;
        app
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn local_that_may_be_either_machine_is_refused() {
    let cluster = Cluster::new().await;
    let bare = catalogue(None);
    let a = cluster.start("alpha", &bare).await;
    assert_eq!(a.owner().run("touch-a").await.ok()["executed"], true);
    let row = a.queue("stop-a").await;
    let mut b = cluster.start("beta", &bare).await;
    for app in [&a, &b] {
        app.owner()
            .run("touch-a")
            .await
            .error(409, "ambiguous_host");
        app.owner()
            .decide(&row, "approve")
            .await
            .error(409, "ambiguous_host");
    }
    assert_eq!((a.lab.effect_count(), b.lab.effect_count()), (1, 0));
    // Alone again there is no doubt.
    b.shut_down(Duration::from_secs(1)).await;
    assert_eq!(
        a.owner().decide(&row, "approve").await.ok()["status"],
        "executed"
    );
    assert_eq!((a.lab.effect_count(), b.lab.effect_count()), (2, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_on_one_machine_is_started_there_whoever_is_asked() {
    let cluster = Cluster::new().await;
    let of_alpha = catalogue(Some("alpha"));
    let mut a = cluster.start("alpha", &of_alpha).await;
    let b = cluster.start("beta", &of_alpha).await;
    assert_eq!(b.owner().run("touch-a").await.ok()["executed"], true);
    let row = b.queue("stop-a").await;
    assert_eq!(
        b.owner().decide(&row, "approve").await.ok()["status"],
        "executed"
    );
    assert_eq!((a.lab.effect_count(), b.lab.effect_count()), (2, 0));
    let row = b.queue("stop-a").await;
    a.shut_down(Duration::from_secs(1)).await;
    b.owner().run("touch-a").await.error(409, "instance_away");
    b.owner()
        .decide(&row, "approve")
        .await
        .error(409, "instance_away");
    assert_eq!((a.lab.effect_count(), b.lab.effect_count()), (2, 0));
}

async fn status(app: &App, id: &str) -> Value {
    app.row(id).await["status"].clone()
}

/// The lease ends in mid-run. The other instance's journal has never seen the ticket: asked, it would
/// say that nothing ran, and a second run would start beside the first.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_but_its_instance_settles_a_run_on_its_machine() {
    let cluster = Cluster::new().await;
    let of_alpha = catalogue(Some("alpha"));
    let a = cluster.start("alpha", &of_alpha).await;
    let (b, c) = (
        cluster.start("beta", &of_alpha).await,
        cluster.start("gamma", &of_alpha).await,
    );
    let run = a
        .owner()
        .post_nothing("/api/actions/slow-a/run?wait=0")
        .await
        .ok();
    let id = run["action_row_id"].as_str().unwrap().to_owned();
    eventually("it to begin", || async {
        (a.lab.effect_count() == 1).then_some(())
    })
    .await;
    // Five sweeps of the others after the end of the lease.
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(6) {
        assert_eq!(status(&b, &id).await, "running");
        b.owner().run("slow-b").await.error(409, "busy");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    // Its instance is believed to be gone: then nobody knows, and says who would.
    let claimant =
        "(SELECT run_instance_id FROM proposals WHERE run_instance_id IS NOT NULL LIMIT 1)";
    postgres_run(
        &cluster.url,
        &format!(
            "CREATE TABLE kept AS SELECT {claimant} AS id; \
             UPDATE proposals SET run_instance_id = 'somebody', run_instance_name = 'delta' WHERE id = '{id}'"
        ),
    );
    eventually("the others to give up", || async {
        (status(&c, &id).await == "unknown").then_some(())
    })
    .await;
    let row = b.row(&id).await;
    assert_eq!(row["error"]["code"], "instance_away", "{row}");
    assert!(
        row["error"]["message"].as_str().unwrap().contains("delta"),
        "{row}"
    );
    b.owner().run("slow-b").await.error(409, "busy");
    // Whoever ran it records its end.
    a.lab.release();
    eventually("its end", || async {
        (status(&c, &id).await == "executed").then_some(())
    })
    .await;
    let effects = [&a, &b, &c].map(|app| app.lab.effect_count());
    assert_eq!(effects, [1, 0, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_with_another_catalogue_does_not_start_and_withdraws_nothing() {
    let cluster = Cluster::new().await;
    let of_alpha = catalogue(Some("alpha"));
    let mut a = cluster.start("alpha", &of_alpha).await;
    let row = a.queue("stop-a").await;
    let id = row["id"].as_str().unwrap();
    let empty = r#"{"hosts":{},"actions":[]}"#;
    let other = r#"{"hosts":{},"actions":[{"id":"x","kind":"service_restart","host":"local","service":"x","tier":"safe"}]}"#;
    for stranger in [empty, other] {
        let refused = cluster
            .setup("beta", stranger)
            .try_start()
            .await
            .err()
            .unwrap();
        assert!(
            matches!(refused, StartError::OtherCatalogue(..)),
            "{refused}"
        );
        assert!(refused.to_string().contains("alpha"), "{refused}");
    }
    let namesake = cluster
        .setup("alpha", &of_alpha)
        .try_start()
        .await
        .err()
        .unwrap();
    assert!(matches!(namesake, StartError::NameTaken(_)), "{namesake}");
    assert_eq!(status(&a, id).await, "pending");
    // Told to, it starts, and leaves alone what the other one would run.
    let mut b = Setup {
        replace_catalogue: true,
        ..cluster.setup("beta", other)
    }
    .start()
    .await;
    b.looks_back = false;
    assert_eq!(status(&b, id).await, "pending");
    b.owner()
        .decide(&row, "approve")
        .await
        .error(409, "changed");
    assert_eq!(status(&b, id).await, "pending");
    // Nobody would run it any more.
    a.shut_down(Duration::from_secs(1)).await;
    let mut c = cluster.setup("gamma", other).start().await;
    c.looks_back = false;
    assert_eq!(status(&c, id).await, "cancelled");
}

/// A missing file is a mistake, not a decision.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_catalogue_what_waits_is_kept_and_cannot_run() {
    let lab = Arc::new(Lab::new());
    let setup = |lab: &Arc<Lab>| Setup {
        lab: Arc::clone(lab),
        ..Setup::default()
    };
    let mut app = setup(&lab).start().await;
    let row = app.queue("stop-a").await;
    let written = std::fs::read_to_string(lab.catalogue_file()).unwrap();
    app.shut_down(Duration::from_secs(1)).await;
    drop(app);
    std::fs::write(lab.catalogue_file(), r#"{"hosts":{},"actions":[]}"#).unwrap();
    let mut app = setup(&lab).start().await;
    app.owner()
        .decide(&row, "approve")
        .await
        .error(409, "changed");
    assert_eq!(status(&app, row["id"].as_str().unwrap()).await, "pending");
    app.shut_down(Duration::from_secs(1)).await;
    drop(app);
    std::fs::write(lab.catalogue_file(), written).unwrap();
    let app = setup(&lab).start().await;
    assert_eq!(
        app.owner().decide(&row, "approve").await.ok()["status"],
        "executed"
    );
}

/// The same instance on another machine: its data folder was copied.
fn clone_of(cluster: &Cluster, original: &Setup) -> Setup {
    let clone = cluster.setup("alpha", &catalogue(Some("alpha")));
    let file = |setup: &Setup| setup.lab.folder_of(Some("alpha")).join("instance.json");
    std::fs::copy(file(original), file(&clone)).unwrap();
    clone
}

/// The identity is made and the instance started, so that it can be copied.
async fn original(cluster: &Cluster) -> (Setup, App) {
    let original = cluster.setup("alpha", &catalogue(Some("alpha")));
    let again = Setup {
        lab: Arc::clone(&original.lab),
        ..cluster.setup("alpha", &catalogue(Some("alpha")))
    };
    let mut app = again.start().await;
    app.looks_back = false;
    (original, app)
}

async fn begin_slow(app: &App) -> String {
    let run = app
        .owner()
        .post_nothing("/api/actions/slow-a/run?wait=0")
        .await
        .ok();
    let id = run["action_row_id"].as_str().unwrap().to_owned();
    eventually("it to begin", || async {
        (app.lab.effect_count() == 1).then_some(())
    })
    .await;
    id
}

/// It would ask its own journal about a run that lives, call it never begun, and free its target.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_of_a_data_folder_does_not_start_beside_the_original() {
    let cluster = Cluster::new().await;
    let (first, mut a) = original(&cluster).await;
    let id = begin_slow(&a).await;
    for _ in 0..2 {
        let refused = clone_of(&cluster, &first).try_start().await.err().unwrap();
        assert!(matches!(refused, StartError::Twin(_)), "{refused}");
        assert!(refused.to_string().contains("alpha"), "{refused}");
        assert_eq!(status(&a, &id).await, "running");
        a.owner().run("slow-b").await.error(409, "busy");
    }
    assert_eq!(a.owner().get("/api/status").await.ok()["displaced"], false);
    a.lab.release();
    eventually("its end", || async {
        (status(&a, &id).await == "executed").then_some(())
    })
    .await;
    // One after the other they may.
    a.shut_down(Duration::from_secs(1)).await;
    let mut b = clone_of(&cluster, &first).start().await;
    b.looks_back = false;
    assert_eq!(b.owner().run("touch-a").await.ok()["executed"], true);
}

/// What the database says of a predecessor that did not take its leave, and how long its successor may wait.
#[tokio::test(flavor = "multi_thread")]
async fn a_predecessor_that_is_gone_locks_nobody_out() {
    let now = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)";
    for (left, within) in [
        // Killed: its connection is gone.
        (
            format!("backend = 0, backend_since = 0, seen_at = {now}"),
            2,
        ),
        // Its number was given to another connection.
        (
            format!("backend = pg_backend_pid(), backend_since = 1, seen_at = {now}"),
            2,
        ),
        // Its machine lost its power: nobody told the database.
        (
            format!("backend = NULL, backend_since = NULL, seen_at = {now} - 27000"),
            10,
        ),
        // Written by a clock that was set back since then.
        (
            format!("backend = NULL, backend_since = NULL, seen_at = {now} + 3600000"),
            2,
        ),
    ] {
        let cluster = Cluster::new().await;
        let (first, mut a) = original(&cluster).await;
        a.shut_down(Duration::from_secs(1)).await;
        let row = "INSERT INTO instances (id, name, version, catalogue, definitions, started_at, seen_at, process)";
        let id: Value = serde_json::from_slice(
            &std::fs::read(first.lab.folder_of(Some("alpha")).join("instance.json")).unwrap(),
        )
        .unwrap();
        let id = id["id"].as_str().unwrap();
        let zeros = "0".repeat(64);
        postgres_run(
            &cluster.url,
            &format!(
                "{row} VALUES ('{id}', 'alpha', '0', '{zeros}', '[]', 0, 0, 'before'); UPDATE instances SET {left}"
            ),
        );
        let begin = Instant::now();
        let again = Setup {
            lab: Arc::clone(&first.lab),
            ..cluster.setup("alpha", &catalogue(Some("alpha")))
        };
        let mut b = again.start().await;
        b.looks_back = false;
        assert!(begin.elapsed() < Duration::from_secs(within + 3), "{left}");
        assert_eq!(
            b.owner().run("touch-a").await.ok()["executed"],
            true,
            "{left}"
        );
    }
}

/// The database lost sight of it, and a copy took its place: from then on it leaves everything to that one.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_whose_place_was_taken_starts_and_settles_nothing() {
    let cluster = Cluster::new().await;
    let (first, a) = original(&cluster).await;
    let row = a.queue("stop-a").await;
    postgres_run(
        &cluster.url,
        "UPDATE instances SET backend = 0, backend_since = 0",
    );
    let mut b = clone_of(&cluster, &first).start().await;
    b.looks_back = false;
    // At once, whether it has noticed or not.
    a.owner().run("touch-a").await.error(503, "displaced");
    a.owner()
        .decide(&row, "approve")
        .await
        .error(503, "displaced");
    assert_eq!(
        status(&a, row["id"].as_str().unwrap()).await,
        "pending",
        "nothing of it was recorded"
    );
    eventually("it to notice", || async {
        let said = a.owner().get("/api/status").await.ok();
        (said["displaced"] == true).then_some(())
    })
    .await;
    assert_eq!(a.anonymous().get("/readyz").await.status, 503);
    assert_eq!(a.audited("instance.displaced").await.len(), 1);
    // A run of the other one, longer than its lease; here the journal has never seen it.
    let id = begin_slow(&b).await;
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(6) {
        assert_eq!(status(&a, &id).await, "running");
        a.owner().run("slow-b").await.error(409, "busy");
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    b.lab.release();
    eventually("its end", || async {
        (status(&b, &id).await == "executed").then_some(())
    })
    .await;
    a.owner().run("touch-a").await.error(503, "displaced");
    // Freezing is everybody's.
    a.owner()
        .post("/api/freeze", serde_json::json!({}))
        .await
        .ok();
    b.owner().run("touch-a").await.error(409, "frozen");
    assert_eq!((a.lab.effect_count(), b.lab.effect_count()), (0, 1));
    // Its leave takes nobody else's row with it.
    drop(a);
    let said = b.owner().get("/api/status").await.ok();
    assert_eq!(
        (&said["displaced"], &said["instances"]),
        (&serde_json::json!(false), &serde_json::json!(["alpha"]))
    );
    let kept = b
        .store
        .read(|tx| {
            Box::pin(void_store::instances::list_seen(
                tx,
                Duration::from_secs(30),
            ))
        })
        .await;
    assert_eq!(kept.unwrap().len(), 1);
}

/// An older copy of the database, or a row that was dropped: it is still the one that is there.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_was_lost_is_written_again() {
    let cluster = Cluster::new().await;
    let (_, a) = original(&cluster).await;
    for lost in [
        "DELETE FROM instances",
        "UPDATE instances SET process = 'before', backend = 0, backend_since = 0",
    ] {
        postgres_run(&cluster.url, lost);
        eventually("it to be there again", || async {
            let run = a.owner().run("touch-a").await;
            (run.status == 200).then_some(())
        })
        .await;
        assert_eq!(a.owner().get("/api/status").await.ok()["displaced"], false);
    }
}
