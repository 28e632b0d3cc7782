//! Instances on machines of their own share one PostgreSQL database: each starts and settles what runs
//! on its machine, and nobody else does (I40); a stranger's catalogue withdraws nothing.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use void_control::instances::StartError;
use void_control::{Limits, proposals};
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
    eventually("the end of its lease", || async {
        let ended = format!(
            "SELECT 1 FROM proposals WHERE id = '{id}' AND lease_until < extract(epoch FROM now()) * 1000"
        );
        postgres_run(&cluster.url, &ended).contains('1').then_some(())
    })
    .await;
    // Whatever the others look after now, and however often.
    for _ in 0..5 {
        for other in [&b, &c] {
            proposals::sweep(&other.control).await.unwrap();
            assert_eq!(status(other, &id).await, "running");
            other.owner().run("slow-b").await.error(409, "busy");
        }
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
