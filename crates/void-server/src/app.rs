//! The application: what handlers share.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::Semaphore;
use void_access::OwnerAccess;
use void_agent::turns::Talk;
use void_bridge::Bridge;
use void_capture::Captures;
use void_control::Control;
use void_control::agent_processes::AgentProcesses;
use void_notify::Notifications;

use crate::budgets::Budgets;
use crate::doctor::Doctor;
use crate::fence::Fence;
use crate::first_steps::FirstSteps;
use crate::metrics::Metrics;
use crate::plane::Plane;
use crate::rate_limits::RateLimits;
use crate::seen_sessions::SeenSessions;
use crate::uploads::UPLOADS_AT_ONCE_MAX;

/// Imports and exports whose requests are read at a time: each may have `VAULT_REQUEST_BYTES_MAX`.
const VAULT_REQUESTS_AT_ONCE_MAX: usize = 4;

pub struct ServerConfig {
    pub plane: Plane,
    pub talk: Talk,
    /// What fetches pages of the web and reads foreign bytes.
    pub captures: Captures,
    /// The processes of agents that have one.
    pub processes: AgentProcesses,
    /// `https://void.example.org`, if the owner reaches Void by a name of their own.
    pub public_url: Option<String>,
    /// Further names by which Void may be addressed.
    pub allowed_hosts: Vec<String>,
    /// What the listener is bound to.
    pub listens_on: SocketAddr,
    pub first_steps: FirstSteps,
    pub doctor: Doctor,
}

#[derive(Clone)]
pub struct App(Arc<Shared>);

pub(crate) struct Shared {
    plane: Plane,
    pub talk: Talk,
    pub captures: Captures,
    pub processes: AgentProcesses,
    /// Held by whoever sends a file: each is in memory until it is stored.
    pub uploads: Semaphore,
    pub public_url: Option<String>,
    pub listens_on: SocketAddr,
    pub first_steps: FirstSteps,
    pub fence: Fence,
    pub doctor: Doctor,
    /// Held while the record is walked.
    pub walks: tokio::sync::Mutex<()>,
    /// Held while the doctor looks. One of its own: the doctor has the record walked.
    pub looks: tokio::sync::Mutex<()>,
    /// The places of large requests.
    pub vault_requests: Arc<Semaphore>,
    pub rate_limits: RateLimits,
    pub budgets: Budgets,
    pub seen_sessions: SeenSessions,
    pub metrics: Metrics,
}

impl App {
    /// What handlers share.
    pub(crate) fn new(config: ServerConfig) -> Self {
        let control = config.plane.control();
        let metrics = Metrics::start(control);
        let token_budgets = control.token_budgets();
        Self(Arc::new(Shared {
            plane: config.plane,
            talk: config.talk,
            captures: config.captures,
            processes: config.processes,
            uploads: Semaphore::new(UPLOADS_AT_ONCE_MAX),
            fence: Fence::new(config.public_url.as_deref(), &config.allowed_hosts),
            doctor: config.doctor,
            walks: tokio::sync::Mutex::default(),
            looks: tokio::sync::Mutex::default(),
            vault_requests: Arc::new(Semaphore::new(VAULT_REQUESTS_AT_ONCE_MAX)),
            rate_limits: RateLimits::default(),
            budgets: Budgets::new(token_budgets, metrics.held_back()),
            seen_sessions: SeenSessions::default(),
            public_url: config.public_url,
            listens_on: config.listens_on,
            first_steps: config.first_steps,
            metrics,
        }))
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0
    }

    pub(crate) fn control(&self) -> &Control {
        self.0.plane.control()
    }

    pub(crate) fn owner_access(&self) -> &OwnerAccess {
        self.0.plane.owner_access()
    }

    /// `None` if it is switched off.
    pub(crate) fn bridge(&self) -> Option<&Bridge> {
        self.0.plane.bridge()
    }

    pub(crate) fn notifications(&self) -> &Notifications {
        self.0.plane.notifications()
    }

    pub(crate) fn captures(&self) -> &Captures {
        &self.0.captures
    }

    pub(crate) fn processes(&self) -> &AgentProcesses {
        &self.0.processes
    }

    pub(crate) fn talk(&self) -> &Talk {
        &self.0.talk
    }
}
