//! Watches services: one task each, which sleeps nearly always. What a service said is kept as typed
//! readings in memory; only changes that are believed are written, with their event.

use std::time::Duration;

use serde_json::json;
use void_channels::GuestStatus;
use void_domain::events::{Audience, EventKind, NewEvent};
use void_domain::services::{
    Bad, Check, CheckResult, Health, Location, Monitor, Reading, Service, Unreadable,
};
use void_store::{StoreError, events, services};

use crate::control::Control;
use crate::parts::watch::Watched;
pub use crate::service_views::{ServiceChange, ServiceView, about, eyes, find, history, list};
use crate::{alerts, lab, random};

/// The first looks are spread by this much per service.
const FIRST_SPREAD: Duration = Duration::from_millis(2);
/// Guests are read together; what is this old still counts as now. Proxmox' own list may lag behind
/// by some seconds more, so a check after a run asks for the guest itself.
const GUESTS_AGE_MAX: Duration = Duration::from_secs(5);
/// How long changes are kept, and how many of them one question answers with.
const KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);

pub(crate) async fn forget_old(control: &Control) -> Result<u64, StoreError> {
    let before = control.clock.now().minus(KEPT_FOR);
    control
        .store
        .write(move |tx| Box::pin(services::prune(tx, before)))
        .await
}

pub(crate) fn start(control: &Control) {
    for index in 0..control.lab.watch.watched.len() {
        let control = control.clone();
        tokio::spawn(async move {
            let mut stopping = control.process.stopping.subscribe();
            tokio::select! {
                () = watch(&control, index) => {}
                _ = stopping.wait_for(|stop| *stop) => {}
            }
        });
    }
}

async fn watch(control: &Control, index: usize) {
    let Some(watched) = control.lab.watch.watched.get(index) else {
        return;
    };
    let count = u32::try_from(control.lab.watch.watched.len()).unwrap_or(u32::MAX);
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
            let probe = control.runs.channels.probe();
            probe.guest_check(vmid, service.timeout).await
        }
        None => connect(control, service).await,
    };
    if let Some(watched) = control.lab.watch.get(service.id.as_str()) {
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
        let _place = control.lab.watch.places.acquire().await;
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
    let answer = control.lab.checker.check(service).await;
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
