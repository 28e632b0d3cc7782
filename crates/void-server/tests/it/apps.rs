//! The whole application in this process, on a real socket, with a real database and a real host side.
//!
//! Dropping an app ends it and then looks back: the audit chain verifies from its first entry, every
//! row's state is the last one recorded about it, events are numbered without a gap, the effects
//! outside are exactly the runs on the record, and no secret of this app is in any log line.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use void_access::OwnerAccess;
use void_agent::agents::{self, Agent};
use void_agent::brains::BuiltinBrain;
use void_agent::turns::{ProcessAgents, Talk};
use void_api::doctor::Finding;
use void_bridge::BridgeConfig;
use void_channels::{Channel, Checker, ProxmoxConfig};
use void_control::embeddings::EmbeddingsConfig;
use void_control::instances::{Identity, StartError};
use void_control::{Clock, Control, ControlConfig, Limits};
use void_domain::agents::AgentName;
use void_domain::capabilities::Capability;
use void_domain::facts::Fact;
use void_domain::instances::InstanceName;
use void_domain::proposals::{Proposal, Status};
use void_domain::secrets::Secret;
use void_domain::services::Services;
use void_notify::notifiers::{NotificationsConfig, Notifiers};
use void_server::{Bound, DoctorScope, FirstSteps, Plane, PlaneConfig, ServerConfig};
use void_store::proposals::ProposalFilter;
use void_store::{PostgresConfig, SqliteConfig, Store, StoreError, events, facts, proposals};
use void_testkit::{eventually, postgres_database};

use crate::callers::{Caller, Shows};
use crate::labs::Lab;
use crate::leaks::{self, Secrets};
use crate::routes::agent_processes;
use crate::webs::Reading;

mod before;

#[derive(Clone)]
pub enum Engine {
    Sqlite,
    Postgres(String),
}

impl Engine {
    pub async fn postgres() -> Self {
        let made = tokio::task::spawn_blocking(postgres_database).await;
        Self::Postgres(made.unwrap())
    }

    pub async fn both() -> [Self; 2] {
        [Self::Sqlite, Self::postgres().await]
    }
}

/// What differs from the ordinary.
pub struct Setup {
    pub engine: Engine,
    pub clock: Clock,
    pub limits: Limits,
    pub public_url: Option<&'static str>,
    pub allowed_hosts: Vec<String>,
    pub executor: Option<Arc<dyn Channel>>,
    pub listen: SocketAddr,
    pub owner_token: String,
    pub lab: Arc<Lab>,
    pub services: Services,
    pub proxmox: Option<ProxmoxConfig>,
    pub agents: Vec<Agent>,
    pub bridge: Option<BridgeConfig>,
    pub notifications: Option<NotificationsConfig>,
    pub captures: Reading,
    pub embeddings: EmbeddingsConfig,
    /// What the instance is called, and with it which data folder it has; the lab's own otherwise.
    pub instance: Option<&'static str>,
    pub replace_catalogue: bool,
    /// Whether it notes beside the database how far the record has come.
    pub has_witness: bool,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            engine: Engine::Sqlite,
            clock: Clock::system(),
            limits: Limits {
                safe_runs_per_agent_hour: u32::MAX,
                ..Limits::default()
            },
            public_url: None,
            allowed_hosts: Vec::new(),
            executor: None,
            listen: ([127, 0, 0, 1], 0).into(),
            owner_token: format!("owner-{:016x}{:016x}", random(), random()),
            lab: Arc::new(Lab::new()),
            services: Services::default(),
            proxmox: None,
            agents: agents::builtin().unwrap(),
            bridge: None,
            notifications: None,
            captures: Reading::default(),
            embeddings: EmbeddingsConfig::Off,
            instance: None,
            replace_catalogue: false,
            has_witness: false,
        }
    }
}

/// Different in every process and every call; nothing here needs more.
pub fn random() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(0)
}

pub struct App {
    pub control: Control,
    pub owner_access: OwnerAccess,
    pub talk: Talk,
    pub store: Store,
    pub address: SocketAddr,
    pub lab: Arc<Lab>,
    pub secrets: Arc<Secrets>,
    /// Not where several labs share a record, or the record went back.
    pub looks_back: bool,
    owner_token: String,
    http: reqwest::Client,
    stop: watch::Sender<bool>,
    serving: Option<JoinHandle<()>>,
}

impl App {
    pub async fn start() -> Self {
        Setup::default().start().await
    }

    pub async fn on(engine: Engine) -> Self {
        let setup = Setup {
            engine,
            ..Setup::default()
        };
        setup.start().await
    }

    /// One whose time stands still until the test moves it.
    pub async fn with_clock() -> Self {
        let setup = Setup {
            clock: Clock::manual(Clock::system().now()),
            ..Setup::default()
        };
        setup.start().await
    }

    pub fn anonymous(&self) -> Caller {
        self.caller(Shows::Nothing)
    }

    pub fn owner(&self) -> Caller {
        self.caller(Shows::Bearer(self.owner_token.clone()))
    }

    pub fn owner_token(&self) -> &str {
        &self.owner_token
    }

    pub fn caller(&self, shows: Shows) -> Caller {
        Caller {
            http: self.http.clone(),
            address: self.address,
            secrets: Arc::clone(&self.secrets),
            shows,
        }
    }

    /// A new token of this kind, and its holder.
    pub async fn holder(&self, kind: &str, name: &str, capabilities: &[&str]) -> Holder {
        let parsed = capabilities.iter().map(|name| name.parse().unwrap());
        let all: Vec<Capability> = parsed.collect();
        let granted = all.iter().filter(|one| one.is_granted());
        let granted: Vec<&str> = granted.map(|one| one.as_str()).collect();
        if kind != "agent" && !granted.is_empty() {
            return self.holder_as_before(kind, name, all).await;
        }
        let body = json!({"kind": kind, "name": name, "capabilities": granted});
        let made = self.owner().post("/api/tokens", body).await.ok();
        if kind == "agent" && granted.len() < all.len() {
            self.grant_as_before(name, all).await;
        }
        let token = made["token"].as_str().unwrap().to_owned();
        self.secrets.add(&token);
        Holder {
            id: made["id"].as_str().unwrap().to_owned(),
            caller: self.caller(Shows::Bearer(token)),
        }
    }

    pub async fn agent(&self, name: &str) -> Caller {
        self.holder("agent", name, &["act"]).await.caller
    }

    /// The owner's browser, logged in.
    pub async fn session(&self) -> Caller {
        let body = json!({"token": self.owner_token});
        self.session_by(body).await
    }

    /// The owner's browser, logged in by this proof.
    pub async fn session_by(&self, body: Value) -> Caller {
        let answer = self.anonymous().post("/api/session", body).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let cookie = answer.headers["set-cookie"].to_str().unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        self.secrets.add(cookie.split_once('=').unwrap().1);
        self.caller(Shows::Cookie(cookie))
    }

    /// Queues a risky action as the owner, and reads the row that waits.
    pub async fn queue(&self, action: &str) -> Value {
        queue(&self.owner(), action).await
    }

    pub async fn row(&self, id: &str) -> Value {
        self.owner().get(&format!("/api/proposals/{id}")).await.ok()
    }

    /// The row once it has ended.
    pub async fn ended(&self, id: &str) -> Value {
        eventually("the run to end", || async {
            let row = self.row(id).await;
            let open = matches!(
                row["status"].as_str(),
                Some("pending" | "approved" | "running")
            );
            (!open).then_some(row)
        })
        .await
    }

    /// Moves a manual clock on, and the host's with it.
    pub fn pass(&self, duration: Duration) {
        let clock = self.control.clock();
        clock.set(clock.now().plus(duration));
        self.lab.set_host_time(clock.now().as_ms());
    }

    pub async fn audit_head(&self) -> (u64, String) {
        let read = self.store.read(|tx| Box::pin(facts::head(tx)));
        let (seq, hash) = read.await.unwrap();
        (seq, hash.to_string())
    }

    /// The whole record, oldest first.
    pub async fn audit(&self) -> Vec<Fact> {
        let mut entries: Vec<Fact> = Vec::new();
        loop {
            let after = entries.last().map_or(0, |entry| entry.seq);
            let read = self
                .store
                .read(move |tx| Box::pin(facts::list_after(tx, after, 1_000)));
            let page = read.await.unwrap();
            if page.is_empty() {
                return entries;
            }
            entries.extend(page);
        }
    }

    pub async fn audited(&self, verb: &str) -> Vec<Fact> {
        let mut entries = self.audit().await;
        entries.retain(|entry| entry.verb == verb);
        entries
    }

    async fn proposals(&self) -> Vec<Proposal> {
        let mut all: Vec<Proposal> = Vec::new();
        loop {
            let cursor = all.last().map(|proposal| proposal.id);
            let read = self.store.read(move |tx| {
                Box::pin(proposals::list(tx, ProposalFilter::default(), cursor, 500))
            });
            let page = read.await.unwrap();
            all.extend(page.items.into_iter().map(|stored| stored.proposal));
            if page.next.is_none() {
                return all;
            }
        }
    }

    pub async fn proposal_count(&self) -> usize {
        self.proposals().await.len()
    }

    async fn count(&self, status: Status) -> u64 {
        let read = self
            .store
            .read(move |tx| Box::pin(proposals::count_by_status(tx, status)));
        read.await.unwrap()
    }

    async fn end(&mut self) {
        self.lab.release();
        self.settle_writes().await;
        eventually("runs to end", || async {
            (self.count(Status::Running).await == 0).then_some(())
        })
        .await;
        // A test may still hold a connection that has said nothing; it is not waited for.
        self.shut_down(Duration::from_millis(200)).await;
        self.settle_writes().await;
    }

    /// Writes are made in turn: once this one is through, what a caller began before it hung up is too.
    async fn settle_writes(&self) {
        let nothing = self
            .store
            .write(|_| Box::pin(async { Ok::<_, StoreError>(()) }));
        nothing.await.unwrap();
    }

    /// Stops as the binary does; whether serving came to its own end in time.
    pub async fn shut_down(&mut self, patience: Duration) -> bool {
        self.control.stop(Duration::from_secs(30)).await;
        self.stop.send_replace(true);
        let Some(serving) = self.serving.take() else {
            return true;
        };
        let abort = serving.abort_handle();
        let ended = tokio::time::timeout(patience, serving).await;
        abort.abort();
        ended.is_ok()
    }

    async fn look_back(&self) {
        let entries = self.audit().await;
        verify_chain(&entries, &self.audit_head().await);
        let rows = self.proposals().await;
        let mut last_status: BTreeMap<String, String> = BTreeMap::new();
        let mut expected: BTreeMap<String, u64> = BTreeMap::new();
        for entry in &entries {
            let detail: Value = serde_json::from_str(&entry.detail).unwrap();
            if let (Some(subject), Some(status)) = (&entry.subject, detail["status"].as_str()) {
                last_status.insert(subject.clone(), status.to_owned());
            }
            let ran = matches!(entry.verb.as_str(), "proposal.executed" | "proposal.failed");
            if ran && !detail["result"]["exit"].is_null() {
                let action = detail["action_id"].as_str().unwrap().to_owned();
                *expected.entry(action).or_default() += 1;
            }
        }
        assert_eq!(
            expected,
            self.lab.effects(),
            "effects outside and on the record"
        );
        for row in rows {
            let recorded = last_status.get(&row.id.to_string()).map(String::as_str);
            assert_eq!(recorded, Some(row.status().as_str()), "{}", row.id);
        }
        let walk = void_control::audit::verify(&self.control).await.unwrap();
        assert_eq!(walk.mismatches.total, 0, "{:?}", walk.mismatches);
        self.whatever_has_an_audience_is_told(&entries).await;
        leaks::assert_not_logged(&self.secrets);
    }

    async fn whatever_has_an_audience_is_told(&self, entries: &[Fact]) {
        let (mut after, mut told) = (0, Vec::new());
        loop {
            let read = self
                .store
                .read(move |tx| Box::pin(events::page_after(tx, after, 1_000)));
            let page = read.await.unwrap();
            told.extend(page.events.iter().map(|event| event.seq));
            match page.read_to {
                Some(read_to) => after = read_to,
                None => break,
            }
        }
        let expected = entries.iter().filter(|entry| entry.audience.is_some());
        let expected: Vec<u64> = expected.map(|entry| entry.seq).collect();
        assert_eq!(told, expected, "every entry with an audience is an event");
    }
}

/// Checked by the program that knows nothing of Void.
pub fn verify_chain(entries: &[Fact], head: &(u64, String)) {
    let lines: String = entries
        .iter()
        .map(|entry| format!("{}\n", entry.export_line()))
        .collect();
    let options = void_verify::Options {
        head: (head.0 > 0).then(|| void_verify::parse_hash(head.1.as_bytes()).unwrap()),
        threads: 1,
    };
    let report = void_verify::verify(lines.as_bytes(), &options).unwrap();
    assert!(report.problems.is_empty(), "{report:?}");
    assert_eq!(report.entries, head.0);
    assert_eq!(report.first_seq.unwrap_or(1), 1);
}

/// What the doctor of these tests has to say.
fn finding(scope: DoctorScope) -> Finding {
    let check = match scope {
        DoctorScope::Everything => "disk",
        DoctorScope::Process => "captures",
    };
    Finding {
        check: check.to_owned(),
        level: "warning".into(),
        message: "it is nearly full".to_owned(),
        next: Some("df -h".to_owned()),
    }
}

/// Queues a risky action as this caller.
pub async fn queue(caller: &Caller, action: &str) -> Value {
    let path = format!("/api/actions/{action}/run");
    let queued = caller.post(&path, json!({"reason": "a test"})).await.ok();
    assert_eq!(queued["queued"], true, "{queued}");
    let id = queued["action_row_id"].as_str().unwrap();
    caller.get(&format!("/api/proposals/{id}")).await.ok()
}

impl Drop for App {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.lab.release();
            self.stop.send_replace(true);
            return;
        }
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                self.end().await;
                if self.looks_back {
                    self.look_back().await;
                }
            });
        });
    }
}

/// Who holds a token.
pub struct Holder {
    pub id: String,
    pub caller: Caller,
}

impl Setup {
    pub async fn start(self) -> App {
        self.try_start().await.unwrap()
    }

    pub async fn try_start(self) -> Result<App, StartError> {
        leaks::listen_to_the_log();
        let store = match &self.engine {
            Engine::Sqlite => {
                let file = self.lab.path().join("void.db");
                // After a restart what the last one had begun may hold it for a moment.
                eventually("the file to be free", || async {
                    let opened = Store::open_sqlite(SqliteConfig::new(file.clone())).await;
                    (!matches!(opened, Err(StoreError::InUse))).then_some(opened)
                })
                .await
            }
            Engine::Postgres(url) => {
                let config = PostgresConfig {
                    url: Secret::new(url.as_str()),
                    ca_file: None,
                };
                Store::open_postgres(config).await
            }
        };
        let store = store.unwrap();
        let catalogue = self.lab.catalogue();
        let config = ControlConfig {
            services: self.services,
            checker: Checker::new(None),
            store: store.clone(),
            channels: Arc::new(self.lab.channels(&catalogue, self.proxmox)),
            catalogue,
            catalogue_commit: Some("0123456789abcdef0123456789abcdef01234567".to_owned()),
            catalogue_source: Some(self.lab.catalogue_source()),
            executor: self.executor,
            rehearsal: false,
            clock: self.clock,
            owner_token: Secret::new(self.owner_token.as_str()),
            limits: self.limits,
            backups_folder: Some(self.lab.path().join("backups")),
            witness_file: self
                .has_witness
                .then(|| self.lab.folder_of(self.instance).join("witness.json")),
            instance: Identity::of_folder(
                &self.lab.folder_of(self.instance),
                self.instance.and_then(InstanceName::parse),
            )
            .unwrap(),
            replace_catalogue: self.replace_catalogue,
        };
        let plane = Plane::start(PlaneConfig {
            control: config,
            bridge: self.bridge,
            notifiers: match self.notifications {
                Some(config) => Notifiers::new(config).unwrap(),
                None => Notifiers::default(),
            },
            embeddings: self.embeddings,
        })
        .await?;
        let control = plane.control().clone();
        let owner_access = plane.owner_access().clone();
        let bound = Bound::to(self.listen).await.unwrap();
        let address = bound.address;
        let talk = Talk::with_processes(control.clone(), self.agents, Some(by_rules()));
        let processes = agent_processes::processes(&control, self.lab.path(), address);
        let router = void_server::router(ServerConfig {
            plane,
            talk: talk.clone(),
            captures: self.captures.build(),
            processes: processes.clone(),
            public_url: self.public_url.map(str::to_owned),
            allowed_hosts: self.allowed_hosts,
            listens_on: address,
            first_steps: FirstSteps {
                actions_file: "/data/actions.json".to_owned(),
                actions_example: "{\"actions\":[]}".to_owned(),
                services_file: "/data/services.json".to_owned(),
                services_example: "{\"services\":[]}".to_owned(),
                commands: vec!["void reload".to_owned()],
                called: "void --data /data".to_owned(),
                program: "void".to_owned(),
                owner_token_file: Some("/data/owner.token".to_owned()),
            },
            doctor: Arc::new(|scope| Box::pin(async move { vec![finding(scope)] })),
        });
        let (stop, stopped) = watch::channel(false);
        let serving = tokio::spawn(void_server::serve(bound, router, stopped));
        let secrets = Arc::new(Secrets::default());
        secrets.add(&self.owner_token);
        let app = App {
            control,
            owner_access,
            talk,
            store,
            address,
            lab: self.lab,
            secrets,
            looks_back: true,
            owner_token: self.owner_token,
            http: crate::callers::client(),
            stop,
            serving: Some(serving),
        };
        if app.store.is_sqlite() {
            // The first start of a day makes a copy; tests that count entries begin after it.
            eventually("the daily copy", || async {
                let made = app.audited("backup.created").await;
                (!made.is_empty()).then_some(())
            })
            .await;
        }
        Ok(app)
    }
}

/// Whoever has a process thinks by rules.
fn by_rules() -> ProcessAgents {
    Arc::new(|name: &AgentName| {
        Arc::new(Agent::of_process(name, "builtin", Arc::new(BuiltinBrain)))
    })
}
