//! Secrets never leave their holder (I16) and are hashed at rest (I29). Every answer and every log
//! line of every test is searched by the harness; here the secrets are brought to where they could
//! slip out.

use std::fs;
use std::path::{Path, PathBuf};

use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::{UnixListener, UnixStream};
use tokio::task::{JoinHandle, JoinSet};
use void_domain::secrets::Secret;
use void_server::routes::ROUTES;
use void_store::{PostgresConfig, Store};
use void_testkit::eventually;

use crate::apps::{App, Engine, Setup};
use crate::callers::{Caller, Shows};
use crate::leaks;

const DATABASE_PASSWORD: &str = "canary-database-password";
const SSH_KEY: &str = "canary-ssh-key-canary-ssh-key";

/// The way to the database: by an address with a password in it, and one that can be closed.
struct Gate {
    folder: TempDir,
    server: PathBuf,
    name: String,
    open: Option<JoinHandle<()>>,
}

impl Gate {
    async fn new() -> Self {
        let Engine::Postgres(url) = Engine::postgres().await else {
            unreachable!("it was asked for")
        };
        // postgres://postgres@%2Ftmp%2Fvoid-pg-…/t3
        let (address, name) = url.rsplit_once('/').unwrap();
        let server = address.split_once('@').unwrap().1.replace("%2F", "/");
        let mut gate = Self {
            folder: tempfile::tempdir().unwrap(),
            server: Path::new(&server).join(SOCKET),
            name: name.to_owned(),
            open: None,
        };
        gate.open();
        gate
    }

    fn url(&self) -> String {
        let folder = self.folder.path().display().to_string().replace('/', "%2F");
        format!(
            "postgres://postgres:{DATABASE_PASSWORD}@{folder}/{}",
            self.name
        )
    }

    fn open(&mut self) {
        let listener = UnixListener::bind(self.folder.path().join(SOCKET)).unwrap();
        let server = self.server.clone();
        self.open = Some(tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (mut near, _) = listener.accept().await.unwrap();
                let server = server.clone();
                connections.spawn(async move {
                    let mut far = UnixStream::connect(server).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
                });
            }
        }));
    }

    /// Ends every connection and lets no new one through.
    async fn close(&mut self) {
        fs::remove_file(self.folder.path().join(SOCKET)).unwrap();
        let open = self.open.take().unwrap();
        open.abort();
        let _ = open.await;
    }
}

const SOCKET: &str = ".s.PGSQL.5432";

async fn start() -> (Gate, App) {
    let gate = Gate::new().await;
    let setup = Setup {
        engine: Engine::Postgres(gate.url()),
        ..Setup::default()
    };
    fs::write(setup.lab.ssh_key(), SSH_KEY).unwrap();
    let app = setup.start().await;
    app.secrets.add(DATABASE_PASSWORD);
    app.secrets.add(SSH_KEY);
    (gate, app)
}

/// Everybody, with the secrets in every place of a request that an answer could repeat.
async fn callers(app: &App) -> Vec<Caller> {
    let agent = app.agent("blue").await;
    let token = agent.shows.headers()[0].1.clone();
    let owner = format!("Bearer {}", app.owner_token());
    let twice = Shows::Headers(vec![
        ("authorization", owner.clone()),
        ("authorization", token.clone()),
    ]);
    let basic = Shows::Headers(vec![(
        "authorization",
        format!("Basic {}", app.owner_token()),
    )]);
    let cookie = Shows::Headers(vec![(
        "cookie",
        format!("void_session={}", app.owner_token()),
    )]);
    let last = Shows::Headers(vec![
        ("authorization", owner),
        ("last-event-id", app.owner_token().to_owned()),
    ]);
    vec![
        app.owner(),
        app.session().await,
        agent,
        app.holder("viewer", "eve", &[]).await.caller,
        app.holder("node", "n1", &[]).await.caller,
        app.anonymous(),
        app.caller(twice),
        app.caller(basic),
        app.caller(cookie),
        app.caller(last),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_event_or_log_line_holds_a_secret() {
    let (_gate, app) = start().await;
    let mut listener = crate::sse::Listener::open(&app.owner()).await;
    let waiting = app.queue("stop-a").await;
    app.owner().run("reach-far").await.ok();
    app.owner().run("fail-a").await.ok();
    let mut answers = 0;
    for caller in callers(&app).await {
        for route in ROUTES
            .iter()
            .filter(|route| route.operation != "streamEvents")
        {
            let method: Method = route.method.parse().unwrap();
            let id = waiting["id"].as_str().unwrap();
            let ids = [id, "touch-a", "local", "1", "nothing"];
            for word in ids
                .into_iter()
                .take(if route.path.contains('{') { 5 } else { 1 })
            {
                let path = route.path.split('/');
                let path: Vec<&str> = path
                    .map(|part| if part.starts_with('{') { word } else { part })
                    .collect();
                // Nobody approves, revokes or logs out here: only what comes back is looked at.
                let changing = [
                    "approvePending",
                    "decideProposal",
                    "thaw",
                    "closeSession",
                    "runAction",
                ];
                let body = (!changing.contains(&route.operation)).then(|| json!({"x": 1}));
                if changing.contains(&route.operation) && word == id {
                    continue;
                }
                caller.send(method.clone(), &path.join("/"), body).await;
                answers += 1;
            }
        }
    }
    assert!(answers > 500, "{answers}");
    app.owner()
        .post("/api/freeze", json!({"reason": "done"}))
        .await
        .ok();
    listener.wait_for("freeze.changed").await;
    leaks::assert_not_logged(&app.secrets);
}

/// A secret in the wrong place of a request is refused without being repeated.
#[tokio::test(flavor = "multi_thread")]
async fn a_secret_in_the_wrong_place_is_not_repeated() {
    let app = App::start().await;
    let (owner, anonymous) = (app.owner(), app.anonymous());
    let token = app.owner_token();
    // In an address a secret would end up in histories and logs of others; it counts for nothing.
    for path in [
        "/api/status",
        "/api/audit",
        "/api/events",
        "/api/proposals",
        "/api/session",
    ] {
        for name in [
            "token",
            "access_token",
            "authorization",
            "void_session",
            "owner_token",
        ] {
            let answer = anonymous.get(&format!("{path}?{name}={token}")).await;
            answer.error(401, "unauthenticated");
        }
    }
    for body in [
        json!({"token": token, "extra": 1}),
        json!({"tokens": token}),
        json!({"token": {"value": token}}),
        json!({"token": [token]}),
    ] {
        anonymous
            .post("/api/session", body)
            .await
            .error(422, "invalid");
    }
    for path in [
        "/api/proposals?status=TOKEN",
        "/api/proposals?cursor=TOKEN",
        "/api/proposals/TOKEN",
        "/api/audit?cursor=TOKEN",
        "/api/events?after=TOKEN",
        "/TOKEN",
    ] {
        let answer = owner.get(&path.replace("TOKEN", token)).await;
        assert!(
            matches!(answer.status, 404 | 422),
            "{path}: {}",
            answer.text
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_kept_are_hashes() {
    let app = App::start().await;
    let owner = app.owner();
    let agent = app.agent("blue").await;
    let session = app.session().await;
    agent.run("touch-a").await.ok();
    session.get("/api/inbox").await.ok();
    let made = owner.post_nothing("/api/backups").await.ok();
    let mut files = vec![Path::new(made["file"].as_str().unwrap()).to_owned()];
    for name in ["void.db", "void.db-wal"] {
        files.push(app.lab.path().join(name));
    }
    for file in files {
        let bytes = fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(app.secrets.found_in(&text), None, "in {}", file.display());
    }
    for folder in ["state", "ssh"] {
        for entry in fs::read_dir(app.lab.path().join(folder)).unwrap() {
            let text = fs::read_to_string(entry.unwrap().path()).unwrap_or_default();
            assert_eq!(app.secrets.found_in(&text), None, "in {folder}");
        }
    }
}

/// The database goes away: everybody is told so without being told how it is reached, nothing is let
/// through because it could not be checked, and when it is back, so is everything else.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_away_is_no_reason_to_talk_or_to_let_anybody_in() {
    let (mut gate, app) = start().await;
    let owner = app.owner();
    let agent = app.agent("blue").await;
    let session = app.session().await;
    let waiting = app.queue("stop-a").await;
    gate.close().await;
    for caller in [&agent, &session] {
        for path in [
            "/api/status",
            "/api/proposals",
            "/api/events",
            "/api/session",
        ] {
            caller.get(path).await.error(503, "unavailable");
        }
    }
    app.caller(Shows::Bearer("void_agent_made_up".into()))
        .get("/api/status")
        .await
        .error(503, "unavailable");
    app.anonymous()
        .get("/api/status")
        .await
        .error(401, "unauthenticated");
    for path in [
        "/api/inbox",
        "/api/audit",
        "/api/status",
        "/api/audit-export",
        "/metrics",
    ] {
        owner.get(path).await.error(503, "unavailable");
    }
    owner.run("touch-a").await.error(503, "unavailable");
    owner
        .decide(&waiting, "approve")
        .await
        .error(503, "unavailable");
    let body = json!({"token": app.owner_token()});
    app.anonymous()
        .post("/api/session", body)
        .await
        .error(503, "unavailable");
    assert_eq!(
        app.anonymous().get("/healthz").await.status,
        200,
        "the process is up"
    );
    for path in ["/readyz", "/health"] {
        let answer = app.anonymous().get(path).await;
        let expected = json!({"status": "unavailable", "version": env!("CARGO_PKG_VERSION")});
        assert_eq!((answer.status, answer.json()), (503, expected), "{path}");
    }
    assert_eq!(app.lab.effect_count(), 0);
    assert!(
        leaks::log().contains("the store is unavailable"),
        "whoever runs it is told"
    );
    gate.open();
    eventually("the database to be back", || async {
        (app.anonymous().get("/readyz").await.status == 200).then_some(())
    })
    .await;
    let decided = eventually("writing to work again", || async {
        let answer = owner.decide(&waiting, "approve").await;
        (answer.status == 200).then(|| answer.ok())
    })
    .await;
    assert_eq!(decided["status"], Value::from("executed"));
    leaks::assert_not_logged(&app.secrets);
}

/// What a start says about a database that it cannot use.
#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_does_not_work_is_not_repeated() {
    for url in [
        format!("postgres://void:{DATABASE_PASSWORD}@127.0.0.1:9/void"),
        format!("postgres://void:{DATABASE_PASSWORD}@no.such.host.invalid/void"),
        format!("postgres://void:{DATABASE_PASSWORD}@[::1/void"),
        format!("postgres://void:{DATABASE_PASSWORD}@localhost:port/void"),
        format!("host=127.0.0.1 port=9 password={DATABASE_PASSWORD} nonsense={DATABASE_PASSWORD}"),
    ] {
        let config = PostgresConfig {
            url: Secret::new(url),
            ca_file: None,
        };
        let shown = format!("{config:?}");
        let Err(error) = Store::open_postgres(config).await else {
            panic!("there is no such database")
        };
        for text in [error.to_string(), format!("{error:?}"), shown] {
            assert!(!text.contains(DATABASE_PASSWORD), "{text}");
        }
    }
}
