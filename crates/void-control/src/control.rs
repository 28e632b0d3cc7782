//! What every use case needs: the store, the catalogue, the channels, the clock, and the few things
//! that live in memory.

use std::any::Any;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock, Weak};

use tokio::sync::watch;
use void_channels::{Channel, Channels, Checker};
use void_domain::budgets::TokenBudgets;
use void_domain::catalogue::Catalogue;
use void_domain::events::EventId;
use void_domain::secrets::Secret;
use void_domain::services::Services;
use void_store::{Newest, Store, StoreError};

use crate::clock::Clock;
use crate::context::Ctx;
use crate::facts::AuditContext;
use crate::outbox::Outbox;
use crate::parts::bounds::{Bounds, Limits};
use crate::parts::change_writers::ChangeWriters;
use crate::parts::derived::Derived;
use crate::parts::drafting::Drafting;
use crate::parts::embeddings::{Embeddings, EmbeddingsConfig};
use crate::parts::halted::FreezeState;
use crate::parts::hub::{Hub, Subscription};
use crate::parts::in_force::{CatalogueSource, InForce};
use crate::parts::instances::Identity;
use crate::parts::lab::{LastSight, WatchedLab};
use crate::parts::listeners::Listeners;
use crate::parts::offers::Offers;
use crate::parts::owner_token::OwnerToken;
use crate::parts::process::Process;
use crate::parts::process_tokens::ProcessTokens;
use crate::parts::refusal_counts::RefusalCounts;
use crate::parts::remembered::Remembered;
use crate::parts::row_budgets::RowBudgets;
use crate::parts::runs::Runs;
use crate::parts::safekeeping::Safekeeping;
use crate::parts::stops::OwnerStops;
use crate::parts::tree::TreePart;
use crate::parts::waiters::Waiters;
use crate::parts::watch::Watch;
use crate::random;

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
    /// Who this is among the instances on the database.
    pub instance: Identity,
    /// Start although another instance has another catalogue.
    pub replace_catalogue: bool,
}

/// What works beside a control plane, as far as its transactions have to know of it. Nothing by default.
#[derive(Debug, Clone, Default)]
pub struct Beside {
    /// Whether a file bridge offers files to foreign executors.
    pub bridge: bool,
    /// Where what happens is told.
    pub outbox: Outbox,
    /// Where vectors for the search come from.
    pub embeddings: EmbeddingsConfig,
}

/// Cheap to clone; all clones are the same control plane.
#[derive(Clone)]
pub struct Control(Arc<Parts>);

/// For what a control plane itself holds: it is no reason to stay.
#[derive(Clone)]
pub(crate) struct WeakControl(Weak<Parts>);

impl WeakControl {
    pub(crate) fn upgrade(&self) -> Option<Control> {
        self.0.upgrade().map(Control)
    }
}

/// Opaque outside this crate. A use case asks for the part that it needs by its name.
pub struct Parts {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) in_force: InForce,
    pub(crate) lab: WatchedLab,
    pub(crate) runs: Runs,
    pub(crate) freeze: FreezeState,
    pub(crate) listeners: Listeners,
    pub(crate) bounds: Bounds,
    pub(crate) owner_token: OwnerToken,
    pub(crate) process: Process,
    pub(crate) process_tokens: ProcessTokens,
    pub(crate) safekeeping: Safekeeping,
    pub(crate) remembered: Remembered,
    pub(crate) derived: Derived,
    /// `None`: off.
    pub(crate) embeddings: Option<Arc<Embeddings>>,
}

impl std::ops::Deref for Control {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Control {
    /// All parts, before anything of them is at work.
    pub(crate) async fn assemble(
        config: ControlConfig,
        beside: Beside,
    ) -> Result<Self, StoreError> {
        let hub = Hub::new(&config.store).await?;
        let mark = random::request_id(config.clock.now())?.to_string();
        Ok(Self(Arc::new(Parts {
            in_force: InForce {
                catalogue: config.catalogue,
                catalogue_commit: config.catalogue_commit,
                catalogue_source: config.catalogue_source,
                tree: TreePart::default(),
                change_writers: ChangeWriters::default(),
                residents: OnceLock::new(),
            },
            lab: WatchedLab {
                watch: Watch::new(&config.services, config.clock.now()),
                checker: config.checker,
                last_sight: LastSight::default(),
                owner_stops: OwnerStops::default(),
                is_rehearsal: config.rehearsal,
            },
            runs: Runs::new(config.channels, config.executor, Offers::new(beside.bridge)),
            freeze: FreezeState::default(),
            listeners: Listeners {
                hub,
                waiters: Waiters::default(),
                outbox: beside.outbox,
            },
            bounds: Bounds {
                limits: config.limits,
                refusal_counts: RefusalCounts::default(),
                row_budgets: RowBudgets::default(),
                drafting: Drafting::default(),
            },
            owner_token: OwnerToken::new(&config.owner_token),
            process: Process::new(config.instance, mark),
            process_tokens: ProcessTokens::default(),
            safekeeping: Safekeeping::new(config.backups_folder, config.witness_file),
            remembered: Remembered::default(),
            derived: Derived::default(),
            embeddings: Embeddings::new(beside.embeddings).map(Arc::new),
            store: config.store,
            clock: config.clock,
        })))
    }

    pub(crate) fn downgrade(&self) -> WeakControl {
        WeakControl(Arc::downgrade(&self.0))
    }

    /// Whether the owner's token is so short that guessing it has to be slowed down.
    pub fn is_owner_token_short(&self) -> bool {
        self.owner_token.is_short
    }

    pub fn token_budgets(&self) -> TokenBudgets {
        self.bounds.limits.token_budgets
    }

    /// Since the start: refusals that were counted instead of stored, and changes that were held back.
    pub fn held_back(&self) -> (u64, u64) {
        (
            self.bounds.refusal_counts.repeats(),
            self.bounds.row_budgets.held_back(),
        )
    }

    /// Whether some bearer token is so short that guessing has to be slowed down.
    pub fn has_short_token(&self) -> bool {
        self.owner_token.is_any_short()
    }

    /// A token of the settings beside the owner's; the limit on guessing holds for it too.
    pub(crate) fn knows_configured(&self, token: &Secret) {
        self.owner_token.note_other(token);
    }

    pub fn catalogue(&self) -> &Catalogue {
        &self.in_force.catalogue
    }

    /// What others make of the catalogue and of what else is in force, made when it is first asked for. `make` asks
    /// for nothing that is derived.
    pub fn derived<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        self.derived.get(make)
    }

    pub fn catalogue_commit(&self) -> Option<&str> {
        self.in_force.catalogue_commit.as_deref()
    }

    /// Who this is among the instances on the database.
    pub fn instance(&self) -> &Identity {
        &self.process.instance
    }

    pub fn is_rehearsal(&self) -> bool {
        self.lab.is_rehearsal
    }

    /// The newest entry of the record. Whoever is withdrawn is so with an entry, so as long as it stays the same
    /// everybody is who they were.
    pub fn newest_entry(&self) -> Newest {
        *self.store.committed().borrow()
    }

    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    pub fn hub(&self) -> &Hub {
        &self.listeners.hub
    }

    /// Every event after `after`, or from now on.
    pub fn subscribe(&self, after: Option<EventId>) -> Subscription {
        self.listeners.hub.subscribe(&self.store, after)
    }

    /// Becomes true when the server stops; open streams end then.
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.process.stopping.subscribe()
    }

    pub fn is_stopping(&self) -> bool {
        *self.process.stopping.borrow()
    }

    /// The tables. Whoever writes to them writes what they did to the record in the same transaction.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Where what happens is told.
    pub fn outbox(&self) -> &Outbox {
        &self.listeners.outbox
    }

    /// Until something was approved that the file bridge has to offer.
    pub async fn wait_for_offer(&self) {
        self.runs.offers.woken().await;
    }

    /// In whose name a use case writes to the record.
    pub fn context(&self, ctx: &Ctx) -> AuditContext {
        AuditContext {
            actor: ctx.actor.to_string(),
            request_id: ctx.request_id,
            catalogue: Some(self.in_force.catalogue.digest()),
            outbox: self.listeners.outbox.clone(),
        }
    }

    /// For what Void does by itself.
    pub fn system_ctx(&self) -> Result<Ctx, StoreError> {
        Ok(Ctx::system(random::request_id(self.clock.now())?))
    }
}
