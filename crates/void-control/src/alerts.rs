//! Tells the owner what is believed down. Whoever records a change of a service notes the outage with it, and
//! if nothing speaks against it the message too, in the same transaction. What was silent for a reason (the
//! owner stopped it, a run is under way, it is muted) is looked at again by the sweep until it is up or told.

mod agents;
mod silence;

use void_domain::alerts::{Alert, Ended, LastAlert, STAYS_DOWN_FOR, Scope, Telling, telling};
use void_domain::ids::AlertId;
use void_domain::mutes::{Mute, host_of};
use void_domain::services::{Health, Service, ServiceId};
use void_domain::time::Timestamp;
use void_store::alerts::{self, NewAlerted, Outage};
use void_store::{StoreError, Tx, mutes as stored_mutes, notifications};

use crate::control::Control;
use crate::outbox;
use crate::service_views::{self, ServiceView};
use crate::{mutes, random};

pub(crate) use self::agents::{AgentHealth, follow_agent};
use self::silence::Silences;

/// A service is believed to have changed; in the transaction that records it.
pub(crate) async fn follow(
    tx: &mut Tx,
    control: &Control,
    service: &Service,
    to: Health,
    at: Timestamp,
    reason: Option<&str>,
) -> Result<(), StoreError> {
    // A change may be dated a moment later, so that changes are in order; what is told is told now.
    let now = control.clock.now();
    match to {
        // Nobody knows, so nobody is told: neither that it is down nor that it is up again.
        Health::Unknown => Ok(()),
        Health::Up => end(tx, &service.id, Ended::Up(at), now).await,
        Health::Down => {
            alerts::begin_outage(tx, &service.id, at, reason).await?;
            let outage = alerts::find_outage(tx, &service.id).await?;
            let Some(outage) = outage.filter(|outage| outage.alert.is_none()) else {
                return Ok(());
            };
            let silences = Silences::load(tx, control, now).await?;
            if silences.hold(control, service) {
                return Ok(());
            }
            let last = alerts::last_of(tx, &service.id).await?;
            tell(tx, control, &Troubled::of(service), &outage, last, now).await
        }
    }
}

/// What is down, as it is told.
struct Troubled {
    id: ServiceId,
    label: String,
    host: Option<String>,
    urgent: bool,
    scope: Scope,
}

impl Troubled {
    fn of(service: &Service) -> Self {
        Self {
            id: service.id.clone(),
            label: service.label.clone(),
            host: host_of(service).map(str::to_owned),
            urgent: service.urgent,
            scope: Scope::of(service),
        }
    }
}

async fn end(
    tx: &mut Tx,
    service: &ServiceId,
    ended: Ended,
    now: Timestamp,
) -> Result<(), StoreError> {
    let outage = alerts::end_outage(tx, service, ended).await?;
    if let Some(alert) = outage.and_then(|outage| outage.alert) {
        notifications::alerts::changed(tx, alert, now).await?;
    }
    Ok(())
}

/// Puts a service that is down where it is told. `last` is the alert that it may go on with.
async fn tell(
    tx: &mut Tx,
    control: &Control,
    told: &Troubled,
    outage: &Outage,
    last: Option<LastAlert>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let scope = told.scope.clone();
    let open = alerts::open_alerts(tx, &scope).await?;
    let telling = telling(scope, outage.down_at, last, &open, now);
    let id = match &telling {
        Telling::Reopen(id) | Telling::Join(id) => *id,
        Telling::Open(scope) => {
            let id = random::alert_id(now)?;
            alerts::open(tx, id, scope, now).await?;
            id
        }
    };
    let new = NewAlerted {
        service: told.id.clone(),
        label: told.label.clone(),
        host: told.host.clone(),
        urgent: told.urgent,
        down_at: outage.down_at,
        reason: outage.reason.clone(),
    };
    let before = alerts::find(tx, id).await?;
    let was_urgent = before.is_some_and(|alert| alert.is_urgent());
    alerts::add(tx, id, &new).await?;
    if matches!(telling, Telling::Reopen(_)) {
        alerts::note_again(tx, id, now).await?;
    }
    let outbox = control.listeners.outbox.clone();
    outbox::note_alert(tx, &outbox, id, told.urgent, now).await?;
    if told.urgent && !was_urgent && matches!(telling, Telling::Join(_)) {
        outbox::raise_alert(tx, &outbox, id, now).await?;
    }
    Ok(())
}

/// What is down since before somebody looked: told as soon as a look confirms it.
pub(crate) async fn catch_up(
    control: &Control,
    service: &Service,
    at: Timestamp,
    reason: Option<String>,
) -> Result<(), StoreError> {
    let id = service.id.clone();
    let known = control
        .store
        .read(move |tx| Box::pin(async move { alerts::find_outage(tx, &id).await }))
        .await?;
    if known.is_some() {
        return Ok(());
    }
    let id = service.id.clone();
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                alerts::begin_outage(tx, &id, at, reason.as_deref()).await?;
                Ok(())
            })
        })
        .await
}

/// What is no longer watched is not down any more: nobody knows how it is.
pub(crate) async fn forget_unwatched(control: &Control) -> Result<(), StoreError> {
    let (this, now) = (control.clone(), control.clock.now());
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                for outage in alerts::list_outages(tx).await? {
                    let is_agents = outage.service.is_of_agent();
                    if !is_agents && !this.lab.watch.is_watched(&outage.service) {
                        end(tx, &outage.service, Ended::Unwatched(now), now).await?;
                    }
                }
                Ok(())
            })
        })
        .await
}

/// What was told and is down by the owner's will since: the message says so, and is over.
async fn told_and_stopped(
    tx: &mut Tx,
    control: &Control,
) -> Result<Vec<(ServiceId, Timestamp)>, StoreError> {
    let mut told = Vec::new();
    for view in service_views::list(control) {
        if let Some(at) = view.stopped_at {
            let outage = alerts::find_outage(tx, &view.service.id).await?;
            let is_told = outage.is_some_and(|outage| outage.alert.is_some());
            told.extend(is_told.then_some((view.service.id, at)));
        }
    }
    Ok(told)
}

/// Tells what is due: what the owner stopped, what was silent and is no more, what was muted, and what flapped
/// and stays down.
pub(crate) async fn sweep(control: &Control) -> Result<(), StoreError> {
    let (this, now) = (control.clone(), control.clock.now());
    let is_due = control
        .store
        .read(move |tx| Box::pin(async move { is_due(tx, &this, now).await }));
    if !is_due.await? {
        return Ok(());
    }
    let this = control.clone();
    let context = control.context(&control.system_ctx()?);
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                for (service, at) in told_and_stopped(tx, &this).await? {
                    end(tx, &service, Ended::Stopped(at), now).await?;
                }
                mutes::end_over(tx, &this, &context, now).await?;
                let silences = Silences::load(tx, &this, now).await?;
                for (service, outage) in audible(tx, &this, &silences).await? {
                    let last = alerts::last_of(tx, &service.id).await?;
                    tell(tx, &this, &Troubled::of(&service), &outage, last, now).await?;
                }
                for id in alerts::list_to_repeat(tx, now.minus(STAYS_DOWN_FOR)).await? {
                    let outbox = this.listeners.outbox.clone();
                    if alerts::note_repeated(tx, id).await?
                        && let Some(alert) = find_unmuted(tx, id, silences.mutes()).await?
                    {
                        outbox::say_alert_again(tx, &outbox, &alert, now).await?;
                    }
                }
                Ok(())
            })
        })
        .await
}

async fn is_due(tx: &mut Tx, control: &Control, now: Timestamp) -> Result<bool, StoreError> {
    let all = stored_mutes::list(tx).await?;
    if all.iter().any(|mute| !mute.holds_at(now)) {
        return Ok(true);
    }
    // Mostly there is nothing, and then nothing more is asked.
    if !alerts::list_untold(tx).await?.is_empty() {
        let silences = Silences::load(tx, control, now).await?;
        if !audible(tx, control, &silences).await?.is_empty() {
            return Ok(true);
        }
    }
    let repeated = alerts::list_to_repeat(tx, now.minus(STAYS_DOWN_FOR)).await?;
    Ok(!repeated.is_empty() || !told_and_stopped(tx, control).await?.is_empty())
}

/// The outages that were silent and that nothing speaks against telling any more. This instance has to see
/// it down itself: what an earlier one believed may be over.
async fn audible(
    tx: &mut Tx,
    control: &Control,
    silences: &Silences,
) -> Result<Vec<(Service, Outage)>, StoreError> {
    let mut audible = Vec::new();
    for outage in alerts::list_untold(tx).await? {
        let view = service_views::find(control, outage.service.as_str());
        if let Some(view) = view.filter(ServiceView::is_worry)
            && !silences.hold(control, &view.service)
        {
            audible.push((view.service, outage));
        }
    }
    Ok(audible)
}

async fn holding(tx: &mut Tx, now: Timestamp) -> Result<Vec<Mute>, StoreError> {
    let mut mutes = stored_mutes::list(tx).await?;
    mutes.retain(|mute| mute.holds_at(now));
    Ok(mutes)
}

/// An alert, unless everything in it that is down is muted.
async fn find_unmuted(
    tx: &mut Tx,
    id: AlertId,
    mutes: &[Mute],
) -> Result<Option<Alert>, StoreError> {
    let alert = alerts::find(tx, id).await?;
    Ok(alert.filter(|alert| !alert.is_muted_by(mutes)))
}

/// A mute begins: what it covers says so, and what nobody was told yet is not told until it ends.
pub(crate) async fn under_mute(tx: &mut Tx, mute: &Mute, now: Timestamp) -> Result<(), StoreError> {
    let mutes = holding(tx, now).await?;
    for id in alerts::list_covered(tx, &mute.subject).await? {
        notifications::alerts::changed_mute(tx, id, now).await?;
        if find_unmuted(tx, id, &mutes).await?.is_none() {
            notifications::alerts::hold(tx, id, mute.until).await?;
        }
    }
    Ok(())
}

/// The owner lifted a mute and is at hand: what was told is not said again, what was not is told.
pub(crate) async fn without_mute(
    tx: &mut Tx,
    control: &Control,
    mute: &Mute,
    now: Timestamp,
) -> Result<(), StoreError> {
    let mutes = holding(tx, now).await?;
    for id in alerts::list_covered(tx, &mute.subject).await? {
        notifications::alerts::changed_mute(tx, id, now).await?;
        if let Some(alert) = find_unmuted(tx, id, &mutes).await? {
            outbox::release_alert(tx, &control.listeners.outbox, &alert, now).await?;
        }
    }
    Ok(())
}

/// A mute is over: what was told before it and is still down is said once more, and what went down under it
/// is told as something new.
pub(crate) async fn after_mute(
    tx: &mut Tx,
    control: &Control,
    mute: &Mute,
    now: Timestamp,
) -> Result<(), StoreError> {
    let silences = Silences::load(tx, control, now).await?;
    let outbox = control.listeners.outbox.clone();
    for id in alerts::list_covered(tx, &mute.subject).await? {
        notifications::alerts::changed_mute(tx, id, now).await?;
        if let Some(alert) = find_unmuted(tx, id, silences.mutes()).await? {
            outbox::say_alert_again(tx, &outbox, &alert, now).await?;
            notifications::alerts::post_again(tx, id, now).await?;
        }
    }
    for (service, outage) in audible(tx, control, &silences).await? {
        if mute.covers(&service) {
            tell(tx, control, &Troubled::of(&service), &outage, None, now).await?;
        }
    }
    Ok(())
}
