//! What every use case needs: the store, the catalogue, the channels, the clock, and the few things
//! that live in memory.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use void_channels::{CatalogueFile, Channel, Channels, Checker};
use void_domain::budgets::TokenBudgets;
use void_domain::catalogue::{Catalogue, Lockout};
use void_domain::freezes::FreezeSwitch;
use void_domain::limits;
use void_domain::retention::Retention;
use void_domain::secrets::Secret;
use void_domain::services::Services;
use void_store::{Store, StoreError};

use crate::agents::Topology;
use crate::clock::Clock;
use crate::context::Ctx;
use crate::facts::AuditContext;
use crate::notifiers::Notifiers;
use crate::parts::bridge::{Bridge, BridgeConfig};
use crate::parts::drafting::Drafting;
use crate::parts::executing::Executing;
use crate::parts::halted::Halted;
use crate::parts::hashing::Hashing;
use crate::parts::hub::{Hub, Subscription};
use crate::parts::instances::Identity;
use crate::parts::lab::LastSight;
use crate::parts::nodes::StoredNodes;
use crate::parts::readiness::Readiness;
use crate::parts::refusal_counts::RefusalCounts;
use crate::parts::refusals::Refusals;
use crate::parts::row_budgets::RowBudgets;
use crate::parts::sizes::LastSizes;
use crate::parts::stops::OwnerStops;
use crate::parts::waiters::Waiters;
use crate::parts::watch::Watch;
use crate::parts::witness::WitnessNote;
use crate::random;

/// Nobody guesses a token of this many characters; wrong bearer tokens are slowed down while a configured
/// one is shorter.
pub const OWNER_TOKEN_LONG: usize = 32;

/// The bounds that an owner may set.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub open_proposals: u64,
    pub open_proposals_per_agent: u64,
    /// How many safe actions one agent may start in an hour.
    pub safe_runs_per_agent_hour: u32,
    /// How long a claim may take to be sent; after that any instance may ask what became of it.
    pub lease: Duration,
    /// How long after a run its check may take to show that it worked.
    pub verify_within: Duration,
    /// For how long what is over is kept.
    pub retention: Retention,
    /// What one token other than the owner's may use up.
    pub token_budgets: TokenBudgets,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            open_proposals: limits::OPEN_PROPOSALS_MAX,
            open_proposals_per_agent: limits::OPEN_PROPOSALS_PER_AGENT_MAX,
            safe_runs_per_agent_hour: limits::SAFE_RUNS_PER_AGENT_HOUR,
            lease: limits::CLAIM_LEASE,
            verify_within: limits::VERIFY_WITHIN,
            retention: Retention::default(),
            token_budgets: TokenBudgets::default(),
        }
    }
}

/// Where the catalogue was read from, and what was held against it.
#[derive(Debug, Clone)]
pub struct CatalogueSource {
    pub file: CatalogueFile,
    pub lockout: Lockout,
}

pub struct ControlConfig {
    pub store: Store,
    pub catalogue: Catalogue,
    /// The commit that the catalogue's file is at, if it is in a git work tree.
    pub catalogue_commit: Option<String>,
    /// The file that the catalogue is in; without it no change of it can be proposed.
    pub catalogue_source: Option<CatalogueSource>,
    /// What is watched.
    pub services: Services,
    pub checker: Checker,
    pub channels: Arc<Channels>,
    /// What executes; the channels themselves unless a benchmark measures without machines.
    pub executor: Option<Arc<dyn Channel>>,
    /// Whether everything behind this is a simulated lab; shown wherever its state is.
    pub rehearsal: bool,
    pub clock: Clock,
    pub owner_token: Secret,
    pub limits: Limits,
    /// Where the copies of the database go; `None` switches the daily one off.
    pub backups_folder: Option<PathBuf>,
    /// Where the newest audit head is noted outside the database.
    pub witness_file: Option<PathBuf>,
    /// The folder of the file bridge; `None` switches it off.
    pub bridge: Option<BridgeConfig>,
    /// By which ways the owner is told.
    pub notifiers: Notifiers,
    /// Who this is among the instances on the database.
    pub instance: Identity,
    /// Start although another instance has another catalogue.
    pub replace_catalogue: bool,
}

/// Cheap to clone; all clones are the same control plane.
#[derive(Clone)]
pub struct Control(Arc<Parts>);

/// Opaque outside this crate.
pub struct Parts {
    pub(crate) store: Store,
    pub(crate) catalogue: Catalogue,
    pub(crate) catalogue_commit: Option<String>,
    pub(crate) catalogue_source: Option<CatalogueSource>,
    pub(crate) topology: Topology,
    pub(crate) watch: Watch,
    pub(crate) checker: Checker,
    pub(crate) last_sight: LastSight,
    pub(crate) owner_stops: OwnerStops,
    pub(crate) channels: Arc<Channels>,
    pub(crate) executor: Arc<dyn Channel>,
    pub(crate) rehearsal: bool,
    pub(crate) clock: Clock,
    pub(crate) owner_token: void_domain::digests::Digest,
    is_owner_token_short: bool,
    /// Whether any token of the settings is so short that guessing has to be slowed down.
    has_short_token: AtomicBool,
    pub(crate) limits: Limits,
    pub(crate) backups_folder: Option<PathBuf>,
    /// Copies are made one after the other.
    pub(crate) backups_turn: tokio::sync::Mutex<()>,
    pub(crate) witness_file: Option<PathBuf>,
    pub(crate) bridge: Option<Bridge>,
    pub(crate) notifiers: Notifiers,
    pub(crate) freeze_switch: FreezeSwitch,
    pub(crate) hub: Hub,
    pub(crate) waiters: Waiters,
    pub(crate) executing: Executing,
    /// Runs whose check is under way here.
    pub(crate) checking: Executing,
    /// Whether an approved proposal may be waiting here for its target.
    pub(crate) somebody_waits: AtomicBool,
    pub(crate) nodes: StoredNodes,
    /// Turns of whoever hashes a password.
    pub(crate) hashing: Hashing,
    pub(crate) refusals: Refusals,
    pub(crate) wrong_bearers: Refusals,
    pub(crate) readiness: Readiness,
    pub(crate) refusal_counts: RefusalCounts,
    pub(crate) row_budgets: RowBudgets,
    pub(crate) drafting: Drafting,
    pub(crate) last_sizes: LastSizes,
    pub(crate) stopping: watch::Sender<bool>,
    pub(crate) instance: Identity,
    /// What this process is called in the row of its instance.
    pub(crate) process: String,
    /// Another process took over that row.
    pub(crate) displaced: AtomicBool,
    pub(crate) halted: Halted,
    pub(crate) witnessed: WitnessNote,
}

impl std::ops::Deref for Control {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Control {
    /// All parts, before anything of them is at work.
    pub(crate) async fn assemble(config: ControlConfig) -> Result<Self, StoreError> {
        let executor = config
            .executor
            .unwrap_or_else(|| Arc::<Channels>::clone(&config.channels));
        let hub = Hub::new(&config.store).await?;
        let process = random::request_id(config.clock.now())?.to_string();
        Ok(Self(Arc::new(Parts {
            is_owner_token_short: config.owner_token.expose().len() < OWNER_TOKEN_LONG,
            has_short_token: AtomicBool::new(config.owner_token.expose().len() < OWNER_TOKEN_LONG),
            owner_token: void_domain::digests::Digest::of(config.owner_token.expose().as_bytes()),
            store: config.store,
            catalogue: config.catalogue,
            catalogue_commit: config.catalogue_commit,
            catalogue_source: config.catalogue_source,
            topology: Topology::Flat,
            watch: Watch::new(&config.services, config.clock.now()),
            checker: config.checker,
            last_sight: LastSight::default(),
            owner_stops: OwnerStops::default(),
            channels: config.channels,
            executor,
            rehearsal: config.rehearsal,
            clock: config.clock,
            limits: config.limits,
            backups_folder: config.backups_folder,
            backups_turn: tokio::sync::Mutex::default(),
            witness_file: config.witness_file,
            bridge: config.bridge.map(Bridge::new),
            notifiers: config.notifiers,
            freeze_switch: FreezeSwitch::default(),
            hub,
            waiters: Waiters::default(),
            executing: Executing::default(),
            checking: Executing::default(),
            somebody_waits: AtomicBool::new(true),
            nodes: StoredNodes::default(),
            hashing: Hashing::default(),
            refusals: Refusals::default(),
            wrong_bearers: Refusals::default(),
            readiness: Readiness::default(),
            refusal_counts: RefusalCounts::default(),
            row_budgets: RowBudgets::default(),
            drafting: Drafting::default(),
            last_sizes: LastSizes::default(),
            stopping: watch::Sender::new(false),
            instance: config.instance,
            process,
            displaced: AtomicBool::new(false),
            halted: Halted::default(),
            witnessed: WitnessNote::default(),
        })))
    }

    /// Whether the owner's token is so short that guessing it has to be slowed down.
    pub fn is_owner_token_short(&self) -> bool {
        self.is_owner_token_short
    }

    pub fn token_budgets(&self) -> TokenBudgets {
        self.limits.token_budgets
    }

    /// Since the start: refusals that were counted instead of stored, and changes that were held back.
    pub fn held_back(&self) -> (u64, u64) {
        (self.refusal_counts.repeats(), self.row_budgets.held_back())
    }

    /// Whether some bearer token is so short that guessing has to be slowed down.
    pub fn has_short_token(&self) -> bool {
        self.has_short_token.load(Ordering::SeqCst)
    }

    /// A token of the settings beside the owner's; the limit on guessing holds for it too.
    pub(crate) fn knows_configured(&self, token: &Secret) {
        if token.expose().len() < OWNER_TOKEN_LONG {
            self.has_short_token.store(true, Ordering::SeqCst);
        }
    }

    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    pub fn catalogue_commit(&self) -> Option<&str> {
        self.catalogue_commit.as_deref()
    }

    /// Who this is among the instances on the database.
    pub fn instance(&self) -> &Identity {
        &self.instance
    }

    pub fn is_rehearsal(&self) -> bool {
        self.rehearsal
    }

    /// The number of the newest event. Whoever is withdrawn is so with an event, so as long as it stays
    /// the same everybody is who they were.
    pub fn newest_event(&self) -> u64 {
        *self.store.committed().borrow()
    }

    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    pub fn hub(&self) -> &Hub {
        &self.hub
    }

    /// Every event after number `after`, or from now on.
    pub fn subscribe(&self, after: Option<u64>) -> Subscription {
        self.hub.subscribe(&self.store, after)
    }

    /// Becomes true when the server stops; open streams end then.
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    pub(crate) fn context(&self, ctx: &Ctx) -> AuditContext {
        AuditContext {
            actor: ctx.actor.to_string(),
            request_id: ctx.request_id,
            catalogue: Some(self.catalogue.digest()),
            outbox: self.notifiers.outbox(),
        }
    }

    pub(crate) fn system_ctx(&self) -> Result<Ctx, StoreError> {
        Ok(Ctx::system(random::request_id(self.clock.now())?))
    }
}
