//! Services as they may be shown now: what their readings say, and whether the owner stopped what they are on.

use std::time::Duration;

use void_domain::cards::Eyes;
use void_domain::executions::{ActionKind, Execution};
use void_domain::services::{Health, Location, Reading, Service, ServiceId, Standing};
use void_domain::time::Timestamp;
pub use void_store::services::ServiceChange;
use void_store::{StoreError, services};

use crate::control::Control;
use crate::parts::watch::Watched;
use crate::stops;

const HISTORY: Duration = Duration::from_secs(24 * 60 * 60);

const HISTORY_MAX: u32 = 1_000;

/// One service as it may be shown now.
#[derive(Debug, Clone)]
pub struct ServiceView {
    pub service: Service,
    pub standing: Standing,
    pub last: Option<Reading>,
    pub flapping: bool,
    /// When the owner stopped what it is on, if that is why it is down.
    pub stopped_at: Option<Timestamp>,
}

impl ServiceView {
    /// Whether it is down and nobody wanted that.
    pub fn is_worry(&self) -> bool {
        self.standing.health == Health::Down && self.stopped_at.is_none()
    }
}

pub fn list(control: &Control) -> Vec<ServiceView> {
    let watched = control.lab.watch.watched.iter();
    watched.map(|watched| view(control, watched)).collect()
}

/// What a run is looked at with afterwards.
pub fn eyes(control: &Control) -> Eyes {
    let watched = control.lab.watch.watched.iter();
    Eyes {
        services: watched.map(|one| one.service.id.to_string()).collect(),
        has_proxmox: control.runs.channels.probe().has_proxmox(),
    }
}

pub fn find(control: &Control, id: &str) -> Option<ServiceView> {
    let watched = control.lab.watch.get(id)?;
    Some(view(control, watched))
}

/// What tells whether an action is called for: the service that its check looks at, and whatever is known
/// to run on its target.
pub fn about(control: &Control, execution: &Execution) -> Vec<ServiceView> {
    let mut found = list(control);
    found.retain(|view| concerns(execution, &view.service));
    // What it is about comes first.
    found.sort_by_key(|view| !is_checked_by(execution, &view.service));
    found
}

fn is_checked_by(execution: &Execution, service: &Service) -> bool {
    execution.verify.as_deref() == Some(service.id.as_str())
}

/// Whether an action works on a service, or on what it is known to run on.
pub(crate) fn concerns(execution: &Execution, service: &Service) -> bool {
    let is_there = match (&execution.kind, &service.place) {
        (
            ActionKind::GuestPower { power, .. },
            Some(Location::Guest {
                node: at,
                vmid: guest,
            }),
        ) => power.node == *at && power.vmid == *guest,
        (
            ActionKind::ServiceRestart {
                host,
                service: unit,
            },
            Some(Location::Host(at)),
        ) => host.name.as_str() == at && unit == service.id.as_str(),
        (
            ActionKind::OnNode {
                node,
                service: unit,
                ..
            },
            Some(Location::Host(at)),
        ) => node == at && unit == service.id.as_str(),
        _ => false,
    };
    is_there || is_checked_by(execution, service)
}

fn view(control: &Control, watched: &Watched) -> ServiceView {
    let (now, service) = (control.clock.now(), watched.service.clone());
    let stopped_at = stops::of_service(control, &service);
    watched.with(|state| {
        let standing = state.monitor.standing(now, service.fresh_for());
        ServiceView {
            service,
            standing,
            last: state.monitor.last(),
            flapping: state.monitor.is_flapping(now),
            stopped_at: stopped_at.filter(|_| standing.health == Health::Down),
        }
    })
}

/// The changes of one service in the last day, oldest first.
pub async fn history(control: &Control, id: &ServiceId) -> Result<Vec<ServiceChange>, StoreError> {
    let since = control.clock.now().minus(HISTORY);
    let id = id.to_string();
    control
        .store
        .read(move |tx| {
            Box::pin(async move { services::list_since(tx, &id, since, HISTORY_MAX).await })
        })
        .await
}
