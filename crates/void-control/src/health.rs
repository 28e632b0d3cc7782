//! Watches services: one task each, which sleeps nearly always. What a service said is kept as typed
//! readings in memory; only changes that are believed are written, with their event.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use tokio::sync::Semaphore;
use void_channels::GuestStatus;
use void_domain::events::{Audience, EventKind, NewEvent};
use void_domain::executions::{ActionKind, Execution};
use void_domain::services::{
    Bad, Check, CheckResult, Health, Location, Monitor, Reading, Service, ServiceId, Services,
    Standing, Unreadable,
};
use void_domain::time::Timestamp;
pub use void_store::services::ServiceChange;
use void_store::{StoreError, events, services};

use crate::control::Control;
use crate::{alerts, lab, random, stops};

/// Looks that are under way at the same time, so that a thousand dead services hold no thousand sockets.
/// Guests take no place: they are read together, over one connection.
const AT_ONCE: usize = 64;
/// The first looks are spread by this much per service.
const FIRST_SPREAD: Duration = Duration::from_millis(2);
/// A reading that disagrees with what is shown is looked at again after this, unless the service flaps.
const IN_DOUBT: Duration = Duration::from_secs(2);
/// Guests are read together; what is this old still counts as now. Proxmox' own list may lag behind
/// by some seconds more, so a check after a run asks for the guest itself.
const GUESTS_AGE_MAX: Duration = Duration::from_secs(5);
/// How long changes are kept, and how many of them one question answers with.
const KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const HISTORY: Duration = Duration::from_secs(24 * 60 * 60);
const HISTORY_MAX: u32 = 1_000;

pub(crate) struct Watch {
    watched: Vec<Watched>,
    places: Semaphore,
}

struct Watched {
    service: Service,
    state: Mutex<ServiceWatch>,
    /// Readings are taken in and recorded one after the other.
    turn: tokio::sync::Mutex<()>,
}

struct ServiceWatch {
    monitor: Monitor,
    /// What the table says last, as far as we know.
    recorded: Option<Health>,
}

impl Watch {
    pub(crate) fn new(services: &Services, at: Timestamp) -> Self {
        let watched = services.iter().map(|service| Watched {
            service: service.clone(),
            state: Mutex::new(ServiceWatch {
                monitor: Monitor::new(at),
                recorded: None,
            }),
            turn: tokio::sync::Mutex::default(),
        });
        Self {
            watched: watched.collect(),
            places: Semaphore::new(AT_ONCE),
        }
    }

    fn get(&self, id: &str) -> Option<&Watched> {
        let mut all = self.watched.iter();
        all.find(|watched| watched.service.id.as_str() == id)
    }
}

impl Watched {
    fn with<T>(&self, look: impl FnOnce(&mut ServiceWatch) -> T) -> T {
        look(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// From one look to the next. A service that flaps is not looked at more often for it.
    fn pause(&self, now: Timestamp) -> Duration {
        let interval = self.service.interval;
        self.with(|state| {
            if state.monitor.is_in_doubt() && !state.monitor.is_flapping(now) {
                interval.min(IN_DOUBT)
            } else {
                interval
            }
        })
    }
}

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
    let watched = control.watch.watched.iter();
    watched.map(|watched| view(control, watched)).collect()
}

/// What is watched, without how it is.
pub(crate) fn services(control: &Control) -> Vec<Service> {
    let watched = control.watch.watched.iter();
    watched.map(|watched| watched.service.clone()).collect()
}

pub(crate) fn is_watched(control: &Control, id: &ServiceId) -> bool {
    control.watch.get(id.as_str()).is_some()
}

pub fn find(control: &Control, id: &str) -> Option<ServiceView> {
    let watched = control.watch.get(id)?;
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

pub(crate) async fn forget_old(control: &Control) -> Result<u64, StoreError> {
    let before = control.clock.now().minus(KEPT_FOR);
    control
        .store
        .write(move |tx| Box::pin(services::prune(tx, before)))
        .await
}

pub(crate) fn start(control: &Control) {
    for index in 0..control.watch.watched.len() {
        let control = control.clone();
        tokio::spawn(async move {
            let mut stopping = control.stopping.subscribe();
            tokio::select! {
                () = watch(&control, index) => {}
                _ = stopping.wait_for(|stop| *stop) => {}
            }
        });
    }
}

async fn watch(control: &Control, index: usize) {
    let Some(watched) = control.watch.watched.get(index) else {
        return;
    };
    let count = u32::try_from(control.watch.watched.len()).unwrap_or(u32::MAX);
    let spread = (FIRST_SPREAD * count).min(watched.service.interval);
    tokio::time::sleep(spread.mul_f64(fraction())).await;
    resume(control, watched).await;
    loop {
        look_once(control, watched).await;
        let pause = watched.pause(control.clock.now());
        tokio::time::sleep(pause.mul_f64(0.9 + 0.2 * fraction())).await;
    }
}

/// Begins with what was known before a restart, so that one hiccup after it changes nothing and *since*
/// is since the last change.
async fn resume(control: &Control, watched: &Watched) {
    let _turn = watched.turn.lock().await;
    if watched.with(|state| state.monitor.last().is_some()) {
        return;
    }
    let id = watched.service.id.to_string();
    let read = control
        .store
        .read(move |tx| Box::pin(async move { services::last(tx, &id).await }));
    match read.await {
        Ok(Some(last)) => {
            let since = last.at.min(control.clock.now());
            watched.with(|state| {
                state.monitor = Monitor::resume(last.to, since);
                state.recorded = Some(last.to);
            });
            if last.to == Health::Down
                && let Err(error) =
                    alerts::catch_up(control, &watched.service, since, last.reason).await
            {
                tracing::warn!(%error, service = %watched.service.id, "that it is down could not be noted for telling");
            }
        }
        Ok(None) => {}
        Err(error) => {
            tracing::warn!(%error, service = %watched.service.id, "its last change could not be read");
        }
    }
}

async fn look_once(control: &Control, watched: &Watched) {
    // Half a pause ago is after the last look: one sight of the guests is never two readings.
    let age_max = GUESTS_AGE_MAX.min(watched.pause(control.clock.now()) / 2);
    let answer = ask(control, &watched.service, age_max).await;
    take_in(control, watched, answer).await;
}

/// One look at a service beside its turn, for whoever needs to know now. It counts like any other.
pub(crate) async fn look_now(control: &Control, service: &Service) -> CheckResult {
    let answer = match guest_of(service) {
        Some(vmid) => {
            let probe = control.channels.probe();
            probe.guest_check(vmid, service.timeout).await
        }
        None => connect(control, service).await,
    };
    if let Some(watched) = control.watch.get(service.id.as_str()) {
        take_in(control, watched, answer).await;
    }
    answer
}

async fn take_in(control: &Control, watched: &Watched, answer: CheckResult) {
    let _turn = watched.turn.lock().await;
    let reading = Reading {
        at: control.clock.now(),
        answer,
    };
    let (recorded, shown) = watched.with(|state| {
        state.monitor.observe(reading);
        (state.recorded, state.monitor.shown())
    });
    if recorded != Some(shown) {
        match record(control, &watched.service, recorded, shown, reading).await {
            Ok(()) => watched.with(|state| state.recorded = Some(shown)),
            Err(error) => {
                tracing::warn!(%error, service = %watched.service.id, "a change could not be recorded; it is tried again");
            }
        }
    }
}

async fn ask(control: &Control, service: &Service, guests_age_max: Duration) -> CheckResult {
    let Some(vmid) = guest_of(service) else {
        // The semaphore is never closed.
        let _place = control.watch.places.acquire().await;
        return connect(control, service).await;
    };
    let sight = tokio::time::timeout(service.timeout, lab::look(control, guests_age_max));
    let Ok(Ok(lab)) = sight.await.map(|sight| sight.lab) else {
        return UNREADABLE;
    };
    match lab.guest(vmid).map(|guest| guest.state.status) {
        Some(GuestStatus::Running) => CheckResult::Good {
            latency_ms: 0,
            code: None,
        },
        Some(GuestStatus::Stopped | GuestStatus::Other) => CheckResult::Bad {
            reason: Bad::Stopped,
            code: None,
        },
        Some(GuestStatus::Unknown) | None => UNREADABLE,
    }
}

const UNREADABLE: CheckResult = CheckResult::None {
    reason: Unreadable::Proxmox,
};

const fn guest_of(service: &Service) -> Option<u32> {
    match (&service.check, &service.place) {
        (Check::Guest, Some(Location::Guest { vmid, .. })) => Some(*vmid),
        _ => None,
    }
}

async fn connect(control: &Control, service: &Service) -> CheckResult {
    let answer = control.checker.check(service).await;
    answer.unwrap_or(UNREADABLE)
}

/// Writes a change unless the table says it already: after a restart, or because another instance saw
/// it first. `known` is what it was as far as we know, for when the table has forgotten.
async fn record(
    control: &Control,
    service: &Service,
    known: Option<Health>,
    to: Health,
    reading: Reading,
) -> Result<(), StoreError> {
    let (this, service) = (control.clone(), service.clone());
    let (id, label) = (service.id.to_string(), service.label.clone());
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let last = services::last(tx, &id).await?;
                let from = last.as_ref().map(|last| last.to).or(known);
                let from = from.unwrap_or(Health::Unknown);
                if from == to {
                    return Ok(());
                }
                // The table is ordered by time, and time may stand still between two instances.
                let after = last.map(|last| last.at.plus(Duration::from_millis(1)));
                let at = after.map_or(reading.at, |after| after.max(reading.at));
                let change = ServiceChange {
                    service_id: id.clone(),
                    at,
                    from,
                    to,
                    reason: reading.answer.reason().map(str::to_owned),
                };
                services::append(tx, &change).await?;
                let event = NewEvent {
                    kind: EventKind::ServiceChanged,
                    audience: Audience::Everyone,
                    payload: json!({
                        "id": id,
                        "label": label,
                        "from": from.as_str(),
                        "status": to.as_str(),
                        "at": at,
                        "detail": reading.answer,
                    }),
                };
                events::append(tx, at, &event).await?;
                let reason = change.reason.as_deref();
                alerts::follow(tx, &this, &service, to, at, reason).await
            })
        })
        .await
}

/// From 0 to 1; the middle where the system gives no random bytes, which spreads nothing and hurts nobody.
fn fraction() -> f64 {
    random::bytes::<4>().map_or(0.5, |bytes| {
        f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX)
    })
}
