//! A control plane that a test starts, crashes and starts again on the same database and machine.
//!
//! It lives in a runtime of its own. A crash drops that runtime: every task of the control plane ends where it
//! stands, its database connections close, and what the machine has begun goes on.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;
use void_channels::{CatalogueFile, Checker};
use void_control::instances::Identity;
use void_control::{Beside, CatalogueSource, Clock, Control, ControlConfig, Limits};
use void_domain::catalogue::Lockout;
use void_domain::instances::InstanceName;
use void_domain::proposals::Status;
use void_domain::secrets::Secret;
use void_domain::services::Services;
use void_domain::time::Timestamp;
use void_store::{PostgresConfig, SqliteConfig, Store, StoreError};
use void_testkit::{eventually, postgres_run};

use crate::links::{Link, LinkedChannels, Network};
use crate::machines::{CATALOGUE, Machine, parse};

const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub enum Engine {
    Sqlite,
    /// The address of a database.
    Postgres(String),
}

pub struct Plane {
    pub engine: Engine,
    pub machine: Machine,
    pub link: Arc<Link>,
    pub clock: Clock,
    /// In force from the next start on, like the catalogue and the services.
    pub limits: Limits,
    pub catalogue: String,
    pub services: String,
    /// Where the catalogue is read from instead, at every start.
    pub catalogue_file: Option<PathBuf>,
    /// What it is called among those on one database.
    pub instance: Option<InstanceName>,
    /// What it is told to work beside, from the next start on.
    pub beside: Beside,
    /// How many rows say something else than the record at the end, because the story edited them.
    pub edited: u64,
    running: Option<Running>,
}

struct Running {
    runtime: Runtime,
    control: Control,
    store: Store,
}

impl Plane {
    pub fn new(engine: Engine) -> Self {
        let plane = Self {
            engine,
            machine: Machine::new(),
            link: Link::new(),
            clock: Clock::manual(Clock::system().now()),
            limits: Limits::default(),
            catalogue: CATALOGUE.to_owned(),
            services: r#"{"services": []}"#.to_owned(),
            catalogue_file: None,
            instance: None,
            beside: Beside::default(),
            edited: 0,
            running: None,
        };
        plane.machine.set_time(plane.clock.now());
        plane
    }

    pub async fn start(&mut self) {
        assert!(self.running.is_none(), "it runs already");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let (engine, file) = (self.engine.clone(), self.machine.path().join("void.db"));
        let store = runtime.spawn(open(engine, file)).await.unwrap();
        let config = self.config(store.clone());
        let control = runtime
            .spawn(Control::start(config, self.beside.clone()))
            .await
            .unwrap();
        self.running = Some(Running {
            runtime,
            control: control.unwrap(),
            store,
        });
    }

    fn config(&self, store: Store) -> ControlConfig {
        let file = self.catalogue_file.as_ref();
        let text = file.map(|file| std::fs::read_to_string(file).unwrap());
        let catalogue = parse(text.as_ref().unwrap_or(&self.catalogue));
        let catalogue_source = file.map(|file| CatalogueSource {
            file: CatalogueFile::new(file.clone(), text),
            lockout: Lockout::default(),
        });
        let channels = Arc::new(self.machine.channels(&catalogue));
        let linked = LinkedChannels {
            link: Arc::clone(&self.link),
            channels: Arc::clone(&channels),
        };
        ControlConfig {
            store,
            catalogue,
            catalogue_commit: None,
            catalogue_source,
            services: Services::parse(&self.services).unwrap(),
            checker: Checker::new(None),
            channels,
            executor: Some(Arc::new(linked)),
            rehearsal: false,
            clock: self.clock.clone(),
            owner_token: Secret::new("owner-0123456789abcdef0123456789abcdef"),
            limits: self.limits,
            backups_folder: None,
            witness_file: None,
            instance: Identity::of_folder(self.machine.path(), self.instance.clone()).unwrap(),
            replace_catalogue: false,
        }
    }

    /// Every task ends where it stands, and nothing is tidied up.
    pub fn crash(&mut self) {
        self.running.take().unwrap().runtime.shutdown_background();
    }

    /// The next start sweeps, and asks about what is unknown, at once.
    pub async fn crash_and_start(&mut self) {
        self.crash();
        self.start().await;
    }

    /// As the binary does it when it is told to stop.
    pub async fn stop(&mut self) {
        self.ask_to_stop().await;
        self.crash();
    }

    /// Stops starting things, and waits for what runs.
    pub async fn ask_to_stop(&self) {
        self.inside(async |control, _| control.stop(PATIENCE).await)
            .await;
    }

    pub async fn is_stopping(&self) {
        let mut stopping = self.running.as_ref().unwrap().control.stopping();
        stopping.wait_for(|stops| *stops).await.unwrap();
    }

    /// Runs in the control plane's own runtime, so that what it leaves behind dies in a crash.
    pub async fn inside<T, F, Fut>(&self, work: F) -> T
    where
        T: Send + 'static,
        F: FnOnce(Control, Store) -> Fut,
        Fut: Future<Output = T> + Send + 'static,
    {
        let running = self.running.as_ref().unwrap();
        let work = work(running.control.clone(), running.store.clone());
        running.runtime.spawn(work).await.unwrap()
    }

    /// Runs SQL behind the control plane's back.
    pub fn edit(&self, sql: &str) {
        match &self.engine {
            Engine::Sqlite => {
                let file = self.machine.path().join("void.db");
                let file = rusqlite::Connection::open(file).unwrap();
                file.execute_batch(sql).unwrap();
            }
            Engine::Postgres(url) => {
                let (url, sql) = (url.clone(), sql.to_owned());
                let run = std::thread::spawn(move || postgres_run(&url, &sql));
                run.join().unwrap();
            }
        }
    }

    /// Time passes here and on the machine.
    pub fn pass(&self, duration: Duration) {
        self.go_to(self.clock.now().plus(duration));
    }

    pub fn go_to(&self, at: Timestamp) {
        // First the machine: a ticket is never of its future.
        self.machine.set_time(at);
        self.clock.set(at);
    }

    /// After the story: what runs ends, the control plane stops, and the record is looked at.
    pub async fn end(&mut self) {
        self.machine.release();
        self.link.set(Network::Up);
        eventually("runs to end", || async {
            let running = self.count(Status::Running).await;
            (running == 0).then_some(())
        })
        .await;
        self.ask_to_stop().await;
        self.look_back().await;
        self.crash();
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        self.machine.release();
        if let Some(running) = self.running.take() {
            running.runtime.shutdown_background();
        }
    }
}

async fn open(engine: Engine, file: PathBuf) -> Store {
    let opened = match engine {
        Engine::Sqlite => {
            // After a crash the last tasks may hold the file for a moment.
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
    opened.unwrap()
}
